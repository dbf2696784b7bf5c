"""Say how sure a number is: by its interval, over test sentences and over training seeds.

A difference in BLEU is uncertain in two ways.

- Over sentences: paired bootstrap (Koehn 2004), the same resamples for all systems.
- Over seeds: one variance for all systems of a scale, pooled from those that were trained with
  several seeds, and taken to be that of the others, too. So a system with one seed is no surer than
  a system with three was of its first.

Both together: the variance over seeds and the variance over sentences are added. Seed by sentence,
which is part of both, is counted once (`repro.statistics.noise`). Half of an interval over
sentences is that of a normal variable, half of one over seeds Student's: where a single pair of
runs is all that tells how much seeds matter, it is ±12.7 standard errors. Both halves are squared
and added (Zou and Donner 2008). Such intervals hold the truth in 95 to 96 % of simulated
experiments with the parts that real text has, and more often where few seeds tell their variance
(`tests/test_statistics.py`).

A "no loss" claim is a test of non-inferiority, the side of two one-sided tests (Schuirmann 1987)
that the claim is about; an "equal" claim takes both sides. With an interval comes the minimum
detectable difference: how large a true one must be for such an interval to lie above 0 with a
chance of 80 %.

What a mask costs is measured within a model, for every head of it. Its variance over seeds is
pooled likewise, from all models that were measured for several seeds, but for each head by itself:
a head that costs ten points varies more than one that costs none. What two heads of a model cost is
taken to vary independently over seeds.

Other numbers have an interval over the contrastive pairs, the rounds of a sitting, or the heads
that they were taken from. What was measured on models of several seeds is their mean, and its
interval is over these seeds, too (`over_seeds`). A count or share of heads of a single model has
none, and says of how many. All of them are an `Estimate`.
"""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy  # which imports its parts when they are used

from repro.statistics.noise import SeedNoise
from repro.statistics.power import LEVEL, detectable

ONE_SEED = "one seed alone"  # said of every number that knows nothing of other training seeds
SENTENCES_ALONE = "†"  # behind an interval in a table
SENTENCES_ALONE_EXPLAINED = (
    f"{SENTENCES_ALONE} over test sentences alone: nothing tells how much another seed matters."
)


@dataclass(frozen=True)
class Estimate:
    """A number and how sure it is.

    Args:
        value: the number; a mean where several seeds have one each.
        low, high: ends of its interval; None where it has none, such as a count of heads in one
            model.
        level: how often such an interval holds the true number; None without an interval, and where
            the interval was put together from others, so that nobody knows.
        over: what it was taken from, such as `200 pairs, en-de`.
        seeds: the fewest and the most training seeds of the systems that it is of; None where seeds
            have no part in it, or are not counted.
        counts_seeds: whether the interval knows how much another seed matters.
        detectable: the smallest true difference from 0 that such an interval shows with a chance of
            80 %; None where that is not known.
        unit: of the difference of two scores, such as `BLEU`. It decides nothing until its interval
            knows of seeds. Other numbers: empty.
        shares: further shares to read it by, in percent, by name.
        step: by how much two such numbers differ at least, if they do: 1 of a count. 0 = by as
            little as you like.
    """

    value: float
    low: float | None = None
    high: float | None = None
    level: float | None = None
    over: str = ""
    seeds: tuple[int, int] | None = None
    counts_seeds: bool = False
    detectable: float | None = None
    unit: str = ""
    shares: tuple[tuple[str, float], ...] = ()
    step: float = 0.0

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the number's interval; the number itself, twice, where it has none."""
        return (self.value if self.low is None else self.low), (
            self.value if self.high is None else self.high
        )

    @property
    def bounds(self) -> tuple[float, float]:
        """The interval that a verdict may rest on.

        It is all numbers where another seed might lead to any.
        """
        return (-math.inf, math.inf) if self.unit and not self.counts_seeds else self.ends

    @property
    def is_of_one_seed(self) -> bool:
        """Whether it depends on a training seed, and the effect of another one is unknown."""
        return self.seeds is not None and not self.counts_seeds

    def cell(self, sign: int = 1) -> str:
        """Return a difference of scores, or its negative, with its interval, for a table.

        It is marked where the interval does not know of seeds. Where there is none, the seeds are
        said.
        """
        if self.low is None:
            return f"{sign * self.value:+.{self._digits}f} ({self.seeds_said()})"
        low, high = sorted(sign * end for end in self.ends)
        value, low, high = (f"{one:+.{self._digits}f}" for one in (sign * self.value, low, high))
        return f"{value} ({low} to {high}){'' if self.counts_seeds else SENTENCES_ALONE}"

    def seeds_said(self) -> str:
        """Say how many training seeds the number is of."""
        few, many = self.seeds or (0, 0)
        if self.unit:
            return f"{few} to {many} seeds" if few < many else _seeds(few)
        return "" if not few else ONE_SEED if many == 1 else f"mean of {_seeds(few)}"

    def measured(self) -> str:
        """Write the number with its interval, and say what both were taken from."""
        shares = [f"{share:.1f} % {name}" for name, share in self.shares]
        parts = [
            self._number(),
            self._interval(),
            "" if self.unit else self.over,
            self.seeds_said(),
            *shares,
        ]
        parts += ["other seeds not counted in"] if self.unit and not self.counts_seeds else []
        return ", ".join(part for part in parts if part)

    def __str__(self) -> str:
        return self.measured() + (
            f", detectable {self.detectable:.{self._digits}f}"
            if self.detectable is not None
            else ""
        )

    @property
    def _digits(self) -> int:
        """How many decimals the number has: a nat per token is worth some twelve points of BLEU."""
        return 3 if self.unit == "nats" else 2

    def _number(self) -> str:
        """Write the number, before its interval."""
        if self.low is None:
            return f"{self.value:,}" if isinstance(self.value, int) else f"{self.value:.4g}"
        return f"{self.value:{'+' if self.unit else ''}.{self._digits}f}"

    def _interval(self) -> str:
        """Write the interval, with its level."""
        if self.low is None:
            return ""
        between, sign = (
            "from" if self.level is None else f"{100 * self.level:.0f} %",
            "+" if self.unit else "",
        )
        low, high = (f"{end:{sign}.{self._digits}f}" for end in self.ends)
        return f"{between} {low} to {high}"


