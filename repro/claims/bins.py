"""Parts of a test set by a whole number of each sentence, such as its length, and trends over them."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

MIN_SENTENCES = 30  # of a bin: an interval from a handful says nothing


class Bin(NamedTuple):
    """Sentences with similar numbers: which numbers, in words; their mean; the sentences."""

    name: str
    mean: float
    sentences: list[int]


def into_bins(numbers: Sequence[float], edges: Sequence[float]) -> list[Bin]:
    """Sort sentences by their numbers.

    Args:
        numbers: one a sentence.
        edges: bins are from one edge, included, to the next, excluded; those of fewer than
            `MIN_SENTENCES` are joined with a neighbour.
    """
    numbers = np.asarray(numbers)
    bins = []
    for low, high in pairwise(_joined(numbers, edges)):
        inside = np.flatnonzero((low <= numbers) & (numbers < high))
        bins.append(
            Bin(
                _name(low, None if high == edges[-1] else high),
                float(numbers[inside].mean()),
                inside.tolist(),
            )
        )
    return bins


def equal_parts(numbers: Sequence[float], parts: int) -> list[float]:
    """Return edges that cut numbers into parts of equal size, as far as equal numbers stay together."""
    inner = np.quantile(numbers, np.arange(1, parts) / parts)
    return sorted({float(min(numbers)), *inner.tolist(), float(max(numbers) + 1)})


def slope_weights(means: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the weights that make the sum over bins the slope of the least-squares line, in which every sentence counts the same.

    Args:
        means: the mean number of each bin, `(num_bins,)`.
        sizes: its sentences, `(num_bins,)`. Bins that keep equal numbers together are of unequal
            sizes, and a small one tells less.
    """
    centred = means - np.average(means, weights=sizes)
    return sizes * centred / (sizes * centred**2).sum()


def last_minus_first(means: np.ndarray, _sizes: np.ndarray) -> np.ndarray:
    """Return the weights that make the sum over bins the last one minus the first."""
    weights = np.zeros(len(means))
    weights[0], weights[-1] = -1.0, 1.0
    return weights


def _joined(numbers: np.ndarray, edges: Sequence[float]) -> list[float]:
    """Return the edges without those that begin a bin of too few sentences, or would leave too few before or after them."""
    first, *inner, last = edges
    kept = [first]
    for edge in inner:
        before, after = (
            ((low <= numbers) & (numbers < high)).sum()
            for low, high in ((kept[-1], edge), (edge, last))
        )
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
