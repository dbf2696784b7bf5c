"""Scores with their signatures, and whether two systems differ by more than chance."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np
import sacrebleu
from sacrebleu.metrics.base import Metric

from repro.errors import InputError

BOOTSTRAP_SEED = 12345  # sacreBLEU's own


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


class TokenizedBLEU:
    """Tokenised, lower-cased BLEU, as papers report that score Moses-tokenised text with multi-bleu.

    Tokeniser: sacremoses, without escaping. The score is sacreBLEU's on the tokens, without a tokeniser of its own.
    """

    name = "tokenised lower-cased BLEU"

    def __init__(self, language: str) -> None:
        self._tokenize = _moses(language)
        self.metric = sacrebleu.BLEU(tokenize="none", force=True, smooth_method="none")

    def prepare(self, sentences: list[str]) -> list[str]:
        """Lower-case and tokenise sentences into space-separated tokens."""
        return [self._tokenize(sentence.lower()) for sentence in sentences]

    def signature(self) -> str:
        """Return sacreBLEU's signature with the tokeniser that was really used; only after something was scored."""
        signature = str(self.metric.get_signature()).replace("case:mixed", "case:lc")
        return signature.replace("tok:none", f"tok:sacremoses-{version('sacremoses')}")


def score_all(hyps: list[str], refs: list[str], target: str) -> list[Score]:
    """Score hypotheses: cased BLEU and chrF as sacreBLEU defines them, and tokenised lower-cased BLEU.

    Args:
        hyps: detokenised translations.
        refs: one detokenised reference each.
        target: language code of both.

    Raises:
        InputError: nothing to score, or not as many references as hypotheses.
    """
    _check_lines(hyps, refs)
    scores = []
    for metric in cased_metrics(target):
        value = metric.corpus_score(hyps, [refs]).score
        scores.append(Score(_name(metric), value, str(metric.get_signature())))
    tokenized = TokenizedBLEU(target)
    value = tokenized.metric.corpus_score(tokenized.prepare(hyps), [tokenized.prepare(refs)]).score
    return [*scores, Score(tokenized.name, value, tokenized.signature())]


def cased_metrics(target: str) -> list[Metric]:
    """Return the metrics that read detokenised text; Japanese in our corpora is already cut into words, so it keeps its tokens."""
    already_tokenized = target == "ja"
    return [sacrebleu.BLEU(tokenize="none" if already_tokenized else "13a", force=already_tokenized), sacrebleu.CHRF()]


def paired_bootstrap(first: list[str], second: list[str], refs: list[str], target: str, num_samples: int = 1000) -> list[Comparison]:
    """Compare two systems on the same sentences by paired bootstrap resampling (Koehn 2004), for every metric of `score_all`.

    The p-value is two-sided: the share of resamples whose difference is at least as far from the mean difference as the true one is
    from zero. (sacreBLEU's own test counts one tail, so its p is about half of this one.) The resamples are the same for all metrics
    and calls.
    """
    _check_lines(first, refs)
    _check_lines(second, refs)
    tokenized = TokenizedBLEU(target)
    prepared = [tokenized.prepare(lines) for lines in (first, second, refs)]
    tests = [(_name(m), m, m.get_signature, (first, second, refs)) for m in cased_metrics(target)]
    tests.append((tokenized.name, tokenized.metric, tokenized.signature, prepared))
    random = np.random.default_rng(BOOTSTRAP_SEED)
    samples = random.integers(len(refs), size=(num_samples, len(refs)))
    return [_compare(name, metric, signature, *lines, samples) for name, metric, signature, lines in tests]


def _compare(name: str, metric: Metric, signature: Callable[[], Any], first, second, refs, samples: np.ndarray) -> Comparison:
    # sacreBLEU keeps per-sentence statistics apart from the score, which makes a resample a sum; it offers them to its own tests only.
    statistics = [np.array(metric._extract_corpus_statistics(lines, [refs])) for lines in (first, second)]
    true = [metric._aggregate_and_compute(s).score for s in statistics]
    resampled = [[metric._compute_score_from_stats(s[sample].sum(axis=0).tolist()).score for sample in samples] for s in statistics]
    differences = np.array(resampled[1]) - np.array(resampled[0])
    observed = abs(true[1] - true[0])
    p = (np.sum(np.abs(differences - differences.mean()) >= observed) + 1) / (len(samples) + 1)
    low, high = np.percentile(differences, [2.5, 97.5])
    return Comparison(name, str(signature()), *true, float(low), float(high), float(p), len(samples))


def as_records(scores: list[Score]) -> list[dict[str, Any]]:
    """Return scores as JSON values, rounded to what a reader can use."""
    return [asdict(score) | {"value": round(score.value, 4)} for score in scores]


def _name(metric: Metric) -> str:
    return {"BLEU": "BLEU", "CHRF": "chrF"}[type(metric).__name__]


@cache
def _moses(language: str):
    from sacremoses import MosesTokenizer

    tokenizer = MosesTokenizer(lang=language)
    return lambda sentence: tokenizer.tokenize(sentence, escape=False, return_str=True)


def _check_lines(hyps: list[str], refs: list[str]) -> None:
    if not refs:
        raise InputError("references", "there is nothing to score", "give at least one sentence")
    if len(hyps) != len(refs):
        raise InputError("hypotheses", f"{len(hyps):,} lines for {len(refs):,} references", "give one hypothesis per reference")
