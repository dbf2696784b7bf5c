"""Test claims of the papers: conditions, and verdicts computed from records.

Margins were fixed before the runs. `results/claims/CHANGES.md` lists later changes of the tests and
their reasons. The number of seeds was not fixed: the evidence names it, and a verdict is computed
again when more seeds have been trained. Intervals of 95 % that are looked at repeatedly miss the
truth at some time more often than 1 time in 20. So a verdict near its bound may still change.

The tests were written for the test set `test`, whose verdicts are the ones that count. The same
conditions can be applied to other test sets of the same models, or to several taken as one
(`pooling.py`). These verdicts were added later and are kept separately.

A condition on BLEU concerns a weighted sum of scores. Its 95 % interval, over test sentences and
training seeds, decides:

- it holds if the whole interval keeps the bound;
- it fails if the whole interval breaks the bound;
- otherwise it is open. It is also open if no setting of the scale has several seeds, so that
  seed-to-seed variation is unknown. For the effect of a mask, a model masked for several seeds is
  needed.

Another number with an interval (speed, accuracy) is decided by that interval. Over pairs or heads
of a single seed it excludes seed-to-seed variation, and the evidence says so. A number without an
interval (heads counted in one model, parameters) is compared with the bound directly. A number that
does not exist, such as a mean over no heads, makes its condition void: it neither holds nor fails.

The second condition of Y-10 asks only that no growth is shown. It compares the lower end of an
interval with its bound, so a wider interval makes it easier to hold.

If the true value equals the bound, a 95 % interval lies entirely on a given side 1 time in 40. The
further away it is, the rarer a wrong outcome. Intervals are not widened for the number of
conditions. That all of them hold by chance is no likelier than that one does. That one of many
fails by chance is likelier.

    all hold                    reproduced
    some hold, some fail        partly
    none holds, some fail       not reproduced
    no data                     not run
    anything else               undecided

A difference in BLEU is also judged by likelihood, in nats per token, with the same bounds by the
conversion of `endpoints.py`: by that of the test references if all its records hold it, else by
that of dev. This never changes the verdict, which is BLEU's. It is said beside it: likelihood
*agrees*, *disagrees*, *decides* what BLEU leaves undecided, or leaves it *open*, too.

A test is identified by its structure: weights, systems (configurations without the seed), bounds,
and the function of a number with its arguments. Its wording is free.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Protocol

from repro.claims.endpoints import BLEU, LIKELIHOODS, in_nats
from repro.claims.evidence import Evidence, NotMeasured
from repro.claims.settings import Setting
from repro.statistics.intervals import Estimate, Undefined

Outcome = Literal["holds", "fails", "open", "one seed", "void"]
Status = Literal["not reproduced", "partly", "undecided", "not run", "reproduced"]
# In the order in which a report lists them.
STATUSES: tuple[Status, ...] = ("not reproduced", "partly", "undecided", "not run", "reproduced")
DECIDED: tuple[Status, ...] = ("not reproduced", "partly", "reproduced")
Agreement = Literal["agrees", "disagrees", "decides", "open"]
AGREEMENTS: tuple[Agreement, ...] = ("agrees", "disagrees", "decides", "open")
POSITIVE = 1e-9
"""The bound of a number that must be more than 0."""


class Condition(Protocol):
    """One inequality of a claim."""

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The settings that it compares."""

    @property
    def measures(self) -> tuple[str, ...]:
        """Kinds of records that it needs besides scores."""

    def judge(self, evidence: Evidence) -> "Judged":
        """Decide it by the records, and keep the deciding number."""

    def describe(self) -> str:
        """Return the inequality in words."""

    def structure(self, scale: str) -> list[Any]:
        """Return its structure at a scale, as JSON values; another structure is another claim."""


@dataclass(frozen=True)
class Judged:
    """The outcome of a condition.

    Args:
        condition: in words.
        outcome: see the module.
        found: the number that it is about; None where there is none.
        reason: why there is none.
        likelihood: the same inequality in nats per token; None where that is not known.
    """

    condition: str
    outcome: Outcome
    found: Estimate | None = None
    reason: str = ""
    likelihood: "Judged | None" = None

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

    def with_likelihood(self, condition: "Contrast | Check", evidence: Evidence) -> "Judged":
        """Judge it by likelihood as well, if it is about a difference in BLEU."""
        if self.found is None or self.found.unit != BLEU.unit:
            return self
        found = by_likelihood(condition.number, condition.settings, evidence)
        if found is None:
            return self
        bounds = in_nats(condition.at_least), in_nats(condition.at_most)
        words = f"{_bounds(*bounds)} {found.unit} per token, {found.over}"
        return replace(self, likelihood=Judged(words, decide(*found.bounds, *bounds), found))

    def __str__(self) -> str:
        beside = f"; by likelihood {self.likelihood}" if self.likelihood else ""
        return f"{self.outcome}: {self.condition}: {self.found or self.reason}{beside}"


