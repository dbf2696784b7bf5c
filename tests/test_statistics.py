"""Differences and their intervals: how sure seeds and sentences let anybody be, against simulations
and formulas."""

import math
from dataclasses import replace

import numpy as np
import pytest
import sacrebleu
from paper_records import BASE, damaged, score_record
from scipy import stats

from repro.claims.conditions import decide
from repro.records.translations import statistics_of
from repro.statistics.comparing import count_texts
from repro.statistics.intervals import (
    Undefined,
    estimate,
    median,
    paired_difference,
    rank_correlation,
)
from repro.statistics.metrics import TOKENISED, score_of_sums
from repro.statistics.noise import SeedNoise, influences_on
from repro.statistics.power import detectable, minimum_detectable
from repro.statistics.resampling import bleu_of_resamples, bleu_of_sums, resamples


def test_an_interval_adds_what_seeds_and_sentences_leave_open():
    random = np.random.default_rng(0)
    inside = []
    # systems of three seeds, two of them compared; another test set moves their difference by 1, a
    # seed each by 2
    for _ in range(4000):
        systems = random.normal(0.0, 2.0, size=(5, 3))
        noise = SeedNoise.pooled(systems.tolist()).times(2 / 3)
        found = estimate(
            random.normal() + systems[0].mean() - systems[1].mean(),
            random.normal(size=200),
            [3, 3],
            noise,
        )
        inside.append(found.low <= 0 <= found.high)
    assert 0.945 < np.mean(inside) < 0.97  # 0.955 with ten degrees of freedom
    sentences = random.normal(size=1000)
    alone = estimate(1.0, sentences, [1], None)
    half = 1.96 * sentences.std(ddof=1)
    assert (alone.low, alone.high) == pytest.approx(
        (1 - half, 1 + half), abs=1e-3
    ) and alone.detectable is None
    # seeds that change nothing
    assert estimate(1.0, sentences, [1, 3], SeedNoise(0.0, 2)).high == pytest.approx(alone.high)


def test_an_interval_is_never_narrower_than_that_of_its_sentences():
    """Also where the seeds that are known differ less than their sentences alone make them."""
    sentences = np.random.default_rng(1).normal(size=1000)
    alone = estimate(0.0, sentences, [2], None)
    shared = float(sentences.var(ddof=1)) / 2
    assert estimate(0.0, sentences, [2], SeedNoise(0.0, 30, shared)).high == alone.high
    assert estimate(0.0, sentences, [2], SeedNoise(4 * shared, 30, shared)).high > alone.high


@pytest.mark.parametrize("ratio", [0.3, 1.0, 3.0])
def test_one_pair_of_seeds_tells_little_and_its_intervals_are_wide_enough(ratio):
    random = np.random.default_rng(0)
    inside = []
    # one system of two seeds, one of a single seed; a seed moves each so many times as much as
    # another test set
    for _ in range(4000):
        first, second = random.normal(0.0, ratio, size=2), random.normal(0.0, ratio, size=1)
        noise = SeedNoise.pooled([first.tolist()]).times(1 + 1 / 2)
        found = estimate(
            random.normal() + second.mean() - first.mean(), random.normal(size=200), [1, 2], noise
        )
        inside.append(found.low <= 0 <= found.high)
    assert 0.945 < np.mean(inside) < 0.995


SENTENCES = 100


def simulated_intervals(of_sentences: float, of_seeds: float, of_both: float) -> dict[str, float]:
    """Return how often intervals of the difference of two systems hold it, by how they are made.

    Twelve systems of three seeds translate a hundred sentences. A score is the mean over sentences
    of four normal parts; `of_sentences` and `of_both` are variances of the mean.
    """
    random = np.random.default_rng(0)
    held: dict[str, list[bool]] = {"seed by sentence once": [], "twice": []}
    for _ in range(2000):
        scores = random.normal(0.0, math.sqrt(of_seeds), (12, 3, 1))
        scores = scores + random.normal(
            0.0, math.sqrt(SENTENCES * of_sentences), (12, 1, SENTENCES)
        )
        scores += random.normal(0.0, math.sqrt(SENTENCES * of_both), (12, 3, SENTENCES))
        values = scores.mean(axis=2)
        # of a mean, the infinitesimal jackknife is exact
        influences = (scores - values[..., None]) / SENTENCES
        noise = SeedNoise.pooled(values.tolist(), list(influences)).times(2 / 3)
        over_sentences = ((influences[0] - influences[1]).mean(axis=0) ** 2).sum()
        resampled = math.sqrt(over_sentences / 2) * np.array([-1, 1])
        for name, one in (
            ("seed by sentence once", noise),
            ("twice", replace(noise, shared=0.0)),
        ):
            found = estimate(values[0].mean() - values[1].mean(), resampled, [3, 3], one)
            held[name].append(found.low <= 0 <= found.high)
    return {name: float(np.mean(of)) for name, of in held.items()}


