"""The one reader: what is not there, or damaged, is told apart from what cannot be read now.

The latter may be a file of somebody else, or one on a share that is down. It is whole, for all that
    is known: because of it nothing may
be deleted, made again, or taken for missing.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from repro.errors import MachineError

CHECK = "check permissions or the disk, then start again"
# nothing has that name, or can have it
ABSENT = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what keeps a file or folder that is there from being read into one line that names it; what is not there is not meant.

    Raises:
        MachineError: it cannot be read.
    """
    try:
        yield
    except OSError as error:
        if error.errno in ABSENT:
            raise
        raise MachineError(str(path), f"cannot be read ({error.strerror})", CHECK) from error


def is_file(path: Path) -> bool:
    """Tell whether a plain file has the name; unlike `Path.is_file`, no answer is not taken for no.

    Raises:
        MachineError: it cannot be told.
    """
    return stat.S_ISREG(_mode(path))


def is_folder(path: Path) -> bool:
    """Tell whether a folder has the name; see `is_file`.

    Raises:
        MachineError: it cannot be told.
    """
    return stat.S_ISDIR(_mode(path))


def exists(path: Path) -> bool:
    """Tell whether anything has the name; see `is_file`.

    Raises:
        MachineError: it cannot be told.
    """
    return bool(_mode(path))


def _mode(path: Path) -> int:
    """Return kind and permissions of what has the name, 0 if nothing has."""
    with reading(path):
        try:
            return os.stat(path).st_mode
        except OSError as error:
            if error.errno in ABSENT:
                return 0
            raise
        except ValueError:  # a zero in it
            return 0


def names_in(folder: Path) -> list[str]:
    """Return the names in a folder, in order; none if there is no such folder.

    Raises:
        MachineError: it cannot be read.
    """
    with reading(folder):
        try:
            return sorted(os.listdir(folder))
        except (FileNotFoundError, NotADirectoryError):
            return []


def read_plain(path: Path) -> bytes:
    """Return the bytes of a file, and of nothing else: a pipe by that name, which nobody fills, would be waited for without end.

    Raises:
        FileNotFoundError: there is none.
        MachineError: it cannot be read.
    """
    if not is_file(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    with reading(path):
        return Path(path).read_bytes()


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file's bytes as hex digits.

    Raises:
        FileNotFoundError: there is none.
        MachineError: it cannot be read.
    """
    with reading(path), open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
