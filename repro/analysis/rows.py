r"""Measure single rows of attention weights: visible pairs, largest weight, entropy, divergence.

- Zeng et al.: Recurrent Attention for Neural Machine Translation, EMNLP 2021, equation 5 (entropy)
  and Figure 7 (Jensen-Shannon divergence, after Lin 1991).
- You, Sun, Iyyer: Hard-Coded Gaussian Attention for Neural Machine Translation, ACL 2020, section
  6.2 (off-diagonality). https://arxiv.org/abs/2005.00742

    E(w) = -sum_j w[j] ln w[j]        JSD(p, q) = E((p + q) / 2) - (E(p) + E(q)) / 2

`heads.py` sums these over a corpus and lists our choices where the papers are silent.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from repro.core.subwords import EOS_ID, PAD_ID

OFF_DIAGONAL = 2  # tokens; You et al. 2020, section 6.2


def is_token(ids: Tensor) -> Tensor:
    """Return which ids have attention of interest: neither padding nor the end mark.

    The end mark "is not a real token" (Voita et al. 2019, section 4).
    """
    return (ids != PAD_ID) & (ids != EOS_ID)


def visible_pairs(site: str, query_ids: Tensor, key_ids: Tensor, end_mark: bool) -> Tensor:
    """Return which queries may attend to which keys, without padding, for analysis.

    Args:
        site: `encoder_self`, `decoder_self` (no later keys) or `cross`.
        query_ids, key_ids: `(batch, query_len)` and `(batch, key_len)`.
        end_mark: whether to include the end mark, as query and as key.

    Returns:
        bool, `(batch, query_len, key_len)`.
    """
    queries, keys = ((ids != PAD_ID) if end_mark else is_token(ids) for ids in (query_ids, key_ids))
    pairs = queries[:, :, None] & keys[:, None, :]
    return pairs.tril() if site == "decoder_self" else pairs


def offsets(pairs: Tensor) -> Tensor:
    """Return key minus query position, in tokens, in the shape of `pairs`."""
    query_len, key_len = pairs.shape[-2:]
    keys, queries = (
        torch.arange(key_len, device=pairs.device),
        torch.arange(query_len, device=pairs.device),
    )
    return (keys - queries[:, None]).expand_as(pairs)


def strongest_keys(weights: Tensor, pairs: Tensor) -> tuple[Tensor, Tensor]:
    """Return the key of the largest weight of each row, the first of equal ones, and that weight.

    The weight is 0 for a row without any.

    Args:
        weights: `(batch, num_heads, query_len, key_len)`.
        pairs: the pairs to consider, `(batch, query_len, key_len)`.

    Returns:
        Both `(batch, num_heads, query_len)`.
    """
    weights = weights.where(pairs[:, None], 0.0)
    keys = weights.argmax(dim=-1)
    return keys, weights.gather(-1, keys[..., None])[..., 0]


def entropy(weights: Tensor) -> Tensor:
    """Return the entropy of each row of attention in nats, `(..., key_len)` -> `(...)`.

    Rows are normalized first. A row of zeros, or with a weight below zero, has none: NaN.
    """
    weights = weights.where(weights >= 0, torch.nan)
    return _entropy(weights / weights.sum(dim=-1, keepdim=True))


def _entropy(shares: Tensor) -> Tensor:
    """Return the entropy of attention rows that sum to one; NaN for a negative share."""
    return torch.special.entr(shares.where(shares >= 0, torch.nan)).sum(dim=-1)


def mean_over_heads(weights: Tensor, pairs: Tensor) -> Tensor:
    """Return the mean of the normalized rows of those heads that have any weight, and none below 0.

    Args:
        weights, pairs: as in `strongest_keys`.

    Returns:
        Rows that sum to one, `(batch, query_len, key_len)`; NaN where there is no such head.
    """
    weights = weights.where(pairs[:, None], 0.0)
    weights = weights.where(weights >= 0, torch.nan)
    return (weights / weights.sum(dim=-1, keepdim=True)).nanmean(dim=1)


def jensen_shannon(first: Tensor, second: Tensor) -> Tensor:
    """Return the Jensen-Shannon divergence of attention rows, in nats, at most ln 2.

    Shape: `(..., key_len)` twice -> `(...)`; NaN where a weight is below zero.
    """
    mixed = _entropy((first + second) / 2)
    apart = (_entropy(first) + _entropy(second)) / 2
    return (mixed - apart).clamp_min(0.0)  # rounding may make it less


def off_diagonal(
    layers: Sequence[Tensor | None], site: str, query_ids: Tensor, key_ids: Tensor
) -> Tensor:
    """Return for each token whether its attention is strongest two or more positions away.

    Args:
        layers: the weights of every layer, `(batch or 1, num_heads, query_len, key_len)`; None
            where the sublayer is missing.
        site, query_ids, key_ids: as in `visible_pairs`.

    Returns:
        1 or 0, NaN for padding, end marks and rows of zeros, `(batch, query_len)`. The mean of a
        row, without NaN, is the off-diagonality of its sentence.
    """
    pairs = visible_pairs(site, query_ids, key_ids, end_mark=False)
    heads = torch.cat(
        [
            weights.double().expand(len(query_ids), -1, -1, -1)
            for weights in layers
            if weights is not None
        ],
        dim=1,
    )
    keys, largest = strongest_keys(heads.mean(dim=1, keepdim=True), pairs)
    distances = offsets(pairs).gather(-1, keys[:, 0, :, None])[..., 0].abs()
    return torch.where(largest[:, 0] > 0, (distances >= OFF_DIAGONAL).double(), torch.nan)
