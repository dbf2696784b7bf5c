r"""Hard-coded Gaussian attention: each head looks at a fixed distance, and nothing is learned.

You, Sun, Iyyer: Hard-Coded Gaussian Attention for Neural Machine Translation, ACL 2020, sections
    3.1, 3.2 and 6.3 (Table 5).
https://arxiv.org/abs/2005.00742

    weights[i, j] = N(j; mu, std^2) = 1 / (std sqrt(2 pi)) exp(-(j - mu)^2 / (2 std^2)),    std = 1
    self-attention:   mu = i + center,    center -1, +1 in the encoder, -1, 0 in the decoder
    cross attention:  mu = floor(gamma i + center),    center -1, 0, +1,    gamma = mean source length / mean target length

Paper -> here: offset of a head -> `center`, repeated over the heads (-1, +1, -1, +1, ...), the same
in every layer; sigma -> `std`; gamma -> `gamma`. `kernel` names the implementations of their Table
5: `density` is the formula above, `window` keeps its three taps around the mean (their
convolution), `index` copies the value at the mean.

The rows are densities and are never renormalised, because the paper's are not (its footnote;
confirmed in the authors' code): masks multiply after the density, so a decoder head with center 0
sums to at most 0.70 and border tokens lose up to 70 % of their mass; a row whose mean lies beyond
the sentence vanishes. There is no softmax, no scaling, no dropout. `renormalize=True` is a
different model, kept as a control.

Differs from the authors' code: it removes padding by zeroing the padded values; here their weights
are zero, which is the same product and keeps the promise that blocked weights are exactly 0. Its
cross attention uses the centers -1 and +1 without rounding, and its gamma is never applied:
`gaussian(centers=[-1, 1], gamma=1.0, floor=False)` at `cross`. Its windows and indices do not run.

Not included: models without value projections, which did a little worse with hard-coded cross
    attention (a footnote); and learned heads
beside hard-coded ones in one layer, which the code can build and no table shows.
Learned parameters in the weights: none.
"""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

from repro.core.attention.base import AttentionWeights, Positions, Stack
from repro.core.attention.patterns import at_offset, gaussian_density, within
from repro.errors import InputError

CENTERS = {"encoder_self": (-1.0, 1.0), "decoder_self": (-1.0, 0.0), "cross": (-1.0, 0.0, 1.0)}
TAPS = {"window": (-1, 0, 1), "index": (0,)}  # distances from the mean that a kernel reads


class Gaussian(AttentionWeights):
    """Normal densities around a fixed distance from the query.

    Args:
        centers: offset of each head from the query's position, in tokens; its length is the number
            of heads.
        head_dim: width of a head's values.
        std: standard deviation in tokens, the same for all heads.
        kernel: what is kept of the density.
        renormalize: divide each row by its sum after masking.
        gamma: keys per query; 1 in self-attention.
        floor: whether means are rounded down to a position.
    """

    def __init__(
        self,
        centers: Sequence[float],
        head_dim: int,
        std: float,
        kernel: str,
        renormalize: bool,
        gamma: float,
        floor: bool,
    ) -> None:
        super().__init__(len(centers), head_dim)
        self.centers, self.std, self.kernel, self.renormalize = (
            tuple(centers),
            std,
            kernel,
            renormalize,
        )
        self.gamma, self.floor = gamma, floor
        # a window may lie beyond the sentence
        self.rows_sum_to_one = renormalize and kernel == "density"

    def means(self, positions: Positions) -> Tensor:
        """Return where each head looks from each query, `(num_heads, query_len)`."""
        centers = torch.tensor(self.centers, device=positions.query.device, dtype=torch.float64)
        means = self.gamma * positions.query + centers[:, None]
        return means.floor() if self.floor else means

    def forward(self, query: Tensor, key: None, blocked: Tensor, positions: Positions) -> Tensor:
        means = self.means(positions)[..., None]
        # (num_heads, query_len, key_len) with the means
        keys = torch.arange(blocked.shape[-1], device=blocked.device)
        if self.kernel == "index":
            weights = at_offset(means, keys, 0).to(query.dtype)
        else:
            weights = gaussian_density(keys - means, self.std).to(query.dtype)
        if self.kernel == "window":
            weights = weights * within(means, keys, 1)
        weights = weights.masked_fill(blocked, 0.0)
        smallest = torch.finfo(weights.dtype).tiny  # a row without any allowed word stays zero
        return (
            weights / weights.sum(-1, keepdim=True).clamp_min(smallest)
            if self.renormalize
            else weights
        )

    def attend(
        self, query: Tensor, key: None, value: Tensor, blocked: Tensor, positions: Positions
    ) -> Tensor:
        if self.kernel == "density" or self.renormalize:
            return super().attend(query, key, value, blocked, positions)
        means, key_len, summed = self.means(positions).long(), value.shape[2], value.new_zeros(())
        for tap in TAPS[self.kernel]:  # linear in the length: no weight that is zero is ever made
            j = (means + tap)[None]  # (1, num_heads, query_len)
            inside, j = (j >= 0) & (j < key_len), j.clamp(0, key_len - 1)
            allowed = (
                inside
                & ~blocked.expand(-1, *j.shape[1:], -1).gather(
                    -1, j[..., None].expand(len(blocked), -1, -1, 1)
                )[..., 0]
            )
            picked = value.gather(2, j[..., None].expand(len(value), -1, -1, self.head_dim))
            density = (
                1.0
                if self.kernel == "index"
                else float(gaussian_density(torch.tensor(tap, dtype=torch.float64), self.std))
            )
            summed = summed + picked * allowed.to(value.dtype)[..., None] * density
        return summed


