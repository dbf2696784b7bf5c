"""Choose the length penalty of a model on dev, by one rule for all systems.

A fixed penalty is a choice as well, made for the system that it was tried on: others end their
translations too early with it and lose BLEU to brevity, not to precision. BLEU on dev would choose
by chance, since neighbours on the list differ by less than two seeds do. Lengths hardly vary.
"""

from typing import Final

from repro.core.decoding import SearchConfig, Translator
from repro.core.settings import USUAL_ALPHA

ALPHAS: Final = (0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6)
"""The strengths that are tried; see `SearchConfig.rank`."""


def fitting_alpha(translator: Translator, sources: list[str], refs: list[str]) -> float:
    """Return the strength whose translations together are as long as the references, or nearly.

    Of several, the one nearest to the usual strength. Lengths are in characters.

    Args:
        translator: the trained model.
        sources, refs: both sides of dev.
    """

    def misfit(alpha: float) -> tuple[int, float]:
        hyps = translator.translate(sources, SearchConfig(alpha=alpha))
        return abs(sum(map(len, hyps)) - sum(map(len, refs))), abs(alpha - USUAL_ALPHA)

    return min(ALPHAS, key=misfit)
