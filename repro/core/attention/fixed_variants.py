r"""Fixed patterns: seven of eight encoder heads attend to fixed positions, one learns.

Raganato, Scherrer, Tiedemann: Fixed Encoder Self-Attention Patterns in Transformer-Based Machine
Translation, Findings of EMNLP 2020, section 3. https://arxiv.org/abs/2002.10260

The paper's patterns are `fixed.py`; read that first. 7Ftoken+1L is the default here, 7Fword+1L
`unit="word"`, 1L `patterns=()`, 8Ftoken `patterns` with `last` and `learned=0`. The other options
differ from the paper, or settle what it leaves open (we found no released code):

1. `right_context`: "literal" lets the right context grow from i + 2 to the end, away from the
   query: 1, 8, 27, ... at i + 2, i + 3, i + 4. The paper says that only start and end points differ
   between patterns, and the pattern of the start counts from its own start point. "absolute" is
   (j + 1)^3, as in the formula of the left context: steeper near the start of a sentence than at
   its end. "mirrored" is the reflection of the left context, which falls. `repro run
   raganato2020.choices` compares 1 to 4.
2. `empty`: a pattern without a target (the token before the first) is a row of zeros. With "self"
   it looks at itself. With "wrap" it goes round to the other end, or to the near end for a context.
3. `spread`: each piece has the weight of its word, and rows are divided by their sum; "copy" leaves
   them undivided.
4. A head is 1/`heads` of the width, so 1L is one narrow head; `dot-product(heads=1)` is one wide
   head.
5. In a decoder, word ends are not known, so there are no word patterns.
6. No attention dropout on fixed weights, unless `drop_fixed`.
"""

from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from repro.core.attention.base import AttentionWeights, Positions, SiteError, Stack
from repro.core.attention.dot_product import DotProduct
from repro.core.attention.fixed import PATTERNS, Fixed, pattern
from repro.core.attention.patterns import cubic_fall, cubic_rise
from repro.errors import InputError

# where a pattern without a target wraps to
WRAPPED = {"previous": "last", "next": "first", "left": "first", "right": "last"}


class FixedWithOptions(Fixed):
    """The paper's patterns with other choices where it is silent.

    Args:
        patterns, learned, head_dim, unit, dropout: see `Fixed`.
        right_context, empty, spread, drop_fixed: see the top of this file.
    """

    def __init__(
        self,
        patterns: tuple[str, ...],
        learned: DotProduct | None,
        head_dim: int,
        unit: str,
        dropout: float,
        right_context: str,
        empty: str,
        spread: str,
        drop_fixed: bool,
    ) -> None:
        super().__init__(patterns, learned, head_dim, unit, dropout)
        self.right_context, self.empty, self.spread = right_context, empty, spread
        self.drop_fixed = drop_fixed

    def values(self, name: str, i: Tensor, j: Tensor, n: Tensor, blocked: Tensor) -> Tensor:
        values = self._pattern(name, i, j, n).masked_fill(blocked, 0)
        if name not in WRAPPED or self.empty == "zero":
            return values
        other = "current" if self.empty == "self" else WRAPPED[name]
        instead = self._pattern(other, i, j, n).masked_fill(blocked, 0)
        return torch.where(values.sum(-1, keepdim=True) > 0, values, instead)

    def _pattern(self, name: str, i: Tensor, j: Tensor, n: Tensor) -> Tensor:
        """Return a pattern by the chosen reading of the right context."""
        if name == "right" and self.right_context == "absolute":
            values = cubic_rise(j, 0, n - 1) * (j >= i + 2)
        elif name == "right" and self.right_context == "mirrored":
            values = cubic_fall(j, i + 2, n - 1)
        else:
            values = pattern(name, i, j, n)
        return values.double()

    def totals(self, values: Tensor, j: Tensor) -> Tensor:
        if self.spread == "copy":  # a word counts once, by its first piece
            values = values * F.pad(j[..., 1:] != j[..., :-1], (1, 0), value=True)
        return super().totals(values, j)

    def attend(
        self,
        query: Tensor,
        key: Tensor | None,
        value: Tensor,
        blocked: Tensor,
        positions: Positions,
    ) -> Tensor:
        if not self.drop_fixed:
            return super().attend(query, key, value, blocked, positions)
        parts = self.parts(query, key, blocked, positions)
        dropped = [F.dropout(part, self.dropout, self.training) for part in parts]
        return torch.cat(dropped, dim=1).to(value.dtype) @ value


# Settings that no type suggests, for the contract tests.
EXAMPLES = (
    "patterns=[]",
    "learned=0",
    "heads=12",
    "unit='word', spread='copy', right_context='mirrored'",
)


def build(
    stack: Stack,
    patterns: tuple[str, ...] = PATTERNS,
    learned: int = 1,
    heads: int = 8,
    unit: Literal["token", "word"] = "token",
    right_context: Literal["literal", "absolute", "mirrored"] = "literal",
    empty: Literal["zero", "self", "wrap"] = "zero",
    spread: Literal["normalize", "copy"] = "normalize",
    drop_fixed: bool = False,
) -> list[AttentionWeights]:
    """Build one module per layer; defined for self-attention, word patterns in the encoder only.

    Args:
        stack: the layers to build for.
        patterns: names of the fixed heads.
        learned: number of learned heads after them.
        heads: number of heads that the width is cut into, used or not; the paper has 8 whatever the
            model has.
        unit: whether positions count tokens or words.
        right_context, empty, spread, drop_fixed: see the top of this file.

    Raises:
        SiteError: cross attention, or word patterns in the decoder.
        InputError: options without sense or effect.
    """
    where = f"model.{stack.site}"
    if stack.site == "cross":
        what = (
            "fixed patterns are places in the query's own sentence,"
            " and a target token has none in the source"
        )
        raise SiteError(where, what, "use fixed at encoder_self or decoder_self")
    if stack.site == "decoder_self" and unit == "word":
        what = "word patterns are not defined while decoding: where a word ends is not known yet"
        raise SiteError(where, what, "use unit='token'")
    fits = heads >= 1 and stack.embed_dim % heads == 0 and learned >= 0
    if not fits or not 0 < len(patterns) + learned <= heads:
        counts = f"{len(patterns)} patterns and {learned} learned heads in {heads} heads"
        fix = (
            "use heads that divide embed_dim,"
            " and between one pattern or learned head and as many as heads"
        )
        raise InputError(where, f"{counts} of embed_dim {stack.embed_dim}", fix)
    place = torch.zeros(1, dtype=torch.long)
    for name in patterns:
        pattern(name, place, place, place)  # an unknown name is refused here
    # such an option would give the same model another name
    for option, is_idle, needs in (
        ("unit", unit == "word" and not patterns, "a pattern"),
        (
            "right_context",
            right_context != "literal" and "right" not in patterns,
            "the pattern right",
        ),
        ("empty", empty != "zero" and not WRAPPED.keys() & patterns, " or ".join(WRAPPED)),
        ("spread", spread == "copy" and not (unit == "word" and patterns), "unit='word'"),
        ("drop_fixed", drop_fixed and not patterns, "a pattern"),
    ):
        if is_idle:
            raise InputError(
                f"{where}: fixed({option})", f"does nothing without {needs}", "leave it out"
            )
    width = stack.embed_dim // heads
    scorers = [
        DotProduct(stack.embed_dim, learned, width, stack.dropout) if learned else None
        for _ in range(stack.num_layers)
    ]
    options = (unit, stack.dropout, right_context, empty, spread, drop_fixed)
    return [FixedWithOptions(patterns, scorer, width, *options) for scorer in scorers]
