"""What is measured on several runs together: speeds in one sitting, and pruned models beside their
controls."""

import importlib
import json
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from types import SimpleNamespace

import pytest
import torch
from click.testing import CliRunner
from paper_records import BASE, HARD, speed_records
from tiny_runs import tiny

from repro.claims.evidence import Evidence, NotMeasured
from repro.claims.settings import Setting
from repro.core.config import RunConfig, TrainConfig
from repro.measures import pruning as pruned
from repro.measures import speed
from repro.papers.runner import Plan, execute_plan
from repro.papers.speed import speed_ratio, speed_table
from repro.runs import provenance


def test_speeds_belong_to_their_runs_and_the_first_round_does_not_count(monkeypatch):
    runs = [SimpleNamespace(name=name, config=tiny()) for name in ("slow", "fast")]
    told = iter([1, 10, 2, 20, 3, 30, 4, 40, 5, 50, 6, 60])
    monkeypatch.setattr(speed, "load_translator", lambda run, device: run)
    monkeypatch.setattr(speed, "_sentences_per_second", lambda *_: next(told))
    slow, fast = speed.measure_speed(runs)
    assert (slow["sentences_per_second"], fast["sentences_per_second"]) == (
        [2, 3, 4, 5, 6],
        [20, 30, 40, 50, 60],
    )
    assert slow["sitting"] == ["slow", "fast"]
    # models may have been trained elsewhere
    assert slow["processor"] == provenance.describe_processor(torch.device("cpu"))


def test_every_sentence_is_continued_for_all_steps(translator, monkeypatch):
    decode, steps = type(translator.model).decode, []
    monkeypatch.setattr(
        type(translator.model), "decode", lambda *args: steps.append(len(args[2])) or decode(*args)
    )
    monkeypatch.setattr(speed, "BATCH", 2)
    monkeypatch.setattr(speed, "time", SimpleNamespace(perf_counter=iter([10.0, 12.0]).__next__))
    rate = speed._sentences_per_second(translator, ["A dog.", "The man sleeps.", "She sees a dog."])
    assert rate == 3 / 2  # sentences, not tokens, in two seconds
    assert steps == [2] * speed.STEPS + [1] * speed.STEPS


def test_a_speed_in_a_table_is_the_median_of_its_rounds():
    (record,) = speed_records(base=[1, 2, 9])
    text = speed_table(Evidence("smoke", [record]), (BASE,))
    assert "| base | 2 | 1.00 |" in text and " 1 thread; speeds" in text
    assert " 1 thread of 2 x Abacus; speeds" in speed_table(
        Evidence("smoke", [record | {"processor": "2 x Abacus"}]), (BASE,)
    )


def test_speeds_of_two_sittings_are_never_compared():
    """The machine may have had other work in one of them."""
    together, (apart,) = (
        speed_records(base=[10, 20], hc_sa=[20, 40]),
        speed_records(ran_all=[500, 500]),
    )
    before = together[1] | {"sitting": ["hc-sa"], "sentences_per_second": [900, 900]}
    evidence = Evidence("smoke", [before, *together, apart])
    assert speed_ratio(evidence, HARD, BASE).value == 2
    with pytest.raises(
        NotMeasured, match="speed of ran-all: measured in another sitting than base"
    ):
        speed_ratio(evidence, Setting("ran-all"), BASE)
    text = speed_table(evidence, (BASE, HARD, Setting("ran-all")))
    assert "| hc-sa | 30 | 2.00 (2.00 to 2.00) |" in text and "| ran-all |" not in text
    assert " Measured in another sitting than base, and so not compared: ran-all; " in text
    with pytest.raises(NotMeasured, match="speed of hc-all, seed 1: not measured at smoke"):
        speed_ratio(evidence, Setting("hc-all"), BASE)


def test_all_records_of_a_sitting_are_kept(monkeypatch, tmp_path):
    kept = []
    monkeypatch.setattr("repro.papers.runner.publish", lambda record, _: kept.append(record["run"]))
    records = [{"run": name, "kind": "speed"} for name in "abc"]
    found = Plan([], [], [], [("speed", [tiny()])])
    assert execute_plan(found, tmp_path, 1, lambda _: None, lambda *_: [{"records": records}]) == []
    assert kept == ["a", "b", "c"]


