"""A run is a folder named by its configuration: what was asked for, where it was made, its checkpoints, its final parameters.

    runs/base-seed1-3f2a.../
            config.json  provenance.json  subwords.model  lengths.json  metrics.jsonl
        checkpoints/0000200/{model,optimizer}.safetensors, state.json, MANIFEST.json
        final/model.safetensors, state.json, MANIFEST.json
        evaluations/...json

Parameters are safetensors only; nothing is ever unpickled. This module reads and writes; it builds no model.
"""

import contextlib
import fcntl
import json
import os
import platform
import shutil
import subprocess
from collections.abc import Collection, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from repro.config import RunConfig, from_dict
from repro.errors import BusyError, DamagedFileError, InputError, ReproError
from repro.files import UNFINISHED, check_folder, write_folder, write_json
from repro.scales import run_name

PACKAGES = ("torch", "numpy", "sentencepiece", "sacrebleu", "datasets", "safetensors")


def runs_root() -> Path:
    """Return the folder of all runs: $REPRO_RUNS, or `runs` in the working directory."""
    return Path(os.environ.get("REPRO_RUNS", "runs"))


class Run:
    """A run folder.

    Args:
        path: the folder; it must hold a `config.json`.

    Raises:
        InputError: the folder is not a run.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        try:
            values = json.loads((self.path / "config.json").read_bytes())
        except (OSError, ValueError) as error:
            raise InputError(str(path), "is not a run folder (no readable config.json)", "name a folder made by `repro train`") from error
        self.config: RunConfig = from_dict(RunConfig, values, str(self.path / "config.json"))

    @classmethod
    def create(cls, config: RunConfig, root: Path | None = None) -> "Run":
        """Return the run of this configuration, making its folder when it is not there yet."""
        path = Path(root or runs_root()) / run_name(config)
        if not (path / "config.json").exists():
            write_json(path / "config.json", asdict(config))
        return cls(path)

    @classmethod
    def find(cls, name: str) -> "Run":
        """Return a run by its folder, or by its name or the unique beginning of it below `runs_root()`.

        Raises:
            InputError: nothing or more than one fits.
        """
        if (Path(name) / "config.json").is_file():
            return cls(Path(name))
        found = sorted(path.parent for path in runs_root().glob(f"{name}*/config.json")) if name else []
        if len(found) == 1:
            return cls(found[0])
        if found:
            raise InputError(name, f"fits {len(found)} runs: {', '.join(path.name for path in found[:4])}", "write more of the name")
        known = sorted(path.parent.name for path in runs_root().glob("*/config.json"))
        listed = f"known runs: {', '.join(known[:6])}" if known else "train one with `repro train`"
        raise InputError(name or "RUN", f"no such run in {runs_root()}", listed)

    @property
    def is_finished(self) -> bool:
        """Whether training ended and the final parameters are there."""
        return (self.path / "final").is_dir()

    @property
    def subwords_path(self) -> Path:
        """Where the subword model lies."""
        return self.path / "subwords.model"

    @property
    def lengths_path(self) -> Path:
        """Where the numbers of source and target tokens in the training data lie."""
        return self.path / "lengths.json"

    def length_ratio(self) -> float | None:
        """Return mean source length / mean target length of the training data, in tokens without marks; None if it was not noted."""
        if not self.lengths_path.exists():
            return None
        lengths = json.loads(self.lengths_path.read_bytes())
        return lengths["source_tokens"] / lengths["target_tokens"]

    @property
    def metrics_path(self) -> Path:
        """Where training appends a JSON line per log interval."""
        return self.path / "metrics.jsonl"

    def metrics(self) -> list[dict[str, Any]]:
        """Return the logged lines, in order."""
        if not self.metrics_path.exists():
            return []
        return [json.loads(line) for line in self.metrics_path.read_bytes().split(b"\n") if line]

    def provenance(self) -> dict[str, Any]:
        """Return where and from what the run was made; see `provenance`."""
        return json.loads((self.path / "provenance.json").read_bytes())

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Own the run while the block lasts; the kernel frees the lock when the process dies.

        Raises:
            BusyError: another process owns it.
        """
        with open(self.path / ".lock", "a+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                file.seek(0)
                raise BusyError(str(self.path), f"is in use by {file.read() or 'another process'}", "wait for it or stop it") from error
            file.truncate(0)
            file.write(f"process {os.getpid()} on {platform.node()} since {_now()}")
            file.flush()
            yield

    def save_checkpoint(self, update: int, tensors: dict[str, dict[str, Any]], state: dict[str, Any]) -> None:
        """Write the checkpoint after that many updates, and read it back.

        Args:
            update: the number of finished updates.
            tensors: file name without suffix -> tensors by name.
            state: counters, as JSON.
        """
        save_tensors(self.path / "checkpoints" / f"{update:07d}", tensors, state)

    def checkpoints(self) -> list[Path]:
        """Return the undamaged checkpoints, oldest first; the newest is where training resumes."""
        return [path for path in self._checkpoint_folders() if _is_sound(path)]

    def remove_leftovers(self) -> None:
        """Remove what a killed process had begun to write; only for the owner of the lock."""
        found = self.path.rglob(f"*{UNFINISHED}")
        for path in sorted(found, key=lambda path: len(path.parts), reverse=True):  # a file that lies in an unfinished folder first
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def remove_checkpoints(self, keep: Collection[int] = ()) -> None:
        """Drop the checkpoints but those after `keep` updates: old ones once newer ones are safe, all once the run is finished."""
        for path in self._checkpoint_folders():
            if int(path.name) not in keep:
                _remove(path)

    def _checkpoint_folders(self) -> list[Path]:
        folder = self.path / "checkpoints"
        return sorted(path for path in folder.iterdir() if path.name.isdigit()) if folder.exists() else []


def save_tensors(path: Path, tensors: dict[str, dict[str, Any]], state: dict[str, Any]) -> None:
    """Write safetensors files and a `state.json` as one folder, whole or not at all, and check what was written."""
    from safetensors.torch import save_file

    def fill(folder: Path) -> None:
        for name, values in tensors.items():
            save_file({key: value.contiguous() for key, value in values.items()}, folder / f"{name}.safetensors")
        write_json(folder / "state.json", state)

    write_folder(path, fill)
    check_folder(path)


def load_tensors(path: Path, name: str) -> dict[str, Any]:
    """Read one safetensors file of a folder written by `save_tensors`, after checking its hash.

    Raises:
        DamagedFileError: the file is not what was written.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    check_folder(path)
    try:
        return load_file(path / f"{name}.safetensors")
    except (SafetensorError, OSError) as error:
        raise DamagedFileError(str(path / name), "is not a safetensors file", "train the run again; nothing else is ever loaded") from error


def load_state(path: Path) -> dict[str, Any]:
    """Read the counters of a folder written by `save_tensors`."""
    return json.loads((path / "state.json").read_bytes())


def provenance(device: str, threads: int, data_fingerprint: str) -> dict[str, Any]:
    """Return what besides the configuration decides a result: data, versions, machine, thread count, commit."""
    return {
        "data_fingerprint": data_fingerprint,
        "python": platform.python_version(),
        "versions": {package: version(package) for package in PACKAGES},
        "device": device,
        "threads": threads,
        "processor": _processor(),
        "commit": _commit(),
        "started": _now(),
    }


IDENTITY = ("data_fingerprint", "device")
"""The parts of the provenance without which a resumed run is another run; the torch version is compared as well. The number of threads
is one more, but training sets it to what it was."""


def identity_changes(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """List in words what differs between two provenances that a bit-identical resume cannot bear."""
    changes = [f"{key} was {old[key]}, is {new[key]}" for key in IDENTITY if old[key] != new[key]]
    was, now = old["versions"]["torch"], new["versions"]["torch"]
    return changes + ([f"torch was {was}, is {now}"] if was != now else [])


def _is_sound(path: Path) -> bool:
    try:
        check_folder(path)
    except ReproError:
        return False
    return True


def _remove(path: Path) -> None:
    """Remove a checkpoint folder so that a crash midway leaves nothing that looks like one: its manifest goes first."""
    (path / "MANIFEST.json").unlink(missing_ok=True)
    for file in path.iterdir():
        file.unlink()
    path.rmdir()


def _processor() -> str:
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                return f"{os.cpu_count()} x {line.partition(':')[2].strip()}"
    return f"{os.cpu_count()} x {platform.processor() or platform.machine()}"


def _commit() -> str:
    here = Path(__file__).resolve().parent
    command = ["git", "-C", str(here), "describe", "--always", "--dirty", "--abbrev=12"]
    with contextlib.suppress(OSError):
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        if answer.returncode == 0:
            return answer.stdout.strip()
    return "unknown"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
