"""Draw an answer beside the expected matrix, with the first wrong cell marked."""

import sys
from typing import Any

import numpy as np

from repro.teaching.values import equal, first_wrong, numbers_of

LARGEST = 40  # rows or columns that are still worth drawing


def show_difference(found: Any, expected: Any) -> None:
    """Draw the difference in a notebook, if both are matrices; else do nothing."""
    shell = sys.modules.get("IPython")
    if shell is None or shell.get_ipython() is None:
        return
    figure = difference_figure(found, expected)
    if figure is not None:
        shell.display.display(figure)


def difference_figure(found: Any, expected: Any) -> Any:
    """Return a figure of yours, the expected matrix and their difference, or None.

    Of a stack of matrices it shows the first one with a wrong entry. The first wrong cell of each
    panel has a frame.
    """
    if equal(found, expected):
        return None
    place = first_wrong(found, expected)
    if place is None or len(place) < 2:
        return None
    yours, wanted = (numbers_of(value)[place[:-2]].astype(float) for value in (found, expected))
    if max(yours.shape) > LARGEST:
        return None
    panels = {"yours": yours, "expected": wanted, "yours - expected": yours - wanted}
    return _draw(panels, *place[-2:], where=f" of matrix {list(place[:-2])}" if place[:-2] else "")


def _draw(panels: dict[str, np.ndarray], row: int, column: int, where: str) -> Any:
    """Return the panels side by side; the last one has its own scale, around 0."""
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    figure = make_subplots(cols=len(panels), subplot_titles=list(panels), shared_yaxes=True)
    both = np.concatenate([part.ravel() for part in list(panels.values())[:2]])
    both = both[np.isfinite(both)]
    low, high = (float(both.min()), float(both.max())) if both.size else (0.0, 1.0)
    for number, (name, matrix) in enumerate(panels.items(), start=1):
        shown = np.where(np.isfinite(matrix), matrix, np.nan)
        apart = float(np.nanmax(np.abs(shown))) if np.isfinite(shown).any() else 1.0
        last = number == len(panels)
        figure.add_trace(
            go.Heatmap(
                z=shown,
                text=matrix.round(2).tolist(),
                texttemplate="%{text}" if max(matrix.shape) <= 6 else None,
                colorscale="RdBu" if last else "Blues",
                zmin=-apart if last else low,
                zmax=apart if last else high,
                showscale=False,
                name=name,
            ),
            row=1,
            col=number,
        )
        figure.add_shape(
            type="rect",
            x0=column - 0.5,
            x1=column + 0.5,
            y0=row - 0.5,
            y1=row + 0.5,
            line={"color": "#d55e00", "width": 3},
            row=1,
            col=number,
        )
        figure.update_yaxes(autorange="reversed", dtick=1, row=1, col=number)
        figure.update_xaxes(dtick=1, row=1, col=number)
    figure.update_layout(
        title=f"The first wrong entry is in row {row}, column {column}{where}",
        height=320,
        margin={"l": 30, "r": 10, "t": 70, "b": 30},
    )
    return figure
