"""Write folders whole or not at all, with the hashes of their files in a manifest.

`check_folder` compares a folder with its manifest, once, when the folder is opened. Functions that
read its files afterwards do not check them again.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from repro.errors import DamagedFileError
from repro.files import UNFINISHED, refusals, sync_folder, write_json
from repro.reading import is_file, names_in, read_plain, sha256

MANIFEST = "MANIFEST.json"
BESIDE = "../"  # prefix, in a manifest, of the name of a file next to its folder
# what else a run holds, such as checkpoints, stays
MAKE_AGAIN = "delete the folder and make it again"


def load_state(path: Path) -> dict[str, Any]:
    """Read the counters of a folder that `tensors.save_tensors` wrote and `check_folder` checked.

    Raises:
        DamagedFileError: the file holds no counters.
    """
    try:
        state = json.loads(read_plain(path / "state.json"))
    except (FileNotFoundError, ValueError, RecursionError):
        state = None
    if not isinstance(state, dict):
        raise DamagedFileError(str(path / "state.json"), "holds no counters", MAKE_AGAIN)
    return state


def write_folder(path: Path, fill: Callable[[Path], None], beside: Iterable[str] = ()) -> None:
    """Let ``fill`` write files into a fresh folder, add a manifest, and rename it into place whole.

    The manifest holds sizes and hashes. It also holds the hashes of files `beside` the folder that
    will not change any more; see `hashes_beside`.

    An existing folder, or anything else of that name, is replaced. The files get the usual
    permissions, however ``fill`` made them.

    Raises:
        MachineError: the disk refuses; an old folder is untouched, and nothing else is left.
    """
    path = Path(path)
    with refusals(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(
            tempfile.mkdtemp(prefix=f".{path.name}.", suffix=UNFINISHED, dir=path.parent)
        )
        try:
            fill(temporary)
            files = sorted(p for p in temporary.iterdir())
            listed = {p.name: p for p in files} | {
                f"{BESIDE}{name}": path.parent / name for name in beside
            }
            manifest = {
                name: {"bytes": p.stat().st_size, "sha256": sha256(p)} for name, p in listed.items()
            }
            write_json(temporary / MANIFEST, manifest)
            _open_to_others(temporary)
            for file in files:
                with open(file, "rb") as handle:
                    os.fsync(handle.fileno())
            _replace_folder(temporary, path)
            sync_folder(path.parent)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _replace_folder(new: Path, path: Path) -> None:
    """Rename a folder to a path; an old folder there is removed last, and restored on failure."""
    if not path.is_dir():
        path.unlink(missing_ok=True)
        return os.replace(new, path)
    old = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=UNFINISHED, dir=path.parent))
    os.replace(path, old)
    try:
        os.replace(new, path)
    except BaseException:
        os.replace(old, path)
        raise
    shutil.rmtree(old, ignore_errors=True)


def check_folder(path: Path) -> None:
    """Check that a folder made by `write_folder` still holds exactly the bytes that were written.

    Raises:
        DamagedFileError: a file is missing, cut or changed.
    """
    path = Path(path)
    expected = {
        name: entry for name, entry in _read_manifest(path).items() if not name.startswith(BESIDE)
    }
    # not what Finder or JupyterLab leave in a folder
    present = {name for name in names_in(path) if not name.startswith(".")}
    if unlisted := present ^ {MANIFEST, *expected}:
        raise DamagedFileError(
            str(path / min(unlisted)), f"is missing, or is not in the {MANIFEST}", MAKE_AGAIN
        )
    for name, (num_bytes, digest) in expected.items():
        file = path / name
        if not is_file(file) or file.is_symlink():
            raise DamagedFileError(str(file), "is not a plain file", MAKE_AGAIN)
        if sha256(file) != digest or file.stat().st_size != num_bytes:
            raise DamagedFileError(
                str(file), f"differs from its hash in the {MANIFEST}", MAKE_AGAIN
            )


def hashes_beside(path: Path) -> dict[str, str]:
    """Return the hashes of files next to a folder that `write_folder` noted, by name.

    Older folders have none.

    Raises:
        DamagedFileError: its manifest is missing or damaged.
    """
    found = _read_manifest(Path(path))
    return {
        name.removeprefix(BESIDE): digest
        for name, (_, digest) in found.items()
        if name.startswith(BESIDE)
    }


def _read_manifest(path: Path) -> dict[str, tuple[int, str]]:
    """Return size and SHA-256 of each file in the manifest of a folder."""
    try:
        manifest = json.loads(read_plain(path / MANIFEST))
        return {name: (entry["bytes"], entry["sha256"]) for name, entry in manifest.items()}
    except (
        FileNotFoundError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
    ) as error:
        raise DamagedFileError(str(path), f"has no readable {MANIFEST}", MAKE_AGAIN) from error


def check_hashes(folder: Path, hashes: Mapping[str, str], noted_in: str, fix: str) -> None:
    """Check files of a folder against SHA-256 hashes by name.

    Raises:
        DamagedFileError: a file is missing or changed.
    """
    for name, digest in hashes.items():
        path = Path(folder) / name
        if not is_file(path):
            raise DamagedFileError(str(path), "is missing", fix)
        if sha256(path) != digest:
            raise DamagedFileError(str(path), f"differs from its hash in {noted_in}", fix)


def _open_to_others(folder: Path) -> None:
    """Give a temporary folder and its files the usual permissions, which its manifest has.

    Until then only their owner may read them.
    """
    readable = (folder / MANIFEST).stat().st_mode & 0o666
    for file in folder.iterdir():
        file.chmod(readable)
    # a folder that may be read may be entered
    folder.chmod(readable | (readable & 0o444) >> 2 | 0o300)
