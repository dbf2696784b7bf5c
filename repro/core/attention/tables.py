"""Scores learned for positions, not tokens: a max_len by max_len matrix per head, cut to size."""

import torch
from torch import Tensor, nn

from repro.errors import InputError


def cut(table: Tensor, query_positions: Tensor, key_len: int, beyond: str, variant: str) -> Tensor:
    """Return the rows of the queries and the columns of the keys.

    Args:
        table: scores, `(num_heads, at least the rows asked for, max_len)`.
        query_positions: absolute positions, `(query_len,)`.
        key_len: number of keys.
        beyond: `refuse` a sentence longer than max_len, or `clamp`: positions past the table use
            its last row and column.
        variant: name for the error.

    Returns:
        `(num_heads, query_len, key_len)`.

    Raises:
        InputError: a sentence longer than the table, unless clamped.
    """
    max_len = table.shape[-1]
    longest = max(key_len, int(query_positions[-1]) + 1)
    if longest > max_len and beyond == "refuse":
        what = f"a sentence has {longest} tokens, but {variant} has learned scores for {max_len}"
        raise InputError(
            "attention", what, f"shorten or split the sentence, or use {variant}(beyond='clamp')"
        )
    if longest <= max_len:
        return table[:, query_positions, :key_len]
    columns = torch.arange(key_len, device=table.device).clamp_max(max_len - 1)
    return table[:, query_positions.clamp_max(max_len - 1)][..., columns]


class Kept:
    """Tables made from parameters alone, kept while none changes and no gradient is wanted."""

    def __init__(self) -> None:
        self._state: tuple = ()
        self._tables: dict[int, Tensor] = {}

    def of(self, module: nn.Module) -> dict[int, Tensor]:
        """Return what was kept for a module, for the caller to add to; empty if outdated."""
        if torch.is_grad_enabled():
            # An update may follow, and fused optimisers leave the version of a parameter as it is.
            self._state, self._tables = (), {}
            return {}
        kind = next(module.parameters()).device.type  # autocast lowers the precision of tables
        precision = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else None
        versions = [(each.data_ptr(), each._version) for each in module.parameters()]
        state = (precision, *versions)
        if self._state != state:
            self._state, self._tables = state, {}
        return self._tables
