r"""Hard Concrete head gates: one number per head that training may drive to exactly zero.

Voita, Talbot, Moiseev, Sennrich, Titov: Analyzing Multi-Head Self-Attention: Specialized Heads Do
the Heavy Lifting, the Rest Can Be Pruned, ACL 2019, section 6.1. https://arxiv.org/abs/1905.09418.
The distribution is that of Louizos, Welling, Kingma, ICLR 2018.

    MultiHead = concat_k(g_k head_k) W_O
    s = sigmoid((log u - log(1 - u) + log_alpha) / temperature),    u ~ U(0, 1)
    g = clip((1 + 2 epsilon) s - epsilon, 0, 1)
    penalty = sum_k P(g_k != 0)
    P(g != 0) = sigmoid(log_alpha - temperature log(epsilon / (1 + epsilon)))

Paper -> here: g_k -> what the module returns; log alpha -> `log_alpha`. One draw of u per head and
update, shared by all sentences. Constants from the authors' code, which the paper does not print:
temperature 0.33, epsilon 0.1, u within [1e-6, 1 - 1e-6].

At test time, by `rule="sign"` (the paper), a gate is open or shut, whichever is likelier; this is
exactly the sign of log_alpha. By `rule="soft"` (the code) it has its value without noise and
temperature, which is neither 0 nor 1 where |log_alpha| < 2.398.

`init`: the code's is Glorot uniform, U(-b, b) with b = sqrt(3 / num_heads), so gates start half
shut in a trained model. A number opens them further. The code averages the penalty over the
attention modules; here, as in the paper, it is their sum.
"""

import math

import torch
from torch import Tensor, nn

TEMPERATURE, EPSILON, MARGIN = 0.33, 0.1, 1e-6


class HardConcrete(nn.Module):
    """Gates of the heads of one attention module.

    Args:
        num_heads: one gate each.
        rule: the gate at test time, `sign` or `soft`.
        init: the first log_alpha; None = drawn as in the authors' code.
    """

    def __init__(self, num_heads: int, rule: str = "sign", init: float | None = None) -> None:
        super().__init__()
        bound = math.sqrt(3 / num_heads)
        first = (
            torch.empty(num_heads).uniform_(-bound, bound)
            if init is None
            else torch.full((num_heads,), float(init))
        )
        self.log_alpha, self.rule = nn.Parameter(first), rule

    def forward(self) -> Tensor:
        """Return a gate per head, `(num_heads,)`: a draw in training, the rule's in evaluation."""
        if self.training:
            u = torch.empty_like(self.log_alpha).uniform_(MARGIN, 1 - MARGIN)
            return _stretch(torch.sigmoid((u.log() - (-u).log1p() + self.log_alpha) / TEMPERATURE))
        if self.rule == "sign":
            return (self.log_alpha > 0).to(self.log_alpha.dtype)
        return _stretch(torch.sigmoid(self.log_alpha))

    def open_probability(self) -> Tensor:
        """Return P(g != 0) of each head, `(num_heads,)`."""
        return torch.sigmoid(self.log_alpha - TEMPERATURE * math.log(EPSILON / (1 + EPSILON)))

    def penalty(self) -> Tensor:
        """Return the expected number of open gates: the L0 penalty before its weight."""
        return self.open_probability().clamp(MARGIN, 1 - MARGIN).sum()


def _stretch(s: Tensor) -> Tensor:
    """Stretch values from (0, 1) beyond both ends, and clip them."""
    return ((1 + 2 * EPSILON) * s - EPSILON).clamp(0, 1)
