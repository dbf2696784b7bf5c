"""Look up the numbers that the papers print, cell by cell, with their source.

A cell whose number is unknown is absent.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class Printed:
    """One number as a paper prints it.

    Args:
        paper: our name of the paper, such as `you2020`.
        place: table, figure or section.
        row, column, dataset, metric: the cell, in the paper's words.
        value: the number, or the numbers where the paper prints a list.
        as_printed: the characters on the page.
        source: `the paper`, or another source of the number.
        approx: whether it was read off a plot.
    """

    paper: str
    place: str
    row: str
    column: str
    dataset: str
    metric: str
    value: float | list[float]
    as_printed: str
    source: str
    approx: bool

    @property
    def number(self) -> float:
        """The number that a paper prints in a cell with a single one."""
        assert not isinstance(self.value, list)
        return self.value


def printed_numbers(paper: str, place: str, **cell: str) -> list[Printed]:
    """Return the printed numbers of a table or figure, in the order of the page.

    Args:
        paper, place: as in `Printed`.
        cell: required values of `row`, `column`, `dataset` or `metric`.
    """
    numbers = [number for number in _numbers() if number.paper == paper and number.place == place]
    return [
        number
        for number in numbers
        if all(getattr(number, key) == value for key, value in cell.items())
    ]


def quoted(paper: str, place: str, sign: str = "", **cell: str) -> str:
    """Return the numbers of printed cells for a sentence, in the order of the page.

    Args:
        paper, place, cell: as in `printed_numbers`.
        sign: `+` writes the sign of positive numbers, too.

    Raises:
        LookupError: no such cell.
    """
    found = printed_numbers(paper, place, **cell)
    if not found:
        raise LookupError(f"{paper} prints nothing at {place} {cell}")
    return ", ".join(f"{number.number:{sign}g}" for number in found)


def quoted_changes(
    paper: str, place: str, of: Mapping[str, str], minus: Mapping[str, str], **cell: str
) -> str:
    """Return the least and the largest difference of printed cells on the same dataset and metric.

    Args:
        paper, place: as in `printed_numbers`.
        of, minus: the coordinates of the two cells of a pair, such as `{"column": "base"}`.
        cell: what both have.

    Raises:
        LookupError: no such pair.
    """
    first, second = (
        {
            (one.dataset, one.metric): one.number
            for one in printed_numbers(paper, place, **cell, **side)
        }
        for side in (of, minus)
    )
    changes = [first[key] - second[key] for key in first.keys() & second.keys()]
    if not changes:
        raise LookupError(f"{paper} prints no pair {dict(of)}, {dict(minus)} at {place}")
    low, high = min(changes), max(changes)
    return f"{low:+.3g}" if low == high else f"{low:+.3g} to {high:+.3g}"


def printed_remarks(paper: str, place: str) -> list[Printed]:
    """Return the numbers that a paper's text gives about a table or figure (`Figure 3 / text`)."""
    return [
        number
        for number in _numbers()
        if number.paper == paper and number.place != place and place in number.place.split(" / ")
    ]


@cache
def _numbers() -> tuple[Printed, ...]:
    """Return all numbers that the papers print, from `numbers.json`."""
    return tuple(
        Printed(**number)
        for number in json.loads(Path(__file__).with_name("numbers.json").read_text("utf-8"))
    )
