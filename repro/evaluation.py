"""Scores with their signatures, and whether two systems differ by more than chance."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any

import numpy as np
import sacrebleu
from sacrebleu.metrics.base import Metric

from repro.data.text import texts_in
from repro.errors import InputError, check_kind, did_you_mean
from repro.metrics import Distinct, Rouge
from repro.statistics import BOOTSTRAP_SEED, Estimate, SeedNoise, estimate, resamples

UNSPACED = dict.fromkeys(("ja", "jpn", "th", "tha", "lo", "lao", "km", "khm", "my", "mya"), "char") | dict.fromkeys(
    ("zh", "zho", "cmn", "yue"), "zh"
)
"""Language written without blanks between words -> sacreBLEU's tokeniser for text of it that is not cut into words."""
LONGEST_WORD = 7
"""Characters that its words have at most on average, in a text of such a language that is cut into words."""

TOKENISED = "tokenised lower-cased BLEU"


@dataclass(frozen=True)
class Score:
    """A score never travels without how it was made."""

    name: str
    value: float
    signature: str

    def __str__(self) -> str:
        return f"{self.name} {self.value:.2f}  {self.signature}"


@dataclass(frozen=True)
class Comparison:
    """How much `second` is better than `first` on the same sentences.

    `low` and `high` bound the middle 95 % of the difference over paired bootstrap resamples (Koehn 2004); `p` is the probability,
    were the two equal, of a difference at least this large in either direction.
    """

    metric: str
    signature: str
    first: float
    second: float
    low: float
    high: float
    p: float
    num_samples: int

    @property
    def difference(self) -> float:
        """Return second - first."""
        return self.second - self.first


@dataclass(frozen=True)
class SystemComparison:
    """How much one system is better than another on the same sentences, each the mean over its training seeds.

    Args:
        metric, signature: of the scores.
        first, second: the two scores.
        difference: second - first.
    """

    metric: str
    signature: str
    first: float
    second: float
    difference: Estimate


class CorpusMetric:
    """A metric whose score of a corpus follows from sums over its texts, which is what makes a resample cheap.

    Args:
        name: how tables call it.
        metric: one of sacreBLEU's, or built like those.
    """

    def __init__(self, name: str, metric: Metric) -> None:
        self.name, self.metric = name, metric

    def prepare(self, texts: list[str]) -> list[str]:
        """Return the texts as the metric reads them."""
        return texts

    def read(self, refs: list[str]) -> None:
        """Count the n-grams of references, once for all the hypotheses to come."""
        # What the constructors of sacreBLEU's metrics do with references; ours must be prepared first.
        self._refs = self.metric._cache_references([self.prepare(refs)])
        self._rows: list[dict[str, list[float]]] = [{} for _ in refs]  # for each reference, what was counted of every text that met it

    def score(self, hyps: list[str]) -> float:
        """Return the score of a corpus against the references that were read."""
        return self.metric._aggregate_and_compute(self._count(hyps)).score

    def statistics(self, hyps: list[str]) -> np.ndarray:
        """Return what a score is computed from, `(num_texts, num_statistics)`: the rows of any selection of texts add up to its score."""
        return np.array(self._count(hyps))

    def _count(self, hyps: list[str]) -> list[list[float]]:
        """Return the statistics of each text. They are counted once: systems often say the same, and tables and claims share systems."""
        new = [place for place, text in enumerate(hyps) if text not in self._rows[place]]
        if new:
            # sacreBLEU keeps these sums apart from the score, which makes a resample a sum; it offers them to its own tests only.
            self.metric._ref_cache = [self._refs[place] for place in new]
            counted = self.metric._extract_corpus_statistics(self.prepare([hyps[place] for place in new]), None)
            for place, row in zip(new, counted, strict=True):
                self._rows[place][hyps[place]] = row
        return [rows[text] for rows, text in zip(self._rows, hyps, strict=True)]

    def signature(self) -> str:
        """Return how the score is made; only after references were read."""
        return str(self.metric.get_signature())


class MosesBLEU(CorpusMetric):
    """Tokenised, lower-cased BLEU, as papers report that score Moses-tokenised text with multi-bleu.

    Tokeniser: sacremoses, without escaping. The score is sacreBLEU's on the tokens, without a tokeniser of its own.
    """

    def __init__(self, language: str) -> None:
        super().__init__(TOKENISED, sacrebleu.BLEU(tokenize="none", force=True, smooth_method="none"))
        self._tokenize = _moses(language)

    def prepare(self, sentences: list[str]) -> list[str]:
        """Lower-case and tokenise sentences into space-separated tokens."""
        return [self._tokenize(sentence.lower()) for sentence in sentences]

    def signature(self) -> str:
        """Return sacreBLEU's signature with the tokeniser that was really used; only after references were read."""
        return super().signature().replace("case:mixed", "case:lc").replace("tok:none", f"tok:sacremoses-{version('sacremoses')}")


