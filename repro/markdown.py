"""Tables in Markdown."""

import re
from collections.abc import Iterable

NUMBER = re.compile(r"[-+]?\d(?:[^A-Za-z]| to | of |e[-+]\d)*[kK]?")
"""A cell that is a number, with what may follow it: decimals, a unit sign, an interval, `3 of 8`, `-0.2 to +0.4`, `3e-05`, `9.2K`."""


def table(header: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table; columns of numbers are set right, columns of text left."""
    columns = zip(*rows, strict=True) if rows else [()] * len(header)
    lines = [header, ["---:" if _is_numbers(column) else "---" for column in columns], *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _is_numbers(cells: Iterable[str]) -> bool:
    """Tell whether a column holds numbers, and else only what stands for a missing one."""
    cells = [cell for cell in cells if cell not in ("", "-") and not cell.endswith("not run")]
    return bool(cells) and all(NUMBER.fullmatch(cell) for cell in cells)
