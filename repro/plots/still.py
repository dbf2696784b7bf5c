"""Make the still picture of a figure, for pages and files that do not run plotly.

Examples are GitHub, nbviewer, PNG, SVG and PDF. matplotlib draws it from the numbers in the figure
(`drawing.py`), without a browser.
"""

import functools
import io
import warnings
from collections.abc import Iterator
from typing import Any

import matplotlib
import numpy as np
import plotly.graph_objects as go
from matplotlib import font_manager
from numpy.typing import NDArray
from PIL import Image

from repro.plots.drawing import DPI, draw
from repro.plots.style import INK

SHARPNESS = 2  # pixels of a PNG to one of plotly: screens of phones and new laptops show them all
COLORS_AT_ONCE = 4096  # of which the differences to the whole palette take 8 MB
ROWS_AT_ONCE = 512
STEP = 5  # of red, green, blue and opacity: too small to see
_EAST_ASIAN = (
    "Noto Sans CJK JP",
    "IPAGothic",
    "TakaoPGothic",
    "Hiragino Sans",
    "Yu Gothic",
    "MS Gothic",
)
_UNDATED = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None},
}


def picture(figure: go.Figure | dict[str, Any], file_format: str = "png") -> bytes:
    """Return the still picture of a figure on a transparent background.

    The same figure gives the same bytes.

    Args:
        figure: of this package, or its `to_dict()`.
        file_format: png, svg or pdf.
    """
    settings: Any = {
        "text.parse_math": False,
        "text.color": INK,
        "font.family": _fonts(),
        "svg.hashsalt": "",
        "svg.fonttype": "none",
        "pdf.fonttype": 42,  # TrueType: conferences refuse the Type 3 that is usual here
    }
    buffer = io.BytesIO()
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        # drawn as a box where no font has it
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        drawn = draw(figure)
        look: Any = {"transparent": True, "bbox_inches": "tight", "dpi": SHARPNESS * DPI}
        drawn.savefig(buffer, format=file_format, metadata=_UNDATED[file_format], **look)
    return _with_palette(buffer) if file_format == "png" else buffer.getvalue()


def _with_palette(png: io.BytesIO) -> bytes:
    """Return a picture with the 256 most frequent of its colors, half the size or less.

    The other colors are edges of letters and lines.
    """
    strips = list(_strips(Image.open(png)))
    found, found_counts = zip(
        *(np.unique(strip, return_counts=True) for strip in strips), strict=True
    )
    packed, places = np.unique(np.concatenate(found), return_inverse=True)
    counts = np.bincount(places, weights=np.concatenate(found_counts)).astype(int)
    colors = packed.view(np.uint8).reshape(-1, 4).astype(np.int16)
    palette = colors[np.argsort(-counts, kind="stable")[:256]]
    pieces = np.array_split(colors, len(colors) // COLORS_AT_ONCE + 1)
    nearest = np.concatenate([_nearest(piece, palette) for piece in pieces])
    rows = [nearest[np.searchsorted(packed, row)] for strip in strips for row in strip]
    indexed = Image.fromarray(np.stack(rows)).convert("P")
    indexed.putpalette(palette[:, :3].astype(np.uint8).tobytes())
    smaller = io.BytesIO()
    indexed.save(
        smaller, format="png", optimize=True, transparency=palette[:, 3].astype(np.uint8).tobytes()
    )
    return smaller.getvalue()


def _strips(image: Image.Image) -> Iterator[NDArray[np.uint32]]:
    """Yield the rounded colors of a picture, some rows at a time: a tall one has millions."""
    rounded = (np.rint(np.arange(256) / STEP) * STEP).astype(np.uint8)
    for top in range(0, image.height, ROWS_AT_ONCE):
        bottom = min(top + ROWS_AT_ONCE, image.height)
        pixels = np.array(image.crop((0, top, image.width, bottom)).convert("RGBA"))
        pixels = rounded[pixels]
        pixels[pixels[..., 3] == 0] = 0
        yield pixels.view(np.uint32)[..., 0]


def _nearest(colors: NDArray[np.int16], palette: NDArray[np.int16]) -> NDArray[np.uint8]:
    """Return the place in the palette of the color that differs least from each of `colors`."""
    distances = np.abs(colors[:, None] - palette).sum(axis=2, dtype=np.int16)
    return distances.argmin(axis=1).astype(np.uint8)


@functools.cache
def _fonts() -> list[str]:
    installed = set(font_manager.get_font_names())
    return ["DejaVu Sans", *(name for name in _EAST_ASIAN if name in installed)]
