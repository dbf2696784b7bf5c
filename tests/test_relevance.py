"""Relevance: every rule from its definition, conservation, exactness on a linear model, and the
gradient against finite differences."""

import numpy as np
import pytest
import torch
from expected_errors import refuses
from torch import nn
from torch.nn import functional as F

from repro.analysis import relevance
from repro.analysis.relevance import EPSILON, RULES, Replay, gradient_importance, head_relevance
from repro.core.batches import Batch, EncodedPairs, pad
from repro.core.subwords import BOS_ID, EOS_ID
from repro.errors import InputError
from test_transformer import SMALL, SYSTEMS, VOCAB, every_model, small

every_rule = pytest.mark.parametrize("rule", RULES)
every_norm = pytest.mark.parametrize("norm", ["post", "pre"])
SRC = [[5, 6, 7, 8, 9, 10], [5, 6], [11, 12, 13]]
TGT = [[5, 6, 7, 8], [9, 4], [14]]


def spread(variant="base", **options):
    """A model in float64 whose biases, norms and embeddings are nowhere 0 or 1, so that no term of
    a rule drops out."""
    model = small(variant, **options).double()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 1:
                parameter.copy_(torch.randn_like(parameter))
    return model


def batch_of(*indices: int) -> Batch:
    return EncodedPairs(SRC, TGT, source_end_mark=True).batch(indices)


def arrays(values) -> list[np.ndarray]:
    return [layer for layers in values.values() for layer in layers if layer is not None]


def shares_by_definition(z, y, rule):
    """Return w_{u->v} as a matrix (v, u), from the contributions z and the values y, one element at
    a time."""
    w = torch.zeros_like(z)
    for v in range(z.shape[0]):
        plus, minus = z[v].clamp(min=0), z[v].clamp(max=0)
        if rule == "ratio_eps":
            eps = EPSILON if y[v] >= 0 else -EPSILON
            w[v] = z[v] / (y[v] + eps)
            w[v] += (1 - w[v].sum()) * z[v].abs() / z[v].abs().sum()
        else:
            w[v] = 0.5 * plus / (plus.sum() + EPSILON) + 0.5 * minus / (minus.sum() - EPSILON)
            w[v] /= w[v].sum()
    return w


@pytest.mark.parametrize(
    "rule, bias, expected",
    [
        ("ratio_eps", 0.0, [2 / -3, -2 / -3, -3 / -3]),
        ("ratio_eps", -1.0, [(2 - 2 / 7) / -4, (-2 - 2 / 7) / -4, (-3 - 3 / 7) / -4]),
        ("alphabeta", 0.0, [0.5, 0.5 * 2 / 5, 0.5 * 3 / 5]),
        ("alphabeta", -1.0, [0.5, 0.5 * 2 / 5, 0.5 * 3 / 5]),
    ],
)
def test_a_neuron_with_three_inputs_by_hand(rule, bias, expected):
    """Contributions 2, -2 and -3; the bias belongs to nobody."""
    module = nn.Linear(3, 1).double()
    with torch.no_grad():
        module.weight.copy_(torch.tensor([[2.0, 1.0, -1.0]]))
        module.bias.fill_(bias)
    x = torch.tensor([1.0, -2.0, 3.0], dtype=torch.double, requires_grad=True)
    y = bare_replay(rule).linear(module, x)
    assert y.item() == pytest.approx(-3 + bias)
    (gradient,) = torch.autograd.grad(y, x)
    assert (x * gradient / y).tolist() == pytest.approx(expected, abs=1e-4)


def bare_replay(rule: str) -> Replay:
    replay = Replay.__new__(Replay)
    replay.rule = RULES[rule]
    return replay


def linear_step(replay, x):
    module = nn.Linear(7, 5).double()
    return replay.linear(module, x), module(x), F.linear(x, module.weight)


