"""What the widgets are put together from: views drawn by the modules beside this file, controls, and callbacks."""

import copy
import re
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets
import traitlets
from IPython.display import display

from repro.analysis.reading import Reading, changed_words
from repro.core.decoding import Translator
from repro.data.characters import describe_characters
from repro.errors import ReproError, check_kind
from repro.plots.maps import DIM
from repro.widgets.stills import NOT_LIVE, PALETTE

TITLES = {
    "encoder_self": "Encoder self-attention",
    "decoder_self": "Decoder self-attention",
    "cross": "Cross attention",
}
FITS = {"width": "auto", "flex": "0 0 auto"}  # the layout of a button as wide as its text
# of a row whose parts go into the next line where there is no room
WRAPS = {"flex_flow": "row wrap"}
FRONT = Path(__file__).parent / "front"

ONE_AT_A_TIME = threading.RLock()
"""Held by whatever answers a hand: a kernel may handle the messages of two controls in two threads. It may be taken again in its thread."""


def module(*names: str) -> str:
    """Return the text of a view's module, with what it shares with others in front: a browser gets it as one piece.

    A saved notebook holds it once a view, so lines of comment and indentation are left out.
    """
    text = "\n".join(
        (FRONT / f"{name}.js").read_text(encoding="utf-8") for name in ("common", *names)
    )
    palette = (
        f"const [PALETTE, DIM] = [{PALETTE.flatten().tolist()}, {DIM}];\n"
        if "matrix" in names
        else ""
    )
    return palette + re.sub(r"^ +|^ *//.*\n", "", text, flags=re.MULTILINE)


def style(*names: str) -> str:
    """Return the rules of a view with those that all share in front."""
    return "".join(
        (FRONT / f"{name}.css").read_text(encoding="utf-8") for name in ("common", *names)
    )


READY, BUSY, STALE = STATES = ("ready", "busy", "stale")
"""What a view shows is of the controls as they are; is about to change; is of an earlier state, for the new one is a mistake."""


class Words(anywidget.AnyWidget):
    """Translations word by word, with probabilities.

    Traits: `rows` are made by `words_row`; `message` is a line below them; `state` is one of
        `STATES`.
    """

    _esm, _css = module("words"), style("words")
    rows = traitlets.List().tag(sync=True)
    message = traitlets.Unicode().tag(sync=True)
    state = traitlets.Enum(STATES, READY).tag(sync=True)


class Touchable(ipywidgets.VBox):
    """A widget that a page without a kernel shows as its text and picture.

    Args:
        rows: what it is put together from.
        notice: the view whose `message` tells the user's mistakes, and whose `state` says whether
            it is up to date; None where no mistake can be made.
    """

    def __init__(self, rows: Sequence[ipywidgets.Widget], notice: Any = None) -> None:
        super().__init__(list(rows))
        # by which views find their widget and its stand-in
        self.add_class("rp-widget").add_class(f"rp-of-{self.model_id}")
        self.notice = notice

    def guarded(self, action: Callable[[], None]) -> Callable[[Any], None]:
        """Return a callback that tells a user's mistake in one line; a traceback from a callback is seen by nobody.

        Of callbacks in several threads one waits for another: two at once would show what the
            earlier one has read.
        """

        def run(_: Any) -> None:
            with ONE_AT_A_TIME:
                self.notice.state, state = BUSY, STALE
                try:
                    action()
                    state = READY
                except ReproError as error:
                    self.notice.message = str(error)
                finally:
                    self.notice.state = state

        return run

    def static(self) -> str:
        """Return the state as HTML without scripts; all text in it has gone through `escape`."""
        raise NotImplementedError

    def _ipython_display_(self) -> None:
        """Show the widget, and below it its stand-in: `common.js` hides one of them.

        They are two outputs, since exported pages prefer the widget of one output to its HTML, and
        then show nothing.
        """
        still = f'<div class="rp-still rp-still-{self.model_id}">{NOT_LIVE}{self.static()}</div>'
        display({**self._repr_mimebundle_(), "text/plain": ""}, raw=True)
        display({"text/html": still, "text/plain": ""}, raw=True)


def apart(translator: Translator) -> Translator:
    """Return a translator over the same parameters whose modules are its own.

    What a widget lays over its heads is not there for others: a cell may run in another thread
        while the widget translates.

    Raises:
        InputError: it is no translator.
    """
    check_kind("translator", translator, "load one, as in repro.load_translator(run)", Translator)
    shared = {
        id(tensor): tensor
        for tensor in (*translator.model.parameters(), *translator.model.buffers())
    }
    return translator.with_model(copy.deepcopy(translator.model, shared))


def told_of(*readings: Reading) -> str:
    """Return a line about the characters of a sentence that a model has never seen; nothing where it knows all."""
    unknown: Counter[str] = max((reading.unknown for reading in readings), key=len)
    return f"never seen by the model: {describe_characters(unknown)}" if unknown else ""


def sentence_field(sentence: str) -> ipywidgets.Text:
    """Return a field for a sentence, read when Enter is pressed or the field is left."""
    return ipywidgets.Text(
        sentence,
        description="sentence",
        continuous_update=False,
        layout={"width": "min(760px, 98%)"},
    )


def words_row(label: str, reading: Reading, other: Reading) -> dict[str, Any]:
    """Return a row of `Words`; words that the other reading does not have, in the same order, are marked as changed."""
    texts, others = ([word.text for word in words] for words in (reading.words, other.words))
    marks = zip(reading.words, changed_words(others, texts), strict=True)
    return {
        "label": label,
        "words": [
            {"text": word.text, "probability": word.probability, "changed": changed}
            for word, changed in marks
        ],
    }
