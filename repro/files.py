"""The one writer: every file of a run, a cache or a result appears whole or not at all."""

import errno
import json
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from repro.errors import NO_ROOM, DamagedFileError, MachineError
from repro.reading import is_file, names_in, read_plain, sha256

MANIFEST = "MANIFEST.json"
BESIDE = "../"  # the beginning of the name, in a manifest, of a file beside its folder
UNFINISHED = ".part"  # the end of the name of whatever is still being written
MAKE_AGAIN = "delete the folder and make it again"  # what else a run holds, such as checkpoints, stays
ABANDONED = 3600  # seconds after the last change of an unfinished file: to write and sync one takes a few
_TEMPORARY = re.compile(r"\..+\.[0-9a-f]+\.part")  # as `write_atomic` names files
_LIST_OF_NUMBERS = re.compile(r'\[\n +([^"\[\]{}]+?)\n *\]')  # in indented JSON, whose strings hold no line breaks
# Of lists of one number each, when each of these stands on a line already.
_LIST_OF_SINGLES = re.compile(r"\[\n +((?:\[[^,\[\]\n]+\],\n +)+\[[^,\[\]\n]+\])\n *\]")


def write_atomic(path: Path, data: bytes) -> None:
    """Write ``data`` so that a reader, or a crash at any instant, sees the old file or the new one.

    Raises:
        MachineError: the disk refuses; the old file is untouched and nothing else is left behind. Or something else than a file has the
            name, which would be replaced: for root even a device, /dev/null.
    """
    path = Path(path)
    check_plain(path)
    # Not the number of the process: two in containers, or on machines that share a disk, may have the same.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}{UNFINISHED}")
    with refusals(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open(temporary, "xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
            _sync_folder(path.parent)
        finally:
            temporary.unlink(missing_ok=True)


def check_plain(path: Path) -> None:
    """Refuse what `write_atomic` refuses to replace, before the work whose result is for it, not after.

    Raises:
        MachineError: something else than a file has the name, or it is none.
    """
    if not path.name or (os.path.lexists(path) and not is_file(path)):
        raise MachineError(f"'{path}'", "is no name of a plain file", "name another place")


def write_json(path: Path, value: Any) -> None:
    """Write a value as indented JSON, atomically: a list of numbers on one line, as one of such lists with one number each.

    NaN is refused because other readers of JSON refuse it.
    """
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)
    for lists in (_LIST_OF_NUMBERS, _LIST_OF_SINGLES):
        text = lists.sub(lambda found: "[" + re.sub(r"\n +", " ", found[1]) + "]", text)
    write_atomic(path, (text + "\n").encode())


def check_writable(folder: Path) -> None:
    """See whether a folder can be made and takes files: before the work whose result is for it, not after. Nothing is left behind.

    Raises:
        MachineError: the disk refuses, or something else than a folder has the name.
    """
    folder = Path(folder)
    with refusals(folder):
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    with suppress(OSError):  # somebody has put a file there since
        for path in missing:
            path.rmdir()


def remove_abandoned(folder: Path) -> None:
    """Remove what killed processes had begun to write by `write_atomic` into a folder that many write to, and nobody owns.

    Whether they still run cannot be asked: the folder may be shared with other machines. So it is told from the age.
    """
    for path in Path(folder).glob(f".*{UNFINISHED}"):
        with suppress(OSError):  # gone since, or not ours to remove
            if _TEMPORARY.fullmatch(path.name) and time.time() - path.lstat().st_mtime > ABANDONED:
                path.unlink()


def append_line(path: Path, record: dict[str, Any]) -> None:
    """Append one JSON line in a single write, so that parallel writers never tear each other's rows.

    Raises:
        MachineError: the disk refuses, or takes a part only, which is cut off again. Or the folder is gone: what was below it would be
            missing in one that is made anew, and nothing would tell.
    """
    line = (json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n").encode()
    with refusals(Path(path)):
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            written = os.write(descriptor, line)
            if written < len(line):  # a disk that fills up says so at the next write only
                os.ftruncate(descriptor, os.lseek(descriptor, 0, os.SEEK_CUR) - written)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        finally:
            os.close(descriptor)


def write_folder(path: Path, fill: Callable[[Path], None], beside: Iterable[str] = ()) -> None:
    """Let ``fill`` write files into a fresh folder, add a manifest of sizes and hashes, and rename it into place whole.

    The manifest also holds the hashes of files `beside` the folder that will not change any more; see `hashes_beside`.

    An existing folder, or whatever else has that name, is replaced. Whoever may read a file that is made here in the usual way may read
    what is in it, however ``fill`` made it.

    Raises:
        MachineError: the disk refuses; an old folder is untouched and nothing else is left behind.
    """
    path = Path(path)
    with refusals(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=UNFINISHED, dir=path.parent))
        try:
            fill(temporary)
            files = sorted(p for p in temporary.iterdir())
            listed = {p.name: p for p in files} | {f"{BESIDE}{name}": path.parent / name for name in beside}
            manifest = {name: {"bytes": p.stat().st_size, "sha256": sha256(p)} for name, p in listed.items()}
            write_json(temporary / MANIFEST, manifest)
            _open_to_others(temporary)
            for file in files:
                with open(file, "rb") as handle:
                    os.fsync(handle.fileno())
            _swap(temporary, path)
            _sync_folder(path.parent)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _swap(new: Path, path: Path) -> None:
    """Rename a folder to a path. A folder that is there goes only when the new one is in its place; if that fails, it comes back."""
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


def check_folder(path: Path, mend: str = MAKE_AGAIN) -> None:
    """Check that a folder made by `write_folder` still holds exactly the bytes that were written.

    Raises:
        DamagedFileError: a file is missing, cut or changed; it names `mend`.
    """
    path = Path(path)
    expected = {name: entry for name, entry in _read_manifest(path, mend).items() if not name.startswith(BESIDE)}
    present = {name for name in names_in(path) if not name.startswith(".")}  # not what Finder or JupyterLab leave in a folder
    if unlisted := present ^ {MANIFEST, *expected}:
        raise DamagedFileError(str(path / min(unlisted)), f"is missing, or is not in the {MANIFEST}", mend)
    for name, (num_bytes, digest) in expected.items():
        file = path / name
        if not is_file(file) or file.is_symlink():
            raise DamagedFileError(str(file), "is not a plain file", mend)
        if sha256(file) != digest or file.stat().st_size != num_bytes:
            raise DamagedFileError(str(file), f"differs from its hash in the {MANIFEST}", mend)


def hashes_beside(path: Path, mend: str = MAKE_AGAIN) -> dict[str, str]:
    """Return the hashes that a folder made by `write_folder` has noted of files beside it, by name; older ones have none.

    Raises:
        DamagedFileError: its manifest is missing or damaged; it names `mend`.
    """
    found = _read_manifest(Path(path), mend)
    return {name.removeprefix(BESIDE): digest for name, (_, digest) in found.items() if name.startswith(BESIDE)}


def _read_manifest(path: Path, mend: str) -> dict[str, tuple[int, str]]:
    try:
        manifest = json.loads(read_plain(path / MANIFEST))
        return {name: (entry["bytes"], entry["sha256"]) for name, entry in manifest.items()}
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DamagedFileError(str(path), f"has no readable {MANIFEST}", mend) from error


def check_hashes(folder: Path, hashes: Mapping[str, str], noted_in: str, mend: str) -> None:
    """Check files of a folder against SHA-256 hashes by name.

    Raises:
        DamagedFileError: a file is missing or changed.
    """
    for name, digest in hashes.items():
        path = Path(folder) / name
        if not is_file(path):
            raise DamagedFileError(str(path), "is missing", mend)
        if sha256(path) != digest:
            raise DamagedFileError(str(path), f"differs from its hash in {noted_in}", mend)


@contextmanager
def refusals(path: Path) -> Iterator[None]:
    """Turn what the disk refuses while a file or folder is written into one line that names it."""
    try:
        yield
    except (FileExistsError, NotADirectoryError) as error:
        raise MachineError(str(path), "cannot be written: a file is where a folder must be", "name another place") from error
    except FileNotFoundError as error:
        raise MachineError(str(path), "cannot be written: its folder is gone", "start the command again, which makes it anew") from error
    except OSError as error:
        mend = "free some space or choose another folder" if error.errno in NO_ROOM else "choose another folder"
        raise MachineError(str(path), f"cannot be written ({error.strerror})", mend) from error


def _open_to_others(folder: Path) -> None:
    """Give a temporary folder and its files, which only their owner may read, the permissions of its manifest, which is a usual file."""
    readable = (folder / MANIFEST).stat().st_mode & 0o666
    for file in folder.iterdir():
        file.chmod(readable)
    folder.chmod(readable | (readable & 0o444) >> 2 | 0o300)  # a folder that may be read may be entered


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
