r"""Fixed patterns: seven of eight encoder heads attend to fixed positions, one learns.

Raganato, Scherrer, Tiedemann: Fixed Encoder Self-Attention Patterns in Transformer-Based Machine
    Translation, Findings of EMNLP 2020,
section 3. https://arxiv.org/abs/2002.10260

    current   1 at j = i           left    f(j) over 0 .. i - 2       end     f(j) over 0 .. n - 1
    previous  1 at j = i - 1       right   f(j) over i + 2 .. n - 1   start   f(j) over n - 1 .. 0
    next      1 at j = i + 1       last    1 at j = n - 1             f cubic, divided by its sum

Paper -> here: the names of the heads -> `patterns`; 7Ftoken+1L is the default, 7Fword+1L
`unit="word"`, 1L `patterns=()`, 8Ftoken `patterns` with `last` and `learned=0`. In word patterns i,
j, n count words, and all pieces of a word get the same.

Differs from the paper, or settles what it leaves open (we found no released code):
1. `right_context`: the right context grows from i + 2 to the end, away from the query, 1, 8, 27,
    ... at i + 2, i + 3, i + 4 ("literal"): only start and end points shall differ between patterns,
    and that of the start counts from its own start point. By "absolute" it is (j + 1)^3 as the
    formula of the left context has it, steeper near the start of a sentence than at its end; by
    "mirrored" the reflection of the left context, which falls. `repro run raganato2020.choices`
    compares 1 to 4.
2. `empty`: a pattern without a target (the token before the first) is a row of zeros; "self" looks
    at itself, "wrap" goes round to the other end, and to the near end for a context.
3. `spread`: each piece has the weight of its word, and rows are divided by their sum; "copy" leaves
    them undivided.
4. A head is 1/`heads` of the width, so 1L is one narrow head; `dot-product(heads=1)` is one wide
    head.
5. In a decoder, patterns end where the future begins: n is the number of tokens that are visible.
    Word ends are not known there.
6. No attention dropout on fixed weights, unless `drop_fixed`.
Rows do not sum to one where a pattern has no target.
Learned parameters in the weights: 2 embed_dim head_dim per learned head and layer.
This file is longer than most variants' because each of these open points is an option.
"""

from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from repro.core.attention.base import AttentionWeights, Positions, Stack
from repro.core.attention.dot_product import DotProduct
from repro.core.attention.patterns import at_offset, cubic_fall, cubic_rise
from repro.errors import InputError, did_you_mean

PATTERNS = ("current", "previous", "next", "left", "right", "end", "start")
# where a pattern without a target wraps to
WRAPPED = {"previous": "last", "next": "first", "left": "first", "right": "last"}


