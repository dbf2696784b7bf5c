"""The seam: an attention variant is whatever turns queries, keys and positions into a matrix of weights.

The five papers change how the weights are made and nothing else, so this interface is all that a variant implements. Values, the
output projection and caching live in `multihead.py`, the same for every variant.
"""

from torch import Tensor, nn


class AttentionWeights(nn.Module):
    """Make the attention weights of all heads of one layer.

    Promises, held by the contract tests for every entry of `VARIANTS`: weights are >= 0 and exactly 0 where blocked; a row with
    every key blocked is all zeros; a change after a position changes nothing before it when the future is blocked; padding and
    batch order change nothing; one query at a time gives what all queries at once give; rows sum to one unless the variant's
    file says why not.
    """

    def project_key(self, key: Tensor) -> Tensor | None:
        """Prepare what later queries are scored against, once per attended position; a cache keeps it.

        Args:
            key: layer input at the attended positions, `(batch, key_len, embed_dim)`.

        Returns:
            `(batch, num_heads, key_len, head_dim)`, or None for a variant that never looks at keys.
        """
        return None

    def forward(self, query: Tensor, key: Tensor | None, blocked: Tensor, query_positions: Tensor) -> Tensor:
        """Return the weights: the definition that tests, plots and analysis use.

        Args:
            query: layer input at the querying positions, `(batch, query_len, embed_dim)`.
            key: what `project_key` returned.
            blocked: bool, True = may not attend, `(batch or 1, 1, query_len, key_len)`.
            query_positions: absolute positions of the queries, `(query_len,)`: all of them in training, one in a decoding step.

        Returns:
            `(batch or 1, num_heads, query_len, key_len)`.
        """
        raise NotImplementedError

    def attend(self, query: Tensor, key: Tensor | None, value: Tensor, blocked: Tensor, query_positions: Tensor) -> Tensor:
        """Return `forward(...) @ value`; a variant overrides this where the same result can be had faster.

        Args:
            value: projected values, `(batch, num_heads, key_len, head_dim)`.

        Returns:
            `(batch, num_heads, query_len, head_dim)`.
        """
        return self(query, key, blocked, query_positions) @ value
