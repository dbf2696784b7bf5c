"""How sure a number is. A difference in BLEU: over the sentences of the test set, and over training seeds.

- Over sentences: paired bootstrap (Koehn 2004), the same resamples for all systems.
- Over seeds: Student's t on one value a seed. A "no loss" claim is a test of non-inferiority, the side of two one-sided tests
  (Schuirmann 1987) that the claim is about; an "equal" claim takes both sides. With it comes the minimum detectable difference: how
  large a true difference must be for the interval over seeds to show it with a chance of 80 %.

Both together: the interval of a mean over seeds adds both variances, since another test set and other seeds would change it independently.

Other numbers have an `Interval`: over the contrastive pairs, the rounds of a sitting, or the heads that they were taken from.
A count of heads has none (`Exact`) and says of how many.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import sacrebleu
from scipy import stats
from statsmodels.stats.power import TTestPower

from repro.evaluation import BOOTSTRAP_SEED, score_of_sums

NUM_SAMPLES = 1000
LEVEL = 0.95
POWER = 0.80


@dataclass(frozen=True)
class Estimate:
    """A number with its uncertainty.

    Args:
        per_seed: its value for each seed.
        low, high: 95 % interval of the mean: over sentences and seeds, or over sentences alone where there is one seed.
        seed_lows, seed_highs: for each seed, the 95 % interval over sentences.
        detectable: the smallest true difference that so many seeds would show with a chance of 80 %, sentences aside; None for one seed.
    """

    per_seed: tuple[float, ...]
    low: float
    high: float
    seed_lows: tuple[float, ...]
    seed_highs: tuple[float, ...]
    detectable: float | None

    @property
    def mean(self) -> float:
        """Return the mean over seeds."""
        return float(np.mean(self.per_seed))

    def __str__(self) -> str:
        seeds = f"{len(self.per_seed)} seed{'s' if len(self.per_seed) > 1 else ''}"
        detectable = "" if self.detectable is None else f", detectable {self.detectable:.2f}"
        return f"{self.mean:+.2f}, 95 % {self.low:+.2f} to {self.high:+.2f}, {seeds}{detectable}"


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

    def __str__(self) -> str:
        between = "from" if self.level is None else f"{100 * self.level:.0f} %"
        return f"{self.value:.2f}, {between} {self.low:.2f} to {self.high:.2f}, {self.over}"


@dataclass(frozen=True)
class Exact:
    """A number without an interval, and what it was taken from, such as `9 of 16 heads`."""

    value: float
    over: str

    @property
    def low(self) -> float:
        """Return the number itself, as does `high`."""
        return self.value

    high = low

    def __str__(self) -> str:
        return f"{self.value:.4g}, {self.over}"


class Undefined(Exception):
    """What was measured gives no such number, such as a mean over no heads; the text says why."""


def estimate(per_seed: Sequence[float], resampled: np.ndarray) -> Estimate:
    """Combine what is known of a number that was measured on the same sentences for every seed.

    Args:
        per_seed: its value for each seed.
        resampled: its values on resampled sentences, `(num_seeds, num_samples)`, the same resamples for all seeds.

    Returns:
        With several seeds, mean +- t * sqrt(variance over seeds / seeds + variance over sentences); the degrees of freedom are those of
        the seeds, which errs on the wide side. With one, the percentiles of the resamples.
    """
    values = np.asarray(per_seed, dtype=float)
    tails = [(1 - LEVEL) / 2 * 100, (1 + LEVEL) / 2 * 100]
    lows, highs = np.percentile(resampled, tails, axis=1)
    if len(values) == 1:
        low, high, detectable = lows[0], highs[0], None
    else:
        deviation = values.std(ddof=1)
        error = np.sqrt(deviation**2 / len(values) + resampled.mean(axis=0).var(ddof=1))
        half = stats.t.ppf((1 + LEVEL) / 2, len(values) - 1) * error
        low, high = values.mean() - half, values.mean() + half
        detectable = float(minimum_detectable(len(values)) * deviation)
    return Estimate(tuple(values.tolist()), float(low), float(high), tuple(lows.tolist()), tuple(highs.tolist()), detectable)


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


def median(values: Sequence[float], over: str) -> Interval:
    """Return the median and its interval between two of the values, which needs no distribution.

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
    """Return the smallest difference, in standard deviations over seeds, that four times in five puts a 95 % interval wholly above 0."""
    return float(TTestPower().solve_power(nobs=num_seeds, alpha=(1 - LEVEL) / 2, power=POWER, alternative="larger"))


@cache
def resamples(num_sentences: int, num_samples: int = NUM_SAMPLES) -> np.ndarray:
    """Return how often each resample draws each sentence, `(num_samples, num_sentences)`; the same for every call."""
    random = np.random.default_rng(BOOTSTRAP_SEED)
    drawn = random.integers(num_sentences, size=(num_samples, num_sentences))
    return np.stack([np.bincount(row, minlength=num_sentences) for row in drawn]).astype(float)


def bleu_of_resamples(metric: sacrebleu.BLEU, sums: np.ndarray) -> np.ndarray:
    """Return the corpus BLEU of each resample, `(num_samples,)`.

    Args:
        metric: whose sums they are.
        sums: `evaluation.sentence_statistics`, `(num_sentences, num_statistics)`.
    """
    resampled = resamples(len(sums)) @ sums.astype(float)  # exact: the counts are far below 2^53
    return np.array([score_of_sums(metric, row) for row in resampled.astype(np.int64)])
