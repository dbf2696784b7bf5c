"""Collected weights are those the model used."""

import pytest
import torch

from repro.analysis.weights import collect_weights
from repro.data.batches import pad
from repro.errors import InputError
from test_transformer import SMALL, SYSTEMS, VOCAB, small


@pytest.mark.parametrize("variant", SYSTEMS)
def test_every_site_and_layer_is_collected(variant):
    model, src, tgt = small(variant), pad([[5, 6, 7, 8, 9, 10, 11], [5, 6]]), torch.randint(4, VOCAB, (2, 5))
    found = collect_weights(model, src, tgt)
    assert [len(site) for site in found] == [SMALL["encoder_layers"], SMALL["decoder_layers"], SMALL["decoder_layers"]]
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
    attention.register_forward_hook(lambda module, inputs, output: seen.update(value=inputs[1].value, output=output))
    weights = collect_weights(model, src, tgt).encoder_self[0]
    expected = attention.out_proj((weights @ seen["value"]).transpose(1, 2).flatten(2))
    torch.testing.assert_close(seen["output"], expected)


def test_a_missing_sublayer_has_no_weights():
    found = collect_weights(small(decoder_self="none"), torch.randint(4, VOCAB, (1, 3)), torch.randint(4, VOCAB, (1, 2)))
    assert found.decoder_self == [None] * SMALL["decoder_layers"]


@pytest.mark.parametrize("num_sources, num_targets", [(1, 2), (2, 1), (2, 4), (3, 2)])
def test_sources_and_targets_of_other_numbers_are_refused(num_sources, num_targets):
    with pytest.raises(InputError, match=f"tgt_in: has {num_targets} rows, but src has {num_sources}. Fix: give one target"):
        collect_weights(small(), torch.full((num_sources, 4), 5), torch.full((num_targets, 2), 5))
