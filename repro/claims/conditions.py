"""Claims of the papers, each with a test, and verdicts computed from records.

Margins were fixed before the runs; `results/claims/CHANGES.md` lists the tests that were changed
since, and why. The number of seeds was
not: it stands in the evidence, and a verdict is computed anew when more have been trained. Of
    intervals of 95 % that are looked at again
and again, more than one in twenty misses the truth at some time, so a verdict near its bound may
yet turn over.

The tests were written for the test set `test`, and its verdicts are the ones that count. The same
conditions may be put to other sets that the same models translated, or to several taken as one
(`pooling.py`): that came later, and is kept beside.

A claim holds or not by its conditions. A condition on BLEU is decided by the 95 % interval, over
test sentences and training seeds, of a weighted sum of scores: it holds if the whole interval keeps
the bound, fails if the whole interval breaks it, and is open otherwise. It is also open while
nothing tells how much seeds matter: no system of the scale has several, or, for what a mask changes
within a model, none was masked for several. A condition on another number that has an interval
(speed, accuracies) is decided by that; over pairs or heads of a single seed it knows nothing of
other seeds, and the evidence says so. One without (heads counted in a single model, parameters) is
decided by the number. (The second condition of Y-10 asks only that no growth is shown: it compares
the lower end of an interval with its bound, so it holds the more easily the less is known.) A
condition whose number does not exist, such as a mean over no heads, is void: it neither holds nor
fails.

Where the true number lies at the bound, an interval of 95 % is wholly on either side of it about
once in forty times; where it lies farther off, more seldom on the wrong one. It is not widened for
the number of conditions: that all of them hold by luck is no likelier than that one does, but of
many, one fails by luck more easily.

    all hold: reproduced     some hold, some fail: partly     none holds, some fail: not reproduced     else: undecided     no data: not run

A test is named by its structure: weights, systems (their configurations without the seed), bounds,
    and the function of a number with its
arguments. Its words are free.
"""

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Protocol

from repro.claims.arms import Arm
from repro.claims.evidence import Evidence, NotMeasured
from repro.statistics.intervals import Estimate, Undefined

Outcome = Literal["holds", "fails", "open", "one seed", "void"]
Status = Literal["not reproduced", "partly", "undecided", "not run", "reproduced"]
# as a report lists them
STATUSES: tuple[Status, ...] = ("not reproduced", "partly", "undecided", "not run", "reproduced")
DECIDED: tuple[Status, ...] = ("not reproduced", "partly", "reproduced")
POSITIVE = 1e-9
"""The bound of what must be more than 0, not 0 itself."""


class Condition(Protocol):
    """One inequality of a claim."""

    @property
    def arms(self) -> tuple[Arm, ...]:
        """What it compares."""

    @property
    def measures(self) -> tuple[str, ...]:
        """Kinds of records that it needs besides scores."""

    def judge(self, evidence: Evidence) -> "Judged":
        """Decide, and keep the number that decides."""

    def describe(self) -> str:
        """Say the inequality in words."""

    def structure(self, scale: str) -> list[Any]:
        """Return what it asks at a scale, as JSON values: a change of it is a change of the claim."""


@dataclass(frozen=True)
class Judged:
    """What the records say of a condition.

    Args:
        condition: in words.
        outcome: see the module.
        found: the number that it is about; None where there is none.
        reason: why there is none.
    """

    condition: str
    outcome: Outcome
    found: Estimate | None = None
    reason: str = ""

    @classmethod
    def by_bounds(cls, condition: "Contrast | Check", found: Estimate) -> "Judged":
        """Compare a number with the bounds of a condition."""
        if math.isnan(found.value):
            return cls(condition.describe(), "void", reason="is not a number")
        return cls(
            condition.describe(),
            decide(*found.bounds, condition.at_least, condition.at_most),
            found,
        )

    def __str__(self) -> str:
        return f"{self.outcome}: {self.condition}: {self.found or self.reason}"


