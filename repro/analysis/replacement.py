r"""Replacement: change the weights of one head of a trained model, without training it again.

Raganato et al. 2020 and You et al. 2020 train models around fixed heads. Here the model is already
trained, and only the weights of one head are replaced: by those of any variant, or by its own with
further pairs blocked. The head keeps its values and its part of the output projection, which were
learned for its own weights. So this shows how much a head depends on its weights, which differs
from the papers' measure.

    head_h = w_h V_h    becomes    head_h = w'_h V_h

Layers, heads and positions are counted from 0.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor
from torch.nn import functional as F

from repro.analysis.ablation import attention_with
from repro.core.attention.base import AttentionWeights, Positions
from repro.core.transformer import Transformer
from repro.errors import InputError, check_kind


class Replaced(AttentionWeights):
    """The weights of a layer, with those of one head replaced.

    Args:
        layer: computes the weights of the whole layer.
        head: the head to replace.
        other: computes the weights of one head; None = the head's own.
        also_blocked: bool, True = the head may not attend, `(query_len, key_len)` by absolute
            positions; positions beyond it are not blocked.
    """

    def __init__(
        self,
        layer: AttentionWeights,
        head: int,
        other: AttentionWeights | None,
        also_blocked: Tensor | None,
    ) -> None:
        super().__init__(layer.num_heads, layer.head_dim)
        self.layer, self.head, self.other, self.also_blocked, self.max_len = (
            layer,
            head,
            other,
            also_blocked,
            layer.max_len,
        )

    def project_key(self, key: Tensor, positions: Tensor) -> Tensor | None:
        return self.layer.project_key(key, positions)

    def forward(
        self, query: Tensor, key: Tensor | None, blocked: Tensor, positions: Positions
    ) -> Tensor:
        weights = self.layer(query, key, blocked, positions)
        if self.also_blocked is not None:
            blocked = blocked | self._blocked_pairs(positions.query, blocked.shape[-1])
        if self.other is None:
            row = self.layer(query, key, blocked, positions)[:, self.head]
        else:
            row = self.other(query, None, blocked, positions)[:, 0]
        weights = weights.expand(max(len(weights), len(row)), -1, -1, -1).clone()
        weights[:, self.head] = row
        return weights

    def _blocked_pairs(self, query_positions: Tensor, key_len: int) -> Tensor:
        """Return the additionally blocked pairs of these queries and keys."""
        assert self.also_blocked is not None
        rows, columns = self.also_blocked.shape
        missing_rows = max(0, int(query_positions.max()) + 1 - rows)
        pairs = F.pad(self.also_blocked, (0, max(0, key_len - columns), 0, missing_rows))
        return pairs.to(query_positions.device)[query_positions, :key_len]


@contextmanager
def replaced_head(
    model: Transformer,
    site: str,
    layer: int,
    head: int,
    weights: AttentionWeights | None = None,
    also_blocked: Tensor | None = None,
) -> Iterator[None]:
    """Replace the weights of one head of a model within a block, then restore its own.

    They are restored after an error too. Blocks may be nested.

    Args:
        model: changed in place.
        site, layer, head: the head to replace.
        weights: computes the weights of one head without keys, such as `Gaussian((-1,), ...)`;
            None = the head's own weights.
        also_blocked: bool, True = this head may not attend, in addition to the mask, `(query_len,
            key_len)` by absolute positions. As for every blocked pair, a softmax divides by the
            rest of the row, and a Gaussian loses the mass.

    Raises:
        InputError: an unknown head, or weights of more than one head or with keys.
    """
    attention = attention_with(model, site, layer, head)
    if weights is not None:
        _check_replacement(weights, attention.value_proj.in_features)
    if also_blocked is not None and (also_blocked.dtype != torch.bool or also_blocked.dim() != 2):
        raise InputError(
            "also_blocked",
            f"is {also_blocked.dtype} of {also_blocked.dim()} dimensions",
            "give bool, (query_len, key_len)",
        )
    before = attention.weights
    try:
        attention.weights = Replaced(before, head, weights, also_blocked)
        yield
    finally:
        attention.weights = before


def _check_replacement(weights: AttentionWeights, width: int) -> None:
    """Refuse weights of several heads, or with keys: the keys of the layer belong to its own heads.

    Args:
        weights: the new weights.
        width: of the layer input.
    """
    check_kind(
        "weights", weights, "give those of one layer, as in Gaussian((-1,), ...)", AttentionWeights
    )
    if weights.num_heads != 1:
        raise InputError("weights", f"make {weights.num_heads} heads", "give weights of one head")
    like = next(weights.parameters(), torch.zeros(()))
    try:
        first = torch.zeros(1, dtype=torch.long, device=like.device)
        has_keys = weights.project_key(like.new_zeros(1, 1, width), first) is not None
    except RuntimeError:  # keys of another width; a variant without keys accepts any
        has_keys = True
    if has_keys:
        what = (
            f"of {type(weights).__name__} are made from keys, and those of the layer belong to "
            "its own heads"
        )
        raise InputError(
            "weights", what, "give weights without keys, such as Gaussian, Fixed or Uniform"
        )
