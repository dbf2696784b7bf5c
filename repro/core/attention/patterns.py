"""Position patterns: functions of positions, shared by fixed heads, masks and their detectors.

Every argument is a tensor that broadcasts against the others: `i` the querying position, `j` the
attended one, `n` the length of the sentence. Positions count from 0, in tokens; word patterns count
words instead.
"""

import math

import torch
from torch import Tensor


def gaussian_density(distance: Tensor, std: float) -> Tensor:
    """Return the normal density at each distance from the mean, in tokens.

    It is a density, not a distribution over the keys: rows do not sum to one, and what falls
        outside the sentence is lost.
    """
    return torch.exp(-(distance**2) / (2 * std**2)) / (std * math.sqrt(2 * math.pi))


def at_offset(i: Tensor, j: Tensor, offset: int) -> Tensor:
    """Mark the key `offset` tokens after the query (-1 = the previous token)."""
    return j == i + offset


def within(i: Tensor, j: Tensor, window: int) -> Tensor:
    """Mark the keys at most `window` tokens away on either side."""
    return (j - i).abs() <= window


def not_before(i: Tensor, j: Tensor) -> Tensor:
    """Mark the query's own position and all after it."""
    return j >= i


def not_after(i: Tensor, j: Tensor) -> Tensor:
    """Mark the query's own position and all before it."""
    return j <= i


def cubic_rise(j: Tensor, first: Tensor | int, last: Tensor | int) -> Tensor:
    """Return 1, 8, 27, ... from `first` to `last` and 0 outside.

    It is the left context of Raganato et al. 2020, section 3, before its division by the sum.
    """
    return ((j >= first) & (j <= last)) * (j - first + 1) ** 3


def cubic_fall(j: Tensor, first: Tensor | int, last: Tensor | int) -> Tensor:
    """Return ..., 27, 8, 1 from `first` to `last` and 0 outside: `cubic_rise` turned round."""
    return ((j >= first) & (j <= last)) * (last - j + 1) ** 3
