"""Fixed patterns against matrices worked out by hand from Raganato et al. 2020, section 3."""

import pytest
import torch

from repro.core.attention.base import Positions
from repro.core.attention.masks import causal_mask
from repro.core.attention.multihead import MultiHeadAttention
from repro.core.attention.spec import build_weights

LENGTH, WIDTH = 5, 16


def heads(
    spec: str, words: list[int] | None = None, length: int = LENGTH, real: int | None = None
) -> dict[str, torch.Tensor]:
    """Return the encoder's weights of each fixed head by name, `(length, length)`; positions from
    `real` on are padding."""
    (weights,) = build_weights(spec, "encoder_self", 1, WIDTH, 4)
    blocked = (torch.arange(length) >= (length if real is None else real))[None, None, None]
    positions = Positions(torch.arange(length), None if words is None else torch.tensor([words]))
    return dict(
        zip(
            weights.patterns,
            weights.fixed_weights(blocked, positions, torch.float64)[0],
            strict=True,
        )
    )


def rows(*values: list[float]) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def test_the_seven_token_patterns_of_a_sentence_of_five():
    found = heads("fixed")
    one, zero = [1.0], [0.0]
    assert torch.equal(found["current"], torch.eye(5, dtype=torch.float64))
    assert torch.equal(found["previous"], torch.diag(torch.ones(4, dtype=torch.float64), -1))
    assert torch.equal(found["next"], torch.diag(torch.ones(4, dtype=torch.float64), 1))
    left = rows(
        zero * 5, zero * 5, one + zero * 4, [1 / 9, 8 / 9, 0, 0, 0], [1 / 36, 8 / 36, 27 / 36, 0, 0]
    )
    torch.testing.assert_close(found["left"], left)
    right = rows(
        [0, 0, 1 / 36, 8 / 36, 27 / 36],
        [0, 0, 0, 1 / 9, 8 / 9],
        [0, 0, 0, 0, 1],
        zero * 5,
        zero * 5,
    )
    torch.testing.assert_close(found["right"], right)
    end = torch.tensor([1, 8, 27, 64, 125], dtype=torch.float64) / 225
    torch.testing.assert_close(found["end"], end.expand(5, 5))
    torch.testing.assert_close(found["start"], end.flip(0).expand(5, 5))


def test_the_end_pattern_of_four_tokens_and_its_padding():
    for row in heads("fixed", length=6, real=4)["end"]:
        torch.testing.assert_close(row, rows([0.01, 0.08, 0.27, 0.64, 0, 0])[0])


def test_a_mirrored_right_context_falls_with_distance():
    found = heads("fixed(right_context='mirrored')")
    torch.testing.assert_close(found["right"], heads("fixed")["left"].flip(0, 1))
    torch.testing.assert_close(found["right"][0], rows([0, 0, 27 / 36, 8 / 36, 1 / 36])[0])


def test_an_absolute_right_context_has_cubes_of_the_place_in_the_sentence():
    found = heads("fixed(right_context='absolute')", length=6, real=5)
    torch.testing.assert_close(found["right"][1], rows([0, 0, 0, 64 / 189, 125 / 189, 0])[0])
    torch.testing.assert_close(found["right"][0], rows([0, 0, 27 / 216, 64 / 216, 125 / 216, 0])[0])
    assert found["right"][3:].count_nonzero() == 0
    torch.testing.assert_close(found["left"], heads("fixed", length=6, real=5)["left"])


def test_a_pattern_without_a_target_is_zero_or_itself_or_wraps():
    assert heads("fixed")["previous"][0].sum() == 0
    assert heads("fixed(empty='self')")["previous"][0].tolist() == [1, 0, 0, 0, 0]
    wrapped = heads("fixed(empty='wrap')", real=4)
    assert wrapped["previous"][0].tolist() == [0, 0, 0, 1, 0] and wrapped["next"][3].tolist() == [
        1,
        0,
        0,
        0,
        0,
    ]
    assert wrapped["left"][1].tolist() == [1, 0, 0, 0, 0] and wrapped["right"][2].tolist() == [
        0,
        0,
        0,
        1,
        0,
    ]


