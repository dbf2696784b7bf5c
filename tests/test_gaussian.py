"""Hard-coded Gaussian attention against the values of You et al. 2020 (their formula, and what their code computes)."""

import pytest
import torch

from repro.attention import build_weights
from repro.attention.masks import causal_mask
from repro.attention.patterns import gaussian_density

LENGTH = 5


def row_sums(site: str, blocked: torch.Tensor) -> torch.Tensor:
    (weights,) = build_weights("gaussian", site, 1, 8, 2)
    return weights(torch.zeros(1, LENGTH, 8), None, blocked, torch.arange(LENGTH))[0].sum(dim=-1)


def test_densities_by_distance():
    density = gaussian_density(torch.tensor([0]), 4, center=0.0, std=1.0)
    torch.testing.assert_close(density, torch.tensor([[0.3989, 0.2420, 0.0540, 0.0044]]), rtol=0, atol=5e-5)


def test_encoder_rows_are_never_renormalised():
    previous, following = row_sums("encoder_self", torch.zeros(1, 1, LENGTH, LENGTH, dtype=torch.bool))
    expected = torch.tensor([0.3005, 0.6995, 0.9413, 0.9909, 0.9413])
    torch.testing.assert_close(previous, expected, rtol=0, atol=5e-5)
    torch.testing.assert_close(following, expected.flip(0), rtol=0, atol=5e-5)


def test_the_causal_mask_comes_after_the_density():
    previous, current = row_sums("decoder_self", causal_mask(torch.arange(LENGTH), LENGTH))
    torch.testing.assert_close(previous, torch.tensor([0.2420, 0.6409, 0.8829, 0.9369, 0.9413]), rtol=0, atol=5e-5)
    torch.testing.assert_close(current, torch.tensor([0.3989, 0.6409, 0.6949, 0.6993, 0.6995]), rtol=0, atol=5e-5)


def test_the_head_before_looks_left_and_the_head_after_looks_right():
    (weights,) = build_weights("gaussian", "encoder_self", 1, 8, 2)
    before, after = weights(torch.zeros(1, LENGTH, 8), None, torch.zeros(1, 1, LENGTH, LENGTH, dtype=torch.bool), torch.arange(LENGTH))[0]
    assert before.argmax(dim=-1).tolist() == [0, 0, 1, 2, 3]
    assert after.argmax(dim=-1).tolist() == [1, 2, 3, 4, 4]


@pytest.mark.parametrize("site, centers", [("encoder_self", (-1, 1)), ("decoder_self", (-1, 0))])
def test_offsets_are_repeated_over_the_heads(site, centers):
    for weights in build_weights("gaussian", site, 3, 16, 8):
        assert weights.centers == centers * 4


def test_nothing_is_learned():
    assert (
        sum(parameter.numel() for weights in build_weights("gaussian", "encoder_self", 5, 16, 4) for parameter in weights.parameters()) == 0
    )


def test_options():
    (weights,) = build_weights("gaussian(std=0.5, centers=[2])", "encoder_self", 1, 8, 2)
    assert (weights.std, weights.centers) == (0.5, (2, 2))
