"""The power of a condition, and what cannot be decided here whatever the truth."""

import math
from dataclasses import replace

import numpy as np
import pytest
from paper_records import BASE, HARD, claim_of, damaged, score_record
from scipy import stats

from repro.claims.composed import Given
from repro.claims.conditions import Check, Contrast, better, not_worse
from repro.claims.evidence import Evidence
from repro.claims.testable import MIN_POWER, errors_of
from repro.statistics.intervals import Estimate, estimate, kth_largest
from repro.statistics.noise import SeedNoise, variance_between_systems
from repro.statistics.power import Errors


@pytest.mark.parametrize("truth", [-0.4, 0.0, 0.6])
@pytest.mark.parametrize("bounds", [(-0.5, None), (-0.9, 0.9), (None, 0.8)])
def test_power_is_how_often_simulated_intervals_keep_the_bounds(truth, bounds):
    random = np.random.default_rng(0)
    errors, degrees = Errors(0.2, 0.15, 6), 6
    held = []
    for value, ratio in zip(
        random.normal(truth, math.hypot(0.2, 0.15), 4000),
        random.chisquare(degrees, 4000) / degrees,
        strict=True,
    ):
        noise = SeedNoise(0.15**2 * ratio, degrees)
        found = estimate(value, 0.2 / math.sqrt(2) * np.array([-1, 1]), [3], noise)
        low, high = (-math.inf if bounds[0] is None else bounds[0]), bounds[1] or math.inf
        held.append(low <= found.low and found.high <= high)
    assert errors.chance_to_hold(truth, *bounds) == pytest.approx(np.mean(held), abs=0.025)


def test_without_errors_power_is_certainty():
    assert [Errors(0.0).chance_to_hold(truth, 0.0, 1.0) for truth in (0.5, 1.5)] == [1.0, 0.0]


def test_what_systems_share_over_sentences_is_no_part_of_their_difference():
    random = np.random.default_rng(1)
    common, own = random.normal(size=4000), random.normal(size=(21, 1, 4000))
    own[0] *= 10  # one system unlike all others
    by_seed = 2 * random.normal(size=(21, 3, 4000))
    found = variance_between_systems((5 * common + own + by_seed) / 4000, 4 / 4000)
    assert found == pytest.approx(1 / 4000, rel=0.1)
    assert variance_between_systems(by_seed[:1], 4 / 4000) == 0.0


def test_a_number_of_too_few_seeds_has_no_known_power():
    counted = Estimate(7.0, -31.0, 45.0, 0.95, seeds=(2, 2), counts_seeds=True)
    assert errors_of(counted, 3) is None and errors_of(counted, 2) == Errors.of_interval(-31, 45)
    of_bleu = replace(counted, unit="BLEU")
    assert errors_of(of_bleu, 8) == Errors.of_interval(-19, 19)
    assert errors_of(replace(of_bleu, counts_seeds=False), 2) is None


@pytest.fixture(scope="module")
def runs(refs) -> Evidence:
    """Three seeds of two systems; none of the others."""
    return Evidence(
        "smoke",
        [
            score_record(setting, damaged(refs, every + seed), seed)
            for setting, every in ((BASE, 3), (HARD, 4))
            for seed in (1, 2, 3)
        ],
    )


def test_power_is_known_before_the_runs_of_the_settings_and_grows_with_seeds(runs, refs):
    not_run = [(1.0, better(HARD, BASE).settings[0]), (-1.0, BASE)]
    few, many = (runs.planned_errors(not_run, seeds) for seeds in (3, 12))
    assert few.sentences == many.sentences >= 0
    assert few.seeds == pytest.approx(2 * many.seeds) and few.degrees == 4
    assert few.chance_to_hold(2.0, 0.0, None) < many.chance_to_hold(2.0, 0.0, None)
    one_each = [score_record(BASE, refs, 1), score_record(HARD, refs, 1)]
    assert Evidence("smoke", one_each).planned_errors(not_run, 3) is None


def judged(condition, evidence, reported=None):
    return claim_of(condition).judge(evidence, lambda _: reported)


