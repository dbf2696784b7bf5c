"""Outcomes of conditions and verdicts on claims: what an interval decides, and in which words.

    all hold                              reproduced
    some hold, some fail                  partly
    none holds, some fail                 not reproduced
    no data                               not run
    none fails, one cannot be decided     not testable here
    anything else                         undecided

A condition cannot be decided where its number does not exist (such as a mean over no heads), where
its premise is not shown, or where nothing that the claim may mean is likely to be found
(`repro.claims.testable`). More seeds of the same kind do not help then; they help what is
undecided.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from repro.statistics.intervals import Estimate

Outcome = Literal["holds", "fails", "open", "one seed", "not testable", "void"]
Status = Literal[
    "not reproduced", "partly", "undecided", "not testable here", "not run", "reproduced"
]
# In the order in which a report lists them.
STATUSES: tuple[Status, ...] = (
    "not reproduced",
    "partly",
    "undecided",
    "not testable here",
    "not run",
    "reproduced",
)
DECIDED: tuple[Status, ...] = ("not reproduced", "partly", "reproduced")
Agreement = Literal["agrees", "disagrees", "decides", "open"]
AGREEMENTS: tuple[Agreement, ...] = ("agrees", "disagrees", "decides", "open")
"""What likelihood says beside a status."""


class Bounded(Protocol):
    """An inequality in words, and its bounds; None = none."""

    @property
    def at_least(self) -> float | None: ...

    @property
    def at_most(self) -> float | None: ...

    def describe(self) -> str: ...


class Power(NamedTuple):
    """The chance that a condition holds, were the true number another one.

    Args:
        truth: the number.
        of: what it is, such as `as reported`.
        chance: from 0 to 1.
    """

    truth: float
    of: str
    chance: float

    def __str__(self) -> str:
        return f"{100 * self.chance:.0f} % at {self.truth:+.2g} ({self.of})"


@dataclass(frozen=True)
class Judged:
    """The outcome of a condition.

    Args:
        condition: in words.
        outcome: see the module.
        found: the number that it is about; None where there is none.
        reason: why there is none, or why it cannot be decided.
        power: the chances that it holds by what was known before its number.
        likelihood: the same in nats per token; None where that is not known.
    """

    condition: str
    outcome: Outcome
    found: Estimate | None = None
    reason: str = ""
    power: tuple[Power, ...] = ()
    likelihood: "Judged | None" = None

    @classmethod
    def by_bounds(cls, condition: Bounded, found: Estimate) -> "Judged":
        """Decide a condition of a claim by comparing its number with its bounds."""
        if math.isnan(found.value):
            return cls(condition.describe(), "void", reason="is not a number")
        return cls(
            condition.describe(),
            decide(*found.bounds, condition.at_least, condition.at_most),
            found,
        )

    def said(self, planned: int) -> str:
        """Write it in a line.

        Args:
            planned: the number of seeds that its power is of; 0 = not said.
        """
        said = [str(self.found)] if self.found else []
        said += [self.reason] if self.reason else []
        with_seeds = f" with {planned} seeds" if planned > 1 else ""
        said += [f"power{with_seeds} {', '.join(map(str, self.power))}"] if self.power else []
        said += [f"by likelihood {self.likelihood.said(0)}"] if self.likelihood else []
        return f"{self.outcome}: {self.condition}: {'; '.join(said)}"

    def __str__(self) -> str:
        return self.said(0)


@dataclass(frozen=True)
class Verdict:
    """The verdict on a claim.

    Args:
        claim: its name.
        status: see `STATUSES`.
        conditions: the outcome of each; none if the claim was not run.
        missing: why it was not run.
        planned: how many seeds of each system the claim asks for; 0 = not said.
        first_look: the fewest and the most seeds when a verdict was first stored.
        power: of each condition of a claim that was not run; that of others is in `conditions`.
        history: a line for each earlier verdict that was given up after its result was known.
    """

    claim: str
    status: Status
    conditions: tuple[Judged, ...] = ()
    missing: str = ""
    planned: int = 0
    first_look: tuple[int, int] | None = None
    power: tuple[tuple[Power, ...], ...] = ()
    history: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """The reason for the verdict, in one line."""
        return self.missing or _reason(self.status, self.conditions)

    @property
    def evidence(self) -> tuple[str, ...]:
        """One line per condition, with numbers."""
        return tuple(judged.said(self.planned) for judged in self.conditions)

    @property
    def seeds(self) -> tuple[int, int] | None:
        """The fewest and the most seeds of the systems behind its numbers; None without any."""
        found = [c.found.seeds for c in self.conditions if c.found and c.found.seeds]
        return (min(few for few, _ in found), max(many for _, many in found)) if found else None

    @property
    def seeds_said(self) -> str:
        """How its seeds differ from the plan, in words; empty if they do not."""
        if not (self.seeds and self.planned):
            return ""
        few, many = self.seeds
        said = [f"{few} of {self.planned} planned seeds"] if few < self.planned else []
        looked = self.first_look or self.seeds
        # after a verdict that was given up with its records there may be fewer than at first
        added = few > looked[0] or many > looked[1]
        if many > self.planned or added:
            since = f"after a look at {looked[0]}" if added else "beyond the plan, after a look"
            said += [f"up to {many} seeds, some added {since}"]
        return "; ".join(said)

    @property
    def likelihood(self) -> Agreement | None:
        """What likelihood says beside the status; None if it is known of no condition."""
        if not any(judged.likelihood for judged in self.conditions):
            return None
        outcomes = [(judged.likelihood or judged).outcome for judged in self.conditions]
        return agreement(self.status, combine(outcomes))

    @property
    def said(self) -> str:
        """The verdict, and what likelihood says beside it."""
        return f"{self.status}; likelihood: {self.likelihood}" if self.likelihood else self.status

    @property
    def notes(self) -> tuple[str, ...]:
        """What else a reader must know, one line each: missing or added seeds, power, history."""
        seeds = [f"seeds: {self.seeds_said}"] if self.seeds_said else []
        power = ["; ".join(map(str, of)) for of in self.power if of]
        changed = [f"changed after the result: {line}" for line in self.history]
        return (*seeds, *(f"power before its runs: {of}" for of in power), *changed)

    @property
    def is_of_one_seed(self) -> bool:
        """Whether a number of one seed decides a condition, and so the verdict.

        A number that leaves its condition open or void decides nothing.
        """
        decisive = (found.found for found in self.conditions if found.outcome in ("holds", "fails"))
        return self.status in DECIDED and any(
            found is not None and found.is_of_one_seed for found in decisive
        )


def decide(low: float, high: float, at_least: float | None, at_most: float | None) -> Outcome:
    """Decide a condition: compare an interval with bounds; a number is an interval of a point."""
    if low != low or high != high:
        return "void"
    # An estimate is unbounded if seed-to-seed variation is unknown.
    if (low, high) == (-math.inf, math.inf):
        return "one seed"
    if (at_least is not None and high < at_least) or (at_most is not None and low > at_most):
        return "fails"
    if (at_least is None or low >= at_least) and (at_most is None or high <= at_most):
        return "holds"
    return "open"


def agreement(status: Status, by_likelihood: Status) -> Agreement:
    """Compare the status of a claim with the one that it would have by likelihood."""
    if by_likelihood not in DECIDED:
        return "open"
    if status not in DECIDED:
        return "decides"
    return "agrees" if by_likelihood == status else "disagrees"


def combine(outcomes: Sequence[Outcome]) -> Status:
    """Return the status of a claim from the outcomes of its conditions."""
    holds, fails = outcomes.count("holds"), outcomes.count("fails")
    if holds == len(outcomes):
        return "reproduced"
    if fails:
        return "partly" if holds else "not reproduced"
    if "one seed" in outcomes:
        return "undecided"
    return "not testable here" if {"void", "not testable"} & {*outcomes} else "undecided"


def _reason(status: Status, conditions: Sequence[Judged]) -> str:
    """Return the reason for the status of a claim, from the outcomes of its conditions."""
    outcomes = [condition.outcome for condition in conditions]
    counts = f"{outcomes.count('holds')} of {len(outcomes)} conditions hold"
    counts += f", {outcomes.count('fails')} fail"
    if status == "not testable here":
        return next(c.reason for c in conditions if c.outcome in ("void", "not testable"))
    if "fails" in outcomes:
        return counts
    reasons = {
        "open": "the interval is too wide for the bound",
        "one seed": "one seed does not tell what another would give: "
        "repro run with --seeds 2 or more does",
        "void": "a number does not exist",
    }
    return "; ".join(
        [counts, *(reason for outcome, reason in reasons.items() if outcome in outcomes)]
    )
