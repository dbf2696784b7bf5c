"""Store verdicts as numbers; all text about them is rendered from these.

Empty fields are left out: a count has no `low`, a number without seeds has no `seeds`. Numbers are
not rounded, so text is the same before and after they are stored.
"""

import math
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, NotRequired, TypedDict, cast

from repro.claims.outcomes import Judged, Outcome, Power, Status, Verdict
from repro.records.schema import Number, type_faults
from repro.statistics.intervals import Estimate

TOLERANCE = 1e-6  # of a stored number: another processor may add in another order


class StoredPower(TypedDict):
    """The chance that a condition holds for a true number; see `Power`."""

    truth: Number
    of: str
    chance: Number


class StoredNumber(TypedDict):
    """An inequality, its outcome, and the number behind it; see `Estimate` and `Judged`."""

    condition: str
    outcome: Outcome
    value: NotRequired[Number]
    low: NotRequired[Number]
    high: NotRequired[Number]
    level: NotRequired[Number]
    over: NotRequired[str]
    seeds: NotRequired[list[int]]
    counts_seeds: NotRequired[bool]
    detectable: NotRequired[Number]
    unit: NotRequired[str]
    shares: NotRequired[dict[str, Number]]
    reason: NotRequired[str]
    power: NotRequired[list[StoredPower]]


class StoredCondition(StoredNumber):
    """A condition, and the same by likelihood where it is about a difference in BLEU."""

    likelihood: NotRequired[StoredNumber]


class GivenUp(TypedDict):
    """An earlier verdict that was given up: when, the digest of its test, and what it said."""

    discarded: str
    test: str
    status: Status
    reason: str
    evidence: list[str]


class StoredVerdict(TypedDict):
    """The digest of a claim's test (`Claim.digest`), and the verdict on it.

    `first_look` is of the first verdict that was stored; see `Verdict`. `history` has those that
    were given up, the oldest first.
    """

    test: str
    claim: str
    status: Status
    missing: NotRequired[str]
    planned: NotRequired[int]
    first_look: NotRequired[list[int]]
    history: NotRequired[list[GivenUp]]
    power: NotRequired[list[list[StoredPower]]]
    conditions: list[StoredCondition]


class VerdictFile(TypedDict):
    """The verdicts of a scale by claim; without `split`, on the usual test set.

    A scale of your own comes with its configuration, so that its verdicts can be derived again.
    """

    format: int
    scale: str
    configuration: NotRequired[dict[str, Any]]
    split: NotRequired[str]
    verdicts: dict[str, StoredVerdict]


def as_stored(verdict: Verdict, test: str) -> StoredVerdict:
    """Convert a verdict to its stored form."""
    stored = StoredVerdict(
        test=test,
        claim=verdict.claim,
        status=verdict.status,
        conditions=[_stored_condition(judged) for judged in verdict.conditions],
    )
    if verdict.missing:
        stored["missing"] = verdict.missing
    if verdict.planned:
        stored["planned"] = verdict.planned
    if any(verdict.power):
        stored["power"] = [[*map(_stored_power, of)] for of in verdict.power]
    if verdict.first_look:
        stored["first_look"] = list(verdict.first_look)
    return stored


def _stored_condition(judged: Judged) -> StoredCondition:
    """Return a judged condition, with what likelihood says, as a verdict stores it."""
    stored = StoredCondition(**_stored_number(judged))
    if judged.likelihood is not None:
        stored["likelihood"] = _stored_number(judged.likelihood)
    return stored


def _stored_number(judged: Judged) -> StoredNumber:
    """Return the number and outcome of a judged condition as a verdict stores them."""
    stored = StoredNumber(condition=judged.condition, outcome=judged.outcome)
    if judged.reason:
        stored["reason"] = judged.reason
    if judged.power:
        stored["power"] = [*map(_stored_power, judged.power)]
    if judged.found is None:
        return stored
    for field in fields(Estimate):
        value = getattr(judged.found, field.name)
        if field.name == "value" or (field.name != "step" and value != field.default):
            stored[field.name] = _plain(value)  # type: ignore[literal-required]
    return stored


def _stored_power(power: Power) -> StoredPower:
    """Return the power of a condition as a verdict stores it."""
    return StoredPower(truth=power.truth, of=power.of, chance=power.chance)


def _plain(value: Any) -> Any:
    """Convert a value in a verdict's number to a JSON value."""
    if not isinstance(value, tuple):
        return value
    return dict(value) if isinstance(value[0], tuple) else list(value)


