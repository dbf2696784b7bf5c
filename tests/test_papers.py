"""The papers as code: what is printed, what is planned, how claims are decided, and that no margin moves after its result."""

import math
import re
from dataclasses import asdict, replace

import numpy as np
import pytest
import sacrebleu
from scipy import stats

from repro.data.corpora import load_corpus, load_pairs
from repro.decoding import SearchConfig
from repro.errors import InputError, MachineError
from repro.papers import PAPERS, Experiment, find_experiments, load_paper
from repro.papers.arms import Arm
from repro.papers.claims import Check, Claim, Contrast, better, decide, loss, not_worse
from repro.papers.evidence import Evidence, NotMeasured, equal_parts, last_minus_first, reference_length, slope_weights
from repro.papers.heads import rare_table
from repro.papers.measures import JOINT_MEASURES, MEASURES
from repro.papers.printed import printed
from repro.papers.report import experiment_section
from repro.papers.runner import plan
from repro.papers.statistics import estimate, minimum_detectable
from repro.papers.tables import Row, score_table
from repro.papers.verdicts import claims_of, counts, load, update, verdict_table

BASE, HARD = Arm("base"), Arm("hc-sa")


@pytest.fixture(scope="module")
def refs():
    return load_corpus("minigerman", "en", "de").pairs("test", "en", "de")[1]


def score_record(arm: Arm, hyps: list[str], seed: int = 1, parameters: int = 1) -> dict:
    config = arm.config("smoke", seed)
    return {
        "run": str(arm),
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
    assert found.per_seed == pytest.approx(expected)
    assert found.low < found.mean < found.high
    only = range(100)
    part = evidence.contrast([(1, HARD)], only)
    assert part.per_seed[0] == pytest.approx(bleu(damaged(refs, 8)[:100], refs[:100]))


def test_an_interval_adds_the_variances_of_seeds_and_sentences():
    resampled = np.random.default_rng(0).normal(size=(3, 4000)).cumsum(axis=0)
    found = estimate([1.0, 2.0, 3.0], resampled)
    error = math.sqrt(1.0 / 3 + resampled.mean(axis=0).var(ddof=1))
    assert (found.low, found.high) == pytest.approx((2 - stats.t.ppf(0.975, 2) * error, 2 + stats.t.ppf(0.975, 2) * error))
    assert (found.seed_lows[0], found.seed_highs[0]) == pytest.approx(tuple(np.percentile(resampled[0], [2.5, 97.5])))
    one = estimate([1.0], resampled[:1])
    assert (one.low, one.high, one.detectable) == (one.seed_lows[0], one.seed_highs[0], None)


@pytest.mark.parametrize("num_seeds", [3, 5, 10])
def test_the_minimum_detectable_difference_is_found_four_times_in_five(num_seeds):
    random = np.random.default_rng(1)
    samples = random.normal(minimum_detectable(num_seeds), 1.0, size=(20_000, num_seeds))
    half = stats.t.ppf(0.975, num_seeds - 1) * samples.std(axis=1, ddof=1) / math.sqrt(num_seeds)  # as `estimate` takes it
    assert np.mean(samples.mean(axis=1) - half > 0) == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize(
    ("low", "high", "at_least", "at_most", "outcome"),
    [
        (0.1, 0.5, 0.0, None, "holds"),
        (-0.1, 0.5, 0.0, None, "open"),
        (-0.5, -0.1, 0.0, None, "fails"),
        (-0.4, 0.4, -0.5, 0.5, "holds"),
        (-0.6, 0.4, -0.5, 0.5, "open"),
        (0.6, 0.9, -0.5, 0.5, "fails"),
        (math.nan, math.nan, 0.0, None, "open"),
    ],
)
def test_an_interval_decides_only_if_it_lies_on_one_side(low, high, at_least, at_most, outcome):
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


def test_margins_decide(evidence):
    gap = evidence.contrast([(1, HARD), (-1, BASE)])
    assert claim_of(better(HARD, BASE)).judge(evidence).status in ("reproduced", "undecided")
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


def test_masking_a_head_is_compared_on_the_same_sentences(evidence, refs):
    changed = {str(i): "nichts" for i in range(0, 100)}
    record = score_record(HARD, []) | {"kind": "masks", "masks": {"2": {"changed": changed}}}
    both = Evidence("smoke", [score_record(HARD, damaged(refs, 8)), record])
    masked = ["nichts"] * 100 + damaged(refs, 8)[100:]
    assert both.masked(HARD, "2").mean == pytest.approx(bleu(damaged(refs, 8), refs) - bleu(masked, refs))


def test_printed_cells_stand_beside_ours_and_gaps_stay_gaps(evidence):
    text = score_table(
        evidence, "you2020", "Table 2", [Row(BASE, {"column": "base"}), Row(HARD, {"column": "hc-sa"}), Row(Arm("syn-r"), {})]
    )
    base, hard, missing = text.splitlines()[2:]
    assert "| 30.0 | 34.4 |" in base and "| 30.3 | 34.8 |" in hard
    assert "| -1.20 to +0.40 |" in hard
    assert missing.startswith("| syn-r | - | -") and "not run" in missing
    assert score_table(evidence, "raganato2020", "Table 1", [Row(BASE, {})]).endswith("Printed numbers of Table 1: not known.")


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


def test_a_sitting_is_measured_as_a_whole(evidence):
    experiment = Experiment("x", "X", "x", (BASE, HARD), lambda _: "", measures={"speed": (BASE, HARD)})
    assert [(kind, len(configs)) for kind, configs in plan([experiment], evidence, 1).sittings] == [("speed", 2)]


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


def test_an_arm_says_its_conditions_and_knows_its_part_of_the_data():
    arm = Arm("7Ftoken+1L", ("model.decoder_layers=1",), part=0.25)
    assert str(arm) == "7Ftoken+1L (model.decoder_layers=1, 25% of the data)"
    assert (arm.config("smoke").data.train_pairs, arm.config("smoke").model.decoder_layers) == (5000, 1)
    assert Arm("sh-x", ("model.cross=none; last: dot-product(heads={layers})",)).config("smoke").model.cross.endswith("heads=2)")
    assert (Arm("base", reverse=True).config("smoke").data.source, Arm("base").config("smoke").data.source) == ("de", "en")