@pytest.mark.parametrize(
    ("of_sentences", "of_seeds", "of_both", "twice"),
    [(0.013, 0.14, 0.0, 0.95), (0.013, 0.04, 0.10, 0.985), (0.03, 0.026, 0.046, 0.975)],
    ids=["seeds change all sentences alike", "as on one test set", "as on three test sets"],
)
def test_seed_by_sentence_counts_once_and_intervals_hold_what_they_say(
    of_sentences, of_seeds, of_both, twice
):
    """The parts of variance, in squared BLEU, are those of Multi30k; twice is too wide."""
    found = simulated_intervals(of_sentences, of_seeds, of_both)
    assert 0.94 <= found["seed by sentence once"] <= 0.965
    assert found["twice"] == pytest.approx(twice, abs=0.01)


def test_influences_on_bleu_show_the_variance_of_its_resamples(refs):
    """Also with a brevity penalty, and centred: all sentences twice change no score."""
    for hyps in (damaged(refs, 3), [" ".join(ref.split()[:-1]) for ref in refs]):
        sums = statistics_of(score_record(BASE, hyps), "BLEU")
        influences = influences_on(bleu_of_sums, sums)
        assert influences.sum() == pytest.approx(0.0, abs=1e-9)
        assert (influences**2).sum() == pytest.approx(bleu_of_resamples(sums).var(), rel=0.05)


@pytest.mark.parametrize("place, name", [(0, "BLEU"), (1, "chrF"), (2, TOKENISED)])
def test_influences_on_few_sentences_show_the_variance_of_resamples(refs, place, name):
    """The brevity penalty is smooth: a thousandth of 200 words moves it."""
    few = refs[:20]
    shorter = [" ".join(ref.split()[: -1 - i % 3]) for i, ref in enumerate(few)]
    metric = count_texts(shorter, few, "de")[place]
    again = metric.scores_of(resamples(20, 2000).astype(float) @ metric.sums)
    influences = influences_on(metric.scores_of, metric.sums)
    assert metric.metric == name and (influences**2).sum() == pytest.approx(again.var(), rel=0.15)


def test_unsmoothed_bleu_of_sums_is_that_of_sacrebleu():
    rows = np.array([[9, 10, 7, 4, 2, 1, 9, 8, 7, 6], [9, 10, 7, 4, 2, 0, 9, 8, 7, 6], [0] * 10])
    metric = sacrebleu.BLEU(smooth_method="none")
    expected = [score_of_sums(metric, row) for row in rows]
    assert bleu_of_sums(rows, is_smoothed=False) == pytest.approx(expected) and expected[0] > 20


def test_what_seeds_share_with_sentences_is_what_single_sentences_scatter():
    values, influences = (
        [[1.0, 3.0], [5.0]],
        [np.array([[0.5, -0.5], [1.5, -1.5]]), np.ones((1, 2))],
    )
    noise = SeedNoise.pooled(values, influences)
    assert noise == SeedNoise(2.0, 1, pytest.approx(1.0))
    assert noise.times(0.5) == SeedNoise(1.0, 1, pytest.approx(0.5))
    assert SeedNoise.weighted([2.0], [noise]) == SeedNoise(8.0, 1, pytest.approx(4.0))


def test_the_noise_of_seeds_is_that_within_systems():
    assert SeedNoise.pooled([[1.0, 3.0], [10.0, 10.0, 13.0], [7.0]]) == SeedNoise(
        pytest.approx((2 + 6) / 3), 3
    )
    assert SeedNoise.pooled([[1.0], [2.0]]) is None and SeedNoise.pooled([]) is None


def test_the_noise_of_a_weighted_sum_is_as_well_known_as_its_least_known_part():
    sums = SeedNoise.weighted([2.0, -1.0], [SeedNoise(3.0, 5), SeedNoise(4.0, 2)])
    assert (
        sums == SeedNoise(4 * 3.0 + 4.0, 2)
        and SeedNoise.weighted([1.0, 1.0], [SeedNoise(3.0, 5), None]) is None
    )


