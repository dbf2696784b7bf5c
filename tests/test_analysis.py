"""Collected weights are those the model used."""

import math
import re

import pytest
import torch
from expected_errors import refuses

from repro.analysis.weights import collect_weights, weights
from repro.core.attention.base import Positions
from repro.core.attention.spec import build_weights
from repro.core.batches import pad
from repro.errors import InputError
from test_transformer import SMALL, SYSTEMS, VOCAB, small


@pytest.mark.parametrize("variant", SYSTEMS)
def test_every_site_and_layer_is_collected(variant):
    model, src, tgt = (
        small(variant),
        pad([[5, 6, 7, 8, 9, 10, 11], [5, 6]]),
        torch.randint(4, VOCAB, (2, 5)),
    )
    found = collect_weights(model, src, tgt)
    assert [len(site) for site in found] == [
        SMALL["encoder_layers"],
        SMALL["decoder_layers"],
        SMALL["decoder_layers"],
    ]
    assert {weights.shape[-2:] for weights in found.encoder_self} == {(7, 7)}
    assert {weights.shape[-2:] for weights in found.decoder_self} == {(5, 5)}
    assert {weights.shape[-2:] for weights in found.cross} == {(5, 7)}
    assert (found.cross[0][1, :, :, 2:] == 0).all(), "padding is looked at"
    assert (found.decoder_self[0].triu(1) == 0).all(), "the future is looked at"
    torch.testing.assert_close(found.cross[0].sum(-1), torch.ones(2, SMALL["num_heads"], 5))


def test_the_weights_times_the_values_give_the_output():
    model, src, tgt = small(), torch.randint(4, VOCAB, (2, 7)), torch.randint(4, VOCAB, (2, 5))
    seen = {}
    attention = model.encoder[0].self_attention.sublayer
    attention.register_forward_hook(
        lambda module, inputs, output: seen.update(value=inputs[1].value, output=output)
    )
    weights = collect_weights(model, src, tgt).encoder_self[0]
    expected = attention.out_proj((weights @ seen["value"]).transpose(1, 2).flatten(2))
    torch.testing.assert_close(seen["output"], expected)


def test_a_missing_sublayer_has_no_weights():
    found = collect_weights(
        small(decoder_self="none"), torch.randint(4, VOCAB, (1, 3)), torch.randint(4, VOCAB, (1, 2))
    )
    assert found.decoder_self == [None] * SMALL["decoder_layers"]


@pytest.mark.parametrize("num_sources, num_targets", [(1, 2), (2, 1), (2, 4), (3, 2)])
def test_sources_and_targets_of_other_numbers_are_refused(num_sources, num_targets):
    with refuses(InputError, "tgt_in", num_targets, num_sources):
        collect_weights(small(), torch.full((num_sources, 4), 5), torch.full((num_targets, 2), 5))


def test_the_weights_of_a_variant_are_those_of_its_definition():
    found = weights("gaussian(std=0.5, centers=[-1, 2])", length=7, num_heads=2)
    bells = [
        [
            [math.exp(-2 * (j - i - c) ** 2) / (0.5 * math.sqrt(2 * math.pi)) for j in range(7)]
            for i in range(7)
        ]
        for c in (-1, 2)
    ]
    torch.testing.assert_close(found, torch.tensor(bells))
    torch.testing.assert_close(
        weights("uniform", 3, "decoder_self", num_heads=1)[0],
        torch.tensor([[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3] * 3]),
    )
    last_is_padding = torch.tensor([False, False, True])
    torch.testing.assert_close(
        weights("uniform", 3, blocked=last_is_padding)[0], torch.tensor([[0.5, 0.5, 0.0]] * 3)
    )


def test_the_weights_of_a_variant_have_the_shape_that_was_asked_for():
    assert weights("gaussian(std=0.5)", length=7).shape == (4, 7, 7)
    assert weights("gaussian(gamma=1.0)", 3, "cross", key_len=5).shape == (4, 3, 5)
    assert weights("fixed(learned=0, heads=7)", 6).shape == (7, 6, 6)
    assert weights("none; last: uniform", 2, layer=3).shape == (4, 2, 2)


def test_a_pattern_over_words_gives_each_piece_the_word_before():
    previous = weights("fixed(learned=0, heads=7, unit='word')", words=[0, 1, 1, 2])[1]
    torch.testing.assert_close(
        previous, torch.tensor([[0, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0.5, 0.5, 0]])
    )


@pytest.mark.parametrize("spec", ["recurrent(max_len=6)", "synthesizer(max_len=6)"])
def test_the_weights_of_a_layer_are_those_that_it_has_in_its_stack(spec):
    torch.manual_seed(1)
    stack = build_weights(spec, "encoder_self", 3, embed_dim=8, num_heads=4)
    blocked, positions = torch.zeros(1, 1, 5, 5, dtype=torch.bool), Positions(torch.arange(5))
    for number, layer in enumerate(stack, start=1):
        torch.manual_seed(1)
        found = weights(spec, 5, layer=number)
        torch.testing.assert_close(
            found, layer(torch.zeros(1, 5, 8), None, blocked, positions).detach()[0]
        )


@pytest.mark.parametrize(
    "arguments, message",
    [
        (
            {"spec": "gauss", "length": 3},
            "model.encoder_self: unknown attention 'gauss'. Fix: did you mean 'gaussian'?",
        ),
        ({"spec": "gaussian"}, "length: must be at least 1, found 0. Fix: use 1 or more"),
        (
            {"spec": "gaussian", "length": "7"},
            "length: wants int, found '7'. Fix: give a whole number",
        ),
        (
            {"spec": "mixed", "length": 3},
            "layer 1 of 'mixed': has heads that look at the words. Fix: leave these out",
        ),
        (
            {"spec": "fixed", "length": 3, "num_heads": 8},
            "layer 1 of 'fixed': has heads that look at the words",
        ),
        ({"spec": "none", "length": 3}, "layer 1 of 'none': has no attention. Fix: name a variant"),
        ({"spec": "uniform", "length": 3, "key_len": 0}, "key_len: must be at least 1, found 0"),
        (
            {"spec": "gaussian", "length": 3, "key_len": 4},
            "key_len: is 4, but encoder_self has 3 keys. Fix: leave it out",
        ),
        (
            {"spec": "gaussian", "length": 3, "words": [0, 1]},
            "words: has 2 entries for 3 keys. Fix: give one a key",
        ),
        (
            {"spec": "gaussian", "length": 3, "blocked": torch.zeros(2).bool()},
            "blocked: has shape (2,), for 3 queries and 3 keys",
        ),
    ],
)
def test_weights_that_are_not_defined_are_refused_in_one_line(arguments, message):
    with pytest.raises(InputError, match=re.escape(message)):
        weights(**arguments)
