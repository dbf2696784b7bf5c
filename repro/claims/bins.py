"""Bins of a test set by a number of each sentence, such as its length, and trends over them."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

MIN_SENTENCES = 30  # of a bin: fewer give no useful interval


class Bin(NamedTuple):
    """A bin: its range in words, the mean of its numbers, and the indices of its sentences."""

    name: str
    mean: float
    sentences: list[int]


def into_bins(numbers: Sequence[float], edges: Sequence[float]) -> list[Bin]:
    """Sort test sentences into the bins of a claim, by a number of each such as its length.

    Args:
        numbers: one per sentence.
        edges: a bin includes its lower edge and excludes its upper one. A bin of fewer than
            `MIN_SENTENCES` sentences is joined with a neighbour.
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
    """Return the edges of bins of equally many test sentences; equal numbers stay together."""
    inner = np.quantile(numbers, np.arange(1, parts) / parts)
    return sorted({float(min(numbers)), *inner.tolist(), float(max(numbers) + 1)})


def slope_weights(means: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the weight of each bin in a claim's slope: that of the least-squares line.

    Every sentence counts the same, so a small bin has little weight. Bins that keep equal numbers
    together differ in size.

    Args:
        means: the mean number of each bin, `(num_bins,)`.
        sizes: its sentences, `(num_bins,)`.
    """
    centred = means - np.average(means, weights=sizes)
    return sizes * centred / (sizes * centred**2).sum()


def last_minus_first(means: np.ndarray, _sizes: np.ndarray) -> np.ndarray:
    """Return the weight of each bin in a claim's trend: the last bin minus the first."""
    weights = np.zeros(len(means))
    weights[0], weights[-1] = -1.0, 1.0
    return weights


def _joined(numbers: np.ndarray, edges: Sequence[float]) -> list[float]:
    """Remove the edges that leave too few test sentences in a bin of a claim."""
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
    """Name a bin of a claim by its whole numbers; None = no upper end."""
    least = math.ceil(low)
    if high is None:
        return f"{least} or more"
    most = math.ceil(high) - 1
    return f"{least} to {most}" if most > least else str(least)
