"""The metrics of every task: BLEU and chrF, ROUGE from Google's `rouge-score`, distinct-n.

All but distinct-n are read as sums over texts. ROUGE and distinct-n read English: words are runs
of letters a to z and digits, lower-cased, as the tokeniser of `rouge-score` cuts them.
"""

import sys
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib.metadata import version

import numpy as np
import sacrebleu
from sacrebleu.metrics.base import Metric, Score, Signature
from sacrebleu.utils import sum_of_lists

from repro.data.characters import separators_to_blanks
from repro.errors import InputError, check_kind, did_you_mean
from repro.statistics.scripts import (
    ALPHABETS,
    HAN,
    JAPANESE,
    disagreement,
    is_cut_into_words,
    unspaced_kind,
)

TOKENIZERS = {HAN: "zh", JAPANESE: "char", ALPHABETS: "char"}
"""Kind of text without blanks between words -> sacreBLEU's tokeniser for it."""
MOSES_CODES = {HAN: "zh", JAPANESE: "ja"}
"""Kind of text -> the code by which Moses knows its letters, whatever the files call it."""

TOKENISED = "tokenised lower-cased BLEU"
VERSION = f"rouge-score-{version('rouge-score')}"


class RougeSignature(Signature):
    """How a ROUGE score was made, in sacreBLEU's form."""

    def __init__(self, args: dict) -> None:
        super().__init__(args)
        self.info |= {
            "case": "lc",
            "tok": "a-z0-9",
            "stem": "porter",
            "score": "mean-f1",
            "version": VERSION,
        }


class Rouge(Metric):
    """ROUGE (Lin 2004), built like sacreBLEU's own metrics.

    Its statistics of a text are the F1 and a count of one. The score of a corpus is the mean of the
    F1 of its texts, in percent. Words are stemmed, as in the evaluations of CNN/DailyMail that run
    ROUGE-1.5.5 with ``-m``. A text is one sequence to ROUGE-L; "summary-level" ROUGE-L, which
    matches each sentence by itself, is a higher number.

    Args:
        kind: `rouge1` (shared words), `rouge2` (shared pairs of words) or `rougeL` (longest common
            subsequence).
    """

    _SIGNATURE_TYPE = RougeSignature

    def __init__(self, kind: str) -> None:
        super().__init__()
        from rouge_score.rouge_scorer import RougeScorer  # imports nltk, which takes a second

        self.kind, self._scorer = kind, RougeScorer([kind], use_stemmer=True)

    def _preprocess_segment(self, sent: str) -> str:
        return sent

    def _extract_reference_info(self, refs: Sequence[str]) -> dict[str, str]:
        return {"reference": refs[0]}

    def _compute_segment_statistics(
        self, hypothesis: str, ref_kwargs: dict[str, str]
    ) -> list[float]:
        return [self._scorer.score(ref_kwargs["reference"], hypothesis)[self.kind].fmeasure, 1]

    def _compute_score_from_stats(self, stats: list[float]) -> Score:
        total, count = stats
        return Score(self.kind, 100 * total / count)

    def _aggregate_and_compute(self, stats: list[list[float]]) -> Score:
        return self._compute_score_from_stats(sum_of_lists(stats))


class Distinct:
    """distinct-n (Li et al. 2016, section 5): the different n-grams of all texts per 100 words.

    No reference is looked at. It is not a sum over texts, so no bootstrap is made of it.
    """

    def __init__(self, n: int) -> None:
        from rouge_score.tokenizers import DefaultTokenizer

        self.n, self.name = n, f"distinct-{n}"
        self._tokenizer = DefaultTokenizer(use_stemmer=False)

    def read(self, _refs: list[str]) -> None:
        """Read no references: the metric looks at none."""

    def score(self, hyps: list[str]) -> float:
        """Return the share of distinct n-grams in percent; 0 where there is no word."""
        from nltk.util import ngrams

        texts = [self._tokenizer.tokenize(text) for text in hyps]
        num_words = sum(map(len, texts))
        return (
            100 * len({gram for words in texts for gram in ngrams(words, self.n)}) / num_words
            if num_words
            else 0.0
        )

    def signature(self) -> str:
        """Return the signature of the score: version and n."""
        return f"case:lc|tok:a-z0-9|n:{self.n}|per:100-words|version:{VERSION}"


