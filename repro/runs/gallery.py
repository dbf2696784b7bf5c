"""The gallery: small trained models inside the package, so that nothing needs a training run first.

    repro/gallery_runs/README.md    licence and training records, written by `bundling`
                       <model>/     a finished run without its checkpoints and evaluations

A model is an ordinary run, and like any run it knows the hashes of its files. In Python,
`load("base")` opens it; on the command line `gallery/base` names it, wherever you are.
"""

import os
from pathlib import Path, PurePath

from repro.errors import DamagedFileError, InputError, check_kind, did_you_mean
from repro.reading import is_file, names_in
from repro.runs.naming import fitting
from repro.runs.run import Run, the_only

FOLDER = Path(__file__).resolve().parents[1] / "gallery_runs"
PREFIX = "gallery"
AGAIN = "install the package again"


def names(folder: Path = FOLDER) -> list[str]:
    """Return the models of the gallery, in alphabetical order."""
    return [name for name in names_in(folder) if is_file(Path(folder) / name / "config.json")]


def load(name: str, folder: Path = FOLDER) -> Run:
    """Return a model of the gallery as a finished run, after checking every file of it.

    Raises:
        InputError: no such model.
        DamagedFileError: a file is missing or changed.
    """
    check_kind("name", name, "give the name of one model, as in gallery.load('base')", str)
    check_kind(
        "folder", folder, "give the folder of the gallery, or leave it out", str, os.PathLike
    )
    if name not in (known := names(folder)):
        raise InputError(PREFIX, f"there is no model '{name}'", did_you_mean(name, known))
    try:
        run = Run(Path(folder) / name)
        run.check_files()
    except (DamagedFileError, InputError) as error:  # a changed configuration may be wrong input
        raise DamagedFileError(error.where, error.what, AGAIN) from error
    return run


def find(name: str) -> Run:
    """Return the run with a name: `gallery/MODEL`, or any name that `Run.find` takes.

    Raises:
        InputError: as `Run.find`; it names the models of the gallery that fit.
    """
    return the_only(name, find_all(name))


def find_all(name: str) -> list[Run]:
    """Return the runs that `find` chooses from, at least one.

    Raises:
        InputError: as `Run.find_all`; it names the models of the gallery that fit.
    """
    parts = PurePath(name).parts
    if len(parts) == 2 and parts[0] == PREFIX and not is_file(Path(name) / "config.json"):
        return [load(parts[1])]
    try:
        return Run.find_all(name)
    except InputError as error:
        if fits := fitting(name, names()):
            listed = ", ".join(f"{PREFIX}/{model}" for model in fits)
            fix = f"{error.fix}, or use a bundled one: {listed}"
            raise InputError(error.where, error.what, fix) from error
        raise
