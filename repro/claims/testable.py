"""Tell whether a condition can be decided here, and how likely it holds if its claim is true.

The power of a condition is the chance that it holds for a given true number. It follows from the
bounds, the number of seeds and what is known of the errors, not from the number that was found.
Truths that are looked at: that nothing differs, and what the paper reports.

A condition is not testable here

- at a ceiling: so many decisions are right that no difference can reach a bound;
- if the room between its bounds is too small for the interval, so that no truth could show;
- at a floor: were the masked head half of what a model knows above chance, it would rarely show;
- if its power is below 20 % at every known truth that keeps the bounds.

A condition that fails is decided all the same, and one that holds unless it is at a ceiling.
"""

import math
from dataclasses import replace
from typing import Protocol

from repro.claims.outcomes import Bounded, Judged, Power
from repro.statistics.intervals import Estimate
from repro.statistics.power import Errors

MIN_POWER = 0.20
ZERO, REPORTED, HALF_KNOWN = "nothing differs", "as reported", "half of what it knows above chance"


class Testable(Bounded, Protocol):
    """A condition with bounds whose true number may be `null` if nothing differs; None = any."""

    @property
    def null(self) -> float | None: ...


def with_power(
    condition: Testable, judged: Judged, errors: Errors | None, reported: float | None
) -> Judged:
    """Add its power to the outcome of a condition, and say if it cannot be decided here.

    Args:
        condition: what was judged.
        judged: its outcome.
        errors: of its number; None = not known.
        reported: the number of the paper; None = not known.
    """
    found = judged.found
    if found is None:
        return judged
    power = power_of(condition, errors, reported, found)
    judged = replace(judged, power=power)
    reason = _ceiling(condition, found) if judged.outcome in ("holds", "open") else ""
    if judged.outcome == "open" and errors is not None:
        reason = reason or _no_room(condition, errors) or _too_weak(condition, power)
    return replace(judged, outcome="not testable", reason=reason) if reason else judged


def power_of(
    condition: Testable,
    errors: Errors | None,
    reported: float | None,
    found: Estimate | None = None,
) -> tuple[Power, ...]:
    """Return the chances that a condition holds at all known truths; none without errors.

    Args:
        condition, errors, reported: see `with_power`.
        found: its number, if it was run.
    """
    known = _half_known(condition, found) if found else None
    truths = ((condition.null, ZERO), (reported, REPORTED), (known, HALF_KNOWN))
    return tuple(
        Power(truth, of, errors.chance_to_hold(truth, condition.at_least, condition.at_most))
        for truth, of in truths
        if truth is not None and errors is not None
    )


def errors_of(found: Estimate | None, seeds: int) -> Errors | None:
    """Return the errors of a condition's number with so many seeds, by its interval now.

    The interval is taken for a normal one's. A variance over a few seeds alone says little of that
    over more: then the errors are not known.
    """
    if found is None or found.low is None or found.high is None:
        return None
    if found.unit and not found.counts_seeds:
        return None
    few = min(seeds, found.seeds[0]) if found.seeds else seeds
    if few < seeds and not found.unit:
        return None
    return Errors.of_interval(found.low, found.high, math.sqrt(few / seeds))


def _half_known(condition: Testable, found: Estimate) -> float | None:
    """Return half of a setting's accuracy above chance, for a condition on a loss of accuracy."""
    shares = dict(found.shares)
    if "by chance" not in shares or condition.at_least is None or condition.at_least <= 0:
        return None
    return (shares["right"] - shares["by chance"]) / 2


def _ceiling(condition: Testable, found: Estimate) -> str:
    """Say why a condition cannot hold because nearly all is right; empty if it can."""
    right = dict(found.shares).get("right")
    if right is None or condition.at_most is None or 100 - right >= condition.at_most:
        return ""
    return f"a ceiling: {right:.1f} % are right, so none can be {condition.at_most:g} points better"


def _no_room(condition: Testable, errors: Errors) -> str:
    """Say why no interval fits between a condition's bounds; empty if one does."""
    low, high = condition.at_least, condition.at_most
    if low is None or high is None:
        return ""
    best = errors.chance_to_hold((low + high) / 2, low, high)
    room = f"the room between the bounds, {high - low:g}, is too small for the interval"
    return "" if best >= MIN_POWER else f"{room}: power of at most {100 * best:.0f} %"


def _too_weak(condition: Testable, power: tuple[Power, ...]) -> str:
    """Say why a condition cannot be shown even if the claim is true; empty if it can."""
    low, high = condition.at_least, condition.at_most
    claimed = [
        one
        for one in power
        if (low is None or one.truth > low) and (high is None or one.truth < high)
    ]
    if not claimed or max(one.chance for one in claimed) >= MIN_POWER:
        return ""
    best = max(claimed, key=lambda one: one.chance)
    floor = "a floor: " if best.of == HALF_KNOWN else ""
    return f"{floor}power of at most {100 * best.chance:.0f} %, at {best.truth:+.2g} ({best.of})"
