"""Figures into notebooks and files."""

import base64
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import plotly.io
from plotly.io.base_renderers import MimetypeRenderer, PlotlyRenderer

from repro.errors import InputError, did_you_mean
from repro.files import write_atomic
from repro.plots.still import picture

ENDINGS = ("html", "png", "svg", "pdf")
NOT_OURS = (AttributeError, LookupError, TypeError, ValueError)  # how a still of something else than our figures ends
CONFIG = {"displaylogo": False}  # plotly's own is a link to another machine


class FigureAndPicture(MimetypeRenderer):
    """Puts a figure into a notebook twice: for plotly, where that runs, and as a picture for GitHub and other still pages."""

    def to_mimebundle(self, fig_dict: dict[str, Any]) -> dict[str, Any]:
        """Return both, by MIME type; of a figure that holds what those of this package never do, the first alone."""
        shown = PlotlyRenderer(CONFIG).to_mimebundle(fig_dict)
        try:
            return {**shown, "image/png": base64.b64encode(picture(fig_dict)).decode()}
        except NOT_OURS:
            return shown


plotly.io.renderers["repro"] = FigureAndPicture()
plotly.io.renderers.default = "repro"  # plotly's own would put all of its code into every saved notebook


def save(figure: go.Figure, path: Path | str) -> None:
    """Write a figure: `.html`, one page that needs no network, or a still picture, `.png`, `.svg` or `.pdf`. No browser is needed.

    Raises:
        InputError: another ending, or a still of a figure to which something was added.
        MachineError: the disk refuses.
    """
    path = Path(path)
    ending = path.suffix.removeprefix(".").lower()
    if ending not in ENDINGS:
        raise InputError(str(path), f"a figure is not written as '{path.suffix}'", did_you_mean(ending, ENDINGS))
    try:
        data = figure.to_html(include_plotlyjs=True, config=CONFIG).encode() if ending == "html" else picture(figure, ending)
    except NOT_OURS as error:
        raise InputError(str(path), "the figure holds more than `repro.plots` draws, and stills are of that only", "write .html") from error
    write_atomic(path, data)
