"""The papers as code: what is printed, what is planned, how claims are decided, and that no margin moves after its result."""

import math
import re
from dataclasses import asdict, replace

import numpy as np
import pytest
import sacrebleu
from scipy import stats

from repro.attention import build_weights
from repro.data.corpora import load_corpus, load_pairs
from repro.decoding import SearchConfig
from repro.errors import InputError, MachineError
from repro.evaluation import score_of_sums
from repro.papers import PAPERS, Experiment, find_experiments, load_paper
from repro.papers.arms import Arm
from repro.papers.bins import equal_parts, last_minus_first, reference_length, slope_weights
from repro.papers.claims import POSITIVE, Check, Claim, Contrast, Verdict, better, decide, loss, not_worse
from repro.papers.evidence import Evidence, NotMeasured
from repro.papers.heads import rare_table
from repro.papers.measures import JOINT_MEASURES, MEASURES
from repro.papers.printed import printed
from repro.papers.pruned import PRUNED, binary_share, cross_goes_last, encoder_goes_first, low_minus_high
from repro.papers.pruning_tables import curve_figure, roles_table
from repro.papers.raganato2020 import SHALLOW, TOKEN
from repro.papers.report import experiment_section, status_of
from repro.papers.runner import plan
from repro.papers.speed import speed_ratio, speed_table
from repro.papers.statistics import (
    SeedNoise,
    Undefined,
    bleu_of_sums,
    estimate,
    median,
    minimum_detectable,
    paired_difference,
    rank_correlation,
)
from repro.papers.tables import Row, score_table
from repro.papers.verdicts import claims_of, counts, judge, load, side_by_side, update, verdict_table
from repro.scales import SCALES

BASE, HARD = Arm("base"), Arm("hc-sa")


@pytest.fixture(scope="module")
def refs():
    return load_corpus("minigerman", "en", "de").pairs("test", "en", "de")[1]


def score_record(arm: Arm, hyps: list[str], seed: int = 1, parameters: int = 1) -> dict:
    config = arm.config("smoke", seed)
    return {
        "run": str(arm),
        "system": arm.system,
        "seed": seed,
        "split": "test",
        "config": asdict(config),
        "config_digest": config.digest(),
        "training": {"parameters": parameters, "seconds": 60.0, "update": 600, "target_tokens_per_second": 1000},
        "search": asdict(SearchConfig()),
        "decoding": {"seconds": 1.0, "sentences_per_second": 10.0},
        "provenance": {"threads": 1, "device": "cpu", "processor": "p"},
        "scores": [{"name": "BLEU", "value": bleu(hyps, load_pairs("minigerman", "en", "de", "test")[1]) if hyps else 0.0}],
        "hypotheses": hyps,
    }


def damaged(refs: list[str], every: int, start: int = 0) -> list[str]:
    """Return the references with the words of every n-th sentence in another order."""
    return [" ".join(ref.split()[::-1]) if i % every == start else ref for i, ref in enumerate(refs)]


def bleu(hyps: list[str], refs: list[str]) -> float:
    return sacrebleu.corpus_bleu(hyps, [refs]).score


@pytest.fixture(scope="module")
def evidence(refs):
    records = [score_record(BASE, damaged(refs, 4)), score_record(HARD, damaged(refs, 8))]
    records += [score_record(BASE, damaged(refs, 4, 1), 2), score_record(HARD, damaged(refs, 8, 1), 2)]
    return Evidence("smoke", records)


def test_all_fifty_claims_have_a_test_and_each_its_runs():
    names = [claim.name for claim in claims_of()]
    expected = {"R": 10, "Y": 13, "V": 11, "Z": 10, "M": 6}
    assert sorted(names) == sorted(f"{letter}-{number:02d}" for letter, count in expected.items() for number in range(1, count + 1))
    for paper in map(load_paper, PAPERS):
        arms = {arm.config("smoke").digest() for experiment in paper.experiments for arm in experiment.arms}
        measured = {(kind, arm) for experiment in paper.experiments for kind, arms in experiment.measures.items() for arm in arms}
        for claim in paper.claims:
            assert {arm.config("smoke").digest() for arm in claim.arms()} <= arms, claim.name
            for condition in claim.conditions:
                for kind in condition.measures:
                    assert any((kind, arm) in measured for arm in condition.arms), f"{claim.name} needs {kind}"


def test_what_is_measured_has_a_measure():
    kinds = {kind for paper in map(load_paper, PAPERS) for experiment in paper.experiments for kind in experiment.measures}
    assert kinds == MEASURES.keys() | JOINT_MEASURES.keys()


def test_a_difference_over_seeds_is_that_of_the_scores(evidence, refs):
    found = evidence.contrast([(1, HARD), (-1, BASE)])
    expected = [bleu(damaged(refs, 8, s), refs) - bleu(damaged(refs, 4, s), refs) for s in (0, 1)]
    assert found.mean == pytest.approx(np.mean(expected))
    assert found.low < found.mean < found.high and found.seeds == "2 seeds"
    part = evidence.contrast([(1, HARD)], range(100))
    assert part.mean == pytest.approx(np.mean([bleu(damaged(refs, 8, s)[:100], refs[:100]) for s in (0, 1)]))


def test_a_system_with_one_seed_is_judged_with_the_noise_of_those_with_several(refs):
    one = [score_record(BASE, damaged(refs, 4)), score_record(HARD, damaged(refs, 8))]
    alone = Evidence("smoke", one).contrast([(1, HARD), (-1, BASE)])
    assert str(alone).endswith(", 1 seed, other seeds not counted in") and alone.low > 0
    assert claim_of(better(HARD, BASE)).judge(Evidence("smoke", one)).status == "undecided"  # who knows what another seed does?
    scores = [bleu(damaged(refs, every), refs) for every in (4, 5, 6)]
    more = [score_record(BASE, damaged(refs, every), seed) for every, seed in ((5, 2), (6, 3))]
    found = Evidence("smoke", one + more).contrast([(1, HARD), (-1, BASE)])
    assert found.mean == pytest.approx(bleu(damaged(refs, 8), refs) - np.mean(scores)) and found.seeds == "1 to 3 seeds"
    seeds = np.var(scores, ddof=1) * (1 + 1 / 3)  # of one seed of HARD, and of the mean of three of BASE
    assert found.detectable is not None and (found.high - found.low) / 2 > stats.t.ppf(0.975, 1000) * math.sqrt(seeds)
    assert (found.high - found.low) / 2 < stats.t.ppf(0.975, 2) * math.sqrt(seeds + ((alone.high - alone.low) / 2 / 1.96) ** 2)


