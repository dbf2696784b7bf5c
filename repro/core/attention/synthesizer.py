r"""Random Synthesizer: each head of each layer has its own matrix of scores, which no token enters.

Tay, Bahri, Metzler, Juan, Zhao, Zheng: Synthesizer: Rethinking Self-Attention for Transformer
Models, ICML 2021, section 3. https://arxiv.org/abs/2005.00743. The baseline "Syn-R" of Zeng et al.
2021.

    weights = softmax(R[:n, :n]),    R in R^{M x M} per head and layer
    low rank: R = R_1 R_2^T,         R_1, R_2 in R^{M x k}

Paper -> here: R -> `scores`, or `left` and `right`; M -> `max_len`; k -> `rank`. There is no 1 /
sqrt(d_k). Settled here: the distribution of the random initial values. `init="normal"` draws from
N(0, 1/M), "uniform" is Xavier's, and "ones" (as in the code of Zeng et al.) starts from attention
that is exactly uniform. Of low rank, the product of two normal factors has the variance 1/M, too;
that of two uniform ones has another. "ones" keeps rank 1, since equal columns learn alike.

Not included: the Dense Synthesizer, which scores each token on its own, its factorised form, and
mixtures of several, or with dot products. Zeng et al. compare with the random one alone. Learned
parameters in the weights: num_heads M^2 per layer, or 2 num_heads M k.
"""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from repro.core.attention.base import AttentionWeights, Positions, Stack
from repro.core.attention.masks import masked_softmax
from repro.core.attention.tables import cut
from repro.errors import InputError


class Synthesizer(AttentionWeights):
    """Softmax of learned position scores.

    Args:
        num_heads, head_dim: of the layer.
        max_len: size of the matrix, in tokens.
        init: `normal`, `uniform` or `ones`.
        trainable: whether the scores are trained.
        rank: of the matrix; None = full.
        dropout: probability of dropping a weight in training.
        beyond: what happens past `max_len`: `refuse` or `clamp`.
    """

    scores: Tensor
    left: Tensor
    right: Tensor

    def __init__(
        self,
        num_heads: int,
        head_dim: int,
        max_len: int,
        init: str,
        trainable: bool,
        rank: int | None,
        dropout: float,
        beyond: str,
    ) -> None:
        super().__init__(num_heads, head_dim)
        self.rank, self.dropout, self.beyond = rank, dropout, beyond
        self.max_len = max_len if beyond == "refuse" else None
        names = ("scores",) if rank is None else ("left", "right")
        for name in names:
            values = torch.empty(num_heads, max_len, rank or max_len)
            if init == "normal":
                nn.init.normal_(
                    values, std=max_len**-0.5 if rank is None else (max_len * rank) ** -0.25
                )
            elif init == "uniform":
                nn.init.xavier_uniform_(values)
            else:
                nn.init.ones_(values)
            self.register_parameter(name, nn.Parameter(values, requires_grad=trainable))

    def forward(self, query: Tensor, key: None, blocked: Tensor, positions: Positions) -> Tensor:
        table = self.scores if self.rank is None else self.left @ self.right.transpose(-2, -1)
        scores = cut(table, positions.query, blocked.shape[-1], self.beyond, "synthesizer")
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
EXAMPLES = ("max_len=3, beyond='clamp'",)


def build(
    stack: Stack,
    max_len: int = 256,
    init: Literal["normal", "uniform", "ones"] = "normal",
    trainable: bool = True,
    rank: int | None = None,
    beyond: Literal["refuse", "clamp"] = "refuse",
) -> list[AttentionWeights]:
    """Build one independent module per layer; defined at every site.

    It is said to be bad in cross attention.

    Args:
        stack: the layers to build for.
        max_len, init, trainable, rank, beyond: see `Synthesizer`.

    Raises:
        InputError: a size below 1, or a rank that is never reached.
    """
    if max_len < 1 or (rank is not None and rank < 1):
        raise InputError(
            f"model.{stack.site}", f"max_len is {max_len} and rank is {rank}", "use 1 or more"
        )
    if rank is not None and rank > max_len:
        what = f"rank is {rank}, but that of scores for {max_len} tokens is {max_len} at most"
        raise InputError(f"model.{stack.site}", what, "give a lower rank, or leave it out")
    if init == "ones" and rank is not None and rank > 1:
        what = "init is 'ones', where columns of factors start equal and learn alike: "
        what += f"rank {rank} stays 1"
        raise InputError(f"model.{stack.site}", what, "use init='normal', or leave rank out")
    arguments = (
        stack.num_heads,
        stack.head_dim,
        max_len,
        init,
        trainable,
        rank,
        stack.dropout,
        beyond,
    )
    return [Synthesizer(*arguments) for _ in range(stack.num_layers)]
