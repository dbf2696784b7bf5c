"""Write the names of lines and bars at the right ends of them, in place of a legend."""

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Any

import numpy as np
import plotly.graph_objects as go
from scipy.optimize import isotonic_regression

from repro.plots.description import plain_text
from repro.plots.style import WIDTH, escape, numbers_of

GLYPHS = {
    "circle": "●",
    "square": "■",
    "diamond": "◆",
    "triangle-up": "▲",
    "x": "✖",
    "cross": "✚",
    "circle-open": "○",
    "square-open": "□",
    "diamond-open": "◇",
    "triangle-up-open": "△",
    "x-open": "✕",
    "cross-open": "✛",
}
LINE = "━"  # of a line without marks
LONGEST = 26  # letters of a line of a name
LETTER, ROW = 7, 16  # pixels
BESIDE = 45  # pixels between panels for what is no name, such as labels of an axis
PADDING = 0.06  # of the range of values, above and below


def name_at_ends(figure: go.Figure) -> go.Figure:
    """Replace the legend of a figure by names at the right ends of its lines, in every panel.

    A name stands at the height of its line's last value, or as near as other names allow. The mark
    before it has the colour of the line. Bars are named at the middle of the last one.
    """
    panels: dict[str, list[Any]] = {}
    for trace in figure.data:
        if trace.name and trace.showlegend is not False:
            panels.setdefault(trace.yaxis or "y", []).append(trace)
    figure.layout.margin.r = 30 + room_of(
        [trace.name for named in panels.values() for trace in named]
    )
    for name, named in panels.items():
        _name_panel(figure, name, named)
    return figure.update_layout(showlegend=False)


def room_of(names: Sequence[str]) -> int:
    """Return the pixels that names beside a panel need, as they are typed or escaped."""
    return LETTER * max((len(line) for name in names for line in _lines(name)), default=0)


def spacing_of(names: Sequence[str], num_columns: int) -> float:
    """Return the gap between panels that leaves room for names, as a share of their area.

    Args:
        names: at the ends of lines.
        num_columns: of panels.
    """
    room = 30 + room_of(names)
    return min((room + BESIDE) / (WIDTH - 60 - room), 0.9 / max(1, num_columns - 1))


def _name_panel(figure: go.Figure, name: str, named: Sequence[Any]) -> None:
    axis = figure.layout[name.replace("y", "yaxis")]
    across = figure.layout[(named[0].xaxis or "x").replace("x", "xaxis")]
    left, right = across.range or (0, 1)
    is_log = axis.type == "log"
    if axis.range is None:
        axis.range = _range(figure, axis.matches or name, is_log)
    ends = [(trace, *_end(trace, left > right, is_log)) for trace in named]
    ends = [end for end in ends if np.isfinite(end[1])]
    ends.sort(key=lambda end: end[1:])
    bottom, top = axis.domain or (0, 1)
    margin = figure.layout.margin
    pixels = (figure.layout.height - margin.t - margin.b) * (top - bottom)
    low, high = axis.range
    rows = [ROW * len(_lines(trace.name)) / pixels for trace, *_ in ends]
    places = spread([(height - low) / (high - low) for _, height, _ in ends], rows)
    beside: dict[str, Any] = {
        "x": (across.domain or (0, 1))[1] + 8 / (WIDTH - margin.l - margin.r),
        "xref": "paper",
        "yref": name,
        "showarrow": False,
        "xanchor": "left",
        "yanchor": "middle",
    }
    for (trace, *_), place in zip(ends, places, strict=True):
        note = beside | {"y": low + place * (high - low)}
        color = trace.marker.color if trace.type == "bar" else _color(trace)
        text = "<br>".join(f"\u2003{escape(line)}" for line in _lines(trace.name))
        figure.add_annotation(text=_mark(trace), font={"color": color}, **note)
        figure.add_annotation(text=text, align="left", **note)


def _color(trace: go.Scatter) -> str:
    return trace.line.color or trace.marker.color


def _mark(trace: Any) -> str:
    if trace.type == "bar":
        return GLYPHS["square"]
    return GLYPHS[trace.marker.symbol or "circle"] if "markers" in trace.mode else LINE


def _lines(name: str) -> list[str]:
    """Return a name as typed, on lines that are short enough."""
    return wrap(plain_text(name), LONGEST)


def _end(trace: Any, runs_left: bool, is_log: bool) -> tuple[float, float]:
    """Return the height of a line's right end on its axis, and the mean; NaN without any value."""
    across, values = (
        np.asarray(numbers_of(numbers), dtype=float) for numbers in (trace.x, trace.y)
    )
    if trace.type == "bar":
        values = np.asarray(numbers_of(trace.base), dtype=float) + values / 2
    known = np.isfinite(values)
    if not known.any():
        return float("nan"), float("nan")
    across, values = across[known], np.log10(values[known]) if is_log else values[known]
    last = np.flatnonzero(across == (across.min() if runs_left else across.max()))[-1]
    return float(values[last]), float(values.mean())


def _range(figure: go.Figure, name: str, is_log: bool) -> tuple[float, float]:
    """Return what a vertical axis shows: all values and intervals, and 0 where it is marked.

    Axes that match it have the same. A logarithmic one has the range of exponents.
    """
    axis = figure.layout[name.replace("y", "yaxis")]
    parts = [np.zeros(1)] if axis.zeroline or axis.rangemode == "tozero" else []
    for trace in figure.data:
        own = trace.yaxis or "y"
        if name in (own, figure.layout[own.replace("y", "yaxis")].matches):
            parts += _values(trace)
    found = np.concatenate(parts)
    found = found[np.isfinite(found)]
    found = np.log10(found) if is_log else found
    room = PADDING * (np.ptp(found) or abs(found[0]) or 1.0)
    return float(found.min() - room), float(found.max() + room)


def _values(trace: go.Scatter) -> Iterator[np.ndarray]:
    values = np.asarray(numbers_of(trace.y), dtype=float)
    yield values
    if trace.error_y.array is not None:
        yield values + trace.error_y.array
        yield values - trace.error_y.arrayminus


def spread(places: Sequence[float], rows: Sequence[float]) -> list[float]:
    """Return places in rising order, from 0 to 1, moved as little as the rows there need.

    Args:
        places: the middles of rows.
        rows: their heights.
    """
    if not len(places):
        return []
    heights = np.asarray(rows)
    offsets = np.cumsum((heights + np.append(0, heights[:-1])) / 2) - heights[0] / 2
    moved = isotonic_regression(np.asarray(places) - offsets).x
    return (np.clip(moved, 0, max(0.0, 1 - offsets[-1])) + offsets).tolist()
