"""Resample the sentences of a test set (paired bootstrap, Koehn 2004), and score each resample.

All systems have the same resamples.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

BOOTSTRAP_SEED = 12345  # sacreBLEU's own
BLOCKS = 10  # of resamples that are multiplied at a time, which bounds the memory
NUM_SAMPLES = 10_000
"""The standard error over sentences is known from so many to 1 part in 140, one over the root of
twice as many; from 1,000 to 45."""


@lru_cache(maxsize=16)  # a test set, and the bins that it is cut into
def resamples(num_sentences: int, num_samples: int = NUM_SAMPLES) -> np.ndarray:
    """Return how often each resample draws each sentence, `(num_samples, num_sentences)`."""
    random = np.random.default_rng(BOOTSTRAP_SEED)
    # the largest count of any is far below 256
    counts = np.empty((num_samples, num_sentences), np.uint8)
    for row in counts:
        row[:] = np.bincount(
            random.integers(num_sentences, size=num_sentences), minlength=num_sentences
        )
    return counts


Score = Callable[[np.ndarray], np.ndarray]
"""Rows of added-up statistics, `(num_rows, num_statistics)` -> a score each, `(num_rows,)`."""


def bleu_of_resamples(sums: np.ndarray) -> np.ndarray:
    """Return sacreBLEU's corpus BLEU of each resample of the sentences, `(num_samples,)`.

    Args:
        sums: `metrics.CorpusMetric.statistics` of BLEU, `(num_sentences, 10)`.
    """
    return scores_of_resamples(bleu_of_sums, sums)


def scores_of_resamples(score: Score, sums: np.ndarray) -> np.ndarray:
    """Return a corpus score of each resample, `(num_samples,)`.

    Args:
        score: of added-up statistics.
        sums: the statistics of each sentence, `(num_sentences, num_statistics)`.
    """
    return _scores_of_resamples(score, sums.tobytes(), sums.shape, sums.dtype)


@lru_cache(maxsize=200)  # of 120 kB each; the baseline is in most contrasts
def _scores_of_resamples(
    score: Score, sums: bytes, shape: tuple[int, int], dtype: np.dtype
) -> np.ndarray:
    """Return the scores of resamples; kept for the last few calls."""
    # exact in 32 bits: whole numbers far below 2^24
    precise: type[np.floating] = np.float32 if dtype.kind in "iu" else np.float64
    found = np.frombuffer(sums, dtype).reshape(shape).astype(precise)
    blocks = np.array_split(resamples(len(found)), BLOCKS)
    return score(np.concatenate([block.astype(precise) @ found for block in blocks]))


def brevity_of_sums(sums: np.ndarray) -> np.ndarray:
    """Return the brevity penalty of each row of added-up statistics of BLEU, `(num_rows,)`."""
    hyp_len, ref_len = sums.astype(float).T[:2]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.exp(np.minimum(0.0, 1 - ref_len / hyp_len))


def bleu_of_sums(sums: np.ndarray, is_smoothed: bool = True) -> np.ndarray:
    """Return the corpus BLEU of each row of added-up `metrics.CorpusMetric.statistics`.

    Args:
        sums: lengths of hypothesis and reference, n-grams of one to four that match, and that there
            are, `(num_rows, 10)`.
        is_smoothed: whether n-grams without a match count a little, or make the score 0.
    """
    ngrams = sums.astype(float).T[2:]
    matches, totals = np.array(ngrams[:4]), np.array(ngrams[4:])
    with np.errstate(divide="ignore", invalid="ignore"):
        # for the first order without a match half of one counts, then a quarter ...
        halved = is_smoothed * 2.0 ** -np.cumsum(matches == 0, axis=0)
        precisions = np.where(matches == 0, halved, matches) / totals
        scores = 100 * brevity_of_sums(sums) * np.exp(np.log(precisions).mean(axis=0))
    return np.where((matches[0] == 0) | (totals == 0).any(axis=0), 0.0, scores)
