"""Move along pruned models of the kernel, with a sentence through each."""

from collections.abc import Sequence
from itertools import chain

import ipywidgets

from repro.analysis.reading import read
from repro.core.decoding import SearchConfig, Translator
from repro.errors import InputError
from repro.widgets.heads import HeadGrid, factors_at_test_time, static_heads
from repro.widgets.parts import (
    InteractiveWidget,
    Words,
    private_copy,
    sentence_field,
    unknown_characters_note,
    words_row,
)
from repro.widgets.stills import static_words


class Pruning(InteractiveWidget):
    """Move along a list of pruned models: their remaining heads, and their translations.

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
        self.models, self.search = (
            {label: private_copy(translator) for label, translator in dict(models).items()},
            search,
        )
        if len(self.models) < len(models):
            raise InputError(
                "models", "have a label twice", "give each a label of its own, such as its penalty"
            )
        self.sentence, self.words = sentence_field(sentence), Words()
        self.level = ipywidgets.SelectionSlider(
            options=list(self.models), description="model", layout={"width": "min(560px, 98%)"}
        )
        self.heads = HeadGrid()
        super().__init__([self.sentence, self.level, self.heads, self.words], notice=self.words)
        for control in (self.sentence, self.level):
            control.observe(self.guarded(self._update), "value")
        self._update()

    def _update(self) -> None:
        """Translate the sentence again, and show it."""
        first, shown = next(iter(self.models)), self.level.value
        self.heads.factors = factors_at_test_time(self.models[shown].model)
        readings = {
            label: read(self.models[label], self.sentence.value, self.search)
            for label in {first, shown}
        }
        rows = [
            words_row(first, readings[first], readings[shown]),
            words_row(shown, readings[shown], readings[first]),
        ]
        self.words.rows = rows[: len(readings)]
        whole, left = (
            [*chain(*chain(*factors_at_test_time(self.models[label].model)))]
            for label in (first, shown)
        )
        heads = f"{sum(factor != 0 for factor in left)} of {len(whole)} heads are left"
        self.words.message = "; ".join(
            filter(None, [heads, unknown_characters_note(*readings.values())])
        )

    def static(self) -> str:
        """Return the translation of every model, compared with the first, and its heads."""
        readings = {
            label: read(translator, self.sentence.value, self.search)
            for label, translator in self.models.items()
        }
        whole = next(iter(readings.values()))
        return "".join(
            static_words([words_row(label, reading, whole)])
            + static_heads(factors_at_test_time(self.models[label].model))
            for label, reading in readings.items()
        )
