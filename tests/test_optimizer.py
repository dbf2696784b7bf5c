"""The optimiser: Adam, and Muon for the matrices inside the layers."""

import pytest
import torch
from tiny_runs import cut_short, parameters_of, tiny

from repro.core.batches import EncodedPairs
from repro.core.config import TrainConfig
from repro.core.optimizer import make_optimizer, orthogonalized
from repro.core.training import apply_update
from repro.errors import InputError
from repro.runs.train import train
from test_transformer import small

MUON = TrainConfig(optimizer="muon", matrix_rate=0.1, learning_rate=0.01)
PAIRS = EncodedPairs([[5, 6, 7], [8, 9], [10]], [[9], [7, 6, 5, 4, 8], [12, 11]], True)


def test_a_matrix_becomes_the_orthogonal_one_next_to_it():
    torch.manual_seed(0)
    for shape in ((12, 5), (5, 12), (7, 7)):
        given = torch.randn(3, *shape)
        u, _, v = torch.linalg.svd(given, full_matrices=False)
        turned = u.mT @ orthogonalized(given) @ v.mT
        values = turned.diagonal(dim1=-2, dim2=-1)
        assert 0.6 < values.min() and values.max() < 1.25
        torch.testing.assert_close(turned, torch.diag_embed(values), atol=1e-4, rtol=0)
    assert not orthogonalized(torch.zeros(1, 3, 2)).any()


@pytest.mark.skipif(not hasattr(torch.optim, "Muon"), reason="this torch is older than its Muon")
@pytest.mark.parametrize("shape", [(12, 5), (5, 12)])
def test_matrices_move_as_by_the_muon_of_torch(shape):
    """That one rounds to bf16, which costs two digits."""
    torch.manual_seed(1)
    ours, theirs = (torch.nn.Linear(*shape, bias=False) for _ in range(2))
    theirs.load_state_dict(ours.state_dict())
    from_torch = torch.optim.Muon(theirs.parameters(), lr=0.1, weight_decay=0.0)
    model = small()
    matrix = model.encoder[0].feed_forward.sublayer[0].weight
    optimizer = make_optimizer(model, MUON)
    group = next(group for group in optimizer.param_groups if group["is_matrices"])
    assert any(matrix is parameter for parameter in group["params"])
    group.update(params=[ours.weight], lr=0.1)
    for _ in range(3):
        ours.weight.grad = torch.randn_like(ours.weight)
        theirs.weight.grad = ours.weight.grad.clone()
        optimizer.step()
        from_torch.step()
    torch.testing.assert_close(ours.weight, theirs.weight, atol=0.02, rtol=0)


def test_the_rest_moves_as_by_adam_alone():
    states = []
    for config in (MUON, TrainConfig(learning_rate=0.01)):
        torch.manual_seed(2)
        model = small(gated_sites=("cross",))
        before = {name: value.clone() for name, value in model.state_dict().items()}
        apply_update(model, make_optimizer(model, config), PAIRS.batch([0, 1, 2]), 0.01, config)
        states.append({name: value - before[name] for name, value in model.state_dict().items()})
    linear = {
        f"{name}.weight"
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear) and module is not model.output
    }
    muon, adam = states
    assert {name for name in adam if not torch.equal(muon[name], adam[name])} == linear


def test_the_optimiser_has_the_constants_of_the_paper_but_for_beta2():
    optimizer = make_optimizer(small(gated_sites=("cross",)), TrainConfig(adam_beta2=0.9))
    assert {
        (group["betas"], group["eps"], group["weight_decay"]) for group in optimizer.param_groups
    } == {((0.9, 0.9), 1e-9, 0)}


def test_a_run_with_muon_resumes_to_the_same_bits(tmp_path, monkeypatch):
    whole = train(tiny("train.optimizer=muon"), tmp_path / "whole", quiet=True)
    cut_short(tmp_path / "cut", monkeypatch, 14, "train.optimizer=muon")
    resumed = train(tiny("train.optimizer=muon"), tmp_path / "cut", quiet=True)
    expected = parameters_of(whole)
    assert all(torch.equal(value, expected[name]) for name, value in parameters_of(resumed).items())


def test_a_rate_of_matrices_does_nothing_with_adam():
    with pytest.raises(InputError, match="train.matrix_rate"):
        tiny("train.optimizer=adam", "train.matrix_rate=0.5")