def as_verdict(stored: StoredVerdict) -> Verdict:
    """Convert a stored verdict to an object."""
    conditions = tuple(_judged(condition) for condition in stored["conditions"])
    first = stored.get("first_look")
    return Verdict(
        stored["claim"],
        stored["status"],
        conditions,
        stored.get("missing", ""),
        stored.get("planned", 0),
        (first[0], first[1]) if first else None,
        tuple(tuple(Power(**one) for one in of) for of in stored.get("power", ())),
        tuple(map(_history_line, stored.get("history", ()))),
    )


def given_up(stored: StoredVerdict, when: str) -> list[GivenUp]:
    """Return the history of a verdict that is given up now, itself included."""
    verdict = as_verdict(stored)
    last = GivenUp(
        discarded=when,
        test=stored["test"],
        status=verdict.status,
        reason=verdict.reason,
        evidence=list(verdict.evidence),
    )
    return [*stored.get("history", []), last]


def _history_line(earlier: GivenUp) -> str:
    """Return an earlier verdict in words."""
    found = "; ".join(earlier["evidence"] or [earlier["reason"]])
    return (
        f"on {earlier['discarded'][:10]} the verdict by the test {earlier['test']} was given up: "
        f"{earlier['status']}: {found}"
    )


def _judged(stored: StoredCondition | StoredNumber) -> Judged:
    """Return the judged condition that a verdict stores."""
    about: dict[str, Any] = dict(stored)
    if "likelihood" in about:
        likelihood = _judged(about.pop("likelihood"))
        return replace(_judged(cast(StoredNumber, about)), likelihood=likelihood)
    condition, outcome = about.pop("condition"), about.pop("outcome")
    reason = about.pop("reason", "")
    power = tuple(Power(**one) for one in about.pop("power", ()))
    if "value" not in about:
        return Judged(condition, outcome, reason=reason)
    if "seeds" in about:
        about["seeds"] = tuple(about["seeds"])
    if "shares" in about:
        about["shares"] = tuple(about["shares"].items())
    return Judged(condition, outcome, Estimate(**about), reason, power)


def verdict_faults(values: Any) -> Iterator[str]:
    """Yield a message for every fault in a file of verdicts; may raise after the first."""
    yield from type_faults(values, VerdictFile)
    for claim, verdict in values["verdicts"].items():
        if verdict["claim"] != claim:
            yield f"{claim} is of {verdict['claim']}"
        for condition in verdict["conditions"]:
            yield from _number_faults(claim, condition, {"likelihood"})
            if "likelihood" in condition:
                yield from _number_faults(claim, condition["likelihood"], set())


def _number_faults(claim: str, stored: StoredNumber, more: set[str]) -> Iterator[str]:
    """Yield a message for every fault in a stored number of a verdict."""
    if unknown := stored.keys() - StoredNumber.__annotations__.keys() - more:
        yield f"{claim}: unknown {', '.join(unknown)}"
    if "value" not in stored and "reason" not in stored:
        yield f"{claim}: a condition has a value, or a reason why there is none"


def first_difference(stored: StoredVerdict, derived: StoredVerdict) -> str:
    """Describe the first difference of a stored from a derived verdict; empty if none."""
    if stored["status"] != derived["status"]:
        evidence = "; ".join(as_verdict(derived).evidence)
        return f"stored {stored['status']}, derived {derived['status']}: {evidence}"
    # records do not tell when somebody looked, or gave a verdict up
    now = {name: of for name, of in stored.items() if name not in ("first_look", "history")}
    return next(_differences(now, derived, ""), "")


def _differences(stored: Any, derived: Any, where: str) -> Iterator[str]:
    """Yield every place where a stored verdict differs from a derived one."""
    if isinstance(derived, dict) and isinstance(stored, dict):
        for name in sorted(stored.keys() | derived.keys()):
            yield from _differences(
                stored.get(name), derived.get(name), f"{where}.{name}".lstrip(".")
            )
    elif isinstance(derived, list) and isinstance(stored, list) and len(stored) == len(derived):
        for place, pair in enumerate(zip(stored, derived, strict=True)):
            yield from _differences(*pair, f"{where}[{place}]")
    elif not _same(stored, derived):
        yield f"{where}: stored {stored!r}, derived {derived!r}"


def _same(stored: Any, derived: Any) -> bool:
    """Return whether two values of a verdict are equal up to rounding."""
    if isinstance(stored, float) and isinstance(derived, float):
        return math.isclose(stored, derived, rel_tol=0, abs_tol=TOLERANCE)
    return stored == derived
