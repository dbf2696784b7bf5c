r"""Recurrent attention (RAN): one initial matrix of scores per head, carried from layer to layer by one small network.

Zeng, Wu, Yin, Jiang, Li: Recurrent Attention for Neural Machine Translation, EMNLP 2021, section 2.
https://aclanthology.org/2021.emnlp-main.258

    A_l = LN(tanh(W A_{l-1} + b)) + A_{l-1},    weights of layer l = softmax(mask(A_l[:n, :n])),    l = 1 ... L

Paper -> here: A_0 -> `first_scores`, `(num_heads, max_len, max_len)`; the transition A_{l-1} -> A_l
-> `step`; M -> `max_len`. A_0, W, b and LN are shared by all layers and heads of a stack; encoder
and decoder have their own. No token enters the weights, there is no 1 / sqrt(d_k), and cross
attention is never recurrent. The first layer already uses A_1.

Differs from the paper, or settles what it leaves open:
1. `axis`: the left product W A mixes query rows; the released code mixes key columns, the default
    here. LN is over the keys.
2. `transition`: the released code has four, none of them the paper's ("code-0" is its default):
    "code-0" two linear layers with ReLU, "code-1" tanh, "code-2" ReLU, "code-3" LN before the two
    layers; each plus the residual, none with LN after.
3. `max_len` 256 as in the code; longer sentences are refused, or clamped by `beyond="clamp"`.
4. The paper drops 0.2 of RAN's weights (not on En-Fr) and says nothing of the baseline's;
    `model.attention_dropout` is the same for all.

Not included: scores by position added to those of dot products, with or without a recurrence, which
    the released code has beside the
paper's. Its ordinary attention in the first layer is `"recurrent; first: dot-product"`. Learned
parameters in the weights: num_heads M^2 + M^2 + M + 2 M for a whole stack, whatever its depth. This
file is longer than most variants' because it holds five transitions.
"""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from repro.core.attention.base import AttentionWeights, Positions, Stack
from repro.core.attention.masks import masked_softmax
from repro.core.attention.tables import cut
from repro.errors import InputError


class Recurrence(nn.Module):
    """The scores of every layer of a stack: the first ones, and the step from one layer to the next.

    Args:
        num_heads, max_len: shape of the scores.
        transition, axis, layer_norm, residual, trainable: see `build`.
    """

    def __init__(
        self,
        num_heads: int,
        max_len: int,
        transition: str,
        axis: str,
        layer_norm: bool,
        residual: bool,
        trainable: bool,
    ):
        super().__init__()
        first_scores = nn.init.xavier_uniform_(torch.empty(num_heads, max_len, max_len))
        self.first_scores = nn.Parameter(first_scores, requires_grad=trainable)
        self.mix = _mix(transition, max_len)
        self.norm = nn.LayerNorm(max_len) if transition == "paper" and layer_norm else nn.Identity()
        self.axis, self.residual = axis, residual
        self._kept: tuple[tuple, dict[int, Tensor]] = ((), {})

    def step(self, scores: Tensor) -> Tensor:
        """Return the scores of the next layer. Shape: `(num_heads, rows, max_len)`, in and out."""
        mixed = self.mix(scores.mT).mT if self.axis == "query" else self.mix(scores)
        return self.norm(mixed) + (scores if self.residual else 0)

    def scores(self, depth: int, num_rows: int) -> Tensor:
        """Return the scores after `depth` steps, computed once while no parameter changes and no gradient is wanted.

        Returns:
            `(num_heads, at least num_rows, max_len)`.
        """
        if torch.is_grad_enabled():
            # an update may follow, and fused optimisers do not raise the version of what they
            # change
            self._kept = ((), {})
            # Rows do not mix along the key axis: make those that are read.
            scores = self.first_scores[:, :num_rows] if self.axis == "key" else self.first_scores
            for _ in range(depth):
                scores = self.step(scores)
            return scores
        kind = self.first_scores.device.type  # under autocast the steps are made in lower precision
        precision = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else None
        state = (
            precision,
            *((parameter.data_ptr(), parameter._version) for parameter in self.parameters()),
        )
        if self._kept[0] != state:
            self._kept = (state, {0: self.first_scores})
        kept = self._kept[1]
        while len(kept) <= depth:
            kept[len(kept)] = self.step(kept[len(kept) - 1])
        return kept[depth]


def _mix(transition: str, max_len: int) -> nn.Sequential:
    one = [nn.Linear(max_len, max_len), nn.ReLU() if transition == "code-2" else nn.Tanh()]
    two = [nn.Linear(max_len, 4 * max_len), nn.ReLU(), nn.Linear(4 * max_len, max_len)]
    modules = {"code-0": two, "code-3": [nn.LayerNorm(max_len), *two]}
    return nn.Sequential(*modules.get(transition, one))


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
        dropout: float,
        beyond: str,
    ) -> None:
        super().__init__(num_heads, head_dim)
        self.recurrence, self.depth, self.dropout, self.beyond = recurrence, depth, dropout, beyond
        self.max_len = recurrence.first_scores.shape[-1] if beyond == "refuse" else None

    def forward(self, query: Tensor, key: None, blocked: Tensor, positions: Positions) -> Tensor:
        num_rows = blocked.shape[-1]  # self-attention: no query stands after the last key
        scores = self.recurrence.scores(self.depth, num_rows)
        scores = cut(scores, positions.query, num_rows, self.beyond, "recurrent")
        return masked_softmax(scores[None].to(query.dtype), blocked)

    def attend(
        self, query: Tensor, key: None, value: Tensor, blocked: Tensor, positions: Positions
    ) -> Tensor:
        return (
            F.dropout(self(query, key, blocked, positions), self.dropout, self.training).to(
                value.dtype
            )
            @ value
        )


# Settings that no type suggests, for the contract tests.
EXAMPLES = ("layer_norm=False, residual=False", "max_len=3, beyond='clamp'")


def build(
    stack: Stack,
    max_len: int = 256,
    transition: Literal["paper", "code-0", "code-1", "code-2", "code-3"] = "paper",
    axis: Literal["key", "query"] = "key",
    layer_norm: bool = True,
    residual: bool = True,
    trainable: bool = True,
    beyond: Literal["refuse", "clamp"] = "refuse",
) -> list[AttentionWeights]:
    """Build the layers of a stack over one shared recurrence; defined for self-attention.

    Args:
        stack: the layers to build for.
        max_len: size of the matrices, in tokens.
        transition: the network of a step; see the top of this file.
        axis: what the network mixes: `key` columns or `query` rows.
        layer_norm: of the paper's transition (the code's have their own).
        residual: whether a step adds to the scores or replaces them.
        trainable: whether A_0 is trained (the paper's ablation freezes it).
        beyond: whether sentences longer than `max_len` are refused or clamped.

    Raises:
        InputError: cross attention, or a size below 1.
    """
    if stack.site == "cross":
        what = (
            "recurrent attention over the source is not defined: the paper leaves it to future work"
        )
        raise InputError("model.cross", what, "use recurrent at encoder_self or decoder_self")
    if max_len < 1:
        raise InputError(f"model.{stack.site}", f"max_len is {max_len}", "use 1 or more")
    recurrence = Recurrence(
        stack.num_heads, max_len, transition, axis, layer_norm, residual, trainable
    )
    return [
        Recurrent(recurrence, depth, stack.num_heads, stack.head_dim, stack.dropout, beyond)
        for depth in range(1, stack.num_layers + 1)
    ]
