"""Hard Concrete gates against their closed form (Voita et al. 2019, section 6.1; constants of the
authors' code)."""

import math

import pytest
import torch

from repro.core.attention.gates import HardConcrete
from repro.core.batches import pad
from repro.core.config import SITES
from repro.core.transformer import count_parameters
from test_transformer import VOCAB, small


def gate_of(log_alpha: list[float], rule: str = "sign") -> HardConcrete:
    gate = HardConcrete(len(log_alpha), rule)
    gate.log_alpha.data = torch.tensor(log_alpha, dtype=torch.float64)
    return gate


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


@pytest.mark.parametrize("log_alpha", [-3.0, -0.5, 0.0, 1.0, 4.0])
def test_probabilities_are_those_of_the_closed_form(log_alpha):
    """P(g != 0) = sigmoid(a + 0.791), P(g = 1) = sigmoid(a - 0.791): counted over 200,000 draws,
    and the first from the module."""
    assert gate_of([log_alpha]).open_probability().item() == pytest.approx(
        sigmoid(log_alpha + 0.33 * math.log(11)), abs=1e-12
    )
    draws = gate_of([log_alpha] * 200_000).train()()
    assert float((draws != 0).double().mean()) == pytest.approx(
        sigmoid(log_alpha + 0.791), abs=4e-3
    )
    assert float((draws == 1).double().mean()) == pytest.approx(
        sigmoid(log_alpha - 0.791), abs=4e-3
    )
    assert draws.min() >= 0 and draws.max() <= 1


def test_the_penalty_is_the_expected_number_of_open_gates_and_has_its_gradient():
    gate = gate_of([-1.0, 0.0, 2.0])
    probabilities = [sigmoid(a + 0.33 * math.log(11)) for a in (-1.0, 0.0, 2.0)]
    penalty = gate.penalty()
    assert penalty.item() == pytest.approx(sum(probabilities), abs=1e-12)
    penalty.backward()
    torch.testing.assert_close(
        gate.log_alpha.grad, torch.tensor([p * (1 - p) for p in probabilities], dtype=torch.float64)
    )


def test_the_sign_rule_takes_the_likelier_end_and_the_soft_rule_the_stretched_sigmoid():
    values = [-2.5, -2.398, -0.1, 0.1, 2.0, 2.398]
    assert gate_of(values).eval()().tolist() == [0, 0, 0, 1, 1, 1]
    expected = [min(1, max(0, 1.2 * sigmoid(a) - 0.1)) for a in values]
    assert gate_of(values, "soft").eval()().tolist() == pytest.approx(expected, abs=1e-12)
    assert gate_of(values, "soft").eval()()[0] == 0 and 0 < expected[2] < expected[3] < 1


def test_a_draw_is_shared_by_the_batch_and_differs_from_the_next():
    gate = gate_of([0.0] * 50).train()
    assert gate().shape == (50,) and not torch.equal(gate(), gate())


def test_the_first_values_are_the_codes_or_a_number():
    first = HardConcrete(8).log_alpha
    assert first.abs().max() <= math.sqrt(3 / 8) and first.unique().numel() == 8
    assert HardConcrete(8, init=2.0).log_alpha.tolist() == [2.0] * 8


def test_the_first_values_fill_the_interval_of_the_code():
    first = torch.cat([HardConcrete(8).log_alpha.detach() for _ in range(500)])
    assert (first.min().item(), first.max().item()) == pytest.approx(
        (-math.sqrt(3 / 8), math.sqrt(3 / 8)), rel=0.01
    )


@pytest.mark.parametrize("sites", [("encoder_self",), SITES])
def test_a_gated_model_has_a_gate_per_head_at_its_sites_and_one_penalty(sites):
    model = small(gated_sites=sites)
    layers = {"encoder_self": 2, "decoder_self": 3, "cross": 3}
    assert count_parameters(model) - count_parameters(small()) == 4 * sum(
        layers[site] for site in sites
    )
    modules = [a.gate for site in sites for a in model.attentions()[site]]
    assert model.gate_penalty().item() == pytest.approx(
        sum(gate.penalty() for gate in modules).item()
    )
    assert small().gate_penalty() == 0


def test_a_shut_head_is_a_masked_head_and_an_open_gate_changes_nothing():
    plain, gated = small(), small(gated_sites=SITES, gate_init=5.0)
    gated.load_state_dict(plain.state_dict(), strict=False)
    src, tgt = pad([[5, 6, 7], [8, 9, 10, 11, 12]]), torch.randint(4, VOCAB, (2, 6))
    torch.testing.assert_close(gated(src, tgt), plain(src, tgt))
    for site in SITES:
        gated.attentions()[site][1].gate.log_alpha.data[2] = -5.0
        plain.attentions()[site][1].head_scale = torch.tensor([1.0, 1.0, 0.0, 1.0])
    masked = plain(src, tgt)
    torch.testing.assert_close(gated(src, tgt), masked)
    for site in SITES:
        plain.attentions()[site][1].head_scale = None
    assert not torch.allclose(plain(src, tgt), masked)


def test_a_mask_laid_over_the_heads_is_not_saved():
    model = small()
    names = set(model.state_dict())
    model.attentions()["cross"][0].head_scale = torch.zeros(4)
    assert set(model.state_dict()) == names
