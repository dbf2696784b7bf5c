"""Share colours, text, numbers, and a look that reads on light and on dark pages.

Backgrounds are transparent, so one ink must do for both. No ink has a contrast of 4.5 with white
and with #111 at once: the product of the two contrasts is that of white with #111, 18.9. Ours has
4.54 on white, on screen and in print, and 4.16 on #111.
"""

import base64
import html
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence, Sized
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from repro.errors import InputError

INK = "#767676"  # text and axes; also published numbers beside reproduced ones
GRID = "rgba(118, 118, 118, 0.25)"
# Okabe and Ito 2008: distinct for any colour vision.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
# Symbols go with the colours: a line is never identified by colour alone.
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross")
# Zero is the paper, white or dark. One hue is the same for all colour vision; this blue has a
# contrast of 4 with white and of 4.7 with #111.
HUE = (32, 134, 194)
SEQUENTIAL = [[float(end), f"rgba{(*HUE, end)}"] for end in (0, 1)]
# Below numbers: no ink reads on a colour that lets both a white and a dark paper through.
NUMBERED = [[0.0, "#F7F7F7"], [1.0, COLORS[0]]]
DIVERGING = [[0.0, COLORS[0]], [0.5, "#F7F7F7"], [1.0, COLORS[1]]]
WIDTH = 800  # pixels; a notebook draws wider or narrower
DIGITS = 4  # of stored numbers, except the weights of a model
HEADLINE_LETTER, HEADLINE_LINE = 8.2, 20  # pixels

_AXIS = {
    "gridcolor": GRID,
    "linecolor": INK,
    "zeroline": False,
    "ticks": "",
    "automargin": True,
    "title": {"standoff": 8},
}
TEMPLATE = go.layout.Template(
    layout={
        "font": {"color": INK, "size": 12},
        "paper_bgcolor": "rgba(0, 0, 0, 0)",
        "plot_bgcolor": "rgba(0, 0, 0, 0)",
        "xaxis": _AXIS,
        "yaxis": _AXIS,
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        "title": {"x": 0, "xref": "paper", "font": {"size": 14}},
        "hovermode": "closest",
        "modebar": {"bgcolor": "rgba(0, 0, 0, 0)", "color": INK, "activecolor": COLORS[0]},
    },
    data={
        "heatmap": [{"type": "heatmap", "colorscale": SEQUENTIAL}],
        "bar": [{"type": "bar", "marker": {"line": {"width": 0}}}],
    },
)


ZWNJ, ZWJ, EMOJI_STYLE = "\u200c", "\u200d", "\ufe0f"
VIRAMA = 9  # the combining class of the signs that remove a vowel

# Dashes go with the colours of lines without marks.
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


def escape(text: str) -> str:
    """Escape text so that a figure shows it as typed.

    Markup becomes characters, control and direction marks become code points, and `$` is never TeX.
    """
    shown = (
        c
        if c.isprintable() or c == " " or _joins(text[:place], c, text[place + 1 :])
        else f"⟨U+{ord(c):04X}⟩"
        for place, c in enumerate(text)
    )
    return html.escape("".join(shown), quote=False).replace("$", "&#36;")


def _joins(before: str, c: str, after: str) -> bool:
    """Whether a joiner has a meaning here: between emoji, after a virama, between Arabic letters.

    The last two are the contexts of RFC 5892, appendix A. Anywhere else a joiner would only hide.
    """
    if c not in (ZWJ, ZWNJ) or not before or not after:
        return False
    symbols = before.rstrip(EMOJI_STYLE)[-1:] + after[0]
    if (
        c == ZWJ
        and len(symbols) == 2
        and all(unicodedata.category(symbol) in ("So", "Sk") for symbol in symbols)
    ):
        return True
    return unicodedata.combining(before[-1]) == VIRAMA or all(
        map(_is_arabic, (before[-1], after[0]))
    )


def _is_arabic(letter: str) -> bool:
    return unicodedata.bidirectional(letter) == "AL"


