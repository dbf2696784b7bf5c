"""Text of one's own by another path: one run however its folder is written, and the same run where
the folder has moved."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import refused
from expected_errors import refuses
from few_pairs import few_pairs
from own_files import write_corpus
from tiny_runs import TINY

from repro.data.corpora import load_corpus, load_pairs
from repro.data.own_text import own_folder
from repro.errors import InputError
from repro.measures.scores import evaluate_run
from repro.presets import resolve
from repro.runs.naming import run_name
from repro.runs.prepare import check_finished
from repro.runs.run import Run
from repro.runs.train import train

SHORT = (*TINY, "train.max_updates=4")


@pytest.fixture
def text(runs, tmp_path) -> Path:
    """Return a folder of text below the present one."""
    return Path(shutil.copytree(own_folder(few_pairs()), tmp_path / "data"))


def test_one_folder_is_one_run_however_it_is_written(text, tmp_path, monkeypatch) -> None:
    (tmp_path / "link").symlink_to(text)
    monkeypatch.setenv("HOME", str(tmp_path))
    written = (
        "data",
        "./data",
        "data/",
        str(text),
        "link",
        "../" + tmp_path.name + "/data",
        "~/data",
    )
    for prefix in ("local", "local-drop-leaks", "local-clean"):
        configs = [
            resolve("smoke", overrides=(f"data.corpus={prefix}:{folder}",)) for folder in written
        ]
        assert {config.data.corpus for config in configs} == {f"{prefix}:{text}"}
        assert len(set(map(run_name, configs))) == 1
    assert resolve("smoke", overrides=("data.corpus=multi30k",)).data.corpus == "multi30k"


def test_a_run_survives_that_its_text_moves(text, tmp_path, monkeypatch, capsys) -> None:
    run = train(resolve("smoke", overrides=("data.corpus=local:data", *SHORT)), quiet=True)
    before = evaluate_run(run)
    moved = tmp_path / "around" / "data"
    moved.parent.mkdir()
    text.rename(moved)
    monkeypatch.chdir(moved.parent)
    expected = (
        f"{run.path}: was trained on local:{text}, which is not there. Fix: set REPRO_LOCAL to "
        "the folder that holds its text"
    )
    for ask in (evaluate_run, lambda run: check_finished(run, allow_inexact=False)):
        with pytest.raises(InputError) as caught:
            ask(run)
        assert str(caught.value).startswith(expected)
    capsys.readouterr()
    code, line = refused(capsys, "evaluate", str(run.path))
    # A line of errors shortens long paths, and those of tests may be: of each, the last name is
    # there.
    assert (
        code == 2
        and line.startswith("error: /")
        and f"{run.path.name}: was trained on local:/" in line
    )
    assert (
        f"/{text.name}, which is not there. Fix: set REPRO_LOCAL to the folder that holds its text"
        in line
    )
    for place in (moved, moved.parent):
        monkeypatch.setenv("REPRO_LOCAL", str(place))
        assert evaluate_run(run) == before
        assert train(run.config, quiet=True).path == run.path
    assert f"read from {moved}, since {text} is not a folder" in load_corpus(f"local:{text}").notes


def test_another_text_is_not_taken_for_the_one_that_moved(text, tmp_path, monkeypatch) -> None:
    run = train(resolve("smoke", overrides=("data.corpus=local:data", *SHORT)), quiet=True)
    other = tmp_path / "other"
    text.rename(other)
    (other / "test.en").write_text((other / "test.en").read_text().replace("the", "a"))
    monkeypatch.setenv("REPRO_LOCAL", str(other))
    with pytest.raises(
        InputError,
        match="was trained on another version of local:.* Fix: set REPRO_LOCAL to the folder",
    ):
        evaluate_run(run)


def test_a_run_whose_configuration_names_a_path_as_it_was_typed_stays_readable(
    text, tmp_path, monkeypatch
) -> None:
    config = resolve("smoke", overrides=("data.corpus=local:data", *SHORT))
    # as such runs were made before
    run = train(replace(config, data=replace(config.data, corpus="local:data")), quiet=True)
    before = evaluate_run(run)
    assert (
        evaluate_run(Run.find(run.path.name)) == before
        and before["config"]["data"]["corpus"] == "local:data"
    )
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="was trained on local:data, which is not there"):
        evaluate_run(run)
    monkeypatch.setenv("REPRO_LOCAL", str(tmp_path))
    assert evaluate_run(run) == before


def test_a_test_set_in_a_folder_of_ones_own_is_found_where_it_moved_to(
    tmp_path, monkeypatch
) -> None:
    (tmp_path / "news").mkdir()
    name = f"{write_corpus(tmp_path / 'news')}:test"
    before = load_pairs("minigerman", "en", "de", name)
    moved = tmp_path / "elsewhere" / "news"
    moved.parent.mkdir()
    (tmp_path / "news").rename(moved)
    with refuses(InputError, "news:test", "REPRO_LOCAL"):
        load_pairs("minigerman", "en", "de", name)
    for place in (moved, moved.parent):
        monkeypatch.setenv("REPRO_LOCAL", str(place))
        assert load_pairs("minigerman", "en", "de", name) == before
    # the text of a run, to which REPRO_LOCAL points, is not taken for the test set
    (tmp_path / "training").mkdir()
    write_corpus(tmp_path / "training")
    monkeypatch.setenv("REPRO_LOCAL", str(tmp_path / "training"))
    with refuses(InputError, "news:test", "REPRO_LOCAL"):
        load_pairs("minigerman", "en", "de", name)
