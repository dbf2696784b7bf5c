"""Make the SVG of a figure: sharp at any size, with words, and with ink for light and dark pages."""

import html
import re
from typing import Any

import plotly.graph_objects as go

from repro.plots.description import describe, plain_text
from repro.plots.still import picture

INK_ON_WHITE, INK_ON_BLACK = "#24292f", "#e6edf3"
# Readers and other programs that know no such rules show the ink that suits both.
_THEMES = (
    f"text{{fill:{INK_ON_WHITE}!important}}"
    f"@media(prefers-color-scheme:dark){{text{{fill:{INK_ON_BLACK}!important}}}}"
)
FALLBACK = "Verdana, sans-serif"  # as wide as the font of the pictures


def svg(figure: go.Figure | dict[str, Any]) -> bytes:
    """Return the still picture of a figure as SVG, with its title and its description in words.

    The same figure gives the same bytes.
    """
    spec = figure if isinstance(figure, dict) else figure.to_dict()
    title = plain_text(spec["layout"].get("title", {}).get("text"))
    words = f"<title>{html.escape(title)}</title>" if title else ""
    words += f"<desc>{html.escape(describe(spec))}</desc>"
    drawn = picture(spec, "svg").decode()
    drawn = re.sub(r"font-family: ([^;\"]*)", rf"font-family: \1, {FALLBACK}", drawn)
    drawn = drawn.replace("</style>", f"{_THEMES}</style>", 1).replace("<svg ", '<svg role="img" ')
    start = drawn.index(">", drawn.index("<svg ")) + 1
    return (drawn[:start] + words + drawn[start:]).encode()
