"""Figures from arrays, with plotly. Nothing here knows a model; any text is shown as typed, never read as markup."""

import html
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
import plotly.io
from plotly.subplots import make_subplots

# The figure alone, drawn by JupyterLab and VS Code: the default would put all of plotly's code into every saved notebook.
plotly.io.renderers.default = "plotly_mimetype"

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")  # Okabe and Ito 2008: told apart with any colour vision


def escape(text: str) -> str:
    """Return text that a figure shows as typed: markup as characters, control and direction marks as code points."""
    visible = (f"⟨U+{ord(c):04X}⟩" if not c.isprintable() and c != " " else c for c in text)
    return html.escape("".join(visible), quote=False)


def attention_maps(
    maps: Sequence[np.ndarray], titles: Sequence[str], query_labels: Sequence[str], key_labels: Sequence[str], num_columns: int = 4
) -> go.Figure:
    """Draw weight matrices side by side on one colour scale from 0 to 1.

    Args:
        maps: `(query_len, key_len)` each: one head.
        titles: one a map.
        query_labels: the querying tokens, top to bottom.
        key_labels: the attended tokens, left to right.
        num_columns: maps in a row.
    """
    num_rows = -(-len(maps) // num_columns)
    columns = min(num_columns, len(maps))
    x, y = [escape(label) for label in key_labels], [escape(label) for label in query_labels]
    height = 120 + num_rows * (100 + 20 * len(y))
    spacing = {"vertical_spacing": 130 / height} if num_rows > 1 else {}  # room for the key labels and the next title
    figure = make_subplots(num_rows, columns, subplot_titles=[escape(title) for title in titles], shared_yaxes=True, **spacing)
    for place, weights in enumerate(maps):
        heatmap = go.Heatmap(
            z=np.round(np.asarray(weights, dtype=float), 4),
            x=list(range(len(x))),
            y=list(range(len(y))),
            zmin=0,
            zmax=1,
            colorscale="Cividis",
            showscale=place == 0,
            colorbar={"title": "weight", "thickness": 12},
            hovertemplate="query %{y}, key %{x}: %{z:.3f}<extra></extra>",
        )
        figure.add_trace(heatmap, row=place // columns + 1, col=place % columns + 1)
    figure.update_xaxes(tickvals=list(range(len(x))), ticktext=x, tickangle=-60, constrain="domain")
    figure.update_yaxes(tickvals=list(range(len(y))), ticktext=y, autorange="reversed")
    return _finish(figure, height)


def curves(lines: dict[str, tuple[Sequence[float], Sequence[float]]], x_title: str, y_title: str) -> go.Figure:
    """Draw lines by name, each of x and y values."""
    figure = go.Figure()
    for color, (name, (x, y)) in zip(COLORS * (len(lines) // len(COLORS) + 1), lines.items(), strict=False):
        figure.add_scatter(x=list(x), y=list(np.round(y, 4)), name=escape(name), mode="lines+markers", line={"color": color})
    figure.update_xaxes(title=escape(x_title))
    figure.update_yaxes(title=escape(y_title))
    return _finish(figure, height=360)


def _finish(figure: go.Figure, height: int) -> go.Figure:
    return figure.update_layout(template="plotly_white", height=height, margin={"l": 60, "r": 20, "t": 50, "b": 60})
