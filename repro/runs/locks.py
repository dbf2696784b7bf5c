"""Lock folders for one process at a time; the kernel frees a lock when its process dies."""

import fcntl
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from repro.errors import BusyError
from repro.files import refusals
from repro.runs.provenance_fields import now

LOCK = ".lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Own a folder while the block reads, changes and writes a file; another process waits.

    Raises:
        MachineError: the disk refuses.
    """
    with refusals(Path(folder) / LOCK):
        Path(folder).mkdir(parents=True, exist_ok=True)
        file = open(Path(folder) / LOCK, "w")
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def owned(folder: Path) -> Iterator[None]:
    """Own a folder while the block lasts; another process is refused and told the owner.

    Raises:
        BusyError: another process owns it, or has just taken the folder away.
        MachineError: the disk refuses.
    """
    path = Path(folder) / LOCK
    removed = BusyError(
        str(folder), "was removed by another process just now", "start the same command again"
    )
    with refusals(path):
        try:
            # a write that a full disk refused must not be tried again when the file is closed
            file = open(path, "ab+", buffering=0)
        except FileNotFoundError as error:
            raise removed from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            owner = file.read().decode(errors="replace") or "another process"
            raise BusyError(
                str(folder), f"is in use by {owner}", "wait for it or stop it"
            ) from error
        # removed since it was opened: a new folder of that name has another lock
        if not os.fstat(file.fileno()).st_nlink:
            raise removed
        with refusals(path):
            file.truncate(0)
            file.write(f"process {os.getpid()} on {platform.node()} since {now()}".encode())
        yield
