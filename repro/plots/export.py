"""Show figures in notebooks and write them to files."""

import base64
import html
import io
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import plotly.io
from IPython import get_ipython
from IPython.display import display
from PIL import Image
from plotly.io.base_renderers import ExternalRenderer, PlotlyRenderer

from repro.errors import InputError, did_you_mean
from repro.files import write_atomic
from repro.plots.description import describe
from repro.plots.still import SHARPNESS, picture
from repro.plots.vector import svg

ENDINGS = ("html", "png", "svg", "pdf")
# A still of a figure that this package did not draw fails with one of these.
UNSUPPORTED_FIGURE = (AttributeError, LookupError, TypeError, ValueError)
CONFIG = {"displaylogo": False}  # the logo of plotly is a link to another machine
LEGIBLE = 0.66  # of its size, labels of a picture have about 8 pixels
# Neither JupyterLab nor nbconvert gives a picture the alternative in its metadata. On a phone it
# scrolls in its own box. A picture is known by its last bytes.
_DESCRIBED = """<p>{words}</p><script>{{
  const words = document.currentScript.previousElementSibling;
  for (const image of document.querySelectorAll('img[src$="{end}"]')) {{
    image.alt = words.textContent;
    image.style.cssText = "max-width: none; width: clamp({least}px, 100%, {width}px)";
    image.parentElement.style.overflowX = "auto";
    words.parentElement.style.display = "none";
  }}
}}</script>"""


class Still(ExternalRenderer):
    """Show a figure in a notebook as a picture with its description.

    The picture is the same in JupyterLab, on exported pages and on GitHub. Plotly's own view has
    another size and other fonts, and replaces the picture once the mouse touches it. GitHub drops
    pictures within HTML and colours within SVG. So the picture is a PNG, and its description a
    separate output: text below the picture, which becomes its alternative where scripts run.
    """

    def render(self, fig_dict: dict[str, Any]) -> None:
        """Display the figure; one that this package did not draw is left to plotly."""
        try:
            png, words = picture(fig_dict), describe(fig_dict)
        except UNSUPPORTED_FIGURE:
            display(PlotlyRenderer(CONFIG).to_mimebundle(fig_dict), raw=True)
            return
        width = Image.open(io.BytesIO(png)).width // SHARPNESS
        data = base64.b64encode(png).decode()
        drawn = {"image/png": {"width": width, "alt": words}}
        display({"image/png": data}, metadata=drawn, raw=True)
        described = _DESCRIBED.format(
            words=html.escape(words), end=data[-40:], least=int(LEGIBLE * width), width=width
        )
        display({"text/html": described, "text/plain": words}, raw=True)


def show_stills() -> None:
    """Show figures by `Still`: plotly's own way puts all of its code into every saved notebook."""
    plotly.io.renderers["repro"] = Still()
    plotly.io.renderers.default = "repro"


# Plotly's table of renderers takes two seconds to import; only notebooks need it.
if get_ipython():
    show_stills()


def save(figure: go.Figure, path: Path | str) -> None:
    """Write a figure as one `.html` page or as a still picture (`.png`, `.svg`, `.pdf`).

    The page needs no network, the picture no browser.

    Raises:
        InputError: another ending, or a still of a figure with additions that this package cannot
            draw.
        MachineError: the disk refuses.
    """
    path = Path(path)
    ending = path.suffix.removeprefix(".").lower()
    if ending not in ENDINGS:
        raise InputError(
            str(path), f"a figure is not written as '{path.suffix}'", did_you_mean(ending, ENDINGS)
        )
    try:
        data = (
            figure.to_html(include_plotlyjs=True, config=CONFIG).encode()
            if ending == "html"
            else svg(figure)
            if ending == "svg"
            else picture(figure, ending)
        )
    except UNSUPPORTED_FIGURE as error:
        raise InputError(
            str(path),
            "the figure holds more than `repro.plots` draws, and stills are of that only",
            "write .html",
        ) from error
    write_atomic(path, data)
