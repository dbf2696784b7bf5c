"""How far other training seeds would move a score, and how much of that its sentences show, too.

Seeds and sentences are crossed: the model of every seed translates the same sentences. A score is
the sum of four parts: system, sentences of that system, seed, and seed by sentence (which
sentences a model translates well depends on its seed). The last part is in both variances that can
be estimated: among the scores of several seeds, and among resamples of the sentences. It is
counted once if it is taken off one of them, as in the variance of two-way clusters (Cameron,
Gelbach and Miller 2011):

    variance = variance over seeds + variance over sentences - variance of seed by sentence

The last is known from the influences of the sentences on a score: within a system, influences
scatter around their mean over seeds.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

STEP = 1e-3  # of a sum, relative: small beside its own standard error


@dataclass(frozen=True)
class SeedNoise:
    """How far other training seeds would move a number.

    Args:
        variance: of the number, over seeds on the same sentences.
        degrees: of freedom that the variance is known from.
        shared: the part of the variance that resampled sentences show, too: seed by sentence.
    """

    variance: float
    degrees: float
    shared: float = 0.0

    @classmethod
    def pooled(
        cls,
        systems: Iterable[Sequence[float]],
        influences: Iterable[Sequence[np.ndarray]] | None = None,
    ) -> "SeedNoise | None":
        """Return the variance of one seed within systems; None where none has several seeds.

        Args:
            systems: the values of each system, one per seed.
            influences: of the sentences on these values, `(num_sentences,)` each; see
                `influences_on`. Without them nothing is taken to be shared.
        """
        several = [np.asarray(values) for values in systems if len(values) > 1]
        degrees = sum(len(values) - 1 for values in several)
        if not degrees:
            return None
        by_sentence = [np.array(found) for found in influences or () if len(found) > 1]
        return cls(_scatter(several) / degrees, degrees, _scatter(by_sentence) / degrees)

    @classmethod
    def weighted(
        cls, weights: Sequence[float], noises: "Sequence[SeedNoise | None]"
    ) -> "SeedNoise | None":
        """Return the noise of a weighted sum of independent numbers; None if one is not known.

        Its degrees of freedom are the fewest of theirs: more could be claimed only if they had been
        learned from different models.
        """
        known = [noise for noise in noises if noise]
        if len(known) < len(noises):
            return None
        variance, shared = (
            sum(weight**2 * part for weight, part in zip(weights, parts, strict=True))
            for parts in ([one.variance for one in known], [one.shared for one in known])
        )
        return cls(variance, min(noise.degrees for noise in known), shared)

    def times(self, factor: float) -> "SeedNoise":
        """Return the noise of a score with so many times the variance, such as 1 / n for a mean."""
        return SeedNoise(factor * self.variance, self.degrees, factor * self.shared)


def influences_on(score: Callable[[np.ndarray], np.ndarray], sums: np.ndarray) -> np.ndarray:
    """Return how far each sentence moves a corpus score, `(num_sentences,)`.

    It is the score's linear part (the infinitesimal jackknife, Jaeckel 1972): the sum of its
    squares is the variance that resampled sentences would show.

    Args:
        score: rows of added-up statistics, `(num_rows, num_statistics)` -> scores, `(num_rows,)`.
        sums: the statistics of each sentence, `(num_sentences, num_statistics)`.
    """
    total = sums.sum(axis=0).astype(float)
    steps = np.diag(STEP * total)
    change = score(total + steps) - score(total - steps)
    width = 2 * STEP * total
    gradient = np.divide(change, width, out=np.zeros_like(total), where=width != 0)
    influences = sums @ gradient
    return influences - influences.mean()


def variance_between_systems(systems: Sequence[Sequence[np.ndarray]], shared: float) -> float:
    """Return the variance over sentences of one system's score beyond what all systems share.

    A difference of two systems has twice that. It is the median over systems: a few are unlike all
    others. At least two systems are needed; 0 for one.

    Args:
        systems: the influences of the sentences on the scores of each system, one array per seed.
        shared: the variance of seed by sentence, which means over seeds still contain.
    """
    if len(systems) < 2:
        return 0.0
    means = np.array([np.mean(of, axis=0) for of in systems])
    squares = ((means - np.median(means, axis=0)) ** 2).sum(axis=1)
    rest = np.array([shared / len(of) for of in systems])
    return max(0.0, float(np.median(squares - rest)))


def _scatter(systems: Sequence[np.ndarray]) -> float:
    """Return the squared distances of scores from their mean over seeds, the first axis, summed."""
    return float(sum(((values - values.mean(axis=0)) ** 2).sum() for values in systems))
