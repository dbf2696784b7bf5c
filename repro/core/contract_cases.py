"""The cases in which a variant is checked: with each option at a second value, at each site."""

import inspect
import typing
from typing import Any

from repro.core.attention.variants import imported, options_of
from repro.core.config import SITES
from repro.core.contract import build_one
from repro.errors import InputError


def is_defined(spec: str, site: str) -> bool:
    """Whether a variant can be built at a site."""
    try:
        build_one(spec, site)
    except InputError:
        return False
    return True


def specs_of(name: str) -> list[str]:
    """Return a variant as it is, with each option at another value, and its file's examples.

    The other values are those that the type of an option suggests.
    """
    found, examples = [name], examples_of(name)
    for option in options_of(name).values():
        given = [f"{option.name}={value!r}" for value in _other_values(option)]
        used = [one for one in given if any(is_defined(f"{name}({one})", site) for site in SITES)]
        if typing.get_origin(option.annotation) is typing.Literal:
            # all, but what an example has beside the option that it has an effect with
            used = [
                one for one in given if one in used or not any(one in text for text in examples)
            ]
        else:
            used = used[:1]  # one that can be used will do
        found += [f"{name}({one})" for one in used]
    return [*found, *(f"{name}({example})" for example in examples)]


def examples_of(name: str) -> tuple[str, ...]:
    """Return the options that a variant's file suggests for its checks."""
    return getattr(imported(name), "EXAMPLES", ())


def refusing_sites(spec: str) -> dict[str, str]:
    """Return the sites where a variant cannot be built, with the reason.

    Raises:
        InputError: it can be built nowhere; the reason is that of the first site.
    """
    refused: dict[str, InputError] = {}
    for site in SITES:
        try:
            build_one(spec, site)
        except InputError as error:
            refused[site] = error
    if len(refused) == len(SITES):
        raise refused[SITES[0]]
    return {site: f"{error.what}. Fix: {error.fix}" for site, error in refused.items()}


def _other_values(option: inspect.Parameter) -> list[Any]:
    """Return values of an option's type besides its default."""
    hint = option.annotation if option.annotation is not option.empty else type(option.default)
    hints = (
        [hint, *typing.get_args(hint)] if typing.get_origin(hint) is not typing.Literal else [hint]
    )
    values: list[Any] = []
    for one in hints:
        if typing.get_origin(one) is typing.Literal:
            values += typing.get_args(one)
        elif one is bool:
            values += [True, False]
        elif one in (int, float):
            start = option.default if isinstance(option.default, int | float) else 1
            values += [one(start + 1), one(2 * start), one(3), one(1), one(start / 2)]
    return [value for value in values if value != option.default]