def norm_step(replay, x):
    module = nn.LayerNorm(7).double()
    nn.init.normal_(module.weight)
    nn.init.normal_(module.bias)
    std = (x.detach().var(correction=0) + module.eps).sqrt()
    return replay.norm(module, x), module(x), (x - x.mean()) / std * module.weight.detach()


def add_step(replay, x):
    return replay.add(x[:3], x[3:6]), x[:3] + x[3:6], x[:3] + x[3:6]


def attend_step(replay, x):
    weights = torch.rand(5, 7).double()
    return replay.attend(weights, x[:, None])[:, 0], weights @ x, weights @ x


@every_rule
@pytest.mark.parametrize("step", [linear_step, norm_step, add_step, attend_step])
def test_a_step_shares_relevance_by_the_definition_and_keeps_it(step, rule):
    x = torch.randn(7, dtype=torch.double, requires_grad=True)
    replayed, y, without_bias = step(bare_replay(rule), x)
    torch.testing.assert_close(replayed, y)
    received = torch.randn_like(y)  # relevance, which is value times gradient
    contributions = torch.stack(
        [torch.autograd.grad(v, x, retain_graph=True)[0] * x for v in without_bias]
    )
    found = x * torch.autograd.grad(replayed, x, received / y.detach())[0]
    torch.testing.assert_close(
        found, received @ shares_by_definition(contributions, y, rule), rtol=0, atol=1e-9
    )
    assert found.sum().item() == pytest.approx(received.sum().item(), abs=1e-9)


@every_model
@every_norm
def test_the_replay_is_the_model_and_the_inputs_have_all_relevance(variant, norm):
    model, batch = spread(variant, norm=norm), batch_of(0, 1)
    expected = model(batch.src, batch.tgt_in).max(dim=-1).values
    for rule in RULES:
        replay = Replay(model, batch.src, batch.tgt_in, rule)
        torch.testing.assert_close(replay.top_logits, expected, rtol=0, atol=1e-10)
        for position in (0, 4):
            source, target = replay.relevance(position, replay.inputs)
            total = source.sum(dim=(1, 2)) + target.sum(dim=(1, 2))
            torch.testing.assert_close(total, expected[:, position], rtol=0, atol=1e-6)
            assert not source[1, 3:].any(), "padding is relevant"
            assert not target[:, position + 1 :].any(), "the future is relevant"


@every_rule
def test_a_neuron_that_hears_nothing_but_zeros_keeps_its_value(rule):
    """As after a ReLU that lets nothing through: what comes after must hear the bias, or the replay
    is another model."""
    module, x = nn.Linear(3, 2).double(), torch.zeros(2, 3, dtype=torch.double, requires_grad=True)
    with torch.no_grad():
        x[1] = torch.tensor([1.0, -2.0, 3.0])
    y = bare_replay(rule).linear(module, x)
    torch.testing.assert_close(y, module(x))
    (gradient,) = torch.autograd.grad(y.sum(), x)
    assert gradient.isfinite().all() and gradient[0].eq(0).all() and gradient[1].ne(0).all()


@every_norm
def test_alphabeta_makes_nothing_negative(norm):
    batch = batch_of(0, 1)
    replay = Replay(spread(norm=norm), batch.src, batch.tgt_in, "alphabeta")
    for relevance_of_inputs in replay.relevance(2, replay.inputs):
        assert (relevance_of_inputs * replay.top_logits[:, 2].sign()[:, None, None] >= 0).all()