def test_half_a_system_is_half_as_unsure(evidence):
    whole, half = (evidence.contrast([(weight, BASE)]) for weight in (1, 0.5))
    assert (half.mean, half.high - half.low) == pytest.approx((whole.mean / 2, (whole.high - whole.low) / 2))


def test_two_runs_found_by_their_digests_differ_as_two_arms_of_one_seed_do(refs):
    other = Arm("hc-all")
    records = [score_record(HARD, damaged(refs, 8)), score_record(other, damaged(refs, 4))]
    records += [score_record(BASE, damaged(refs, every), seed) for seed, every in ((1, 5), (2, 7))]
    evidence = Evidence("smoke", records)
    found = evidence.difference(*(arm.config("smoke").digest() for arm in (HARD, other)), BASE)
    expected = evidence.contrast([(1, HARD), (-1, other)])
    for name in ("mean", "low", "high", "detectable"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name)), name


def test_the_noise_of_a_part_is_that_of_its_own_sentences(refs):
    """Two seeds that differ behind the first hundred sentences only tell that seeds change nothing of these."""
    first = damaged(refs, 4)
    found, same = (
        Evidence("smoke", [score_record(BASE, first), score_record(BASE, second, 2)]).contrast([(1, BASE)], range(100))
        for second in ([*first[:100], *refs[100:]], first)
    )
    assert found == same


@pytest.mark.parametrize("other", [{"split": "dev"}, {"corpus": "multi30k"}, {"source": "de", "target": "en"}], ids=str)
def test_no_other_text_tells_how_much_seeds_matter(refs, other):
    records = [score_record(BASE, damaged(refs, 4)), *(score_record(HARD, damaged(refs, every), seed) for seed, every in ((1, 8), (2, 9)))]
    assert Evidence("smoke", records).contrast([(1, BASE)]).detectable is not None
    for record in records[1:]:
        record["config"]["data"] |= {name: value for name, value in other.items() if name != "split"}
        record["split"] = other.get("split", "test")
    assert Evidence("smoke", records).contrast([(1, BASE)]).detectable is None


def test_what_a_mask_costs_has_the_interval_of_a_mean_over_its_own_seeds():
    found, half = Evidence._over_seeds(np.array([1.0, 3.0, 5.0]), np.zeros((3, 100))), stats.t.ppf(0.975, 2) * 2 / math.sqrt(3)
    assert (found.mean, found.low, found.high) == pytest.approx((3, 3 - half, 3 + half)) and found.seeds == "3 seeds"


def test_an_interval_adds_the_variances_of_seeds_and_sentences():
    random = np.random.default_rng(0)
    inside = []
    for _ in range(4000):  # systems of three seeds, two of them compared; another test set moves their difference by 1, a seed each by 2
        systems = random.normal(0.0, 2.0, size=(5, 3))
        noise = SeedNoise.pooled(systems.tolist()).times(2 / 3)
        found = estimate(random.normal() + systems[0].mean() - systems[1].mean(), random.normal(size=200), [3, 3], noise)
        inside.append(found.low <= 0 <= found.high)
    assert np.mean(inside) == pytest.approx(0.95, abs=0.01)
    sentences = random.normal(size=1000)
    alone = estimate(1.0, sentences, [1], None)
    half = 1.96 * sentences.std(ddof=1)
    assert (alone.low, alone.high) == pytest.approx((1 - half, 1 + half), abs=1e-3) and alone.detectable is None
    assert estimate(1.0, sentences, [1, 3], SeedNoise(0.0, 2)).high == pytest.approx(alone.high)  # seeds that change nothing


@pytest.mark.parametrize(("ratio", "holds"), [(1.0, 0.92), (3.0, 0.87)])
def test_one_pair_of_seeds_tells_little_and_its_intervals_are_too_narrow(ratio, holds):
    random = np.random.default_rng(0)
    inside = []
    for _ in range(4000):  # one system of two seeds, one of a single seed; a seed moves each so many times as much as another test set
        first, second = random.normal(0.0, ratio, size=2), random.normal(0.0, ratio, size=1)
        noise = SeedNoise.pooled([first.tolist()]).times(1 + 1 / 2)
        found = estimate(random.normal() + second.mean() - first.mean(), random.normal(size=200), [1, 2], noise)
        inside.append(found.low <= 0 <= found.high)
    assert np.mean(inside) == pytest.approx(holds, abs=0.02)


def test_the_noise_of_seeds_is_that_within_systems():
    assert SeedNoise.pooled([[1.0, 3.0], [10.0, 10.0, 13.0], [7.0]]) == SeedNoise(pytest.approx((2 + 6) / 3), 3)
    assert SeedNoise.pooled([[1.0], [2.0]]) is None and SeedNoise.pooled([]) is None


@pytest.mark.parametrize("degrees", [2, 4, 20])
def test_what_is_called_detectable_is_found_four_times_in_five(degrees):
    random = np.random.default_rng(2)
    smallest = estimate(0.0, np.zeros(2), [1], SeedNoise(1.0, degrees)).detectable
    known = np.sqrt(random.chisquare(degrees, 20_000) / degrees)
    found = random.normal(smallest, 1.0, 20_000) - stats.t.ppf(0.975, degrees) * known > 0
    assert np.mean(found) == pytest.approx(0.8, abs=0.01)