# Settings that no type suggests, for the contract tests.
EXAMPLES = ("renormalize=True, kernel='window'", "gamma=1.0, centers=[-1, 1], floor=False")


def build(
    stack: Stack,
    centers: tuple[float, ...] | None = None,
    std: float = 1.0,
    kernel: Literal["density", "window", "index"] = "density",
    renormalize: bool = False,
    gamma: Literal["data"] | float | None = None,
    floor: bool | None = None,
) -> list[AttentionWeights]:
    """Build one module per layer; defined at every site. Attention dropout is ignored: nothing is learned that could overfit.

    Args:
        stack: the layers to build for.
        centers: of the heads, repeated over them; default the paper's for the site.
        std: standard deviation in tokens.
        kernel: see the top of this file.
        renormalize: the control that makes rows sum to one, but where all of the density is too
            small for a number.
        gamma: cross attention only: a number, or `data` (default) for the length ratio of the
            training data.
        floor: cross attention only: whether means are rounded down (default; the paper) or not (the
            authors' code).

    Raises:
        InputError: options that make no sense, by themselves or at the site.
    """
    where, is_cross = f"model.{stack.site}", stack.site == "cross"
    centers = CENTERS[stack.site] if centers is None else centers
    if not 1e-3 <= std <= 1e6 or not 0 < len(centers) <= stack.num_heads:
        found = f"std is {std} and there are {len(centers)} centers for {stack.num_heads} heads"
        raise InputError(
            where,
            found,
            "give a std from 0.001 to 1,000,000 and between 1 center and one for each head",
        )
    if not is_cross and (gamma is not None or floor is not None):
        raise InputError(
            where, "gamma and floor belong to cross attention", "leave them out in self-attention"
        )
    ratio = (
        1.0 if not is_cross else stack.length_ratio if gamma is None or gamma == "data" else gamma
    )
    if ratio is None or ratio <= 0:
        raise InputError(
            where,
            f"gamma is {ratio}",
            "give a number above 0, or train: then gamma=data is the data's length ratio",
        )
    floor = is_cross if floor is None else floor
    if (
        kernel != "density"
        and not floor
        and not all(float(number).is_integer() for number in (ratio, *centers))
    ):
        mend = "use floor=True" if is_cross else "use whole centers"
        raise InputError(
            where, f"the kernel '{kernel}' needs whole positions, but means are not rounded", mend
        )
    heads = [centers[head % len(centers)] for head in range(stack.num_heads)]
    return [
        Gaussian(heads, stack.head_dim, std, kernel, renormalize, ratio, floor)
        for _ in range(stack.num_layers)
    ]
