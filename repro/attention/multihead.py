"""Multi-head attention around any variant: values, the weighted sum, head gates, the output projection.

Vaswani et al. 2017, section 3.2.2; gates: Voita et al. 2019, section 6.1. Everything here is shared by all variants; only `weights`
differs.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from repro.attention.base import AttentionWeights, Positions


class Memory(NamedTuple):
    """What a layer attends to, projected once per position: keys (None for variants without keys) and values."""

    key: Tensor | None  # (batch, num_heads, key_len, head_dim)
    value: Tensor  # (batch, num_heads, key_len, head_dim)

    def append(self, later: "Memory", rows: Tensor | None = None) -> "Memory":
        """Return a memory of the given rows (None = all, as they are) with the positions of `later` added at the end."""
        return Memory(None if self.key is None else _grow(self.key, later.key, rows), _grow(self.value, later.value, rows))

    def select(self, rows: Tensor) -> "Memory":
        """Return the memory of the given batch rows."""
        return Memory(None if self.key is None else self.key[rows], self.value[rows])


def _grow(old: Tensor, new: Tensor, rows: Tensor | None) -> Tensor:
    """Pick rows and add positions, in one copy: the dearest memory traffic of beam search.

    The result lies in memory time first, so that the picked rows are written where they stay, and new positions behind them.
    """
    if torch.is_grad_enabled():  # writing into a given tensor has no gradient
        return torch.cat([old if rows is None else old[rows], new], dim=2)
    length = old.shape[2]
    grown = new.new_empty(length + new.shape[2], *new.shape[:2], new.shape[3])  # (len, batch, num_heads, head_dim)
    past = old.permute(2, 0, 1, 3)
    if rows is None:
        grown[:length] = past
    else:
        torch.index_select(past, 1, rows, out=grown[:length])
    grown[length:] = new.permute(2, 0, 1, 3)
    return grown.permute(1, 2, 0, 3)


class MultiHeadAttention(nn.Module):
    """Attend with the weights of a variant.

    Args:
        weights: the variant's module for this layer.
        embed_dim: width of input and output.
        gate: a module that returns a factor per head, such as `HardConcrete`; None = no gates.
    """

    head_scale: Tensor | None
    """Factors laid over a trained model's heads, `(num_heads,)`: 0 masks a head out. None = all 1. Not saved with the model."""

    def __init__(self, weights: AttentionWeights, embed_dim: int, gate: nn.Module | None = None) -> None:
        super().__init__()
        self.weights, self.gate = weights, gate
        width = weights.num_heads * weights.head_dim
        self.value_proj = nn.Linear(embed_dim, width, bias=False)
        self.out_proj = nn.Linear(width, embed_dim, bias=False)
        self.register_buffer("head_scale", None, persistent=False)

    def project(self, attended: Tensor) -> Memory:
        """Project layer inputs `(batch, key_len, embed_dim)` into what can be attended to."""
        value = self.value_proj(attended).unflatten(-1, (self.weights.num_heads, -1)).transpose(1, 2)
        key = self.weights.project_key(attended)
        # Contiguous once here, instead of again at every step that reads it.
        return Memory(None if key is None else key.contiguous(), value.contiguous())

    def forward(self, query: Tensor, memory: Memory, blocked: Tensor, positions: Positions) -> Tensor:
        """Return `(batch, query_len, embed_dim)`; see `AttentionWeights.forward` for the arguments."""
        heads = self.weights.attend(query, memory.key, memory.value, blocked, positions)
        for factors in (self.gate() if self.gate is not None else None, self.head_scale):
            if factors is not None:
                heads = heads * factors.to(heads.dtype)[:, None, None]
        return self.out_proj(heads.transpose(1, 2).flatten(2))  # (batch, query_len, num_heads * head_dim)