def test_bleu_of_sums_is_that_of_sacrebleu_also_where_nothing_matches():
    metric = sacrebleu.BLEU()
    random = np.random.default_rng(3)
    totals = np.sort(random.integers(0, 9, size=(500, 4)))[:, ::-1]  # fewer n-grams the longer they are, often none
    matches = np.minimum.accumulate(random.integers(0, totals + 1), axis=1)
    sums = np.column_stack([totals[:, 0], random.integers(1, 9, size=500), matches, totals])
    expected = [score_of_sums(metric, row) for row in sums]
    assert bleu_of_sums(sums) == pytest.approx(expected) and min(expected) == 0 < max(expected)
    assert 0 < np.count_nonzero(expected) and ((matches == 0).any(axis=1) & (np.array(expected) > 0)).any()  # smoothed ones among them


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
    expected = np.percentile(100 * (first[drawn].mean(axis=1) - second[drawn].mean(axis=1)), [2.5, 97.5])
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=0.3)
    same = paired_difference([True] * 200, [True] * 200, "200 pairs")
    assert same.value == 0 and same.high == -same.low == pytest.approx(1.37, abs=0.01)  # about three in 200, as for a share of none


def test_a_median_of_few_values_says_how_sure_it_is():
    five = median([1.3, 0.9, 1.0, 1.1, 1.2], "5 rounds")
    assert (five.value, five.low, five.high) == (1.1, 0.9, 1.3)
    assert five.level == 1 - 2 / 2**5 and str(five) == "1.10, 94 % 0.90 to 1.30, 5 rounds"
    nine = median(list(range(9)), "9 rounds")
    assert (nine.low, nine.high) == (1, 7) and nine.level == pytest.approx(1 - 2 * (1 + 9) / 2**9)


def test_a_rank_correlation_of_few_heads_has_a_wide_interval():
    random = np.random.default_rng(4)
    true, inside = 6 / math.pi * math.asin(0.6 / 2), []
    for pair in random.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], size=(1000, 12)):
        found = rank_correlation(pair[:, 0], pair[:, 1], "heads")
        inside.append(found.low <= true <= found.high)
    assert np.mean(inside) == pytest.approx(0.95, abs=0.02)
    with_gap = rank_correlation(np.array([1.0, 2, 3, 4, np.nan]), np.array([1.0, 2, 4, 3, 5]), "heads")
    assert (with_gap.value, with_gap.over) == (pytest.approx(0.8), "4 heads") and with_gap.low < -0.5
    with pytest.raises(Undefined, match="3 heads give no correlation"):
        rank_correlation(np.arange(3.0), np.arange(3.0), "heads")
    with pytest.raises(Undefined, match="4 heads give no correlation"):
        rank_correlation(np.arange(4.0), np.ones(4), "heads")


def test_the_interval_of_a_rank_correlation_by_its_formula():
    """Bonett and Wright: Fisher's z has the variance (1 + r² / 2) / (n - 3)."""
    found, r = rank_correlation(np.arange(7.0), np.array([1.0, 0, 2, 3, 4, 5, 6]), "heads"), 1 - 6 * 2 / (7 * 48)
    half = 1.959964 * math.sqrt((1 + r**2 / 2) / 4)
    assert (found.value, found.low, found.high) == pytest.approx((r, math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)))


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


def claim_of(*conditions) -> Claim:
    return Claim("T-01", "a statement", "a number", conditions)


def holding(value: bool) -> Check:
    return Check("a number", lambda _: float(value), (), at_least=0.5)


@pytest.mark.parametrize(
    ("conditions", "status"),
    [
        ((holding(True), holding(True)), "reproduced"),
        ((holding(True), holding(False)), "partly"),
        ((holding(False), holding(False)), "not reproduced"),
        ((holding(True), Check("nothing", lambda _: math.nan, (), at_least=0)), "undecided"),
        ((holding(True), not_worse(Arm("sh-x"), BASE, 1.0)), "not run"),
    ],
)
def test_a_verdict_combines_its_conditions(evidence, conditions, status):
    assert claim_of(*conditions).judge(evidence).status == status


def test_a_verdict_speaks_of_an_interval_only_where_one_is_open(evidence):
    def nothing(_):
        raise Undefined("no head is positional")

    void = Check("a share", nothing, (), at_least=POSITIVE)
    verdict = claim_of(holding(True), void).judge(evidence)
    assert (verdict.status, verdict.reason) == ("undecided", "1 of 2 conditions hold, 0 fail; a number does not exist")
    assert verdict.evidence[1] == "void: a share > 0: no head is positional"
    assert claim_of(holding(False), void).judge(evidence).status == "not reproduced"
    wide = Check("a median", lambda _: median([0.0, 1.0, 2.0], "3 rounds"), (), at_least=0.5)
    verdict = claim_of(wide).judge(evidence)
    assert verdict.reason == "0 of 1 conditions hold, 0 fail; the interval is too wide for the bound"
    assert claim_of(Check("parameters", lambda _: 624128, (), at_most=-1)).judge(evidence).evidence == ("fails: parameters <= -1: 624,128",)


def test_margins_decide(evidence):
    gap = evidence.contrast([(1, HARD), (-1, BASE)])
    assert gap.low > 0 and claim_of(better(HARD, BASE)).judge(evidence).status == "reproduced"
    assert claim_of(loss(BASE, HARD, at_least=-gap.low + 1)).judge(evidence).status == "not reproduced"
    assert (
        claim_of(Contrast(((1, HARD), (-1, BASE)), at_least=gap.low - 0.1, at_most=gap.high + 0.1)).judge(evidence).status == "reproduced"
    )


def test_what_is_missing_is_named(evidence):
    verdict = claim_of(not_worse(Arm("sh-x"), BASE, 1.0)).judge(evidence)
    assert verdict.reason == "sh-x: not trained at smoke"
    with pytest.raises(NotMeasured, match="speed of base, seed 1: not measured at smoke"):
        evidence.one("speed", BASE)


def test_a_margin_cannot_move_after_its_result(tmp_path, evidence):
    claim = claim_of(not_worse(HARD, BASE, 0.5))
    before = update(tmp_path, "smoke", [claim], evidence)
    moved = replace(claim, conditions=(not_worse(HARD, BASE, 5.0),))
    with pytest.raises(InputError, match="T-01: its test was changed after its result at smoke was known") as error:
        update(tmp_path, "smoke", [moved], evidence)
    assert "repro claims --scale smoke --discard T-01" in str(error.value)
    assert load(tmp_path, "smoke")["T-01"]["status"] == before[0].status
    assert update(tmp_path, "smoke", [moved], evidence, discard=["T-01"])[0].status == "reproduced"


