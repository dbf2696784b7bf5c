"""Runs that one can live with: listed, told apart, named, shown, deleted, each with its card."""

import json
import sys
from types import ModuleType

import pytest
from command_line import ended, refused, run
from few_pairs import few_pairs

from repro.errors import InputError
from repro.files import append_line, write_json
from repro.presets import resolve
from repro.runs.overview import as_line, delete, overview
from repro.runs.run import Run


@pytest.fixture
def two(runs):
    """Make two runs of one system, one half trained and scored, and one not begun."""
    first = Run.create(resolve("smoke"))
    for update, loss in ((200, 2.0), (400, 1.5)):
        line = {"update": update, "loss": loss, "dev_nll": loss, "seconds": 1.0}
        append_line(first.metrics_path, line)
    scored = {"split": "test", "search": {"beam": 5}, "scores": [{"name": "BLEU", "value": 12.345}]}
    write_json(first.path / "evaluations/test-1.json", scored)
    other = Run.create(resolve("smoke", "base", "de-en", overrides=("model.embed_dim=96",)))
    return first, other


def test_runs_are_listed_with_what_tells_them_apart(two, capsys):
    first, other = two
    rows = {row["run"]: row for row in json.loads("\n".join(run(capsys, "runs", "--json")))}
    row = rows[first.path.name]
    assert row["progress"] == {"update": 400, "of": 1200, "finished": False}
    assert (row["dev_nll"], row["scores"], row["differs"]) == (1.5, {"test": 12.345}, [])
    assert rows[other.path.name]["differs"] == ["model.embed_dim=96"]
    assert rows[other.path.name]["direction"] == "de-en"
    lines = run(capsys, "runs")
    assert len(lines) == 2 and as_line(row) in lines
    said = "; base, minigerman en-de, seed 1; unfinished, 400 of 1,200; dev perplexity 4.48; "
    assert f"{first.path.name}{said}test BLEU 12.35; " in lines[0] + lines[1]


def test_an_error_about_two_runs_says_what_differs(two):
    with pytest.raises(InputError) as error:
        Run.find("base")
    (first, other) = two
    assert f"{first.path.name} (data.source=en, data.target=de, model.embed_dim=64)" in str(
        error.value
    )
    assert f"{other.path.name} (data.source=de, " in str(error.value)


def test_a_run_has_a_name_of_ones_own(two, capsys):
    first, other = two
    (line,) = run(capsys, "runs", first.path.name, "--name", "my-first")
    assert line.startswith("my-first; base, ") and Run.find("my-first").path == first.path
    assert (
        f"'my-first' is {first.path.name} already"
        in refused(capsys, "runs", other.path.name, "--name", "my-first")[1]
    )
    assert refused(capsys, "runs", other.path.name, "--name", "a/b")[0] == 2
    assert refused(capsys, "runs", "--name", "x")[1].startswith("error: repro runs: missing arg")
    first.check_files()


def test_a_run_is_deleted_unless_another_one_continues_it(two, capsys):
    first, other = two
    name = first.path.name
    later = Run.create(resolve("smoke", overrides=(f"train.start_from={name}",)))
    assert refused(capsys, "runs", name, "--delete", "--yes")[1].startswith(
        f"error: {name}: is where {later.path.name} began. Fix: delete that one first"
    )
    delete(later)
    assert ended(capsys, "runs", name, "--delete")[0] != 0 and first.path.is_dir(), "no answer"
    assert run(capsys, "runs", name, "--delete", "--yes")[0].startswith(f"deleted {first.path}")
    assert not first.path.exists() and overview(other)["progress"]["update"] == 0


def test_the_runs_of_a_system_have_names_of_ones_own(runs, capsys, monkeypatch):
    monkeypatch.setattr("repro.papers.runner.execute_plan", lambda *_: [])  # trains nothing
    more = [f"data.corpus={few_pairs()}", "--results", "mine"]
    assert ended(capsys, "run", "base", "--name", "mine", "--seeds", "2", *more)[0] == 0
    assert [Run.find(f"mine-{seed}").config.train.seed for seed in (1, 2)] == [1, 2]
    assert ended(capsys, "run", "hc-sa", "--name", "first", *more)[0] == 0
    assert Run.find("first").path.name.startswith("hc-sa-seed1-")
    code, error = refused(capsys, "run", "base", "hc-sa", "--name", "mine", *more)
    assert code == 2 and error.startswith("error: --name: is for the runs of one system, and base")
    assert refused(capsys, "run", "you2020.table2", "--name", "mine")[0] == 2


def test_train_takes_a_name_logs_where_asked_and_leaves_a_card(runs, capsys, monkeypatch):
    logged: list[tuple[str, int]] = []

    class Writer:
        """What `torch.utils.tensorboard` has, which need not be installed."""

        def __init__(self, folder: str) -> None:
            assert folder.endswith("tensorboard")

        def add_scalar(self, name: str, value: float, step: int) -> None:
            logged.append((name, step))

        def flush(self) -> None:
            pass

    options = ("train.max_updates=2", "data.vocab_size=300", f"data.corpus={few_pairs()}")
    options += ("--log", "tensorboard", "--system", "hc-sa", "--name", "tried")
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    assert "is not installed" in refused(capsys, "train", *options)[1] and not runs.exists()
    module = ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = Writer
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    run(capsys, "train", *options)
    found = Run.find("tried")
    assert {("loss", 2), ("dev_nll", 2), ("learning_rate", 2)} <= set(logged)
    page = (found.path / "README.md").read_text()
    assert page.startswith(f"# {found.path.name}\n")
    assert "system: hc-sa (encoder_self=gaussian" in page and "licence of the text: yours" in page
    assert f"repro translate {found.path.name} <" in page and "2 updates" in page
