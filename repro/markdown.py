"""Write tables in Markdown, and escape foreign text such as names and sentences from files."""

import re
import unicodedata
from collections.abc import Iterable

NUMBER = re.compile(r"[-+]?\d(?:[^A-Za-z]| to | of |e[-+]\d)*[kK]?")
"""A cell with a number, and what may follow: decimals, unit signs, intervals.

Examples: `3 of 8`, `-0.2 to +0.4`, `3e-05`, `9.2K`.
"""


# These characters change the order in which text is shown.
_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_MARKUP = re.compile(
    r"[\\`*<]"
    r"|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])"  # markup only at the edge of a word
    r"|~(?=~)|&(?=[#A-Za-z])|!(?=\[)|\](?=[(\[:])"
)
# Control characters, line and paragraph separators, halves of characters.
_BREAKING = ("Cc", "Zl", "Zp", "Cs")


def visible(text: str) -> str:
    """Return text on one line without control or direction marks, which become code points.

    It gives no command to a terminal.
    """
    shown = (
        f"⟨U+{ord(c):04X}⟩" if c in _DIRECTIONS or unicodedata.category(c) in _BREAKING else c
        for c in text
    )
    return "".join(shown)


def escape(text: str) -> str:
    """Escape text so that a page in Markdown shows it as it is.

    It cannot make a heading, table, link or picture.
    """
    return _MARKUP.sub(lambda found: "\\" + found[0], visible(text))


def table(header: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table; columns of numbers are right-aligned, others left-aligned."""
    columns = zip(*rows, strict=True) if rows else [()] * len(header)
    lines = [header, ["---:" if _is_numbers(column) else "---" for column in columns], *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
    )


def _is_numbers(cells: Iterable[str]) -> bool:
    """Whether a column holds numbers, apart from signs for missing ones."""
    cells = [cell for cell in cells if cell not in ("", "-") and not cell.endswith("not run")]
    return bool(cells) and all(NUMBER.fullmatch(cell) for cell in cells)
