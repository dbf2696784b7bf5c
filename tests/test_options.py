"""Options of commands do what they say: seed, device, search, 8 bits; and a difference has the sign
of who is better."""

import io
from pathlib import Path

import pytest
from command_line import run
from few_pairs import few_pairs

from repro.core import int8
from repro.core.decoding import Translator
from repro.data.corpora import load_pairs
from repro.presets import resolve
from repro.records.report import differences_table
from repro.records.stored import load_record, load_records, score_of
from repro.runs.run import Run

pytestmark = pytest.mark.usefixtures("runs")

ROOT = Path(__file__).parents[1]
SMALL = [
    "data.train_pairs=300",
    "data.vocab_size=300",
    "train.max_updates=6",
    "train.eval_every=3",
    "train.batch_tokens=400",
]
FEW = [*SMALL, f"data.corpus={few_pairs()}"]


def test_the_seed_that_was_asked_for_is_trained(capsys):
    assert Run(Path(run(capsys, "train", "--seed", "3", *FEW)[-1])).config.train.seed == 3


def test_the_device_that_was_asked_for_is_used_and_inexact_is_allowed_only_if_asked_for(
    capsys, monkeypatch, whole
):
    given = []
    monkeypatch.setattr(
        "repro.runs.train.train",
        lambda *_, device, allow_inexact, **__: given.append((device, allow_inexact)) or whole(),
    )
    run(capsys, "train", *FEW)
    run(capsys, "train", "--device", "cpu", "--allow-inexact", *FEW)
    assert given == [(None, False), ("cpu", True)]


def test_the_search_that_was_asked_for_is_made(capsys):
    run(capsys, "train", *FEW)
    said = run(
        capsys,
        "evaluate",
        "base",
        "--split",
        "dev",
        "--beam",
        "2",
        "--alpha",
        "0.6",
        "--penalty",
        "wu",
        "--record",
        "records",
    )
    search = load_record(Path(said[-1]))["search"]
    assert (search["beam"], search["alpha"], search["penalty"]) == (2, 0.6, "wu")


@pytest.mark.parametrize("asked", [True, False])
def test_eight_bits_are_used_if_asked_for(capsys, monkeypatch, asked):
    made, quantized = [], int8.quantized
    monkeypatch.setattr(int8, "quantized", lambda model: made.append(1) or quantized(model))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"The dog sleeps.\n")))
    run(capsys, "translate", "gallery/base", *(["--int8"] if asked else []))
    assert bool(made) == asked


def test_the_second_run_is_said_to_be_better_when_it_is(capsys, monkeypatch):
    run(capsys, "train", *FEW)
    run(capsys, "train", "--system", "hc-sa", *FEW)
    good = load_pairs(few_pairs(), "en", "de", "dev")[1]
    outputs = iter([["Nein."] * len(good), good])
    monkeypatch.setattr(Translator, "texts", lambda *_: next(outputs))
    assert run(capsys, "compare", "base", "hc-sa", "--split", "dev")[1].startswith(
        "BLEU: 100.00 - 0.00 = +100.00, "
    )


def test_a_difference_in_a_report_is_that_to_the_first():
    usual = {resolve("smoke", system).digest() for system in ("base", "hc-all")}
    stored = {
        record["system"]: record
        for record in load_records(ROOT / "results" / "minigerman.en-de")
        if record["config_digest"] in usual
    }
    first, second = stored["base"], stored["hc-all"]
    row = differences_table([first, second]).split("\n")[2].split(" | ")
    assert float(row[2]) == pytest.approx(
        score_of(second, "BLEU")["value"] - score_of(first, "BLEU")["value"], abs=0.006
    )
    assert differences_table([first]) == "Nothing to compare base with."


def test_empty_brackets_after_a_variant_make_no_other_run():
    plain, brackets = (("model.encoder_self=uniform; last: gaussian" + end,) for end in ("", "()"))
    assert resolve("smoke", overrides=brackets) == resolve("smoke", overrides=plain)
    assert (
        resolve("smoke", overrides=("model.cross=gaussian(centers=())",)).model.cross
        == "gaussian(centers=())"
    )
