r"""Uniform attention: every allowed key counts the same. A control: mixing without looking.

You, Sun, Iyyer: Hard-Coded Gaussian Attention for Neural Machine Translation, ACL 2020, footnote on
uniform encoder attention. https://arxiv.org/abs/2005.00742

    weights[i, j] = 1 / number of keys that i may attend to

Learned parameters in the weights: none.
"""

from torch import Tensor

from repro.core.attention.base import AttentionWeights, Positions, Stack
from repro.core.attention.masks import masked_softmax


class Uniform(AttentionWeights):
    """The mean over the allowed keys."""

    def forward(self, query: Tensor, key: None, blocked: Tensor, positions: Positions) -> Tensor:
        scores = query.new_zeros(1, self.num_heads, query.shape[1], blocked.shape[-1])
        return masked_softmax(scores, blocked)


def build(stack: Stack) -> list[AttentionWeights]:
    """Build one module per layer; defined at every site."""
    return [Uniform(stack.num_heads, stack.head_dim) for _ in range(stack.num_layers)]
