"""Hard-coded Gaussian attention against the values of You et al. 2020 (their formula, and what
their code computes)."""

import pytest
import torch

from repro.core.attention.base import Positions
from repro.core.attention.masks import causal_mask
from repro.core.attention.patterns import gaussian_density
from repro.core.attention.spec import build_weights
from repro.presets import SYSTEMS

LENGTH = 5


def row_sums(site: str, blocked: torch.Tensor) -> torch.Tensor:
    (weights,) = build_weights("gaussian", site, 1, 8, 2)
    return weights(torch.zeros(1, LENGTH, 8), None, blocked, Positions(torch.arange(LENGTH)))[
        0
    ].sum(dim=-1)


def test_densities_by_distance():
    density = gaussian_density(torch.arange(4.0), std=1.0)[None]
    torch.testing.assert_close(
        density, torch.tensor([[0.3989, 0.2420, 0.0540, 0.0044]]), rtol=0, atol=5e-5
    )


def test_encoder_rows_are_never_renormalised():
    previous, following = row_sums(
        "encoder_self", torch.zeros(1, 1, LENGTH, LENGTH, dtype=torch.bool)
    )
    expected = torch.tensor([0.3005, 0.6995, 0.9413, 0.9909, 0.9413])
    torch.testing.assert_close(previous, expected, rtol=0, atol=5e-5)
    torch.testing.assert_close(following, expected.flip(0), rtol=0, atol=5e-5)


def test_the_causal_mask_comes_after_the_density():
    previous, current = row_sums("decoder_self", causal_mask(torch.arange(LENGTH), LENGTH))
    torch.testing.assert_close(
        previous, torch.tensor([0.2420, 0.6409, 0.8829, 0.9369, 0.9413]), rtol=0, atol=5e-5
    )
    torch.testing.assert_close(
        current, torch.tensor([0.3989, 0.6409, 0.6949, 0.6993, 0.6995]), rtol=0, atol=5e-5
    )


def test_the_head_before_looks_left_and_the_head_after_looks_right():
    (weights,) = build_weights("gaussian", "encoder_self", 1, 8, 2)
    before, after = weights(
        torch.zeros(1, LENGTH, 8),
        None,
        torch.zeros(1, 1, LENGTH, LENGTH, dtype=torch.bool),
        Positions(torch.arange(LENGTH)),
    )[0]
    assert before.argmax(dim=-1).tolist() == [0, 0, 1, 2, 3]
    assert after.argmax(dim=-1).tolist() == [1, 2, 3, 4, 4]


@pytest.mark.parametrize("site, centers", [("encoder_self", (-1, 1)), ("decoder_self", (-1, 0))])
def test_offsets_are_repeated_over_the_heads(site, centers):
    for weights in build_weights("gaussian", site, 3, 16, 8):
        assert weights.centers == centers * 4


def test_nothing_is_learned():
    assert (
        sum(
            parameter.numel()
            for weights in build_weights("gaussian", "encoder_self", 5, 16, 4)
            for parameter in weights.parameters()
        )
        == 0
    )


def matrix(
    spec: str, site: str, query_len: int = LENGTH, key_len: int = LENGTH, length_ratio: float = 1.0
) -> torch.Tensor:
    """Return the weights of every head, `(num_heads, query_len, key_len)`."""
    (weights,) = build_weights(spec, site, 1, 12, 3, length_ratio=length_ratio)
    blocked = torch.zeros(1, 1, 1, key_len, dtype=torch.bool)
    if site == "decoder_self":
        blocked = causal_mask(torch.arange(query_len), key_len)
    return weights(
        torch.zeros(1, query_len, 12), None, blocked, Positions(torch.arange(query_len))
    )[0]


def test_options():
    (weights,) = build_weights("gaussian(std=0.5, centers=[2])", "encoder_self", 1, 8, 2)
    assert (weights.std, weights.centers) == (0.5, (2, 2))


