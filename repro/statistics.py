"""How sure a number is. A difference in BLEU: over the sentences of the test set, and over training seeds.

- Over sentences: paired bootstrap (Koehn 2004), the same resamples for all systems.
- Over seeds: one variance for all systems of a scale, pooled from those that were trained with several seeds, and taken to be that of the
  others, too. So a system with one seed is no surer than a system with three was of its first.

Both together: the halves of their two intervals are squared and added (Zou and Donner 2008), as if another test set and other seeds
changed a number independently. They do not quite: which sentences a model translates well depends on its seed, and this part of the chance
is counted twice, by the resamples and by the spread over seeds, of which it is a third at smoke and two thirds or more on real text. So an
interval is too wide rather than too narrow: it decides less than it might, and errs less often than it says. That of the seeds is
Student's: where a single pair of runs is all that tells how much they matter, it is ±12.7 standard errors. All this holds the truth in 95 %
of experiments or more, where the parts are as large as on real text in 97 to 99 % (`tests/test_statistics.py` simulates it).

A "no loss" claim is a test of non-inferiority, the side of two one-sided tests (Schuirmann 1987) that the claim is about; an "equal" claim
takes both sides. With an interval comes the minimum detectable difference: how large a true one must be for such an interval to lie above
0 with a chance of 80 %.

What a mask costs is measured within a model, for every head of it. Its variance over seeds is pooled likewise, from all models that were
measured for several seeds, but for each head by itself: a head that costs ten points varies more than one that costs none. What two heads
of a model cost is taken to vary independently over seeds.

Other numbers have an `Interval`: over the contrastive pairs, the rounds of a sitting, or the heads that they were taken from. What was
measured on models of several seeds is their mean, and its interval is over these seeds, too (`over_seeds`). A count or share of heads of a
single model has none (`Exact`) and says of how many.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeVar

import numpy as np
from scipy import stats

LEVEL = 0.95
ONE_SEED = "one seed alone"  # said of every number that knows nothing of other training seeds
SENTENCES_ALONE = "†"  # behind an interval in a table
SENTENCES_ALONE_EXPLAINED = f"{SENTENCES_ALONE} over test sentences alone: nothing tells how much another seed matters."
POWER = 0.80


@dataclass(frozen=True)
class SeedNoise:
    """How far other training seeds would move a number.

    Args:
        variance: of the number.
        degrees: of freedom that the variance is known from.
    """

    variance: float
    degrees: int

    @classmethod
    def pooled(cls, systems: Iterable[Sequence[float]]) -> "SeedNoise | None":
        """Return the variance of one seed within systems, whose values for each seed are given; None where none has several seeds."""
        several = [values for values in systems if len(values) > 1]
        degrees = sum(len(values) - 1 for values in several)
        if not degrees:
            return None
        return cls(float(sum(np.var(values) * len(values) for values in several) / degrees), degrees)

    @classmethod
    def weighted(cls, weights: Sequence[float], noises: "Sequence[SeedNoise | None]") -> "SeedNoise | None":
        """Return the noise of a weighted sum of independent numbers, None where that of one is not known.

        Its degrees of freedom are the fewest of theirs: more could be claimed only if they had been learned from different models.
        """
        known = [noise for noise in noises if noise]
        if len(known) < len(noises):
            return None
        variance = sum(weight**2 * noise.variance for weight, noise in zip(weights, known, strict=True))
        return cls(variance, min(noise.degrees for noise in known))

    def times(self, factor: float) -> "SeedNoise":
        """Return the noise of a number whose variance is that many times as large: 1 / n for a mean over n seeds."""
        return SeedNoise(factor * self.variance, self.degrees)


@dataclass(frozen=True)
class Estimate:
    """A number with its uncertainty.

    Args:
        mean: the number, over seeds.
        low, high: its 95 % interval over sentences and, where `detectable` is there, over seeds.
        seeds: how many seeds it was taken from, in words.
        detectable: the smallest true difference from 0 that such an interval shows with a chance of 80 %; None where nothing tells how
            much seeds matter.
    """

    mean: float
    low: float
    high: float
    seeds: str
    detectable: float | None

    @property
    def counts_seeds(self) -> bool:
        """Whether the interval knows how much seeds matter."""
        return self.detectable is not None

    @property
    def bounds(self) -> tuple[float, float]:
        """The interval that a verdict may rest on: all numbers where another seed might lead to any."""
        return (self.low, self.high) if self.counts_seeds else (-math.inf, math.inf)

    def cell(self, sign: int = 1) -> str:
        """Return the number, or its negative, with its interval, for a table; marked where the interval does not know of seeds."""
        low, high = sorted((sign * self.low, sign * self.high))
        return f"{sign * self.mean:+.2f} ({low:+.2f} to {high:+.2f}){'' if self.counts_seeds else SENTENCES_ALONE}"

    def __str__(self) -> str:
        detectable = "other seeds not counted in" if self.detectable is None else f"detectable {self.detectable:.2f}"
        return f"{self.mean:+.2f}, 95 % {self.low:+.2f} to {self.high:+.2f}, {self.seeds}, {detectable}"


@dataclass(frozen=True)
class Interval:
    """A number with an interval, over something else than sentences and seeds alone.

    Args:
        value: the number.
        low, high: ends of its interval.
        over: what it was taken from, such as `200 pairs, en-de`.
        level: how often such an interval holds the true number; None where it was put together from others, and nobody knows.
    """

    value: float
    low: float
    high: float
    over: str
    level: float | None = LEVEL

    @property
    def bounds(self) -> tuple[float, float]:
        """The interval that a verdict may rest on."""
        return self.low, self.high

    def __str__(self) -> str:
        between = "from" if self.level is None else f"{100 * self.level:.0f} %"
        return f"{self.value:.2f}, {between} {self.low:.2f} to {self.high:.2f}, {self.over}"


@dataclass(frozen=True)
class Exact:
    """A number of one training run without an interval.

    Args:
        value: the number.
        over: what it was taken from, such as `9 of 16 heads`.
        step: by how much two such numbers differ at least, if they do: 1 of a count. 0 = by as little as you like.
    """

    value: float
    over: str
    step: float = 0.0

    @property
    def bounds(self) -> tuple[float, float]:
        """The number itself, twice."""
        return self.value, self.value

    def __str__(self) -> str:
        return f"{self.value:.4g}, {self.over}, {ONE_SEED}"


class Undefined(Exception):
    """What was measured gives no such number, such as a mean over no heads; the text says why."""


def estimate(value: float, resampled: np.ndarray, seeds: Collection[int], noise: SeedNoise | None, comparisons: int = 1) -> Estimate:
    """Combine what is known of a number.

    Args:
        value: the number, a mean over seeds.
        resampled: its values on resampled sentences, `(num_samples,)`.
        seeds: how many seeds each system has that it was taken from.
        noise: what other seeds would change of it; None = not known.
        comparisons: how many such intervals shall all hold at once with 95 %, by Bonferroni.
    """
    few, many = min(seeds), max(seeds)
    words = f"{few} to {many} seeds" if few < many else f"{few} seed{'s' if few > 1 else ''}"
    errors = [(float(resampled.std(ddof=1)), math.inf)]  # standard errors, and the degrees of freedom that they are known from
    errors += [(math.sqrt(noise.variance), noise.degrees)] if noise else []
    tail = (1 - LEVEL) / 2 / comparisons
    half = math.hypot(*(stats.t.isf(tail, degrees) * error for error, degrees in errors))
    detectable = math.hypot(*(_detectable(degrees, tail) * error for error, degrees in errors)) if noise else None
    return Estimate(value, float(value - half), float(value + half), words, detectable)


def paired_difference(first: Sequence[bool], second: Sequence[bool], over: str) -> Interval:
    """Return the share that is true in the first minus that in the second, in points, of the same items in the same order.

    The interval is that of Bonett and Price (2012), with an item more of each kind that differs: it is not empty where no item differs.
    """
    count = len(first) + 2
    more = (1 + sum(a and not b for a, b in zip(first, second, strict=True))) / count
    less = (1 + sum(b and not a for a, b in zip(first, second, strict=True))) / count
    half = stats.norm.ppf((1 + LEVEL) / 2) * np.sqrt((more + less - (more - less) ** 2) / count)
    middle = 100 * (more - less)
    return Interval(100 * (sum(first) - sum(second)) / len(first), float(middle - 100 * half), float(middle + 100 * half), over)


Number = TypeVar("Number", bound=Interval | Exact)


def over_seeds(found: Sequence[Number], least: float = -math.inf, most: float = math.inf) -> Number | Interval:
    """Return the mean of a number over the models of several seeds, with an interval over what it was taken from and over seeds.

    All models are measured on the same items, so more seeds do not narrow the interval over items: it is as wide as theirs are on average.
    That of the seeds is Student's, from these alone. The two are put together as those of `estimate` are. A number of a single seed stays
    as it is, and says that it is one's.

    Counts of few seeds are often equal, which does not mean that another seed would count the same: a number that comes in steps varies at
    least as much as rounding to a step does (Sheppard's correction, a twelfth of the step squared).

    Args:
        found: one a seed.
        least, most: no such number lies beyond them: a share 0 and 1.
    """
    if len(found) == 1:
        return found[0] if isinstance(found[0], Exact) else replace(found[0], over=f"{found[0].over}, {ONE_SEED}")
    values = np.array([one.value for one in found])
    step = max(one.step if isinstance(one, Exact) else 0.0 for one in found)
    middle, error = values.mean(), math.sqrt(max(values.var(ddof=1), step**2 / 12) / len(values))
    half = stats.t.isf((1 - LEVEL) / 2, len(values) - 1) * error
    low, high = (math.hypot(half, np.mean(values - [one.bounds[end] for one in found])) for end in (0, 1))
    over = " or ".join(dict.fromkeys(one.over for one in found))
    return Interval(float(middle), max(least, float(middle - low)), min(most, float(middle + high)), f"{over}, mean of {len(values)} seeds")


def median(values: Sequence[float], over: str) -> Interval:
    """Return the median and its interval between two of the values, which needs no distribution, but independent values.

    Five values are too few for 95 %: then the interval is from the least to the largest, and its level is said.
    """
    ordered = sorted(values)
    outside = max(0, int(stats.binom.ppf((1 - LEVEL) / 2, len(ordered), 0.5)) - 1)  # values on either side
    level = 1 - 2 * stats.binom.cdf(outside, len(ordered), 0.5)
    return Interval(float(np.median(ordered)), ordered[outside], ordered[-1 - outside], over, float(level))


def rank_correlation(first: np.ndarray, second: np.ndarray, what: str) -> Interval:
    """Return Spearman's correlation, pairs with NaN left out, with the interval of Bonett and Wright (2000).

    Args:
        first, second: paired numbers.
        what: they are of, in words.

    Raises:
        Undefined: fewer than four pairs, or all numbers of one side are equal.
    """
    both = ~(np.isnan(first) | np.isnan(second))
    first, second = first[both], second[both]
    if len(first) < 4 or np.ptp(first) == 0 or np.ptp(second) == 0:
        raise Undefined(f"{len(first)} {what} give no correlation")
    value = float(stats.spearmanr(first, second).statistic)
    half = stats.norm.ppf((1 + LEVEL) / 2) * np.sqrt((1 + value**2 / 2) / (len(first) - 3))
    with np.errstate(divide="ignore"):  # a perfect correlation has an interval of one point
        low, high = np.tanh(np.arctanh(value) + np.array([-half, half]))
    return Interval(value, float(low), float(high), f"{len(first)} {what}")


def minimum_detectable(num_seeds: int) -> float:
    """Return the smallest difference that four times in five puts a 95 % interval wholly above 0, where only its seeds tell its variance.

    Returns:
        It, in standard deviations of the difference over seeds.
    """
    return _detectable(num_seeds - 1) / math.sqrt(num_seeds)


@lru_cache
def _detectable(degrees: float, tail: float = (1 - LEVEL) / 2) -> float:
    """Return the same in standard errors that are known from so many degrees of freedom, for intervals with that chance below them."""
    from statsmodels.stats.power import TTestPower  # takes seconds to import

    degrees = min(degrees, 1e6)  # Student's distribution is a normal one long before
    size = TTestPower().solve_power(nobs=degrees + 1, alpha=tail, power=POWER, alternative="larger")
    return float(size * math.sqrt(degrees + 1))
