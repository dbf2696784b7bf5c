"""Build widgets from views, controls and callbacks.

Views are drawn by the modules beside this file.
"""

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
from repro.core.numbering import FIRST
from repro.data.characters import describe_characters
from repro.errors import ReproError, check_kind
from repro.widgets.stills import NOT_LIVE

TITLES = {
    "encoder_self": "Encoder self-attention",
    "decoder_self": "Decoder self-attention",
    "cross": "Cross attention",
}
FRONT = Path(__file__).parent / "front"

INPUT_LOCK = threading.RLock()
"""Re-entrant lock held while user input is handled.

A kernel may handle the messages of two controls in two threads.
"""


def module(*names: str) -> str:
    """Return the JavaScript of a view, with the shared code in front: a browser gets one piece.

    A saved notebook has a copy per view, so comment lines and indentation are left out.
    """
    text = "\n".join(
        (FRONT / f"{name}.js").read_text(encoding="utf-8") for name in ("common", *names)
    )
    given = f"const FIRST = {FIRST};\n" if "FIRST" in text else ""
    return given + re.sub(r"^ +|^ *//.*\n", "", text, flags=re.MULTILINE)


def style(*names: str) -> str:
    """Return the CSS rules of a view, with the shared ones in front."""
    return "".join(
        (FRONT / f"{name}.css").read_text(encoding="utf-8") for name in ("common", *names)
    )


READY, BUSY, STALE = STATES = ("ready", "busy", "stale")
"""The states of a view: up to date, about to change, or of an earlier state of the controls.

A view is stale if the new state of the controls is a mistake.
"""


class Words(anywidget.AnyWidget):
    """Show translations word by word, with probabilities.

    Traits: `rows` are made by `words_row`; `message` is a line below them; `state` is one of
    `STATES`.
    """

    _esm, _css = module("words"), style("words")
    rows = traitlets.List().tag(sync=True)
    message = traitlets.Unicode().tag(sync=True)
    state = traitlets.Enum(STATES, READY).tag(sync=True)


class InteractiveWidget(ipywidgets.VBox):
    """A widget that a page without a kernel shows as text.

    Args:
        rows: its parts.
        notice: the view whose `message` reports the user's mistakes, and whose `state` says whether
            it is up to date; None where no mistake can be made.
    """

    def __init__(self, rows: Sequence[ipywidgets.Widget], notice: Any = None) -> None:
        super().__init__(list(rows))
        # Views find their widget and its stand-in by these classes.
        self.add_class("rp-widget").add_class(f"rp-of-{self.model_id}")
        self.notice = notice

    def guarded(self, action: Callable[[], None]) -> Callable[[Any], None]:
        """Return a callback that reports a user's mistake in one line; a traceback would be lost.

        Callbacks in several threads wait for each other: two at once would show what the earlier
        one has read.
        """

        def run(_: Any) -> None:
            with INPUT_LOCK:
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
        """Return the state as HTML without scripts; all of its text is escaped."""
        raise NotImplementedError

    def _ipython_display_(self) -> None:
        """Show the widget, and below it its stand-in: `common.js` hides one of them.

        They are two outputs: exported pages prefer the widget of one output to its HTML, and would
        show nothing.
        """
        still = f'<div class="rp-still rp-still-{self.model_id}">{NOT_LIVE}{self.static()}</div>'
        display({**self._repr_mimebundle_(), "text/plain": ""}, raw=True)
        display({"text/html": still, "text/plain": ""}, raw=True)


def private_copy(translator: Translator) -> Translator:
    """Return a translator with the same parameters but modules of its own.

    Changes of a widget to its heads are not visible elsewhere: a cell may run in another thread
    while the widget translates.

    Raises:
        InputError: it is not a translator.
    """
    check_kind("translator", translator, "load one, as in repro.load_translator(run)", Translator)
    shared = {
        id(tensor): tensor
        for tensor in (*translator.model.parameters(), *translator.model.buffers())
    }
    return translator.with_model(copy.deepcopy(translator.model, shared))


def unknown_characters_note(*readings: Reading) -> str:
    """Return a note on the characters of a sentence that a model has never seen; empty if none."""
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
    """Return a row of `Words`; words missing in the other reading, in its order, are marked."""
    texts, others = ([word.text for word in words] for words in (reading.words, other.words))
    marks = zip(reading.words, changed_words(others, texts), strict=True)
    return {
        "label": label,
        "words": [
            {"text": word.text, "probability": word.probability, "changed": changed}
            for word, changed in marks
        ],
    }
