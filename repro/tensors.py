"""Folders of tensors: safetensors files and their counters, written whole or not at all, and read only as they were written.

Nothing is ever unpickled. torch is imported where tensors are read: who asks for the state of a run must not wait for it.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from repro.errors import DamagedFileError, MachineError
from repro.files import MAKE_AGAIN, check_folder, write_folder, write_json
from repro.reading import read_plain


def save_tensors(path: Path, tensors: dict[str, dict[str, Any]], state: dict[str, Any], beside: Iterable[str] = ()) -> None:
    """Write safetensors files and a `state.json` as one folder, whole or not at all, and check what was written.

    Files `beside` it whose hashes it holds: see `write_folder`.

    Raises:
        MachineError: the disk refuses.
    """
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    def fill(folder: Path) -> None:
        for name, values in tensors.items():
            try:
                save_file({key: value.contiguous() for key, value in values.items()}, folder / f"{name}.safetensors")
            except SafetensorError as error:  # it is no OSError when the disk refuses
                raise MachineError(str(path), f"cannot be written ({error})", "free some space or choose another folder") from error
        write_json(folder / "state.json", state)

    write_folder(path, fill, beside)
    check_folder(path)


def load_tensors(path: Path, name: str) -> dict[str, Any]:
    """Read one safetensors file of a folder written by `save_tensors`, after checking its hash.

    Raises:
        DamagedFileError: the file is not what was written.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load

    check_folder(path)
    try:
        return load(read_plain(path / f"{name}.safetensors"))  # the library opens no path that is not UTF-8
    except (SafetensorError, FileNotFoundError) as error:
        raise DamagedFileError(str(path / name), "is not a safetensors file", "train the run again; nothing else is ever loaded") from error


def load_state(path: Path) -> dict[str, Any]:
    """Read the counters of a folder written by `save_tensors`, after checking its hash.

    Raises:
        DamagedFileError: the file is not what was written.
    """
    check_folder(path)
    try:
        state = json.loads(read_plain(path / "state.json"))
    except (FileNotFoundError, ValueError, RecursionError):
        state = None
    if not isinstance(state, dict):
        raise DamagedFileError(str(path / "state.json"), "holds no counters", MAKE_AGAIN)
    return state
