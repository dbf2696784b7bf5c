"""Draw the parts of a model: the heads of each sublayer, and the source of a layer's scores."""

from collections.abc import Mapping, Sequence
from math import nan
from typing import Any

import numpy as np
import plotly.graph_objects as go

from repro.core.numbering import layer_name
from repro.errors import InputError
from repro.plots.style import (
    COLORS,
    INK,
    check_drawn,
    check_labels,
    empty_figure,
    escape,
    panel_cell,
    panel_figure,
    rounded,
    ticks,
)

# The kinds of weights. Colours are pale, since text is written on them.
KINDS = {"learned": "#B3D4E8", "hard-coded": "#F5CFB5"}
ON_PALE = "#333333"  # colour of that text, on light and dark pages
# What makes a layer's scores, in words.
SOURCES = {
    "words": "the words below make the scores of a layer",
    "nothing": "scores have no input",
    "scores": "the scores below make those of a layer, from A₀ on",
}
SCORES = 2  # the column of scores; words are in column 0, and row 0 is the input of the stack
WIDE, HALF = 0.5, 0.25  # from the middle of a box to its side and to its top


def attention_by_sublayer(
    systems: Mapping[str, Sequence[tuple[int, str] | None]], sublayers: Sequence[str]
) -> go.Figure:
    """Draw the attention of each sublayer, a column per system, the first sublayer on top.

    Args:
        systems: name -> (number of heads, their kind in `KINDS`) for each sublayer; None for a
            missing sublayer.
        sublayers: their labels.

    Raises:
        InputError: labels that do not match a system, or nothing to draw.
    """
    check_drawn(systems)
    figure = empty_figure(height=90 + 45 * len(sublayers))
    boxes: dict[str, list[tuple[int, int, str]]] = {kind: [] for kind in KINDS}
    for column, (name, found) in enumerate(systems.items()):
        check_labels(f"'{name}'", sublayers, len(found), "sublayer")
        for row, heads in enumerate(found):
            text, color = "no sublayer", INK
            if heads is not None:
                text, color = f"{heads[0]} {heads[1]}", ON_PALE
                boxes[heads[1]].append(
                    (column, row, f"{escape(name)}, {escape(sublayers[row])}: {text}")
                )
            figure.add_annotation(
                x=column, y=row, xref="x", yref="y", text=text, font_color=color, showarrow=False
            )
    for kind, found_boxes in boxes.items():
        columns, rows, hover = zip(*found_boxes, strict=True) if found_boxes else ((), (), ())
        figure.add_bar(
            x=np.array(columns, dtype=int),
            y=np.full(len(rows), 0.8),
            base=rounded(np.array(rows, dtype=float) - 0.4),
            offset=-0.45,
            width=0.9,
            name=kind,
            marker_color=KINDS[kind],
            hovertext=hover,
            hovertemplate="%{hovertext}<extra></extra>",
        )
    words = f"Heads of each sublayer. {_kinds_in_words(systems, sublayers)} Across: system."
    figure.update_layout(showlegend=False, meta={"words": escape(words)})  # boxes say their kind
    figure.update_xaxes(
        **ticks([escape(name) for name in systems]), title_text="system", showgrid=False
    )
    figure.update_yaxes(
        **ticks([escape(label) for label in sublayers]),
        range=[len(sublayers) - 0.5, -0.5],
        showgrid=False,
    )
    return figure


def _kinds_in_words(
    systems: Mapping[str, Sequence[tuple[int, str] | None]], sublayers: Sequence[str]
) -> str:
    """Return a sentence for each system: what most sublayers have, and where another is."""
    sentences = []
    for name, found in systems.items():
        places: dict[str, list[str]] = {}
        for sublayer, heads in zip(sublayers, found, strict=True):
            text = "no sublayer" if heads is None else f"{heads[0]} {heads[1]}"
            places.setdefault(text, []).append(sublayer)
        most, *others = sorted(places, key=lambda text: -len(places[text]))
        but = "; ".join(f"{text} in {' and '.join(places[text])}" for text in others)
        sentences.append(f"{name}: {most}" + (f", but {but}." if but else "."))
    return " ".join(sentences)


