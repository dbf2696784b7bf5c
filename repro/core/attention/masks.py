"""Masks, all of one polarity: True = may not attend."""

import torch
from torch import Tensor


def padding_mask(ids: Tensor, pad_id: int) -> Tensor:
    """Block padded keys. Shape: `(batch, key_len)` ids -> `(batch, 1, 1, key_len)` bool."""
    return (ids == pad_id)[:, None, None, :]


def causal_mask(query_positions: Tensor, key_len: int) -> Tensor:
    """Block keys after each query.

    Shape: `(query_len,)` absolute positions -> `(1, 1, query_len, key_len)` bool.
    """
    key_positions = torch.arange(key_len, device=query_positions.device)
    return (key_positions > query_positions[:, None])[None, None]


def masked_softmax(scores: Tensor, blocked: Tensor) -> Tensor:
    """Softmax over the allowed keys; blocked keys get exactly 0.

    A row without any allowed key is all zeros.

    A plain softmax over minus infinities would give NaN there, and one NaN row poisons real tokens
    in the next layer.

    Args:
        scores: `(batch, num_heads, query_len, key_len)`.
        blocked: bool, broadcastable to `scores`.
    """
    lowest = torch.finfo(scores.dtype).min
    weights = scores.masked_fill(blocked, lowest).softmax(dim=-1)
    if blocked.device.type == "cpu" and not blocked.all(dim=-1).any():
        return weights  # where any key is allowed, the blocked ones are exactly 0 already
    return weights.masked_fill(blocked, 0.0)
