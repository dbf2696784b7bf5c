"""The structure of a test as JSON values, which identify it, and its bounds in words."""

from collections.abc import Callable
from functools import partial
from typing import Any

from repro.claims.settings import Setting

POSITIVE = 1e-9
"""The bound of a number that must be more than 0."""


def system_digest(setting: Setting, scale: str) -> str:
    """Return the digest of the configuration of a setting, which all its seeds share."""
    return setting.config(scale).group_key()


def function_of(number: Callable[..., Any], scale: str) -> list[Any]:
    """Return the name of the function behind a condition, and its arguments, as JSON values."""
    if not isinstance(number, partial):
        return [number.__name__.lstrip("_"), {}]
    given = {
        name: system_digest(value, scale) if isinstance(value, Setting) else value
        for name, value in number.keywords.items()
    }
    return [number.func.__name__.lstrip("_"), given]


def as_floats(*bounds: float | None) -> list[float | None]:
    """Return a condition's bounds as stored in its structure: 1 and 1.0 are the same."""
    return [None if bound is None else float(bound) for bound in bounds]


def bounds_in_words(at_least: float | None, at_most: float | None) -> str:
    """Return a condition's bounds as an inequality without its left side."""
    bounds = ["> 0" if at_least == POSITIVE else f">= {at_least:g}"] if at_least is not None else []
    bounds += [f"<= {at_most:g}"] if at_most is not None else []
    return " and ".join(bounds)
