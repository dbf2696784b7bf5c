"""One error type for every mistake a user can make: where it is, what it is, and how to fix it.

The command line prints it as one line and exits with its code; a notebook shows the same line.
Any other exception is our bug, unless it comes from the user's own file
(`repro.runs.own_code.own_mistake`). Exit codes: 2 input or configuration, 3 environment, 4 damaged
or untrusted file, 5 busy.
"""

import difflib
import re
import textwrap
from collections.abc import Iterable
from typing import Any

GET_PROJECT = "clone the project and pip install -e . there: results are beside the package"
"""How to get the parts of the project that are not in a wheel."""
MAX_LISTED = 100  # characters


class ReproError(Exception):
    """A mistake that the user can fix.

    Args:
        where: the file, option or place, as the user would name it (``train.de:17``,
            ``model.num_heads``).
        what: what is wrong there, with the values found.
        fix: an instruction that corrects it.
    """

    exit_code = 2

    def __init__(self, where: str, what: str, fix: str) -> None:
        self.where, self.what, self.fix = where, what, fix
        super().__init__(f"{where}: {what}. Fix: {fix}")

    def __reduce__(self):  # so that an error can come from another process
        return type(self), (self.where, self.what, self.fix)


class InputError(ReproError):
    """Wrong arguments, configuration or data."""


class MachineError(ReproError):
    """A limit of the machine: disk full, network silent, package missing."""

    exit_code = 3


class DamagedFileError(ReproError):
    """A file of ours that changed since it was written, or one that must not be trusted."""

    exit_code = 4


class BusyError(ReproError):
    """Another process owns the run."""

    exit_code = 5


class Stopped(Exception):
    """Training was asked to stop and saved; `exit_code` follows the shell's convention."""

    def __init__(self, exit_code: int, update: int) -> None:
        self.exit_code, self.update = exit_code, update
        super().__init__(f"stopped after update {update}; the same command resumes there")

    def __reduce__(self):  # so that it can come from another process
        return type(self), (self.exit_code, self.update)


def check_kind(where: str, value: Any, fix: str, *kinds: type) -> None:
    """Refuse an argument of another kind, naming the argument.

    Raises:
        InputError: naming the wanted kinds and the value found.
    """
    if not isinstance(value, kinds):
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise InputError(where, f"wants {wanted}, found {shortened(repr(value))}", fix)


def shortened(text: str, width: int = MAX_LISTED) -> str:
    """Return a text on one line for a message, cut between two words, with dots for the rest.

    A very long first word is itself cut.
    """
    short = textwrap.shorten(text, width, placeholder=" ...")
    return short if short != "..." or len(text) <= width else f"{text.split()[0][: width - 4]} ..."


def did_you_mean(wrong: Any, known: Iterable[str]) -> str:
    """Return a fix: the known word closest to a wrong one, and as many known ones as fit a line."""
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
        InputError: a single text, whose letters would be taken for texts, or values that are not
            texts.
    """
    if isinstance(texts, str):
        raise InputError(where, "are one text, not a list", "write [text]")
    check_kind(where, texts, "give a list of str", Iterable)
    found = list(texts)
    for index, text in enumerate(found):
        place = f"{where}[{index}]"
        if not isinstance(text, str):
            what = f"is of the type {type(text).__name__}, not a text"
            raise InputError(place, what, "give a list of str")
        if half := re.search("[\ud800-\udfff]", text):
            what = f"holds half a character, U+{ord(half.group()):04X}"
            raise InputError(place, what, "decode its bytes as UTF-8")
    return found