def pattern(name: str, i: Tensor, j: Tensor, n: Tensor, right_context: str = "literal") -> Tensor:
    """Return a pattern before its division by the sum; `i`, `j` and `n` broadcast."""
    match name:
        case "current" | "previous" | "next":
            return at_offset(i, j, ("previous", "current", "next").index(name) - 1)
        case "first" | "last":
            return j == (0 if name == "first" else n - 1)
        case "left":
            return cubic_rise(j, 0, i - 2)
        case "right":
            if right_context == "absolute":
                return cubic_rise(j, 0, n - 1) * (j >= i + 2)
            return (cubic_rise if right_context == "literal" else cubic_fall)(j, i + 2, n - 1)
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
        options: `unit`, `right_context`, `empty`, `spread`, `drop_fixed`, `dropout`; see `build`.
    """

    def __init__(
        self, patterns: tuple[str, ...], learned: DotProduct | None, head_dim: int, **options
    ) -> None:
        super().__init__(len(patterns) + (learned.num_heads if learned else 0), head_dim)
        self.rows_sum_to_one = not patterns  # a pattern may have no target
        self.patterns, self.learned, self.options = patterns, learned, options

    def project_key(self, key: Tensor) -> Tensor | None:
        return self.learned.project_key(key) if self.learned else None

    def fixed_weights(self, blocked: Tensor, positions: Positions, dtype: torch.dtype) -> Tensor:
        """Return the weights of the fixed heads, `(batch or 1, len(patterns), query_len, key_len)`."""
        tokens = torch.arange(blocked.shape[-1], device=blocked.device)[None]
        words = positions.words if self.options["unit"] == "word" else tokens
        if words is None:
            raise InputError(
                "fixed(unit='word')",
                "the words of the subwords are not known",
                "give them (`words`), or use unit='token'",
            )
        i, j = words[:, None, positions.query, None], words[:, None, None, :]
        # words that the query may attend to
        n = (j + 1).masked_fill(blocked, 0).amax(-1, keepdim=True)
        is_first_piece = F.pad(words[:, 1:] != words[:, :-1], (1, 0), value=True)[:, None, None]
        heads = []
        for name in self.patterns:
            values = self._pattern(name, i, j, n).masked_fill(blocked, 0)
            if name in WRAPPED and self.options["empty"] != "zero":
                other = self._pattern(
                    "current" if self.options["empty"] == "self" else WRAPPED[name], i, j, n
                ).masked_fill(blocked, 0)
                values = torch.where(values.sum(-1, keepdim=True) > 0, values, other)
            counted = values * is_first_piece if self.options["spread"] == "copy" else values
            heads.append(
                (values / counted.sum(-1, keepdim=True).clamp_min(1)).expand(
                    -1, -1, len(positions.query), -1
                )
            )
        return torch.cat(torch.broadcast_tensors(*heads), dim=1).to(dtype)

    def _pattern(self, name: str, i: Tensor, j: Tensor, n: Tensor) -> Tensor:
        return pattern(name, i, j, n, self.options["right_context"]).double()

    def forward(
        self, query: Tensor, key: Tensor | None, blocked: Tensor, positions: Positions
    ) -> Tensor:
        return torch.cat(self._parts(query, key, blocked, positions), dim=1)

    def _parts(
        self, query: Tensor, key: Tensor | None, blocked: Tensor, positions: Positions
    ) -> list[Tensor]:
        parts = [self.fixed_weights(blocked, positions, query.dtype)] if self.patterns else []
        if self.learned:
            learned = self.learned(query, key, blocked, positions)
            parts = [part.expand(len(learned), -1, -1, -1) for part in parts] + [learned]
        return parts

    def attend(
        self,
        query: Tensor,
        key: Tensor | None,
        value: Tensor,
        blocked: Tensor,
        positions: Positions,
    ) -> Tensor:
        parts = self._parts(query, key, blocked, positions)
        dropped = slice(
            None if self.options["drop_fixed"] else len(parts) - bool(self.learned), None
        )
        parts[dropped] = [
            F.dropout(part, self.options["dropout"], self.training) for part in parts[dropped]
        ]
        return torch.cat(parts, dim=1).to(value.dtype) @ value


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
        InputError: a site or options without sense.
    """
    where = f"model.{stack.site}"
    if stack.site == "cross":
        what = "fixed patterns are places in the query's own sentence, and a target token has none in the source"
        raise InputError(where, what, "use fixed at encoder_self or decoder_self")
    if stack.site == "decoder_self" and unit == "word":
        raise InputError(
            where,
            "word patterns are not defined while decoding: where a word ends is not known yet",
            "use unit='token'",
        )
    if (
        heads < 1
        or stack.embed_dim % heads
        or learned < 0
        or not 0 < len(patterns) + learned <= heads
    ):
        found = f"{len(patterns)} patterns and {learned} learned heads in {heads} heads of embed_dim {stack.embed_dim}"
        raise InputError(
            where,
            found,
            "use heads that divide embed_dim, and between one pattern or learned head and as many as heads",
        )
    place = torch.zeros(1, dtype=torch.long)
    for name in patterns:
        pattern(name, place, place, place)  # an unknown name is refused here
    width = stack.embed_dim // heads
    options: dict[str, Any] = {
        "unit": unit,
        "right_context": right_context,
        "empty": empty,
        "spread": spread,
    }
    options |= {"drop_fixed": drop_fixed, "dropout": stack.dropout}
    scorers = [
        DotProduct(stack.embed_dim, learned, width, stack.dropout) if learned else None
        for _ in range(stack.num_layers)
    ]
    return [Fixed(patterns, scorer, width, **options) for scorer in scorers]
