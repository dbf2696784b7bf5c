"""The registry of attention variants: name -> the module that builds it, one line each.

A module is imported when its variant is built, so that a misspelt name is answered before torch is
loaded.
"""

import inspect
import types
import typing
from collections.abc import Callable
from importlib import import_module
from typing import Any, Literal

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


def imported(name: str) -> types.ModuleType:
    """Return the module of a registered variant.

    Raises:
        InputError: its file is not there, no Python, or has no `build`.
    """
    module = VARIANTS[name]
    try:
        found = import_module(module)
    except ModuleNotFoundError as error:
        if not f"{module}.".startswith(f"{error.name}."):  # its own imports are another matter
            raise
        what = f"'{name}' stands for {module}, which is not there"
        raise InputError(
            "VARIANTS", what, "write its file, or mend the line in repro/core/attention/variants.py"
        ) from error
    except SyntaxError as error:
        raise InputError(
            f"{error.filename}:{error.lineno}", f"is no Python ({error.msg})", "mend that line"
        ) from error
    if not callable(getattr(found, "build", None)):
        raise InputError(
            module,
            "has no function build",
            "write build(stack): it returns a list with an AttentionWeights a layer",
        )
    return found


def _options_of(name: str, build: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the arguments of `build` behind the stack, by name."""
    try:
        _, *options = inspect.signature(build, eval_str=True).parameters.values()
    except NameError as error:
        mend = "import it where Python does, not under `if TYPE_CHECKING`"
        raise InputError(
            VARIANTS[name], f"a type that build names is not there ({error})", mend
        ) from error
    except ValueError as error:
        raise InputError(
            VARIANTS[name], "build takes no argument", "write build(stack), and its options behind"
        ) from error
    for option in options:
        if option.kind not in (option.POSITIONAL_OR_KEYWORD, option.KEYWORD_ONLY):
            what = f"build takes '{option}', which cannot be given by name"
            raise InputError(
                VARIANTS[name],
                what,
                "write each option as an argument of its own, as in build(stack, slope: float = 1.0)",
            )
    return {option.name: option for option in options}


def _type_of(name: str, option: inspect.Parameter) -> Any:
    """Return the type that an option wants: its annotation, or else that of its default."""
    if option.annotation is not option.empty:
        if not _is_checked(option.annotation):
            what = f"build wants its option '{option.name}' as {inspect.formatannotation(option.annotation)}, which is not checked"
            mend = "use bool, int, float, str, dict, a Literal, None, or list[...] or tuple[..., ...] of one of them"
            raise InputError(VARIANTS[name], what, mend)
        return option.annotation
    if option.default is option.empty or option.default is None:
        mend = f"write its type, as in `def build(stack, {option.name}: float = 1.0)`"
        raise InputError(
            VARIANTS[name], f"build does not say what its option '{option.name}' is", mend
        )
    return type(option.default)


def _is_checked(hint: Any) -> bool:
    """Whether `typed` can tell which values have a type."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union, list):
        return all(map(_is_checked, inner))
    if origin is tuple:
        return inner[1:] == (...,) and _is_checked(inner[0])
    return origin is Literal or hint in (bool, int, float, str, dict, list, tuple, type(None))
