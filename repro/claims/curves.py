"""Follow the gap between a system and a baseline over training, by the dev curves of records.

A gap that closes while training goes on is a difference in the speed of learning. One that stays
is a difference between what the models can learn.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from repro.claims.endpoints import NATS
from repro.claims.evidence import Evidence, NotMeasured
from repro.claims.settings import Setting, has_size_of_scale
from repro.core.config import RunConfig, from_dict
from repro.records.likelihood import dev_curve
from repro.statistics.intervals import Estimate, estimate
from repro.statistics.noise import SeedNoise

Curve = dict[int, float]  # nats per token by update


def dev_gaps(evidence: Evidence, setting: Setting, base: Setting) -> dict[int, Estimate]:
    """Return the evidence of dev curves: nats per token minus a baseline's, by update.

    A gap is the difference of means over seeds, at the updates that all their curves have. Its
    interval is over seeds. Their variance at an update is pooled over all systems of the direction
    that have several, as that of scores.

    Raises:
        NotMeasured: no seed of one of the two has a curve.
    """
    ours, theirs = (_curves(evidence, of) for of in (setting, base))
    updates = set.intersection(*(set(curve) for curve in [*ours, *theirs]))
    others = _several(evidence, setting)
    return {
        update: _gap(
            update,
            [[curve[update] for curve in curves] for curves in (ours, theirs)],
            [[c[update] for c in curves if update in c] for curves in others],
        )
        for update in sorted(updates)
    }


def _gap(update: int, pair: Sequence[list[float]], others: list[list[float]]) -> Estimate:
    """Return a gap of dev curves as evidence: a mean over seeds, with the spread of others."""
    ours, theirs = pair
    noise = SeedNoise.pooled(others)
    scaled = noise and noise.times(1 / len(ours) + 1 / len(theirs))
    value, counts = np.mean(ours) - np.mean(theirs), [len(ours), len(theirs)]
    still = np.zeros(2)  # no resample moves it
    over = f"dev after {update:,} updates"
    return estimate(float(value), still, counts, scaled, unit=NATS, over=over)


def _curves(evidence: Evidence, setting: Setting) -> list[Curve]:
    """Return the dev curve of every seed of a setting that a claim compares."""
    records = [evidence.scores(setting, seed) for seed in evidence.seeds(setting)]
    found = [curve for curve in map(dev_curve, records) if curve]
    if not found:
        raise NotMeasured(
            f"the dev curve of {setting}",
            f"in no record at {evidence.scale}",
            "repro evaluate adds it for a run that is here",
        )
    return found


def _several(evidence: Evidence, like: Setting) -> list[list[Curve]]:
    """Return the dev curves, by system, of all systems that are trained as a setting is."""
    data, systems = like.config(evidence.scale).data, defaultdict(list)
    for record in evidence.all("scores"):
        config = from_dict(RunConfig, record["config"])
        if config.data == data and has_size_of_scale(config) and (curve := dev_curve(record)):
            systems[config.group_key()].append(curve)
    return list(systems.values())