def test_a_verdict_follows_its_evidence(tmp_path, evidence):
    claim = claim_of(not_worse(HARD, BASE, 5.0))
    for found, status in ((Evidence("smoke", []), "not run"), (evidence, "reproduced")):
        update(tmp_path, "smoke", [claim], found)
        assert load(tmp_path, "smoke")["T-01"]["status"] == status


def test_only_what_is_there_can_be_discarded(tmp_path, evidence):
    with pytest.raises(InputError, match="--discard: unknown claim 'T-02'. Fix: did you mean 'T-01'?"):
        update(tmp_path, "smoke", [claim_of(not_worse(HARD, BASE, 0.5))], evidence, discard=["T-02"])
    with pytest.raises(InputError, match="nowhere: is no folder of results"):
        update(tmp_path / "nowhere", "smoke", [claim_of(not_worse(HARD, BASE, 0.5))], evidence)


def test_a_margin_may_move_before_its_result(tmp_path, evidence):
    claim = claim_of(not_worse(Arm("sh-x"), BASE, 0.5))
    update(tmp_path, "smoke", [claim], evidence)
    update(tmp_path, "smoke", [replace(claim, conditions=(not_worse(HARD, BASE, 5.0),))], evidence)


def test_what_was_not_reproduced_comes_first(evidence):
    claims = [replace(claim_of(holding(value)), name=name) for name, value in (("A-01", True), ("B-01", False))]
    verdicts = [claim.judge(evidence) for claim in claims]
    lines = verdict_table(claims, verdicts).splitlines()[2:]
    assert [line.split(" | ")[0] for line in lines] == ["| B-01", "| A-01"]
    assert counts(verdicts)["not reproduced"] == 1


def test_verdicts_of_two_scales_stand_side_by_side_and_a_scale_without_one_says_so(evidence):
    claim = claim_of(holding(True))
    lines = side_by_side([claim], {"smoke": judge([claim], evidence), "multi30k": {}}).splitlines()
    assert lines[0] == f"{claim.name} {claim.statement} (reported: {claim.reported})"
    assert lines[1].startswith("     smoke: reproduced: 1 of 1 conditions hold") and lines[2].startswith("         holds: ")
    assert lines[3:] == ["     multi30k: not run: no verdict is stored"]


def test_bins_hold_all_sentences_and_weights_give_slope_and_difference(evidence, refs):
    lengths = [reference_length("", ref) for ref in refs]
    edges = equal_parts(lengths, 3)
    bins = evidence.bins(BASE, reference_length, edges)
    assert sum(len(inside) for _, _, inside in bins) == len(refs)
    gaps = [gap.mean for _, _, gap in evidence.gap_by([(1, HARD), (-1, BASE)], reference_length, edges)]
    centres = np.array([centre for _, centre, _ in bins])
    trend = evidence.trend([(1, HARD), (-1, BASE)], reference_length, edges, slope_weights)
    assert trend.mean == pytest.approx(stats.linregress(centres, gaps).slope)
    assert evidence.trend([(1, HARD), (-1, BASE)], reference_length, edges, last_minus_first).mean == pytest.approx(gaps[-1] - gaps[0])


SHORT, MIDDLE, LONG = ("a " * words for words in (5, 15, 45))


def bins_of(monkeypatch, references: list[str], edges: list[float]) -> list[tuple[str, list[int]]]:
    monkeypatch.setattr("repro.papers.evidence.load_pairs", lambda *_: (references, references))
    return [(name, inside) for name, _, inside in Evidence("smoke", []).bins(BASE, reference_length, edges)]


def test_bins_of_a_handful_are_joined_with_a_neighbour_and_no_sentence_is_left_out(monkeypatch):
    found = bins_of(monkeypatch, [SHORT] * 40 + [MIDDLE] * 50 + [LONG], [0, 10, 20, 30, 40, 1000])
    assert found == [("0 to 9", list(range(40))), ("10 or more", list(range(40, 91)))]
    found = bins_of(monkeypatch, [SHORT] * 2 + [MIDDLE] * 50 + [LONG] * 30, [0, 10, 20, 30, 40, 1000])
    assert found == [("0 to 19", list(range(52))), ("20 or more", list(range(52, 82)))]
    assert bins_of(monkeypatch, [SHORT] * 3 + [LONG] * 3, [0, 10, 1000]) == [("0 or more", list(range(6)))]


def test_the_names_of_bins_between_fractions_are_whole_numbers(monkeypatch):
    found = bins_of(monkeypatch, [SHORT] * 40 + [MIDDLE] * 40 + [LONG] * 40, [5.0, 7.4, 15.0, 15.6, 46.0])
    assert [name for name, _ in found] == ["5 to 7", "8 to 15", "16 or more"]
    assert bins_of(monkeypatch, [SHORT] * 40 + [MIDDLE] * 40, [4.6, 6.0, 46.0])[0][0] == "5"


def test_there_is_no_trend_over_a_single_bin(evidence):
    with pytest.raises(NotMeasured, match="there are no two bins of 30 sentences"):
        evidence.trend([(1, HARD), (-1, BASE)], reference_length, [0, 1000], last_minus_first)


def test_no_trend_is_decided_while_nothing_tells_how_much_seeds_matter(refs):
    """The loss of hc-all is that of hc-sa and all long sentences; hc-sa loses nothing."""
    median = np.median([reference_length("", ref) for ref in refs])
    long = [" ".join(ref.split()[::-1]) if reference_length("", ref) > median else ref for ref in refs]
    one = [score_record(BASE, refs), score_record(Arm("hc-sa"), refs), score_record(Arm("hc-all"), long)]
    alone = verdict_on("Y-10", one)
    assert [line.split(":")[0] for line in alone.evidence] == ["open", "void"]
    assert alone.evidence[1].endswith("<= 0: +0.00, and nothing tells how much seeds matter")
    assert verdict_on("Y-10", [*one, score_record(BASE, refs, 2)]).status == "reproduced"