@pytest.mark.parametrize("degrees", [2, 4, 20])
@pytest.mark.parametrize("over_sentences", [0.0, 1.0])
def test_what_is_called_detectable_is_found_four_times_in_five(degrees, over_sentences):
    random = np.random.default_rng(2)
    sentences = over_sentences * np.array([-1, 1]) / math.sqrt(2)
    smallest = estimate(0.0, sentences, [1], SeedNoise(1.0, degrees)).detectable
    of_seeds = stats.t.ppf(0.975, degrees) * np.sqrt(random.chisquare(degrees, 20_000) / degrees)
    found = random.normal(smallest, math.hypot(1.0, over_sentences), 20_000) > np.hypot(
        of_seeds, 1.96 * over_sentences
    )
    assert np.mean(found) == pytest.approx(0.805, abs=0.015)


def test_among_several_comparisons_each_needs_a_larger_difference():
    sentences, noise = np.random.default_rng(3).normal(size=1000), SeedNoise(0.0, 8)
    found, error = estimate(0.0, sentences, [3], noise, comparisons=3), sentences.std(ddof=1)
    assert found.high == pytest.approx(stats.norm.isf(0.025 / 3) * error)
    assert found.detectable == pytest.approx(
        (stats.norm.isf(0.025 / 3) + stats.norm.isf(0.2)) * error, rel=1e-3
    )


def test_bleu_of_sums_is_that_of_sacrebleu_also_where_nothing_matches():
    metric = sacrebleu.BLEU()
    random = np.random.default_rng(3)
    # fewer n-grams the longer they are, often none
    totals = np.sort(random.integers(0, 9, size=(500, 4)))[:, ::-1]
    matches = np.minimum.accumulate(random.integers(0, totals + 1), axis=1)
    sums = np.column_stack([totals[:, 0], random.integers(1, 9, size=500), matches, totals])
    expected = [score_of_sums(metric, row) for row in sums]
    assert bleu_of_sums(sums) == pytest.approx(expected) and min(expected) == 0 < max(expected)
    # smoothed ones among them
    assert (
        0 < np.count_nonzero(expected)
        and ((matches == 0).any(axis=1) & (np.array(expected) > 0)).any()
    )


def test_every_process_draws_the_same_resamples():
    """Else stored verdicts could not be derived again; within a process they are kept, so they are
    drawn anew here."""
    first, again = (resamples.__wrapped__(5, 4) for _ in range(2))
    assert np.array_equal(first, again) and not np.array_equal(first[0], first[1])


@pytest.mark.parametrize("num_seeds", [3, 5, 10])
def test_the_minimum_detectable_difference_is_found_four_times_in_five(num_seeds):
    random = np.random.default_rng(1)
    samples = random.normal(minimum_detectable(num_seeds), 1.0, size=(20_000, num_seeds))
    half = stats.t.ppf(0.975, num_seeds - 1) * samples.std(axis=1, ddof=1) / math.sqrt(num_seeds)
    assert np.mean(samples.mean(axis=1) - half > 0) == pytest.approx(0.8, abs=0.01)


def test_a_difference_over_pairs_has_the_interval_of_resampled_pairs():
    random = np.random.default_rng(3)
    first, second = random.random(1000) < 0.8, random.random(1000) < 0.7
    drawn = random.integers(1000, size=(4000, 1000))
    found = paired_difference(first.tolist(), second.tolist(), "1,000 pairs")
    assert found.value == pytest.approx(100 * (first.mean() - second.mean()))
    expected = np.percentile(
        100 * (first[drawn].mean(axis=1) - second[drawn].mean(axis=1)), [2.5, 97.5]
    )
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=0.3)
    same = paired_difference([True] * 200, [True] * 200, "200 pairs")
    # about three in 200, as for a share of none
    assert same.value == 0 and same.high == -same.low == pytest.approx(1.37, abs=0.01)


def test_a_difference_over_pairs_that_all_go_one_way_has_the_interval_of_the_formula():
    """Forty pairs, all better: p = 41 / 42 and q = 1 / 42 with an item more of each kind, variance
    (p + q - (p - q)^2) / 42."""
    found = paired_difference([True] * 40, [False] * 40, "pairs")
    middle, half = 100 * 40 / 42, 196 * math.sqrt((1 - (40 / 42) ** 2) / 42)
    assert (found.value, found.low, found.high) == pytest.approx(
        (100, middle - half, middle + half), abs=0.01
    )


