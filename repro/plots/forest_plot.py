"""Draw a forest plot: effects with intervals and bounds, row by row, in groups of one unit each."""

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import plotly.graph_objects as go

from repro.plots.forest_rows import LOOKS, Effect, Look, Panel, Reading, own_scale, same
from repro.plots.style import INK, TEMPLATE, check_drawn, escape, rounded

WIDTH = 500  # pixels: its letters are still read on a phone, where the picture is narrower
LINE, AXIS = 18, 52  # pixels of a line and of an axis
LEFT, RIGHT = 84, 62  # pixels of the names of rows, and of their numbers
COLUMNS = 60  # letters of a line of the title
MOST_TICKS, STEPS = 8, (0.25, 0.5, 1, 2, 5, 10, 20, 50)
BOUND = "bound of the claim"


def forest(
    title: str, groups: Mapping[str, Sequence[Effect]], own_scales: str = "", words: str = ""
) -> go.Figure:
    """Draw effects below each other, in panels with an axis of their own.

    A bracket is open to the side where the claim holds. Color and symbol tell the outcome.

    Args:
        title: what is found, as one sentence.
        groups: title of the axis, with the unit -> effects.
        own_scales: the group in which each effect has a scale of its own. There the bound is in
            the middle, and the right side is where the claim holds.
        words: the description of the figure for readers who do not see it.

    Raises:
        InputError: there is no effect.
    """
    groups = {axis: effects for axis, effects in groups.items() if effects}
    check_drawn(groups)
    panels = []
    for axis, effects in groups.items():
        panels.append(Panel(axis, axis == own_scales))
        for effect in effects:
            panels[-1].add(effect)
    said = textwrap.wrap(title, COLUMNS, break_on_hyphens=False)
    num_kinds = len({look.name for panel in panels for _, look, *_ in panel.marks}) + 1
    top = 24 + 19 * len(said) + 20 * math.ceil(num_kinds / 3)
    inner = sum(LINE * panel.lines for panel in panels) + AXIS * (len(panels) - 1)
    figure = go.Figure().update_layout(
        template=TEMPLATE,
        width=WIDTH,
        height=round(inner) + top + AXIS,
        autosize=False,
        margin={"l": LEFT, "r": RIGHT, "t": top, "b": AXIS},
        title={"text": "<br>".join(map(escape, said)), "x": 0.02, "xref": "container"},
        title_y=1 - 10 / (inner + top + AXIS),
        title_yanchor="top",
        legend={"x": -LEFT / (WIDTH - LEFT - RIGHT), "y": 1 + 4 / inner},
        meta={"words": escape(words)},
    )
    ceiling = inner
    texts: list[dict[str, Any]] = []
    for number, panel in enumerate(panels):
        floor = ceiling - LINE * panel.lines
        suffix = "" if not number else str(number + 1)
        _draw(figure, panel, suffix, (max(0.0, floor / inner), ceiling / inner))
        texts += [_written(*text, f"y{suffix}") for text in panel.texts]
        ceiling = floor - AXIS
    # all at once: each that is added alone checks all that are there again
    return figure.update_layout(annotations=texts)


def _draw(figure: go.Figure, panel: Panel, suffix: str, domain: tuple[float, float]) -> None:
    """Draw a panel into a share of the height."""
    x, y = f"x{suffix}", f"y{suffix}"
    low, high, places = _range(panel)
    axes = {
        f"xaxis{suffix}": {
            "title": {"text": escape(panel.axis)},
            "range": [low, high],
            "anchor": y,
            "showgrid": False,
            "showticklabels": not panel.own_scales,
            "tickvals": places,
            "ticktext": [f"{place:+g}" if place else "0" for place in places],
            "domain": [0, 1],
        },
        f"yaxis{suffix}": {
            "range": [panel.lines, 0],
            "domain": list(domain),
            "anchor": x,
            "showgrid": False,
            "automargin": False,
            "tickvals": [line for line, _ in panel.labels],
            "ticktext": [escape(label) for _, label in panel.labels],
        },
    }
    figure.update_layout(axes)
    for place in places:
        paths = [((place, first), (place, last)) for first, last, _ in panel.spans]
        _line(figure, paths, x, y, opacity=0.25 if place else 0.8)
    brackets = list(
        chain.from_iterable(_brackets(panel, span, 0.012 * (high - low)) for span in panel.spans)
    )
    _line(figure, brackets, x, y, name=BOUND, width=2.0)
    for look in LOOKS:
        _marks(figure, look, [mark for mark in panel.marks if mark[1] == look], x, y)


