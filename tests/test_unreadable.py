"""What cannot be read is not taken for damaged or missing: it is named, and nothing is deleted,
made again or trained again for it."""

import ctypes
import errno
import io
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tiny_runs import assert_same, cut_short, tiny

from repro.errors import DamagedFileError, InputError, MachineError
from repro.reading import exists, is_file, is_folder, names_in, read_plain, sha256
from repro.records.stored import load_records
from repro.runs.checkpoint_folders import all_checkpoints, sound_checkpoints
from repro.runs.models import new_model
from repro.runs.run import Run, is_trained
from repro.runs.train import train

FIX = "Fix: check permissions or the disk, then start again"


class _Capabilities(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("effective", "permitted", "inheritable")]


@contextmanager
def obeying_permissions() -> Iterator[None]:
    """Let permissions hold for root, too, while the block lasts: without the capabilities to read
    and search whatever there is."""
    libc, header = ctypes.CDLL(None, use_errno=True), (ctypes.c_uint32 * 2)(0x20080522, 0)
    found, fewer = (_Capabilities * 2)(), (_Capabilities * 2)()
    for sets in (found, fewer):
        assert libc.capget(header, sets) == 0
    fewer[0].effective &= ~(1 << 1 | 1 << 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    assert libc.capset(header, fewer) == 0
    try:
        yield
    finally:
        assert libc.capset(header, found) == 0


@contextmanager
def closed(path: Path) -> Iterator[None]:
    """Take all permissions of a file or folder away while the block lasts."""
    mode = path.stat().st_mode
    path.chmod(0)
    try:
        with obeying_permissions():
            yield
    finally:
        path.chmod(stat.S_IMODE(mode))


def refuse(monkeypatch, call: str, number: int, folder: Path) -> None:
    """Let a call of the system fail for whatever lies in a folder, as on a share that is down."""
    module = {"open": io, "stat": os, "listdir": os}[call]
    original = getattr(module, call)

    def failing(path, *arguments, **options):
        if str(path).startswith(str(folder)):
            raise OSError(number, os.strerror(number), str(path))
        return original(path, *arguments, **options)

    monkeypatch.setattr(module, call, failing)
    if call == "open":
        monkeypatch.setattr("repro.reading.open", failing, raising=False)


@pytest.mark.parametrize("call", ["open", "stat", "listdir"])
@pytest.mark.parametrize("number", [errno.ESTALE, errno.EIO, errno.EMFILE])
def test_checkpoints_that_cannot_be_read_are_kept_and_gone_on_from(
    tmp_path, monkeypatch, whole, call, number
):
    run = cut_short(tmp_path, monkeypatch)
    before = {
        path: path.read_bytes()
        for path in run.path.rglob("*")
        if path.is_file() and path.name != ".lock"
    }
    refuse(monkeypatch, call, number, run.path / "checkpoints")
    with pytest.raises(MachineError) as refused:
        train(tiny(), tmp_path, quiet=True)
    assert (
        f"cannot be read ({os.strerror(number)}). {FIX}" in str(refused.value)
        and refused.value.exit_code == 3
    )
    monkeypatch.undo()
    uninterrupted = whole()
    assert {
        path: path.read_bytes()
        for path in run.path.rglob("*")
        if path.is_file() and path.name != ".lock"
    } == before
    updates = []
    original = train.__globals__["apply_update"]
    monkeypatch.setattr(
        "repro.runs.train.apply_update", lambda *args: (updates.append(None), original(*args))[1]
    )
    assert_same(train(tiny(), tmp_path, quiet=True), uninterrupted)
    assert len(updates) == 24 - 14


@pytest.mark.parametrize(
    "name",
    [
        "provenance.json",
        "config.json",
        "metrics.jsonl",
        "final",
        "final/MANIFEST.json",
        "final/state.json",
        ".",
    ],
)
def test_a_finished_run_that_may_not_be_read_is_not_made_again(tmp_path, monkeypatch, whole, name):
    shutil.copytree(whole().path, tmp_path / whole().path.name)
    monkeypatch.setenv("REPRO_RUNS", str(tmp_path))
    run = Run.find("base")
    for ask in (
        lambda: train(tiny(), quiet=True),
        lambda: new_model(Run.find(run.path.name)),
        lambda: new_model(Run.find(str(run.path))),
    ):
        with (
            closed(run.path / name),
            pytest.raises(MachineError, match=r"cannot be read \(Permission denied\)") as refused,
        ):
            ask()
        assert str(refused.value).startswith(str(run.path / name)) and str(refused.value).endswith(
            FIX
        )
    assert_same(train(tiny(), quiet=True), whole())


def test_a_folder_of_runs_that_may_not_be_read_is_not_empty(tmp_path, monkeypatch):
    monkeypatch.setenv("REPRO_RUNS", str(tmp_path / "runs"))
    with pytest.raises(InputError, match="no such run in .* Fix: train one"):
        Run.find("base")
    run = Run.create(tiny())
    for ask in (
        lambda: Run.find("base"),
        lambda: is_trained(run.config),
        lambda: Run.create(run.config),
    ):
        with (
            closed(tmp_path / "runs"),
            pytest.raises(
                MachineError, match=r"runs.*: cannot be read \(Permission denied\)\. " + FIX
            ),
        ):
            ask()
    other = tmp_path / "runs" / "hc-sa-seed1-of-somebody-else"
    other.mkdir()
    with closed(other):  # which nobody asks for
        assert Run.find("base").path == run.path


def test_a_record_that_may_not_be_read_is_not_said_to_be_none(results):
    path = next(results.rglob("*.json"))
    with (
        closed(path),
        pytest.raises(MachineError, match=r"json: cannot be read \(Permission denied\)\. " + FIX),
    ):
        load_records(results)
    assert load_records(results)


def test_what_is_not_there_is_told_from_what_does_not_answer(tmp_path):
    (tmp_path / "file").write_text("bytes")
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    for name in ("nothing", "file/below", "loop", "x" * 300, "a\0b"):
        path = tmp_path / name
        assert not exists(path) and not is_file(path) and not is_folder(path)
        with pytest.raises(FileNotFoundError):
            read_plain(path)
    assert exists(tmp_path / "pipe") and not is_file(tmp_path / "pipe")
    with pytest.raises(FileNotFoundError):
        read_plain(tmp_path / "pipe")
    assert (
        names_in(tmp_path) == ["file", "loop", "pipe"]
        and names_in(tmp_path / "file") == names_in(tmp_path / "nothing") == []
    )
    for ask in (exists, is_file, is_folder):
        with (
            closed(tmp_path),
            pytest.raises(MachineError, match=r"file: cannot be read \(Permission denied\)"),
        ):
            ask(tmp_path / "file")
    with closed(tmp_path / "file"):
        assert is_file(tmp_path / "file")
        for read in (read_plain, sha256):
            with pytest.raises(MachineError, match=r"file: cannot be read \(Permission denied\)"):
                read(tmp_path / "file")
    assert read_plain(tmp_path / "file") == b"bytes"


def test_a_damaged_checkpoint_is_set_aside_until_the_run_has_passed_it(
    tmp_path, monkeypatch, whole
):
    newest = sound_checkpoints(cut_short(tmp_path, monkeypatch).path)[-1]
    aside = newest.with_name("0000014.damaged")
    (newest / "model.safetensors").write_bytes(b"damaged")
    run = cut_short(tmp_path, monkeypatch, 1)  # one update further than the checkpoint before
    assert [path.name for path in all_checkpoints(run.path)] == ["0000008", "0000012", "0000013"]
    assert (aside / "model.safetensors").read_bytes() == b"damaged"
    run = cut_short(tmp_path, monkeypatch, 1)
    assert sound_checkpoints(run.path)[-1] == newest and not aside.exists()
    assert_same(train(tiny(), tmp_path, quiet=True), whole())


def test_what_was_set_aside_outlives_an_error_before_the_next_checkpoint(tmp_path, monkeypatch):
    run = cut_short(tmp_path, monkeypatch, 2)
    (sound_checkpoints(run.path)[0] / "model.safetensors").write_bytes(b"damaged")
    monkeypatch.setattr(
        "repro.runs.train.apply_update",
        lambda *_: (_ for _ in ()).throw(DamagedFileError("here", "fails", "wait")),
    )
    with pytest.raises(DamagedFileError):
        train(tiny(), tmp_path, quiet=True)
    assert (
        run.path / "checkpoints" / "0000002.damaged" / "model.safetensors"
    ).read_bytes() == b"damaged"
