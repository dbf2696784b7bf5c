"""Resamples of the sentences of a test set, the same for all systems (paired bootstrap, Koehn 2004), and the BLEU of each."""

from functools import lru_cache

import numpy as np

BOOTSTRAP_SEED = 12345  # sacreBLEU's own
BLOCKS = 10  # of resamples that are multiplied at a time, which bounds the memory
NUM_SAMPLES = 10_000
"""The standard error over sentences is known from so many to 1 part in 140, one over the root of twice as many; from 1,000 to 45."""


@lru_cache(maxsize=16)  # a test set, and the bins that it is cut into
def resamples(num_sentences: int, num_samples: int = NUM_SAMPLES) -> np.ndarray:
    """Return how often each resample draws each sentence, `(num_samples, num_sentences)`; the same for every call."""
    random = np.random.default_rng(BOOTSTRAP_SEED)
    # the largest count of any is far below 256
    counts = np.empty((num_samples, num_sentences), np.uint8)
    for row in counts:
        row[:] = np.bincount(
            random.integers(num_sentences, size=num_sentences), minlength=num_sentences
        )
    return counts


def bleu_of_resamples(sums: np.ndarray) -> np.ndarray:
    """Return the corpus BLEU of each resample, `(num_samples,)`: sacreBLEU's with its default smoothing, for all at once.

    Args:
        sums: `metrics.CorpusMetric.statistics` of BLEU, `(num_sentences, 10)`.
    """
    return _bleu_of_resamples(sums.tobytes(), sums.shape, sums.dtype)


@lru_cache(maxsize=1000)  # the baseline is in most contrasts
def _bleu_of_resamples(sums: bytes, shape: tuple[int, int], dtype: np.dtype) -> np.ndarray:
    found = np.frombuffer(sums, dtype).reshape(shape).astype(np.float32)
    blocks = np.array_split(resamples(len(found)), BLOCKS)
    # exact: whole numbers far below 2^24
    return bleu_of_sums(np.concatenate([block.astype(np.float32) @ found for block in blocks]))


def bleu_of_sums(sums: np.ndarray) -> np.ndarray:
    """Return the corpus BLEU of each row of added-up `metrics.CorpusMetric.statistics`.

    Args:
        sums: lengths of hypothesis and reference, n-grams of one to four that match, and that there
            are, `(num_rows, 10)`.
    """
    hyp_len, ref_len, *ngrams = sums.astype(float).T
    matches, totals = np.array(ngrams[:4]), np.array(ngrams[4:])
    with np.errstate(divide="ignore", invalid="ignore"):
        # for the first order without a match half of one counts, then a quarter ...
        halved = 2.0 ** -np.cumsum(matches == 0, axis=0)
        precisions = np.where(matches == 0, halved, matches) / totals
        brevity = np.exp(np.minimum(0.0, 1 - ref_len / hyp_len))
        scores = 100 * brevity * np.exp(np.log(precisions).mean(axis=0))
    return np.where((matches[0] == 0) | (totals == 0).any(axis=0), 0.0, scores)
