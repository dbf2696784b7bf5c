"""Build static stand-ins of widgets: HTML without scripts, for pages without a kernel."""

import base64
import html
import io
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import plotly.colors
from PIL import Image

from repro.core.numbering import layer_name
from repro.plots import attention_maps, escape
from repro.plots import picture as still
from repro.plots.maps import DIM
from repro.plots.still import SHARPNESS

_COLORS = [plotly.colors.unlabel_rgb(c) for c in plotly.colors.sample_colorscale("Cividis", 256)]
PALETTE = np.array(_COLORS).round().astype(np.uint8)
"""The colours of weights from 0 to 1, `(256, 3)`; those of `plots.attention_maps`."""

NOT_LIVE = "<p><em>A still picture, not live: run the cell in JupyterLab to use it.</em></p>"
LABELLED = 32  # tokens per side of a matrix with labels
CELLS = 48  # per side of a map in an overview


def static_words(rows: Sequence[dict[str, Any]]) -> str:
    """Return rows of `Words` as an HTML table."""

    def word(entry: dict[str, Any]) -> str:
        text = escape(entry["text"])
        marked = f"<b><u>{text}</u></b>" if entry["changed"] else text
        return f"{marked} <sub>{entry['probability']:.2f}</sub>"

    def line(row: dict[str, Any]) -> str:
        words = " ".join(map(word, row["words"]))
        return f"<tr><th>{escape(row['label'])}</th><td>{words}</td></tr>"

    return f"<table>{''.join(map(line, rows))}</table>"


def overview(layers: Sequence[Iterable[np.ndarray]], title: str, width: int = 320) -> str:
    """Return all heads of a site as one HTML picture, layers downwards and heads to the right.

    A map with more than `CELLS` per side is drawn as the largest weights of its blocks. A map whose
    largest weight is below `DIM` has the colours of the roots of its weights, as in the live view.

    Args:
        layers: by layer and head, weights `(queries, keys)` from 0 to 1.
        title: the name of the site.
        width: pixels across, at least as many as cells.
    """
    maps = [[_brightened(_pooled(weights)) for weights in heads] for heads in layers]
    rows, columns = next((weights.shape for heads in maps for weights in heads), (1, 1))
    most = max([1, *map(len, maps)])
    grid = np.full((len(maps) * (rows + 1), most * (columns + 1)), np.nan, np.float32)
    for layer, heads in enumerate(maps):
        for head, weights in enumerate(heads):
            y, x = layer * (rows + 1), head * (columns + 1)
            grid[y : y + rows, x : x + columns] = weights
    counts = ", ".join(f"{len(heads)} in {layer_name(layer)}" for layer, heads in enumerate(maps))
    return _picture(grid, width, f"{title}: the weights of all heads, {counts}")


def labelled_picture(
    weights: np.ndarray, title: str, queries: Sequence[str], keys: Sequence[str]
) -> str:
    """Return the weights of one head with their tokens, as an HTML picture.

    It shows the first `LABELLED` tokens of a long sentence, and says so.

    Args:
        weights: `(len(queries), len(keys))`.
        title: of the picture.
        queries, keys: the tokens.
    """
    rows, columns = queries[:LABELLED], keys[:LABELLED]
    figure = attention_maps([weights[:LABELLED, :LABELLED]], [title], rows, columns)
    figure.update_layout(width=max(420, 170 + 20 * len(columns)))
    note = ""
    if max(len(queries), len(keys)) > LABELLED:
        first = f"the first {len(rows)} of {len(queries)} queries"
        note = f"<p>Drawn: {first} and the first {len(columns)} of {len(keys)} keys.</p>"
    return _image(still(figure), title, SHARPNESS) + note


def _pooled(weights: np.ndarray) -> np.ndarray:
    """Return the largest weight of each block; no side has more than `CELLS` blocks."""
    for axis, size in enumerate(weights.shape):
        if size > CELLS:
            starts = np.arange(CELLS) * size // CELLS
            weights = np.maximum.reduceat(weights, starts, axis=axis)
    return weights


def _brightened(weights: np.ndarray) -> np.ndarray:
    """Brighten weights that would hardly be seen."""
    return np.sqrt(weights) if weights.max(initial=0) < DIM else weights


def _picture(weights: np.ndarray, width: int, what: str) -> str:
    """Return weights `(rows, columns)` from 0 to 1 as an HTML picture; NaN is transparent.

    Sixteen shades keep a saved notebook small. The numbers themselves are in the widget.
    """
    shades = np.where(np.isnan(weights), 15, np.clip(np.nan_to_num(weights), 0, 1) * 14)
    shades = shades.round().astype(np.uint8)
    scale = max(1, width // shades.shape[1])  # a browser would blur fractions of pixels
    image = Image.fromarray(shades.repeat(scale, axis=0).repeat(scale, axis=1), "P")
    palette = PALETTE[np.linspace(0, 255, 15).round().astype(int)]
    image.putpalette(palette.tobytes() + bytes(3))
    buffer = io.BytesIO()
    image.save(buffer, "png", bits=4, transparency=15, optimize=True)
    return _image(buffer.getvalue(), what)


def _image(png: bytes, what: str, sharpness: int = 1) -> str:
    """Return a picture as HTML; `sharpness` is its pixels per pixel of the page."""
    width = Image.open(io.BytesIO(png)).width // sharpness
    data = base64.b64encode(png).decode()
    return f'<img alt="{html.escape(what)}" width="{width}" src="data:image/png;base64,{data}">'
