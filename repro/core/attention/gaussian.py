r"""Hard-coded Gaussian attention as the paper defines it: each head looks at a fixed distance.

You, Sun, Iyyer: Hard-Coded Gaussian Attention for Neural Machine Translation, ACL 2020, sections
3.1 and 3.2. https://arxiv.org/abs/2005.00742

    weights[i, j] = N(j; mu, std^2) = 1 / (std sqrt(2 pi)) exp(-(j - mu)^2 / (2 std^2)),   std = 1
    self-attention:   mu = i + center,    center -1, +1 in the encoder, -1, 0 in the decoder
    cross attention:  mu = floor(gamma i + center),    center -1, 0, +1,
                      gamma = mean source length / mean target length

Paper -> here: offset of a head -> `center`, repeated over the heads (-1, +1, -1, +1, ...), the same
in every layer; sigma -> `std`; gamma -> `gamma`.

The rows are densities and are never renormalised, because the paper's are not (its footnote;
confirmed in the authors' code). Masks multiply after the density, so a decoder head with center 0
sums to at most 0.70, and border tokens lose up to 70 % of their mass. A row whose mean is beyond
the sentence vanishes. There is no softmax, no scaling, no dropout.

The options of `gaussian(...)`, and what the authors' code does otherwise, are in
`gaussian_variants.py`. Learned parameters in the weights: none.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from repro.core.attention.base import AttentionWeights, Positions
from repro.core.attention.patterns import gaussian_density

CENTERS = {"encoder_self": (-1.0, 1.0), "decoder_self": (-1.0, 0.0), "cross": (-1.0, 0.0, 1.0)}


class Gaussian(AttentionWeights):
    """Normal densities around a fixed distance from the query.

    Args:
        centers: offset of each head from the query's position, in tokens; its length is the number
            of heads.
        head_dim: width of a head's values.
        std: standard deviation in tokens, the same for all heads.
        gamma: keys per query; 1 in self-attention.
        floor: whether means are rounded down to a position, as in cross attention.
    """

    rows_sum_to_one = False  # a density loses what falls outside the sentence

    def __init__(
        self,
        centers: Sequence[float],
        head_dim: int,
        std: float = 1.0,
        gamma: float = 1.0,
        floor: bool = False,
    ) -> None:
        super().__init__(len(centers), head_dim)
        self.centers, self.std, self.gamma, self.floor = tuple(centers), std, gamma, floor

    def means(self, positions: Positions) -> Tensor:
        """Return where each head looks from each query, `(num_heads, query_len)`."""
        centers = torch.tensor(self.centers, device=positions.query.device, dtype=torch.float64)
        means = self.gamma * positions.query + centers[:, None]
        return means.floor() if self.floor else means

    def density(self, means: Tensor, keys: Tensor) -> Tensor:
        """Return the density at each key, `(num_heads, query_len, key_len)`."""
        return gaussian_density(keys - means, self.std)

    def forward(self, query: Tensor, key: None, blocked: Tensor, positions: Positions) -> Tensor:
        keys = torch.arange(blocked.shape[-1], device=blocked.device)
        weights = self.density(self.means(positions)[..., None], keys)
        return weights.to(query.dtype).masked_fill(blocked, 0.0)
