r"""Fixed patterns as the paper defines them: seven of eight encoder heads are fixed, one learns.

Raganato, Scherrer, Tiedemann: Fixed Encoder Self-Attention Patterns in Transformer-Based Machine
Translation, Findings of EMNLP 2020, section 3. https://arxiv.org/abs/2002.10260

    current   1 at j = i           left    f(j) over 0 .. i - 2       end     f(j) over 0 .. n - 1
    previous  1 at j = i - 1       right   f(j) over i + 2 .. n - 1   start   f(j) over n - 1 .. 0
    next      1 at j = i + 1       last    1 at j = n - 1             f cubic, divided by its sum

Paper -> here: the names of the heads -> `patterns`. In word patterns i, j, n count words, and all
pieces of a word get the same. A pattern without a target (the token before the first) is a row of
zeros, so rows do not sum to one. In a decoder n is the number of visible tokens: patterns end where
the future begins.

The options of `fixed(...)`, and what the paper leaves open, are in `fixed_variants.py`. Learned
parameters in the weights: 2 embed_dim head_dim per learned head and layer.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from repro.core.attention.base import AttentionWeights, Positions
from repro.core.attention.dot_product import DotProduct
from repro.core.attention.patterns import at_offset, cubic_fall, cubic_rise
from repro.errors import InputError, did_you_mean

PATTERNS = ("current", "previous", "next", "left", "right", "end", "start")


def pattern(name: str, i: Tensor, j: Tensor, n: Tensor) -> Tensor:
    """Return a pattern before its division by the sum; `i`, `j` and `n` broadcast."""
    match name:
        case "current" | "previous" | "next":
            return at_offset(i, j, ("previous", "current", "next").index(name) - 1)
        case "first" | "last":
            return j == (0 if name == "first" else n - 1)
        case "left":
            return cubic_rise(j, 0, i - 2)
        case "right":
            return cubic_rise(j, i + 2, n - 1)
        case "end":
            return cubic_rise(j, 0, n - 1)
        case "start":
            return cubic_fall(j, 0, n - 1)
    raise InputError(
        "patterns", f"unknown pattern '{name}'", did_you_mean(name, [*PATTERNS, "first", "last"])
    )


class Fixed(AttentionWeights):
    """Fixed heads, then learned ones.

    Args:
        patterns: names of the fixed heads.
        learned: dot-product attention for the heads after them, or None.
        head_dim: width of a head.
        unit: whether positions count tokens or words, `token` or `word`.
        dropout: probability of dropping a learned weight in training.
    """

    def __init__(
        self,
        patterns: tuple[str, ...],
        learned: DotProduct | None,
        head_dim: int,
        unit: str = "token",
        dropout: float = 0.0,
    ) -> None:
        super().__init__(len(patterns) + (learned.num_heads if learned else 0), head_dim)
        self.rows_sum_to_one = not patterns  # a pattern may have no target
        self.patterns, self.learned, self.unit, self.dropout = patterns, learned, unit, dropout

    def project_key(self, key: Tensor, positions: Tensor) -> Tensor | None:
        return self.learned.project_key(key, positions) if self.learned else None

    def fixed_weights(self, blocked: Tensor, positions: Positions, dtype: torch.dtype) -> Tensor:
        """Return the weights of the fixed heads, `(batch or 1, heads, query_len, key_len)`."""
        tokens = torch.arange(blocked.shape[-1], device=blocked.device)[None]
        words = positions.words if self.unit == "word" else tokens
        if words is None:
            what = "the words of the subwords are not known"
            raise InputError("fixed(unit='word')", what, "give them (`words`), or use unit='token'")
        i, j = words[:, None, positions.query, None], words[:, None, None, :]
        n = (j + 1).masked_fill(blocked, 0).amax(-1, keepdim=True)  # words that are visible
        heads = []
        for name in self.patterns:
            values = self.values(name, i, j, n, blocked)
            weights = values / self.totals(values, j).clamp_min(1)
            heads.append(weights.expand(-1, -1, len(positions.query), -1))
        return torch.cat(torch.broadcast_tensors(*heads), dim=1).to(dtype)

    def values(self, name: str, i: Tensor, j: Tensor, n: Tensor, blocked: Tensor) -> Tensor:
        """Return a pattern before its division, 0 where blocked."""
        return pattern(name, i, j, n).double().masked_fill(blocked, 0)

    def totals(self, values: Tensor, j: Tensor) -> Tensor:
        """Return what each row is divided by, `(..., query_len, 1)`."""
        return values.sum(-1, keepdim=True)

    def parts(
        self, query: Tensor, key: Tensor | None, blocked: Tensor, positions: Positions
    ) -> list[Tensor]:
        """Return the weights of the fixed heads, then those of the learned ones."""
        parts = [self.fixed_weights(blocked, positions, query.dtype)] if self.patterns else []
        if self.learned:
            learned = self.learned(query, key, blocked, positions)
            parts = [part.expand(len(learned), -1, -1, -1) for part in parts] + [learned]
        return parts

    def forward(
        self, query: Tensor, key: Tensor | None, blocked: Tensor, positions: Positions
    ) -> Tensor:
        return torch.cat(self.parts(query, key, blocked, positions), dim=1)

    def attend(
        self,
        query: Tensor,
        key: Tensor | None,
        value: Tensor,
        blocked: Tensor,
        positions: Positions,
    ) -> Tensor:
        parts = self.parts(query, key, blocked, positions)
        if self.learned:
            parts[-1] = F.dropout(parts[-1], self.dropout, self.training)
        return torch.cat(parts, dim=1).to(value.dtype) @ value