def test_masking_a_head_is_compared_on_the_same_sentences(evidence, refs):
    changed = {str(i): "nichts" for i in range(0, 100)}
    record = score_record(HARD, damaged(refs, 8)) | {"kind": "masks", "masks": {"2": {"changed": changed}}}
    both = Evidence("smoke", [score_record(HARD, damaged(refs, 2)), record])  # scored on another machine, which made another model of it
    masked = ["nichts"] * 100 + damaged(refs, 8)[100:]
    assert both.masked(HARD, "2").mean == pytest.approx(bleu(damaged(refs, 8), refs) - bleu(masked, refs))


def verdict_on(name: str, records: list[dict]) -> Verdict:
    (claim,) = [claim for claim in claims_of() if claim.name == name]
    return claim.judge(Evidence("smoke", records))


def masked_records(arm: Arm, refs: list[str], sentences, seeds=(1, 2)) -> list[dict]:
    """Return the records of models that are perfect, and lose these sentences without their eighth head, whatever the seed."""
    masks = {"kind": "masks", "masks": {"8": {"changed": {str(i): "nichts" for i in sentences}}}}
    return [record for seed in seeds for record in (score_record(arm, refs, seed), score_record(arm, refs, seed) | masks)]


@pytest.mark.parametrize(("lost", "status"), [(range(50, 151), "undecided"), (range(300), "reproduced"), (range(10), "not reproduced")])
def test_two_losses_are_compared_on_the_same_sentences(refs, lost, status):
    shallow = masked_records(Arm(TOKEN.system, SHALLOW), refs, lost)
    assert verdict_on("R-06", [*shallow, *masked_records(TOKEN, refs, range(100))]).status == status
    equal = verdict_on("R-06", [*shallow, *masked_records(TOKEN, refs, lost)])
    assert equal.evidence[0].endswith(": +0.00, 95 % +0.00 to +0.00, 2 seeds, detectable 0.00")
    assert verdict_on("R-06", [*shallow, *masked_records(TOKEN, refs, range(100), seeds=(1,))]).status == "undecided"


def test_without_parses_of_the_source_nothing_is_said_of_relations():
    verdict = verdict_on("V-11", [heads_record() | {"syntax": None}])
    assert (verdict.status, verdict.reason) == ("not run", "relations of base (model.num_heads=8): no parses of 'en' are at hand")


def test_every_system_of_an_experiment_can_be_built_at_every_scale_that_runs_it():
    for _, experiment in find_experiments("all"):
        for scale in SCALES:
            for arm in experiment.arms if experiment.runs_at(scale) else ():
                model = replace(arm, part=1.0).config(scale).model  # how much data there is decides nothing here
                for site, layers in (
                    ("encoder_self", model.encoder_layers),
                    ("decoder_self", model.decoder_layers),
                    ("cross", model.decoder_layers),
                ):
                    build_weights(getattr(model, site), site, layers, model.embed_dim, model.num_heads, length_ratio=1.0)


@pytest.mark.parametrize(
    ("unsure", "status", "end"),
    [
        (1, "reproduced", ": 1.00, from 0.80 to 1.00, 5 bins"),
        (2, "undecided", ": 1.00, from 0.60 to 1.00, 5 bins"),
        (0, "not reproduced", ": 0.60, from 0.60 to 0.60, 5 bins"),
    ],
)
def test_a_bin_counts_if_its_own_interval_says_so(refs, unsure, status, end):
    """One sentence alone is not in every resample of its bin; in no sentence there is nothing to lose."""
    bins = [inside for _, _, inside in Evidence("smoke", []).bins(TOKEN, reference_length, equal_parts([len(r.split()) for r in refs], 5))]
    sure = {0: 3, 1: 4, 2: 3}[unsure]
    lost = [i for inside in bins[:sure] for i in inside[::2]] + [inside[0] for inside in bins[sure : sure + unsure]]
    verdict = verdict_on("R-10", masked_records(TOKEN, refs, lost))
    assert (verdict.status, verdict.evidence[0][-len(end) :]) == (status, end)
    assert verdict_on("R-10", masked_records(TOKEN, refs, lost, seeds=(1,))).evidence[0].endswith("from 0.00 to 1.00, 5 bins")


def speed_records(**speeds: list[float]) -> list[dict]:
    """Return the records of one sitting."""
    common = {"kind": "speed", "sitting": list(speeds), "sentences": 256, "batch_size": 64, "steps": 25, "threads": 1}
    return [
        common | {"config_digest": Arm(system.replace("_", "-")).config("smoke").digest(), "sentences_per_second": speed}
        for system, speed in speeds.items()
    ]


@pytest.mark.parametrize(
    ("sh_x", "outcome", "low", "high"),
    [
        ([13, 26, 52, 13, 26], "holds", 1.3, 1.3),
        ([13, 26, 40, 13, 26], "open", 1.0, 1.3),
        ([9, 20, 40, 9, 20], "fails", 0.9, 1.0),
    ],
)
def test_a_speed_is_judged_over_the_rounds_of_its_sitting(sh_x, outcome, low, high):
    base = [10.0, 20.0, 40.0, 10.0, 20.0]  # a machine that is four times as fast in one round
    records = speed_records(base=base, hc_sa=base, sh_x=sh_x)
    assert verdict_on("Y-12", records).evidence[0].startswith(f"{outcome}: speed of sh-x / base")
    ratio = speed_ratio(Evidence("smoke", records), Arm("sh-x"), BASE)
    assert (ratio.low, ratio.high, ratio.over) == (low, high, "5 rounds")
    lines = speed_table(Evidence("smoke", records), (BASE, Arm("sh-x"))).splitlines()
    assert lines[2].endswith("| 1.00 |") and lines[3].endswith(f"({low:.2f} to {high:.2f}) |")


def heads_record(offset: int = 0, confidence: float = 0.9, heads: int = 8) -> dict:
    """Return two layers of encoder heads; one to three of the second layer look to an offset, if it is not 0."""
    positional = [[0.0] * heads, [1.0 if offset and head < 3 else 0.0 for head in range(heads)]]
    rising = [[float(head + 8 * layer) for head in range(heads)] for layer in range(2)]
    site = {
        "positional": positional,
        "main_offset": [[offset] * heads] * 2,
        "confidence": [[confidence] * heads, [confidence + head / 100 for head in range(heads)]],
        "roles": [[["positional"] if share else ["unknown"] for share in layer] for layer in positional],
        "relevance": rising,
        "two_rarest": [[0.1] * (heads - 1) + [0.159], [0.0] * heads],
    }
    return {"kind": "heads", "config_digest": PRUNED.config("smoke").digest(), "sites": {"encoder_self": site}}