def score_sources(systems: Mapping[str, str], num_layers: int = 3) -> go.Figure:
    """Draw the inputs of each layer's scores, a panel per system, the first layer at the bottom.

    Args:
        systems: title of the panel -> one of `SOURCES`; "words" and "scores" are those of the layer
            below.
        num_layers: of the stack.

    Raises:
        InputError: an unknown source, or nothing to draw.
    """
    check_drawn(systems)
    figure = panel_figure(list(systems), 3, cell_height=70 * (num_layers + 1), gap=60)
    layers = range(1, num_layers + 1)
    for panel, (title, source) in enumerate(systems.items()):
        if source not in SOURCES:
            raise InputError(
                f"'{title}'",
                f"'{source}' is not a source of scores",
                f"choose one of {', '.join(SOURCES)}",
            )
        cell = panel_cell(panel, 3)
        up = [((0, row - 1 + HALF), (0, row - HALF)) for row in layers]
        weigh = [((SCORES - WIDE, row), (WIDE, row)) for row in layers]
        # from the side of the words below, or from the top of the scores below
        start = {"words": (WIDE, HALF / 2), "scores": (SCORES, HALF)}.get(source)
        make = (
            [((start[0], row - 1 + start[1]), (SCORES, row - HALF)) for row in layers]
            if start
            else []
        )
        _arrows(figure, "words", up, 0, cell)
        _arrows(figure, "weigh", weigh, 1, cell)
        _arrows(figure, "make", make, 2, cell)
        first = 0 if source == "scores" else 1  # the first layer then needs scores below it
        _boxes(figure, "words", [(0, row) for row in range(num_layers + 1)], cell)
        _boxes(figure, "scores", [(SCORES, row) for row in range(first, num_layers + 1)], cell)
        beside = {"words": ("make", 1.3, 0.3), "scores": ("make", SCORES + 0.1, 0.5)}
        text, across, row = beside.get(source, ("no input", SCORES - WIDE, 1 - 1.6 * HALF))
        for note, x, y in ((text, across, row), ("weigh", 0.75, 0.85)):
            figure.add_annotation(text=note, x=x, y=y, xanchor="left", showarrow=False, **cell)
        figure.update_yaxes(showticklabels=panel % 3 == 0, **cell)
    labels = ["input", *(layer_name(row - 1) for row in layers)]
    figure.update_xaxes(range=[-0.6, SCORES + 0.7], showticklabels=False, showgrid=False)
    across = "words, and the scores that weigh them"
    figure.update_xaxes(title_text=across, col=1)
    sources = "; ".join(f"{title}: {SOURCES[source]}" for title, source in systems.items())
    words = f"{num_layers} layers, each with {across}. {sources}."
    figure.update_layout(showlegend=False, meta={"words": escape(words)})
    return figure.update_yaxes(**ticks(labels), range=[-0.3, num_layers + 0.3], showgrid=False)


def _boxes(
    figure: go.Figure, text: str, places: Sequence[tuple[int, int]], cell: dict[str, int]
) -> None:
    """Draw boxes with the same text in each, but for scores below the first layer."""
    across, rows = np.array(places).T
    bars = go.Bar(
        x=across,
        y=np.full(len(rows), 2 * HALF),
        base=rounded(rows - HALF),
        offset=-WIDE,
        width=2 * WIDE,
        marker_color=KINDS["learned" if text == "words" else "hard-coded"],
        text=["A₀" if place == (SCORES, 0) else text for place in places],
        textfont={"color": ON_PALE},
        textposition="inside",
        insidetextanchor="middle",
        hovertemplate="%{text}<extra></extra>",
    )
    figure.add_trace(bars, **cell)


def _arrows(
    figure: go.Figure,
    name: str,
    arrows: Sequence[tuple[tuple[float, float], tuple[float, float]]],
    place: int,
    cell: dict[str, int],
) -> None:
    """Draw arrows, each from a start to an end, in the look of a place among the kinds."""
    if not arrows:
        return
    x, y = ([n for arrow in arrows for n in (arrow[0][i], arrow[1][i], nan)] for i in (0, 1))
    look: dict[str, Any] = {"color": COLORS[place], "dash": ("solid", "dash", "dot")[place]}
    same = {"name": name, "hovertemplate": f"{name}<extra></extra>"}
    figure.add_scatter(
        x=rounded(x), y=rounded(y), mode="lines", line={"width": 2.5, **look}, **same, **cell
    )
    head = {"symbol": "triangle-left" if name == "weigh" else "triangle-up", "size": 10}
    ends = {"mode": "markers", "marker": {"color": COLORS[place], **head}}
    figure.add_scatter(x=rounded(x[1::3]), y=rounded(y[1::3]), **ends, **same, **cell)
