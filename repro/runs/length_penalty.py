"""Choose the length penalty of a model on dev, by one rule for all systems.

A fixed penalty is a choice as well, made for the system that it was tried on: others end their
translations too early with it and lose BLEU to brevity, not to precision.
"""

from typing import Final

from repro.core.decoding import SearchConfig, Translator
from repro.data.corpora import task_of
from repro.statistics.comparing import score_all

ALPHAS: Final = (0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6)
"""The strengths that are tried; see `SearchConfig.rank`."""


def best_alpha(
    translator: Translator, pairs: tuple[list[str], list[str]], corpus: str, target: str
) -> float:
    """Return the strength with the highest score on dev, the one nearest to 1 of equal ones.

    Args:
        translator: the trained model.
        pairs: sources and references of dev.
        corpus: names the task, whose first metric decides; BLEU for translations.
        target: the language of the references.
    """
    sources, refs = pairs

    def quality(alpha: float) -> tuple[float, float]:
        hyps = translator.translate(sources, SearchConfig(alpha=alpha))
        score = score_all(hyps, refs, target, task_of(corpus))[0].value
        return round(score, 4), -abs(alpha - 1)

    return max(ALPHAS, key=quality)
