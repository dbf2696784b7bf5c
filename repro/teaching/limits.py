"""Confine a process to a folder, to some memory, and to no network, without root.

Three layers. Resource limits and the audit hook of Python work on Linux and macOS; the hook also
says what was refused. Where Linux has them, Landlock and a network namespace hold for native code,
too, which the hook does not see.
"""

import ctypes
import os
import platform
import resource
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

OPEN_FILES = 128
FILE_BYTES = 20_000_000
MOST_REFUSALS = 5  # kept to be shown
NEW_USER, NEW_NET = 0x10000000, 0x40000000  # of unshare(2)
NO_NEW_PRIVILEGES = 38  # of prctl(2)

NEVER = (
    "socket.", "subprocess.", "ctypes.", "os.fork", "os.exec", "os.posix_spawn", "os.spawn",
    "os.system", "os.kill", "os.symlink", "os.link", "os.startfile", "pty.", "resource.",
    "signal.pthread_kill", "fcntl.", "ftplib.", "urllib.Request", "http.client.", "webbrowser.",
)  # fmt: skip
WRITING = (
    "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.truncate", "os.chmod", "os.chown",
    "os.utime", "os.setxattr", "os.removexattr", "shutil.rmtree", "shutil.move", "tempfile.mk",
)  # fmt: skip
READING = ("os.listdir", "os.scandir", "os.chdir", "os.walk", "glob.glob")
QUIET = ("os.listdir", "os.scandir")  # importing looks into folders that it need not see


@dataclass
class Limits:
    """What a process may use.

    Args:
        seconds: of the processor, for everything.
        megabytes: of memory beyond what it has when it starts.
    """

    seconds: float = 30.0
    megabytes: int = 1000


def confine(folder: Path, readable: Sequence[Path], limits: Limits) -> list[str]:
    """Confine this process for good; return the list that refusals are added to.

    Args:
        folder: the only place to write.
        readable: more places to read.
        limits: of time and memory.
    """
    _limit_resources(limits)
    with suppress(OSError, AttributeError):
        _leave_network()
    with suppress(OSError, AttributeError):
        _lock_files(folder, readable)
    refused: list[str] = []
    _refuse_in_python(folder, readable, refused)
    return refused


def unguarded() -> list[str]:
    """Return what this system does not keep native code from.

    It asks in a process of its own, since a process is confined for good.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_refused_by_no_kernel).result()


def _refused_by_no_kernel() -> list[str]:
    """Confine this process, and return what the kernel leaves open to it."""
    layers: dict[str, Callable[[], None]] = {
        "the network": _leave_network,
        "files elsewhere": lambda: _lock_files(Path.cwd(), []),
    }
    found = []
    for name, confine_to_it in layers.items():
        try:
            confine_to_it()
        except (OSError, AttributeError):
            found.append(name)
    return found


def _limit_resources(limits: Limits) -> None:
    """Limit memory, processor time, files and their size."""
    wanted = {
        "RLIMIT_AS": _address_space() + limits.megabytes * 2**20,
        "RLIMIT_CPU": int(limits.seconds) + 1,
        "RLIMIT_FSIZE": FILE_BYTES,
        "RLIMIT_NOFILE": OPEN_FILES,
        "RLIMIT_CORE": 0,
    }
    for name, most in wanted.items():
        with suppress(OSError, ValueError, AttributeError):  # the system lacks it, or wants less
            resource.setrlimit(getattr(resource, name), (most, most))


def _address_space() -> int:
    """Return the bytes of address space in use; 0 where /proc does not say."""
    with suppress(OSError):
        pages = Path("/proc/self/statm").read_text().split()[0]
        return int(pages) * resource.getpagesize()
    return 0


def _leave_network() -> None:
    """Move this process into a network without any interface.

    Raises:
        OSError: the system does not allow it without root.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(NEW_USER | NEW_NET):
        raise OSError(ctypes.get_errno(), "unshare")


def _lock_files(folder: Path, readable: Sequence[Path]) -> None:
    """Let the kernel refuse files outside the folders (Landlock, from Linux 5.13 on).

    No program may be started. From Linux 6.7 on no TCP connection may be made, either.

    Raises:
        OSError: the kernel has no Landlock.
    """
    if platform.system() != "Linux":
        raise OSError("only Linux has Landlock")
    libc = ctypes.CDLL(None, use_errno=True)
    create, add, restrict = 444, 445, 446  # system calls, the same on every processor
    version = libc.syscall(create, None, ctypes.c_size_t(0), 1)
    if version < 1:
        raise OSError(ctypes.get_errno(), "landlock")
    of_files = 2 ** (13 + (version >= 2) + (version >= 3) + (version >= 5)) - 1
    parts = [of_files, *([3] if version >= 4 else []), *([3] if version >= 6 else [])]
    rules = struct.pack(f"{len(parts)}Q", *parts)
    ruleset = libc.syscall(create, rules, ctypes.c_size_t(len(rules)), 0)
    if ruleset < 0:
        raise OSError(ctypes.get_errno(), "landlock")
    read = 0b1100  # files and folders
    for path, allowed in [(folder, of_files & ~1), *((path, read) for path in readable)]:
        with suppress(FileNotFoundError):
            opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            rule = struct.pack("=Qi", allowed if path.is_dir() else 0b100, opened)
            libc.syscall(add, ruleset, 1, rule, 0)
            os.close(opened)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if libc.syscall(restrict, ruleset, 0):
        raise OSError(ctypes.get_errno(), "landlock")
    os.close(ruleset)


def _refuse_in_python(folder: Path, readable: Sequence[Path], refused: list[str]) -> None:
    """Refuse what leaves the folder with a PermissionError that says so. A hook cannot be removed.

    Raises:
        PermissionError: later, in the code that tries.
    """
    inside = os.path.realpath(folder)
    read = [inside, *(os.path.realpath(path) for path in readable)]

    def refuse(event: str, what: Any) -> None:
        text = f"{event} {what}"[:200].strip()
        if len(refused) < MOST_REFUSALS and not event.startswith(QUIET):
            refused.append(text)
        raise PermissionError(f"refused while grading: {text}")

    def hook(event: str, arguments: tuple) -> None:
        if event.startswith(NEVER):
            refuse(event, "")
        if event == "open" and isinstance(arguments[0], (str, bytes, os.PathLike)):
            writes = bool(arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC))
            if not _is_below(arguments[0], [inside] if writes else read):
                refuse(event, arguments[0])
        elif event.startswith((*WRITING, *READING)):
            places = [inside] if event.startswith(WRITING) else read
            for path in _paths(arguments):
                if not _is_below(path, places):
                    refuse(event, path)

    sys.addaudithook(hook)


def _paths(arguments: tuple) -> Iterator[Any]:
    """Yield the arguments of an event that are paths."""
    for argument in arguments[:2]:
        if isinstance(argument, (str, bytes, os.PathLike)):
            yield argument


def _is_below(path: Any, folders: Sequence[str]) -> bool:
    """Whether a path, with all links followed, is one of the folders or in one."""
    found = os.path.realpath(os.fsdecode(path))
    return any(found == folder or found.startswith(folder + os.sep) for folder in folders)
