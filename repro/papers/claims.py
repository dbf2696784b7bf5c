"""Claims of the papers, each with a test, and verdicts computed from records.

Margins were fixed before the runs; `results/claims/CHANGES.md` lists the tests that were changed since, and why. The number of seeds was
not: it stands in the evidence, and a verdict is computed anew when more have been trained. Of intervals of 95 % that are looked at again
and again, more than one in twenty misses the truth at some time, so a verdict near its bound may yet turn over.

The tests were written for the test set `test`, and its verdicts are the ones that count. The same conditions may be put to other sets that
the same models translated, or to several taken as one (`pooling.py`): that came later, and is kept beside.

A claim holds or not by its conditions. A condition on BLEU is decided by the 95 % interval, over test sentences and training seeds, of a
weighted sum of scores: it holds if the whole interval keeps the bound, fails if the whole interval breaks it, and is open otherwise. It is
also open while nothing tells how much seeds matter: no system of the scale has several, or, for what a mask changes within a model, none
was masked for several. A condition on another number that has an interval (speed, accuracies) is decided by that; over pairs or heads
of a single seed it knows nothing of other seeds, and the evidence says so. One without (heads counted in a single model, parameters) is
decided by the number. (The second condition of Y-10 asks only that no growth is shown: it compares the lower end of an interval with its
bound, so it holds the more easily the less is known.) A condition whose number does not exist, such as a mean over no heads, is void: it
neither holds nor fails.

Where the true number lies at the bound, an interval of 95 % is wholly on either side of it about once in forty times; where it lies farther
off, more seldom on the wrong one. It is not widened for the number of conditions: that all of them hold by luck is no likelier than that
one does, but of many, one fails by luck more easily.

    all hold: reproduced     some hold, some fail: partly     none holds, some fail: not reproduced     else: undecided     no data: not run
"""

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from repro.papers.arms import Arm
from repro.papers.evidence import Evidence, NotMeasured
from repro.statistics import Estimate, Exact, Interval, Undefined

Outcome = Literal["holds", "fails", "open", "one seed", "void"]
Status = Literal["not reproduced", "partly", "undecided", "not run", "reproduced"]
STATUSES: tuple[Status, ...] = ("not reproduced", "partly", "undecided", "not run", "reproduced")  # as a report lists them
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

    def judge(self, evidence: Evidence) -> tuple[Outcome, str]:
        """Decide, and say from what."""

    def describe(self) -> str:
        """Say the inequality in words; a change of it is a change of the claim."""


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

    def judge(self, evidence: Evidence) -> tuple[Outcome, str]:
        found = evidence.contrast(self.terms)
        return decide(*found.bounds, self.at_least, self.at_most), f"{self.describe()}: {found}"

    def describe(self) -> str:
        terms = " ".join(
            f"{'-' if weight < 0 else '+'} {'' if abs(weight) == 1 else f'{abs(weight):g} '}{arm}" for weight, arm in self.terms
        )
        return f"{terms.removeprefix('+ ')} {_bounds(self.at_least, self.at_most)} BLEU"


@dataclass(frozen=True)
class Check:
    """A number read from records of other kinds that must keep bounds.

    Args:
        what: the number in words.
        number: computes it, with an interval where it has one; raises `Undefined` where there is no such number.
        arms: of these.
        measures: kinds of records that it reads.
        at_least, at_most: the bounds; None = none.
    """

    what: str
    number: Callable[[Evidence], float | Estimate | Interval | Exact]
    arms: tuple[Arm, ...]
    measures: tuple[str, ...] = ()
    at_least: float | None = None
    at_most: float | None = None

    def judge(self, evidence: Evidence) -> tuple[Outcome, str]:
        try:
            found = self.number(evidence)
        except Undefined as reason:
            return "void", f"{self.describe()}: {reason}"
        if isinstance(found, Estimate | Interval | Exact):
            return decide(*found.bounds, self.at_least, self.at_most), f"{self.describe()}: {found}"
        written = f"{found:,}" if isinstance(found, int) else f"{found:.4g}"
        return decide(found, found, self.at_least, self.at_most), f"{self.describe()}: {written}"

    def describe(self) -> str:
        return f"{self.what} {_bounds(self.at_least, self.at_most)}"


@dataclass(frozen=True)
class Verdict:
    """What the records say of a claim.

    Args:
        claim: its name.
        status: see `STATUSES`.
        reason: why, in a line.
        evidence: a line per condition, with numbers.
    """

    claim: str
    status: Status
    reason: str
    evidence: tuple[str, ...] = ()


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
        return list(dict.fromkeys((kind, arm) for condition in self.conditions for kind in condition.measures for arm in condition.arms))

    def digest(self) -> str:
        """Return eight hex digits that name its test: its conditions with their bounds, not the statement."""
        text = "\n".join([self.name, *(condition.describe() for condition in self.conditions)])
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    def judge(self, evidence: Evidence) -> Verdict:
        """Compute the verdict from what has been measured.

        Raises:
            DamagedFileError: a record is of another version of its corpus than is here, or of a part of it.
        """
        if self.scales is not None and evidence.scale not in self.scales:
            return Verdict(self.name, "not run", f"cannot be tested at {evidence.scale}: {self.elsewhere}")
        for kind, arm in self.measures():
            evidence.check_measured(kind, arm)
        try:
            judged = [condition.judge(evidence) for condition in self.conditions]
        except NotMeasured as missing:
            return Verdict(self.name, "not run", f"{missing.where}: {missing.what}")
        outcomes = [outcome for outcome, _ in judged]
        return Verdict(self.name, *_combine(outcomes), tuple(f"{outcome}: {line}" for outcome, line in judged))


def decide(low: float, high: float, at_least: float | None, at_most: float | None) -> Outcome:
    """Compare an interval with bounds; a number is an interval of one point. What is not a number decides nothing."""
    if low != low or high != high:
        return "void"
    if (low, high) == (-math.inf, math.inf):  # of an estimate that does not know how much seeds matter
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


def loss(of: Arm, without: Arm, at_least: float | None = None, at_most: float | None = None) -> Contrast:
    """What the second arm loses against the first, in BLEU."""
    return Contrast(((1, of), (-1, without)), at_least, at_most)


def _combine(outcomes: Sequence[Outcome]) -> tuple[Status, str]:
    holds, fails = outcomes.count("holds"), outcomes.count("fails")
    counts = f"{holds} of {len(outcomes)} conditions hold, {fails} fail"
    if holds == len(outcomes):
        return "reproduced", counts
    if fails:
        return ("partly" if holds else "not reproduced"), counts
    reasons = {
        "open": "the interval is too wide for the bound",
        "one seed": "one seed does not tell what another would give: repro run with --seeds 2 or more does",
        "void": "a number does not exist",
    }
    return "undecided", "; ".join([counts, *(reason for outcome, reason in reasons.items() if outcome in outcomes)])


def _bounds(at_least: float | None, at_most: float | None) -> str:
    bounds = ["> 0" if at_least == POSITIVE else f">= {at_least:g}"] if at_least is not None else []
    bounds += [f"<= {at_most:g}"] if at_most is not None else []
    return " and ".join(bounds)
