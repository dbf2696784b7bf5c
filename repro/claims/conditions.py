"""Test claims of the papers: conditions, and verdicts computed from records.

Margins were fixed before the runs. `results/claims/CHANGES.md` lists later changes of the tests and
their reasons. The number of seeds is part of a claim. A verdict is computed from all that are
there; it says if some are missing, and if some were added after a look. Intervals of 95 % that are
looked at repeatedly miss the truth at some time more often than 1 time in 20.

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

What outcomes make of a claim: `repro.claims.outcomes`. What likelihood says beside BLEU:
`repro.claims.likelihood`. Whether they can be had at all, and how
likely: `repro.claims.testable`.

A test is identified by its structure: weights, systems (configurations without the seed), bounds,
and the function of a number with its arguments. Its wording is free.
"""

import hashlib
import json
from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from repro.claims.evidence import Evidence, NotMeasured
from repro.claims.likelihood import with_likelihood
from repro.claims.outcomes import (
    DECIDED,
    STATUSES,
    Judged,
    Outcome,
    Status,
    Verdict,
    combine,
    decide,
)
from repro.claims.settings import Setting
from repro.claims.structure import POSITIVE, as_floats, bounds_in_words, function_of, system_digest
from repro.claims.testable import errors_of, power_of, with_power
from repro.statistics.intervals import Estimate, Undefined
from repro.statistics.power import Errors

__all__ = ["DECIDED", "POSITIVE", "STATUSES", "Judged", "Outcome", "Status", "Verdict", "decide"]


ELSEWHERE = "cannot be tested at"  # how the reason begins where no run at a scale could help


class Condition(Protocol):
    """One inequality of a claim."""

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The settings that it compares."""

    @property
    def measures(self) -> tuple[str, ...]:
        """Kinds of records that it needs besides scores."""

    @property
    def number(self) -> Callable[[Evidence], float | Estimate]:
        """Computes the number that the bounds of the claim are about."""

    @property
    def at_least(self) -> float | None:
        """The lower bound of the claim; None = none."""

    @property
    def at_most(self) -> float | None:
        """The upper bound of the claim; None = none."""

    @property
    def null(self) -> float | None:
        """The number if nothing differs; None = no such number."""

    def judge(self, evidence: Evidence) -> Judged:
        """Decide it by the records, and keep the deciding number."""

    def errors(self, evidence: Evidence, found: Estimate | None, seeds: int) -> Errors | None:
        """Return the errors of the claim's number with so many seeds; None if not known."""

    def describe(self) -> str:
        """Return the inequality of the claim in words."""

    def structure(self, scale: str) -> list[Any]:
        """Return its structure at a scale, as JSON values; another structure is another claim."""


