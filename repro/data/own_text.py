"""Your own text: the folder in a corpus name such as `local:my/folder`, and where it is now."""

import os
from collections.abc import Mapping
from pathlib import Path

from repro.data.catalogue import OnLeak
from repro.errors import InputError

# How to handle held-out sentences of your own files that are also in train. The choice is part of
# the name, so that every result shows it.
CLEAN_PREFIX = "local-clean:"  # also cleans references
OWN_PREFIXES: Mapping[str, OnLeak] = {
    "local:": "error",
    "local-drop-leaks:": "drop",
    "local-allow-leaks:": "allow",
    CLEAN_PREFIX: "allow",
}
ALLOWS_LEAKS = tuple(prefix for prefix, on_leak in OWN_PREFIXES.items() if on_leak == "allow")
MOVED_TEXT = "REPRO_LOCAL"
"""Environment variable for the folder of your own text, or its parent, if it moved since a run was
trained on it."""


def own_folder(name: str) -> Path | None:
    """Return the folder in a corpus name such as `local:my/folder`; None for other corpora."""
    prefix, colon, folder = name.partition(":")
    # `Path.expanduser` raises for an unknown ~user.
    return Path(os.path.expanduser(folder)) if prefix + colon in OWN_PREFIXES else None


def with_resolved_folder(name: str) -> str:
    """Return the name of a corpus with the absolute path of your own folder in it."""
    folder = own_folder(name)
    return (
        name
        if folder is None or name.endswith(":")
        else f"{name.partition(':')[0]}:{os.path.realpath(folder)}"
    )


def is_text_moved(name: str) -> bool:
    """Return whether your own text is missing from the folder in its name; see REPRO_LOCAL."""
    folder = own_folder(name)
    return folder is not None and not folder.is_dir()


def is_text_found(name: str) -> bool:
    """Return whether your own text is in its folder or in REPRO_LOCAL; True for other corpora."""
    folder = own_folder(name)
    return folder is None or current_folder(folder).is_dir()


def check_text_is_found(name: str, run: Path) -> None:
    """Refuse a run whose own text has moved, unless REPRO_LOCAL says where it is.

    Raises:
        InputError: names the run, and the folder in its configuration.
    """
    if not is_text_found(name):
        fix = f"set {MOVED_TEXT} to the folder that holds its text now, or to its parent"
        nor = (
            f", nor is it in {MOVED_TEXT}={moved}" if (moved := os.environ.get(MOVED_TEXT)) else ""
        )
        raise InputError(str(run), f"was trained on {name}, which is not there{nor}", fix)


def check_moved_test_set(split: str, name: str) -> None:
    """Refuse a moved test set of your own, unless REPRO_LOCAL has a folder of the same name.

    The corpus of a run has a fingerprint that shows whether a text is the same; a test set has
    none. So the folder of the run's corpus must not be taken for it.
    """
    folder = own_folder(name)
    if folder is None or folder.is_dir():
        return
    moved = os.environ.get(MOVED_TEXT)
    if not current_folder(folder).is_dir() or current_folder(folder).name != folder.name:
        nor = f", nor is a folder of that name in {MOVED_TEXT}={moved}" if moved else ""
        raise InputError(
            split,
            f"is not there{nor}",
            f"set {MOVED_TEXT} to the folder that holds it now, or to its parent",
        )


def current_folder(folder: Path) -> Path:
    """Return the folder that holds the text now: the given one, or that of REPRO_LOCAL."""
    moved = os.environ.get(MOVED_TEXT)
    if folder.is_dir() or not moved:
        return folder
    place = Path(os.path.expanduser(moved))
    return place / folder.name if (place / folder.name).is_dir() else place