@pytest.mark.parametrize(("best", "status"), [(0.62, "undecided"), (0.9, "reproduced"), (0.45, "not reproduced")])
def test_a_relation_is_followed_as_surely_as_its_pairs_of_words_tell(best, status):
    """400 pairs, 200 of them at the most frequent place; it is not known which of these the head found, so they may be hardly any."""
    accuracy = {"head to dependent": [[0.1, None], [best, 0.2]], "dependent to head": [[0.3, 0.1], [0.2, 0.2]]}
    found = {"positions": {"-1": 200, "-2": 120, "1": 80}, "accuracy": accuracy, "baseline": 0.5}
    syntax = {name: {relation: value for relation in ("nsubj", "dobj")} for name, value in found.items()}
    verdict = verdict_on("V-11", [heads_record() | {"syntax": syntax}])
    assert verdict.status == status
    if status == "undecided":  # with as many pairs found by both as can be, 12 points would be surely more than 8
        assert re.search(r": 12\.00, 95 % [23]\.\d\d to 2[01]\.\d\d, 400 pairs of words$", verdict.evidence[0])


def pruning_record(kept: list[list[int]]) -> dict:
    point = {"heads": sum(map(len, kept)), "kept_heads": {"encoder_self": kept}}
    series = {"encoder": {"heads": 16, "points": [point]}}
    return {"kind": "pruning", "config_digest": PRUNED.config("smoke").digest(), "series": series}


def test_which_heads_go_first_is_read_off_the_models_nearest_a_half_and_a_quarter():
    """Of three layers the middle one is in neither half."""
    near_half = {"encoder_self": [[0], [1], []], "decoder_self": [[0, 1], [0, 1, 2], [3]], "cross": [[0], [], [0, 1, 2]]}
    near_quarter = {"encoder_self": [[], [0], []], "decoder_self": [[0], [], []], "cross": [[0], [1], [2]]}
    points = [
        {"heads": heads, "kept_heads": kept, "almost_binary": share}
        for heads, kept, share in ((12, near_half, 0.8), (5, near_quarter, 0.9), (24, near_half | {"cross": [[]] * 3}, 1.0))
    ]
    series = {"all": {"heads": 24, "points": points}, "encoder": {"heads": 8, "points": [{"almost_binary": 0.1}]}}
    found = Evidence("smoke", [{"kind": "pruning", "config_digest": PRUNED.config("smoke").digest(), "series": series}])
    numbers = [number(found) for number in (encoder_goes_first, cross_goes_last, low_minus_high("decoder_self"), low_minus_high("cross"))]
    assert [number.value for number in numbers] == [2, 2, 1, -2]
    assert [number.over for number in numbers] == [f"{heads} of 24 heads" for heads in (12, 5, 12, 12)]
    assert (binary_share(found).value, binary_share(found).over) == (pytest.approx(0.7), "mean of 4 pruned models")


def test_without_a_positional_head_nothing_is_said_of_such_heads():
    verdict = verdict_on("V-07", [heads_record()])
    assert (verdict.status, verdict.reason) == ("not reproduced", "0 of 2 conditions hold, 1 fail")
    assert verdict.evidence[1] == "void: lowest confidence of such a head >= 0.7: no head is positional"
    assert verdict_on("V-07", [heads_record(offset=-1)]).status == "reproduced"
    assert verdict_on("V-07", [heads_record(offset=-1, confidence=0.6)]).status == "partly"
    verdict = verdict_on("V-09", [heads_record(), pruning_record([[], [0, 1, 2]])])
    assert (verdict.status, verdict.evidence[0].split(": ", 2)[2]) == (
        "undecided",
        "share of positional heads kept minus share of the others > 0: no head is positional",
    )
    assert verdict_on("V-09", [heads_record(offset=1), pruning_record([[], [0, 1, 2]])]).status == "reproduced"
    verdict = verdict_on("V-09", [heads_record(offset=1), pruning_record([[], [3, 4, 5]])])
    assert verdict.status == "not reproduced" and verdict.evidence[0].endswith(", 3 of 16 heads")


def test_a_correlation_of_eight_heads_says_so_and_a_share_is_in_points():
    verdict = verdict_on("V-08", [heads_record()])
    assert verdict.evidence[0].endswith(", 8 heads") and verdict_on("V-08", [heads_record(heads=3)]).status == "undecided"
    assert verdict_on("V-10", [heads_record()]).evidence[0].endswith("or the next head's, points >= 0: -24.1")


def test_a_pruned_model_is_named_by_what_was_done_to_it():
    texts = {claim.name: claim.conditions[0].describe() for claim in claims_of("voita2019")}
    assert "nearest a quarter of all heads" in texts["V-03"]
    assert all("trained on as long" in texts[name] for name in ("V-01", "V-02"))
    assert any("V-01 and V-02" in deviation.topic for deviation in load_paper("voita2019").deviations)


def test_what_pruning_costs_is_the_difference_to_the_same_training_without_it(refs):
    """All heads gain by training on; that the pruned model is better than the run before says nothing."""
    point = {"heads": 4, "config_digest": "pruned", "kept_heads": {}}
    series = {"encoder": {"heads": 16, "points": [point], "continued": "control"}}
    before = score_record(PRUNED, damaged(refs, 2))
    on, longer = (replace(PRUNED, overrides=(*PRUNED.overrides, f"train.max_updates={updates}")) for updates in (7, 8))
    pruned = score_record(on, damaged(refs, 4)) | {"config_digest": "pruned"}
    control = score_record(longer, refs) | {"config_digest": "control"}
    record = {"kind": "pruning", "config_digest": before["config_digest"], "series": series}
    assert verdict_on("V-01", [before, pruned, control, record]).status == "undecided"  # who knows what another seed does?
    seeds = [score_record(BASE, damaged(refs, 4), seed) for seed in (1, 2)]  # of no importance here
    assert verdict_on("V-01", [before, pruned, control, record, *seeds]).status == "not reproduced"
    assert verdict_on("V-01", [before, pruned | {"hypotheses": refs}, control, record, *seeds]).status == "reproduced"
    del series["encoder"]["continued"]  # a record of before controls were trained
    verdict = verdict_on("V-01", [before, pruned, control, record])
    assert verdict.status == "not run" and "the control of the sweep of base (model.num_heads=8)" in verdict.reason


