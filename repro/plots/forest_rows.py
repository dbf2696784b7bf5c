"""Lay out the rows of a forest plot: what stands on which line, and how it is marked."""

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from repro.plots.style import COLORS, INK

GAP = 0.7  # lines between effects
COLUMNS = {"heading": 62, "number": 72}  # letters of a line, in bold and in plain type


class Look(NamedTuple):
    """How a kind of number is marked: in the legend, by color and by symbol."""

    name: str
    color: str
    symbol: str
    size: int = 9


PRINTED = Look("printed in the paper", COLORS[2], "diamond")
OUTCOMES = {
    "holds": Look("holds", COLORS[0], "circle"),
    "fails": Look("fails", COLORS[1], "x"),
    "undecided": Look("undecided", INK, "circle-open"),
    "not testable here": Look("not testable here", INK, "square-open"),
}
LIKELIHOODS = {
    outcome: Look(f"{outcome} by likelihood", color, symbol, 7)
    for outcome, color, symbol in (
        ("holds", COLORS[0], "triangle-up"),
        ("fails", COLORS[1], "triangle-down"),
        ("undecided", INK, "triangle-up-open"),
        ("not testable here", INK, "triangle-down-open"),
    )
}
LOOKS = (*OUTCOMES.values(), *LIKELIHOODS.values(), PRINTED)
Scale = Callable[[float], float]


class Reading(NamedTuple):
    """A number with the ends of its interval, and its outcome, a key of `OUTCOMES`.

    The ends are the number itself if it has no interval.
    """

    value: float
    low: float
    high: float
    outcome: str


@dataclass(frozen=True)
class EffectRow:
    """What was found in one place.

    Args:
        label: the place, such as a corpus.
        score: the number; None if there is none.
        text: the number as it is written beside the row.
        likelihood: the same effect by likelihood, in units of the score.
    """

    label: str
    score: Reading | None
    text: str
    likelihood: Reading | None = None


@dataclass(frozen=True)
class Effect:
    """A number with bounds: what is printed of it, and what was found.

    Args:
        heading: above it; empty to continue the effect before.
        number: what it is, in words.
        rows: one per place.
        at_least, at_most: the bounds; None = none.
        printed: published values.
    """

    heading: str
    number: str
    rows: Sequence[EffectRow]
    at_least: float | None = None
    at_most: float | None = None
    printed: Sequence[float] = ()

    def numbers(self) -> Iterator[float]:
        """Yield everything that is drawn of it."""
        yield from (bound for bound in (self.at_least, self.at_most) if bound is not None)
        yield from self.printed
        for row in self.rows:
            for reading in filter(None, (row.score, row.likelihood)):
                yield from reading[:3]


@dataclass
class Panel:
    """The lines of a group from top to bottom, and what is drawn between them."""

    axis: str
    own_scales: bool
    lines: float = 0.4
    texts: list[tuple[float, str, str]] = field(default_factory=list)  # line, column, text
    labels: list[tuple[float, str]] = field(default_factory=list)  # line, name of the row
    spans: list[tuple[float, float, Effect]] = field(default_factory=list)  # first line, last line
    marks: list[tuple[float, Look, Reading, str]] = field(default_factory=list)  # line, ...

    def write(self, text: str, column: str) -> None:
        """Write a text over as many lines as it needs."""
        for part in textwrap.wrap(text, COLUMNS[column], break_on_hyphens=False):
            self.texts.append((self.lines, column, part))
            self.lines += 1

    def add(self, effect: Effect) -> None:
        """Add the lines of an effect below the others."""
        place = own_scale(effect) if self.own_scales else same
        self.write(effect.heading, "heading")
        self.write(effect.number, "number")
        first = self.lines - 0.5
        if effect.printed:
            self.labels.append((self.lines, "printed"))
            for value in effect.printed:
                self._mark(Reading(value, value, value, "printed"), PRINTED, place)
            self.lines += 1
        for row in effect.rows:
            self.labels.append((self.lines, row.label))
            self.texts.append((self.lines, "text", row.text))
            if row.score:
                self._mark(row.score, OUTCOMES[row.score.outcome], place)
            if row.likelihood:
                self.lines += 0.5
                self._mark(row.likelihood, LIKELIHOODS[row.likelihood.outcome], place)
            self.lines += 1
        self.spans.append((first, self.lines - 0.5, effect))
        self.lines += GAP

    def _mark(self, found: Reading, look: Look, place: Scale) -> None:
        low, value, high = (place(number) for number in (found.low, found.value, found.high))
        said = f"{found.value:.4g}, {found.outcome}"
        if found.low < found.high:
            said = f"{found.value:.4g} ({found.low:.4g} to {found.high:.4g}), {found.outcome}"
        reading = Reading(value, min(low, high), max(low, high), found.outcome)
        self.marks.append((self.lines, look, reading, said))


def same(value: float) -> float:
    return value


def own_scale(effect: Effect) -> Scale:
    """Return the scale of an effect: -1 to 1 with its bound, or the middle of two, at 0."""
    bounds = [bound for bound in (effect.at_least, effect.at_most) if bound is not None]
    middle = sum(bounds) / len(bounds) if bounds else 0.0
    sign = -1 if effect.at_least is None and bounds else 1
    reach = max((abs(number - middle) for number in effect.numbers()), default=0) or 1
    return lambda value: sign * (value - middle) / reach
