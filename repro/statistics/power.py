"""How likely an interval is to decide, by what is known before the number that it is of."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy  # which imports its parts when they are used

LEVEL = 0.95
TAIL = (1 - LEVEL) / 2
POWER = 0.80
QUANTILES = (np.arange(200) + 0.5) / 200  # of what the variance over seeds may be estimated as


@dataclass(frozen=True)
class Errors:
    """Standard errors of a number, of which its interval is made (`intervals.estimate`).

    Args:
        sentences: over sentences, or whatever it was taken from.
        seeds: over seeds.
        degrees: of freedom that the error over seeds is known from.
    """

    sentences: float
    seeds: float = 0.0
    degrees: float = math.inf

    @classmethod
    def of_interval(cls, low: float, high: float, factor: float = 1.0) -> "Errors":
        """Return the errors that a normal number with such an interval has, times a factor."""
        return cls(factor * (high - low) / 2 / scipy.stats.norm.isf(TAIL))

    def chance_to_hold(self, truth: float, at_least: float | None, at_most: float | None) -> float:
        """Return the chance that the whole interval keeps the bounds, from 0 to 1.

        The number varies around the truth, and its interval with the estimated variance over seeds.

        Args:
            truth: the true number.
            at_least, at_most: the bounds; None = none.
        """
        spread = math.hypot(self.sentences, self.seeds)
        if spread == 0:
            return float(
                (at_least is None or truth >= at_least) and (at_most is None or truth <= at_most)
            )
        degrees = min(self.degrees, 1e6)
        of_seeds = self.seeds**2 * scipy.stats.chi2.ppf(QUANTILES, degrees) / degrees
        half = np.sqrt(
            scipy.stats.norm.isf(TAIL) ** 2 * self.sentences**2
            + scipy.stats.t.isf(TAIL, degrees) ** 2 * of_seeds
        )
        low = -np.inf if at_least is None else (at_least + half - truth) / spread
        high = np.inf if at_most is None else (at_most - half - truth) / spread
        return float(
            np.mean(np.clip(scipy.stats.norm.cdf(high) - scipy.stats.norm.cdf(low), 0.0, None))
        )


def minimum_detectable(num_seeds: int) -> float:
    """Return the smallest difference that is found four times in five, if seeds alone tell of it.

    Found means that its 95 % interval lies wholly above 0.

    Returns:
        It, in standard deviations of the difference over seeds.
    """
    return detectable(num_seeds - 1) / math.sqrt(num_seeds)


@lru_cache
def detectable(degrees: float, tail: float = TAIL) -> float:
    """Return the smallest detectable difference in standard errors, by degrees of freedom.

    Args:
        degrees: of freedom.
        tail: the chance below the interval.
    """
    degrees = min(degrees, 1e6)  # Student's distribution is a normal one long before
    bound, unit = scipy.stats.t.isf(tail, degrees), math.sqrt(degrees + 1)

    def surplus(size: float) -> float:  # of power, for an effect in standard deviations
        return float(1 - scipy.special.nctdtr(degrees, size * unit, bound) - POWER)

    low, high = -1.0, 1.0
    while surplus(high) < 0:
        low, high = high, 10 * high
    # stored verdicts hold what this bracket and tolerance give, exact to three digits
    return float(scipy.optimize.brentq(surplus, low, high, xtol=1e-5) * unit)
