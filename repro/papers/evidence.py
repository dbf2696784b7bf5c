"""What has been measured at a scale: result records, found by the arm that they belong to."""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import sacrebleu

from repro.data.corpora import load_pairs
from repro.errors import ReproError
from repro.evaluation import cased_metrics, score_of_sums, sentence_statistics
from repro.papers.arms import Arm
from repro.papers.statistics import NUM_SAMPLES, Estimate, bleu_of_resamples, estimate
from repro.records import kind_of, search_of
from repro.scales import SCALES

MAX_SEEDS = 9
MIN_SENTENCES = 30  # of a bin: an interval from a handful says nothing

Record = dict[str, Any]
Key = Callable[[str, str], float]
"""Source and reference -> the whole number that sorts a sentence into a bin."""


class NotMeasured(ReproError):
    """A number was asked for that no record holds: what is missing, and the command that measures it."""


class Evidence:
    """Records of one scale.

    Args:
        scale: its name.
        records: of any kind and scale; those that belong to no arm asked for are never looked at.
        split: the test set that scores are taken from.
    """

    def __init__(self, scale: str, records: Iterable[Record], split: str = "test") -> None:
        self.scale, self.split = scale, split
        self._records: dict[tuple[str, str], list[Record]] = {}
        for record in records:
            if kind_of(record) != "scores" or not search_of(record):  # the papers' systems are compared under one search
                self._records.setdefault((kind_of(record), record["config_digest"]), []).append(record)

    def find(self, kind: str, arm: Arm, seed: int = 1, **values: Any) -> list[Record]:
        """Return the records of a kind about an arm, those only whose keys have the given values."""
        found = self._records.get((kind, arm.config(self.scale, seed).digest()), [])
        return [record for record in found if all(record.get(key) == value for key, value in values.items())]

    def all(self, kind: str) -> list[Record]:
        """Return all records of a kind that were made of this scale's corpus, of this test set where they have one."""
        corpus = SCALES[self.scale].data.corpus
        found = [record for (of, _), records in self._records.items() if of == kind for record in records]
        return [
            record for record in found if record["config"]["data"]["corpus"] == corpus and record.get("split", self.split) == self.split
        ]

    def one(self, kind: str, arm: Arm, seed: int = 1, **values: Any) -> Record:
        """Return the only such record.

        Raises:
            NotMeasured: there is none.
        """
        found = self.find(kind, arm, seed, **values)
        if not found:
            raise NotMeasured(f"{kind} of {arm}, seed {seed}", f"not measured at {self.scale}", "repro run makes it")
        return found[0]

    def having(self, kind: str, arms: Sequence[Arm]) -> list[Arm]:
        """Return those of the arms that have a record of a kind.

        Raises:
            NotMeasured: none has.
        """
        found = [arm for arm in arms if self.find(kind, arm)]
        if not found:
            raise NotMeasured(f"{kind} of {', '.join(map(str, arms))}", f"not measured at {self.scale}", "repro run makes it")
        return found

    def scored(self, arms: Sequence[Arm]) -> list[Arm]:
        """Return those of the arms that have scores of some seed on this test set.

        Raises:
            NotMeasured: none has.
        """
        found = [arm for arm in arms if self._seeds([arm])]
        if not found:
            raise NotMeasured(", ".join(map(str, arms)), f"not trained at {self.scale}", "repro run trains it")
        return found

    def seeds(self, arms: Sequence[Arm]) -> list[int]:
        """Return the seeds that all of these arms have scores for.

        Raises:
            NotMeasured: no seed.
        """
        has_all = self._seeds(arms)
        if not has_all:
            missing = ", ".join(str(arm) for arm in arms if not self._seeds([arm])) or "a common seed"
            raise NotMeasured(missing, f"not trained at {self.scale}", "repro run trains it")
        return has_all

    def _seeds(self, arms: Sequence[Arm]) -> list[int]:
        return [seed for seed in range(1, MAX_SEEDS + 1) if all(self.find("scores", arm, seed, split=self.split) for arm in arms)]

    def scores(self, arm: Arm, seed: int = 1) -> Record:
        """Return the score record of an arm on this test set."""
        return self.one("scores", arm, seed, split=self.split)

    def pairs(self, arm: Arm) -> tuple[list[str], list[str]]:
        """Return sources and references of the test set."""
        data = arm.config(self.scale).data
        return load_pairs(data.corpus, data.source, data.target, self.split)

    def contrast(self, terms: Sequence[tuple[float, Arm]], sentences: Sequence[int] | None = None) -> Estimate:
        """Return the weighted sum of the BLEU of arms, over all seeds that they share.

        Args:
            terms: weight and arm; all arms translate the same test set.
            sentences: only these sentences of it.

        Raises:
            NotMeasured: an arm has no scores.
        """
        return estimate(*self._values(terms, sentences))

    def _values(self, terms: Sequence[tuple[float, Arm]], sentences: Sequence[int] | None) -> tuple[np.ndarray, np.ndarray]:
        """Return the weighted sum for each seed, `(num_seeds,)`, and for each seed and resample, `(num_seeds, num_samples)`."""
        seeds = self.seeds([arm for _, arm in terms])
        values = np.zeros(len(seeds))
        resampled = np.zeros((len(seeds), NUM_SAMPLES))
        for weight, arm in terms:
            metric = _bleu(arm.config(self.scale).data.target)
            for place, seed in enumerate(seeds):
                sums = self.sums(arm, seed)
                sums = sums if sentences is None else sums[list(sentences)]
                score, samples = _bootstrap(metric, sums.tobytes(), sums.shape, sums.dtype)
                values[place] += weight * score
                resampled[place] += weight * samples
        return values, resampled

    def sums(self, arm: Arm, seed: int = 1) -> np.ndarray:
        """Return the BLEU statistics of every test sentence, `(num_sentences, num_statistics)`."""
        record = self.scores(arm, seed)
        return _sums(_bleu(arm.config(self.scale).data.target), tuple(record["hypotheses"]), tuple(self.pairs(arm)[1]))

    def gap_by(self, terms: Sequence[tuple[float, Arm]], key: Key, edges: Sequence[float]) -> list[tuple[str, int, Estimate]]:
        """Return a contrast on parts of the test set.

        Args:
            terms: see `contrast`.
            key: source and reference -> the number that puts a sentence into a bin.
            edges: see `bins`.

        Returns:
            For every bin its name, its number of sentences, and the contrast.
        """
        found = self.bins(terms[0][1], key, edges)
        return [(name, len(inside), self.contrast(terms, inside)) for name, _, inside in found]

    def trend(
        self, terms: Sequence[tuple[float, Arm]], key: Key, edges: Sequence[float], weigh: Callable[[np.ndarray], np.ndarray]
    ) -> Estimate:
        """Return a weighted sum over the bins of `gap_by`, resampled within bins: a slope, or last minus first.

        Args:
            terms, key, edges: see `gap_by`.
            weigh: the mean number of each bin, `(num_bins,)` -> the weight of each bin.

        Raises:
            NotMeasured: an arm has no scores, or the test set is too small for two bins.
        """
        bins = self.bins(terms[0][1], key, edges)
        if len(bins) < 2:
            raise NotMeasured(f"a trend at {self.scale}", f"there are no two bins of {MIN_SENTENCES} sentences", "use a larger test set")
        weights = weigh(np.array([centre for _, centre, _ in bins]))
        parts = [self._values(terms, inside) for _, _, inside in bins]
        return estimate(*(sum(weight * part[place] for weight, part in zip(weights, parts, strict=True)) for place in range(2)))

    def scores_by(self, digest: str) -> Record:
        """Return the scores of a run that is no arm by the digest of its configuration.

        Raises:
            NotMeasured: it has none.
        """
        found = [record for record in self._records.get(("scores", digest), []) if record["split"] == self.split]
        if not found:
            raise NotMeasured(f"the run of configuration {digest}", f"not scored at {self.scale}", "repro run makes it")
        return found[0]

    def difference(self, digest: str, minus: str, like: Arm) -> Estimate:
        """Return the difference in BLEU of two runs by the digests of their configurations, both on the test set of an arm.

        Raises:
            NotMeasured: one of them has no scores.
        """
        metric, refs = _bleu(like.config(self.scale).data.target), tuple(self.pairs(like)[1])
        values, resampled = np.zeros(1), np.zeros((1, NUM_SAMPLES))
        for weight, wanted in ((1, digest), (-1, minus)):
            sums = _sums(metric, tuple(self.scores_by(wanted)["hypotheses"]), refs)
            values += weight * score_of_sums(metric, sums.sum(axis=0))
            resampled += weight * bleu_of_resamples(metric, sums)
        return estimate(values, resampled)

    def masked(self, arm: Arm, head: str, sentences: Sequence[int] | None = None) -> Estimate:
        """Return what an arm loses, in BLEU, when a head is masked in all encoder layers, over the seeds that were measured so.

        Args:
            arm: trained without the mask.
            head: its number from 1.
            sentences: only these sentences of the test set.

        Raises:
            NotMeasured: there is no such record.
        """
        return estimate(*self._masked(arm, head, self._masked_seeds([arm]), sentences))

    def masked_difference(self, first: tuple[Arm, str], second: tuple[Arm, str]) -> Estimate:
        """Return how much more BLEU is lost with one masked head than with another, of the same arm or not, over the same sentences.

        Args:
            first, second: arm and number of the head, see `masked`.

        Raises:
            NotMeasured: there is no record of one of them.
        """
        seeds = self._masked_seeds([first[0], second[0]])
        (more, more_resampled), (less, less_resampled) = (self._masked(*which, seeds, None) for which in (first, second))
        return estimate(more - less, more_resampled - less_resampled)

    def _masked_seeds(self, arms: Sequence[Arm]) -> list[int]:
        """Return the seeds that have records of masks of all of these arms; without any, the first, which raises."""
        seeds = range(1, MAX_SEEDS + 1)
        return [seed for seed in seeds if all(self.find("masks", arm, seed, split=self.split) for arm in arms)] or [1]

    def _masked(self, arm: Arm, head: str, seeds: Sequence[int], sentences: Sequence[int] | None) -> tuple[np.ndarray, np.ndarray]:
        """Return what is lost for each seed, `(num_seeds,)`, and for each seed and resample, `(num_seeds, num_samples)`."""
        metric, refs = _bleu(arm.config(self.scale).data.target), tuple(self.pairs(arm)[1])
        values, resampled = [], []
        for seed in seeds:
            changed = self.one("masks", arm, seed, split=self.split)["masks"][head]["changed"]
            hyps = self.scores(arm, seed)["hypotheses"]
            masked = tuple(changed.get(str(i), hyp) for i, hyp in enumerate(hyps))
            pair = [self.sums(arm, seed), _sums(metric, masked, refs)]
            pair = pair if sentences is None else [sums[list(sentences)] for sums in pair]
            values.append(score_of_sums(metric, pair[0].sum(axis=0)) - score_of_sums(metric, pair[1].sum(axis=0)))
            resampled.append(bleu_of_resamples(metric, pair[0]) - bleu_of_resamples(metric, pair[1]))
        return np.array(values), np.array(resampled)

    def bins(self, arm: Arm, key: Key, edges: Sequence[float]) -> list[tuple[str, float, list[int]]]:
        """Return name, mean number and sentences of each bin.

        Args:
            arm: any that translates the test set.
            key: see `gap_by`.
            edges: bins are from one edge, included, to the next, excluded; those of fewer than `MIN_SENTENCES` are joined with a neighbour.
        """
        numbers = np.array([key(source, reference) for source, reference in zip(*self.pairs(arm), strict=True)])
        bins = []
        for low, high in pairwise(_joined(numbers, edges)):
            inside = np.flatnonzero((low <= numbers) & (numbers < high))
            bins.append((_name(low, None if high == edges[-1] else high), float(numbers[inside].mean()), inside.tolist()))
        return bins