def bleu_for(target: str, refs: Sequence[str]) -> CorpusMetric:
    """Return cased BLEU with the tokeniser that fits the language: sacreBLEU's default, or what `unspaced_tokenizer` says."""
    tokenizer = unspaced_tokenizer(target, refs) or "13a"
    # sacreBLEU warns of hypotheses cut into words and marks: a slip where the references are not, and as it should be where they are.
    is_cut = tokenizer == "none" or 2 * sum(ref.rstrip().endswith(" .") for ref in refs) > len(refs)
    return CorpusMetric("BLEU", sacrebleu.BLEU(tokenize=tokenizer, force=is_cut))


def tokenised_bleu_for(target: str, refs: Sequence[str]) -> CorpusMetric:
    """Return tokenised lower-cased BLEU; Moses knows no words where none are marked, so there the tokeniser is that of `bleu_for`."""
    tokenizer = unspaced_tokenizer(target, refs) or "none"
    if tokenizer == "none":
        return MosesBLEU(target)
    return CorpusMetric(TOKENISED, sacrebleu.BLEU(tokenize=tokenizer, lowercase=True, smooth_method="none"))


def unspaced_tokenizer(target: str, refs: Sequence[str]) -> str | None:
    """Return sacreBLEU's tokeniser for a language of `UNSPACED`: `none` where most references are cut into words; else None.

    A blank alone is no sign of that: Thai, Lao, Khmer and Burmese have it between phrases.
    """
    language = re.split("[-_]", target)[0]
    if language not in UNSPACED:
        return None
    pieces = [len(piece) for ref in refs for piece in ref.split()]
    most_are_cut = 2 * sum(" " in ref.strip() for ref in refs) > len(refs)
    return "none" if most_are_cut and sum(pieces) <= LONGEST_WORD * len(pieces) else UNSPACED[language]


METRICS: dict[str, Callable[[str, Sequence[str]], list[CorpusMetric | Distinct]]] = {
    "translation": lambda *text: [bleu_for(*text), CorpusMetric("chrF", sacrebleu.CHRF()), tokenised_bleu_for(*text)],
    "summarisation": lambda *_: [*map(CorpusMetric, ("ROUGE-1", "ROUGE-2", "ROUGE-L"), map(Rouge, ("rouge1", "rouge2", "rougeL")))],
    "dialogue": lambda *_: [*map(CorpusMetric, ("BLEU", "ROUGE-L"), (sacrebleu.BLEU(), Rouge("rougeL"))), Distinct(1), Distinct(2)],
}
"""The task of a corpus -> what its hypotheses are scored with, given language and text of the references (all but translations are
English)."""


@lru_cache(maxsize=16)  # the systems of a table share a few test sets, and references are half the work of a score
def metrics_for(task: str, target: str, refs: tuple[str, ...]) -> list[CorpusMetric | Distinct]:
    """Return the metrics of a task, which have read the references.

    Raises:
        InputError: an unknown task.
    """
    if task not in METRICS:
        raise InputError("task", f"unknown task '{task}'", did_you_mean(task, METRICS))
    check_kind("target", target, "give the language code of the references, as in 'de'", str)
    metrics = METRICS[task](target, refs)
    for metric in metrics:
        metric.read(list(refs))
    return metrics


def score_all(hyps: list[str], refs: list[str], target: str, task: str = "translation") -> list[Score]:
    """Score hypotheses with the metrics of their task.

    Translations: cased BLEU and chrF as sacreBLEU defines them, and tokenised lower-cased BLEU. Summaries: ROUGE-1, -2 and -L.
    Replies: cased BLEU, ROUGE-L, distinct-1 and -2.

    Args:
        hyps: detokenised texts.
        refs: one detokenised reference each.
        target: language code of both, where they are translations.
        task: what the texts are, as a corpus says of itself.

    Raises:
        InputError: nothing to score, not texts, not as many references as hypotheses, or an unknown task.
    """
    hyps, refs = _lines(hyps, refs)
    return [Score(metric.name, metric.score(hyps), metric.signature()) for metric in metrics_for(task, target, tuple(refs))]


def paired_bootstrap(
    first: list[str], second: list[str], refs: list[str], target: str, num_samples: int = 1000, task: str = "translation"
) -> list[Comparison]:
    """Compare two systems on the same sentences by paired bootstrap resampling (Koehn 2004).

    Every metric of `score_all` is compared whose score follows from sums over the sentences: all but distinct-n. The p-value is
    two-sided: the share of resamples whose difference is at least as far from the mean difference as the true one is from zero.
    (sacreBLEU's own test counts one tail, so its p is about half of this one.) The resamples are the same for all metrics and calls.

    Args:
        first, second: detokenised texts of the two systems; positive differences say that the second is better.
        refs, target, task: see `score_all`.
        num_samples: how many resamples.

    Returns:
        One for each of these metrics.

    Raises:
        InputError: nothing to score, not texts, not as many references as hypotheses, an unknown task, or no resample.
    """
    _check_samples(num_samples)
    first, refs = _lines(first, refs)
    second, _ = _lines(second, refs)
    random = np.random.default_rng(BOOTSTRAP_SEED)
    samples = random.integers(len(refs), size=(num_samples, len(refs)))
    return [_compare(metric, first, second, samples) for metric in _resampled_metrics(task, target, refs)]


