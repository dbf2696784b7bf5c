"""Handle stop requests (Ctrl-C, SIGTERM): note them, and end work between two batches.

There the work can be saved.
"""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from repro.errors import Stopped

STOPS = (signal.SIGINT, signal.SIGTERM)
SAME = 1.0  # seconds: timeout(1), for one, signals a process and its group with one request
NOTICE = "stopping after this batch; a second request ends at once\n"

PassOn = Callable[[int, bool], None]

_noted: list[tuple[int, float]] = []  # signal and time of the first request
_listeners: list[PassOn] = []
_saved: list[int] = []  # within `at_once`: the number of saved updates
_blocks: list[bool] = []  # of `noted`, the outermost first: whether each is quiet


def asked() -> int | None:
    """Return the exit code of a requested stop, by the shell's convention; None if none."""
    return 128 + _noted[0][0] if _noted else None


def raise_if_stopping(update: int = 0) -> None:
    """End the work if a stop was requested.

    Call it between two batches, when there is nothing new to save.

    Raises:
        Stopped: after that many updates.
    """
    if code := asked():
        raise Stopped(code, update)


@contextlib.contextmanager
def at_once(update: int = 0) -> Iterator[None]:
    """End the work as soon as a stop is requested while the block lasts; see `raise_if_stopping`.

    There must be nothing new to save in the block.
    """
    raise_if_stopping(update)
    _saved.append(update)
    try:
        yield
    finally:
        _saved.pop()
    raise_if_stopping(update)


@contextlib.contextmanager
def noted(pass_on: PassOn | None = None, quiet: bool = False) -> Iterator[None]:
    """Note stop requests while the block lasts; an outer block notes those of an inner one.

    A second request ends the process at once unless `pass_on` is given. If nothing has acted on a
    request when the outermost block ends, the signal is raised again for the caller. Off the main
    thread there are no signals, and nothing is noted.

    Args:
        pass_on: called with the signal at a request, and whether it is the second.
        quiet: of a worker, whose user sees another process: say nothing, and accept any number of
            requests.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _blocks.append(quiet)
    before = {number: signal.signal(number, _note) for number in STOPS} if len(_blocks) == 1 else {}
    _listeners.extend([pass_on] if pass_on else [])
    unheard = False
    try:
        yield
        unheard = bool(_noted)
    finally:
        _blocks.pop()
        if pass_on:
            _listeners.remove(pass_on)
        if not _blocks:
            number = _noted[0][0] if _noted else 0
            _noted.clear()
            for handled, handler in before.items():
                signal.signal(handled, handler)
            if unheard and not quiet:
                signal.raise_signal(number)


def _note(number: int, _frame: Any) -> None:
    """Note a stop request, and pass it on to the listeners."""
    is_second = bool(_noted)
    if is_second and time.monotonic() - _noted[0][1] < SAME:
        return
    if not is_second:
        _noted.append((number, time.monotonic()))
        _say(NOTICE)
    for pass_on in _listeners:
        pass_on(number, is_second)
    if is_second and not _listeners and not _blocks[0]:
        raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)
    # A library that catches this as its own error only delays the end of `at_once`.
    if _saved:
        raise_if_stopping(_saved[-1])


def _say(line: str) -> None:
    """Write a line to standard error without Python's buffers, which a handler may find in use.

    After a progress bar it starts a new line.
    """
    if not _blocks[0]:
        with contextlib.suppress(OSError):
            os.write(2, ("\n" * os.isatty(2) + line).encode())
