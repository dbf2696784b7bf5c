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
import types
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from repro.core.attention.variants import FURTHER, VARIANTS
from repro.errors import InputError, did_you_mean
from repro.reading import is_file, read_plain

FOLDER = "REPRO_VARIANTS"
"""Environment variable for the folder of your own files, if it is not the current one."""
ENTRY_POINTS = "repro.variants"
MODULES = "repro_own_"  # the beginning of the names of modules from your own files


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
    digest = hashlib.sha256(str(path).encode() + read_plain(path)).hexdigest()[:12]
    module = f"{MODULES}{path.stem}_{digest}"
    if module not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            module, path, loader=_AsItIsNow(module, str(path))
        )
        assert spec and spec.loader
        sys.modules[module] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(sys.modules[module])
        except BaseException:
            del sys.modules[module]
            raise
    return sys.modules[module]


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


def is_of_a_variant(file: str) -> bool:
    """Whether a file is that of an imported variant, maybe your own."""
    names = {*VARIANTS.values(), *(entry.module for entry in installed().values())}
    modules = [module for name, module in sys.modules.items() if name in names or MODULES in name]
    return file in {getattr(module, "__file__", None) for module in modules}


FURTHER.append(own_variant)
