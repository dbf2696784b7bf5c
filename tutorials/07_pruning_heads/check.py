"""What these exercises ask for, from its definition: Voita et al. (ACL 2019), section 6.1;
constants and the soft rule from their code."""

import math

import torch

from repro import exercise

TEMPERATURE, EPSILON = 0.33, 0.1


def table(num_rows, num_columns, number):
    """Return a matrix of `number(i, j)` that has a gradient if the numbers have."""
    return torch.stack(
        [torch.stack([number(i, j) for j in range(num_columns)]) for i in range(num_rows)]
    )


def learned(*log_alpha):
    """Return a parameter, which an answer must pass a gradient back to."""
    return torch.tensor(log_alpha, requires_grad=True)


def noise(uniform):
    """Return logistic noise: uniform numbers between 0 and 1, spread over the whole line."""
    return torch.log(uniform) - torch.log(1 - uniform)


def stretch(s):
    """Stretch from (0, 1) to (-0.1, 1.1)."""
    return (1 + 2 * EPSILON) * s - EPSILON


def squeeze(uniform, log_alpha):
    """Return s of one draw, between 0 and 1."""
    return 1 / (1 + torch.exp(-(noise(uniform) + log_alpha) / TEMPERATURE))


@exercise(
    cases=[
        (
            learned(-1.0, 0.0, 2.0),
            torch.tensor([[0.1, 0.05, 0.3], [0.5, 0.5, 0.5], [0.8, 0.6, 0.02], [0.99, 0.45, 0.9]]),
        ),
        (
            learned(0.7, -2.5),
            torch.tensor([[0.2, 0.9], [0.35, 0.95], [0.5, 0.97], [0.7, 0.4], [0.3, 0.99]]),
        ),
    ],
    hints=[
        "What is the gate for u = 1/2 and log alpha = 0, step by step?",
        (
            "Work out one draw on paper: u = 1/2 and log alpha = 0 have no noise, s = 1/2, and "
            "the gate is 1/2. Then add one thing at a time."
        ),
        (
            "`s = torch.sigmoid((torch.logit(uniform) + log_alpha) / TEMPERATURE)`, then `((1 + 2 "
            "* EPSILON) * s - EPSILON).clamp(0, 1)`."
        ),
    ],
    hidden=[(learned(0.2, 1.2, -0.6), torch.tensor([[0.4, 0.25, 0.7], [0.6, 0.15, 0.85]]))],
)
def hard_concrete(log_alpha, uniform):
    return table(
        *uniform.shape, lambda i, j: stretch(squeeze(uniform[i, j], log_alpha[j])).clamp(0, 1)
    )


@hard_concrete.mistake
def not_clipped(log_alpha, uniform):
    """Your gates leave [0, 1]. Clip after stretching: what stands outside falls on exactly 0 or 1,
    and these lumps are the point of it."""
    return stretch(squeeze(uniform, log_alpha))


@hard_concrete.mistake
def not_stretched(log_alpha, uniform):
    """The stretch is missing. A sigmoid never reaches 0 or 1, so without it no gate is ever
    shut."""
    return squeeze(uniform, log_alpha)


@hard_concrete.mistake
def no_temperature(log_alpha, uniform):
    """The temperature is missing: divide by 0.33 before the sigmoid. Without it, far more draws
    fall between 0 and 1."""
    return stretch(torch.sigmoid(noise(uniform) + log_alpha)).clamp(0, 1)


@hard_concrete.mistake
def temperature_of_noise(log_alpha, uniform):
    """You divided the noise by the temperature, but not log alpha: the sum of both is divided."""
    return stretch(torch.sigmoid(noise(uniform) / TEMPERATURE + log_alpha)).clamp(0, 1)


@hard_concrete.mistake
def temperature_of_log_alpha(log_alpha, uniform):
    """You divided log alpha by the temperature, but not the noise: put the sum of both in brackets,
    then divide it."""
    return stretch(torch.sigmoid(noise(uniform) + log_alpha / TEMPERATURE)).clamp(0, 1)


@hard_concrete.mistake
def times_the_temperature(log_alpha, uniform):
    """You multiplied by the temperature. Divide by it: less than 1, it makes the sigmoid steeper,
    and most draws fall near 0 or 1."""
    return stretch(torch.sigmoid((noise(uniform) + log_alpha) * TEMPERATURE)).clamp(0, 1)


