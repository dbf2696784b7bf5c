"""On a GPU everything is as on a processor, but for rounding: attention, training, going on after a
stop, search, scores.

Skipped where there is none.
"""

import copy

import pytest
import torch
from test_attention_contract import PLACES, make
from tiny_runs import assert_same, cut_short, parameters_of, tiny

from repro.core.attention.base import Positions
from repro.core.decoding import SearchConfig
from repro.core.int8 import quantized
from repro.presets import SYSTEMS
from repro.runs import gallery
from repro.runs.models import load_translator
from repro.runs.run import Run
from repro.runs.train import train

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


@pytest.fixture(scope="module")
def on_gpu(tmp_path_factory) -> Run:
    """Return a run of seconds that was trained on the GPU."""
    return train(tiny(), tmp_path_factory.mktemp("gpu"), "cuda", quiet=True)


def outputs_and_gradients(weights, query, key, value, blocked, positions) -> list[torch.Tensor]:
    """Return the weights, their sums of values, and the gradients of what is learned, all on the
    processor."""
    query, value = query.detach().requires_grad_(), value.detach().requires_grad_()
    projected = weights.project_key(key, torch.arange(key.shape[1], device=key.device))
    outputs = [
        weights(query, projected, blocked, positions),
        weights.attend(query, projected, value, blocked, positions),
    ]
    outputs[1].square().sum().backward()
    learned = [
        tensor.grad for tensor in (query, value, *weights.parameters()) if tensor.grad is not None
    ]
    return [tensor.detach().cpu() for tensor in (*outputs, *learned)]


@pytest.mark.parametrize("variant, site", PLACES)
def test_attention_and_its_gradients_are_those_of_the_processor(variant, site):
    """In 64 bits: in 32, one gradient of RAN alone is off by more than 1e-4 of itself on the
    processor already."""
    weights, query, key, blocked, positions = make(variant, site, torch.float64)
    value = torch.randn(
        len(key), weights.num_heads, key.shape[1], weights.head_dim, dtype=torch.float64
    )
    expected = outputs_and_gradients(weights, query, key, value, blocked, positions)
    there = copy.deepcopy(weights).to("cuda")
    there.zero_grad()
    inputs = [tensor.to("cuda") for tensor in (query, key, value, blocked)]
    found = outputs_and_gradients(
        there,
        *inputs,
        Positions(*(part if part is None else part.to("cuda") for part in positions)),
    )
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("system", SYSTEMS)
def test_training_takes_the_course_that_it_takes_on_the_processor(tmp_path, system):
    """Without dropout, whose random numbers are others on each device."""
    config = tiny("model.dropout=0.0", "train.max_updates=8", variant=system)
    if config.model.attention_dropout or config.model.gated_sites:
        pytest.skip("draws random numbers")
    here = train(config, tmp_path / "cpu", "cpu", quiet=True)
    there = train(config, tmp_path / "cuda", "cuda", quiet=True)
    assert (
        there.provenance()["device"] == "cuda"
        and torch.cuda.get_device_name() in there.provenance()["processor"]
    )
    losses = [
        [line["dev_nll"] for line in run.metrics() if "dev_nll" in line] for run in (here, there)
    ]
    assert losses[1] == pytest.approx(losses[0], rel=1e-3)


@pytest.mark.parametrize(
    "options",
    [("model.attention_dropout=0.1",), ("train.precision=bf16",), ('model.gated_sites=["cross"]',)],
)
def test_what_the_processor_cannot_repeat_is_trained_as_well(tmp_path, options):
    run = train(tiny(*options), tmp_path, "cuda", quiet=True)
    found = [line["dev_nll"] for line in run.metrics() if "dev_nll" in line]
    assert run.is_finished and found[-1] < found[0]


def test_a_stopped_run_ends_with_the_same_bits(tmp_path, monkeypatch, on_gpu):
    stopped = cut_short(tmp_path, monkeypatch)
    assert stopped.provenance()["device"] == "cuda"  # the default, where there is a GPU
    assert_same(train(tiny(), tmp_path, quiet=True), on_gpu)


def test_a_model_of_the_gpu_is_read_and_translates_without_one(on_gpu, refs):
    assert all(value.device.type == "cpu" for value in parameters_of(on_gpu).values())
    sources = refs[:40]
    found, expected = (
        load_translator(on_gpu, device).translate(sources) for device in ("cuda", "cpu")
    )
    assert found == expected
    rounded = load_translator(on_gpu, "cuda")
    rounded = rounded.with_model(quantized(rounded.model))
    assert len(rounded.translate(sources)) == len(sources)


@pytest.mark.parametrize("beam", [1, 5])
def test_search_finds_the_same_translations(refs, beam):
    here, there = (load_translator(gallery.load("base"), device) for device in ("cpu", "cuda"))
    found, expected = (
        there.search(refs[:40], SearchConfig(beam)),
        here.search(refs[:40], SearchConfig(beam)),
    )
    assert [hypothesis.ids for hypothesis in found] == [hypothesis.ids for hypothesis in expected]
    assert [hypothesis.score for hypothesis in found] == pytest.approx(
        [hypothesis.score for hypothesis in expected], rel=1e-4
    )
