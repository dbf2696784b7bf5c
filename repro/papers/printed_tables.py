"""Render numbers that a paper prints, with no row of ours or with our corpus beside them."""

import re
from collections.abc import Sequence

from repro.claims.evidence import Evidence
from repro.claims.settings import Setting
from repro.data.sizes import corpus_statistics
from repro.errors import MachineError
from repro.markdown import table
from repro.papers.printed import Printed, printed_numbers, printed_remarks

NOT_PRINTED = "not known"


def printed_table(cells: Sequence[Printed]) -> str:
    """Return printed numbers without a row of ours, one below the other."""
    rows = [[c.row, c.column, c.metric, c.dataset, _in_words(c)] for c in cells]
    return table(["printed", "what", "unit", "corpus", "number"], rows)


def _in_words(cell: Printed) -> str:
    """Write the numbers of a cell as the paper prints them."""
    numbers = cell.value if isinstance(cell.value, list) else [cell.value]
    return ", ".join(_as_on_the_page(number, cell.as_printed) for number in numbers) + (
        " (read off a plot)" if cell.approx else ""
    )


def _as_on_the_page(number: float, text: str) -> str:
    """Write a number with the digits that the paper prints (30.0, not 30).

    A number that the text abbreviates (9.2K) is written in full.
    """
    printed = re.findall(r"\d[\d,]*\d(?:\.\d+)?|\d(?:\.\d+)?", text)
    sizes = {float(digits.replace(",", "")): digits for digits in reversed(printed)}
    return "-" * (number < 0) + sizes.get(abs(number), f"{abs(number):,.10g}")


def printed_grid(cells: Sequence[Printed], heading: str) -> str:
    """Return printed numbers as a table: the paper's rows by its datasets and columns."""
    varied = [
        name for name in ("dataset", "column") if len({getattr(cell, name) for cell in cells}) > 1
    ]
    heading += "" if "dataset" in varied else f", {cells[0].dataset}"
    found = {
        (cell.row, ", ".join(getattr(cell, name) for name in varied)): cell.as_printed
        for cell in cells
    }
    if len(found) < len(cells):
        raise ValueError(
            f"{len(cells)} printed numbers have {len(found)} places in a grid: their rows need "
            "other names"
        )
    columns = list(dict.fromkeys(column for _, column in found))
    names = list(dict.fromkeys(row for row, _ in found))
    numbers = {name: int(number[0]) for name in names if (number := re.match(r"\d+", name))}
    # Rows of several corpora would otherwise follow corpus by corpus.
    if len(numbers) == len(names):
        names.sort(key=numbers.__getitem__, reverse=numbers[names[0]] == max(numbers.values()))
    return table(
        [heading, *columns],
        [[name, *(found.get((name, column), "-") for column in columns)] for name in names],
    )


def remarks_of(paper: str, place: str) -> str:
    """Return the numbers that a paper's text gives about a table or figure, as text."""
    found = printed_remarks(paper, place)
    return printed_table(found) if found else f"Printed numbers of {place}: {NOT_PRINTED}."


def corpus_table(evidence: Evidence, paper: str, place: str, setting: Setting) -> str:
    """Return the sizes and lengths of the paper's corpora and of ours."""
    cells = printed_numbers(paper, place)
    columns = list(dict.fromkeys(cell.column for cell in cells))
    body = [
        [
            row,
            *(
                next((c.as_printed for c in cells if (c.row, c.column) == (row, column)), "-")
                for column in columns
            ),
        ]
        for row in dict.fromkeys(cell.row for cell in cells)
    ]
    data = setting.config(evidence.scale).data
    try:
        found = corpus_statistics(data.corpus, data.source, data.target)
        ours = [
            f"{found.train_pairs:,}",
            f"{found.test_pairs:,}",
            f"{found.source_length:.1f}",
            f"{found.target_length:.1f}",
        ]
    except MachineError:
        ours = ["needs its corpus"] + ["-"] * (len(columns) - 1)
    return table(
        ["corpus", *columns],
        [*body, [f"ours, lengths in words: {data.corpus} {data.source}-{data.target}", *ours]],
    )