@dataclass(frozen=True)
class Contrast:
    """A weighted sum of BLEU that must keep bounds.

    Args:
        terms: weight and arm.
        at_least, at_most: the bounds; None = none.
    """

    terms: tuple[tuple[float, Arm], ...]
    at_least: float | None = None
    at_most: float | None = None

    @property
    def arms(self) -> tuple[Arm, ...]:
        return tuple(arm for _, arm in self.terms)

    @property
    def measures(self) -> tuple[str, ...]:
        return ()  # scores alone

    def judge(self, evidence: Evidence) -> Judged:
        return Judged.by_bounds(self, evidence.contrast(self.terms))

    def describe(self) -> str:
        terms = " ".join(
            f"{'-' if weight < 0 else '+'} {'' if abs(weight) == 1 else f'{abs(weight):g} '}{arm}"
            for weight, arm in self.terms
        )
        return f"{terms.removeprefix('+ ')} {_bounds(self.at_least, self.at_most)} BLEU"

    def structure(self, scale: str) -> list[Any]:
        terms = [[float(weight), _system(arm, scale)] for weight, arm in self.terms]
        return ["BLEU", terms, *_as_floats(self.at_least, self.at_most)]


@dataclass(frozen=True)
class Check:
    """A number read from records of other kinds that must keep bounds.

    Args:
        what: the number in words.
        number: computes it, with an interval where it has one; raises `Undefined` where there is no
            such number. It is a function with a name, or `functools.partial` of one with named
            arguments: these name the test.
        arms: of these.
        measures: kinds of records that it reads.
        at_least, at_most: the bounds; None = none.
    """

    what: str
    number: Callable[[Evidence], float | Estimate]
    arms: tuple[Arm, ...]
    measures: tuple[str, ...] = ()
    at_least: float | None = None
    at_most: float | None = None

    def judge(self, evidence: Evidence) -> Judged:
        try:
            found = self.number(evidence)
        except Undefined as reason:
            return Judged(self.describe(), "void", reason=str(reason))
        return Judged.by_bounds(self, found if isinstance(found, Estimate) else Estimate(found))

    def describe(self) -> str:
        return f"{self.what} {_bounds(self.at_least, self.at_most)}"

    def structure(self, scale: str) -> list[Any]:
        number = self.number
        function, arguments = (
            (number.func, number.keywords) if isinstance(number, partial) else (number, {})
        )
        given = {
            name: _system(value, scale) if isinstance(value, Arm) else value
            for name, value in arguments.items()
        }
        systems = [_system(arm, scale) for arm in self.arms]
        bounds = _as_floats(self.at_least, self.at_most)
        return [function.__name__.lstrip("_"), given, systems, list(self.measures), *bounds]


@dataclass(frozen=True)
class Verdict:
    """What the records say of a claim.

    Args:
        claim: its name.
        status: see `STATUSES`.
        conditions: what was found of each; none where it was not run.
        missing: why it was not run.
    """

    claim: str
    status: Status
    conditions: tuple[Judged, ...] = ()
    missing: str = ""

    @property
    def reason(self) -> str:
        """Why, in a line."""
        return self.missing or _counts([condition.outcome for condition in self.conditions])

    @property
    def evidence(self) -> tuple[str, ...]:
        """A line per condition, with numbers."""
        return tuple(map(str, self.conditions))

    @property
    def is_of_one_seed(self) -> bool:
        """Whether a number of one seed decides a condition, and so the verdict; one that leaves it open or void decides nothing."""
        decisive = (found.found for found in self.conditions if found.outcome in ("holds", "fails"))
        return self.status in DECIDED and any(
            found is not None and found.is_of_one_seed for found in decisive
        )


