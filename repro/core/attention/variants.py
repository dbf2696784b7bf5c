"""The registry of attention variants: name -> the module that builds it, one line each.

A module is imported when its variant is built: a misspelt name is answered before torch loads.
"""

import inspect
import types
import typing
from importlib import import_module
from typing import Annotated, Any, Literal

from repro.errors import InputError

VARIANTS = {
    "dot-product": "repro.core.attention.dot_product",
    "uniform": "repro.core.attention.uniform",
    "gaussian": "repro.core.attention.gaussian_variants",
    "fixed": "repro.core.attention.fixed_variants",
    "mixed": "repro.core.attention.mixed",
    "recurrent": "repro.core.attention.recurrent_variants",
    "synthesizer": "repro.core.attention.synthesizer",
}

FURTHER: list[Any] = []  # name -> a module for a variant that is not above, or None
PLAIN = (bool, int, float, str, dict, list, tuple, type(None))  # types of options


def further(name: str) -> types.ModuleType | None:
    """Return the module of a variant that is not in the registry; see `own_variants.py`."""
    return next(filter(None, (find(name) for find in FURTHER if name not in VARIANTS)), None)


def imported(name: str) -> types.ModuleType:
    """Return the module of a registered variant.

    Raises:
        InputError: its file is not there, no Python, or has no `build`.
    """
    module = VARIANTS.get(name, name)
    try:
        found = further(name) or import_module(module)
    except ModuleNotFoundError as error:
        if not f"{module}.".startswith(f"{error.name}."):  # its own imports are another matter
            raise
        what = f"'{name}' stands for {module}, which is not there"
        fix = "write its file, or correct the line in repro/core/attention/variants.py"
        raise InputError("VARIANTS", what, fix) from error
    except SyntaxError as error:
        where, what = f"{error.filename}:{error.lineno}", f"is no Python ({error.msg})"
        raise InputError(where, what, "correct that line") from error
    if not callable(getattr(found, "build", None)):
        fix = "write build(stack): it returns a list with an AttentionWeights a layer"
        if module.endswith(".py"):
            fix += f"; or name the one that does, as in {module}:alibi"
        raise InputError(module, "has no function build", fix)
    return found


def options_of(name: str) -> dict[str, inspect.Parameter]:
    """Return the arguments of a variant's `build` after the stack, by name.

    Raises:
        InputError: they cannot be given by name, or their types cannot be read.
    """
    build = imported(name).build
    try:
        _, *options = inspect.signature(build, eval_str=True).parameters.values()
    except NameError as error:
        what = f"a type that build names is not there ({error})"
        fix = "import it where Python does, not under `if TYPE_CHECKING`"
        raise InputError(VARIANTS.get(name, name), what, fix) from error
    except ValueError as error:
        fix = "write build(stack), and its options behind"
        raise InputError(VARIANTS.get(name, name), "build takes no argument", fix) from error
    for option in options:
        if option.kind not in (option.POSITIONAL_OR_KEYWORD, option.KEYWORD_ONLY):
            what = f"build takes '{option}', which cannot be given by name"
            fix = "write each option by itself, as in build(stack, slope: float = 1.0)"
            raise InputError(VARIANTS.get(name, name), what, fix)
    return {option.name: option for option in options}


def type_of(name: str, option: inspect.Parameter) -> Any:
    """Return the type of an option: its annotation, or else the type of its default.

    Raises:
        InputError: it has neither, or a type that values are not checked against.
    """
    if option.annotation is option.empty and option.default in (option.empty, None):
        what = f"build does not say what its option '{option.name}' is"
        fix = f"write its type, as in `def build(stack, {option.name}: float = 1.0)`"
        raise InputError(VARIANTS.get(name, name), what, fix)
    if option.annotation is option.empty:
        return type(option.default)
    if not _is_checked(option.annotation):
        hint = inspect.formatannotation(option.annotation)
        what = f"build wants its option '{option.name}' as {hint}, which is not checked"
        fix = "use bool, int, float, str, dict, a Literal, None, or list or tuple[..., ...] of them"
        raise InputError(VARIANTS.get(name, name), what, fix)
    return option.annotation


def _is_checked(hint: Any) -> bool:
    """Return whether `settings.typed` can check values against a type."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union, list):
        return all(map(_is_checked, inner))
    if origin is tuple:
        return inner[1:] == (...,) and _is_checked(inner[0])
    return origin in (Literal, Annotated) or hint in PLAIN
