"""One error type for every mistake a user can make: where it is, what it is, and how to mend it.

The command line prints it as one line and exits with its code; a notebook shows the same line.
Anything else that escapes is our bug. Exit codes: 2 input or configuration, 3 environment, 4
damaged or untrusted file, 5 busy.
"""

import difflib
import errno
import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

GET_PROJECT = "clone the project and pip install -e . there: results are beside the package"
"""How to get what a wheel does not hold."""
MAX_LISTED = 100  # characters
MAX_PLACES = 5  # of many mistakes are named
# of torch, on a processor, on a GPU, and anywhere
NO_MEMORY = ("can't allocate memory", "out of memory", "size calculation overflowed")


CHECK = "check permissions or the disk, then start again"
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)  # a disk, or one's share of it, has no space left


class ReproError(Exception):
    """A mistake that the user can mend.

    Args:
        where: the file, option or place, as the user would name it (``train.de:17``,
            ``model.num_heads``).
        what: what is wrong there, with the values found.
        mend: an instruction that makes it right.
    """

    exit_code = 2

    def __init__(self, where: str, what: str, mend: str) -> None:
        self.where, self.what, self.mend = where, what, mend
        super().__init__(f"{where}: {what}. Fix: {mend}")

    def __reduce__(self):  # so that an error can come from another process
        return type(self), (self.where, self.what, self.mend)


class InputError(ReproError):
    """Wrong arguments, configuration or data."""


def together(errors: Sequence[InputError], count: int | None = None) -> InputError:
    """Return one error for many: all of the first, the number of the others, and the places of the next four.

    Args:
        errors: at least one; the mend is that of the first.
        count: how many there are, if not all are given.
    """
    first, *others = errors
    if not others:
        return first
    further = (count or len(errors)) - 1
    named = "; ".join(f"{error.where} {error.what}" for error in others[: MAX_PLACES - 1])
    rest = "; ..." if further >= MAX_PLACES else ""
    return InputError(first.where, f"{first.what}; {further:,} more: {named}{rest}", first.mend)


class MachineError(ReproError):
    """The machine cannot do it: disk full, network silent, package missing."""

    exit_code = 3


class DamagedFileError(ReproError):
    """A file of ours that is not what was written, or one that must not be trusted."""

    exit_code = 4


class BusyError(ReproError):
    """Another process owns the run."""

    exit_code = 5


class Stopped(Exception):
    """Training was asked to stop, saved, and can be resumed by the same command. `exit_code` is the shell's convention."""

    def __init__(self, exit_code: int, update: int) -> None:
        self.exit_code, self.update = exit_code, update
        super().__init__(f"stopped after update {update}; the same command resumes there")

    def __reduce__(self):  # so that it can come from another process
        return type(self), (self.exit_code, self.update)


SMALLER_MODEL = "lower train.batch_tokens or the model's width"
MEMORY_MENDS = {
    "train": SMALLER_MODEL,
    "run": f"use fewer --jobs, or {SMALLER_MODEL}",
    "prune": f"use fewer --jobs, or {SMALLER_MODEL}",
    "translate": "split long sentences, or use a smaller --beam",
    "evaluate": "use a smaller --beam",
    "compare": "use a smaller --beam",
    "data": "split the corpus into smaller files, or use a machine with more",
}
"""Command -> what makes it need less memory."""


def known(error: Exception, command: str = "") -> Exception:
    """Return what the machine refused as an error with a mend for that command, and any other error as it is."""
    if isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and any(sign in str(error) for sign in NO_MEMORY)
    ):
        what = "there is not enough of it" + f" for `repro {command}`" * bool(command)
        return MachineError(
            "memory",
            what,
            MEMORY_MENDS.get(command, "close other programs, or use a machine with more"),
        )
    if isinstance(error, UnicodeEncodeError):
        letter = error.object[error.start]
        return MachineError(
            "output",
            f"'{letter}' cannot be written in {error.encoding}",
            "set PYTHONIOENCODING=utf-8",
        )
    if isinstance(error, OSError):
        what = f"cannot be read or written ({error.strerror or error})"
        mend = "name another place, or make room there" if error.errno in NO_ROOM else CHECK
        return MachineError(str(error.filename or "output"), what, mend)
    return error


def check_kind(where: str, value: Any, mend: str, *kinds: type) -> None:
    """Refuse an argument of none of these kinds where it comes in; what Python says further down names no argument.

    Raises:
        InputError: naming the wanted kinds and the value found.
    """
    if not isinstance(value, kinds):
        raise InputError(
            where,
            f"wants {' or '.join(kind.__name__ for kind in kinds)}, found {shortened(repr(value))}",
            mend,
        )


def shortened(text: str, width: int = MAX_LISTED) -> str:
    """Return a text on one line for a message, cut between two words, with dots where it goes on.

    A first word without end is cut within itself.
    """
    short = textwrap.shorten(text, width, placeholder=" ...")
    return short if short != "..." or len(text) <= width else f"{text.split()[0][: width - 4]} ..."


def did_you_mean(wrong: Any, known: Iterable[str]) -> str:
    """Name the closest known word, and as many of the known ones as fit into a line, for an error's mend; the wrong one may be no text."""
    known = list(known)
    by_lower = {word.lower(): word for word in known}
    close = [
        by_lower[word] for word in difflib.get_close_matches(str(wrong).lower(), by_lower, n=1)
    ]
    listed = shortened(", ".join(known))
    return f"did you mean '{close[0]}'? Known: {listed}" if close else f"use one of {listed}"


def texts_in(where: str, texts: Iterable[str]) -> list[str]:
    """Return texts as a list.

    Raises:
        InputError: a single text, whose letters would be taken for texts, or something else than
            texts.
    """
    if isinstance(texts, str):
        raise InputError(where, "are one text, not a list", "write [text]")
    check_kind(where, texts, "give a list of str", Iterable)
    found = list(texts)
    for place, text in enumerate(found):
        if not isinstance(text, str):
            raise InputError(
                f"{where}[{place}]",
                f"is of the type {type(text).__name__}, not a text",
                "give a list of str",
            )
        if half := re.search("[\ud800-\udfff]", text):
            raise InputError(
                f"{where}[{place}]",
                f"holds half a character, U+{ord(half.group()):04X}",
                "decode its bytes as UTF-8",
            )
    return found
