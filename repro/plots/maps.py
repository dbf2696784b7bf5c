"""Draw matrices: attention weights of a sentence, all heads of a site at once, patterns."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from repro.core.numbering import FIRST, head_name, layer_name
from repro.errors import InputError
from repro.plots.line_names import GLYPHS, ROW
from repro.plots.style import (
    COLORS,
    GRID,
    NUMBERED,
    SEQUENTIAL,
    SYMBOLS,
    TEMPLATE,
    WIDTH,
    check_drawn,
    check_labels,
    empty_figure,
    escape,
    panel_cell,
    panel_figure,
    rounded,
    ticks,
)

CELL, CELL_WITH_TEXT = 40, 26  # pixels per row of a matrix, at most
GRID_CELL, GRID_HEIGHT = 16, 800  # pixels of a cell in a grid of all heads, and of all its maps
# Heights of a panel in pixels. The title of the colour bar needs the least; a long text has lower
# rows.
MIN_HEIGHT, MAX_HEIGHT = 150, 560
BESIDE, BAR = 80, 80  # pixels of the margins, and of the colour bar
BETWEEN = 30  # pixels between panels of a row
LETTER = 7  # pixels of a title
LEGIBLE, ROOMY = 9, 15  # pixels of a row with a label, and of one with a label of usual size
PERCENT = 255  # the most that fits into a byte


class Matrix(NamedTuple):
    """One panel of a figure: title, numbers, and labels of rows and columns.

    `values` is `(num_rows, num_columns)`, with NaN for missing numbers.
    """

    title: str
    values: np.ndarray
    row_labels: Sequence[str]
    column_labels: Sequence[str]


def heatmaps(
    matrices: Sequence[Matrix],
    row_title: str,
    column_title: str,
    quantity: str,
    limits: tuple[float, float] | None,
    num_columns: int = 4,
    angle: int = 0,
    value_format: str = ".4f",
    text_format: str | None = None,
    colorscale: list | None = None,
) -> go.Figure:
    """Draw matrices side by side, first row on top; NaN stays empty.

    Cells are square, except where numbers are written into them.

    Args:
        matrices: one per panel.
        row_title, column_title: the meaning of rows and columns.
        quantity: the name of the numbers, with their unit.
        limits: the numbers at the ends of the colour scale. None: each panel has a scale of its own
            from 0 to its largest number, and says that number in its title.
        num_columns: panels in a row.
        angle: of the column labels, in degrees.
        value_format: of a number under the mouse, as d3 writes it.
        text_format: of a number written into its cell; None = not written.
        colorscale: instead of that of the template.

    Raises:
        InputError: labels that do not match their matrix, or nothing to draw.
    """
    check_drawn(matrices, num_columns)
    matrices = [matrix._replace(values=_array(matrix.values)) for matrix in matrices]
    for matrix in matrices:
        check_drawn(matrix.values.ravel())
        check_labels(f"'{matrix.title}'", matrix.row_labels, matrix.values.shape[0], "row")
        check_labels(f"'{matrix.title}'", matrix.column_labels, matrix.values.shape[1], "column")
    columns = min(num_columns, len(matrices))
    longest = max(len(label) for matrix in matrices for label in matrix.column_labels)
    scales = [limits or (0.0, _largest(matrix.values)) for matrix in matrices]
    bar = _bar("<br>".join(map(escape, wrap(quantity, 22))), scales[0])
    alike = all(list(matrix.row_labels) == list(matrices[0].row_labels) for matrix in matrices)
    titles = [matrix.title for matrix in matrices]
    if limits is None:
        titles = [
            f"{title}, up to {top:.2g}".removeprefix(", ")
            for title, (_, top) in zip(titles, scales, strict=True)
        ]
    has_bar, size = limits is not None, _numbered_size if text_format else _square_size
    width, height, cell = size(matrices, titles, columns, has_bar)
    figure = panel_figure(
        titles,
        columns,
        height,
        gap=75 + (min(6 * longest, 100) if angle else 0),
        horizontal_spacing=BETWEEN / (width - BESIDE - BAR * has_bar),
    ).update_layout(width=width)
    for panel, matrix in enumerate(matrices):
        heatmap = go.Heatmap(
            z=matrix.values.astype(np.float32),
            name=escape(matrix.title),
            zmin=scales[panel][0],
            zmax=scales[panel][1],
            colorscale=colorscale
            or _zero_on_paper(scales[panel], NUMBERED if text_format else None),
            showscale=panel == 0 and limits is not None,
            colorbar=bar,
            hoverongaps=False,
            hovertemplate=f"{escape(row_title)} %{{y}}, {escape(column_title)} %{{x}}: "
            f"%{{z:{value_format}}}<extra>%{{fullData.name}}</extra>",
            texttemplate=text_format and f"%{{z:{text_format}}}",
        )
        figure.add_trace(heatmap, **panel_cell(panel, columns))
        first, last = panel % columns == 0, panel + columns >= len(matrices)
        x, y = (
            ticks([escape(label) for label in labels])
            for labels in (matrix.column_labels, matrix.row_labels)
        )
        size, width = matrix.values.shape
        crowded = columns > 1 and columns * width * (17 if angle else 6 * longest + 8) > (
            WIDTH if angle else 0.55 * WIDTH
        )
        # Upright labels would collide.
        slant = {"tickangle": -90 if angle and crowded else -angle} | (
            {"tickfont_size": 9} if crowded else {}
        )
        across = {
            "range": [-0.5, width - 0.5],
            **slant,
            "title_text": escape(column_title) if last else None,
        }
        down: dict[str, Any] = {
            "range": [size - 0.5, -0.5],
            "title_text": escape(row_title) if first else None,
        }
        # Smaller labels would overlap; the mouse still shows them.
        fits = not angle or columns * width * 9 <= WIDTH
        figure.update_xaxes(
            **x, **across, showticklabels=fits, showgrid=False, **panel_cell(panel, columns)
        )
        labelled = (first or not alike) and cell >= LEGIBLE
        if cell < ROOMY:
            down["tickfont_size"] = 9
        figure.update_yaxes(
            **y, **down, showticklabels=labelled, showgrid=False, **panel_cell(panel, columns)
        )
        if text_format is None:
            figure.update_xaxes(constrain="domain", **panel_cell(panel, columns))
            figure.update_yaxes(
                scaleanchor=figure.data[panel].xaxis,
                constrain="domain",
                constraintoward="top",
                **panel_cell(panel, columns),
            )
    return figure


def _zero_on_paper(limits: tuple[float, float], colorscale: list | None) -> list | None:
    """Return a one-sided scale turned over where all numbers are below 0: the most is darkest."""
    if limits[1] > 0:
        return colorscale
    colors = [color for _, color in colorscale or SEQUENTIAL]
    return [[float(end), color] for end, color in enumerate(reversed(colors))]


def _numbered_size(
    matrices: Sequence[Matrix], titles: Sequence[str], columns: int, has_bar: bool
) -> tuple[int, int, float]:
    """Return width and height of the figure's panels as `_square_size` does, as wide as may be."""
    num_rows = max(len(matrix.values) for matrix in matrices)
    height = min(MAX_HEIGHT, max(MIN_HEIGHT, CELL_WITH_TEXT * num_rows))
    return WIDTH, height, height / num_rows