def _seeds(count: int) -> str:
    """Write a number of training seeds."""
    return f"{count} seed{'s' if count > 1 else ''}"


class Undefined(Exception):
    """What was measured gives no such number, such as a mean over no heads; the text says why."""


def estimate(
    value: float,
    resampled: np.ndarray,
    seeds: Collection[int],
    noise: SeedNoise | None,
    comparisons: int = 1,
    unit: str = "BLEU",
    over: str = "test sentences",
) -> Estimate:
    """Combine what is known of a difference of scores into a number with its interval.

    Args:
        value: the number, a mean over seeds.
        resampled: its values on resampled sentences, `(num_samples,)`.
        seeds: how many seeds each system has that it was taken from.
        noise: what other seeds would change of it; None = not known.
        comparisons: how many such intervals shall all hold at once with 95 %, by Bonferroni.
        unit: of the scores.
        over: what is resampled.
    """
    over_sentences = float(resampled.var(ddof=1)) - (noise.shared if noise else 0.0)
    # standard errors, and the degrees of freedom that they are known from
    errors = [(math.sqrt(max(0.0, over_sentences)), math.inf)]
    errors += [(math.sqrt(noise.variance), noise.degrees)] if noise else []
    tail = (1 - LEVEL) / 2 / comparisons
    half = math.hypot(*(scipy.stats.t.isf(tail, degrees) * error for error, degrees in errors))
    # A variance of few seeds may be found smaller than the part of it that sentences show.
    half = max(half, scipy.stats.norm.isf(tail) * float(resampled.std(ddof=1)))
    return Estimate(
        value,
        float(value - half),
        float(value + half),
        LEVEL,
        over=f"{over}{' and seeds' if noise else ''}",
        seeds=(min(seeds), max(seeds)),
        counts_seeds=noise is not None,
        detectable=math.hypot(*(detectable(degrees, tail) * error for error, degrees in errors))
        if noise
        else None,
        unit=unit,
    )


