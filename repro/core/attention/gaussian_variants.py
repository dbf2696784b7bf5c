r"""Hard-coded Gaussian attention: each head looks at a fixed distance, and nothing is learned.

You, Sun, Iyyer: Hard-Coded Gaussian Attention for Neural Machine Translation, ACL 2020, sections
3.1, 3.2 and 6.3 (Table 5). https://arxiv.org/abs/2005.00742

The paper's formula is `gaussian.py`; read that first. `kernel` names the implementations of their
Table 5: `density` is the formula, `window` keeps its three taps around the mean (their
convolution), `index` copies the value at the mean. `renormalize=True` divides rows by their sums:
a different model, kept as a control.

Differs from the authors' code: it removes padding by zeroing the padded values. Here their weights
are zero: the product is the same, and blocked weights are exactly 0. Its cross attention uses the
centers -1 and +1 without rounding, and its gamma is never applied: `gaussian(centers=[-1, 1],
gamma=1.0, floor=False)` at `cross`. Its windows and indices do not run.

Not included: models without value projections, which did a little worse with hard-coded cross
attention (a footnote). Nor learned and hard-coded heads in one layer: the code can build them, but
no table shows them.
"""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

from repro.core.attention.base import AttentionWeights, Positions, SiteError, Stack
from repro.core.attention.gaussian import CENTERS, Gaussian
from repro.core.attention.patterns import at_offset, gaussian_density, within
from repro.errors import InputError

TAPS = {"window": (-1, 0, 1), "index": (0,)}  # distances from the mean that a kernel reads


class GaussianWithOptions(Gaussian):
    """The paper's densities, cut down to a few taps or renormalised.

    Args:
        centers, head_dim, std, gamma, floor: see `Gaussian`.
        kernel: what is kept of the density.
        renormalize: divide each row by its sum after masking.
    """

    def __init__(
        self,
        centers: Sequence[float],
        head_dim: int,
        std: float,
        gamma: float,
        floor: bool,
        kernel: str,
        renormalize: bool,
    ) -> None:
        super().__init__(centers, head_dim, std, gamma, floor)
        self.kernel, self.renormalize = kernel, renormalize
        # a window may be beyond the sentence
        self.rows_sum_to_one = renormalize and kernel == "density"

    def density(self, means: Tensor, keys: Tensor) -> Tensor:
        if self.kernel == "index":
            return at_offset(means, keys, 0)
        weights = super().density(means, keys)
        return weights * within(means, keys, 1) if self.kernel == "window" else weights

    def forward(self, query: Tensor, key: None, blocked: Tensor, positions: Positions) -> Tensor:
        weights = super().forward(query, key, blocked, positions)
        if not self.renormalize:
            return weights
        smallest = torch.finfo(weights.dtype).tiny  # a row without any allowed word stays zero
        return weights / weights.sum(-1, keepdim=True).clamp_min(smallest)

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
    """Build one module per layer; defined at every site.

    Attention dropout is ignored: nothing is learned that could overfit.

    Args:
        stack: the layers to build for.
        centers: of the heads, repeated over them; default the paper's for the site.
        std: standard deviation in tokens.
        kernel, renormalize: see the top of this file. A row stays below one where all of its
            density is too small for a number.
        gamma: cross attention only: a number, or `data` (default) for the length ratio of the
            training data.
        floor: cross attention only: whether means are rounded down (default; the paper) or not (the
            authors' code).

    Raises:
        SiteError: an option of cross attention in self-attention.
        InputError: options that make no sense.
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
        raise SiteError(
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
    if kernel == "index" and (std != 1.0 or renormalize):
        what = "copies values with weight one, so std and renormalize do nothing"
        raise InputError(f"{where}: gaussian(kernel='index')", what, "leave them out")
    floor = is_cross if floor is None else floor
    if (
        kernel != "density"
        and not floor
        and not all(float(number).is_integer() for number in (ratio, *centers))
    ):
        fix = "use floor=True" if is_cross else "use whole centers"
        raise InputError(
            where, f"the kernel '{kernel}' needs whole positions, but means are not rounded", fix
        )
    heads = [centers[head % len(centers)] for head in range(stack.num_heads)]
    return [
        GaussianWithOptions(heads, stack.head_dim, std, ratio, floor, kernel, renormalize)
        for _ in range(stack.num_layers)
    ]
