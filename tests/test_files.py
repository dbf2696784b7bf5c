"""Files appear whole or not at all, and damage is seen."""

import errno
import json
import os
import random
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import plotly.graph_objects as figure
import pytest
import torch
from expected_errors import refuses
from safetensors import SafetensorError

import repro.files
from repro.core.config import RunConfig
from repro.errors import DamagedFileError, InputError, MachineError
from repro.files import append_line, check_writable, refusals, write_atomic, write_json
from repro.plots.export import save
from repro.presets import resolve
from repro.runs import gallery
from repro.runs.run import CLONE, Run, runs_root
from repro.runs.storage import check_folder, write_folder
from repro.runs.tensors import load_tensors, save_tensors


@pytest.mark.parametrize(
    ("number", "fix"),
    [
        (errno.ENOSPC, "free some space or choose another folder"),
        (errno.EDQUOT, "free some space or choose another folder"),
        (errno.EROFS, "choose another folder"),  # where no space that is freed helps
        (errno.EACCES, "choose another folder"),
    ],
)
def test_the_fix_is_of_what_the_disk_says(tmp_path, number, fix):
    with pytest.raises(MachineError) as caught, refusals(tmp_path / "file"):
        raise OSError(number, os.strerror(number))
    assert (
        str(caught.value)
        == f"{tmp_path / 'file'}: cannot be written ({os.strerror(number)}). Fix: {fix}"
    )


@pytest.mark.parametrize("call", ["open", "fsync", "replace"])
def test_a_write_that_fails_keeps_the_old_file_and_leaves_nothing(tmp_path, monkeypatch, call):
    path = tmp_path / "file"
    write_atomic(path, b"old")

    def full(*_arguments, **_options):
        raise OSError(errno.ENOSPC, "No space left on device")

    if call == "open":
        monkeypatch.setattr(repro.files, "open", full, raising=False)
    else:
        monkeypatch.setattr(os, call, full)
    with pytest.raises(
        MachineError,
        match=r"file: cannot be written \(No space left on device\). Fix: free some space",
    ):
        write_atomic(path, b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["file"]


def test_writers_of_one_file_in_one_process_tear_nothing(tmp_path):
    """Like two with the same number: the first processes of two containers, or two on machines that
    share a disk."""
    path, whole = tmp_path / "file", [bytes([letter]) * 100_000 for letter in b"abcd"]
    write_atomic(path, whole[0])

    def write(data: bytes) -> None:
        for _ in range(50):
            write_atomic(path, data)

    reads = []
    with ThreadPoolExecutor(len(whole)) as pool:
        writers = [pool.submit(write, data) for data in whole]
        while not all(writer.done() for writer in writers):
            reads.append(path.read_bytes())
    assert [writer.exception() for writer in writers] == [None] * len(whole)
    assert all(read in whole for read in reads) and os.listdir(tmp_path) == ["file"]


def test_what_is_no_file_is_not_replaced_by_one(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "pipe", tmp_path / "folder", Path("")):
        with pytest.raises(MachineError, match="': is not a regular file"):
            write_atomic(path, b"new")
    assert (tmp_path / "pipe").is_fifo() and sorted(os.listdir(tmp_path)) == ["folder", "pipe"]


def test_a_folder_is_replaced_whole_or_not_at_all(tmp_path):
    path = tmp_path / "folder"
    write_folder(path, lambda folder: (folder / "a").write_text("old"))

    def fail(folder):
        (folder / "a").write_text("new")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(MachineError):
        write_folder(path, fail)
    check_folder(path)
    assert (path / "a").read_text() == "old" and os.listdir(tmp_path) == ["folder"]


def test_a_folder_that_cannot_be_renamed_into_place_leaves_the_old_one(tmp_path, monkeypatch):
    path, replace = tmp_path / "folder", os.replace
    write_folder(path, lambda folder: (folder / "a").write_text("old"))

    def refuse(source, target):
        if (Path(source) / "a").exists() and (Path(source) / "a").read_text() == "new":
            raise OSError(errno.EIO, "Input/output error")
        replace(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(MachineError):
        write_folder(path, lambda folder: (folder / "a").write_text("new"))
    check_folder(path)
    assert (path / "a").read_text() == "old" and os.listdir(tmp_path) == ["folder"]
    monkeypatch.setattr(os, "replace", replace)
    write_folder(path, lambda folder: (folder / "a").write_text("new"))
    assert (path / "a").read_text() == "new" and os.listdir(tmp_path) == ["folder"]


def test_every_cut_and_every_changed_bit_is_found(tmp_path):
    path = tmp_path / "final"
    save_tensors(path, {"model": {"weight": torch.arange(30.0)}}, {"update": 3})
    noise = random.Random(0)
    for file in ("model.safetensors", "state.json", "MANIFEST.json"):
        good = (path / file).read_bytes()
        for _ in range(50):
            bad = bytearray(good)
            if noise.random() < 0.5:
                bad = bad[: noise.randrange(len(bad))]
            else:
                bad[noise.randrange(len(bad))] ^= 1 << noise.randrange(8)
            (path / file).write_bytes(bad)
            if file != "MANIFEST.json" or not _same_hashes(good, bytes(bad)):
                with pytest.raises(DamagedFileError, match="Fix: "):
                    check_folder(path)
        (path / file).write_bytes(good)
    check_folder(path)
    assert torch.equal(load_tensors(path, "model")["weight"], torch.arange(30.0))


def _same_hashes(good: bytes, bad: bytes) -> bool:
    """Whether a changed manifest still says the same (a changed blank, say)."""
    try:
        return json.loads(good) == json.loads(bad)
    except ValueError:
        return False


def test_a_link_instead_of_a_file_is_refused(tmp_path):
    path = tmp_path / "final"
    save_tensors(path, {"model": {"weight": torch.ones(2)}}, {})
    (path / "model.safetensors").rename(tmp_path / "elsewhere")
    (path / "model.safetensors").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DamagedFileError, match="model.safetensors: is not a plain file"):
        check_folder(path)


def test_json_keeps_every_value_and_puts_numbers_on_one_line(tmp_path):
    value = {
        "numbers": [1, -2.5e-7, None, True],
        "rows": [[1, 2], [3, 4]],
        "texts": ["[\n 1,\n 2\n]", "[ 1 ]"],
        "singles": [[1], [-2.5], [None]],
        "alone": [["a"], ["[1],\n [2]"]],
        "none": [],
        "mixed": [1, "a"],
    }
    write_json(tmp_path / "a.json", value)
    text = (tmp_path / "a.json").read_text()
    assert json.loads(text) == value
    assert '"numbers": [1, -2.5e-07, null, true]' in text and "[3, 4]\n" in text
    assert '"singles": [[1], [-2.5], [null]]' in text


def test_lines_are_appended_whole(tmp_path):
    for value in range(3):
        append_line(tmp_path / "log.jsonl", {"value": value})
    assert [
        json.loads(line)["value"] for line in (tmp_path / "log.jsonl").read_text().split("\n")[:-1]
    ] == [0, 1, 2]
    with pytest.raises(ValueError):
        append_line(tmp_path / "log.jsonl", {"value": float("nan")})


def test_a_line_that_the_disk_takes_in_part_is_cut_off_again(tmp_path, monkeypatch):
    path, write = tmp_path / "log.jsonl", os.write
    append_line(path, {"value": 1})
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:5]))
    with pytest.raises(
        MachineError,
        match=r"log.jsonl: cannot be written \(No space left on device\). Fix: free some space",
    ):
        append_line(path, {"value": 2})
    monkeypatch.undo()
    assert path.read_text() == '{"value": 1}\n'


