"""Runs that go on from one run are compared in pairs."""

import math

import numpy as np
import pytest
from paper_records import BASE, HARD, bleu, damaged, score_record
from scipy import stats

from repro.claims.evidence import Evidence
from repro.claims.paired import degrees_within_pairs
from repro.claims.settings import Setting
from repro.statistics.noise import influences_on
from repro.statistics.resampling import bleu_of_sums

PENALTIES = (0.1, 0.2)


def going_on(seed: int, penalty: float = 0.0) -> Setting:
    """Return a setting that goes on from the base of a seed."""
    gates = (
        (f"train.gate_penalty={penalty}", 'model.gated_sites=["encoder_self"]') if penalty else ()
    )
    return Setting("base", (f"train.start_from=base-seed{seed}", *gates))


def pruned_records(refs: list[str]) -> tuple[list[dict], list[list[float]]]:
    """Return records of models that lose little against their control, which differs by seed.

    Also the differences in BLEU, by penalty and seed.
    """
    records, differences = [score_record(BASE, refs, seed) for seed in (1, 2)], []
    controls = {1: damaged(refs, 3), 2: damaged(refs, 9)}
    for seed, hyps in controls.items():
        records.append(score_record(going_on(seed), hyps, seed))
    for place, penalty in enumerate(PENALTIES):
        of_seeds = []
        for seed, hyps in controls.items():
            pruned = [*damaged(refs, 10 * (place + 1) - seed)[:200], *hyps[200:]]
            records.append(score_record(going_on(seed, penalty), pruned, seed))
            of_seeds.append(bleu(pruned, refs) - bleu(hyps, refs))
        differences.append(of_seeds)
    return records, differences


def pairs_of(penalty: float) -> list[tuple[str, str]]:
    return [
        tuple(of.config("smoke", seed).digest() for of in (going_on(seed, penalty), going_on(seed)))
        for seed in (1, 2)
    ]


def test_what_both_models_of_a_pair_go_on_from_is_no_part_of_the_noise(refs):
    records, differences = pruned_records(refs)
    evidence = Evidence("smoke", records)
    found = evidence.difference(pairs_of(0.1), BASE)
    assert found.value == pytest.approx(np.mean(differences[0]))
    pairs = [tuple(map(evidence.scores_by, pair)) for pair in pairs_of(0.1)]
    noise = evidence._pair_noise(pairs)
    assert noise.variance == pytest.approx(np.var(differences, axis=1, ddof=1).mean())
    assert noise.degrees == pytest.approx(2 * 4 / 5)
    changes = [
        [
            influences_on(bleu_of_sums, evidence._sums_of(first))
            - influences_on(bleu_of_sums, evidence._sums_of(second))
            for first, second in (map(evidence.scores_by, pair) for pair in pairs_of(penalty))
        ]
        for penalty in PENALTIES
    ]
    assert noise.shared == pytest.approx(sum(((a - b) ** 2).sum() / 2 for a, b in changes) / 2)
    # with the control of the other seed: as for any two systems
    (one, its_control), (other, its_own) = pairs_of(0.1)
    several = [score_record(HARD, damaged(refs, every), every) for every in (3, 9)]
    wide = Evidence("smoke", [*records, *several]).difference(
        [(one, its_own), (other, its_control)], BASE
    )
    assert wide.counts_seeds and wide.high - wide.low > 2 * (found.high - found.low)


@pytest.mark.parametrize(("models", "seeds"), [(1, 2), (2, 3), (6, 2), (6, 3)])
def test_differences_to_one_control_tell_less_than_as_many_independent_ones(models, seeds):
    """With the degrees of freedom of independent ones, 92.6 % hold the truth at (6, 2)."""
    random = np.random.default_rng(0)
    differences = random.normal(size=(20_000, models, seeds))
    differences -= random.normal(size=(20_000, 1, seeds))
    degrees = degrees_within_pairs(models * (seeds - 1), models)
    errors = np.sqrt(differences.var(axis=2, ddof=1).mean(axis=1) / seeds)
    held = np.abs(differences[:, 0].mean(axis=1)) <= stats.t.ppf(0.975, degrees) * errors
    assert 0.945 < held.mean() < 0.98 and math.isfinite(degrees)
