"""Compare two groups of contrastive pairs: on which of them a model loses more against another."""

import math
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from repro.claims.bins import MIN_SENTENCES
from repro.claims.evidence import Evidence, NotMeasured
from repro.claims.settings import Setting
from repro.contrastive.scoring import decisions
from repro.papers.suites import result_of
from repro.statistics.intervals import Estimate, Undefined, over_seeds, paired_difference

MIN_PAIRS = MIN_SENTENCES  # of a group: fewer give no useful interval


def extra_loss_far_apart(evidence: Evidence, error: str, of: Setting, against: Setting) -> Estimate:
    """Return the number of a paper's claim that a setting loses more on far pairs.

    Pairs are far if they span more words than the median. The loss is in accuracy, against the
    second setting, over the same pairs.

    Raises:
        NotMeasured: a setting was not measured, or they were scored on different pairs.
        Undefined: fewer than `MIN_PAIRS` pairs in a group.
    """

    def groups(items: dict[str, Any]) -> list[bool | None]:
        known = [
            distance if kind == error else None
            for distance, kind in zip(items["distance"], _types(items), strict=True)
        ]
        if not (given := [distance for distance in known if distance is not None]):
            raise Undefined(f"there are no pairs of {error} with a distance")
        middle = median(given)
        return [None if distance is None else distance > middle for distance in known]

    return _extra_loss(evidence, of, against, groups)


def extra_loss_on(
    evidence: Evidence, errors: Sequence[str], of: Setting, against: Setting
) -> Estimate:
    """Return the number of a paper's claim that a setting loses more on some error types.

    Raises: as `extra_loss_far_apart`.
    """
    return _extra_loss(
        evidence, of, against, lambda items: [kind in errors for kind in _types(items)]
    )


def _extra_loss(
    evidence: Evidence,
    of: Setting,
    against: Setting,
    groups: Callable[[dict[str, Any]], list[bool | None]],
) -> Estimate:
    """Return a paper's number: the loss on contrastive pairs marked True less that on False."""
    found = []
    for seed in evidence.shared_seeds(["contrastive"], (of, against)):
        first, second = (result_of(evidence, setting, None, seed) for setting in (against, of))
        if first["suite"]["sha256"] != second["suite"]["sha256"]:
            raise NotMeasured(
                f"contrastive pairs of {of} and {against}",
                "they were scored on two suites",
                "repro run scores both on one",
            )
        right, marks = (decisions(first), decisions(second)), groups(first["items"])
        found.append(_between_groups(right, marks))
    return over_seeds(found)


def _between_groups(right: tuple[list[bool], list[bool]], marks: Sequence[bool | None]) -> Estimate:
    """Subtract the loss on one group of contrastive pairs from that on another.

    The pairs of both are independent.
    """
    losses = []
    for group in (True, False):
        inside = [place for place, mark in enumerate(marks) if mark is group]
        if len(inside) < MIN_PAIRS:
            raise Undefined(f"only {len(inside)} pairs in a group")
        first, second = ([side[place] for place in inside] for side in right)
        losses.append(paired_difference(first, second, f"{len(inside):,}"))
    inside, outside = losses
    value = inside.value - outside.value
    low = math.hypot(inside.value - inside.ends[0], outside.ends[1] - outside.value)
    high = math.hypot(inside.ends[1] - inside.value, outside.value - outside.ends[0])
    over = f"{inside.over} against {outside.over} pairs"
    return Estimate(value, value - low, value + high, inside.level, over)


def _types(items: dict[str, Any]) -> list[str]:
    """Return the error type of each contrastive pair that a paper's claim compares."""
    return [items["type"]["names"][of] for of in items["type"]["of"]]