def test_a_median_of_few_values_says_how_sure_it_is():
    five = median([1.3, 0.9, 1.0, 1.1, 1.2], "5 rounds")
    assert (five.value, five.low, five.high) == (1.1, 0.9, 1.3)
    assert five.level == 1 - 2 / 2**5 and str(five) == "1.10, 94 % 0.90 to 1.30, 5 rounds"
    eight = median(list(range(8)), "8 rounds")
    # between the second and the last but one it would be 93 %
    assert (eight.low, eight.high) == (0, 7) and eight.level >= 0.95
    nine = median(list(range(9)), "9 rounds")
    assert (nine.low, nine.high) == (1, 7) and nine.level == pytest.approx(1 - 2 * (1 + 9) / 2**9)


def test_a_rank_correlation_of_few_heads_has_a_wide_interval():
    random = np.random.default_rng(4)
    true, inside = 6 / math.pi * math.asin(0.6 / 2), []
    for pair in random.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], size=(1000, 12)):
        found = rank_correlation(pair[:, 0], pair[:, 1], "heads")
        inside.append(found.low <= true <= found.high)
    assert np.mean(inside) == pytest.approx(0.95, abs=0.02)
    with_gap = rank_correlation(
        np.array([1.0, 2, 3, 4, np.nan]), np.array([1.0, 2, 4, 3, 5]), "heads"
    )
    assert (with_gap.value, with_gap.over) == (
        pytest.approx(0.8),
        "4 heads",
    ) and with_gap.low < -0.5
    with pytest.raises(Undefined, match="3 heads give no correlation"):
        rank_correlation(np.arange(3.0), np.arange(3.0), "heads")
    with pytest.raises(Undefined, match="4 heads give no correlation"):
        rank_correlation(np.arange(4.0), np.ones(4), "heads")


def test_a_rank_correlation_knows_only_which_number_is_larger():
    assert rank_correlation(
        np.array([1.0, 2, 3, 4, 100]), np.array([1.0, 2, 3, 5, 4]), "heads"
    ).value == pytest.approx(0.9)


def test_the_interval_of_a_rank_correlation_by_its_formula():
    """Bonett and Wright: Fisher's z has the variance (1 + r² / 2) / (n - 3)."""
    found, r = (
        rank_correlation(np.arange(7.0), np.array([1.0, 0, 2, 3, 4, 5, 6]), "heads"),
        1 - 6 * 2 / (7 * 48),
    )
    half = 1.959964 * math.sqrt((1 + r**2 / 2) / 4)
    assert (found.value, found.low, found.high) == pytest.approx(
        (r, math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half))
    )


@pytest.mark.parametrize(
    ("low", "high", "at_least", "at_most", "outcome"),
    [
        (0.1, 0.5, 0.0, None, "holds"),
        (-0.1, 0.5, 0.0, None, "open"),
        (-0.5, -0.1, 0.0, None, "fails"),
        (-0.4, 0.4, -0.5, 0.5, "holds"),
        (-0.6, 0.4, -0.5, 0.5, "open"),
        (0.6, 0.9, -0.5, 0.5, "fails"),
        (math.nan, math.nan, 0.0, None, "void"),
        (math.nan, -0.1, 0.0, None, "void"),
        (0.1, math.nan, 0.0, None, "void"),
        (-math.inf, math.inf, 0.0, None, "one seed"),
        (-math.inf, math.inf, -0.5, 0.5, "one seed"),
    ],
)
def test_an_interval_decides_only_if_it_lies_on_one_side(low, high, at_least, at_most, outcome):
    assert decide(low, high, at_least, at_most) == outcome


@pytest.mark.parametrize(
    ("low", "high", "at_least", "at_most", "outcome"),
    [
        (0.0, 0.0, 0.0, None, "holds"),
        (-0.5, 0.0, 0.0, None, "open"),
        (-0.5, 0.5, -0.5, 0.5, "holds"),
        (0.5, 0.9, -0.5, 0.5, "open"),
        (0.5, 0.5, None, 0.5, "holds"),
    ],
)
def test_what_meets_a_bound_exactly_keeps_it(low, high, at_least, at_most, outcome):
    assert decide(low, high, at_least, at_most) == outcome


@pytest.mark.parametrize(
    ("degrees", "tail", "errors"),
    [
        (4, 0.025, 3.761060),
        (9.3, 0.025, 3.136710),
        (20, 0.0125, 3.293186),
        (1e6, 0.025, 2.802033),
        (1e9, 0.025, 2.802033),
    ],
)
def test_detectable_is_what_stored_verdicts_hold(degrees, tail, errors):
    assert detectable(degrees, tail) == pytest.approx(errors, abs=1e-6)