def test_all_pieces_of_a_word_get_the_same():
    """The words A BB C of the pieces 0, 1 2, 3: the second word is one unit, as in the paper's
    figure."""
    found = heads("fixed(unit='word')", words=[0, 1, 1, 2], length=4)
    torch.testing.assert_close(
        found["current"], rows([1, 0, 0, 0], [0, 0.5, 0.5, 0], [0, 0.5, 0.5, 0], [0, 0, 0, 1])
    )
    torch.testing.assert_close(
        found["previous"], rows([0, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0.5, 0.5, 0])
    )
    torch.testing.assert_close(
        found["next"], rows([0, 0.5, 0.5, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0])
    )
    torch.testing.assert_close(found["end"][0], rows([1, 8, 8, 27])[0] / 44)
    torch.testing.assert_close(
        found["left"], rows([0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0])
    )


def test_copied_word_weights_are_not_shared_among_the_pieces():
    found = heads("fixed(unit='word', spread='copy')", words=[0, 1, 1, 2], length=4)
    assert found["previous"][3].tolist() == [0, 1, 1, 0]
    torch.testing.assert_close(found["end"][0], rows([1, 8, 8, 27])[0] / 36)


def test_word_patterns_of_one_piece_words_are_token_patterns():
    by_token, by_word = heads("fixed"), heads("fixed(unit='word')", words=list(range(LENGTH)))
    for name, weights in by_token.items():
        torch.testing.assert_close(by_word[name], weights)


def test_a_decoder_sees_the_prefix_as_its_sentence():
    (weights,) = build_weights("fixed", "decoder_self", 1, WIDTH, 4)
    found = weights.fixed_weights(
        causal_mask(torch.arange(LENGTH), LENGTH), Positions(torch.arange(LENGTH)), torch.float64
    )[0]
    by_name = dict(zip(weights.patterns, found, strict=True))
    torch.testing.assert_close(by_name["end"][2], rows([1 / 36, 8 / 36, 27 / 36, 0, 0])[0])
    assert by_name["next"].sum() == by_name["right"].sum() == 0


def test_eight_fixed_heads_end_with_the_last_token():
    last = heads("fixed(patterns=['current', 'last'], learned=0)", real=3)["last"]
    assert last.tolist() == [[0, 0, 1, 0, 0]] * 5


@pytest.mark.parametrize(
    "spec, num_heads, learned",
    [("fixed", 8, 1), ("fixed(patterns=[])", 1, 1), ("fixed(learned=0)", 7, 0)],
)
def test_a_head_is_an_eighth_of_the_width_and_only_learned_ones_have_parameters(
    spec, num_heads, learned
):
    (weights,) = build_weights(spec, "encoder_self", 1, 512, 8)
    layer = MultiHeadAttention(weights, 512)
    assert sum(p.numel() for p in weights.parameters()) == learned * 2 * 512 * 64
    assert layer.value_proj.weight.numel() == layer.out_proj.weight.numel() == num_heads * 64 * 512


def test_seven_fixed_heads_save_what_the_paper_saves():
    """458,752 weights a layer of width 512 (2.75 M over six): the queries and keys of seven
    heads."""
    counts = [
        sum(p.numel() for p in build_weights(name, "encoder_self", 1, 512, 8)[0].parameters())
        for name in ("dot-product", "fixed")
    ]
    assert counts[0] - counts[1] == 458_752


@pytest.mark.parametrize("option, fixed_are_dropped", [("", False), ("drop_fixed=True", True)])
def test_attention_dropout_leaves_fixed_heads_alone_unless_asked(option, fixed_are_dropped):
    (weights,) = build_weights(f"fixed({option})", "encoder_self", 1, WIDTH, 4, dropout=0.5)
    query = torch.randn(1, LENGTH, WIDTH)
    value = torch.randn(1, 8, LENGTH, 2)
    arguments = (
        query,
        weights.project_key(query, torch.arange(LENGTH)),
        value,
        torch.zeros(1, 1, 1, LENGTH, dtype=torch.bool),
        Positions(torch.arange(LENGTH)),
    )
    trained, tested = weights.train().attend(*arguments), weights.eval().attend(*arguments)
    assert torch.equal(trained[:, :7], tested[:, :7]) != fixed_are_dropped
    assert not torch.equal(trained[:, 7], tested[:, 7])
