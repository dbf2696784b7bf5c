"""Run a sentence through changed models: ablation, pruning, comparison."""

import time
from collections.abc import Mapping, Sequence
from itertools import chain

import ipywidgets

from repro.analysis.ablation import scaled_heads
from repro.analysis.reading import read
from repro.core.config import SITES
from repro.core.decoding import SearchConfig, Translator
from repro.errors import InputError
from repro.widgets.heads import HeadGrid, factors_at_test_time, first_head, ones, static_heads
from repro.widgets.parts import (
    FITS,
    WRAPS,
    InteractiveWidget,
    Words,
    private_copy,
    sentence_field,
    unknown_characters_note,
    words_row,
)
from repro.widgets.stills import static_words


class Ablation(InteractiveWidget):
    """Switch heads of a trained model off, or rescale them, and read the new translation.

    Args:
        translator: a trained model.
        sentence: the first one; type another into the field.
        search: the search options.

    `heads.factors` and `heads.chosen` may be set, and so may `factor.value`, the factor of the
    chosen head.
    """

    def __init__(
        self, translator: Translator, sentence: str, search: SearchConfig | None = None
    ) -> None:
        self.translator, self.search = private_copy(translator), search
        self.sentence, self.words = sentence_field(sentence), Words()
        self.heads = HeadGrid(factors=ones(translator.model), chosen=first_head(translator.model))
        self.factor = ipywidgets.FloatSlider(
            1.0, min=0, max=2, step=0.05, description="factor", readout_format=".2f"
        )
        self.reset = ipywidgets.Button(description="all heads on", icon="undo", layout=FITS)
        controls = ipywidgets.HBox([self.factor, self.reset], layout=WRAPS)
        super().__init__([self.sentence, self.heads, controls, self.words], notice=self.words)
        self.reset.on_click(lambda _: self.heads.set_trait("factors", ones(translator.model)))
        self.sentence.observe(self.guarded(self._read_whole), "value")
        self.factor.observe(self.guarded(self._rescale), "value")
        self.heads.observe(self.guarded(self._show_factor), "chosen")
        self.heads.observe(self.guarded(self._show_factor), "factors")
        self.heads.observe(self.guarded(self._read_changed), "factors")
        self._read_whole()

    def _rescale(self) -> None:
        """Put the slider's factor on the chosen head."""
        site, layer, head = self.heads.chosen
        factors = [[list(heads) for heads in layers] for layers in self.heads.factors]
        factors[site][layer][head] = self.factor.value
        self.heads.factors = factors

    def _check_factors(self) -> None:
        """Refuse factors that do not fit the heads of the model."""
        found, wanted = (
            [[len(heads) for heads in layers] for layers in of]
            for of in (self.heads.factors, ones(self.translator.model))
        )
        if found != wanted:
            raise InputError(
                "heads.factors",
                "are not one for each head",
                "give a list a site, in it one a layer, in it a factor a head",
            )

    def _show_factor(self) -> None:
        """Show the factor of the chosen head on the slider."""
        self._check_factors()
        site, layer, head = self.heads.chosen
        factor = self.heads.factors[site][layer][head]
        # The slider would clip other factors, and put the clipped one on the head.
        if self.factor.min <= factor <= self.factor.max:
            self.factor.value = factor

    def _read_whole(self) -> None:
        """Translate with the whole model, then with the changed one."""
        self.whole = read(self.translator, self.sentence.value, self.search)
        self._read_changed()

    def _read_changed(self) -> None:
        """Translate with the factors on the heads, and show both translations."""
        began = time.perf_counter()
        self._check_factors()
        sites = zip(SITES, self.heads.factors, strict=True)
        factors = {
            (site, layer): heads
            for site, layers in sites
            for layer, heads in enumerate(layers)
            if heads
        }
        with scaled_heads(self.translator.model, factors):
            self.changed = read(self.translator, self.sentence.value, self.search)
        self.words.rows = [
            words_row("whole model", self.whole, self.changed),
            words_row("changed model", self.changed, self.whole),
        ]
        seconds = (
            f"translated in {time.perf_counter() - began:.2f} s; below each word its probability"
        )
        self.words.message = "; ".join(filter(None, [seconds, unknown_characters_note(self.whole)]))

    def static(self) -> str:
        """Return the heads and both translations."""
        return static_heads(self.heads.factors) + static_words(self.words.rows)


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
        self.heads = HeadGrid(mode="show")
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
        """Return the remaining heads and the translations."""
        return static_heads(self.heads.factors) + static_words(self.words.rows)


class Comparison(InteractiveWidget):
    """Send one sentence through several models; words missing in the first translation are marked.

    Args:
        models: label -> translator.
        sentence: the first one; type another into the field.
        search: the search options.
    """

    def __init__(
        self, models: Mapping[str, Translator], sentence: str, search: SearchConfig | None = None
    ) -> None:
        if not models:
            raise InputError("models", "there is none", "give label -> translator")
        self.models, self.search = (
            {label: private_copy(translator) for label, translator in dict(models).items()},
            search,
        )
        self.sentence, self.words = sentence_field(sentence), Words()
        super().__init__([self.sentence, self.words], notice=self.words)
        self.sentence.observe(self.guarded(self._update), "value")
        self._update()

    def _update(self) -> None:
        """Translate the sentence again, and show it."""
        readings = {
            label: read(translator, self.sentence.value, self.search)
            for label, translator in self.models.items()
        }
        first, *_ = readings
        self.words.rows = [
            words_row(label, reading, readings[first]) for label, reading in readings.items()
        ]
        self.words.message = unknown_characters_note(*readings.values())

    def static(self) -> str:
        """Return the translations."""
        return static_words(self.words.rows)
