"""Tables in Markdown, and foreign text in it: names and sentences from files that others may have written."""

import re
import unicodedata
from collections.abc import Iterable

NUMBER = re.compile(r"[-+]?\d(?:[^A-Za-z]| to | of |e[-+]\d)*[kK]?")
"""A cell that is a number, with what may follow it: decimals, a unit sign, an interval, `3 of 8`, `-0.2 to +0.4`, `3e-05`, `9.2K`."""


# they show text in another order than it has
_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_MARKUP = re.compile(
    r"[\\`*<]"
    r"|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])"  # within a word it is a character
    r"|~(?=~)|&(?=[#A-Za-z])|!(?=\[)|\](?=[(\[:])"
)
# control characters, line and paragraph separators, halves of characters
_BREAKING = ("Cc", "Zl", "Zp", "Cs")


def visible(text: str) -> str:
    """Return text on one line that gives no command to a terminal: control and direction marks are shown by their code points."""
    shown = (
        f"⟨U+{ord(c):04X}⟩" if c in _DIRECTIONS or unicodedata.category(c) in _BREAKING else c
        for c in text
    )
    return "".join(shown)


def escape(text: str) -> str:
    """Return text that a page in Markdown shows as it is, whatever is in it: no heading, table, link or picture of another's making."""
    return _MARKUP.sub(lambda found: "\\" + found[0], visible(text))


def table(header: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table; columns of numbers are set right, columns of text left."""
    columns = zip(*rows, strict=True) if rows else [()] * len(header)
    lines = [header, ["---:" if _is_numbers(column) else "---" for column in columns], *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
    )


def _is_numbers(cells: Iterable[str]) -> bool:
    """Tell whether a column holds numbers, and else only what stands for a missing one."""
    cells = [cell for cell in cells if cell not in ("", "-") and not cell.endswith("not run")]
    return bool(cells) and all(NUMBER.fullmatch(cell) for cell in cells)
