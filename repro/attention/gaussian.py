r"""Hard-coded Gaussian self-attention: each head looks at a fixed distance, and nothing is learned.

You, Sun, Iyyer: Hard-Coded Gaussian Attention for Neural Machine Translation, ACL 2020, section 3.1.

    weights[i, j] = N(j; i + center, std^2) = 1 / (std sqrt(2 pi)) exp(-(j - i - center)^2 / (2 std^2)),    std = 1

Paper -> here: offset -1 / 0 / +1 of a head -> `center`; sigma -> `std`.
Encoder heads look at -1 and +1, decoder heads at -1 and 0, repeated over the heads (-1, +1, -1, +1, ...), in every layer.

The rows are densities and are never renormalised, because the paper's are not (its footnote; confirmed in the authors' code):
masks multiply after the density, so a decoder head with center 0 sums to at most 0.70 and border tokens lose up to 70 % of their
mass. A renormalised version is a different model. There is no softmax, no scaling, no dropout.

Differs from the authors' code: it removes padding by zeroing the padded values; here their weights are zero, which is the same
product and keeps the promise that blocked weights are exactly 0.
Not included: hard-coded cross attention.
Learned parameters in the weights: none.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from repro.attention.base import AttentionWeights
from repro.attention.patterns import gaussian_density
from repro.errors import InputError

CENTERS = {"encoder_self": (-1.0, 1.0), "decoder_self": (-1.0, 0.0)}


class Gaussian(AttentionWeights):
    """Normal densities around a fixed offset from the query.

    Args:
        centers: offset of each head from the query's position, in tokens; its length is the number of heads.
        std: standard deviation in tokens, the same for all heads.
    """

    def __init__(self, centers: Sequence[float], std: float = 1.0) -> None:
        super().__init__()
        self.centers, self.std = tuple(centers), std

    def forward(self, query: Tensor, key: None, blocked: Tensor, query_positions: Tensor) -> Tensor:
        key_len = blocked.shape[-1]
        densities = [gaussian_density(query_positions, key_len, center, self.std) for center in self.centers]
        weights = torch.stack(densities).to(query.dtype)  # (num_heads, query_len, key_len)
        return weights.masked_fill(blocked, 0.0)


def build(
    site: str,
    num_layers: int,
    embed_dim: int,
    num_heads: int,
    dropout: float = 0.0,
    centers: Sequence[float] | None = None,
    std: float = 1.0,
) -> list[AttentionWeights]:
    """Build one module per layer; `centers` (default: the paper's for the site) are repeated cyclically over the heads.

    Attention dropout is ignored, as in the paper: nothing is learned that could overfit.

    Raises:
        InputError: the site is not a self-attention, or `std` or `centers` make no sense.
    """
    if site not in CENTERS:
        raise InputError(f"model.{site}", "gaussian is defined for self-attention only", "use it at encoder_self or decoder_self")
    centers = tuple(centers) if centers is not None else CENTERS[site]
    if not std > 0 or not 0 < len(centers) <= num_heads:
        found = f"std is {std} and there are {len(centers)} centers for {num_heads} heads"
        raise InputError(f"model.{site}", found, "give std > 0 and between 1 center and one for each head")
    repeated = [centers[head % len(centers)] for head in range(num_heads)]
    return [Gaussian(repeated, std) for _ in range(num_layers)]
