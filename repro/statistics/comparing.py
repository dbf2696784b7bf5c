"""Scores with their signatures, and whether two systems differ by more than chance."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from repro.errors import InputError, check_kind, texts_in
from repro.statistics.intervals import LEVEL, Estimate, estimate
from repro.statistics.metrics import (
    TOKENISED,
    CorpusMetric,
    metrics_for,
    score_of_sums,
    scorer_of,
)
from repro.statistics.noise import SeedNoise, influences_on
from repro.statistics.resampling import bleu_of_sums, resamples


@dataclass(frozen=True)
class Score:
    """A score of a text, with the signature that says how it was made."""

    name: str
    value: float
    signature: str

    def __str__(self) -> str:
        return f"{self.name} {self.value:.2f}  {self.signature}"


@dataclass(frozen=True)
class Counted:
    """What a score of a system is computed from.

    Args:
        metric, signature: of the score.
        sums: `metrics.CorpusMetric.statistics` of its texts, `(num_texts, num_statistics)`.
    """

    metric: str
    signature: str
    sums: np.ndarray

    def score(self) -> float:
        """Return the score of all texts from their counted statistics."""
        if np.issubdtype(self.sums.dtype, np.integer):
            return self.score_of(self.sums.sum(axis=0))
        # added up in the order of the metric itself
        return float(scorer_of(self.metric)._aggregate_and_compute(self.sums.tolist()).score)

    def score_of(self, added: np.ndarray) -> float:
        """Return the score of some texts, whose statistics are added up, `(num_statistics,)`."""
        return score_of_sums(scorer_of(self.metric), added)

    def scores_of(self, rows: np.ndarray) -> np.ndarray:
        """Return the score of each row of added-up statistics, `(num_rows,)`.

        Lengths may be fractions, where a derivative is taken: sacreBLEU would cut those of BLEU.
        """
        if self.metric in ("BLEU", TOKENISED):
            return bleu_of_sums(rows, is_smoothed=self.metric == "BLEU")
        return np.array([self.score_of(row) for row in rows])


@dataclass(frozen=True)
class Comparison:
    """How much `second` is better than `first` on the same sentences, each the mean over its seeds.

    Args:
        metric, signature: of the scores.
        first, second: the two scores.
        estimate: second - first. For single runs, the interval is the middle 95 % of the
            difference over paired bootstrap resamples (Koehn 2004); for more, see
            `statistics.intervals.estimate`.
        p: for single runs, the probability, were the two equal, of a difference at least this
            large in either direction; None for more.
        num_samples: how many resamples.
    """

    metric: str
    signature: str
    first: float
    second: float
    estimate: Estimate
    p: float | None
    num_samples: int

    @property
    def difference(self) -> float:
        """Return the second system's score minus the first's."""
        return self.estimate.value

    @property
    def low(self) -> float:
        """Return the lower end of the interval of the difference."""
        return self.estimate.ends[0]

    @property
    def high(self) -> float:
        """Return the upper end of the interval of the difference."""
        return self.estimate.ends[1]


def score_all(
    hyps: list[str], refs: list[str], target: str, task: str = "translation"
) -> list[Score]:
    """Score hypotheses with the metrics of their task.

    - Translations: cased BLEU and chrF as sacreBLEU defines them, and tokenised lower-cased BLEU.
    - Summaries: ROUGE-1, -2 and -L.
    - Replies: cased BLEU, ROUGE-L, distinct-1 and -2.

    Args:
        hyps: detokenised texts.
        refs: one detokenised reference each.
        target: language code of both, where they are translations.
        task: what the texts are, as a corpus says of itself.

    Raises:
        InputError: nothing to score, not texts, not as many references as hypotheses, or an unknown
            task.
    """
    hyps, refs = _lines(hyps, refs)
    return [
        Score(metric.name, metric.score(hyps), metric.signature())
        for metric in metrics_for(task, target, tuple(refs))
    ]


def paired_bootstrap(
    first: list[str],
    second: list[str],
    refs: list[str],
    target: str,
    num_samples: int = 1000,
    task: str = "translation",
) -> list[Comparison]:
    """Compare two systems on the same sentences by paired bootstrap resampling (Koehn 2004).

    Every metric of `score_all` is compared whose score follows from sums over the sentences: all
    but distinct-n. The p-value is two-sided: the share of resamples whose difference is at least as
    far from the mean difference as the true one is from zero. (sacreBLEU's own test counts one
    tail, so its p is about half of this one.) The resamples are the same for all metrics and calls.

    Args:
        first, second: detokenised texts of the two systems; positive differences say that the
            second is better.
        refs, target, task: see `score_all`.
        num_samples: how many resamples.

    Returns:
        One for each of these metrics.

    Raises:
        InputError: nothing to score, not texts, not as many references as hypotheses, an unknown
            task, or fewer than two resamples.
    """
    (compared,) = compare_systems([[first], [second]], refs, target, num_samples, task)
    return compared


def count_texts(
    hyps: list[str], refs: list[str], target: str, task: str = "translation"
) -> list[Counted]:
    """Return the statistics of texts for each metric of their task that follows from sums."""
    metrics = (
        metric
        for metric in metrics_for(task, target, tuple(refs))
        if isinstance(metric, CorpusMetric)
    )
    return [Counted(metric.name, metric.signature(), metric.statistics(hyps)) for metric in metrics]


def compare_systems(
    systems: Sequence[Sequence[list[str]]],
    refs: list[str],
    target: str,
    num_samples: int = 1000,
    task: str = "translation",
) -> list[list[Comparison]]:
    """Compare systems with the first by the texts of all their training seeds, paired.

    The intervals are over sentences and seeds (see `repro.statistics.intervals`). How far a seed
    moves a score is pooled from all of the systems, so one of them may have a single seed; where
    all have, nothing tells, and the intervals are over sentences alone.

    Args:
        systems: of each its detokenised texts, a list for every seed.
        refs, target, task: see `score_all`.
        num_samples: how many resamples.

    Returns:
        For each system but the first a comparison by every metric of `paired_bootstrap`.

    Raises:
        InputError: as `paired_bootstrap`, no system, or one without any texts.
    """
    if not systems or not all(systems):
        raise InputError(
            "systems",
            "one has no texts, or there is no system",
            "give each system a list of texts for every seed",
        )
    refs = texts_in("references", refs)
    texts = [[_lines(hyps, refs)[0] for hyps in seeds] for seeds in systems]
    counted = [[count_texts(hyps, refs, target, task) for hyps in seeds] for seeds in texts]
    return compare_counted(counted, num_samples)


def compare_counted(
    systems: Sequence[Sequence[list[Counted]]], num_samples: int = 1000
) -> list[list[Comparison]]:
    """Compare systems with the first, as `compare_systems` does, by counted statistics.

    Raises:
        InputError: fewer than two resamples, which scatter nowhere.
    """
    check_kind("num_samples", num_samples, "use the usual 1000", int)
    if num_samples < 2:
        raise InputError(
            "num_samples", f"must be at least 2, found {num_samples}", "use the usual 1000"
        )
    counts = resamples(len(systems[0][0][0].sums), num_samples).astype(np.float32)
    by_metric = []
    for place, metric in enumerate(systems[0][0]):
        sums = [[of_seed[place].sums for of_seed in seeds] for seeds in systems]
        scores = [[metric.score_of(s.sum(axis=0)) for s in seeds] for seeds in sums]
        resampled = [
            np.mean([metric.scores_of(counts @ s) for s in seeds], axis=0) for seeds in sums
        ]
        influences = [[influences_on(metric.scores_of, s) for s in seeds] for seeds in sums]
        noise = SeedNoise.pooled(scores, influences)
        others = zip(scores[1:], resampled[1:], strict=True)
        by_metric.append(
            [_compare(metric, scores[0], of, again - resampled[0], noise) for of, again in others]
        )
    return [list(of_system) for of_system in zip(*by_metric, strict=True)]


def _compare(
    metric: Counted,
    first: list[float],
    second: list[float],
    differences: np.ndarray,
    noise: SeedNoise | None,
) -> Comparison:
    """Compare the scores of two systems' seeds, whose difference is known on resamples."""
    of_both = float(np.mean(first)), float(np.mean(second))
    difference, p = of_both[1] - of_both[0], None
    if noise is None:  # single runs
        low, high = np.percentile(differences, [100 * (1 - LEVEL) / 2, 100 * (1 + LEVEL) / 2])
        found = Estimate(
            difference, float(low), float(high), LEVEL, "test sentences", (1, 1), unit=metric.metric
        )
        far = np.sum(np.abs(differences - differences.mean()) >= abs(difference))
        p = float((far + 1) / (len(differences) + 1))
    else:
        seeds = [len(first), len(second)]
        noise = noise.times(sum(1 / number for number in seeds))
        found = estimate(difference, differences, seeds, noise, unit=metric.metric)
    return Comparison(metric.metric, metric.signature, *of_both, found, p, len(differences))


def as_records(scores: list[Score]) -> list[dict[str, Any]]:
    """Return scores as JSON values, rounded to what a reader can use."""
    return [asdict(score) | {"value": round(score.value, 4)} for score in scores]


def _lines(hyps: Iterable[str], refs: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return hypotheses and references to score, and refuse unequal or no lines."""
    hyps, refs = texts_in("hypotheses", hyps), texts_in("references", refs)
    if not refs:
        raise InputError("references", "there is nothing to score", "give at least one sentence")
    if len(hyps) != len(refs):
        raise InputError(
            "hypotheses",
            f"{len(hyps):,} lines for {len(refs):,} references",
            "give one hypothesis per reference",
        )
    return hyps, refs