def trained_for(updates: int) -> RunConfig:
    return replace(tiny(), train=TrainConfig(max_updates=updates))


def test_a_pruned_model_has_a_control_and_the_one_near_a_quarter_is_trained_from_scratch(
    monkeypatch,
):
    made, run = [], SimpleNamespace(config=tiny(), path=None, name="base")
    points = [
        SimpleNamespace(run=SimpleNamespace(name=f"with {heads}"), heads=heads, penalty=1 / heads)
        for heads in (20, 12, 5)
    ]
    monkeypatch.setattr(pruned, "load_model", lambda _: None)
    monkeypatch.setattr(
        pruned, "kept_heads", lambda _: {site: [[0, 1, 2, 3]] * 2 for site in pruned.SITES}
    )
    monkeypatch.setattr(pruned, "sweep", lambda *_, **__: points)
    monkeypatch.setattr(
        pruned,
        "continued_config",
        lambda run, *sites: trained_for(50) if run.name == "cut out" else ("control", *sites),
    )
    monkeypatch.setattr(
        pruned,
        "save_pruned",
        lambda run: SimpleNamespace(
            name="cut out", config=SimpleNamespace(digest=lambda: run.name)
        ),
    )
    monkeypatch.setattr(pruned, "from_scratch_config", lambda _: trained_for(150))
    monkeypatch.setattr(
        pruned,
        "train_and_evaluate",
        lambda config: made.append(config) or {"config_digest": str(config)},
    )
    monkeypatch.setattr(pruned, "evaluate_run", lambda run: run.name)
    monkeypatch.setattr(pruned, "_point_fields", lambda point: point.heads)
    (found,) = pruned.measure_pruning([run])
    # a quarter of 24 is 6
    assert made == [
        ("control", ("encoder_self",)),
        ("control", pruned.SITES),
        trained_for(50),
        trained_for(200),  # as many updates as the model that was pruned and trained on
    ]
    first, second, longer, scratch = ({"config_digest": str(config)} for config in made)
    assert found["series"]["scratch"] == {
        "pruned": "with 5",
        "trained_on": longer["config_digest"],
        "scratch": scratch["config_digest"],
    }
    swept = [point.run.name for point in points]
    # whatever claims compare has been scored
    assert found["records"] == [*swept, first, *swept, second, "cut out", longer, scratch]


def test_the_benchmarks_say_in_a_line_what_is_wrong(monkeypatch):
    """Measuring takes an hour, and no test does it; but what they import lies elsewhere now and
    then."""
    benchmarks = importlib.import_module("benchmarks.__main__")

    def missing(package):
        raise PackageNotFoundError(package)

    monkeypatch.setattr(benchmarks, "version", missing)
    found = CliRunner().invoke(benchmarks.main, ["decoding"])
    assert found.exit_code == 1 and found.output.startswith(
        "error: transformers is not installed. Fix: make bench"
    )
    assert (
        "'decodin' is not one of 'training', 'decoding'"
        in CliRunner().invoke(benchmarks.main, ["decodin"]).output
    )


def test_updates_are_timed_without_a_corpus_and_other_machines_are_kept(tmp_path, monkeypatch):
    hours, stored = importlib.import_module("benchmarks.hours"), tmp_path / "hours.json"
    other = {"scale": "smoke", "provenance": {"processor": "another", "threads": 1}}
    stored.write_text(json.dumps({"rows": [other]}))
    monkeypatch.setattr(hours, "RESULTS", stored)
    monkeypatch.setattr(hours, "resolve", lambda scale: tiny())
    for _ in range(2):
        found = CliRunner().invoke(hours.main, ["smoke"])
        assert found.exit_code == 0 and found.output.endswith(" s an update\n"), found.output
    first, own = json.loads(stored.read_bytes())["rows"]
    assert first == other and own["seconds_of_update"] > 0 and own["scale"] == "smoke"
