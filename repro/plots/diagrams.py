"""Draw the parts of a model: the heads of each sublayer, and the source of a layer's scores."""

from collections.abc import Mapping, Sequence
from math import nan
from typing import Any

import numpy as np
import plotly.graph_objects as go

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
SOURCES = ("words", "nothing", "scores")  # inputs of a layer's scores


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
    figure.update_xaxes(
        **ticks([escape(name) for name in systems]), title_text="system", showgrid=False
    )
    figure.update_yaxes(
        **ticks([escape(label) for label in sublayers]),
        range=[len(sublayers) - 0.5, -0.5],
        showgrid=False,
    )
    return figure


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
    figure = panel_figure(list(systems), 3, cell_height=240, legend=True)
    # Row 0 is the input of the stack; words are in column 0, scores in column 1.
    layers = range(1, num_layers + 1)
    for panel, (title, source) in enumerate(systems.items()):
        if source not in SOURCES:
            raise InputError(
                f"'{title}'",
                f"'{source}' is not a source of scores",
                f"choose one of {', '.join(SOURCES)}",
            )
        made = (
            []
            if source == "nothing"
            else [((SOURCES.index(source) // 2, row - 1), (1, row)) for row in layers]
        )
        kinds = {
            "words go up": ([((0, row - 1), (0, row)) for row in layers], "solid"),
            "scores weigh words": ([((1, row), (0, row)) for row in layers], "dash"),
            "scores are made": (made, "dot"),
        }
        for place, (name, (arrows, dash)) in enumerate(kinds.items()):
            x, y = (
                [n for start, end in arrows for n in (start[axis], end[axis], nan)]
                for axis in (0, 1)
            )
            look: dict[str, Any] = {
                "mode": "lines",
                "line": {"color": COLORS[place], "width": 3, "dash": dash},
            }
            look |= {
                "name": name,
                "legendgroup": name,
                "showlegend": panel == 0,
                "hovertemplate": f"{name}<extra></extra>",
            }
            figure.add_scatter(x=rounded(x), y=rounded(y), **look, **panel_cell(panel, 3))
        first = source == "scores"  # the first layer then needs scores below it
        columns = [0] * (num_layers + 1) + [1] * (num_layers + first)
        rows = [0, *layers, *range(1 - first, num_layers + 1)]
        points = {
            "mode": "markers",
            "marker": {"size": 11, "color": INK},
            "hovertemplate": "%{x}, %{y}<extra></extra>",
        }
        figure.add_scatter(x=columns, y=rows, **points, showlegend=False, **panel_cell(panel, 3))
        figure.update_yaxes(showticklabels=panel % 3 == 0, **panel_cell(panel, 3))
        if first:
            figure.add_annotation(
                x=1.12, y=0, text="A₀", showarrow=False, xanchor="left", **panel_cell(panel, 3)
            )
    figure.update_xaxes(
        **ticks(["words", "scores"]), range=[-0.6, 1.6], showgrid=False, title_text="in each layer"
    )
    labels = ["below layer 0", *(f"layer {row - 1}" for row in layers)]
    return figure.update_yaxes(**ticks(labels), range=[-0.4, num_layers + 0.4], showgrid=False)
