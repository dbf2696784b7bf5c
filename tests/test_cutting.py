"""Heads dropped at the gates, and the smaller model that is left."""

import math

import pytest
import torch
from expected_errors import refuses

from repro.analysis.ablation import heads_of, scaled_heads, without_in_every_layer
from repro.core.batches import pad
from repro.core.config import SITES
from repro.core.subwords import PAD_ID
from repro.core.transformer import Transformer, count_parameters
from repro.errors import InputError
from repro.pruning.cutting import drop_heads
from repro.pruning.gates import (
    almost_binary_share,
    count_undecided_gates,
    gate_table,
    kept_heads,
)
from test_transformer import SMALL, VOCAB, small

LOG_ALPHA = {  # by site and layer: one with no head, one with all, one with some
    "encoder_self": [[-1.0, 0.5, -3.0, 2.0], [-1.0, -2.0, -3.0, -0.1], [0.2, 3.0, 1.0, 5.0]],
    "decoder_self": [[4.0, 1.0, 0.1, 2.0], [3.0, -2.5, -1.0, -4.0], [-3.0, -2.5, -3.0, -4.0]],
    "cross": [[-9.0, -3.0, -3.0, -2.4], [2.5, 2.6, 2.7, 0.3], [-1.0, 1.0, -0.2, 0.2]],
}


def gated(values=None, **options) -> Transformer:
    """Return a small untrained model in fp64 with the given log_alpha at every site."""
    model = small(gated_sites=SITES, encoder_layers=3, **options).double()
    for site, layers in (values or LOG_ALPHA).items():
        for attention, row in zip(model.attentions()[site], layers, strict=True):
            attention.gate.log_alpha.data = torch.tensor(row, dtype=torch.float64)
    return model


def ids() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    return pad([[5, 6, 7], [8, 9, 10, 11, 12]]), torch.randint(
        4, VOCAB, (2, 6), generator=generator
    )


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def test_the_table_of_gates_has_the_closed_forms():
    """P(g = 0) = sigmoid(-a - 0.791), P(g = 1) = sigmoid(a - 0.791), 0.791 = 0.33 log 11."""
    model = gated()
    rows = gate_table(model)
    assert [(row.site, row.layer, row.head) for row in rows] == [
        (s, i, h) for s in SITES for i in range(3) for h in range(4)
    ]
    for row in rows:
        assert row.log_alpha == LOG_ALPHA[row.site][row.layer][row.head]
        assert row.shut == pytest.approx(sigmoid(-row.log_alpha - 0.33 * math.log(11)), abs=1e-12)
        assert row.open == pytest.approx(sigmoid(row.log_alpha - 0.33 * math.log(11)), abs=1e-12)
        assert row.gate == (row.log_alpha > 0) == (row.open > row.shut)
    assert sum(1 - row.shut for row in rows) == pytest.approx(model.gate_penalty().item(), abs=1e-9)
    assert gate_table(small()) == []


def test_undecided_and_almost_binary_gates_are_counted_at_their_borders():
    """The gate without noise reaches 0 and 1 at |a| = log 11 = 2.398; P(g = 1) reaches 0.9 at a =
    log 9 + 0.791 = 2.988."""
    rows = gate_table(gated())[:4]
    rows = [
        row._replace(log_alpha=a, shut=sigmoid(-a - 0.7913), open=sigmoid(a - 0.7913))
        for row, a in zip(rows, (2.397, -2.399, 2.98, -2.99), strict=True)
    ]
    assert count_undecided_gates(rows) == 1
    assert almost_binary_share(rows) == 0.25
    with pytest.raises(InputError, match="gates: this model has none"):
        almost_binary_share([])


def test_kept_heads_are_those_whose_gate_is_not_zero_under_the_rule():
    model = gated()
    assert kept_heads(model)["encoder_self"] == [[1, 3], [], [0, 1, 2, 3]]
    assert kept_heads(model, "soft")["encoder_self"] == [[0, 1, 3], [0, 1, 3], [0, 1, 2, 3]]
    assert (
        kept_heads(model, "soft")["cross"][0] == []
        and kept_heads(small())["cross"] == [[0, 1, 2, 3]] * 3
    )
    assert kept_heads(small(cross="none; last: dot-product(heads=2)"))["cross"] == [[], [], [0, 1]]
    assert model.train().training and kept_heads(model)["encoder_self"][0] == [1, 3]
    with refuses(InputError, "rule", "'sing'", "'sign'"):
        kept_heads(model, "sing")