@pytest.mark.parametrize(("every", "status"), [(8, "reproduced"), (4, "undecided"), (2, "partly")])
def test_no_gain_is_not_that_of_attention_dropout_unless_there_is_one(refs, every, status):
    gain, base, control = damaged(refs, every, 1), damaged(refs, 4), damaged(refs, 1)
    records = [score_record(Arm("ran-d"), gain), score_record(BASE, base), score_record(Arm("base-attention-dropout"), control)]
    records.append(score_record(BASE, damaged(refs, 4, 2), 2))  # so that it is known how much seeds matter
    assert verdict_on("Z-10", records).status == status


def test_printed_cells_stand_beside_ours_and_gaps_stay_gaps(evidence):
    text = score_table(
        evidence, "you2020", "Table 2", [Row(BASE, {"column": "base"}), Row(HARD, {"column": "hc-sa"}), Row(Arm("syn-r"), {})]
    )
    base, hard, missing = text.splitlines()[2:]
    assert "| 30.0 | 34.4 |" in base and "| 30.3 | 34.8 |" in hard
    assert "| -1.20 to +0.40 |" in hard
    assert missing.startswith("| syn-r | not run |") and missing.endswith("| - | - |")
    assert score_table(evidence, "raganato2020", "Table 1", [Row(BASE, {})]).endswith("Printed numbers of Table 1: not known.")


def test_the_difference_in_a_table_is_that_of_the_means_beside_it(refs):
    records = [score_record(BASE, damaged(refs, 4)), score_record(BASE, damaged(refs, 2), 2), score_record(HARD, damaged(refs, 8))]
    text = score_table(Evidence("smoke", records), "you2020", "Table 2", [Row(BASE, {}), Row(HARD, {})])
    mean = (bleu(damaged(refs, 4), refs) + bleu(damaged(refs, 2), refs)) / 2
    assert f"| {mean:.2f} ± " in text and f"{bleu(damaged(refs, 8), refs) - mean:+.2f} (" in text


def test_without_the_corpus_a_table_holds_what_is_stored_and_no_interval(evidence, monkeypatch):
    rows = [Row(BASE, {}), Row(HARD, {})]
    with_corpus = score_table(evidence, "you2020", "Table 2", rows).splitlines()[-1]

    def absent(*_):
        raise MachineError("minigerman", "is not here", "get it")

    monkeypatch.setattr("repro.papers.evidence.load_pairs", absent)
    text = score_table(evidence, "you2020", "Table 2", rows).splitlines()[-1]
    assert text.split(" (")[0] == with_corpus.split(" (")[0] and re.search(r"[+-]\d+\.\d\d \(no interval", text)
    paper, experiment = find_experiments("you2020.figure4")[0]
    assert "Not on this machine: minigerman: is not here" in experiment_section(paper, experiment, evidence).text


def test_without_the_corpus_the_other_rows_of_a_table_with_a_part_of_it_stand(evidence, monkeypatch):
    def absent(*_):
        raise MachineError("minigerman", "is not here", "get it")

    for place in ("arms._train_pairs", "evidence.load_pairs", "tables.load_corpus"):
        monkeypatch.setattr(f"repro.papers.{place}", absent)
    paper, experiment = find_experiments("zeng2021.table1")[0]
    text = experiment_section(paper, experiment, evidence).text
    assert re.search(r"^\| base \| \d+\.\d\d ", text, re.M)
    assert "| base (25% of the data) | needs its corpus |" in text
    assert text.endswith(" --scale smoke`: what needs a part of the corpus, of which only the corpus tells the size.")
    corpora = experiment_section(*find_experiments("you2020.table1")[0], evidence).text.splitlines()
    assert re.search(r"\d", corpora[-2]) and corpora[-1].startswith("| ours, ") and "| needs its corpus |" in corpora[-1]


def test_printed_numbers_are_those_of_the_page():
    assert [cell.value for cell in printed("you2020", "Table 6")] == [27.4, 27.8, 28.1, 30.3]
    assert printed("cui2019", "Table 5", row="MMA w=1", column="De-En")[0].as_printed == "35.41"
    assert printed("raganato2020", "Table 1") == []
    assert all(cell.approx for cell in printed("voita2019", "Figure 7"))


def test_a_plan_names_each_missing_run_once(evidence):
    experiments = [experiment for _, experiment in find_experiments("you2020.table2")]
    first = plan(experiments * 2, evidence, seeds=1)
    digests = [config.digest() for config in first.trainings]
    assert len(digests) == len(set(digests))
    assert not {BASE.config("smoke").digest(), HARD.config("smoke").digest()} & set(digests)
    assert Arm("hc-all").config("smoke").digest() in digests
    assert len(plan(experiments, evidence, seeds=2).trainings) == 2 * len(digests)


def test_what_a_mask_costs_is_measured_for_every_seed_and_what_heads_do_for_the_first(evidence):
    experiment = Experiment("x", "X", "x", (HARD,), lambda _: "", measures={"masks": (HARD,), "heads": (HARD,)})
    wanted = [(kind, config.train.seed) for config, kind in plan([experiment], evidence, seeds=3).measures]
    assert wanted == [("masks", 1), ("masks", 2), ("masks", 3), ("heads", 1)]


def test_a_sitting_is_measured_as_a_whole(evidence):
    experiment = Experiment("x", "X", "x", (BASE, HARD), lambda _: "", measures={"speed": (BASE, HARD)})
    assert [(kind, len(configs)) for kind, configs in plan([experiment], evidence, 1).sittings] == [("speed", 2)]


