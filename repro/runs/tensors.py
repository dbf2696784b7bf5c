"""Write and read the tensors of a run as safetensors files with counters; nothing is unpickled."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save_file
from torch import Tensor

from repro.errors import DamagedFileError, MachineError
from repro.files import write_json
from repro.reading import is_file, read_plain
from repro.runs.run import FINAL, Run
from repro.runs.storage import check_folder, write_folder


def save_tensors(
    path: Path,
    tensors: dict[str, dict[str, Tensor]],
    state: dict[str, Any],
    beside: Iterable[str] = (),
) -> None:
    """Write safetensors files and `state.json` as one folder, whole or not at all, and check it.

    Args:
        path: the folder.
        tensors: file name without suffix -> tensors by name.
        state: counters, as JSON.
        beside: files next to the folder whose hashes it holds; see `storage.write_folder`.

    Raises:
        MachineError: the disk refuses.
    """

    def fill(folder: Path) -> None:
        for name, values in tensors.items():
            try:
                save_file(
                    {key: value.contiguous() for key, value in values.items()},
                    folder / f"{name}.safetensors",
                )
            except SafetensorError as error:  # raised in place of OSError when the disk refuses
                raise MachineError(
                    str(path),
                    f"cannot be written ({error})",
                    "free some space or choose another folder",
                ) from error
        write_json(folder / "state.json", state)

    write_folder(path, fill, beside)
    check_folder(path)


def load_tensors(path: Path, name: str) -> dict[str, Tensor]:
    """Read one safetensors file of a folder that `storage.check_folder` checked.

    Raises:
        DamagedFileError: the file is not of that format.
    """
    try:
        # the library opens no path that is not UTF-8
        return load(read_plain(path / f"{name}.safetensors"))
    except (SafetensorError, FileNotFoundError) as error:
        raise DamagedFileError(
            str(path / name),
            "is not a safetensors file",
            "train the run again; nothing else is ever loaded",
        ) from error


def save_final(run: Run, parameters: dict[str, Tensor], state: dict[str, Any]) -> None:
    """Write the final parameters with the hashes of all that is final: the run is finished then.

    Args:
        run: not finished yet, or opened again after this.
        parameters: tensors by name.
        state: counters, as JSON.
    """
    beside = [name for name in FINAL if is_file(run.path / name)]
    save_tensors(run.path / "final", {"model": parameters}, state, beside)


def load_final(run: Run) -> dict[str, Tensor]:
    """Return the final parameters of a run, by name.

    Raises:
        DamagedFileError: a file of the run is not what was written.
    """
    run.check_files()
    return load_tensors(run.path / "final", "model")
