"""Position patterns: pure functions of positions, shared by hard-coded heads and the detectors of such heads."""

import math

import torch
from torch import Tensor


def gaussian_density(query_positions: Tensor, key_len: int, center: float, std: float) -> Tensor:
    """Return the normal density of every key position around `query position + center`.

    It is a density, not a distribution over the keys: rows do not sum to one, and what falls outside the sentence is lost.

    Args:
        query_positions: absolute positions, `(query_len,)`.
        key_len: number of keys; their positions are 0 .. key_len - 1.
        center: offset of the mean from the query's own position, in tokens (-1 = the previous token).
        std: standard deviation in tokens.

    Returns:
        `(query_len, key_len)`, float32 (float64 when that is torch's default).
    """
    key_positions = torch.arange(key_len, device=query_positions.device)
    distance = (key_positions - query_positions[:, None] - center).to(torch.get_default_dtype())
    return torch.exp(-(distance**2) / (2 * std**2)) / (std * math.sqrt(2 * math.pi))
