"""Multi-head attention around any variant: values, weighted sum, head gates, output projection.

Vaswani et al. 2017, section 3.2.2; gates: Voita et al. 2019, section 6.1. Everything here is shared
by all variants; only `weights` differs.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from repro.core.attention.base import AttentionWeights, Positions
from repro.core.attention.gates import HardConcrete


class KeysValues(NamedTuple):
    """What a layer attends to, projected once per position."""

    key: Tensor | None  # (batch, num_heads, key_len, head_dim); None for variants without keys
    value: Tensor  # (batch, num_heads, key_len, head_dim)

    def each(self, change: Callable[[Tensor], Tensor]) -> "KeysValues":
        """Return keys and values changed alike."""
        return KeysValues(None if self.key is None else change(self.key), change(self.value))


class Moves(NamedTuple):
    """Rows that change place: row `to[i]` becomes what row `origin[i]` was.

    All others of `num_rows` stay, and later rows are dropped.
    """

    num_rows: int
    to: Tensor
    origin: Tensor

    @classmethod
    def of(cls, rows: Tensor) -> "Moves":
        """Return what moves when row `i` becomes what row `rows[i]` was."""
        to = (rows != torch.arange(len(rows), device=rows.device)).nonzero()[:, 0]
        return cls(len(rows), to, rows[to])


class Store:
    """Keys and values that search changes in place, with room for further positions.

    Copying them costs more than anything else in beam search, so only rows that change place are
    copied. The stores that `move` and `append` return take over the tensors, so a store is used
    once. Gradients do not pass through: autograd refuses, because the values are overwritten.
    """

    def __init__(self, attended: KeysValues, room: KeysValues | None = None) -> None:
        self.attended = attended
        # `attended` is the beginning of these tensors, which have positions first, `(room, rows,
        # num_heads, head_dim)`: a step reads and writes one position of all rows in one stretch.
        self._room: KeysValues | None = (
            attended.each(lambda tensor: tensor.permute(2, 0, 1, 3)) if room is None else room
        )

    def move(self, moves: Moves) -> "Store":
        """Return the rows in their new places."""
        room, length = self._take_room(), self.attended.value.shape[2]
        for tensor in room:
            if tensor is not None and len(moves.to):
                past = tensor[:length]
                past.index_copy_(1, moves.to, past.index_select(1, moves.origin))
        return self._beginning(room, moves.num_rows, length)

    def append(self, later: KeysValues) -> "Store":
        """Return keys and values followed by the positions of `later`, row by row."""
        room, length = self._take_room(), self.attended.value.shape[2]
        new = later.each(lambda tensor: tensor.permute(2, 0, 1, 3))
        key = (
            None
            if room.key is None or new.key is None
            else _write_positions(room.key, length, new.key)
        )
        room = KeysValues(key, _write_positions(room.value, length, new.value))
        return self._beginning(room, len(later.value), length + later.value.shape[2])

    def _take_room(self) -> KeysValues:
        """Return the tensors and give them up, since a store is used once."""
        if self._room is None:
            raise RuntimeError(
                "this state has been continued already, which took over its keys and values: "
                "start again from the source"
            )
        room, self._room = self._room, None
        return room

    @staticmethod
    def _beginning(room: KeysValues, num_rows: int, length: int) -> "Store":
        """Return a store of the first rows and positions of these tensors."""
        return Store(room.each(lambda tensor: tensor[:length, :num_rows].permute(1, 2, 0, 3)), room)


def _write_positions(room: Tensor, length: int, new: Tensor) -> Tensor:
    """Write positions after the first `length`; return the room, or a larger one if needed."""
    num_rows, end = new.shape[1], length + len(new)
    if end > len(room):
        larger = room.new_empty(max(32, 2 * end), num_rows, *room.shape[2:])
        larger[:length] = room[:length, :num_rows]
        room = larger
    room[length:end, :num_rows] = new
    return room


class MultiHeadAttention(nn.Module):
    """Attend with the weights of a variant.

    Args:
        weights: the variant's module for this layer.
        embed_dim: width of input and output.
        gate: a module that returns a factor per head, such as `HardConcrete`; None = no gates.
    """

    head_scale: Tensor | None
    """Factors that multiply a trained model's heads, `(num_heads,)`: 0 masks a head out.

    None = all 1. Not saved with the model.
    """

    def __init__(
        self, weights: AttentionWeights, embed_dim: int, gate: HardConcrete | None = None
    ) -> None:
        super().__init__()
        self.weights, self.gate = weights, gate
        width = weights.num_heads * weights.head_dim
        self.value_proj = nn.Linear(embed_dim, width, bias=False)
        self.out_proj = nn.Linear(width, embed_dim, bias=False)
        self.register_buffer("head_scale", None, persistent=False)

    def project(self, attended: Tensor, positions: Tensor | None = None) -> KeysValues:
        """Project layer inputs `(batch, key_len, embed_dim)` into what can be attended to.

        Args:
            attended: at the attended positions.
            positions: where these are in their sentence, `(key_len,)`; None = from the start.
        """
        if positions is None:
            positions = torch.arange(attended.shape[1], device=attended.device)
        value = (
            self.value_proj(attended).unflatten(-1, (self.weights.num_heads, -1)).transpose(1, 2)
        )
        key = self.weights.project_key(attended, positions)
        # In order once here, instead of again at every step that reads it. Keys have positions
        # last, as the product of queries and keys reads them, which is several times faster for
        # the few queries of a step.
        return KeysValues(None if key is None else key.mT.contiguous().mT, value.contiguous())

    def factors(self) -> list[Tensor]:
        """Return gates, drawn again in training, and `head_scale`, each `(num_heads,)`."""
        found = (self.gate() if self.gate is not None else None, self.head_scale)
        return [factors for factors in found if factors is not None]

    def forward(
        self, query: Tensor, attended: KeysValues, blocked: Tensor, positions: Positions
    ) -> Tensor:
        """Return `(batch, query_len, embed_dim)`; for the arguments see `AttentionWeights`."""
        heads = self.weights.attend(query, attended.key, attended.value, blocked, positions)
        for factors in self.factors():
            heads = heads * factors.to(heads.dtype)[:, None, None]
        # (batch, query_len, num_heads * head_dim)
        return self.out_proj(heads.transpose(1, 2).flatten(2))