def _marks(
    figure: go.Figure,
    look: Look,
    marks: Sequence[tuple[float, Look, Reading, str]],
    x: str,
    y: str,
) -> None:
    """Draw the marks of a kind with their intervals."""
    if not marks:
        return
    readings = [reading for _, _, reading, _ in marks]
    ends = {
        "array": rounded(reading.high - reading.value for reading in readings),
        "arrayminus": rounded(reading.value - reading.low for reading in readings),
        "symmetric": False,
        "thickness": 1.5,
        "width": 3,
    }
    figure.add_scatter(
        x=rounded(reading.value for reading in readings),
        y=rounded(line for line, *_ in marks),
        mode="markers",
        marker={"color": look.color, "symbol": look.symbol, "size": look.size},
        error_x=ends if any(reading.low < reading.high for reading in readings) else None,
        hovertext=[said for *_, said in marks],
        hoverinfo="text",
        **_named(figure, look.name, x, y),
    )


def _named(figure: go.Figure, name: str, x: str, y: str) -> dict[str, Any]:
    """Return the axes of a trace and its name, in the legend once."""
    first = name not in {trace.name for trace in figure.data}
    legend = {"name": name, "showlegend": bool(name) and first, "legendgroup": name}
    return legend | {"xaxis": x, "yaxis": y}


def _line(
    figure: go.Figure,
    paths: Sequence[Sequence[tuple[float, float]]],
    x: str,
    y: str,
    name: str = "",
    width: float = 1.0,
    opacity: float = 1.0,
) -> None:
    """Draw lines, with a gap after each."""
    points = [point for path in paths for point in (*path, (math.nan, math.nan))]
    figure.add_scatter(
        x=rounded(across for across, _ in points),
        y=rounded(down for _, down in points),
        mode="lines",
        line={"color": INK, "width": width},
        opacity=opacity,
        hoverinfo="skip",
        **_named(figure, name, x, y),
    )


def _brackets(
    panel: Panel, span: tuple[float, float, Effect], foot: float
) -> Iterator[list[tuple[float, float]]]:
    """Yield the bounds of an effect, each open to the side where the claim holds."""
    first, last, effect = span
    place = own_scale(effect) if panel.own_scales else same
    for bound, inwards in ((effect.at_least, foot), (effect.at_most, -foot)):
        if bound is not None:
            at = place(bound)
            is_flipped = panel.own_scales and effect.at_least is None
            tip = at - inwards if is_flipped else at + inwards
            yield [(tip, first), (at, first), (at, last), (tip, last)]


def _written(line: float, column: str, text: str, y: str) -> dict[str, Any]:
    """Return a text beside the marks as an annotation."""
    inner = WIDTH - LEFT - RIGHT
    places = {
        "heading": (8 - LEFT, "left"),
        "number": (8 - LEFT, "left"),
        "text": (inner + 8, "left"),
    }
    at, anchor = places[column]
    return {
        "text": escape(text),
        "x": at / inner,
        "y": line,
        "xref": "paper",
        "yref": y,
        "xanchor": anchor,
        "yanchor": "middle",
        "showarrow": False,
        "font": {"weight": 700 if column == "heading" else 400},
    }


def _range(panel: Panel) -> tuple[float, float, list[float]]:
    """Return the ends of an axis, and the places of its ticks."""
    if panel.own_scales:
        return -1.06, 1.06, []
    numbers = [0.0, *chain.from_iterable(effect.numbers() for *_, effect in panel.spans)]
    low, high = min(numbers), max(numbers)
    room = 0.04 * (high - low or 1)
    step = next(step for step in STEPS if (high - low) / step <= MOST_TICKS)
    places = range(math.ceil((low - room) / step), math.floor((high + room) / step) + 1)
    return low - room, high + room, [place * step for place in places]