@pytest.mark.parametrize(
    "write",
    [
        lambda path: write_atomic(path, b"data"),
        lambda path: append_line(path, {}),
        lambda path: write_folder(path, lambda folder: None),
        lambda path: save(figure.Figure(), path.with_suffix(".html")),
        lambda path: Run.create(RunConfig(), path.parent),
    ],
    ids=["file", "line", "folder", "figure", "run"],
)
@pytest.mark.parametrize("below", [".", "deeper"])
def test_a_file_where_a_folder_should_be_is_named(tmp_path, write, below):
    (tmp_path / "afile").write_text("mine")
    with pytest.raises(
        MachineError,
        match=(
            r"afile.*: cannot be written: a file is where a folder must be. Fix: name another "
            r"place"
        ),
    ):
        write(tmp_path / "afile" / below / "result")
    assert (tmp_path / "afile").read_text() == "mine"


def test_a_disk_that_is_full_within_a_checkpoint_is_named(tmp_path, monkeypatch):
    def full(*_arguments):
        raise SafetensorError(
            "Error while serializing: I/O error: No space left on device (os error 28)"
        )

    monkeypatch.setattr("repro.runs.tensors.save_file", full)
    with pytest.raises(
        MachineError,
        match=r"0000004: cannot be written \(.*No space left on device.*\). Fix: free some space",
    ):
        save_tensors(tmp_path / "0000004", {"model": {"weight": torch.ones(2)}}, {})
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("mask", "folder", "file"),
    [(0o022, 0o755, 0o644), (0o077, 0o700, 0o600), (0o002, 0o775, 0o664)],
)
def test_a_checkpoint_may_be_read_by_whoever_may_read_the_run(tmp_path, mask, folder, file):
    before = os.umask(mask)
    try:
        save_tensors(tmp_path / "final", {"model": {"weight": torch.ones(2)}}, {})
    finally:
        os.umask(before)
    modes = {
        path.name: path.stat().st_mode & 0o777
        for path in (tmp_path / "final", *(tmp_path / "final").iterdir())
    }
    assert modes == {
        "final": folder,
        "model.safetensors": file,
        "state.json": file,
        "MANIFEST.json": file,
    }


