"""Choose among pruned models of the kernel, with a sentence through each."""

import copy
import threading
from collections import Counter
from collections.abc import Sequence
from typing import Any

import ipywidgets
import torch
from IPython.display import display

from repro.analysis.reading import Reading, read
from repro.core.config import SITES
from repro.core.decoding import SearchConfig, Translator
from repro.core.transformer import Transformer
from repro.data.characters import describe_characters
from repro.errors import InputError, ReproError, check_kind
from repro.plots import escape
from repro.widgets.drawing import Factors, heads_table, words_table

NOT_LIVE = "<p><em>A still picture, not live: run the cell in JupyterLab to use it.</em></p>"
BUSY, STALE = "rp-busy", "rp-stale"
"""Classes of a view that is about to change, or that a mistake has left behind."""

# Only one of a widget and its still picture is seen: the widget, but where its state alone was
# saved, and nobody answers. `%s` is the widget's id.
SAVED = 'body:has(script[type="application/vnd.jupyter.widget-state+json"])'
STYLE = """<style>
.rp-busy { opacity: 0.6; transition: opacity 0.2s 0.4s; } /* what is quick does not flicker */
.rp-stale { opacity: 0.4; }
.rp-still-%s { display: none; }
SAVED .rp-still-%s { display: block; }
SAVED .rp-live-%s { display: none; }
</style>""".replace("SAVED", SAVED)

INPUT_LOCK = threading.RLock()
"""Re-entrant lock held while user input is handled.

A kernel may handle the messages of two controls in two threads.
"""


class Pruning(ipywidgets.VBox):
    """Choose among pruned models: their remaining heads, and their translations.

    A page without a kernel shows all of them as a still picture.

    Args:
        models: (label, translator), the least pruned first; others are compared with its
            translation.
        sentence: the first one; type another into the field.
        search: the search options.

    `level.value` is the label of the model shown.
    """

    def __init__(
        self,
        models: Sequence[tuple[str, Translator]],
        sentence: str,
        search: SearchConfig | None = None,
    ) -> None:
        if not models:
            raise InputError("models", "there is none", "give (label, translator) pairs")
        self.models = {label: private_copy(translator) for label, translator in models}
        self.search = search
        if len(self.models) < len(models):
            raise InputError(
                "models", "have a label twice", "give each a label of its own, such as its penalty"
            )
        wide = {"width": "min(760px, 98%)"}
        self.sentence = ipywidgets.Text(
            sentence, description="sentence", continuous_update=False, layout=wide
        )
        # JupyterLab takes the arrow keys from a list; each of these is reached by Tab.
        self.level = ipywidgets.RadioButtons(
            options=list(self.models), description="model", orientation="horizontal", layout=wide
        )
        self.view, self.message = ipywidgets.HTML(), ipywidgets.HTML()
        super().__init__([self.sentence, self.level, self.view, self.message])
        self.add_class(f"rp-live-{self.model_id}")
        self.style = STYLE.replace("%s", self.model_id)
        for control in (self.sentence, self.level):
            control.observe(self._follow, "value")
        self._update()

    def _follow(self, _: Any) -> None:
        """Follow a control. A mistake is told in one line: a traceback would be lost.

        Callbacks in several threads wait for each other: two at once would show what the earlier
        one has read.
        """
        with INPUT_LOCK:
            self.view.remove_class(STALE).add_class(BUSY)
            try:
                self._update()
            except ReproError as error:
                self._tell(str(error))
                self.view.add_class(STALE)
            finally:
                self.view.remove_class(BUSY)

    def _update(self) -> None:
        """Translate the sentence again, and show it."""
        first, shown = next(iter(self.models)), self.level.value
        readings = {label: self._read(label) for label in dict.fromkeys((first, shown))}
        heads = factors_at_test_time(self.models[shown].model)
        self.view.value = (
            self.style + heads_table(heads) + words_table([*readings.items()], readings[first])
        )
        left, all_heads = (
            [factor for site in factors for layer in site for factor in layer]
            for factors in (heads, factors_at_test_time(self.models[first].model))
        )
        told = f"{sum(factor != 0 for factor in left)} of {len(all_heads)} heads are left"
        self._tell("; ".join(filter(None, [told, unknown_characters_note(*readings.values())])))

    def _read(self, label: str) -> Reading:
        return read(self.models[label], self.sentence.value, self.search)

    def _tell(self, line: str) -> None:
        self.message.value = f'<p role="status">{escape(line)}</p>'

    def still(self) -> str:
        """Return the heads of every model, and its translation compared with the first one's."""
        readings = {label: self._read(label) for label in self.models}
        whole = next(iter(readings.values()))
        return NOT_LIVE + "".join(
            words_table([(label, reading)], whole)
            + heads_table(factors_at_test_time(self.models[label].model))
            for label, reading in readings.items()
        )

    def _ipython_display_(self) -> None:
        """Show the widget, and below it its still picture; the style hides one of them.

        They are two outputs: exported pages prefer the widget of one output to its HTML, and would
        show nothing.
        """
        still = f'<div class="rp-still-{self.model_id}">{self.still()}</div>'
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


@torch.no_grad()
def factors_at_test_time(model: Transformer) -> Factors:
    """Return the factor of each head at test time: its gate times the factor put on it."""

    def factors(attention) -> list[float]:
        if attention is None:
            return []
        found = torch.ones(attention.weights.num_heads)
        for laid in attention.factors():
            found = found * laid.float().cpu()
        return found.tolist()

    return [[factors(attention) for attention in model.attentions()[site]] for site in SITES]


def unknown_characters_note(*readings: Reading) -> str:
    """Return a note on the characters of a sentence that a model has never seen; empty if none."""
    unknown: Counter[str] = max((reading.unknown for reading in readings), key=len)
    return f"never seen by the model: {describe_characters(unknown)}" if unknown else ""
