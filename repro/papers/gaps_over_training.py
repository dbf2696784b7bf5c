"""Tell whether what a system gains over a baseline lasts while both are trained.

A gain that closes is one in the speed of learning: a shortcut to what attention learns anyway. One
that lasts is a prior: the model generalises better for it. The papers report the last score alone,
which cannot tell the two apart.
"""

from collections.abc import Sequence

from repro.claims.curves import dev_gaps
from repro.claims.evidence import Evidence, NotMeasured
from repro.claims.settings import Setting
from repro.markdown import table
from repro.statistics.intervals import Estimate

EARLY = 1 / 4  # of the updates: the first evaluations are of models that have learned little
LASTS, CLOSES, BEHIND, OPEN = "lasts", "closes", "falls behind", "open"
MEANING = {
    LASTS: "a gain early and, perhaps smaller, at the end",
    CLOSES: "a gain early, and less than half of it at the end, if any",
    BEHIND: "worse than the first at the end",
    OPEN: "anything else, as always with one seed",
}


def gaps_over_training(evidence: Evidence, settings: Sequence[Setting]) -> str:
    """Return the gaps to the first setting early, halfway and at the end, and what they say.

    It is a part to add to a table. It is empty without any dev curve, which older records lack.
    """
    first, found = settings[0], {}
    for setting in settings[1:]:
        try:
            found[setting] = list(dev_gaps(evidence, setting, first).values())
        except NotMeasured:
            continue
    if not found:
        return ""
    rows = [
        [
            str(setting),
            *(_said(at(gaps, share)) for share in (EARLY, 1 / 2, 1)),
            what_of_a_gain(at(gaps, EARLY), gaps[-1]),
        ]
        for setting, gaps in found.items()
    ]
    readings = [row[-1] for row in rows]
    said = "; ".join(f"**{name}**, {MEANING[name]}: {readings.count(name)}" for name in MEANING)
    header = ["system", "after a quarter of the updates", "after half", "at the end", "the gain"]
    return (
        f"\n\nDev nats per token minus those of {first} over training; below zero is better.\n\n"
        f"{table(header, rows)}\n\nSystems: {len(rows)}. {said}."
    )


def _said(gap: Estimate) -> str:
    """Return a gap with its interval and seeds; without another seed there is no interval."""
    return gap.measured() if gap.counts_seeds else f"{gap.value:+.3f}, {gap.seeds_said()}"


def at(gaps: Sequence[Estimate], share: float) -> Estimate:
    """Return the first gap after a share of the updates, which are evenly spaced."""
    return gaps[max(0, round(share * len(gaps)) - 1)]


def what_of_a_gain(early: Estimate, end: Estimate) -> str:
    """Return what becomes of an early gain, by the intervals of both gaps over seeds."""
    low, high = end.bounds
    if low > 0:
        return BEHIND
    if early.bounds[1] >= 0:
        return OPEN
    if high < 0:
        return LASTS
    return CLOSES if low > early.value / 2 else OPEN