def rounded(values: Iterable[float]) -> np.ndarray:
    """Return numbers as a figure stores them: integers unchanged, others with four decimals."""
    values = np.asarray(values if isinstance(values, np.ndarray) else list(values))
    return values if values.dtype.kind in "iu" else np.round(values.astype(float), DIGITS)


def numbers_of(value: Any) -> Any:
    """Return what plotly packed for JSON as the array it was."""
    if not isinstance(value, dict) or "bdata" not in value:
        return value
    numbers = np.frombuffer(base64.b64decode(value["bdata"]), dtype=value["dtype"])
    return (
        numbers.reshape([int(size) for size in value["shape"].split(",")])
        if "shape" in value
        else numbers
    )


def check_labels(where: str, labels: Sequence[object], needed: int, unit: str) -> None:
    """Refuse labels that are not one for each of `needed` units.

    Raises:
        InputError: their number differs.
    """
    if len(labels) != needed:
        raise InputError(
            where, f"found {len(labels)} for {needed} {unit}s", f"give one for each {unit}"
        )


def check_drawn(parts: Sized, num_columns: int = 1) -> None:
    """Refuse a figure without any part, or without a column.

    Raises:
        InputError: there is none.
    """
    if not len(parts) or num_columns < 1:
        raise InputError(
            "figure",
            "there is nothing to draw",
            "give one thing to draw, or more, and one column or more",
        )


def panel_figure(
    titles: Sequence[str],
    num_columns: int,
    cell_height: int,
    gap: int = 80,
    legend: bool = False,
    **options,
) -> go.Figure:
    """Return a figure of empty panels, row by row.

    Args:
        titles: one per panel, as typed.
        num_columns: panels in a row.
        cell_height: of a panel, in pixels.
        gap: between rows and below the last one, in pixels: room for tick labels, axis titles, and
            the titles of the next row.
        legend: whether to leave room for one above.
        options: of `make_subplots`.

    Raises:
        InputError: no panel.
    """
    check_drawn(titles, num_columns)
    num_rows, columns = -(-len(titles) // num_columns), min(num_columns, len(titles))
    inner = num_rows * cell_height + (num_rows - 1) * gap
    if num_rows > 1:
        options["vertical_spacing"] = gap / inner
    figure = make_subplots(
        num_rows, columns, subplot_titles=[escape(title) for title in titles], **options
    )
    figure.update_annotations(font_size=13, yshift=4)
    top = 30 + 25 * legend + 20 * any(titles)
    figure.update_layout(
        template=TEMPLATE, height=inner + top + gap, margin={"l": 60, "r": 20, "t": top, "b": gap}
    )
    if legend:
        figure.update_layout(legend_y=1 + 22 / inner if any(titles) else 1)
    return figure


def panel_cell(panel: int, num_columns: int) -> dict[str, int]:
    """Return row and column of a panel, as plotly counts them."""
    return {"row": panel // num_columns + 1, "col": panel % num_columns + 1}


def empty_figure(height: int = 360) -> go.Figure:
    """Return an empty figure of one panel, with a height in pixels."""
    return go.Figure().update_layout(
        template=TEMPLATE, height=height, margin={"l": 60, "r": 20, "t": 30, "b": 60}
    )


def headline(figure: go.Figure, text: str) -> go.Figure:
    """Write what a figure shows above it, as typed, on as many lines as it needs.

    The figure grows by them. Without a text it stays as it is.
    """
    layout = figure.layout
    room = (layout.width or WIDTH) - layout.margin.l
    lines = textwrap.wrap(text, int(room / HEADLINE_LETTER), break_on_hyphens=False)
    if not lines:
        return figure
    more = HEADLINE_LINE * len(lines)
    layout.margin.t += more
    layout.height += more
    title = {"y": 1 - 10 / layout.height, "yref": "container", "yanchor": "top"}
    return figure.update_layout(title=title, title_text="<br>".join(map(escape, lines)))


def ticks(labels: Sequence[str]) -> dict[str, list]:
    """Return axis options that write labels, already escaped, at 0, 1, 2 ..."""
    return {"tickvals": list(range(len(labels))), "ticktext": list(labels)}