class CorpusMetric:
    """A metric whose score of a corpus follows from sums over its texts.

    These sums make a resample cheap.

    Args:
        name: how tables call it.
        metric: one of sacreBLEU's, or built like those.
    """

    def __init__(self, name: str, metric: Metric) -> None:
        self.name, self.metric = name, metric

    def prepare(self, texts: list[str]) -> list[str]:
        """Return texts as the metric reads them.

        U+200B, by which some references tell words apart, becomes a blank, as in hypotheses.
        """
        return list(map(separators_to_blanks, texts))

    def read(self, refs: list[str]) -> None:
        """Count the n-grams of references, once for all the hypotheses to come."""
        # What the constructors of sacreBLEU's metrics do with references; ours must be prepared
        # first.
        self._refs = self.metric._cache_references([self.prepare(refs)])
        # for each reference, what was counted of every text that met it
        self._rows: list[dict[str, list[float]]] = [{} for _ in refs]

    def score(self, hyps: list[str]) -> float:
        """Return the score of a corpus against the references that were read."""
        return self.metric._aggregate_and_compute(self._count(hyps)).score

    def statistics(self, hyps: list[str]) -> np.ndarray:
        """Return what a score is computed from, `(num_texts, num_statistics)`.

        The rows of any selection of texts add up to what its score is computed from.
        """
        return np.array(self._count(hyps))

    def _count(self, hyps: list[str]) -> list[list[float]]:
        """Count the statistics of each text once, since systems often say the same."""
        new = [place for place, text in enumerate(hyps) if text not in self._rows[place]]
        if new:
            # sacreBLEU keeps these sums apart from the score, which makes a resample a sum; it
            # offers them to its own tests only.
            self.metric._ref_cache = [self._refs[place] for place in new]
            counted = self.metric._extract_corpus_statistics(
                self.prepare([hyps[place] for place in new]), None
            )
            for place, row in zip(new, counted, strict=True):
                self._rows[place][hyps[place]] = row
        return [rows[text] for rows, text in zip(self._rows, hyps, strict=True)]

    def signature(self) -> str:
        """Return the signature of the score; only after references were read."""
        return str(self.metric.get_signature())


class MosesBLEU(CorpusMetric):
    """Tokenised, lower-cased BLEU, as in papers that score Moses tokens with multi-bleu.

    The tokeniser is sacremoses, without escaping. The score is sacreBLEU's on the tokens, without
    a tokeniser of its own.
    """

    def __init__(self, language: str) -> None:
        super().__init__(
            TOKENISED, sacrebleu.BLEU(tokenize="none", force=True, smooth_method="none")
        )
        self._tokenize = _moses(language)

    def prepare(self, sentences: list[str]) -> list[str]:
        """Lower-case and tokenise sentences for BLEU into space-separated tokens."""
        return [self._tokenize(sentence.lower()) for sentence in sentences]

    def signature(self) -> str:
        """Return sacreBLEU's signature with the tokeniser that was really used."""
        return (
            super()
            .signature()
            .replace("case:mixed", "case:lc")
            .replace("tok:none", f"tok:sacremoses-{version('sacremoses')}")
        )


def bleu_for(target: str, refs: Sequence[str]) -> CorpusMetric:
    """Return cased BLEU with the tokeniser that fits the references.

    It is sacreBLEU's default, or what `unspaced_tokenizer` says.
    """
    tokenizer = unspaced_tokenizer(target, refs) or "13a"
    # sacreBLEU warns of hypotheses cut into words and marks: a slip where the references are not,
    # and as it should be where they are.
    is_cut = tokenizer == "none" or 2 * sum(ref.rstrip().endswith(" .") for ref in refs) > len(refs)
    return CorpusMetric("BLEU", sacrebleu.BLEU(tokenize=tokenizer, force=is_cut))