def paired_difference(first: Sequence[bool], second: Sequence[bool], over: str) -> Estimate:
    """Return the difference of two shares of the same items, with its interval, in points.

    The interval is that of Bonett and Price (2012), with an item more of each kind that differs: it
    is not empty where no item differs.
    """
    count = len(first) + 2
    more = (1 + sum(a and not b for a, b in zip(first, second, strict=True))) / count
    less = (1 + sum(b and not a for a, b in zip(first, second, strict=True))) / count
    half = scipy.stats.norm.ppf((1 + LEVEL) / 2) * np.sqrt(
        (more + less - (more - less) ** 2) / count
    )
    middle = 100 * (more - less)
    return Estimate(
        100 * (sum(first) - sum(second)) / len(first),
        float(middle - 100 * half),
        float(middle + 100 * half),
        LEVEL,
        over,
    )


def over_seeds(
    found: Sequence[Estimate], least: float = -math.inf, most: float = math.inf
) -> Estimate:
    """Return the mean of a number over training seeds, with an interval over items and seeds.

    All models are measured on the same items, so more seeds do not narrow the interval over items:
    it is as wide as theirs are on average. That of the seeds is Student's, from these alone. Both
    are put together as those of `estimate` are. A number of a single seed stays as it is, and says
    that it is one's.

    Counts of few seeds are often equal, which does not mean that another seed would count the same.
    So a number that comes in steps is taken to vary at least as much as rounding to a step does
    (Sheppard's correction, a twelfth of the step squared).

    Args:
        found: one a seed.
        least, most: no such number lies beyond them: a share 0 and 1.
    """
    if len(found) == 1:
        return replace(found[0], seeds=(1, 1))
    values = np.array([one.value for one in found])
    step = max(one.step for one in found)
    middle, error = values.mean(), math.sqrt(max(values.var(ddof=1), step**2 / 12) / len(values))
    half = scipy.stats.t.isf((1 - LEVEL) / 2, len(values) - 1) * error
    low, high = (
        math.hypot(half, np.mean(values - [one.ends[end] for one in found])) for end in (0, 1)
    )
    over, seeds = " or ".join(dict.fromkeys(one.over for one in found)), (len(values), len(values))
    ends = max(least, float(middle - low)), min(most, float(middle + high))
    return Estimate(float(middle), *ends, LEVEL, over, seeds, counts_seeds=True)


def median(values: Sequence[float], over: str) -> Estimate:
    """Return the median of independent values, with a distribution-free interval.

    The interval is between two of the values.
    Five values are too few for 95 %: then the interval is from the least to the largest, and its
    level is said.
    """
    ordered = sorted(values)
    # values on either side
    outside = max(0, int(scipy.stats.binom.ppf((1 - LEVEL) / 2, len(ordered), 0.5)) - 1)
    level = 1 - 2 * scipy.stats.binom.cdf(outside, len(ordered), 0.5)
    return Estimate(
        float(np.median(ordered)), ordered[outside], ordered[-1 - outside], float(level), over
    )


def rank_correlation(first: np.ndarray, second: np.ndarray, what: str) -> Estimate:
    """Return Spearman's correlation with the interval of Bonett and Wright (2000).

    Pairs with NaN are left out.

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
    value = float(scipy.stats.spearmanr(first, second).statistic)
    half = scipy.stats.norm.ppf((1 + LEVEL) / 2) * np.sqrt((1 + value**2 / 2) / (len(first) - 3))
    with np.errstate(divide="ignore"):  # a perfect correlation has an interval of one point
        low, high = np.tanh(np.arctanh(value) + np.array([-half, half]))
    return Estimate(value, float(low), float(high), LEVEL, f"{len(first)} {what}")


def kth_largest(numbers: Callable[[int], Sequence[Estimate]], share: float) -> Estimate:
    """Return the largest number that a share of several numbers reach, with a joint interval.

    It is the k-th largest of n, k the share of n rounded up. Its interval lies above a bound if k
    numbers are shown to, and below if n - k + 1 are: the partial conjunction of Benjamini and
    Heller (2008), for which intervals must hold for n - k + 1 and for k comparisons, not for n.

    Args:
        numbers: the number of comparisons -> the numbers, with intervals for so many.
        share: from 0 to 1.
    """
    one_each = numbers(1)
    k = max(1, math.ceil(share * len(one_each) - 1e-9))
    low, high = (
        sorted((found.ends[end] for found in numbers(many)), reverse=True)[k - 1]
        for end, many in ((0, len(one_each) - k + 1), (1, k))
    )
    middle = sorted(one_each, key=lambda found: -found.value)[k - 1]
    over = f"{k} of {len(one_each)} bins"
    return replace(middle, low=low, high=high, over=over, detectable=None)