@hard_concrete.mistake
def logarithm_twice(log_alpha, uniform):
    """`log_alpha` is a logarithm already, and you took its logarithm: a parameter below 0, which
    shuts its gate, has none (NaN)."""
    return stretch(torch.sigmoid((noise(uniform) + torch.log(log_alpha)) / TEMPERATURE)).clamp(0, 1)


@hard_concrete.mistake
def stretched_once(log_alpha, uniform):
    """You stretched to one side only: with (1 + epsilon) s - epsilon no gate is ever clipped to 1.
    The factor is 1 + 2 epsilon."""
    return ((1 + EPSILON) * squeeze(uniform, log_alpha) - EPSILON).clamp(0, 1)


@hard_concrete.mistake
def half_the_noise(log_alpha, uniform):
    """The noise is log u - log(1 - u). With log u alone it is never positive, and gates shut too
    often."""
    return stretch(torch.sigmoid((torch.log(uniform) + log_alpha) / TEMPERATURE)).clamp(0, 1)


@hard_concrete.mistake
def turned_round(log_alpha, uniform):
    """Your log alpha shuts gates: it is added to the noise, not subtracted, so that a large one
    opens its gate."""
    return hard_concrete.definition(-log_alpha, uniform)


@exercise(
    cases=[(learned(-3.0, -1.0, 0.0, 0.5),), (learned(2.0, -0.4),)],
    hints=[
        "For which s does the gate just leave 0?",
        (
            "The gate is 0 while s <= epsilon / (1 + 2 epsilon) = 1/12. Solve the formula of s "
            "for u; the chance of a larger u is 1 - u."
        ),
        "`torch.sigmoid(log_alpha - TEMPERATURE * math.log(EPSILON / (1 + EPSILON)))`.",
    ],
    hidden=[(learned(1.1, -2.2, 0.1),)],
)
def chance_open(log_alpha):
    edge = EPSILON / (1 + 2 * EPSILON)  # of s: below it, the gate is 0
    noise_at_edge = [TEMPERATURE * math.log(edge / (1 - edge)) - a for a in log_alpha]
    return torch.stack([1 - 1 / (1 + torch.exp(-value)) for value in noise_at_edge])


@chance_open.mistake
def without_stretch(log_alpha):
    """This is the chance that s > 1/2. A gate is open in part from s > 1/12 on, which the stretch
    makes: see the shift by 0.791."""
    return torch.sigmoid(log_alpha)


@chance_open.mistake
def exactly_one(log_alpha):
    """This is P(g = 1), the chance of a gate that is wholly open. What costs is every gate that is
    not 0: mind the sign of the shift."""
    return torch.sigmoid(log_alpha + TEMPERATURE * math.log(EPSILON / (1 + EPSILON)))


@chance_open.mistake
def chance_shut(log_alpha):
    """This is P(g = 0), the chance of a shut gate. Asked for is the rest, 1 minus it."""
    return 1 - chance_open.definition(log_alpha)


@chance_open.mistake
def edge_without_temperature(log_alpha):
    """The temperature is missing: it multiplies the logarithm."""
    return torch.sigmoid(log_alpha - math.log(EPSILON / (1 + EPSILON)))


@exercise(
    cases=[
        ([learned(1.5, -2.0, 0.3), learned(-0.5, 3.0)], 0.1),
        ([learned(0.4), learned(-1.0, 2.0), learned(0.0, 0.8, -3.0)], 2.0),
    ],
    hints=[
        "Does a module with more heads pay more?",
        (
            "Every head pays price times its chance to be open, P(g != 0), whichever module it "
            "stands in. Is `chance_open` right already?"
        ),
        "`price * sum(chance_open(log_alpha).sum() for log_alpha in log_alphas)`.",
    ],
    hidden=[([learned(-0.3, 0.9, 1.4)], 0.5)],
)
def penalty(log_alphas, price):
    total = torch.tensor(0.0)
    for log_alpha in log_alphas:
        for chance in chance_open.definition(log_alpha):
            total = total + price * chance
    return total


@penalty.mistake
def mean_of_modules(log_alphas, price):
    """You averaged over the attention modules. The released code does that; the paper adds, so that
    the price is that of one head."""
    return penalty.definition(log_alphas, price) / len(log_alphas)


@penalty.mistake
def mean_in_each_module(log_alphas, price):
    """You averaged over the heads of each module. The penalty is a sum over all heads, and a module
    with more of them pays more."""
    return sum(penalty.definition([log_alpha], price) / len(log_alpha) for log_alpha in log_alphas)