@dataclass(frozen=True)
class Contrast:
    """A weighted sum of BLEU scores with bounds.

    Args:
        terms: weight and setting.
        at_least, at_most: the bounds; None = none.
    """

    terms: tuple[tuple[float, Setting], ...]
    at_least: float | None = None
    at_most: float | None = None

    @property
    def settings(self) -> tuple[Setting, ...]:
        return tuple(setting for _, setting in self.terms)

    @property
    def measures(self) -> tuple[str, ...]:
        return ()  # scores alone

    def number(self, evidence: Evidence) -> Estimate:
        """Return the weighted sum by the endpoint of the evidence."""
        return evidence.contrast(self.terms)

    def judge(self, evidence: Evidence) -> Judged:
        judged = Judged.by_bounds(self, self.number(evidence))
        return judged.with_likelihood(self, evidence)

    def describe(self) -> str:
        terms = " ".join(
            ("- " if weight < 0 else "+ ")
            + ("" if abs(weight) == 1 else f"{abs(weight):g} ")
            + str(setting)
            for weight, setting in self.terms
        )
        return f"{terms.removeprefix('+ ')} {_bounds(self.at_least, self.at_most)} BLEU"

    def structure(self, scale: str) -> list[Any]:
        terms = [[float(weight), _system(setting, scale)] for weight, setting in self.terms]
        return ["BLEU", terms, *_as_floats(self.at_least, self.at_most)]


@dataclass(frozen=True)
class Check:
    """A number from other kinds of records, with bounds.

    Args:
        what: the number in words.
        number: computes it, with an interval if it has one; raises `Undefined` if it does not
            exist. It is a named function, or a `functools.partial` of one with named arguments: the
            names identify the test.
        settings: the settings that it compares.
        measures: kinds of records that it reads.
        at_least, at_most: the bounds; None = none.
    """

    what: str
    number: Callable[[Evidence], float | Estimate]
    settings: tuple[Setting, ...]
    measures: tuple[str, ...] = ()
    at_least: float | None = None
    at_most: float | None = None

    def judge(self, evidence: Evidence) -> Judged:
        try:
            found = self.number(evidence)
        except Undefined as reason:
            return Judged(self.describe(), "void", reason=str(reason))
        judged = Judged.by_bounds(self, found if isinstance(found, Estimate) else Estimate(found))
        return judged.with_likelihood(self, evidence)

    def describe(self) -> str:
        return f"{self.what} {_bounds(self.at_least, self.at_most)}"

    def structure(self, scale: str) -> list[Any]:
        number = self.number
        function, arguments = (
            (number.func, number.keywords) if isinstance(number, partial) else (number, {})
        )
        given = {
            name: _system(value, scale) if isinstance(value, Setting) else value
            for name, value in arguments.items()
        }
        systems = [_system(setting, scale) for setting in self.settings]
        bounds = _as_floats(self.at_least, self.at_most)
        return [function.__name__.lstrip("_"), given, systems, list(self.measures), *bounds]