def test_a_window_keeps_three_taps_and_drops_those_on_the_future():
    before, _, _ = matrix("gaussian(kernel='window', centers=[-1])", "encoder_self")
    expected = [
        [0.242, 0, 0, 0, 0],
        [0.399, 0.242, 0, 0, 0],
        [0.242, 0.399, 0.242, 0, 0],
        [0, 0.242, 0.399, 0.242, 0],
    ]
    torch.testing.assert_close(before[:4], torch.tensor(expected), rtol=0, atol=5e-4)
    torch.testing.assert_close(before[2].sum(), torch.tensor(0.883), rtol=0, atol=5e-4)
    before, here, _ = matrix("gaussian(kernel='window')", "decoder_self")
    torch.testing.assert_close(
        before[3], torch.tensor([0, 0.242, 0.399, 0.242, 0]), rtol=0, atol=5e-4
    )
    torch.testing.assert_close(here[3], torch.tensor([0, 0, 0.242, 0.399, 0]), rtol=0, atol=5e-4)


def test_indexing_copies_one_neighbour_and_nothing_beyond_the_sentence():
    before, after, _ = matrix("gaussian(kernel='index')", "encoder_self")
    assert torch.equal(before, torch.diag(torch.ones(4), -1)) and torch.equal(
        after, torch.diag(torch.ones(4), 1)
    )


def test_renormalized_rows_are_the_same_density_divided_by_its_sum():
    plain, renormalized = (
        matrix("gaussian", "decoder_self"),
        matrix("gaussian(renormalize=True)", "decoder_self"),
    )
    torch.testing.assert_close(renormalized, plain / plain.sum(-1, keepdim=True))


def test_renormalized_rows_sum_to_one_also_well_beyond_the_source():
    rows = matrix("gaussian(renormalize=True, gamma=1.0)", "cross", query_len=12, key_len=4).sum(-1)
    torch.testing.assert_close(rows, torch.ones_like(rows), rtol=1e-3, atol=0)


def test_cross_attention_rounds_down_what_the_length_ratio_says():
    """Sources 1.5 times as long as targets: means floor(1.5 i - 1), floor(1.5 i), floor(1.5 i +
    1)."""
    heads = matrix("gaussian", "cross", query_len=4, key_len=7, length_ratio=1.5)
    assert heads.argmax(-1).tolist() == [[0, 0, 2, 3], [0, 1, 3, 4], [1, 2, 4, 5]]
    torch.testing.assert_close(heads[1, 1, 1], torch.tensor(0.3989), rtol=0, atol=5e-5)
    torch.testing.assert_close(heads, matrix("gaussian(gamma=1.5)", "cross", 4, 7))


def test_cross_attention_as_in_the_released_code_never_uses_the_ratio():
    before, after, _ = matrix(
        "gaussian(centers=[-1, 1], gamma=1.0, floor=False)", "cross", 4, 7, length_ratio=2.0
    )
    assert before.argmax(-1).tolist() == [0, 0, 1, 2] and after.argmax(-1).tolist() == [1, 2, 3, 4]


def test_real_valued_means_are_not_rounded_without_floor():
    (head, *_) = matrix("gaussian(gamma=1.5, floor=False, centers=[0])", "cross", 2, 4)
    torch.testing.assert_close(head[1, 1], head[1, 2])  # the mean 1.5 lies between them


def test_cross_attention_beyond_the_source_vanishes():
    assert matrix("gaussian(gamma=3.0)", "cross", query_len=9, key_len=3)[:, -1].max() < 1e-9


def test_a_system_of_table_6_varies_the_lowest_and_the_highest_layer_only():
    ends = {"encoder_self": ((-1, -1), (-1, 1)), "decoder_self": ((0, 0), (-1, 0))}
    for site, (varied, usual) in ends.items():
        layers = build_weights(SYSTEMS["hc-sa-ll-cc"][site], site, 4, 8, 2)
        assert [layer.centers for layer in layers] == [varied, usual, usual, varied]


def test_the_control_without_patterns_looks_at_all_visible_tokens_alike():
    (weights,) = build_weights("uniform", "encoder_self", 1, 8, 2)
    blocked = torch.tensor([[[[False, False, True, False]]]])
    rows = weights(torch.zeros(1, 4, 8), None, blocked, Positions(torch.arange(4)))
    torch.testing.assert_close(rows, torch.tensor([1, 1, 0, 1]).div(3).expand(rows.shape))
