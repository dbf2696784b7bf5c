"""Write files atomically: every file of a run, a cache or a result appears whole or not at all."""

import errno
import json
import os
import re
import secrets
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from repro.errors import MachineError
from repro.reading import is_file

NO_ROOM = (errno.ENOSPC, errno.EDQUOT)  # a disk, or a share of it, has no space left
UNFINISHED = ".part"  # the end of the name of a file while it is written
# Seconds after the last change of an unfinished file: writing and syncing one takes a few.
ABANDONED = 3600
_TEMPORARY = re.compile(r"\..+\.[0-9a-f]+\.part")  # as `write_atomic` names files
# In indented JSON, whose strings hold no line breaks.
_LIST_OF_NUMBERS = re.compile(r'\[\n +([^"\[\]{}]+?)\n *\]')
# For lists of one number each, after each of these is on one line.
_LIST_OF_SINGLES = re.compile(r"\[\n +((?:\[[^,\[\]\n]+\],\n +)+\[[^,\[\]\n]+\])\n *\]")


def write_atomic(path: Path, data: bytes) -> None:
    """Write ``data`` so that a reader, or a crash at any instant, sees the old file or the new one.

    Raises:
        MachineError: the disk refuses; the old file is untouched and nothing else is left. Or the
            path is not a regular file, which would be replaced: for root even a device, /dev/null.
    """
    path = Path(path)
    check_plain(path)
    # A random name, not the process id: two processes in containers, or on machines that share a
    # disk, may have the same id.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}{UNFINISHED}")
    with refusals(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open(temporary, "xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
            sync_folder(path.parent)
        finally:
            temporary.unlink(missing_ok=True)


def check_plain(path: Path) -> None:
    """Refuse a path that `write_atomic` would refuse to replace, before the work for it is done.

    Raises:
        MachineError: the path is not that of a regular file.
    """
    if not path.name or (os.path.lexists(path) and not is_file(path)):
        raise MachineError(f"'{path}'", "is not a regular file", "name another place")


def write_json(path: Path, value: Any) -> None:
    """Write a value as indented JSON, atomically, with lists of numbers on one line.

    A list of lists with one number each is also on one line. NaN is refused because other readers
    of JSON refuse it.
    """
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)
    for lists in (_LIST_OF_NUMBERS, _LIST_OF_SINGLES):
        text = lists.sub(lambda found: "[" + re.sub(r"\n +", " ", found[1]) + "]", text)
    write_atomic(path, (text + "\n").encode())


def check_writable(folder: Path) -> None:
    """Check that a folder can be made and takes files, before the work for it is done.

    Nothing is left behind.

    Raises:
        MachineError: the disk refuses, or the path is not a folder.
    """
    folder = Path(folder)
    with refusals(folder):
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    # Another process may have put a file there.
    with suppress(OSError):
        for path in missing:
            path.rmdir()


def remove_abandoned(folder: Path) -> None:
    """Remove unfinished files of killed processes from a folder that many processes write to.

    The folder may be shared with other machines, so their processes cannot be looked up. The age of
    a file decides.
    """
    for path in Path(folder).glob(f".*{UNFINISHED}"):
        # The file may be gone already, or not ours to remove.
        with suppress(OSError):
            if _TEMPORARY.fullmatch(path.name) and time.time() - path.lstat().st_mtime > ABANDONED:
                path.unlink()


def append_line(path: Path, record: dict[str, Any]) -> None:
    """Append one JSON line in a single write, so that parallel writers do not mix their lines.

    Raises:
        MachineError: the disk refuses, or takes only a part, which is cut off again. Or the folder
            is gone: a new one would lack the earlier lines without any notice.
    """
    line = (json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n").encode()
    with refusals(Path(path)):
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            written = os.write(descriptor, line)
            # A disk that fills up reports it only at the next write.
            if written < len(line):
                os.ftruncate(descriptor, os.lseek(descriptor, 0, os.SEEK_CUR) - written)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        finally:
            os.close(descriptor)


@contextmanager
def refusals(path: Path) -> Iterator[None]:
    """Turn errors of writing a file or folder into one line that names it."""
    try:
        yield
    except (FileExistsError, NotADirectoryError) as error:
        raise MachineError(
            str(path), "cannot be written: a file is where a folder must be", "name another place"
        ) from error
    except FileNotFoundError as error:
        raise MachineError(
            str(path),
            "cannot be written: its folder is gone",
            "start the command again, which makes it again",
        ) from error
    except OSError as error:
        fix = (
            "free some space or choose another folder"
            if error.errno in NO_ROOM
            else "choose another folder"
        )
        raise MachineError(str(path), f"cannot be written ({error.strerror})", fix) from error


def sync_folder(path: Path) -> None:
    """Let the disk keep which names are in a folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