@pytest.mark.parametrize("rule", ["sign", "soft"])
def test_the_smaller_model_is_the_gated_one(rule):
    model = gated(gate_rule=rule)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    smaller, (src, tgt) = drop_heads(model), ids()
    expected = model(src, tgt)
    torch.testing.assert_close(smaller(src, tgt), expected, rtol=0, atol=1e-10)
    state = smaller.start(src)
    for i in range(tgt.shape[1]):
        step, state = smaller.decode(state, tgt[:, i : i + 1])
        torch.testing.assert_close(smaller.output(step[:, 0]), expected[:, i], rtol=0, atol=1e-10)
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    for attention, first in zip(model.attentions()["cross"], LOG_ALPHA["cross"], strict=True):
        attention.gate.log_alpha.data = -torch.tensor(first, dtype=torch.float64)
    assert not torch.allclose(model(src, tgt), expected)  # the control: gates decide what comes out


def test_the_rule_can_be_chosen_when_heads_are_dropped():
    model, (src, tgt) = gated(gate_rule="sign"), ids()
    soft = gated(gate_rule="soft")
    soft.load_state_dict(model.state_dict())
    torch.testing.assert_close(
        drop_heads(model, "soft")(src, tgt), soft(src, tgt), rtol=0, atol=1e-10
    )
    assert not torch.allclose(soft(src, tgt), model(src, tgt))


def test_the_smaller_model_is_what_its_configuration_builds():
    model, (src, tgt) = gated(attention_dropout=0.3), ids()
    smaller = drop_heads(model)
    config = smaller.config
    assert config.encoder_self == "dot-product(heads=2, head_dim=6); 2: none; 3: dot-product"
    assert config.decoder_self == "dot-product; 2: dot-product(heads=1, head_dim=6); 3: none"
    assert (
        config.cross == "none; 2: dot-product; 3: dot-product(heads=2, head_dim=6)"
        and config.gated_sites == ()
    )
    built = Transformer(config, VOCAB, PAD_ID, [i % 3 != 0 for i in range(VOCAB)]).double().eval()
    built.load_state_dict(smaller.state_dict())
    assert torch.equal(built(src, tgt), smaller(src, tgt))
    attentions = [
        attention
        for layers in smaller.attentions().values()
        for attention in layers
        if attention is not None
    ]
    assert {attention.weights.dropout for attention in attentions} == {0.3}, (
        "one that is trained on drops as before"
    )
    d = SMALL["embed_dim"]
    num_dropped, num_layers_without = 36 - (2 + 0 + 4) - (4 + 1 + 0) - (0 + 4 + 2), 3
    # projections, layer norms, gates
    saved = num_dropped * 4 * d * (d // 4) + num_layers_without * 2 * d + 36
    assert count_parameters(model) - count_parameters(smaller) == saved


def test_a_model_with_open_gates_only_keeps_its_specification():
    values = {site: [[1.0] * 4] * 3 for site in SITES}
    smaller = drop_heads(
        gated(values, encoder_self="mixed", cross="dot-product; last: dot-product(heads=4)")
    )
    assert (smaller.config.encoder_self, smaller.config.cross) == (
        "mixed",
        "dot-product; last: dot-product(heads=4)",
    )


def test_a_post_norm_model_is_cut_exactly_while_every_layer_keeps_a_head():
    values = {site: [[-1.0, 1.0, -1.0, 2.0]] * 3 for site in SITES}
    model, (src, tgt) = gated(values, norm="post"), ids()
    torch.testing.assert_close(drop_heads(model)(src, tgt), model(src, tgt), rtol=0, atol=1e-10)
    with pytest.raises(
        InputError,
        match="encoder_self layer 2: keeps no head, but a post-norm layer still normalizes there",
    ):
        drop_heads(gated(norm="post"))


def test_heads_that_cannot_be_dropped_are_refused():
    with pytest.raises(
        InputError,
        match=(
            "encoder_self layer 1: 'mixed' is not defined for some of its heads alone. Fix: keep "
            "the gated"
        ),
    ):
        drop_heads(gated(encoder_self="mixed"))
    with pytest.raises(
        InputError, match=r"model\.gated_sites: this model has no gates to drop heads by"
    ):
        drop_heads(small())


def test_a_model_whose_heads_are_masked_is_not_cut():
    """The mask would end with its block, and be forgotten at some sites or stay for good at
    others."""
    model = gated()
    places = heads_of(model, "encoder_self")
    with (
        scaled_heads(model, without_in_every_layer(places, 1)),
        pytest.raises(InputError, match="model: has heads that are masked for a"),
    ):
        drop_heads(model)
    assert not drop_heads(model).config.gated_sites