def _square_size(
    matrices: Sequence[Matrix], titles: Sequence[str], columns: int, has_bar: bool
) -> tuple[int, int, float]:
    """Return the width of a figure, and the heights of a panel and of a cell, in pixels."""
    num_rows, across = (max(m.values.shape[axis] for m in matrices) for axis in (0, 1))
    margins = BESIDE + BAR * has_bar
    most = (WIDTH - margins) / columns  # of a panel and what is between it and the next
    cell = min(CELL, (most - BETWEEN) / across, MAX_HEIGHT / num_rows)
    needed = max(cell * across, LETTER * max(map(len, titles))) + BETWEEN
    width = min(WIDTH, round(margins + columns * needed))
    return width, max(MIN_HEIGHT * has_bar, round(cell * num_rows)), cell


def _largest(values: np.ndarray) -> float:
    """Return the largest number of a matrix; 1 where none is above 0, so that 0 stays paper."""
    found = values[np.isfinite(values)]
    return float(found.max(initial=0)) or 1.0


def _bar(title: str, limits: tuple[float, float]) -> dict[str, Any]:
    """Return a colour bar that says both of its ends; the title is escaped already."""
    marks = [limits[0], (limits[0] + limits[1]) / 2, limits[1]]
    return {
        "title": {"text": title, "side": "right"},
        "thickness": 12,
        "outlinewidth": 0,
        "tickvals": marks,
        "ticktext": [f"{float(f'{mark:.2g}'):g}" for mark in marks],
    }


