"""Write the names of lines at their right ends, in place of a legend."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from repro.plots.description import plain_text
from repro.plots.style import numbers_of

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
LONGEST = 30  # letters; longer names stay in a legend above the figure
LETTER, ROW = 7, 16  # pixels
PADDING = 0.06  # of the range of values, above and below


def name_at_ends(figure: go.Figure) -> go.Figure:
    """Replace the legend of a figure of one panel by names at the right ends of its lines.

    A name stands at the height of its line's last value, or as near as other names allow. The mark
    before it has the colour of the line.
    """
    named = [trace for trace in figure.data if trace.name and trace.showlegend is not False]
    names = [plain_text(trace.name) for trace in named]
    left, right = figure.layout.xaxis.range or (0, 1)
    heights = [_last_height(trace, runs_left=left > right) for trace in named]
    known = [place for place, height in enumerate(heights) if np.isfinite(height)]
    if not known or max(map(len, names)) > LONGEST:
        return figure
    low, high = _range(figure)
    margin = figure.layout.margin
    pixels = figure.layout.height - margin.t - margin.b
    places = _spread([(heights[i] - low) / (high - low) for i in known], ROW / pixels)
    for i, y in zip(known, places, strict=True):
        trace = named[i]
        color = trace.line.color or trace.marker.color
        note: dict[str, Any] = {"x": 1.01, "y": y, "xref": "paper", "yref": "paper"}
        note |= {"showarrow": False, "xanchor": "left", "yanchor": "middle"}
        has_marks = "markers" in trace.mode
        mark = GLYPHS[trace.marker.symbol or "circle"] if has_marks else LINE
        figure.add_annotation(text=mark, font={"color": color}, **note)
        figure.add_annotation(text=f"\u2003{trace.name}", **note)
    figure.update_yaxes(range=(low, high))
    margin.r = 30 + LETTER * max(map(len, names))
    return figure.update_layout(showlegend=False)


def _last_height(trace: go.Scatter, runs_left: bool) -> float:
    """Return the known value of a line that is farthest to the right; NaN if there is none."""
    values = np.asarray(numbers_of(trace.y), dtype=float)
    known = values[np.isfinite(values)]
    return float(known[0 if runs_left else -1]) if len(known) else float("nan")


def _range(figure: go.Figure) -> tuple[float, float]:
    """Return what the vertical axis shows: all values and intervals, and 0 where it is marked."""
    parts = [np.zeros(1)] if figure.layout.yaxis.zeroline else []
    for trace in figure.data:
        values = np.asarray(numbers_of(trace.y), dtype=float)
        parts.append(values)
        if trace.error_y.array is not None:
            parts += [values + trace.error_y.array, values - trace.error_y.arrayminus]
    found = np.concatenate(parts)
    found = found[np.isfinite(found)]
    room = PADDING * (np.ptp(found) or abs(found[0]) or 1.0)
    return float(found.min() - room), float(found.max() + room)


def _spread(places: Sequence[float], gap: float) -> list[float]:
    """Return places from 0 to 1 moved as little as lets them keep a gap.

    A group of places that are too close is centred on its mean.
    """
    order = np.argsort(places, kind="stable")
    groups: list[list[float]] = []
    for place in np.asarray(places, dtype=float)[order]:
        groups.append([float(place)])
        while len(groups) > 1 and _top(groups[-2], gap) + gap > _bottom(groups[-1], gap):
            groups[-2:] = [groups[-2] + groups[-1]]
    moved = [_bottom(group, gap) + gap * i for group in groups for i in range(len(group))]
    found = np.empty(len(places))
    found[order] = moved
    return found.tolist()


def _bottom(group: Sequence[float], gap: float) -> float:
    return float(np.mean(group)) - gap * (len(group) - 1) / 2


def _top(group: Sequence[float], gap: float) -> float:
    return float(np.mean(group)) + gap * (len(group) - 1) / 2
