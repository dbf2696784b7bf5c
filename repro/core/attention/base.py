"""The seam: an attention variant turns queries, keys and positions into a matrix of weights.

The five papers change how the weights are made and nothing else, so this interface is all that a
variant implements. Values, head gates, the output projection and caching are in `multihead.py`,
the same for every variant.
"""

from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor, nn

from repro.errors import InputError


class SiteError(InputError):
    """A variant, or one of its options, is not defined at a site; the message says why.

    The contract tests read it: a refused site needs no entry in any test.
    """


@dataclass(frozen=True)
class Stack:
    """What a builder knows about the layers it builds for.

    Args:
        site: `encoder_self`, `decoder_self` or `cross`.
        num_layers: of the encoder or the decoder.
        embed_dim: width of the layer input.
        num_heads: of the model; a variant may have its own number. Must divide `embed_dim`.
        dropout: probability of dropping a learned attention weight in training.
        length_ratio: mean source length / mean target length in the training data, in tokens
            without marks; None where no data is known.
    """

    site: str
    num_layers: int
    embed_dim: int
    num_heads: int
    dropout: float = 0.0
    length_ratio: float | None = None

    @property
    def head_dim(self) -> int:
        """Width of a head."""
        return self.embed_dim // self.num_heads


class Positions(NamedTuple):
    """Where queries and keys are in their sentences.

    `query`: absolute positions of the queries, `(query_len,)`. In training these are all positions,
    in a decoding step one. In cross attention they repeat for each hypothesis of the sentence. So a
    row of weights may depend on its own query only. Keys are at 0, 1, ...

    `words`: the index, from 0, of the word that each key is a piece of, `(batch or 1, key_len)`;
    None where words are not known.
    """

    query: Tensor
    words: Tensor | None = None


class AttentionWeights(nn.Module):
    """Make the attention weights of all heads of one layer.

    Promises, held by the contract tests for every entry of `VARIANTS`:

    - weights are exactly 0 where blocked, and a row with every key blocked is all zeros;
    - weights are >= 0, unless `signed`; rows sum to one, unless `rows_sum_to_one` is False;
    - a change after a position changes nothing before it when the future is blocked;
    - padding and batch order change nothing, nor does an earlier call;
    - one token at a time through the cache gives what all at once give;
    - `build` raises `SiteError` at a site where the variant makes no sense.

    Parameters and persistent buffers are saved with a run. Random or counted numbers must be one of
    them, or they are drawn again whenever the model is loaded. The model draws every `nn.Linear`
    and `nn.Embedding` once more (`Transformer._initialize`): initial values that a variant chooses
    itself belong in an `nn.Parameter` of its own.

    Args:
        num_heads: number of heads.
        head_dim: width of a head's values; `num_heads * head_dim` need not be the width of the
            layer.
    """

    max_len: int | None = None
    """The longest sentence that the variant is defined for, in tokens; None = any."""

    rows_sum_to_one: bool = True
    """Whether each row of weights sums to one wherever a key is allowed."""

    signed: bool = False
    """Whether weights may be below zero. Such rows have no entropy and no divergence."""

    def __init__(self, num_heads: int, head_dim: int) -> None:
        super().__init__()
        self.num_heads, self.head_dim = num_heads, head_dim

    def project_key(self, key: Tensor, positions: Tensor) -> Tensor | None:
        """Prepare keys, once per attended position; a cache keeps the result for later queries.

        Args:
            key: layer input at the attended positions, `(batch, key_len, embed_dim)`.
            positions: where these keys are in their sentence, `(key_len,)`: all of them in
                training, that of the new token in a decoding step.

        Returns:
            `(batch, num_heads, key_len, head_dim)`, or None for a variant that never looks at keys.
            The cache takes any second and last size, such as one key for all heads.
        """
        return None

    def forward(
        self, query: Tensor, key: Tensor | None, blocked: Tensor, positions: Positions
    ) -> Tensor:
        """Return the weights: the definition that tests, plots and analysis use.

        Args:
            query: layer input at the querying positions, `(batch, query_len, embed_dim)`.
            key: what `project_key` returned.
            blocked: bool, True = may not attend, `(batch or 1, 1, query_len or 1, key_len)`.
            positions: of queries and keys.

        Returns:
            `(batch or 1, num_heads, query_len, key_len)`.
        """
        raise InputError(type(self).__module__, f"{type(self).__name__} has no forward", "write it")

    def attend(
        self,
        query: Tensor,
        key: Tensor | None,
        value: Tensor,
        blocked: Tensor,
        positions: Positions,
    ) -> Tensor:
        """Return `forward(...) @ value`.

        A variant overrides this where the same result is made faster, or to drop weights.

        Args:
            value: projected values, `(batch, num_heads, key_len, head_dim)`.

        Returns:
            `(batch, num_heads, query_len, head_dim)`.

        Raises:
            InputError: `forward` returned a shape that might be stretched to the right one unseen.
        """
        weights = self(query, key, blocked, positions)
        found = tuple(weights.shape) if isinstance(weights, Tensor) else type(weights).__name__
        expected = (self.num_heads, query.shape[1], value.shape[2])
        if found not in ((1, *expected), (len(value), *expected)):
            what = f"forward of {type(self).__name__} returned {found}"
            shape = f"({len(value)} or 1, {', '.join(map(str, expected))})"
            fix = f"return (batch or 1, num_heads, query_len, key_len), here {shape}"
            raise InputError(type(self).__module__, what, fix)
        return weights.to(value.dtype) @ value