def attention_maps(
    maps: Sequence[np.ndarray],
    titles: Sequence[str],
    query_labels: Sequence[str],
    key_labels: Sequence[str],
    num_columns: int = 4,
) -> go.Figure:
    """Draw weight matrices side by side, to four digits under the mouse.

    The scale of each map ends at its largest weight, which its title says.

    Args:
        maps: `(query_len, key_len)` each: one head.
        titles: one per map.
        query_labels: the querying tokens, top to bottom.
        key_labels: the attended tokens, left to right.
        num_columns: maps in a row.

    Raises:
        InputError: titles or labels that do not match the maps, or nothing to draw.
    """
    check_labels("titles", titles, len(maps), "map")
    matrices = [
        Matrix(title, weights, query_labels, key_labels)
        for title, weights in zip(titles, maps, strict=True)
    ]
    return heatmaps(matrices, "query", "key", "weight", None, num_columns, angle=60)


def pattern_gallery(patterns: Mapping[str, np.ndarray], num_columns: int = 4) -> go.Figure:
    """Draw patterns by name on one colour scale from 0 to their largest weight.

    Positions are counted from 0. Sources: Raganato et al. 2020, Figure 1; You et al. 2020, Figure
    1.

    Args:
        patterns: `(query_len, key_len)` each.
        num_columns: patterns in a row.

    Raises:
        InputError: nothing to draw.
    """
    check_drawn(patterns)
    matrices = []
    for name, weights in patterns.items():
        query_len, key_len = np.shape(weights)
        matrices.append(
            Matrix(
                name, weights, [str(i) for i in range(query_len)], [str(i) for i in range(key_len)]
            )
        )
    largest = max(float(np.max(_array(weights))) for weights in patterns.values())
    return heatmaps(matrices, "query position", "key position", "weight", (0, largest), num_columns)


def bell_curves(tokens: Sequence[str], means: Mapping[str, float], std: float = 1.0) -> go.Figure:
    """Draw heads that are normal densities over the tokens of a sentence.

    A mark is the weight of a token; dotted lines are the curves. Each is named above its top.

    Args:
        tokens: of the sentence.
        means: the centre of each head's curve, by name, in tokens from the first.
        std: of all curves, in tokens.

    Raises:
        InputError: nothing to draw.
    """
    check_drawn(tokens)
    check_drawn(means)
    figure, last = empty_figure(), len(tokens) - 0.5
    for place, (name, mean) in enumerate(means.items()):
        look = {
            "marker": {
                "color": COLORS[place % len(COLORS)],
                "symbol": SYMBOLS[place % len(SYMBOLS)],
                "size": 7,
            }
        }
        dotted = {
            "line": {"color": COLORS[place % len(COLORS)], "dash": "dot"},
            "showlegend": False,
        }
        for x, mode, shown in (
            (np.arange(len(tokens)), "markers", look),
            (np.linspace(-0.5, last, 20 * len(tokens) + 1), "lines", dotted),
        ):
            y = np.exp(-((x - mean) ** 2) / (2 * std**2)) / (std * np.sqrt(2 * np.pi))
            figure.add_scatter(
                x=rounded(x),
                y=rounded(y),
                mode=mode,
                name=escape(name),
                hovertemplate="%{x:.4~f}: %{y:.4~f}",
                **shown,
            )
        note = {"x": mean, "xref": "x", "y": 1, "yref": "paper", "yanchor": "bottom"}
        # a row each: curves may stand close
        note |= {"yshift": ROW * place, "showarrow": False}
        mark, color = GLYPHS[SYMBOLS[place % len(SYMBOLS)]], COLORS[place % len(COLORS)]
        figure.add_annotation(text=mark, font={"color": color}, xanchor="right", **note)
        figure.add_annotation(text=f" {escape(name)}", xanchor="left", **note)
    figure.layout.margin.t += ROW * len(means)
    figure.layout.height += ROW * len(means)
    figure.update_layout(showlegend=False)
    figure.update_xaxes(
        **ticks([escape(token) for token in tokens]), range=[-0.5, last], title_text="word"
    )
    return figure.update_yaxes(title_text="weight")


