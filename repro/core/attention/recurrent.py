r"""Recurrent attention (RAN) as the paper defines it: scores that one network carries upwards.

Zeng, Wu, Yin, Jiang, Li: Recurrent Attention for Neural Machine Translation, EMNLP 2021, section 2.
https://aclanthology.org/2021.emnlp-main.258

    A_l = LN(tanh(W A_{l-1} + b)) + A_{l-1},    weights of layer l = softmax(mask(A_l[:n, :n]))

Paper -> here: A_0 -> `first_scores`, `(num_heads, max_len, max_len)`; W, b and tanh -> `mix`; the
transition A_{l-1} -> A_l -> `step`; M -> `max_len`. A_0, W, b and LN are shared by all layers and
heads of a stack; encoder and decoder have their own. No token enters the weights, and there is no
1 / sqrt(d_k). The first layer already uses A_1.

The options of `recurrent(...)`, and what the released code does otherwise, are in
`recurrent_variants.py`. Learned parameters in the weights: num_heads M^2 + M^2 + M + 2 M for a
whole stack, whatever its depth.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from repro.core.attention.base import AttentionWeights, Positions
from repro.core.attention.masks import masked_softmax
from repro.core.attention.tables import Kept, cut


def network(max_len: int) -> tuple[nn.Module, nn.Module]:
    """Return what a step is made of: W, b and tanh, then LN. Both act on the keys of a row."""
    return nn.Sequential(nn.Linear(max_len, max_len), nn.Tanh()), nn.LayerNorm(max_len)


class Recurrence(nn.Module):
    """The scores of every layer of a stack: the first ones, and the step to the next layer.

    Args:
        num_heads, max_len: shape of the scores.
        network: makes the modules of a step, given `max_len`.
    """

    def __init__(
        self,
        num_heads: int,
        max_len: int,
        network: Callable[[int], tuple[nn.Module, nn.Module]] = network,
    ) -> None:
        super().__init__()
        self.first_scores = nn.Parameter(torch.empty(num_heads, max_len, max_len))
        nn.init.xavier_uniform_(self.first_scores)
        self.mix, self.norm = network(max_len)
        self._kept = Kept()

    def step(self, scores: Tensor) -> Tensor:
        """Return the next layer's scores. Shape: `(num_heads, rows, max_len)`, in and out."""
        return self.norm(self.mix(scores)) + scores

    def scores(self, depth: int, num_rows: int) -> Tensor:
        """Return the scores after `depth` steps, `(num_heads, at least num_rows, max_len)`."""
        kept = self._kept.of(self)
        # Rows do not mix. In training only those that are read are made; else all, to be kept.
        scores = self.first_scores[:, : num_rows if torch.is_grad_enabled() else None]
        for layer in range(depth):
            scores = kept[layer] = kept[layer] if layer in kept else self.step(scores)
        return scores


class Recurrent(AttentionWeights):
    """Softmax of the scores of one layer.

    Args:
        recurrence: shared by the layers of the stack.
        depth: number of this layer, from 1.
        num_heads, head_dim: of the layer.
        dropout: probability of dropping a weight in training.
        beyond: what happens past `max_len`: `refuse` or `clamp`.
    """

    def __init__(
        self,
        recurrence: Recurrence,
        depth: int,
        num_heads: int,
        head_dim: int,
        dropout: float = 0.0,
        beyond: str = "refuse",
    ) -> None:
        super().__init__(num_heads, head_dim)
        self.recurrence, self.depth, self.dropout, self.beyond = recurrence, depth, dropout, beyond
        self.max_len = recurrence.first_scores.shape[-1] if beyond == "refuse" else None

    def forward(self, query: Tensor, key: None, blocked: Tensor, positions: Positions) -> Tensor:
        num_rows = blocked.shape[-1]  # self-attention: no query is after the last key
        scores = self.recurrence.scores(self.depth, num_rows)
        scores = cut(scores, positions.query, num_rows, self.beyond, "recurrent")
        return masked_softmax(scores[None].to(query.dtype), blocked)

    def attend(
        self, query: Tensor, key: None, value: Tensor, blocked: Tensor, positions: Positions
    ) -> Tensor:
        weights = F.dropout(self(query, key, blocked, positions), self.dropout, self.training)
        return weights.to(value.dtype) @ value