def test_a_folder_takes_the_place_of_a_file(tmp_path):
    (tmp_path / "0000004").write_text("")
    save_tensors(tmp_path / "0000004", {"model": {"weight": torch.ones(2)}}, {})
    check_folder(tmp_path / "0000004")


@pytest.mark.parametrize("name", ["/nonexistent/run", "base**", "x" * 300, "*", "a\0b", "../base"])
def test_what_is_no_name_of_a_run_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.setenv("REPRO_RUNS", str(tmp_path))
    Run.create(RunConfig())
    with pytest.raises(InputError, match="no such run in .* Fix: known runs: base-seed1-"):
        Run.find(name)


def test_runs_are_found_by_folder_name_or_its_beginning(tmp_path, monkeypatch):
    monkeypatch.setenv("REPRO_RUNS", str(tmp_path))
    run = Run.create(RunConfig())
    assert (
        Run.find(str(run.path)).path
        == Run.find(run.path.name).path
        == Run.find("base-seed1").path
        == run.path
    )
    assert run.config == RunConfig()
    with pytest.raises(InputError, match="no such run in .* Fix: known runs: base-seed1-"):
        Run.find("hc-sa")


def test_a_run_is_found_by_its_system_also_with_a_slash_and_where_something_was_made_of_it(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("REPRO_RUNS", str(tmp_path))
    assert (
        Run.create(resolve("smoke", "base/-sa")).path
        == Run.find("base/-sa").path
        == Run.find("base_-sa-seed1").path
    )
    run = Run.create(resolve("smoke", "hc-sa"))
    pruned = replace(
        run.config, train=replace(run.config.train, start_from=run.path.name, cut_from="gated")
    )
    assert Run.create(pruned).path != run.path and Run.find("hc-sa").path == run.path
    Run.create(resolve("smoke", "hc-sa", seed=2))
    with refuses(InputError, "hc-sa", "2"):
        Run.find("hc-sa")


def test_notebooks_and_the_command_line_of_a_clone_share_one_folder_of_runs(tmp_path, monkeypatch):
    monkeypatch.delenv("REPRO_RUNS", raising=False)
    for folder, expected in {
        CLONE: "runs",
        CLONE / "notebooks": "../runs",
        CLONE / "tutorials/01_attention": "../../runs",
        tmp_path: "runs",
    }.items():
        monkeypatch.chdir(folder)
        assert runs_root() == Path(expected)


def test_a_config_with_a_foreign_key_is_refused(tmp_path):
    run = Run.create(RunConfig(), tmp_path)
    values = json.loads((run.path / "config.json").read_text())
    values["model"]["n_heads"] = 4
    (run.path / "config.json").write_text(json.dumps(values))
    with refuses(InputError, "config.json.model", "'n_heads'", "'num_heads'"):
        Run(run.path)


def test_a_folder_is_owned_by_one_process_at_a_time(tmp_path):
    """Two processes add to a file that they read first: nothing is lost."""
    program = (
        "import json, sys, time; from pathlib import Path; from repro.files import "
        "write_json; from repro.runs.locks import locked\n"
        "path = Path(sys.argv[1]) / 'sum.json'\n"
        "for _ in range(20):\n"
        "    with locked(path.parent):\n"
        "        found = json.loads(path.read_text()) if path.exists() else 0\n"
        "        time.sleep(0.002); write_json(path, found + 1)\n"
    )
    workers = [subprocess.Popen([sys.executable, "-c", program, str(tmp_path)]) for _ in range(2)]
    assert [worker.wait(timeout=120) for worker in workers] == [0, 0]
    assert json.loads((tmp_path / "sum.json").read_text()) == 40


def test_to_see_whether_a_folder_takes_files_leaves_nothing_behind(tmp_path):
    (tmp_path / "there").mkdir()
    for folder in ("there", "new/deeper", "there/new"):
        check_writable(tmp_path / folder)
    assert [path.name for path in tmp_path.rglob("*")] == ["there"]


@pytest.mark.parametrize("name", ["config.json", "provenance.json", "final/MANIFEST.json"])
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path, name):
    """Nobody writes into it, so to read it would hang. Another process asks, which can be ended."""
    shutil.copytree(gallery.load("base").path, tmp_path / "base")
    (tmp_path / "base" / name).unlink()
    os.mkfifo(tmp_path / "base" / name)
    code = "import sys; from repro import Run, load_translator; load_translator(Run(sys.argv[1]))"
    answer = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "base"], capture_output=True, text=True, timeout=60
    )
    assert answer.returncode and str(Path(name).name) in answer.stderr.strip().split("\n")[-1]