def _array(values: Any) -> np.ndarray:
    """Convert numbers to an array, also those of a tensor on any device."""
    return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)


def attention_grid(
    layers: Sequence[np.ndarray | None],
    query_labels: Sequence[str],
    key_labels: Sequence[str],
    title: str = "",
) -> go.Figure:
    """Draw every head of a site as a small map, a layer per row: an overview in whole percent.

    One scale ends at the largest weight of all. Cells are square.

    `attention_maps` draws the exact weights of chosen heads.

    Args:
        layers: `(num_heads, query_len, key_len)` each; None for a missing sublayer.
        query_labels: the querying tokens, top to bottom in each map.
        key_labels: the attended tokens, left to right.
        title: the site.

    Raises:
        InputError: labels that do not match the weights, or a site without any attention.
    """
    present = [_array(weights) for weights in layers if weights is not None]
    if not present:
        raise InputError(title or "layers", "no layer has attention", "choose another site")
    num_heads, (query_len, key_len) = max(len(weights) for weights in present), present[0].shape[1:]
    check_labels("query_labels", query_labels, query_len, "row")
    check_labels("key_labels", key_labels, key_len, "column")
    # Distances from a map to its neighbour, in cells.
    right, down = key_len + max(1, key_len // 12), query_len + max(1, query_len // 12)
    figure = go.Figure()
    for layer, weights in enumerate(layers):
        for head, matrix in enumerate([] if weights is None else _array(weights)):
            percent = np.clip(np.rint(100 * matrix), 0, PERCENT).astype(np.uint8)
            name = head_name(layer, head)
            figure.add_heatmap(
                z=percent, x0=head * right, y0=layer * down, name=name, coloraxis="coloraxis"
            )
    most = int(max(trace.z.max() for trace in figure.data)) or 100
    template = go.layout.Template(TEMPLATE)  # holds what would otherwise repeat in every map
    template.data.heatmap[
        0
    ].hovertemplate = "%{fullData.name}<br>query %{y}, key %{x}: %{z} %<extra></extra>"
    across, up = num_heads * right + 1, len(layers) * down + 1  # cells of all maps
    margin = {"l": 70, "r": 20, "t": 70, "b": 20}
    room = WIDTH - margin["l"] - margin["r"] - BAR
    cell = min(GRID_CELL, room / across, GRID_HEIGHT / up)
    figure.update_layout(
        template=template,
        title_text=escape(title),
        coloraxis={
            "cmin": 0,
            "cmax": most,
            "colorscale": SEQUENTIAL,
            "colorbar": _bar("weight, %", (0, most)),
        },
        width=round(margin["l"] + margin["r"] + BAR + cell * across),
        height=round(margin["t"] + margin["b"] + max(MIN_HEIGHT, cell * up)),
        margin=margin,
    )
    hidden = {"showticklabels": False, "showgrid": False}  # the mouse still shows labels
    keys, queries = ([escape(label) for label in labels] for labels in (key_labels, query_labels))
    places = (np.arange(num_heads)[:, None] * right + np.arange(key_len)).ravel()
    figure.update_xaxes(
        range=[-1, num_heads * right], tickvals=places, ticktext=keys * num_heads, **hidden
    )
    places = (np.arange(len(layers))[:, None] * down + np.arange(query_len)).ravel()
    figure.update_yaxes(
        range=[len(layers) * down, -1],
        tickvals=places,
        ticktext=queries * len(layers),
        scaleanchor="x",
        constrain="domain",
        constraintoward="top",
        **hidden,
    )
    note = {"showarrow": False, "font": {"size": 12}}
    for head in range(num_heads):
        figure.add_annotation(
            text=f"head {head + FIRST}",
            x=head * right + key_len / 2 - 0.5,
            y=1,
            xref="x",
            yref="paper",
            yanchor="bottom",
            **note,
        )
    for layer, weights in enumerate(layers):
        middle = layer * down + query_len / 2 - 0.5
        figure.add_annotation(
            text=layer_name(layer), x=0, y=middle, xref="paper", yref="y", xanchor="right", **note
        )
        if weights is None:
            figure.add_annotation(
                text="no attention",
                x=(num_heads * right) / 2 - 1,
                y=middle,
                xref="x",
                yref="y",
                bgcolor=GRID,
                **note,
            )
    return figure
