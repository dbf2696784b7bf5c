"""Read files, and tell missing or damaged ones from those that cannot be read now.

The latter may belong to another user, or be on a share that is down. Such a file may be whole, so
nothing may be deleted, made again, or taken for missing because of it.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from repro.errors import CHECK, MachineError

# No file has that name, or can have it.
ABSENT = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn errors of reading an existing file or folder into one line that names it.

    Errors of a missing one pass through.

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
    """Whether a path is that of a regular file; unlike `Path.is_file`, an error is not "no".

    Raises:
        MachineError: it cannot be found out.
    """
    return stat.S_ISREG(_mode(path))


def is_folder(path: Path) -> bool:
    """Whether a path is that of a folder; see `is_file`.

    Raises:
        MachineError: it cannot be found out.
    """
    return stat.S_ISDIR(_mode(path))


def exists(path: Path) -> bool:
    """Whether a path exists; see `is_file`.

    Raises:
        MachineError: it cannot be found out.
    """
    return bool(_mode(path))


def _mode(path: Path) -> int:
    """Return kind and permissions of a path; 0 if it does not exist."""
    with reading(path):
        try:
            return os.stat(path).st_mode
        except OSError as error:
            if error.errno in ABSENT:
                return 0
            raise
        # The path contains a zero byte.
        except ValueError:
            return 0


def names_in(folder: Path) -> list[str]:
    """Return the sorted names in a folder; none if there is no such folder.

    Raises:
        MachineError: it cannot be read.
    """
    with reading(folder):
        try:
            return sorted(os.listdir(folder))
        except (FileNotFoundError, NotADirectoryError):
            return []


def read_plain(path: Path) -> bytes:
    """Return the bytes of a regular file; reading from a pipe would wait without end.

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
