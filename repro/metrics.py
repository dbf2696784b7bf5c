"""Metrics of summaries and replies: ROUGE from Google's `rouge-score`, and distinct-n.

Both read English: words are runs of letters a to z and digits, lower-cased, as the tokeniser of `rouge-score` cuts them.
"""

from collections.abc import Sequence
from importlib.metadata import version

from sacrebleu.metrics.base import Metric, Score, Signature
from sacrebleu.utils import sum_of_lists

VERSION = f"rouge-score-{version('rouge-score')}"


class RougeSignature(Signature):
    """How a ROUGE score was made, in sacreBLEU's form."""

    def __init__(self, args: dict) -> None:
        super().__init__(args)
        self.info |= {"case": "lc", "tok": "a-z0-9", "stem": "porter", "score": "mean-f1", "version": VERSION}


class Rouge(Metric):
    """ROUGE (Lin 2004), built like sacreBLEU's own metrics: its statistics of a text are the F1 and a count of one.

    Words are stemmed, as in the evaluations of CNN/DailyMail that run ROUGE-1.5.5 with ``-m``. The score of a corpus is the mean of the
    F1 of its texts, in percent. A text is one sequence to ROUGE-L; "summary-level" ROUGE-L, which matches each sentence by itself, is a
    higher number.

    Args:
        kind: `rouge1` (shared words), `rouge2` (shared pairs of words) or `rougeL` (longest common subsequence).
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

    def _compute_segment_statistics(self, hypothesis: str, ref_kwargs: dict[str, str]) -> list[float]:
        return [self._scorer.score(ref_kwargs["reference"], hypothesis)[self.kind].fmeasure, 1]

    def _compute_score_from_stats(self, stats: list[float]) -> Score:
        total, count = stats
        return Score(self.kind, 100 * total / count)

    def _aggregate_and_compute(self, stats: list[list[float]]) -> Score:
        return self._compute_score_from_stats(sum_of_lists(stats))


class Distinct:
    """distinct-n (Li et al. 2016, section 5): the different n-grams of all texts per 100 words of them; no reference is looked at.

    It is no sum over texts, so no bootstrap is made of it.
    """

    def __init__(self, n: int) -> None:
        from rouge_score.tokenizers import DefaultTokenizer

        self.n, self.name = n, f"distinct-{n}"
        self._tokenizer = DefaultTokenizer(use_stemmer=False)

    def read(self, _refs: list[str]) -> None:
        """Read no references, as a metric that looks at none."""

    def score(self, hyps: list[str]) -> float:
        """Return the share in percent; 0 where there is no word."""
        from nltk.util import ngrams

        texts = [self._tokenizer.tokenize(text) for text in hyps]
        num_words = sum(map(len, texts))
        return 100 * len({gram for words in texts for gram in ngrams(words, self.n)}) / num_words if num_words else 0.0

    def signature(self) -> str:
        """Return how the score is made."""
        return f"case:lc|tok:a-z0-9|n:{self.n}|per:100-words|version:{VERSION}"
