r"""Scaled dot-product attention: every head learns where to look. The baseline of all five papers.

Vaswani, Shazeer, Parmar, Uszkoreit, Jones, Gomez, Kaiser, Polosukhin: Attention Is All You Need, NeurIPS 2017, section 3.2.

    weights = softmax(Q K^T / sqrt(d_k)),    Q = X_query W_Q,    K = X_key W_K          (equation 1)

Paper -> here: Q, K after projection -> `q`, `key`; d_k -> `head_dim`; h -> `num_heads`; d_model -> `embed_dim`.
Differs from the paper: the projections have no bias, as in the code of You et al. 2020.
Learned parameters in the weights: 2 embed_dim^2 per layer.
"""

from torch import Tensor, nn
from torch.nn import functional as F

from repro.attention.base import AttentionWeights
from repro.attention.masks import masked_softmax


class DotProduct(AttentionWeights):
    """Softmax of scaled query-key products.

    Args:
        embed_dim: width of the layer input.
        num_heads: must divide `embed_dim`.
        dropout: probability of dropping an attention weight in training. Applied in `attend` only: `forward` is the definition.
    """

    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.num_heads, self.dropout = num_heads, dropout
        self.query_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        self.key_proj = nn.Linear(embed_dim, embed_dim, bias=False)

    def _split_heads(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)  # (batch, num_heads, len, head_dim)

    def project_key(self, key: Tensor) -> Tensor:
        return self._split_heads(self.key_proj(key))

    def forward(self, query: Tensor, key: Tensor, blocked: Tensor, query_positions: Tensor) -> Tensor:
        q = self._split_heads(self.query_proj(query))
        scores = q @ key.transpose(-2, -1) / q.shape[-1] ** 0.5
        return masked_softmax(scores, blocked)

    def attend(self, query: Tensor, key: Tensor, value: Tensor, blocked: Tensor, query_positions: Tensor) -> Tensor:
        weights = self(query, key, blocked, query_positions)
        return F.dropout(weights, self.dropout, self.training) @ value


def build(site: str, num_layers: int, embed_dim: int, num_heads: int, dropout: float = 0.0) -> list[AttentionWeights]:
    """Build one independent module per layer; defined at every site."""
    return [DotProduct(embed_dim, num_heads, dropout) for _ in range(num_layers)]