Reported = Callable[[Condition], float | None]
"""Looks up the number that a paper reports for a condition, in its units."""


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
    null: ClassVar[float] = 0.0

    @property
    def settings(self) -> tuple[Setting, ...]:
        return tuple(setting for _, setting in self.terms)

    @property
    def measures(self) -> tuple[str, ...]:
        return ()  # scores alone

    def number(self, evidence: Evidence) -> Estimate:
        """Return the weighted sum, by the endpoint of the evidence."""
        return evidence.contrast(self.terms)

    def judge(self, evidence: Evidence) -> Judged:
        """Judge the claim by the weighted sum of scores."""
        return Judged.by_bounds(self, self.number(evidence))

    def errors(self, evidence: Evidence, found: Estimate | None, seeds: int) -> Errors | None:
        return evidence.planned_errors(self.terms, seeds)

    def describe(self) -> str:
        """Say the claimed inequality in words, a term per setting."""
        terms = " ".join(
            ("- " if weight < 0 else "+ ")
            + ("" if abs(weight) == 1 else f"{abs(weight):g} ")
            + str(setting)
            for weight, setting in self.terms
        )
        return f"{terms.removeprefix('+ ')} {bounds_in_words(self.at_least, self.at_most)} BLEU"

    def structure(self, scale: str) -> list[Any]:
        terms = [[float(weight), system_digest(setting, scale)] for weight, setting in self.terms]
        return ["BLEU", terms, *as_floats(self.at_least, self.at_most)]


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
        null: the number if nothing differs, for its power: 0 of a difference, 1 of a ratio.
    """

    what: str
    number: Callable[[Evidence], float | Estimate]
    settings: tuple[Setting, ...]
    measures: tuple[str, ...] = ()
    at_least: float | None = None
    at_most: float | None = None
    null: float | None = None

    def judge(self, evidence: Evidence) -> Judged:
        """Judge the claim by its number, which may be undefined."""
        try:
            found = self.number(evidence)
        except Undefined as reason:
            return Judged(self.describe(), "void", reason=str(reason))
        return Judged.by_bounds(self, found if isinstance(found, Estimate) else Estimate(found))

    def errors(self, evidence: Evidence, found: Estimate | None, seeds: int) -> Errors | None:
        return errors_of(found, seeds)

    def describe(self) -> str:
        return f"{self.what} {bounds_in_words(self.at_least, self.at_most)}"

    def structure(self, scale: str) -> list[Any]:
        systems = [system_digest(setting, scale) for setting in self.settings]
        bounds = as_floats(self.at_least, self.at_most)
        return [*function_of(self.number, scale), systems, list(self.measures), *bounds]


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
        place: where the paper says it, such as `Table 2`.
        fixed: the day on which the bounds were fixed, as in 2026-11-21.
        why: the reason for the bounds; empty if none was written down on that day.
        seeds: how many of each system it asks for.
    """

    name: str
    statement: str
    reported: str
    conditions: tuple[Condition, ...]
    scales: Container[str] | None = None
    elsewhere: str = ""
    place: str = ""
    fixed: str = ""
    why: str = ""
    seeds: int = 3

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
        """Return eight hex digits that identify the claim's test at a scale.

        They cover its name, its number of seeds and the structure of its conditions, not their
        wording.
        """
        text = json.dumps(
            [self.name, self.seeds, *(condition.structure(scale) for condition in self.conditions)],
            sort_keys=True,
        )
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    def judge(self, evidence: Evidence, reported: Reported = lambda _: None) -> Verdict:
        """Compute the verdict from the records.

        Args:
            evidence: the records.
            reported: the number of the paper for a condition, None if there is none.

        Raises:
            DamagedFileError: a record belongs to another version of its corpus, or to a part of it.
        """
        if self.scales is not None and evidence.scale not in self.scales:
            return Verdict(
                self.name,
                "not run",
                missing=f"{ELSEWHERE} {evidence.scale}: {self.elsewhere}",
            )
        for kind, setting in self.measures():
            evidence.check_measured(kind, setting)
        try:
            judged = tuple(
                self._judge(condition, evidence, reported(condition))
                for condition in self.conditions
            )
        except NotMeasured as missing:
            why = _said(missing)
            power = tuple(
                power_of(one, one.errors(evidence, None, self.seeds), reported(one))
                for one in self.conditions
            )
            return Verdict(self.name, "not run", missing=why, planned=self.seeds, power=power)
        status = combine([condition.outcome for condition in judged])
        return Verdict(self.name, status, judged, planned=self.seeds)

    def _judge(self, condition: Condition, evidence: Evidence, reported: float | None) -> Judged:
        """Judge a condition of the claim, with its power and what likelihood says."""
        judged = condition.judge(evidence)
        if (found := judged.found) is None:
            return judged
        seeds = max(self.seeds, found.seeds[0] if found.seeds else 0)
        errors = condition.errors(evidence, found, seeds)
        judged = with_power(condition, judged, errors, reported)
        return with_likelihood(condition, judged, evidence)


def not_worse(setting: Setting, than: Setting, margin: float) -> Contrast:
    """Test non-inferiority: the setting loses at most `margin` BLEU."""
    return Contrast(((1, setting), (-1, than)), at_least=-margin)


def better(setting: Setting, than: Setting) -> Contrast:
    """Make a condition of superiority: the interval of the difference is above zero."""
    return Contrast(((1, setting), (-1, than)), at_least=0.0)


def loss(
    of: Setting, without: Setting, at_least: float | None = None, at_most: float | None = None
) -> Contrast:
    """Bound what the second setting loses against the first, in BLEU."""
    return Contrast(((1, of), (-1, without)), at_least, at_most)


def _said(missing: NotMeasured) -> str:
    """Say what record a claim lacks, and how to get it where `repro run` alone does not."""
    fix = "" if missing.fix.startswith("repro run") else f"; {missing.fix}"
    return f"{missing.where}: {missing.what}{fix}"