@penalty.mistake
def mean_of_heads(log_alphas, price):
    """You averaged over the heads. The penalty is a sum: a model with more open heads pays more."""
    return penalty.definition(log_alphas, price) / sum(map(len, log_alphas))


@penalty.mistake
def counted(log_alphas, price):
    """You counted the open heads. A count does not change when a parameter moves a little, so no
    gradient tells it where to go."""
    return price * sum((log_alpha > 0).sum() for log_alpha in log_alphas)


@penalty.mistake
def sum_of_gates(log_alphas, price):
    """You added the gates themselves. A model could halve its gates, double the next matrix, and
    pay half without losing a head."""
    return price * sum(
        stretch(torch.sigmoid(log_alpha)).clamp(0, 1).sum() for log_alpha in log_alphas
    )


@penalty.mistake
def price_forgotten(log_alphas, price):
    """The price is missing: this is the expected number of open heads."""
    return penalty.definition(log_alphas, 1.0)


LOG_ALPHA = torch.tensor([-3.0, -0.4, 0.0, 0.4, 1.0, 2.8])


@exercise(
    cases=[(LOG_ALPHA, "sign"), (LOG_ALPHA[:5], "soft"), (LOG_ALPHA[3:], "soft")],
    hints=[
        "Which of the two rules gives a number between 0 and 1?",
        (
            "sign: 1 where log alpha is positive, else 0. soft: sigmoid, stretch, clip, and "
            "nothing else."
        ),
        (
            "`(log_alpha > 0).float()`, or `((1 + 2 * EPSILON) * torch.sigmoid(log_alpha) - "
            "EPSILON).clamp(0, 1)`."
        ),
    ],
    hidden=[(torch.tensor([-1.5, 0.9]), "soft"), (torch.tensor([-1.5, 0.9]), "sign")],
)
def test_gate(log_alpha, rule):
    gates = []
    for a in log_alpha.tolist():
        if rule == "sign":
            gates.append(1.0 if a > 0 else 0.0)
        else:
            gates.append(min(1.0, max(0.0, stretch(1 / (1 + math.exp(-a))))))
    return torch.tensor(gates)


@test_gate.mistake
def minus_one(log_alpha, rule):
    """`torch.sign` says -1 for a negative number, and a head with gate -1 is turned round. A shut
    gate is 0."""
    return torch.sign(log_alpha) if rule == "sign" else test_gate.definition(log_alpha, rule)


@test_gate.mistake
def likelier_than_not(log_alpha, rule):
    """You opened gates with P(g != 0) > 1/2. The paper asks which is larger, P(g = 1) or P(g = 0),
    and leaves out what lies between."""
    return (
        (chance_open.definition(log_alpha) > 0.5).float()
        if rule == "sign"
        else test_gate.definition(log_alpha, rule)
    )


@test_gate.mistake
def over_one_half(log_alpha, rule):
    """You compared log alpha with 1/2. P(g = 1) and P(g = 0) are equal at 0."""
    return (log_alpha > 0.5).float() if rule == "sign" else test_gate.definition(log_alpha, rule)


@test_gate.mistake
def open_at_zero(log_alpha, rule):
    """At log alpha = 0 the two chances are equal, and the gate stays shut: 1 where log alpha is
    *above* 0."""
    return (log_alpha >= 0).float() if rule == "sign" else test_gate.definition(log_alpha, rule)


@test_gate.mistake
def with_temperature(log_alpha, rule):
    """You divided by the temperature, as a draw with u = 1/2 does. At test time the released code
    leaves it out together with the noise."""
    soft = stretch(torch.sigmoid(log_alpha / TEMPERATURE)).clamp(0, 1)
    return soft if rule == "soft" else test_gate.definition(log_alpha, rule)


@test_gate.mistake
def sigmoid_alone(log_alpha, rule):
    """The soft gate is stretched and clipped like a draw; a sigmoid alone is never 0 or 1."""
    return torch.sigmoid(log_alpha) if rule == "soft" else test_gate.definition(log_alpha, rule)


@test_gate.mistake
def exchanged(log_alpha, rule):
    """The rules are exchanged: "sign" gives 0 or 1, "soft" what lies between as well."""
    return test_gate.definition(log_alpha, "soft" if rule == "sign" else "sign")


@test_gate.mistake
def soft_not_clipped(log_alpha, rule):
    """Your soft gates leave [0, 1]: clip after stretching, as in a draw."""
    return (
        stretch(torch.sigmoid(log_alpha))
        if rule == "soft"
        else test_gate.definition(log_alpha, rule)
    )
