r"""Mixed multi-head self-attention (MMA): every head learns where to look in its own neighbourhood.

Cui, Iida, Hung, Utsuro, Nagata: Mixed Multi-Head Self-Attention for Neural Machine Translation,
WNGT 2019, section 3. https://aclanthology.org/D19-5622

    weights = softmax(Q K^T / sqrt(d) + mask),    mask = 0 where allowed, minus infinity elsewhere
    global G: all keys    local L: i - w <= j <= i + w    forward F: j >= i    backward B: j <= i

Paper -> here: head types -> the letters of `types`; w -> `window`. The paper's model has the four
types once with four heads and each twice with eight; their order over the heads changes nothing.
The diagonal is inside every type. Only the encoder is mixed there.

Differs from the paper: `scale="head"` divides by the root of a head's width, as in fairseq, on
which they built; the formula names the width of the model (`scale="model"`). In the paper's
ablation "other heads" are of one type: `types="GL", repeat="last"` reads this as one global head
and the rest local. A padded query whose type sees only padding gets no weights instead of NaN.
Learned parameters in the weights: 2 embed_dim^2 per layer, exactly those of the baseline.
"""

from typing import Literal

import torch
from torch import Tensor

from repro.core.attention.base import AttentionWeights, Positions, SiteError, Stack
from repro.core.attention.dot_product import DotProduct
from repro.core.attention.patterns import not_after, not_before, within
from repro.errors import InputError

TYPES = "GLFB"  # global, local, forward, backward


class Mixed(AttentionWeights):
    """Dot-product attention with a mask for each head.

    Args:
        scorer: the dot-product attention to mask.
        types: a letter of GLFB for each head.
        window: how far a local head looks on either side, in tokens.
    """

    def __init__(self, scorer: DotProduct, types: str, window: int) -> None:
        super().__init__(scorer.num_heads, scorer.head_dim)
        self.scorer, self.types, self.window = scorer, types, window

    def _outside(self, blocked: Tensor, positions: Positions) -> Tensor:
        """Add the keys outside each head's neighbourhood to the blocked ones.

        Returns:
            `(batch or 1, num_heads, query_len, key_len)`.
        """
        i, j = positions.query[:, None], torch.arange(blocked.shape[-1], device=blocked.device)
        allowed = {
            "G": torch.ones_like(i == j),
            "L": within(i, j, self.window),
            "F": not_before(i, j),
            "B": not_after(i, j),
        }
        return blocked | ~torch.stack([allowed[letter] for letter in self.types])

    def project_key(self, key: Tensor, positions: Tensor) -> Tensor:
        return self.scorer.project_key(key, positions)

    def forward(self, query: Tensor, key: Tensor, blocked: Tensor, positions: Positions) -> Tensor:
        return self.scorer(query, key, self._outside(blocked, positions), positions)

    def attend(
        self, query: Tensor, key: Tensor, value: Tensor, blocked: Tensor, positions: Positions
    ) -> Tensor:
        return self.scorer.attend(query, key, value, self._outside(blocked, positions), positions)


def head_types(num_heads: int, types: str = TYPES, repeat: Literal["all", "last"] = "all") -> str:
    """Return a letter of GLFB for each head; see `build`."""
    cycle = types if repeat == "all" else types + types[-1] * num_heads
    return (cycle * num_heads)[:num_heads]


# Settings that no type suggests, for the contract tests.
EXAMPLES = ("types='GL', repeat='last', scale='model'", "types='FB'")


def build(
    stack: Stack,
    types: str = TYPES,
    window: int = 1,
    repeat: Literal["all", "last"] = "all",
    scale: Literal["head", "model"] = "head",
) -> list[AttentionWeights]:
    """Build one independent module per layer; defined for self-attention.

    Args:
        stack: the layers to build for.
        types: head types, repeated until every head has one.
        window: how far a local head looks on either side, in tokens.
        repeat: repeat `all` the types in turn, or only the `last` one.
        scale: whether scores are divided by the root of the width of a head or of the model.

    Raises:
        SiteError: cross attention.
        InputError: an unknown type, or a window that makes no sense or has no effect.
    """
    if stack.site == "cross":
        what = (
            "mixed heads are near, before or after the query,"
            " but the positions of two languages do not correspond"
        )
        raise SiteError("model.cross", what, "use mixed at encoder_self or decoder_self")
    if not types or set(types) - set(TYPES) or len(types) > stack.num_heads or window < 0:
        found = f"types '{types}' with window {window} for {stack.num_heads} heads"
        raise InputError(
            f"model.{stack.site}",
            found,
            "give between 1 letter of GLFB and one for each head, and a window of 0 or more",
        )
    if window != 1 and "L" not in types:
        fix = "leave it out, or give types with an L"
        raise InputError(
            f"model.{stack.site}: mixed(window)", "does nothing without local heads", fix
        )
    letters = head_types(stack.num_heads, types, repeat)
    width = stack.head_dim if scale == "head" else stack.embed_dim
    scorers = [
        DotProduct(stack.embed_dim, stack.num_heads, stack.head_dim, stack.dropout, width)
        for _ in range(stack.num_layers)
    ]
    return [Mixed(scorer, letters, window) for scorer in scorers]
