"""Variants that are wrong on purpose, each in another way, as people write them: the contract must
name each fault."""

import sys
from collections.abc import Callable
from types import ModuleType

import torch
from torch import nn

from repro.core.attention import variants
from repro.core.attention.base import AttentionWeights, Stack
from repro.core.attention.dot_product import DotProduct
from repro.core.attention.masks import masked_softmax


class Distance(AttentionWeights):
    """Right: minus the distance, and nothing learned. The wrong ones change one line of it."""

    def __init__(self, stack: Stack) -> None:
        super().__init__(stack.num_heads, stack.head_dim)

    def scores(self, query, blocked, positions):
        keys = torch.arange(blocked.shape[-1])
        scores = -(keys - positions.query[:, None]).abs().to(query.dtype)
        return scores.expand(1, self.num_heads, -1, -1)

    def forward(self, query, key, blocked, positions):
        return masked_softmax(self.scores(query, blocked, positions), blocked)


class Product(DotProduct):
    """Right: the dot product."""

    def __init__(self, stack: Stack) -> None:
        super().__init__(stack.embed_dim, stack.num_heads, stack.head_dim)


class Rotary(Product):
    """Right: rotary embeddings of Su et al. 2021. Keys are rotated once, then cached."""

    def rotate(self, x, positions):
        even, odd = x[..., 0::2], x[..., 1::2]
        angles = positions[:, None] * 100.0 ** -torch.linspace(0, 1, even.shape[-1], dtype=x.dtype)
        turned = (
            even * angles.cos() - odd * angles.sin(),
            even * angles.sin() + odd * angles.cos(),
        )
        return torch.stack(turned, dim=-1).flatten(-2)

    def project_key(self, key, positions):
        return self.rotate(super().project_key(key, positions), positions)

    def forward(self, query, key, blocked, positions):
        q = self.rotate(self._split_heads(self.query_proj(query)), positions.query)
        return masked_softmax(q @ key.mT * self.scale, blocked)


class RotatesFromZero(Rotary):
    """Counts positions from the first key it is given, which in a decoding step is the new one."""

    def project_key(self, key, positions):
        return super().project_key(key, positions - positions[0])


class Signed(Product):
    """Right: minus half the uniform weights, as it says. Differential attention is of this kind."""

    signed, rows_sum_to_one = True, False

    def forward(self, query, key, blocked, positions):
        uniform = masked_softmax(torch.zeros_like(blocked, dtype=query.dtype), blocked)
        return super().forward(query, key, blocked, positions) - uniform / 2


class SignedUnsaid(Signed):
    """Makes weights below zero, and does not say so."""

    signed = False


class ConvolvedKeys(Product):
    """Mixes a key with the one before; the cache hands keys over one at a time."""

    def project_key(self, key, positions):
        before = nn.functional.pad(key, (0, 0, 1, 0))[:, :-1]
        return super().project_key((key + before) / 2, positions)


class LeakFromEight(Product):
    """Sees the next token from position 8 on."""

    def forward(self, query, key, blocked, positions):
        keys = torch.arange(blocked.shape[-1])
        later = positions.query[:, None]
        open_again = (keys == later + 1) & (later >= 8)
        return super().forward(query, key, blocked & ~open_again, positions)


class PeepsThroughTheQuery(Product):
    """Adds to each query what the last token of the sentence says: blocked keys stay at zero."""

    def forward(self, query, key, blocked, positions):
        return super().forward(
            query + key.transpose(1, 2).flatten(2)[:, -1:], key, blocked, positions
        )


class BlockedInTheSum(Product):
    """Divides by a sum over all keys, blocked ones as well."""

    def forward(self, query, key, blocked, positions):
        q = self._split_heads(self.query_proj(query))
        return (q @ key.mT * self.scale).softmax(-1).masked_fill(blocked, 0.0)


class FromThePaddedEnd(Distance):
    """Counts positions from the end of the batch, padding included."""

    def scores(self, query, blocked, positions):
        keys = torch.arange(blocked.shape[-1])
        return super().scores(query, blocked, positions) * (1 + (len(keys) - keys) / 10).to(
            query.dtype
        )


class BlockBorder(Product):
    """Attends to the last eight, but at the end of each block of eight to the first of the next
    block."""

    def forward(self, query, key, blocked, positions):
        keys, i = torch.arange(blocked.shape[-1]), positions.query[:, None]
        border = (keys == i + 1) & (i % 8 == 7)
        return super().forward(query, key, (blocked | (keys < i - 7)) & ~border, positions)


class LeaksWhenAsked(Product):
    """Looks ahead by an option, at its default not at all."""

    def __init__(self, stack: Stack, ahead: int) -> None:
        super().__init__(stack)
        self.ahead = ahead

    def forward(self, query, key, blocked, positions):
        keys = torch.arange(blocked.shape[-1])
        near = (keys > positions.query[:, None]) & (keys <= positions.query[:, None] + self.ahead)
        return super().forward(query, key, blocked & ~near, positions)


class KeepsTheFirst(Product):
    """Keeps the products of the first text of each shape, to be fast."""

    def __init__(self, stack: Stack) -> None:
        super().__init__(stack)
        self.kept: dict[tuple, torch.Tensor] = {}

    def forward(self, query, key, blocked, positions):
        shape = (*query.shape, blocked.shape[-1])
        q = self.kept.setdefault(shape, self._split_heads(self.query_proj(query)))
        return masked_softmax(q @ key.mT * self.scale, blocked)


