r"""Scaled dot-product attention: every head learns where to look. The baseline of all five papers.

Vaswani, Shazeer, Parmar, Uszkoreit, Jones, Gomez, Kaiser, Polosukhin: Attention Is All You Need,
NeurIPS 2017, section 3.2. https://arxiv.org/abs/1706.03762

    weights = softmax(Q K^T / sqrt(d_k)),    Q = X_query W_Q,    K = X_key W_K          (equation 1)

Paper -> here: Q, K after projection -> `q`, `key`; d_k -> `head_dim`; h -> `num_heads`; d_model ->
`embed_dim`. With `heads=1` it is the single cross attention head of full width of You et al. 2020
(sh-x), scaled by its own width. The projections have no bias, as in the paper's formulas and the
code of You et al. 2020; many implementations add one. Learned parameters in the weights: 2
embed_dim * num_heads * head_dim per layer, which is 2 embed_dim^2 unless `head_dim` is given.
"""

from torch import Tensor, nn
from torch.nn import functional as F

from repro.core.attention.base import AttentionWeights, Positions, Stack
from repro.core.attention.masks import masked_softmax
from repro.errors import InputError


class DotProduct(AttentionWeights):
    """Softmax of scaled query-key products.

    Args:
        embed_dim: width of the layer input.
        num_heads: number of heads.
        head_dim: width of a head's queries, keys and values.
        dropout: probability of dropping an attention weight in training. Applied in `attend` only:
            `forward` is the definition.
        scale_dim: the products are divided by its root; default `head_dim`.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        head_dim: int,
        dropout: float = 0.0,
        scale_dim: int | None = None,
    ) -> None:
        super().__init__(num_heads, head_dim)
        self.dropout, self.scale = dropout, (scale_dim or head_dim) ** -0.5
        self.query_proj = nn.Linear(embed_dim, num_heads * head_dim, bias=False)
        self.key_proj = nn.Linear(embed_dim, num_heads * head_dim, bias=False)

    def _split_heads(self, x: Tensor) -> Tensor:
        """Return queries or keys by head, `(batch, num_heads, length, head_dim)`."""
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def project_key(self, key: Tensor, positions: Tensor) -> Tensor:
        return self._split_heads(self.key_proj(key))

    def scores(self, query: Tensor, key: Tensor) -> Tensor:
        """Return the scaled products, `(batch, num_heads, query_len, key_len)`."""
        q = self._split_heads(self.query_proj(query))
        return q @ key.transpose(-2, -1) * self.scale

    def forward(self, query: Tensor, key: Tensor, blocked: Tensor, positions: Positions) -> Tensor:
        return masked_softmax(self.scores(query, key), blocked)

    def attend(
        self, query: Tensor, key: Tensor, value: Tensor, blocked: Tensor, positions: Positions
    ) -> Tensor:
        return F.dropout(self(query, key, blocked, positions), self.dropout, self.training) @ value


# Settings that no type suggests, for the contract tests.
EXAMPLES = ("heads=1", "heads=3, head_dim=5")


def build(
    stack: Stack, heads: int | None = None, head_dim: int | None = None
) -> list[AttentionWeights]:
    """Build one independent module per layer; defined at every site.

    Args:
        stack: the layers to build for.
        heads: number of heads; default the model's.
        head_dim: width of a head; default the width of the layer / heads.

    Raises:
        InputError: no heads, heads without width, or heads that do not divide the width.
    """
    heads, where = stack.num_heads if heads is None else heads, f"model.{stack.site}"
    if head_dim is not None and head_dim < 1:
        raise InputError(where, f"head_dim is {head_dim}", "use a width of 1 or more")
    if heads < 1 or (head_dim is None and stack.embed_dim % heads):
        width = "embed_dim / heads" if head_dim is None else head_dim
        found = f"{heads} heads of width {width} do not fit embed_dim {stack.embed_dim}"
        raise InputError(
            where, found, "use a divisor of embed_dim, or none where no head is wanted"
        )
    head_dim = stack.embed_dim // heads if head_dim is None else head_dim
    return [
        DotProduct(stack.embed_dim, heads, head_dim, stack.dropout) for _ in range(stack.num_layers)
    ]