def test_two_arms_that_are_one_model_are_measured_once(evidence):
    same = Arm("base", ("model.dropout=0.0",))  # as the scale has it
    assert same != BASE and same.config("smoke") == BASE.config("smoke")
    experiment = Experiment("x", "X", "x", (BASE, same), lambda _: "", measures={"maps": (BASE, same)})
    assert [kind for _, kind in plan([experiment], evidence, 1).measures] == ["maps"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("you2021", "paper: unknown paper 'you2021'. Fix: did you mean 'you2020'?"),
        ("you2020.table9", "you2020.table9: you2020 has no experiment 'table9'. Fix: did you mean 'table"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(name, message):
    with pytest.raises(InputError) as error:
        find_experiments(name)
    assert str(error.value).startswith(message)


def test_the_printed_shares_of_rare_words_are_written_once():
    """They are printed in sentences, `66% of cases`, so the number is shown, not the sentence with another sign behind it."""
    site = {"roles": [[["unknown"]]], "relevance": [[1.0]], "rarest": [[0.25]], "two_rarest": [[0.5]]}
    record = {"kind": "heads", "config_digest": Arm("base").config("smoke").digest(), "sites": {"encoder_self": site}}
    text = rare_table(Evidence("smoke", [record]), Arm("base"))
    assert "| 0.0 | 1 | 0.25 | 0.5 |" in text
    assert [line.split(" | ")[-1] for line in text.split("\n")[-3:]] == ["66 % |", "83 % |", "50 % |"]


def test_the_page_says_that_no_head_meets_a_criterion():
    prune = PRUNED.config("smoke").digest()

    def text(role: str) -> str:
        heads = {"kind": "heads", "config_digest": prune, "sites": {"encoder_self": {"roles": [[[role], ["unknown"]]]}}}
        series = {"encoder": {"heads": 2, "points": [{"heads": 1, "kept_heads": {"encoder_self": [[1]]}}]}}
        return roles_table(Evidence("smoke", [heads, {"kind": "pruning", "config_digest": prune, "series": series}]))

    assert "\n\nOurs: no head meets the criterion of any role.\n\n" in text("unknown")
    assert "no head meets" not in text("rare") and "| 2 | 0 | 0 | 1 | 0 | 1 |" in text("rare")


def test_pruned_models_with_as_many_heads_are_told_apart():
    heads = {
        "kind": "heads",
        "config_digest": PRUNED.config("smoke").digest(),
        "sites": {"encoder_self": {"roles": [[["rare"], ["unknown"]]]}},
    }
    points = [
        {"heads": len(kept), "penalty": penalty, "kept_heads": {"encoder_self": [kept]}} for penalty, kept in ((0.1, [0]), (0.2, [1]))
    ]
    series = {"encoder": {"heads": 2, "points": points}}
    text = roles_table(Evidence("smoke", [heads, {"kind": "pruning", "config_digest": heads["config_digest"], "series": series}]))
    assert "| 1, penalty 0.1 | 0 | 0 | 1 | 0 | 0 |" in text and "| 1, penalty 0.2 | 0 | 0 | 0 | 0 | 1 |" in text


def test_the_curve_of_pruning_tells_heads_and_scores(refs):
    points = [{"heads": 4, "config_digest": "pruned", "kept_heads": {}}]
    record = {"kind": "pruning", "config_digest": "", "series": {"encoder": {"heads": 16, "points": points, "continued": "control"}}}
    scored = [
        score_record(PRUNED, refs) | {"config_digest": digest, "scores": [{"name": "BLEU", "value": value}]}
        for digest, value in (("pruned", 30.5), ("control", 31.0))
    ]
    evidence = Evidence("smoke", [*scored, record | {"config_digest": PRUNED.config("smoke").digest()}])
    (figure,) = curve_figure(evidence).values()
    assert figure.data[0].customdata.tolist() == [[4, 30.5], [16, 31.0]] and list(figure.data[0].y) == [-0.5, 0]
    assert max(heads for heads, _ in figure.data[1].customdata) == 48


def test_what_needs_no_run_is_not_called_done(evidence):
    statuses = {
        status_of(find_experiments(name)[0][1], evidence) for name in ("raganato2020.figure1", "you2020.figure1", "voita2019.figure6")
    }
    assert statuses == {"needs no run"}
    assert status_of(find_experiments("cui2019.table2")[0][1], evidence) == "in part"
    assert status_of(find_experiments("cui2019.table2")[0][1], Evidence("smoke", [])) == "not run"


def test_every_difference_of_mixed_heads_says_against_what(evidence):
    ((_, experiment),) = find_experiments("cui2019.table3")
    text = experiment.render(evidence)
    assert "| ours: BLEU | ours: difference to base | seeds | parameters | printed difference to base | printed: " in text
    assert "Δ, as printed: MMA minus the Transformer, both with or both without the embedding." in text


def test_an_arm_says_its_conditions_and_knows_its_part_of_the_data():
    arm = Arm("7Ftoken+1L", ("model.decoder_layers=1",), part=0.25)
    assert str(arm) == "7Ftoken+1L (model.decoder_layers=1, 25% of the data)"
    assert (arm.config("smoke").data.train_pairs, arm.config("smoke").model.decoder_layers) == (5000, 1)
    assert Arm("sh-x", ("model.cross=none; last: dot-product(heads={layers})",)).config("smoke").model.cross.endswith("heads=2)")
    assert (Arm("base", reverse=True).config("smoke").data.source, Arm("base").config("smoke").data.source) == ("de", "en")


def test_an_arm_is_named_in_words_where_it_has_them_and_no_name_holds_a_blank():
    plain, named = (Arm("sh-x", ("model.cross=dot-product(heads={layers})",), label=label) for label in ("", "all heads"))
    assert str(named) == "sh-x (all heads)" and plain == named
    arms = {arm for paper in map(load_paper, PAPERS) for experiment in paper.experiments for arm in experiment.arms}
    assert not [str(arm) for arm in arms if "{" in str(arm)]
    (claim,) = [claim for claim in claims_of() if claim.name == "Y-11"]
    assert [str(arm) for arm in claim.arms()] == [
        "sh-x (one cross head in every layer)",
        "sh-x (as many cross heads, all in the last layer)",
    ]
