"""Mixed masks against the definition of Cui et al. 2019, section 3, written as plain loops."""

import math

import pytest
import torch

from repro.core.attention.base import Positions
from repro.core.attention.spec import build_weights

LENGTH, WIDTH = 5, 12


def allowed(letter: str, window: int) -> list[list[bool]]:
    rules = {
        "G": lambda i, j: True,
        "L": lambda i, j: i - window <= j <= i + window,
        "F": lambda i, j: j >= i,
        "B": lambda i, j: j <= i,
    }
    return [[rules[letter](i, j) for j in range(LENGTH)] for i in range(LENGTH)]


@pytest.mark.parametrize("scale, width", [("head", WIDTH / 4), ("model", WIDTH)])
@pytest.mark.parametrize("window", [0, 1, 2])
def test_each_head_is_a_softmax_within_its_neighbourhood(window, scale, width):
    (weights,) = build_weights(
        f"mixed(window={window}, scale='{scale}')", "encoder_self", 1, WIDTH, 4
    )
    x = torch.randn(1, LENGTH, WIDTH)
    found = weights(
        x,
        weights.project_key(x, torch.arange(LENGTH)),
        torch.zeros(1, 1, 1, LENGTH, dtype=torch.bool),
        Positions(torch.arange(LENGTH)),
    )[0]
    q, k = (
        x[0] @ p.weight.T.detach() for p in (weights.scorer.query_proj, weights.scorer.key_proj)
    )
    for head, letter in enumerate("GLFB"):
        part = slice(3 * head, 3 * head + 3)
        for i, row in enumerate(allowed(letter, window)):
            scores = [
                math.exp(float(q[i, part] @ k[j, part]) / math.sqrt(width)) if may else 0.0
                for j, may in enumerate(row)
            ]
            expected = torch.tensor([score / sum(scores) for score in scores])
            torch.testing.assert_close(found[head, i], expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "options, num_heads, letters",
    [
        ("", 4, "GLFB"),
        ("", 8, "GLFBGLFB"),
        ("types='GL', repeat='last'", 4, "GLLL"),
        ("types='GL', repeat='last'", 8, "GLLLLLLL"),
        ("types='GB'", 4, "GBGB"),
        ("types='F'", 2, "FF"),
    ],
)
def test_types_are_repeated_over_the_heads(options, num_heads, letters):
    (weights,) = build_weights(f"mixed({options})", "encoder_self", 1, 16, num_heads)
    assert weights.types == letters


def test_a_local_head_looks_at_the_nearest_neighbours_unless_told_otherwise():
    assert [weights.window for weights in build_weights("mixed", "encoder_self", 2, 16, 4)] == [
        1,
        1,
    ]


def test_a_padded_query_that_sees_only_padding_gets_no_weights_instead_of_nan():
    (weights,) = build_weights("mixed(types='F')", "encoder_self", 1, WIDTH, 4)
    x = torch.randn(1, LENGTH, WIDTH)
    padded = (torch.arange(LENGTH) >= 3)[None, None, None]
    found = weights(
        x, weights.project_key(x, torch.arange(LENGTH)), padded, Positions(torch.arange(LENGTH))
    )
    assert (found[0, :, 3:] == 0).all()
    torch.testing.assert_close(found[0, :, :3].sum(-1), torch.ones(4, 3))


def test_the_parameters_are_those_of_the_baseline():
    """Tables 1 and 4: no parameter is added."""
    counts = {
        name: sum(
            p.numel()
            for w in build_weights(name, "encoder_self", 6, 512, 8)
            for p in w.parameters()
        )
        for name in NAMES
    }
    assert counts["mixed"] == counts["dot-product"] == 2 * 512**2 * 6


NAMES = ("mixed", "dot-product")