def _resampled_metrics(task: str, target: str, refs: list[str]) -> list[CorpusMetric]:
    return [metric for metric in metrics_for(task, target, tuple(refs)) if isinstance(metric, CorpusMetric)]


def _check_samples(num_samples: int) -> None:
    if num_samples < 1:
        raise InputError("num_samples", f"must be at least 1, found {num_samples}", "use the usual 1000")


def _compare(metric: CorpusMetric, first: list[str], second: list[str], samples: np.ndarray) -> Comparison:
    statistics = [metric.statistics(lines) for lines in (first, second)]
    true = [score_of_sums(metric.metric, s.sum(axis=0)) for s in statistics]
    resampled = [[score_of_sums(metric.metric, s[sample].sum(axis=0)) for sample in samples] for s in statistics]
    differences = np.array(resampled[1]) - np.array(resampled[0])
    observed = abs(true[1] - true[0])
    p = (np.sum(np.abs(differences - differences.mean()) >= observed) + 1) / (len(samples) + 1)
    low, high = np.percentile(differences, [2.5, 97.5])
    return Comparison(metric.name, metric.signature(), true[0], true[1], float(low), float(high), float(p), len(samples))


def compare_systems(
    systems: Sequence[Sequence[list[str]]], refs: list[str], target: str, num_samples: int = 1000, task: str = "translation"
) -> list[list[SystemComparison]]:
    """Compare systems with the first of them, each by the texts that all of its training seeds made of the same sentences.

    The intervals are over sentences and seeds (see `repro.statistics`). How far a seed moves a score is pooled from all of the systems,
    so one of them may have a single seed; where all have, nothing tells, and the intervals are over sentences alone.

    Args:
        systems: of each its detokenised texts, a list for every seed.
        refs, target, task: see `score_all`.
        num_samples: how many resamples.

    Returns:
        For each system but the first a comparison by every metric of `paired_bootstrap`.

    Raises:
        InputError: as `paired_bootstrap`.
    """
    _check_samples(num_samples)
    systems = [[_lines(hyps, refs)[0] for hyps in seeds] for seeds in systems]
    counts = resamples(len(refs), num_samples)
    compared: list[list[SystemComparison]] = [[] for _ in systems[1:]]
    for metric in _resampled_metrics(task, target, refs):
        sums = [[metric.statistics(hyps) for hyps in seeds] for seeds in systems]
        scores = [[score_of_sums(metric.metric, s.sum(axis=0)) for s in seeds] for seeds in sums]
        resampled = [np.mean([[score_of_sums(metric.metric, row) for row in counts @ s] for s in seeds], axis=0) for seeds in sums]
        noise = SeedNoise.pooled(scores)
        for found, of_seeds, of_resamples in zip(compared, scores[1:], resampled[1:], strict=True):
            both = [len(scores[0]), len(of_seeds)]
            first, second = float(np.mean(scores[0])), float(np.mean(of_seeds))
            of_both = noise and noise.times(sum(1 / number for number in both))
            difference = estimate(second - first, of_resamples - resampled[0], both, of_both)
            found.append(SystemComparison(metric.name, metric.signature(), first, second, difference))
    return compared


def score_of_sums(metric: Metric, sums: np.ndarray) -> float:
    """Return the corpus score of added-up `CorpusMetric.statistics`."""
    return metric._compute_score_from_stats(sums.tolist()).score


def as_records(scores: list[Score]) -> list[dict[str, Any]]:
    """Return scores as JSON values, rounded to what a reader can use."""
    return [asdict(score) | {"value": round(score.value, 4)} for score in scores]


@cache
def _moses(language: str):
    from sacremoses import MosesTokenizer

    tokenizer = MosesTokenizer(lang=language)
    return lambda sentence: tokenizer.tokenize(sentence, escape=False, return_str=True)


def _lines(hyps: Iterable[str], refs: Iterable[str]) -> tuple[list[str], list[str]]:
    hyps, refs = texts_in("hypotheses", hyps), texts_in("references", refs)
    if not refs:
        raise InputError("references", "there is nothing to score", "give at least one sentence")
    if len(hyps) != len(refs):
        raise InputError("hypotheses", f"{len(hyps):,} lines for {len(refs):,} references", "give one hypothesis per reference")
    return hyps, refs