def test_a_room_smaller_than_the_interval_is_not_tested(runs):
    gap = runs.contrast([(1, HARD), (-1, BASE)]).value
    narrow = Contrast(((1, HARD), (-1, BASE)), gap - 0.1, gap + 0.1)
    verdict = judged(narrow, runs)
    assert verdict.status == "not testable here"
    assert verdict.reason.startswith("the room between the bounds, 0.2, is too small")
    # what lies outside is decided all the same
    outside = Contrast(((1, HARD), (-1, BASE)), gap + 100, gap + 100.2)
    assert judged(outside, runs).status == "not reproduced"


def test_a_claim_whose_effect_would_rarely_show_is_not_tested(runs):
    gap = runs.contrast([(1, HARD), (-1, BASE)]).value
    bound = Contrast(((1, HARD), (-1, BASE)), at_least=gap)
    small, large = (judged(bound, runs, gap + more) for more in (0.1, 100.0))
    assert (small.status, large.status) == ("not testable here", "undecided")
    assert small.conditions[0].power[1].chance < MIN_POWER < large.conditions[0].power[1].chance
    assert "(as reported)" in small.reason and "power of at most" in small.reason
    # nothing is known of what the claim expects
    assert judged(bound, runs).status == "undecided"


def of_accuracy(value, half, right, chance, low, high=None):
    shares = (("right", right), ("by chance", chance))
    found = Estimate(value, value - half, value + half, 0.95, "pairs", shares=shares)
    return Check("accuracy", lambda _: found, (), at_least=low, at_most=high, null=0.0)


def test_a_ceiling_and_a_floor_are_not_tested(runs):
    ceiling = judged(of_accuracy(0.0, 1.0, 98.9, 50.0, -2.0, 2.0), runs)
    assert ceiling.status == "not testable here"
    assert ceiling.reason == "a ceiling: 98.9 % are right, so none can be 2 points better"
    assert judged(of_accuracy(0.0, 1.0, 97.0, 50.0, -2.0, 2.0), runs).status == "reproduced"
    floor = judged(of_accuracy(-0.4, 5.2, 46.3, 38.4, 1.0), runs)
    assert floor.status == "not testable here" and floor.reason.startswith("a floor: power of")
    assert judged(of_accuracy(-0.4, 5.2, 80.0, 38.4, 1.0), runs).status == "undecided"
    assert judged(of_accuracy(-9.4, 5.2, 46.3, 38.4, 1.0), runs).status == "not reproduced"


def test_a_condition_without_its_premise_is_void(runs):
    gap = runs.contrast([(1, HARD), (-1, BASE)])
    condition = not_worse(HARD, BASE, 100.0)
    for premise, status in (
        (Contrast(((1, HARD), (-1, BASE)), at_least=gap.low - 1), "reproduced"),
        (Contrast(((1, HARD), (-1, BASE)), at_least=gap.value), "not testable here"),
        (Contrast(((1, HARD), (-1, BASE)), at_least=gap.high + 1), "not testable here"),
    ):
        verdict = judged(Given(premise, condition), runs)
        assert verdict.status == status
        assert status == "reproduced" or premise.describe() in verdict.reason
    digests = {
        claim_of(one).digest("smoke")
        for one in (condition, Given(condition, condition), Given(better(HARD, BASE), condition))
    }
    assert len(digests) == 3


@pytest.mark.parametrize(("share", "true", "at_most"), [(0.8, 1, 0.03), (0.8, 2, 0.03)])
def test_the_joint_interval_of_bins_errs_as_rarely_as_it_says(share, true, at_most):
    """Most bins are truly lower by far, the others equal: the fourth largest of five is 0."""
    random = np.random.default_rng(2)
    truths = np.array([9.0] * (5 - true) + [0.0] * true)
    above, below = [], []
    for values in random.normal(truths, 1.0, (4000, 5)):

        def numbers(comparisons, values=values):
            half = stats.norm.isf(0.025 / comparisons)
            return [Estimate(value, value - half, value + half, 0.95) for value in values]

        found = kth_largest(numbers, share)
        above.append(found.low > np.sort(truths)[1])
        below.append(found.high < np.sort(truths)[1])
    assert np.mean(above) <= at_most and np.mean(below) <= at_most


def test_the_joint_number_is_the_one_that_so_many_bins_reach():
    found = kth_largest(lambda _: [Estimate(v, v - 1, v + 1, 0.95) for v in (5, 1, 4, 2, 3)], 0.8)
    assert (found.value, found.low, found.high, found.over) == (2, 1, 3, "4 of 5 bins")