@dataclass(frozen=True)
class Claim:
    """A statement of a paper and its test.

    Args:
        name: such as `Y-01`.
        statement: in our words.
        reported: what the paper reports for it.
        conditions: all must hold.
        scales: where it can be tested; None = everywhere.
        elsewhere: why not at the other scales.
    """

    name: str
    statement: str
    reported: str
    conditions: tuple[Condition, ...]
    scales: tuple[str, ...] | None = None
    elsewhere: str = ""

    def arms(self) -> list[Arm]:
        """Return what must be trained for it, each once."""
        return list(dict.fromkeys(arm for condition in self.conditions for arm in condition.arms))

    def measures(self) -> list[tuple[str, Arm]]:
        """Return which kinds of records besides scores it needs of which arms, each once."""
        return list(
            dict.fromkeys(
                (kind, arm)
                for condition in self.conditions
                for kind in condition.measures
                for arm in condition.arms
            )
        )

    def digest(self, scale: str) -> str:
        """Return eight hex digits that name its test at a scale: its name and the structure of its conditions, not their words."""
        text = json.dumps(
            [self.name, *(condition.structure(scale) for condition in self.conditions)],
            sort_keys=True,
        )
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    def judge(self, evidence: Evidence) -> Verdict:
        """Compute the verdict from what has been measured.

        Raises:
            DamagedFileError: a record is of another version of its corpus than is here, or of a
                part of it.
        """
        if self.scales is not None and evidence.scale not in self.scales:
            return Verdict(
                self.name,
                "not run",
                missing=f"cannot be tested at {evidence.scale}: {self.elsewhere}",
            )
        for kind, arm in self.measures():
            evidence.check_measured(kind, arm)
        try:
            judged = tuple(condition.judge(evidence) for condition in self.conditions)
        except NotMeasured as missing:
            return Verdict(self.name, "not run", missing=f"{missing.where}: {missing.what}")
        return Verdict(self.name, _combine([condition.outcome for condition in judged]), judged)


def decide(low: float, high: float, at_least: float | None, at_most: float | None) -> Outcome:
    """Compare an interval with bounds; a number is an interval of one point. What is not a number decides nothing."""
    if low != low or high != high:
        return "void"
    # of an estimate that does not know how much seeds matter
    if (low, high) == (-math.inf, math.inf):
        return "one seed"
    if (at_least is not None and high < at_least) or (at_most is not None and low > at_most):
        return "fails"
    if (at_least is None or low >= at_least) and (at_most is None or high <= at_most):
        return "holds"
    return "open"


def not_worse(arm: Arm, than: Arm, margin: float) -> Contrast:
    """Non-inferiority: the arm loses at most `margin` BLEU."""
    return Contrast(((1, arm), (-1, than)), at_least=-margin)


def better(arm: Arm, than: Arm) -> Contrast:
    """Superiority: the interval of the difference lies above zero."""
    return Contrast(((1, arm), (-1, than)), at_least=0.0)


def loss(
    of: Arm, without: Arm, at_least: float | None = None, at_most: float | None = None
) -> Contrast:
    """What the second arm loses against the first, in BLEU."""
    return Contrast(((1, of), (-1, without)), at_least, at_most)


def _combine(outcomes: Sequence[Outcome]) -> Status:
    holds, fails = outcomes.count("holds"), outcomes.count("fails")
    if holds == len(outcomes):
        return "reproduced"
    if fails:
        return "partly" if holds else "not reproduced"
    return "undecided"


def _counts(outcomes: Sequence[Outcome]) -> str:
    counts = f"{outcomes.count('holds')} of {len(outcomes)} conditions hold, {outcomes.count('fails')} fail"
    if "fails" in outcomes:
        return counts
    reasons = {
        "open": "the interval is too wide for the bound",
        "one seed": "one seed does not tell what another would give: repro run with --seeds 2 or more does",
        "void": "a number does not exist",
    }
    return "; ".join(
        [counts, *(reason for outcome, reason in reasons.items() if outcome in outcomes)]
    )


def _system(arm: Arm, scale: str) -> str:
    return arm.config(scale).group_key()


def _as_floats(*bounds: float | None) -> list[float | None]:
    return [None if bound is None else float(bound) for bound in bounds]


def _bounds(at_least: float | None, at_most: float | None) -> str:
    bounds = ["> 0" if at_least == POSITIVE else f">= {at_least:g}"] if at_least is not None else []
    bounds += [f"<= {at_most:g}"] if at_most is not None else []
    return " and ".join(bounds)
