"""Load functions from files of your own: `my.py:alibi` is the function alibi of my.py.

Attention variants are looked for in such files and in installed packages, besides the registry:

    my.py                  the function `build` of a file, found from here or from REPRO_VARIANTS
    my.py:alibi            another function of it
    alibi                  of an installed package with the entry point
                           [project.entry-points."repro.variants"] alibi = "package.module:build"
"""

import hashlib
import importlib.machinery
import importlib.util
import inspect
import os
import sys
import traceback
import types
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from repro.core.attention.variants import FURTHER, VARIANTS
from repro.errors import InputError, did_you_mean, shortened
from repro.reading import is_file, read_plain

FOLDER = "REPRO_VARIANTS"
"""Environment variable for the folder of your own files, if it is not the current one."""
ENTRY_POINTS = "repro.variants"
PACKAGE = str(Path(__file__).parents[1]) + os.sep
_files: set[str] = set()  # of your own, imported or tried
_modules: dict[str, types.ModuleType] = {}  # of these files, by path and text


class AbsentFileError(InputError):
    """A file of your own is not here: of what was made with it, not all can be checked."""


def is_own_file(name: str) -> bool:
    """Whether a name is that of a file, maybe with a function of it."""
    return name.partition(":")[0].endswith(".py")


def path_of(name: str) -> Path:
    """Return the path of a file of your own.

    Raises:
        AbsentFileError: it is not there.
    """
    file, folder = name.partition(":")[0], os.environ.get(FOLDER)
    places = [Path(file), *([Path(folder) / file] if folder else [])]
    for path in places:
        if is_file(path):
            return path
    looked = " and ".join(str(path.absolute().parent) for path in places)
    fix = f"start where it is, or set {FOLDER} to its folder"
    raise AbsentFileError(file, f"is not in {looked}", fix)


class _AsItIsNow(importlib.machinery.SourceFileLoader):
    """Load the file itself: what Python keeps compiled may be of an older one, of the same second
    and size."""

    def path_stats(self, path: Any) -> dict[str, Any]:
        """Have nothing to compare kept modules with, so that none is taken and none is written."""
        raise OSError


def own_module(name: str) -> types.ModuleType:
    """Import a file of your own; edited, it is imported again.

    Raises:
        InputError: it is not there.
        SyntaxError: it is not Python.
    """
    path = path_of(name).resolve()
    digest = hashlib.sha256(str(path).encode() + read_plain(path)).hexdigest()
    if digest not in _modules:
        # errors name the module of a class, so it has the name of the file
        loader = _AsItIsNow(path.name, str(path))
        spec = importlib.util.spec_from_file_location(path.name, path, loader=loader)
        assert spec
        module = importlib.util.module_from_spec(spec)
        _files.add(str(path))
        sys.modules[path.name] = module  # where dataclasses look for it
        loader.exec_module(module)
        _modules[digest] = module
    return _modules[digest]


def own_function(name: str) -> Callable[..., Any]:
    """Return the function of a file of your own, `my.py:alibi`.

    Raises:
        InputError: no function is named, or it is not there.
    """
    module, function = own_module(name), name.partition(":")[2]
    found = getattr(module, function, None)
    if callable(found):
        return found
    functions = [
        key
        for key, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__
    ]
    what = f"has no function '{function}'" if function else "is named without a function"
    raise InputError(name.partition(":")[0], what, did_you_mean(function, functions))


@cache
def installed() -> dict[str, EntryPoint]:
    """Return the variants of installed packages by name, except names of the registry."""
    found = entry_points(group=ENTRY_POINTS)
    return {entry.name: entry for entry in found if entry.name not in VARIANTS}


def own_variant(name: str) -> types.ModuleType | None:
    """Return a module with the `build` of your own variant; None if the name is not of that form.

    Raises:
        InputError: a file or its function is not there.
    """
    if is_own_file(name):
        return (
            _with_build(own_module(name), own_function(name)) if ":" in name else own_module(name)
        )
    if name in installed():
        entry = installed()[name]
        return _with_build(import_module(entry.module), entry.load())
    return None


def _with_build(module: types.ModuleType, build: Callable[..., Any]) -> types.ModuleType:
    """Return a copy of a module with another `build`, described by that function."""
    found = types.ModuleType(module.__name__, build.__doc__ or module.__doc__)
    found.__dict__.update({"EXAMPLES": getattr(module, "EXAMPLES", ()), "build": build})
    return found


def own_mistake(error: Exception) -> InputError | None:
    """Return an error of the code in your own file as a line about it; None for other errors.

    What such a file calls with wrong arguments may fail in ours, so its line counts, and not the
    last one. A variant in our package is blamed only for what fails in it.
    """
    files = _files | _files_of_variants()
    places = [(step.filename, step.lineno) for step in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError):  # it was read, and is not in the traceback
        places.append((error.filename or "", error.lineno))
    places = [place for place in places if place[0] in files or place[0].startswith(PACKAGE)]
    outside = [place for place in places if not place[0].startswith(PACKAGE)]
    file, line = (outside or places or [("", None)])[-1]
    if file not in files:
        return None
    said = shortened(str(error).partition("\n")[0], 120)  # C++ adds its stack
    return InputError(
        f"{Path(file).name}:{line}",
        f"{type(error).__name__}: {said}".removesuffix(": "),
        "correct that line if it is yours, else report it; --debug shows the traceback",
    )


def _files_of_variants() -> set[str]:
    """Return the files of registered and installed variants, even of one that is no Python."""
    found = set()
    for module in {*VARIANTS.values(), *(entry.module for entry in installed().values())}:
        with suppress(ImportError, ValueError):
            spec = importlib.util.find_spec(module)
            found.add(spec.origin or "" if spec else "")
    return found - {""}


FURTHER.append(own_variant)