def _joined(numbers: np.ndarray, edges: Sequence[float]) -> list[float]:
    """Return the edges without those that begin a bin of too few sentences, or would leave too few before or after them."""
    first, *inner, last = edges
    kept = [first]
    for edge in inner:
        before, after = (((low <= numbers) & (numbers < high)).sum() for low, high in ((kept[-1], edge), (edge, last)))
        if min(before, after) >= MIN_SENTENCES:
            kept.append(edge)
    return [*kept, last]


def _name(low: float, high: float | None) -> str:
    """Say which whole numbers are in a bin; None = it has no end."""
    least = math.ceil(low)
    if high is None:
        return f"{least} or more"
    most = math.ceil(high) - 1
    return f"{least} to {most}" if most > least else str(least)


def source_length(source: str, _reference: str) -> int:
    """Length of the source in words."""
    return len(source.split())


def reference_length(_source: str, reference: str) -> int:
    """Length of the reference in words."""
    return len(reference.split())


def slope_weights(centres: np.ndarray) -> np.ndarray:
    """Return the weights that make the sum over bins the slope of the least-squares line."""
    centred = centres - centres.mean()
    return centred / (centred**2).sum()


def last_minus_first(centres: np.ndarray) -> np.ndarray:
    """Return the weights that make the sum over bins the last one minus the first."""
    weights = np.zeros(len(centres))
    weights[0], weights[-1] = -1.0, 1.0
    return weights


def equal_parts(numbers: Sequence[float], parts: int) -> list[float]:
    """Return edges that cut numbers into parts of nearly equal size; fewer parts where many numbers are equal."""
    inner = np.quantile(numbers, np.arange(1, parts) / parts)
    return sorted({float(min(numbers)), *inner.tolist(), float(max(numbers) + 1)})


@lru_cache(maxsize=1000)  # the baseline is in most contrasts
def _bootstrap(metric: sacrebleu.BLEU, sums: bytes, shape: tuple[int, int], dtype: np.dtype) -> tuple[float, np.ndarray]:
    """Return BLEU and the BLEU of each resample."""
    rows = np.frombuffer(sums, dtype).reshape(shape)
    return score_of_sums(metric, rows.sum(axis=0)), bleu_of_resamples(metric, rows)


@cache
def _bleu(target: str) -> sacrebleu.BLEU:
    return cased_metrics(target)[0]


@cache
def _sums(metric: sacrebleu.BLEU, hyps: tuple[str, ...], refs: tuple[str, ...]) -> np.ndarray:
    return sentence_statistics(metric, list(hyps), list(refs))