class NeighbouringQueries(Product):
    """Smooths each query with the one asked before it."""

    def forward(self, query, key, blocked, positions):
        before = nn.functional.pad(query, (0, 0, 1, 0))[:, :-1]
        return super().forward((query + before) / 2, key, blocked, positions)


class SharperWhenLonger(Product):
    """Divides by a temperature that depends on how many keys there are at all."""

    def forward(self, query, key, blocked, positions):
        q = self._split_heads(self.query_proj(query))
        return masked_softmax(q @ key.mT * self.scale * blocked.shape[-1] ** 0.5, blocked)


class BatchStatistics(Product):
    """Divides scores by the largest of the batch."""

    def forward(self, query, key, blocked, positions):
        scores = self._split_heads(self.query_proj(query)) @ key.mT
        return masked_softmax(
            3 * scores / scores.masked_fill(blocked, 0.0).abs().amax().clamp_min(1e-9), blocked
        )


class DrawnAgain(Distance):
    """Draws noise in every call."""

    def scores(self, query, blocked, positions):
        scores = super().scores(query, blocked, positions)
        return scores + torch.rand(scores.shape[1:], dtype=scores.dtype)


class NotSaved(Distance):
    """Draws a slope that is neither a parameter nor a buffer."""

    def __init__(self, stack: Stack) -> None:
        super().__init__(stack)
        self.slope = float(torch.rand(()))

    def scores(self, query, blocked, positions):
        return super().scores(query, blocked, positions) * self.slope


class NotANumber(Distance):
    """Masks with minus infinity: a row without a key is not a number."""

    def forward(self, query, key, blocked, positions):
        return (
            self.scores(query, blocked, positions).masked_fill(blocked, float("-inf")).softmax(-1)
        )


class SumsUnsaid(Distance):
    """Makes rows that do not sum to one, and does not say so."""

    def forward(self, query, key, blocked, positions):
        return torch.sigmoid(self.scores(query, blocked, positions)).masked_fill(blocked, 0.0)


class RoundsToFloat(Distance):
    """Computes in float32 whatever the type of its query is, as `.float()` out of habit does."""

    def forward(self, query, key, blocked, positions):
        scores = self.scores(query, blocked, positions).float() / 3
        return masked_softmax(scores, blocked)


WRONG: dict[str, tuple[Callable, str]] = {  # what makes it, and what the contract must say of it
    "convolved-keys": (
        ConvolvedKeys,
        r"read one at a time through the cache.* gives something else: position 1 differs",
    ),
    "rotates-from-zero": (
        RotatesFromZero,
        r"read one at a time through the cache.* gives something else: position 1 differs",
    ),
    "signed-unsaid": (
        SignedUnsaid,
        r"a weight is below zero, -0\.\d+\. If that is meant, its class says signed = True",
    ),
    "leak-from-eight": (
        LeakFromEight,
        "19 tokens: position 8 changed when token 9 changed, which is not there yet",
    ),
    "peeps-through-the-query": (
        PeepsThroughTheQuery,
        "5 tokens: position 1 changed when token 4 changed, which is not there yet",
    ),
    "blocked-in-the-sum": (
        BlockedInTheSum,
        r"5 tokens: row 0 of head 1 sums to 0\.\d+, not to one",
    ),
    "from-the-padded-end": (
        FromThePaddedEnd,
        "a sentence alone, not padded beside a longer one, gives something else",
    ),
    "block-border": (
        BlockBorder,
        "19 tokens: position 7 changed when token 8 changed, which is not there yet",
    ),
    "leaks-when-asked": (
        LeaksWhenAsked,
        r"leaks-when-asked\(ahead=1\) .*5 tokens: position 0 changed when token 1 changed",
    ),
    "keeps-the-first": (KeepsTheFirst, "what an earlier call was given changes a later one"),
    "neighbouring-queries": (
        NeighbouringQueries,
        "a row of weights depends on the other queries: position 1 differs",
    ),
    "sharper-when-longer": (
        SharperWhenLonger,
        "read one at a time through the cache.* gives something else",
    ),
    "batch-statistics": (
        BatchStatistics,
        "a sentence alone, not padded beside a longer one, gives something else",
    ),
    "drawn-again": (DrawnAgain, "the same call gives something else the second time"),
    "not-saved": (
        NotSaved,
        "saved and loaded, it gives something else: what is drawn must be a parameter or a buffer",
    ),
    "not-a-number": (NotANumber, "a row with every key blocked has the weight nan, not zero"),
    "rounds-to-float": (
        RoundsToFloat,
        r"differs by [\d.]+e-0\d. So little is rounding: the contract computes in float64",
    ),
    "sums-unsaid": (
        SumsUnsaid,
        "sums to .*, not to one. If that is meant, its class says rows_sum_to_one = False",
    ),
}
RIGHT: dict[str, Callable] = {
    "distance": Distance,
    "product": Product,
    "rotary": Rotary,
    "signed": Signed,
}


def register(monkeypatch, name: str) -> None:
    """Make a variant known by its name, as a line of the registry does."""
    module, make = (
        ModuleType(f"wrong_variants.{name}"),
        (RIGHT | {known: entry[0] for known, entry in WRONG.items()})[name],
    )

    def build(stack: Stack) -> list[AttentionWeights]:
        return [make(stack) for _ in range(stack.num_layers)]

    def build_with_option(stack: Stack, ahead: int = 0) -> list[AttentionWeights]:
        return [make(stack, ahead) for _ in range(stack.num_layers)]

    module.build = build_with_option if make is LeaksWhenAsked else build
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(variants.VARIANTS, name, module.__name__)
