"""`repro heads` and `repro prune` on a tiny run, and what they say to mistakes."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import refused

from repro.__main__ import main
from repro.data import catalogue, corpora
from repro.files import write_json
from repro.generated import minigerman
from repro.measures import pruning as pruning_sweep
from repro.presets import resolve
from repro.records.head_tables import render_heads
from repro.records.stored import load_record
from repro.runs.run import Run

SHAPE = ("model.embed_dim=16", "model.ffn_dim=16")
TINY = (
    *SHAPE,
    "data.vocab_size=300",
    "data.train_pairs=290",
    "train.max_updates=4",
    "train.eval_every=2",
)
HEADS = 24  # two layers with four heads at three sites
PNG = b"\x89PNG"


@pytest.fixture(scope="module")
def trained(tmp_path_factory, short_translations) -> Iterator[Path]:
    """A folder with a tiny run; the generated corpus is small while these tests run."""
    root = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        for module in (minigerman, minigerman.corpus):
            patch.setattr(module, "DEFAULT_SIZES", {"train": 300, "dev": 6, "test": 6})
        for read_once in (catalogue.minigerman_splits, corpora._load_published_once):
            read_once.cache_clear()
        patch.setenv("REPRO_RUNS", str(root))
        with pytest.raises(SystemExit):
            main(["train", *TINY])
        yield root
    for read_once in (catalogue.minigerman_splits, corpora._load_published_once):
        read_once.cache_clear()


@pytest.fixture(autouse=True)
def folder(trained, tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("REPRO_RUNS", str(trained))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def in_this_process(monkeypatch):
    """Train where the corpus is small; a worker process would make the whole one."""
    monkeypatch.setattr(
        pruning_sweep, "run_all", lambda tasks, work, jobs, ended: [work(*task) for task in tasks]
    )


def run(capsys, *arguments: str) -> str:
    """Return what a command prints."""
    with pytest.raises(SystemExit) as stopped:
        main(list(arguments))
    captured = capsys.readouterr()
    assert stopped.value.code == 0, captured.err
    return captured.out


def test_heads_prints_the_tables_of_the_record_and_keeps_it_and_its_pictures(
    capsys, trained, folder
):
    page = run(capsys, "heads", "base", "--record", "records", "--figures", "pictures")
    name = next(trained.iterdir()).name
    tables, (kept, *pictures) = (
        page[: page.rindex("|\n") + 2],
        page[page.rindex("|\n") + 2 :].split("\n"),
    )
    record = load_record(folder / kept)
    assert kept == f"records/minigerman.en-de/heads/{name}.json"
    assert (
        tables == render_heads(record)
        and tables.startswith(f"# Heads of {name}\n")
        and "6 sentences of dev" in tables
    )
    assert (record["kind"], record["measured"]["sentences"]) == ("heads", 6)
    assert sorted(filter(None, pictures)) == sorted(
        str(path.relative_to(folder)) for path in (folder / "pictures").iterdir()
    )
    record["measured"]["sentences"] = 4
    write_json(folder / kept, record)
    with pytest.raises(SystemExit) as stopped:  # it took as long, though: what was found is printed
        main(["heads", "base", "--record", "records"])
    captured = capsys.readouterr()
    assert (
        stopped.value.code == 2
        and "6 sentences of dev" in captured.out
        and load_record(folder / kept) == record
    )
    assert captured.err.startswith(
        f"error: {kept}: was measured on 4 sentences of dev, this on 6 sentences of dev. Fix: "
        "record it below"
    )
    assert len(list(filter(None, pictures))) == 5 and all(
        path.read_bytes().startswith(PNG) for path in (folder / "pictures").iterdir()
    )


def test_pictures_of_an_encoder_without_heads_are_refused_before_anything_is_measured(
    capsys, folder, monkeypatch
):
    monkeypatch.setenv("REPRO_RUNS", str(folder / "runs"))  # this run is of no other test
    run(capsys, "train", "--system", "base/-sa", *TINY)
    with pytest.raises(SystemExit) as stopped:
        main(["heads", "base_-sa", "--limit", "2", "--figures", "pictures"])
    captured = capsys.readouterr()
    assert stopped.value.code == 2 and not captured.out
    assert re.fullmatch(
        r"error: --figures: the encoder of base_-sa-\S+ has no heads to draw\. Fix: .*\n",
        captured.err,
    )
    assert not (folder / "pictures").exists()
    tables = run(capsys, "heads", "base_-sa", "--limit", "2")
    assert "## cross" in tables and "## encoder_self" not in tables


def test_prune_makes_a_run_that_translates(capsys, trained, folder, monkeypatch, in_this_process):
    shutil.copytree(trained, folder / "runs")  # what is made must not be found by the other tests
    monkeypatch.setenv("REPRO_RUNS", str(folder / "runs"))
    with pytest.raises(SystemExit) as stopped:
        main(["prune", "base", "--heads", "23", "--split", "dev"])
    printed = capsys.readouterr()
    updates = Run.find("base").config.train.max_updates // 2
    assert stopped.value.code == 0
    assert (
        f"trains 3 to 6 gated models of {updates:,} updates each; those that are there are used\n"
        in printed.out
    )
    lines = [line for line in printed.out.splitlines() if line.startswith("|")]
    assert (
        lines[0] == "| wanted | heads left | penalty | BLEU | to all heads | 95 % interval | run |"
    )
    whole, row = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    wanted, heads, penalty, bleu, difference, interval, name = row
    assert (
        whole[:2] == ["all", str(HEADS)]
        and abs(float(bleu) - float(whole[3]) - float(difference)) < 0.02
    )
    low, high = map(float, interval.split(" to "))
    assert low <= float(difference) <= high
    small = Run(folder / "runs" / name)
    assert (
        small.config.train.gate_penalty == float(penalty) and small.config.model.gated_sites == ()
    )
    assert (
        small.is_finished
        and wanted == "23"
        and int(heads) <= HEADS
        and re.fullmatch(r"\d+\.\d\d", bleu)
    )
    scores = run(capsys, "evaluate", name, "--split", "dev")
    assert float(scores.split()[0]) == float(bleu)  # the small model translates as the gated one


MISTAKES = [
    (["heads", "nothing"], "error: nothing: no such run in "),
    (
        ["heads", "base", "--limit", "0"],
        "error: --limit: must be at least 1, found 0. Fix: leave it out for all sentences",
    ),
    (
        ["heads", "base", "--limit", "4", "--record", "records"],
        "error: --record: is of all sentences of dev, as tables and claims want it",
    ),
    (
        ["heads", "base", "--split", "test", "--record", "records"],
        "error: --record: is of all sentences of dev, as tables and claims",
    ),
    (
        ["heads", "base", "--split", "tset"],
        "error: minigerman: has no split 'tset'. Fix: did you mean 'test'?",
    ),
    (["heads", "hc-sa"], "is not finished. Fix: start its `repro train` command again; it resumes"),
    (["prune", "nothing", "--heads", "4"], "error: nothing: no such run in "),
    (
        ["prune", "hc-sa", "--heads", "4"],
        "is not finished. Fix: start its `repro train` command again; it resumes",
    ),
    (["prune", "base", "--heads", "-1"], "error: --heads: found -1, where base-seed1-"),
    (["prune", "base", "--heads", "4", "--heads", "24"], "has 24 heads. Fix: use 0 to 23"),
    (["prune", "base", "--heads", "8", "--sites", "encoder"], "has 8 heads. Fix: use 0 to 7"),
    (
        ["prune", "base", "--heads", "4", "--jobs", "0"],
        "error: --jobs: must be from 1 to 1000, found 0. Fix: use 1 or more",
    ),
    (
        ["prune", "base", "--heads", "4", "--split", "tset"],
        "error: minigerman: has no split 'tset'. Fix: did you mean 'test'?",
    ),
]


@pytest.mark.parametrize(
    ("arguments", "line"), MISTAKES, ids=[" ".join(arguments) for arguments, _ in MISTAKES]
)
def test_a_mistake_is_one_line(capsys, trained, arguments, line):
    Run.create(resolve("smoke", "hc-sa"))  # begun, not finished
    before = sorted(path.name for path in trained.iterdir())
    code, found = refused(capsys, *arguments)
    assert code == 2 and line in found
    assert sorted(path.name for path in trained.iterdir()) == before, "nothing was trained"


def test_heads_that_no_smaller_model_could_lose_are_refused_before_anything_is_trained(
    capsys, trained
):
    run(capsys, "train", *TINY, "--system", "mma")
    before = sorted(path.name for path in trained.iterdir())
    code, found = refused(capsys, "prune", "mma", "--heads", "4")
    assert (
        code == 2
        and (
            "error: encoder_self layer 1: 'mixed' is not defined for some of its heads alone. "
            "Fix: prune a run"
        )
        in found
    )
    assert sorted(path.name for path in trained.iterdir()) == before


def test_prune_asks_for_numbers_and_known_sites(capsys):
    for arguments in (["prune", "base"], ["prune", "base", "--heads", "4", "--sites", "cross"]):
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == 2 and "Traceback" not in capsys.readouterr().err


def test_a_run_elsewhere_is_not_pruned(capsys, trained, monkeypatch):
    path = next(path for path in trained.iterdir() if path.name.startswith("base-seed1"))
    monkeypatch.setenv("REPRO_RUNS", "elsewhere")
    code, found = refused(capsys, "prune", str(path), "--heads", "4")
    assert (
        code == 2
        and (
            "is not in the folder of runs, elsewhere. Fix: set REPRO_RUNS to the folder that it "
            "is in"
        )
        in found
    )
