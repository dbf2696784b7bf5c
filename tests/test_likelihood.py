"""The likelihood of test references, and the dev curve of training: measured, stored, verified."""

import json

import numpy as np
import pytest
import torch
from paper_records import BASE, score_record
from tiny_runs import tiny

from repro.claims.pooling import pooled
from repro.core.batches import mark_source
from repro.core.decoding import Translator
from repro.core.subwords import BOS_ID, EOS_ID
from repro.data.characters import clean_line
from repro.data.corpora import load_pairs
from repro.files import write_json
from repro.measures import likelihood
from repro.measures.likelihood import likelihood_tables
from repro.measures.scores import evaluate_run
from repro.papers.frames import results as frames
from repro.records.likelihood import curve_of, dev_curve, reference_sums
from repro.records.sentences import Table
from repro.records.stored import load_record, publish
from repro.records.translations import hypotheses_of
from repro.runs.run import Run
from repro.runs.train import train
from repro.verify.verify import verify_records

SOURCES = ["The old man sees a dog.", "It rains.", "A child sings."]
REFS = ["Der alte Mann sieht einen Hund.", "Es regnet.", ""]


def test_the_likelihood_of_a_reference_is_that_of_each_of_its_tokens(translator):
    found = likelihood_tables(translator, SOURCES, REFS)["likelihood"]
    src, tgt = map(translator.subwords.encode, (SOURCES, REFS))
    for place, (source, target) in enumerate(zip(src, tgt, strict=True)):
        source = mark_source(source, translator.model.config.source_end_mark)
        with torch.no_grad():
            logits = translator.model(torch.tensor([source]), torch.tensor([[BOS_ID, *target]]))[0]
        chances = logits.log_softmax(-1)
        wanted = sum(-float(chances[i, token]) for i, token in enumerate([*target, EOS_ID]))
        assert found["nll"][place] == pytest.approx(wanted, abs=1e-3)
        assert found["tokens"][place] == len(target) + 1


def test_references_are_read_as_the_training_text_was(translator):
    with_marks = [text.replace("e", "e\u00ad") for text in REFS]
    cleaned = Translator(
        translator.model, translator.subwords, lambda texts: [clean_line(text) for text in texts]
    )
    assert likelihood_tables(cleaned, SOURCES, with_marks) == likelihood_tables(
        translator, SOURCES, REFS
    )


def test_a_reference_that_the_model_cannot_read_leaves_no_likelihood(translator, monkeypatch):
    monkeypatch.setattr(likelihood, "longest_readable", lambda *_: 5)
    assert likelihood_tables(translator, SOURCES, REFS) == {}


def test_an_update_that_was_logged_twice_counts_as_the_run_went_on_from_it():
    lines = [
        {"update": 4, "dev_nll": 3.0},
        {"update": 6, "nll": 2.5},
        {"update": 8, "dev_nll": 2.0},
        {"update": 8, "dev_nll": 1.9999999},
    ]
    assert curve_of(lines) == [[4, 3.0], [8, 2.0]] and curve_of([]) == []


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Run:
    return train(tiny(), tmp_path_factory.mktemp("runs"), quiet=True)


def kept_in(run: Run) -> list:
    return list((run.path / "evaluations").glob("*.json"))


@pytest.fixture
def record(run):
    for path in kept_in(run):
        path.unlink()
    return evaluate_run(run)


def test_every_evaluation_has_likelihood_and_curve(record, run, tmp_path, capsys):
    logged = {line["update"]: line["dev_nll"] for line in run.metrics() if "dev_nll" in line}
    assert dev_curve(record) == pytest.approx(logged, abs=1e-6) and len(logged) == 6
    nll, tokens = reference_sums(record).sum(axis=0)
    assert len(reference_sums(record)) == record["sentences"]
    assert record["likelihood"] == {
        "tokens": int(tokens),
        "nats_per_token": pytest.approx(nll / tokens, abs=1e-6),
    }
    path = publish(record, tmp_path)
    assert load_record(path) == record and evaluate_run(run) == record
    assert path.with_name(f"{path.stem}.likelihood.tsv.bz2").is_file()
    assert verify_records(tmp_path).faults == []
    found = frames("scores", tmp_path)["reference_nll"]
    assert set(found) == {record["likelihood"]["nats_per_token"]}


