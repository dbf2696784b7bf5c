"""Differences between runs that go on from one run, such as a pruned model and its control.

Such a difference is taken within pairs: the run that both go on from is no part of its variance.
That variance is pooled over pruned models that differ in their penalty alone. All of one seed are
compared with one control, so they tell less than as many independent ones. Were pruned models and
controls to vary equally, differences of one seed would correlate by 1/2. Then m of them have
4 m / (m + 3) degrees of freedom instead of m (Satterthwaite 1946, for m correlated squares).
"""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from repro.claims.contrasts import WHOLE, Contrasts
from repro.claims.finding import Record
from repro.claims.settings import Setting
from repro.statistics.intervals import Estimate
from repro.statistics.noise import SeedNoise, influences_on
from repro.statistics.resampling import NUM_SAMPLES, scores_of_resamples


class PairedRuns(Contrasts):
    """Records of one scale whose runs can be compared in pairs; see `RecordsOfScale`."""

    def difference(self, pairs: Sequence[tuple[str, str]], like: Setting) -> Estimate:
        """Return a claim's mean difference in score, first minus second, over pairs of runs.

        Seeds count within pairs where both runs of each go on from one run, else as for any two
        systems. Raises as `scores_by`.

        Args:
            pairs: one pair per seed, each run by the digest of its configuration.
            like: a setting on the same test set.
        """
        value, resampled = 0.0, np.zeros(NUM_SAMPLES)
        runs = [(self.scores_by(first), self.scores_by(second)) for first, second in pairs]
        for pair in runs:
            for weight, record in zip((1 / len(pairs), -1 / len(pairs)), pair, strict=True):
                sums = self._sums_of(record)
                value += weight * self.endpoint.of(sums)
                resampled += weight * scores_of_resamples(self.endpoint.score, sums)
        within = all(_start(first) == _start(second) for first, second in runs)
        if not (within and (noise := self._pair_noise(runs))):
            seeds = self._seed_noise(like, WHOLE)
            noise = seeds and seeds.times(2)
        return self._estimate(value, resampled, [len(pairs)], noise and noise.times(1 / len(pairs)))

    def _pair_noise(self, pairs: Sequence[tuple[Record, Record]]) -> SeedNoise | None:
        """Estimate how much other seeds would move a claim's difference within such pairs."""
        models = {_system(first, ("seed", "start_from", "gate_penalty")) for first, _ in pairs}
        others = {_system(second) for _, second in pairs}
        scored = self.all("scores")
        controls = {_start(record): record for record in scored if _system(record) in others}
        score = self.endpoint.score
        values: dict[str, list[float]] = defaultdict(list)
        influences: dict[str, list[np.ndarray]] = defaultdict(list)
        for record in scored:
            control = controls.get(_start(record))
            if not (control and self._holds(record) and self._holds(control)):
                continue
            if _system(record, ("seed", "start_from", "gate_penalty")) in models:
                first, second = self._sums_of(record), self._sums_of(control)
                values[_system(record)].append(self.endpoint.of(first) - self.endpoint.of(second))
                influences[_system(record)].append(
                    influences_on(score, first) - influences_on(score, second)
                )
        noise = SeedNoise.pooled(values.values(), influences.values())
        several = sum(len(of_system) > 1 for of_system in values.values())
        return noise and replace(noise, degrees=degrees_within_pairs(noise.degrees, several))


def degrees_within_pairs(degrees: float, models: int) -> float:
    """Return the degrees of freedom of a claim on pairs that share a control.

    Args:
        degrees: as if all differences were independent.
        models: how many a seed has, each compared with the control.
    """
    return degrees * 4 / (models + 3)


def _start(record: Record) -> str:
    """Return the run that a paired run goes on from; its own name if from none."""
    return record["config"]["train"].get("start_from") or record["run"]


def _system(record: Record, without: Sequence[str] = ("seed", "start_from")) -> str:
    """Return the configuration of a paired run without what differs between its seeds."""
    train = {name: of for name, of in record["config"]["train"].items() if name not in without}
    return json.dumps(record["config"] | {"train": train}, sort_keys=True)
