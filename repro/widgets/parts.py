"""What the widgets are put together from: views drawn by the modules beside this file, and their static stand-ins."""

import base64
import copy
import html
import io
import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets
import numpy as np
import plotly.colors
import traitlets
from PIL import Image

from repro.analysis.reading import Reading, changed_words
from repro.decoding import Translator
from repro.errors import ReproError, check_kind
from repro.plots import attention_maps, escape
from repro.plots import picture as still

TITLES = {"encoder_self": "Encoder self-attention", "decoder_self": "Decoder self-attention", "cross": "Cross attention"}
PALETTE = np.array([plotly.colors.unlabel_rgb(c) for c in plotly.colors.sample_colorscale("Cividis", 256)]).round().astype(np.uint8)
"""The colours of weights from 0 to 1, `(256, 3)`; those of `plots.attention_maps`."""

FITS = {"width": "auto"}  # the layout of a button as wide as its text
FRONT = Path(__file__).parent / "front"

ONE_AT_A_TIME = threading.RLock()
"""Held by whatever answers a hand: a kernel may handle the messages of two controls in two threads. It may be taken again in its thread."""


def module(*names: str) -> str:
    """Return the text of a view's module, with what it shares with others in front: a browser gets it as one piece.

    A saved notebook holds it once a view, so lines of comment and indentation are left out.
    """
    text = "\n".join((FRONT / f"{name}.js").read_text(encoding="utf-8") for name in ("common", *names))
    palette = f"const PALETTE = {PALETTE.flatten().tolist()};\n" if "matrix" in names else ""
    return palette + re.sub(r"^ +|^ *//.*\n", "", text, flags=re.MULTILINE)


def style(*names: str) -> str:
    """Return the rules of a view with those that all share in front."""
    return "".join((FRONT / f"{name}.css").read_text(encoding="utf-8") for name in ("common", *names))


class Words(anywidget.AnyWidget):
    """Translations word by word, with probabilities. `rows` are made by `words_row`; `message` is a line below them."""

    _esm, _css = module("words"), style("words")
    rows = traitlets.List().tag(sync=True)
    message = traitlets.Unicode().tag(sync=True)


class Touchable(ipywidgets.VBox):
    """A widget that a page without a kernel shows as its text and picture.

    Args:
        rows: what it is put together from.
        notice: the view whose `message` tells the user's mistakes; None where none can be made.
    """

    def __init__(self, rows: Sequence[ipywidgets.Widget], notice: Any = None) -> None:
        super().__init__(list(rows))
        self.notice = notice

    def guarded(self, action: Callable[[], None]) -> Callable[[Any], None]:
        """Return a callback that tells a user's mistake in one line; a traceback from a callback is seen by nobody.

        Of callbacks in several threads one waits for another: two at once would show what the earlier one has read.
        """

        def run(_: Any) -> None:
            try:
                with ONE_AT_A_TIME:
                    action()
            except ReproError as error:
                self.notice.message = str(error)

        return run

    def static(self) -> str:
        """Return the state as HTML without scripts; all text in it has gone through `escape`."""
        raise NotImplementedError

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        return {**super()._repr_mimebundle_(**kwargs), "text/html": self.static()}


def apart(translator: Translator) -> Translator:
    """Return a translator over the same parameters whose modules are its own.

    What a widget lays over its heads is not there for others: a cell may run in another thread while the widget translates.

    Raises:
        InputError: it is no translator.
    """
    check_kind("translator", translator, "load one, as in repro.Translator.from_run(run)", Translator)
    shared = {id(tensor): tensor for tensor in (*translator.model.parameters(), *translator.model.buffers())}
    return Translator(copy.deepcopy(translator.model, shared), translator.subwords)


def sentence_field(sentence: str) -> ipywidgets.Text:
    """Return a field for a sentence, read when Enter is pressed or the field is left."""
    return ipywidgets.Text(sentence, description="sentence", continuous_update=False, layout={"width": "min(760px, 98%)"})


def words_row(label: str, reading: Reading, other: Reading) -> dict[str, Any]:
    """Return a row of `Words`; words that the other reading does not have, in the same order, are marked as changed."""
    texts, others = ([word.text for word in words] for words in (reading.words, other.words))
    marks = zip(reading.words, changed_words(others, texts), strict=True)
    return {"label": label, "words": [{"text": word.text, "probability": word.probability, "changed": changed} for word, changed in marks]}


def static_words(rows: Sequence[dict[str, Any]]) -> str:
    """Return rows of `Words` as an HTML table."""

    def word(entry: dict[str, Any]) -> str:
        text = escape(entry["text"])
        return f"{f'<b><u>{text}</u></b>' if entry['changed'] else text} <sub>{entry['probability']:.2f}</sub>"

    lines = (f"<tr><th>{escape(row['label'])}</th><td>{' '.join(map(word, row['words']))}</td></tr>" for row in rows)
    return f"<table>{''.join(lines)}</table>"


def picture(weights: np.ndarray, width: int) -> str:
    """Return weights `(rows, columns)` from 0 to 1 as an HTML picture of about that many pixels across; NaN is transparent.

    Sixteen shades keep a saved notebook small. The numbers themselves are in the widget.
    """
    shades = np.where(np.isnan(weights), 15, np.clip(np.nan_to_num(weights), 0, 1) * 14).round().astype(np.uint8)
    scale = max(1, width // shades.shape[1])  # whole pixels a weight: a browser would blur them
    image = Image.fromarray(shades.repeat(scale, axis=0).repeat(scale, axis=1), "P")
    image.putpalette(PALETTE[np.linspace(0, 255, 15).round().astype(int)].tobytes() + bytes(3))
    buffer = io.BytesIO()
    image.save(buffer, "png", bits=4, transparency=15, optimize=True)
    return _image(buffer.getvalue(), "attention weights")


def labelled_picture(weights: np.ndarray, title: str, queries: Sequence[str], keys: Sequence[str]) -> str:
    """Return the weights of one head `(len(queries), len(keys))` with their tokens, as an HTML picture."""
    figure = attention_maps([weights], [title], queries, keys)
    figure.update_layout(width=max(420, 170 + 20 * len(keys)))
    return _image(still(figure), title)


def _image(png: bytes, what: str) -> str:
    return f'<img alt="{html.escape(what)}" src="data:image/png;base64,{base64.b64encode(png).decode()}">'
