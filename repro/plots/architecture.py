"""Draw a Transformer: what words pass on their way from the source to the target."""

import numpy as np
import plotly.graph_objects as go

from repro.errors import InputError
from repro.plots.diagrams import ON_PALE
from repro.plots.style import INK, empty_figure, rounded, ticks

# Kind of a part -> its colour. Colours are pale, since text is written on them.
PARTS = {"attention: words look at words": "#B3D4E8", "each word by itself": "#E4E4E4"}
ATTENTION, ALONE = PARTS
STACKS = (  # from the bottom up
    (("embedding + place", ALONE), ("self-attention", ATTENTION), ("feed-forward", ALONE)),
    (
        ("embedding + place", ALONE),
        ("self-attention, past only", ATTENTION),
        ("cross attention", ATTENTION),
        ("feed-forward", ALONE),
        ("probabilities of the next word", ALONE),
    ),
)
LAYER = ((1, 2), (1, 3))  # first and last row of what is repeated, in each stack
CROSS = 2  # row of cross attention; the top of the encoder is beside it
NOTE = {"xref": "x", "yref": "y", "showarrow": False}
HALF = (0.36, 0.25)  # of a box: across, up


def transformer(num_layers: int) -> go.Figure:
    """Draw encoder and decoder (Vaswani et al. 2017, figure 1), the words at the bottom.

    Norms and residual connections, which surround every part of a layer, are left out.

    Args:
        num_layers: of each stack.

    Raises:
        InputError: a stack without a layer.
    """
    if num_layers < 1:
        raise InputError("num_layers", f"is {num_layers}", "give 1 or more")
    figure = empty_figure(height=420)
    for kind, color in PARTS.items():
        boxes = [
            (column, row, text)
            for column, stack in enumerate(STACKS)
            for row, (text, of) in enumerate(stack)
            if of == kind
        ]
        columns, rows, texts = zip(*boxes, strict=True)
        figure.add_bar(
            x=np.array(columns),
            y=np.full(len(rows), 2 * HALF[1]),
            base=rounded(np.array(rows) - HALF[1]),
            offset=-HALF[0],
            width=2 * HALF[0],
            name=kind,
            marker_color=color,
            hovertext=texts,
            hovertemplate="%{hovertext}<extra></extra>",
        )
        for column, row, text in boxes:
            figure.add_annotation(x=column, y=row, text=text, font_color=ON_PALE, **NOTE)
    up = [
        ((column, row - 1 + HALF[1]), (column, row - HALF[1]))
        for column, stack in enumerate(STACKS)
        for row in range(1, len(stack))
    ]
    _arrows(figure, up, "triangle-up", "one vector a word")
    across = [((HALF[0], CROSS), (1 - HALF[0], CROSS))]
    _arrows(figure, across, "triangle-right", "keys and values of the source")
    for column, (first, last) in enumerate(LAYER):
        _frame(figure, column, first, last, f"{num_layers} layer{'s' if num_layers > 1 else ''}")
    figure.update_xaxes(
        **ticks(["encoder: reads the source", "decoder: reads what is written"]),
        range=[-0.55, 1.7],
        showgrid=False,
        title_text="stack",
    )
    words = (
        f"A Transformer. The encoder has an embedding, then {num_layers} layers of self-attention "
        "and feed-forward. The decoder has an embedding, then as many layers of self-attention to "
        "the past, cross attention to the top of the encoder, and feed-forward, then the "
        "probabilities of the next word. Across: stack. Up: from words up."
    )
    figure.update_layout(meta={"words": words})
    return figure.update_yaxes(
        range=[-0.5, 4.5], showgrid=False, showticklabels=False, title_text="from words up"
    )


def _arrows(figure: go.Figure, arrows: list, head: str, name: str) -> None:
    """Draw arrows, each from a start to an end."""
    look = {"showlegend": False, "hovertemplate": f"{name}<extra></extra>"}
    for (x, y), (to_x, to_y) in arrows:
        figure.add_scatter(
            x=rounded([x, to_x]),
            y=rounded([y, to_y]),
            mode="lines",
            line={"color": INK, "width": 2},
            **look,
        )
    ends = [end for _, end in arrows]
    figure.add_scatter(
        x=rounded(x for x, _ in ends),
        y=rounded(y - 0.05 * (head == "triangle-up") for _, y in ends),
        mode="markers",
        marker={"symbol": head, "size": 10, "color": INK},
        **look,
    )


def _frame(figure: go.Figure, column: int, first: int, last: int, text: str) -> None:
    """Draw a frame around the rows of one layer, and say how often it is repeated."""
    left, right, bottom, top = column - 0.42, column + 0.42, first - 0.42, last + 0.42
    figure.add_scatter(
        x=rounded([left, right, right, left, left]),
        y=rounded([bottom, bottom, top, top, bottom]),
        mode="lines",
        line={"color": INK, "width": 1, "dash": "dot"},
        showlegend=False,
        hovertemplate=f"{text}<extra></extra>",
    )
    figure.add_annotation(x=left, y=top + 0.13, text=text, xanchor="left", font_color=INK, **NOTE)
