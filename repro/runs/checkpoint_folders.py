"""The folders of a run's checkpoints: list them, set damaged ones aside, remove old ones.

`checkpoints.py` writes and reads what is in them.
"""

import os
import shutil
from collections.abc import Collection
from pathlib import Path

from repro.errors import DamagedFileError
from repro.files import UNFINISHED, refusals
from repro.reading import exists, is_folder, names_in
from repro.runs.storage import MANIFEST, check_folder

DAMAGED = ".damaged"  # suffix of the name of a checkpoint that was set aside


def all_checkpoints(run: Path) -> list[Path]:
    """Return all checkpoints in the folder of a run, damaged ones included, oldest first.

    Raises:
        MachineError: they cannot be read.
    """
    folder = run / "checkpoints"
    names = [name for name in names_in(folder) if name.isdecimal()]
    return [folder / name for name in names if is_folder(folder / name)]


def sound_checkpoints(run: Path) -> list[Path]:
    """Return the undamaged checkpoints, oldest first; training resumes from the newest."""
    return [path for path in all_checkpoints(run) if _is_sound(path)]


def set_aside(checkpoint: Path) -> None:
    """Rename a damaged checkpoint, so that a user can repair it; see `remove_checkpoints`."""
    aside = checkpoint.with_name(checkpoint.name + DAMAGED)
    with refusals(checkpoint):
        if exists(aside):  # the same update was damaged before
            shutil.rmtree(aside)
        os.replace(checkpoint, aside)


def remove_checkpoints(run: Path, keep: Collection[int] = ()) -> None:
    """Remove the checkpoints of a run, except those after `keep` updates.

    Old ones are removed once newer ones are safe, all once the run is finished. A damaged one that
    was set aside is removed once a checkpoint of as many updates is kept.
    """
    for path in all_checkpoints(run):
        if int(path.name) not in keep:
            _remove(path)
    for name in names_in(run / "checkpoints"):
        update = name.removesuffix(DAMAGED)
        if update != name and update.isdecimal() and (not keep or int(update) <= max(keep)):
            _remove(run / "checkpoints" / name)


def remove_leftovers(run: Path) -> None:
    """Remove what a killed training began to write; only for the lock's owner."""
    found = run.rglob(f"*{UNFINISHED}")
    # the files of an unfinished folder before the folder
    for path in sorted(found, key=lambda path: len(path.parts), reverse=True):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def _is_sound(path: Path) -> bool:
    """Return whether a checkpoint is complete and unchanged."""
    try:
        check_folder(path)
    except DamagedFileError:  # an unreadable one raises another error
        return False
    return True


def _remove(path: Path) -> None:
    """Remove a checkpoint, its manifest first: after a crash it must not look like one."""
    if path.is_symlink():  # its target belongs to the user
        return path.unlink()
    (path / MANIFEST).unlink(missing_ok=True)
    shutil.rmtree(path)