def older(record: dict) -> dict:
    """Return a record as it was before there were likelihoods and curves."""
    tables = {name: table for name, table in record["tables"].items() if name != "likelihood"}
    training = {name: found for name, found in record["training"].items() if name != "dev_curve"}
    found = {name: value for name, value in record.items() if name != "likelihood"}
    return found | {"tables": tables, "training": training}


def test_an_older_evaluation_keeps_its_translations_and_gets_what_it_lacks(
    record, run, tmp_path, monkeypatch
):
    (path,) = kept_in(run)
    text = json.loads(path.read_text())
    write_json(path, older(text))
    monkeypatch.setattr(Translator, "search", lambda *_: pytest.fail("translated again"))
    assert evaluate_run(run) == record == load_record(path)
    place = publish(older(record), tmp_path)
    assert verify_records(tmp_path).faults == [] and place == publish(record, tmp_path)
    assert hypotheses_of(load_record(place)) == hypotheses_of(record)


def with_likelihood(record: dict, **columns) -> dict:
    table = dict(record["tables"]["likelihood"]) | columns
    return record | {"tables": record["tables"] | {"likelihood": Table(table)}}


def curve(record: dict, points: list) -> dict:
    return record | {"training": record["training"] | {"dev_curve": points}}


@pytest.mark.parametrize(
    ("edit", "fault"),
    [
        (
            lambda r: with_likelihood(r, nll=r["tables"]["likelihood"]["nll"] * 0.9),
            "likelihood: stored {'tokens': ",
        ),
        (
            lambda r: with_likelihood(r, nll=-r["tables"]["likelihood"]["nll"]),
            "likelihood: has a reference without a token, or nats that are not from 0",
        ),
        (lambda r: r | {"likelihood": r["likelihood"] | {"tokens": 7}}, "likelihood: stored"),
        (
            lambda r: {name: value for name, value in r.items() if name != "likelihood"},
            "likelihood: stored None, derived {'tokens': ",
        ),
        (
            lambda r: (
                r | {"tables": {**r["tables"], "likelihood": Table({"nll": [1], "tokens": [1]})}}
            ),
            "likelihood: is of 1 references, not ",
        ),
        (
            lambda r: curve(r, r["training"]["dev_curve"][:-1]),
            "dev curve: is not of the updates 4 to 24, every 4",
        ),
        (
            lambda r: curve(r, [[update, nats + 1] for update, nats in r["training"]["dev_curve"]]),
            "dev curve: its least is not ",
        ),
    ],
)
def test_an_edited_likelihood_or_curve_is_named(record, tmp_path, edit, fault):
    publish(edit(record), tmp_path)
    assert any(fault in found for found in verify_records(tmp_path).faults)


def test_runs_of_the_same_data_count_the_same_tokens(record, tmp_path):
    publish(record, tmp_path)
    tokens = record["tables"]["likelihood"]["tokens"].copy()
    tokens[0] += 1
    other = with_likelihood(record, tokens=tokens)
    config = record["config"] | {"train": record["config"]["train"] | {"seed": 2}}
    publish(other | {"config": config, "run": "other", "config_digest": "0"}, tmp_path)
    assert any("other numbers of tokens" in fault for fault in verify_records(tmp_path).faults)


def test_sets_taken_as_one_have_a_likelihood_if_each_has():
    sets = {
        split: score_record(BASE, load_pairs("minigerman", "en", "de", split)[1][:3], split=split)
        for split in ("test", "dev")
    }
    for record in sets.values():
        record["tables"]["likelihood"] = Table({"nll": [1.0, 2.0, 3.5], "tokens": [2, 2, 3]})
    (both,) = pooled(sets.values(), ["test", "dev"])
    assert np.array_equal(reference_sums(both).sum(axis=0), [13, 14]) and "likelihood" not in both
    del sets["dev"]["tables"]["likelihood"]
    (both,) = pooled(sets.values(), ["test", "dev"])
    assert reference_sums(both) is None and both["tables"]["sentences"].num_rows == 6