def test_on_a_linear_model_relevance_is_what_masking_takes_away(monkeypatch):
    """Uniform attention, no layer norm and no feed-forward leave a linear map from each head to the
    logits."""
    monkeypatch.setattr(relevance, "EPSILON", 1e-12)
    model = small(
        {"encoder_self": "uniform", "decoder_self": "uniform", "cross": "uniform"},
        feed_forward=False,
    ).double()
    for layer in [*model.encoder, *model.decoder]:
        for place in (layer.self_attention, getattr(layer, "cross_attention", None)):
            if place is not None:
                place.norm = nn.Identity()
    model.encoder_norm = model.decoder_norm = nn.Identity()
    src, tgt_in = torch.randint(4, VOCAB, (2, 7)), torch.randint(4, VOCAB, (2, 5))
    logits = model(src, tgt_in)
    top = logits.argmax(dim=-1, keepdim=True)
    replay = Replay(model, src, tgt_in, "ratio_eps")
    for (site, layer), found in replay.heads_at(3).items():
        attention = model.attentions()[site][layer]
        for head in range(SMALL["num_heads"]):
            attention.head_scale = torch.ones(SMALL["num_heads"])
            attention.head_scale[head] = 0
            lost = (logits - model(src, tgt_in)).gather(-1, top)[:, 3, 0]
            torch.testing.assert_close(found[:, head], lost, rtol=0, atol=1e-8)
        attention.head_scale = None


@every_rule
@every_norm
def test_the_only_head_that_is_read_has_all_relevance(rule, norm):
    model = spread(norm=norm)
    for attention in [attention for layers in model.attentions().values() for attention in layers]:
        read = torch.zeros_like(attention.out_proj.weight).unflatten(1, (SMALL["num_heads"], -1))
        read[:, 2] = 1
        attention.out_proj.weight.data *= read.flatten(1)
    for shares in arrays(head_relevance(model, [batch_of(0, 1)], rule)):
        assert shares.tolist() == [0, 0, 1, 0]


@every_rule
def test_a_masked_or_gated_head_has_no_relevance_and_a_halved_one_some(rule):
    model = spread(gated_sites=("cross",))
    attentions = model.attentions()
    attentions["encoder_self"][0].head_scale = torch.tensor([1.0, 0.0, 0.5, 1.0])
    attentions["cross"][1].gate.log_alpha.data = torch.tensor([1.0, 1.0, 1.0, -1.0])
    attentions["decoder_self"][2].head_scale = torch.zeros(SMALL["num_heads"])
    found = head_relevance(model, [batch_of(0, 1)], rule)
    assert (found["encoder_self"][0] > 0).tolist() == [True, False, True, True]
    assert (found["cross"][1] > 0).tolist() == [True, True, True, False]
    assert not found["decoder_self"][2].any()
    assert found["cross"][1].sum() == pytest.approx(1)


@every_rule
def test_shares_sum_to_one_and_a_missing_sublayer_has_none(rule):
    model = spread(
        {
            "decoder_self": "none",
            "cross": "none; last: dot-product(heads=2)",
            "encoder_self": "gaussian",
        }
    )
    for found in (
        head_relevance(model, [batch_of(0, 2)], rule),
        gradient_importance(model, [batch_of(0, 2)]),
    ):
        assert found["decoder_self"] == [None, None, None]
        assert found["cross"][:2] == [None, None]
        assert [len(layer) for layer in arrays(found)] == [4, 4, 2]
    for shares in arrays(head_relevance(model, [batch_of(0, 2)], rule)):
        assert shares.sum() == pytest.approx(1) and (shares > 0).all()


@every_rule
def test_the_result_is_the_mean_of_the_shares_of_all_predictions(rule):
    model, batch = spread(), batch_of(0)
    replay, num_predictions = Replay(model, batch.src, batch.tgt_in, rule), len(TGT[0]) + 1
    sizes = [replay.heads_at(position)["cross", 1][0].abs() for position in range(num_predictions)]
    expected = sum(size / size.sum() for size in sizes) / num_predictions
    assert head_relevance(model, [batch], rule)["cross"][1] == pytest.approx(expected.numpy())


def test_the_mean_of_a_layer_is_over_the_predictions_that_have_relevance_there():
    totals = relevance._HeadMeans(small())
    totals.add(("cross", 0), torch.tensor([1.0, 0.5, 0.5, 0.0]), 2)
    totals.add(("cross", 1), torch.tensor([0.0, 0.0, 0.0, 1.0]), 1)
    assert [layer.tolist() for layer in totals.means()["cross"]] == [
        [0.5, 0.25, 0.25, 0],
        [0, 0, 0, 1],
        [0, 0, 0, 0],
    ]


