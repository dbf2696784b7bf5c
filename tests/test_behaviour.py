"""What a model computes, as numbers: a run and the stored results know when code computes something else."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_runs import assert_same, cut_short, tiny

from repro.core import batches, optimizer, transformer
from repro.core import training as updates
from repro.core.attention.multihead import MultiHeadAttention
from repro.core.config import ModelConfig, TrainConfig
from repro.errors import DamagedFileError, InputError
from repro.files import write_json
from repro.measures.scores import evaluate_run
from repro.runs import behaviour as probes
from repro.runs.behaviour import changes, of_model, of_training, output_of
from repro.runs.train import train
from repro.verify import computed
from repro.verify.computed import update_behaviour, verify_behaviour

RESULTS = Path(__file__).resolve().parents[1] / "results"
MODEL, TRAIN = ModelConfig(cross="gaussian", gated_sites=("encoder_self",)), TrainConfig()


def test_numbers_are_the_same_again_and_leave_the_random_numbers_alone():
    before = torch.get_rng_state()
    assert of_model(MODEL) == of_model(MODEL) and of_training(TRAIN) == of_training(TRAIN)
    assert output_of(MODEL).items() <= of_model(MODEL).items()
    assert torch.equal(torch.get_rng_state(), before)


def test_a_table_of_positions_bounds_the_probes():
    assert (
        len(
            of_model(
                ModelConfig(
                    encoder_self="recurrent(max_len=3)", decoder_self="synthesizer(max_len=2)"
                )
            )
        )
        == 4
    )


def scaled(function, factor: float):
    return lambda *arguments: function(*arguments) * factor


@pytest.mark.parametrize(
    ("place", "name", "factor", "changed"),
    [
        (transformer, "sinusoids", 1.01, ["output", "loss", "gradient"]),
        (updates, "learning_rate", 1.01, []),  # of no model
        (transformer.Transformer, "gate_penalty", 1.01, ["gradient"]),
        (MultiHeadAttention, "forward", 1.01, ["output", "loss", "gradient"]),
    ],
)
def test_what_a_model_computes_otherwise_is_named(place, name, factor, changed, monkeypatch):
    before = of_model(MODEL)
    monkeypatch.setattr(place, name, scaled(getattr(place, name), factor))
    assert changes(before, of_model(MODEL)) == [probes.WORDS[part] for part in changed]


def test_what_training_computes_otherwise_is_named(monkeypatch):
    before = of_training(TRAIN)
    assert changes(before, of_training(replace(TRAIN, adam_beta2=0.9))) == ["another update"]
    assert changes(before, of_training(replace(TRAIN, schedule="inverse-sqrt"))) == [
        "other learning rates"
    ]
    adam = optimizer.AdamAndMuon
    monkeypatch.setattr(
        optimizer,
        "AdamAndMuon",
        lambda groups, betas, **options: adam(groups, betas=(0.5, betas[1]), **options),
    )
    assert changes(before, of_training(TRAIN)) == ["another update"]
    monkeypatch.undo()
    monkeypatch.setattr(
        batches.np.random, "default_rng", lambda seed: np.random.Generator(np.random.MT19937(seed))
    )
    assert changes(before, of_training(TRAIN)) == ["another order of the training pairs"]


def test_rounding_is_no_change_and_numbers_that_were_edited_are():
    noted = {"output": [0.25, 1.0]}
    assert changes(noted, {"output": [0.25 + 1e-8, 1.0], "loss": [1.0]}) == []
    for other in ([0.2501, 1.0], [0.25], [0.25, "1"], [0.25, float("nan")], None, [None, 1.0]):
        assert changes({"output": other}, noted) == [probes.WORDS["output"]]


def test_a_run_is_not_resumed_under_other_code_and_if_it_is_the_record_says_so(
    tmp_path, monkeypatch
):
    """A training loop is not the file of a variant: its edits went unseen."""
    run = cut_short(tmp_path, monkeypatch)
    adam = optimizer.AdamAndMuon
    monkeypatch.setattr(
        optimizer,
        "AdamAndMuon",
        lambda groups, betas, **options: adam(groups, betas=(0.5, betas[1]), **options),
    )
    with pytest.raises(
        InputError,
        match=r"cannot resume exactly: this code computes another update than when the run began. Fix: restore",
    ):
        train(tiny(), tmp_path, quiet=True)
    train(tiny(), tmp_path, quiet=True, allow_inexact=True)
    assert run.provenance()["inexact"] == [
        "this code computes another update than when the run began"
    ]
    assert evaluate_run(run, "dev")["provenance"]["inexact"] == run.provenance()["inexact"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"versions": {"numpy": "1.17.0"}}, "numpy was 1.17.0, is "),
        ({"versions": {"sentencepiece": "0.1.90"}}, "sentencepiece was 0.1.90, is "),
        ({"python": "3.8.20"}, "Python was 3.8, is "),
    ],
)
def test_a_run_is_not_resumed_under_other_libraries(changed, message, tmp_path, monkeypatch):
    run = cut_short(tmp_path, monkeypatch)
    old = run.provenance()
    changed = changed | (
        {"versions": old["versions"] | changed["versions"]} if "versions" in changed else {}
    )
    write_json(run.provenance_path, old | changed)
    with pytest.raises(InputError, match=f"cannot resume exactly: {message}"):
        train(tiny(), tmp_path, quiet=True)


def test_a_run_of_before_goes_on_and_the_commits_are_listed(tmp_path, monkeypatch, whole):
    run = cut_short(tmp_path, monkeypatch)
    old = run.provenance() | {"commit": "0123456789ab", "variants": {"dot-product": "0e633bbb5ea1"}}
    del old["behaviour"]
    write_json(run.provenance_path, old)
    assert_same(train(tiny(), tmp_path, quiet=True), whole())
    found = run.provenance()
    assert (
        found["commits"] == ["0123456789ab", whole().provenance()["commit"]]
        and "inexact" not in found
    )
    assert "commits" not in whole().provenance()


def test_rows_are_written_once_and_compared_from_then_on(results, monkeypatch):
    assert verify_behaviour(results) == ([], "")
    path = update_behaviour(results)
    first = path.read_bytes()
    rows = json.loads(first)
    assert len([row for row in rows if "model" in row]) == 3 and all(row["commit"] for row in rows)
    problems, line = verify_behaviour(results)
    assert (
        problems == []
        and line
        == f"this code computes what it computed when the results were written: rows compared: {len(rows)}"
    )
    assert update_behaviour(results).read_bytes() == first
    monkeypatch.setattr(transformer, "sinusoids", scaled(transformer.sinusoids, 1.01))
    problem, of_training_too = verify_behaviour(results)[0]
    assert (
        "computes other scores of the next token, another loss, another gradient than when the results were"
        in problem
    )
    assert "written; rows: 3 of" in problem and "computes another update than" in of_training_too
    path.write_text(json.dumps(rows[1:]))
    with pytest.raises(
        InputError,
        match="than when the results were written; .* Fix: restore the code, or delete the file",
    ):
        update_behaviour(results)
    monkeypatch.undo()
    assert verify_behaviour(results)[1].endswith(
        "; without a row: 1, which repro results --update adds"
    )
    assert update_behaviour(results).read_bytes() == first


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[1]",
        "[{}]",
        '[{"model": {"embed_dim": "a"}, "commit": "a"}]',
        '[{"model": {}, "commit": "a", "output": ["a"]}]',
    ],
)
def test_a_damaged_file_of_rows_is_named(text, tmp_path):
    (tmp_path / "behaviour.json").write_text(text)
    with pytest.raises(
        DamagedFileError, match="behaviour.json: does not say what the code computed"
    ):
        verify_behaviour(tmp_path)


def test_the_published_results_have_a_row_for_every_model():
    stored = {row.config for row in computed._load(RESULTS)}
    assert [config for config in computed._configs(RESULTS) if config not in stored] == []
