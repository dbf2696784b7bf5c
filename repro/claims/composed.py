"""Conditions that are made of others: one that has a premise, and one that counts bins."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

from repro.claims.conditions import Condition
from repro.claims.evidence import Evidence
from repro.claims.outcomes import Judged
from repro.claims.settings import Setting
from repro.claims.structure import as_floats, bounds_in_words, function_of, system_digest
from repro.claims.testable import errors_of
from repro.statistics.intervals import Estimate, kth_largest
from repro.statistics.power import Errors


@dataclass(frozen=True)
class InBins:
    """A number that keeps a bound in most of several bins, such as sentences by length.

    The bins are judged by one joint interval: that of the smallest number that so many bins reach
    (`statistics.intervals.kth_largest`). Separate tests of all bins would err more often.

    Args:
        what: the number in words.
        numbers: computes it in each bin, given the number of comparisons; see `Check.number`.
        needed: share of the bins that must keep the bound.
        at_least: the bound.
        settings, measures: see `Check`.
    """

    what: str
    numbers: Callable[..., Sequence[Estimate]]
    needed: float
    at_least: float
    settings: tuple[Setting, ...]
    measures: tuple[str, ...] = ()
    at_most: ClassVar[None] = None
    null: ClassVar[float] = 0.0

    def number(self, evidence: Evidence) -> Estimate:
        """Return the smallest number that as many bins reach as the claim asks for."""
        return kth_largest(partial(self.numbers, evidence), self.needed)

    def judge(self, evidence: Evidence) -> Judged:
        """Judge the claim by the number that enough bins reach."""
        return Judged.by_bounds(self, self.number(evidence))

    def errors(self, evidence: Evidence, found: Estimate | None, seeds: int) -> Errors | None:
        """Return the errors of the claim's number with so many seeds."""
        return errors_of(found, seeds)

    def describe(self) -> str:
        """Say in words what the claim asks of how many bins."""
        bounds = bounds_in_words(self.at_least, None)
        return f"{self.what}, in at least {100 * self.needed:g} % of bins {bounds}"

    def structure(self, scale: str) -> list[Any]:
        """Return the structure of the claim's test, by which it is known."""
        systems = [system_digest(setting, scale) for setting in self.settings]
        function = function_of(self.numbers, scale)
        bounds = as_floats(self.needed, self.at_least)
        return ["in bins", *function, systems, list(self.measures), *bounds]


@dataclass(frozen=True)
class Given:
    """A condition that means something only if another one holds, its premise.

    Without a premise that holds it is void: a gain that is not there needs no explanation.
    """

    premise: Condition
    condition: Condition

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Return the settings that the claim and its premise compare."""
        return (*self.premise.settings, *self.condition.settings)

    @property
    def measures(self) -> tuple[str, ...]:
        """Return the kinds of records that the claim and its premise need."""
        return (*self.premise.measures, *self.condition.measures)

    @property
    def number(self) -> Callable[[Evidence], float | Estimate]:
        """Return what computes the number of the claim, not of its premise."""
        return self.condition.number

    @property
    def at_least(self) -> float | None:
        return self.condition.at_least

    @property
    def at_most(self) -> float | None:
        return self.condition.at_most

    @property
    def null(self) -> float | None:
        return self.condition.null

    def judge(self, evidence: Evidence) -> Judged:
        """Judge the claim if its premise holds; else it is void."""
        premise, judged = self.premise.judge(evidence), self.condition.judge(evidence)
        if premise.outcome == "holds":
            return replace(judged, condition=self.describe())
        if premise.outcome == "one seed":
            return replace(judged, condition=self.describe(), outcome="one seed")
        reason = f"its premise is not shown: {premise.condition}: {premise.found or premise.reason}"
        return Judged(self.describe(), "void", reason=reason)

    def errors(self, evidence: Evidence, found: Estimate | None, seeds: int) -> Errors | None:
        """Return the errors of the claim's number, not of its premise's."""
        return self.condition.errors(evidence, found, seeds)

    def describe(self) -> str:
        """Say in words what the claim asks, given its premise."""
        return f"{self.condition.describe()}, given {self.premise.describe()}"

    def structure(self, scale: str) -> list[Any]:
        """Return the structure of the claim's test and of its premise's."""
        return ["given", self.premise.structure(scale), self.condition.structure(scale)]