@every_rule
@pytest.mark.parametrize("variant", SYSTEMS)
def test_batches_are_a_stream_of_predictions_that_count_the_same(variant, rule):
    """Padding, company and the cut into batches change nothing; a batch weighs as much as it has
    target tokens."""
    model = spread(variant)
    together = arrays(head_relevance(model, [batch_of(0, 1, 2)], rule))
    streamed = arrays(head_relevance(model, (batch_of(*rows) for rows in [(0,), (2, 1)]), rule))
    alone = [arrays(head_relevance(model, [batch_of(row)], rule)) for row in range(3)]
    for number, layer in enumerate(together):
        assert streamed[number] == pytest.approx(layer)
        weights = [len(ids) + 1 for ids in TGT]
        assert np.average(
            [shares[number] for shares in alone], axis=0, weights=weights
        ) == pytest.approx(layer)


def test_relevance_needs_no_gradients_around_it_and_leaves_none():
    model = spread()
    with torch.no_grad():
        found = arrays(head_relevance(model, [batch_of(0)]))
        gradients = arrays(gradient_importance(model, [batch_of(0)]))
    assert found[0] == pytest.approx(arrays(head_relevance(model, [batch_of(0)]))[0])
    assert gradients[0] == pytest.approx(arrays(gradient_importance(model, [batch_of(0)]))[0])
    assert all(parameter.grad is None for parameter in model.parameters())


def loss_of(model, index: int) -> float:
    src, tgt_in, tgt_out = (
        pad([[*SRC[index], EOS_ID]]),
        pad([[BOS_ID, *TGT[index]]]),
        pad([[*TGT[index], EOS_ID]]),
    )
    return F.cross_entropy(model(src, tgt_in)[0], tgt_out[0], reduction="sum").item()


@every_norm
def test_gradient_importance_is_the_finite_difference_of_the_loss(norm):
    model, step = spread(norm=norm), 1e-5
    model.attentions()["cross"][1].head_scale = torch.tensor(
        [0.5, 1.0, 0.0, 2.0], dtype=torch.double
    )
    found = gradient_importance(model, [batch_of(0, 1), batch_of(2)])
    for site, layers in model.attentions().items():
        for layer, attention in enumerate(layers):
            before, expected = (
                attention.head_scale,
                torch.zeros(SMALL["num_heads"], dtype=torch.double),
            )
            for head in range(SMALL["num_heads"]):
                for index in range(3):
                    losses = []
                    for change in (step, -step):
                        factors = torch.ones(SMALL["num_heads"], dtype=torch.double)
                        factors[head] += change
                        attention.head_scale = factors if before is None else factors * before
                        losses.append(loss_of(model, index))
                    expected[head] += abs(losses[0] - losses[1]) / (2 * step)
            attention.head_scale = before
            assert found[site][layer] == pytest.approx(
                (expected / expected.norm()).numpy(), abs=1e-6
            )
    assert found["cross"][1][2] == 0


def test_gradient_importance_leaves_the_model_as_it_was():
    model = spread()
    scale = torch.tensor([1.0, 0.0, 1.0, 1.0])
    model.attentions()["cross"][0].head_scale = scale
    gradient_importance(model, [batch_of(0)])
    assert model.attentions()["cross"][0].head_scale is scale
    assert model.attentions()["cross"][1].head_scale is None


def test_an_unknown_rule_an_empty_stream_and_a_model_without_heads_are_refused():
    with refuses(InputError, "rule", "'ratio'", "'ratio_eps'"):
        head_relevance(spread(), [batch_of(0)], "ratio")
    for function in (head_relevance, gradient_importance):
        with pytest.raises(InputError, match="batches: there is nothing to read"):
            function(spread(), [])
        with pytest.raises(InputError, match="model: it has no attention at any site"):
            function(
                spread({"encoder_self": "none", "decoder_self": "none", "cross": "none"}),
                [batch_of(0)],
            )