def tokenised_bleu_for(target: str, refs: Sequence[str]) -> CorpusMetric:
    """Return tokenised lower-cased BLEU.

    Moses knows no words where none are marked, so there the tokeniser is that of `bleu_for`.
    """
    tokenizer = unspaced_tokenizer(target, refs) or "none"
    if tokenizer == "none":
        kind = unspaced_kind(refs, target)
        return MosesBLEU(MOSES_CODES.get(kind, target) if kind else target)
    return CorpusMetric(
        TOKENISED, sacrebleu.BLEU(tokenize=tokenizer, lowercase=True, smooth_method="none")
    )


def unspaced_tokenizer(target: str, refs: Sequence[str]) -> str | None:
    """Return sacreBLEU's tokeniser for references without blanks between words, else None.

    It is `none` where they were cut into words beforehand. The letters decide, not the name of the
    language: files call Chinese `zh`, `cn`, `chs` or `lzh`.
    """
    kind = unspaced_kind(refs, target)
    return kind and ("none" if is_cut_into_words(refs, kind) else TOKENIZERS[kind])


METRICS: dict[str, Callable[[str, Sequence[str]], list[CorpusMetric | Distinct]]] = {
    "translation": lambda *text: [
        bleu_for(*text),
        CorpusMetric("chrF", sacrebleu.CHRF()),
        tokenised_bleu_for(*text),
    ],
    "summarisation": lambda *_: [
        *map(
            CorpusMetric,
            ("ROUGE-1", "ROUGE-2", "ROUGE-L"),
            map(Rouge, ("rouge1", "rouge2", "rougeL")),
        )
    ],
    "dialogue": lambda *_: [
        *map(CorpusMetric, ("BLEU", "ROUGE-L"), (sacrebleu.BLEU(), Rouge("rougeL"))),
        Distinct(1),
        Distinct(2),
    ],
}
"""The task of a corpus -> what its hypotheses are scored with, given language and text of the
references (all but translations are English)."""


# the systems of a table share a few test sets, and references are half the work of a score
@lru_cache(maxsize=16)
def metrics_for(task: str, target: str, refs: tuple[str, ...]) -> list[CorpusMetric | Distinct]:
    """Return the metrics of a task, which have read the references.

    Raises:
        InputError: an unknown task.
    """
    if task not in METRICS:
        raise InputError("task", f"unknown task '{task}'", did_you_mean(task, METRICS))
    check_kind("target", target, "give the language code of the references, as in 'de'", str)
    if task == "translation" and (doubt := disagreement(refs, target)):
        print(f"scores: {doubt}; the tokeniser is chosen by the letters", file=sys.stderr)
    metrics = METRICS[task](target, refs)
    for metric in metrics:
        metric.read(list(refs))
    return metrics


def score_of_sums(metric: Metric, sums: np.ndarray) -> float:
    """Return the corpus score of added-up `CorpusMetric.statistics`."""
    return metric._compute_score_from_stats(sums.tolist()).score


@cache
def scorer_of(name: str) -> Metric:
    """Return the metric of that name for added-up statistics, which need no references."""
    if name == "BLEU":
        return sacrebleu.BLEU()
    if name == "chrF":
        return sacrebleu.CHRF()
    if name == TOKENISED:
        return sacrebleu.BLEU(smooth_method="none")
    return Rouge({"ROUGE-1": "rouge1", "ROUGE-2": "rouge2", "ROUGE-L": "rougeL"}[name])


@cache
def _moses(language: str):
    """Return the Moses tokeniser of a language, for tokenised BLEU."""
    from sacremoses import MosesTokenizer  # takes long to import, and few scores need it

    tokenizer = MosesTokenizer(lang=language)
    return lambda sentence: tokenizer.tokenize(sentence, escape=False, return_str=True)
