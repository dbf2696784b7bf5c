"""Choose the length penalty of a model on dev, by one rule for all systems.

A fixed penalty is a choice as well, made for the system that it was tried on: others end their
translations too early with it and lose BLEU to brevity, not to precision. The highest of several
scores on dev, in turn, is mostly chance, and costs BLEU on test.
"""

from typing import Final

from repro.core.decoding import SearchConfig, Translator
from repro.core.settings import USUAL_ALPHA
from repro.data.corpora import task_of
from repro.statistics.comparing import paired_bootstrap, score_all

ALPHAS: Final = (0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6)
"""The strengths that are tried; see `SearchConfig.rank`."""


def best_alpha(
    translator: Translator, pairs: tuple[list[str], list[str]], corpus: str, target: str
) -> float:
    """Return the strength nearest to the usual one that no other beats on dev by more than chance.

    Args:
        translator: the trained model.
        pairs: sources and references of dev.
        corpus: names the task, whose first metric decides; BLEU for translations.
        target: the language of the references.
    """
    (sources, refs), task = pairs, task_of(corpus)
    found = {
        alpha: translator.translate(sources, SearchConfig(alpha=alpha))
        for alpha in sorted(ALPHAS, key=lambda alpha: round(abs(alpha - USUAL_ALPHA), 4))
    }
    best = max(found, key=lambda alpha: score_all(found[alpha], refs, target, task)[0].value)

    def is_beaten(alpha: float) -> bool:
        comparison = paired_bootstrap(found[best], found[alpha], refs, target, task=task)[0]
        return comparison.high < 0

    return next(alpha for alpha in found if alpha == best or not is_beaten(alpha))