@dataclass(frozen=True)
class Verdict:
    """The verdict on a claim.

    Args:
        claim: its name.
        status: see `STATUSES`.
        conditions: the outcome of each; none if the claim was not run.
        missing: why it was not run.
    """

    claim: str
    status: Status
    conditions: tuple[Judged, ...] = ()
    missing: str = ""

    @property
    def reason(self) -> str:
        """The reason for the status, in one line."""
        return self.missing or _counts([condition.outcome for condition in self.conditions])

    @property
    def evidence(self) -> tuple[str, ...]:
        """One line per condition, with numbers."""
        return tuple(map(str, self.conditions))

    @property
    def likelihood(self) -> Agreement | None:
        """What likelihood says beside the status; None if it is known of no condition."""
        if not any(judged.likelihood for judged in self.conditions):
            return None
        by_likelihood = [(judged.likelihood or judged).outcome for judged in self.conditions]
        return agreement(self.status, _combine(by_likelihood))

    @property
    def said(self) -> str:
        """The status, and what likelihood says beside it."""
        return f"{self.status}; likelihood: {self.likelihood}" if self.likelihood else self.status

    @property
    def is_of_one_seed(self) -> bool:
        """Whether a number of one seed decides a condition, and so the verdict.

        A number that leaves its condition open or void decides nothing.
        """
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
        reported: the paper's own result.
        conditions: all must hold.
        scales: where it can be tested; None = everywhere.
        elsewhere: why it cannot be tested at other scales.
    """

    name: str
    statement: str
    reported: str
    conditions: tuple[Condition, ...]
    scales: tuple[str, ...] | None = None
    elsewhere: str = ""

    def settings(self) -> list[Setting]:
        """Return the settings that it needs trained, each once."""
        return list(
            dict.fromkeys(
                setting for condition in self.conditions for setting in condition.settings
            )
        )

    def measures(self) -> list[tuple[str, Setting]]:
        """Return pairs (kind of record besides scores, setting) that it needs, each once."""
        return list(
            dict.fromkeys(
                (kind, setting)
                for condition in self.conditions
                for kind in condition.measures
                for setting in condition.settings
            )
        )

    def digest(self, scale: str) -> str:
        """Return eight hex digits that identify its test at a scale.

        They cover its name and the structure of its conditions, not their wording.
        """
        text = json.dumps(
            [self.name, *(condition.structure(scale) for condition in self.conditions)],
            sort_keys=True,
        )
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    def judge(self, evidence: Evidence) -> Verdict:
        """Compute the verdict from the records.

        Raises:
            DamagedFileError: a record belongs to another version of its corpus, or to a part of it.
        """
        if self.scales is not None and evidence.scale not in self.scales:
            return Verdict(
                self.name,
                "not run",
                missing=f"cannot be tested at {evidence.scale}: {self.elsewhere}",
            )
        for kind, setting in self.measures():
            evidence.check_measured(kind, setting)
        try:
            judged = tuple(condition.judge(evidence) for condition in self.conditions)
        except NotMeasured as missing:
            return Verdict(self.name, "not run", missing=f"{missing.where}: {missing.what}")
        return Verdict(self.name, _combine([condition.outcome for condition in judged]), judged)


def decide(low: float, high: float, at_least: float | None, at_most: float | None) -> Outcome:
    """Compare an interval with bounds; a single number is an interval of one point, NaN is void."""
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


def by_likelihood(
    number: Callable[[Evidence], float | Estimate], settings: Iterable[Setting], evidence: Evidence
) -> Estimate | None:
    """Return a difference in score in nats per token, by the first likelihood that has it.

    There is none if its systems have other subwords, which cut references into other tokens, or
    where the number is of single sentences and records hold no likelihood of them.
    """
    if len({setting.config(evidence.scale).data for setting in settings}) != 1:
        return None
    for endpoint in LIKELIHOODS:
        try:
            found = number(evidence.by(endpoint))
        except (NotMeasured, Undefined):
            continue
        if isinstance(found, Estimate) and found.unit == endpoint.unit:
            return found
    return None


def not_worse(setting: Setting, than: Setting, margin: float) -> Contrast:
    """Test non-inferiority: the setting loses at most `margin` BLEU."""
    return Contrast(((1, setting), (-1, than)), at_least=-margin)


def better(setting: Setting, than: Setting) -> Contrast:
    """Test superiority: the interval of the difference is above zero."""
    return Contrast(((1, setting), (-1, than)), at_least=0.0)


def loss(
    of: Setting, without: Setting, at_least: float | None = None, at_most: float | None = None
) -> Contrast:
    """Bound what the second setting loses against the first, in BLEU."""
    return Contrast(((1, of), (-1, without)), at_least, at_most)


def _combine(outcomes: Sequence[Outcome]) -> Status:
    holds, fails = outcomes.count("holds"), outcomes.count("fails")
    if holds == len(outcomes):
        return "reproduced"
    if fails:
        return "partly" if holds else "not reproduced"
    return "undecided"


def _counts(outcomes: Sequence[Outcome]) -> str:
    holds, fails = outcomes.count("holds"), outcomes.count("fails")
    counts = f"{holds} of {len(outcomes)} conditions hold, {fails} fail"
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


def _system(setting: Setting, scale: str) -> str:
    return setting.config(scale).group_key()


def _as_floats(*bounds: float | None) -> list[float | None]:
    return [None if bound is None else float(bound) for bound in bounds]


def _bounds(at_least: float | None, at_most: float | None) -> str:
    bounds = (
        ["> 0" if at_least in (POSITIVE, in_nats(POSITIVE)) else f">= {at_least:g}"]
        if at_least is not None
        else []
    )
    bounds += [f"<= {at_most:g}"] if at_most is not None else []
    return " and ".join(bounds)
