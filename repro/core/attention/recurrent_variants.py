r"""Recurrent attention (RAN): one matrix of scores per head, carried up by one small network.

Zeng, Wu, Yin, Jiang, Li: Recurrent Attention for Neural Machine Translation, EMNLP 2021, section 2.
https://aclanthology.org/2021.emnlp-main.258

The paper's model is `recurrent.py`; read that first. Here are its options. Each differs from the
paper or settles what it leaves open:

1. `axis`: the left product W A mixes query rows; the released code mixes key columns, the default
   here. LN is over the keys.
2. `transition`: the released code has four, none of them the paper's ("code-0" is its default):
   "code-0" two linear layers with ReLU, "code-1" tanh, "code-2" ReLU, "code-3" LN before the two
   layers; each plus the residual, none with LN after.
3. `max_len` 256 as in the code; longer sentences are refused, or clamped by `beyond="clamp"`.
4. The paper drops 0.2 of RAN's weights (not on En-Fr) and says nothing of the baseline's;
   `model.attention_dropout` is the same for all.

Cross attention is never recurrent. Not included: the released code can also add scores by position
to those of dot products, with or without a recurrence. Its ordinary attention in the first layer is
`"recurrent; first: dot-product"`.
"""

from functools import partial
from typing import Literal

from torch import Tensor, nn

from repro.core.attention.base import AttentionWeights, SiteError, Stack
from repro.core.attention.recurrent import Recurrence, Recurrent
from repro.errors import InputError


def network(max_len: int, transition: str, layer_norm: bool) -> tuple[nn.Module, nn.Module]:
    """Return the modules of a step: what mixes, and what normalises afterwards."""
    one = [nn.Linear(max_len, max_len), nn.ReLU() if transition == "code-2" else nn.Tanh()]
    two = [nn.Linear(max_len, 4 * max_len), nn.ReLU(), nn.Linear(4 * max_len, max_len)]
    modules = {"code-0": two, "code-3": [nn.LayerNorm(max_len), *two]}
    has_norm = transition == "paper" and layer_norm
    norm = nn.LayerNorm(max_len) if has_norm else nn.Identity()
    return nn.Sequential(*modules.get(transition, one)), norm


class RecurrenceWithOptions(Recurrence):
    """The paper's recurrence with another step.

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
    ) -> None:
        make = partial(network, transition=transition, layer_norm=layer_norm)
        super().__init__(num_heads, max_len, make)
        self.first_scores.requires_grad_(trainable)
        self.axis, self.residual = axis, residual

    def step(self, scores: Tensor) -> Tensor:
        mixed = self.mix(scores.mT).mT if self.axis == "query" else self.mix(scores)
        return self.norm(mixed) + (scores if self.residual else 0)

    def scores(self, depth: int, num_rows: int) -> Tensor:
        # where rows mix, all of them are needed
        return super().scores(depth, num_rows if self.axis == "key" else len(self.first_scores[0]))


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
        SiteError: cross attention.
        InputError: a size below 1, or an option without effect.
    """
    if stack.site == "cross":
        what = (
            "recurrent attention over the source is not defined: the paper leaves it to future work"
        )
        raise SiteError("model.cross", what, "use recurrent at encoder_self or decoder_self")
    if max_len < 1:
        raise InputError(f"model.{stack.site}", f"max_len is {max_len}", "use 1 or more")
    if not layer_norm and transition != "paper":
        where, what = f"model.{stack.site}: recurrent(layer_norm)", "does nothing for a network of"
        raise InputError(where, f"{what} the code, {transition}", "leave it out")
    recurrence = RecurrenceWithOptions(
        stack.num_heads, max_len, transition, axis, layer_norm, residual, trainable
    )
    return [
        Recurrent(recurrence, depth, stack.num_heads, stack.head_dim, stack.dropout, beyond)
        for depth in range(1, stack.num_layers + 1)
    ]
