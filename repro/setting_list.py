"""List every setting: what it does, its type, its default, and the scales with another one."""

import json
from dataclasses import dataclass, fields
from typing import Any

from repro.core.config import RunConfig
from repro.core.settings import hints_of, in_words, members, range_in_words
from repro.markdown import table
from repro.scales import SCALES


@dataclass(frozen=True)
class Listed:
    """A setting as pages and `repro settings` show it.

    Args:
        name: such as `data.corpus`.
        what: it does, in a line.
        kind: its type and range in words.
        usual: its default, as it is written in KEY=VALUE.
        elsewhere: the scales with another default, by that default.
    """

    name: str
    what: str
    kind: str
    usual: str
    elsewhere: dict[str, list[str]]

    @property
    def defaults(self) -> str:
        """All defaults in words, such as `default 2; 4 at enja`."""
        others = (f"{value} at {', '.join(scales)}" for value, scales in self.elsewhere.items())
        return "; ".join([f"default {self.usual}", *others])


def list_settings(beginning: str = "") -> list[Listed]:
    """Return the settings whose names begin so, in the order of the configuration."""
    names = [
        (part.name, option.name)
        for part in fields(RunConfig)
        for option in fields(getattr(RunConfig(), part.name))
    ]
    return [
        _listed(part, option) for part, option in names if f"{part}.{option}".startswith(beginning)
    ]


def settings_page() -> str:
    """Return the tables of all settings for the documentation, one for each part."""
    parts = []
    for part in fields(RunConfig):
        rows = [
            [f"`{of.name}`", of.what, of.kind, of.defaults] for of in list_settings(f"{part.name}.")
        ]
        title = (type(getattr(RunConfig(), part.name)).__doc__ or "").partition("\n")[0]
        parts += [f"## {title.rstrip('.')}", table(["setting", "what", "type", "defaults"], rows)]
    return "\n\n".join(parts)


def type_in_words(hint: Any) -> str:
    """Return a type with its range in words, such as `int, at least 1`."""
    return " or ".join(
        f"{in_words(kind)}, {range_in_words(meta)}" if meta else in_words(kind)
        for kind, meta in members(hint).items()
    )


def _listed(part: str, option: str) -> Listed:
    cls: type = type(getattr(RunConfig(), part))
    usual, elsewhere = getattr(cls, option), dict[str, list[str]]()
    for scale, config in SCALES.items():
        if (value := getattr(getattr(config, part), option)) != usual:
            elsewhere.setdefault(_written(value), []).append(scale)
    (what,) = (found.metadata["what"] for found in fields(cls) if found.name == option)
    kind = type_in_words(hints_of(cls)[option])
    return Listed(f"{part}.{option}", what, kind, _written(usual), elsewhere)


def _written(value: object) -> str:
    """Return a value as it is written in KEY=VALUE."""
    return value if isinstance(value, str) else json.dumps(value)
