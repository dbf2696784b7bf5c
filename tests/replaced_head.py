"""Replace the weights of one head of a trained model: what the page's engine is compared with.

The head keeps its values and its part of the output projection.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from torch import Tensor

from repro.core.attention.base import AttentionWeights, Positions
from repro.core.transformer import Transformer


class _Replaced(AttentionWeights):
    """The weights of a layer, with those of one head replaced; see `replaced_head`."""

    def __init__(
        self,
        layer: AttentionWeights,
        head: int,
        other: AttentionWeights | None,
        forbidden: Iterable[tuple[int, int]],
    ) -> None:
        super().__init__(layer.num_heads, layer.head_dim)
        self.layer, self.head, self.other = layer, head, other
        self.forbidden = list(forbidden)

    def project_key(self, key: Tensor, positions: Tensor) -> Tensor | None:
        return self.layer.project_key(key, positions)

    def forward(
        self, query: Tensor, key: Tensor | None, blocked: Tensor, positions: Positions
    ) -> Tensor:
        weights = self.layer(query, key, blocked, positions)
        blocked = blocked.expand(-1, -1, len(positions.query), -1).clone()
        for place in self.forbidden:
            blocked[:, :, *place] = True
        row = (
            self.layer(query, key, blocked, positions)[:, self.head]
            if self.other is None
            else self.other(query, None, blocked, positions)[:, 0]
        )
        weights = weights.expand(max(len(weights), len(row)), -1, -1, -1).clone()
        weights[:, self.head] = row
        return weights


@contextmanager
def replaced_head(
    model: Transformer,
    site: str,
    layer: int,
    head: int,
    weights: AttentionWeights | None = None,
    forbidden: Iterable[tuple[int, int]] = (),
) -> Iterator[None]:
    """Replace the weights of a head within a block, where whole sentences are read.

    Args:
        model: changed in place, and restored.
        site, layer, head: the head, counted from 0.
        weights: of one head, made without keys; None = the head's own.
        forbidden: queries and keys by position; the head may not attend there, besides the mask.
    """
    attention = model.attentions()[site][layer]
    before = attention.weights
    attention.weights = _Replaced(before, head, weights, forbidden)
    try:
        yield
    finally:
        attention.weights = before
