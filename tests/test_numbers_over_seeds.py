"""Numbers of heads and of contrastive pairs that were measured on models of several seeds."""

import math

import numpy as np
import pytest
from paper_records import (
    BASE,
    bleu,
    damaged,
    described,
    heads_about,
    heads_record,
    pruning_record,
    score_record,
    verdict_on,
)
from scipy import stats
from test_suites import LEARNED, TOKEN, contrastive_record

from repro.claims.evidence import Evidence, NotMeasured
from repro.claims.settings import Setting
from repro.papers.heads import local_share
from repro.papers.pruned import (
    PRUNED,
    binary_share,
    change_at,
    cross_goes_last,
    pruned_minus_scratch,
)
from repro.papers.pruned_roles import survival_difference
from repro.papers.suites import accuracy_by_type_table, accuracy_difference
from repro.statistics.intervals import LEVEL, Estimate, Undefined, over_seeds


def of_seed(record: dict, setting, seed: int) -> dict:
    about = described(setting, seed)
    return record | {name: about[name] for name in ("config", "config_digest", "provenance")}


def pairs_of_seed(setting, seed: int, right: int, masked_right: int = 0, **others) -> dict:
    return of_seed(
        contrastive_record(setting, "smoke", "subj_verb_agreement", right, masked_right, **others),
        setting,
        seed,
    )


@pytest.mark.parametrize("num_seeds", [2, 3, 5])
@pytest.mark.parametrize("item_noise", [0.0, 1.0])
def test_the_interval_over_items_and_seeds_holds_the_truth_as_often_as_it_says(
    num_seeds, item_noise
):
    """Items are shared by all models of an experiment: their part of a number is the same for each seed."""
    random, inside, experiments = np.random.default_rng(1), 0, 4000
    for _ in range(experiments):
        values = item_noise * random.normal() + random.normal(size=num_seeds)
        found = over_seeds(
            [
                Estimate(value, value - 1.96 * item_noise, value + 1.96 * item_noise)
                for value in values
            ]
        )
        inside += found.low <= 0 <= found.high
    assert 0.943 <= inside / experiments <= (0.957 if not item_noise else 0.99)


def test_an_interval_that_is_longer_upwards_stays_so_over_seeds():
    found = over_seeds([Estimate(1.0, 0.0, 6.0)] * 2)
    assert (found.low, found.high) == (0.0, 6.0)


def test_numbers_without_an_interval_have_that_of_their_seeds():
    found = over_seeds([Estimate(value, over="of 16 heads") for value in (1.0, 2.0, 3.0)])
    half = 4.302653 / math.sqrt(3)
    assert (found.value, found.low, found.high) == pytest.approx((2.0, 2.0 - half, 2.0 + half))
    assert str(found) == "2.00, 95 % -0.48 to 4.48, of 16 heads, mean of 3 seeds"


@pytest.mark.parametrize("num_seeds", [2, 3, 5])
def test_counts_that_are_equal_by_chance_are_not_taken_for_certain(num_seeds):
    """Counts of few seeds often agree; without a least variance half of the intervals of two seeds would be single points."""
    random, inside, experiments = np.random.default_rng(1), 0, 4000
    for counts in random.binomial(16, 0.1, size=(experiments, num_seeds)):
        found = over_seeds([Estimate(float(count), step=1) for count in counts])
        inside += found.low <= 1.6 <= found.high
    assert inside / experiments >= 0.93  # so few counts are skewed
    equal = over_seeds([Estimate(2.0, step=1)] * 3)
    assert equal.high - 2 == pytest.approx(4.302653 * math.sqrt(1 / 12 / 3))


def test_one_seed_says_that_it_is_one():
    counted, measured = (
        over_seeds([one])
        for one in (Estimate(1.0, over="of 16 heads"), Estimate(1.0, 0.0, 2.0, LEVEL, "9 pairs"))
    )
    assert (
        str(counted) == "1, of 16 heads, one seed alone"
        and str(measured) == "1.00, 95 % 0.00 to 2.00, 9 pairs, one seed alone"
    )
    assert (
        counted.is_of_one_seed
        and measured.is_of_one_seed
        and not over_seeds([counted, counted]).is_of_one_seed
    )


def test_heads_of_further_seeds_decide_with_the_first():
    """Three heads each are enough, for two seeds not quite; that some seeds have none leaves it open."""
    first, same, none = heads_record(offset=-1), heads_record(offset=-1), heads_record()
    assert verdict_on("V-07", [first]).status == "reproduced"
    assert verdict_on("V-07", [first, of_seed(same, PRUNED, 2)]).status == "undecided"
    assert (
        verdict_on("V-07", [first, *(of_seed(same, PRUNED, seed) for seed in (2, 3))]).status
        == "reproduced"
    )
    mixed = verdict_on("V-07", [first, of_seed(none, PRUNED, 2)])
    assert mixed.status != "reproduced" and mixed.evidence[0].startswith("open: ")
    assert mixed.evidence[0].endswith(": 1.50, 95 % 0.00 to 20.56, of 16 heads, mean of 2 seeds")
    # confidence of such heads: a model without any has none
    assert mixed.evidence[1].endswith("3 heads, one seed alone")


def test_a_correlation_over_heads_of_several_models_is_as_sure_as_their_seeds():
    """That of one model has an interval over its eight heads, that of three seeds which all say the same has none left."""
    record = heads_record()
    relevance = record["sites"]["encoder_self"]["relevance"][1]
    relevance[0], relevance[1] = relevance[1], relevance[0]
    one = verdict_on("V-08", [record]).evidence[0]
    three = verdict_on("V-08", [of_seed(record, PRUNED, seed) for seed in (1, 2, 3)]).evidence[0]
    assert one.endswith(": 0.98, 95 % 0.82 to 1.00, 8 heads, one seed alone")
    assert three.endswith(": 0.98, 95 % 0.98 to 0.98, 8 heads, mean of 3 seeds")


def test_pairs_decided_by_several_models_are_compared_seed_by_seed():
    records = [
        pairs_of_seed(setting, seed, right)
        for setting, rights in ((LEARNED, (90, 80)), (TOKEN, (60, 70)))
        for seed, right in enumerate(rights, 1)
    ]
    found = accuracy_difference(Evidence("smoke", records), "subj_verb_agreement", TOKEN, LEARNED)
    assert found.value == -20.0 and str(found).endswith(
        ", 100 pairs, en-de, mean of 2 seeds, 65.0 % right, 50.0 % by chance"
    )
    # -30 and -10: the standard error of their mean is 10
    assert found.low < -20 - 12.7 * 10 and found.high > -20 + 12.7 * 10
    unshared = accuracy_difference(
        Evidence("smoke", records[:3]), "subj_verb_agreement", TOKEN, LEARNED
    )
    assert unshared.value == -30.0 and "one seed alone" in str(unshared)


def test_a_table_of_accuracies_says_of_how_many_seeds_they_are_means():
    records = [
        pairs_of_seed(LEARNED, 1, 90),
        pairs_of_seed(LEARNED, 2, 80),
        pairs_of_seed(TOKEN, 1, 60),
    ]
    # made of other pairs than the first: left out
    records.append(pairs_of_seed(LEARNED, 3, 0, suite="another"))
    text = accuracy_by_type_table(
        Evidence("smoke", records), "raganato2020", "Table 6", [LEARNED, TOKEN]
    )
    assert "8L, 2 seeds | 7Ftoken+1L |" in text and "| 85.0 (21 to 100) | 60.0 (50 to 69) |" in text


def sweep_of_seed(seed: int, refs: list[str], heads: int, lost_every: int) -> list[dict]:
    """Return the record of a pruned model that has every n-th sentence in another order, and the scores; its control is perfect."""
    point, control = ({"config_digest": f"{what} {seed}"} for what in ("pruned", "control"))
    series = {
        "encoder": {
            "heads": 16,
            "points": [point | {"heads": heads}],
            "continued": control["config_digest"],
        },
        "scratch": {"trained_on": point["config_digest"], "scratch": control["config_digest"]},
    }
    record = of_seed({"kind": "pruning", "series": series}, PRUNED, seed)
    # no two are one system
    pruned, whole = (
        Setting("base", (f"train.max_updates={updates}",)) for updates in (10 * seed, 10 * seed + 1)
    )
    return [
        record,
        score_record(pruned, damaged(refs, lost_every)) | point,
        score_record(whole, refs) | control,
    ]


def test_what_pruning_costs_is_a_mean_over_seeds(refs):
    """Its seeds matter half as much for two models as for one: the interval of four is half as wide, the sentences aside."""
    costs = [100 - bleu(damaged(refs, every), refs) for every in (3, 6)]
    both = [*sweep_of_seed(1, refs, 4, 3), *sweep_of_seed(2, refs, 3, 6)]
    for found in (
        change_at(Evidence("smoke", both), 0.25),
        pruned_minus_scratch(Evidence("smoke", both)),
    ):
        assert (found.value, found.seeds) == (pytest.approx(-sum(costs) / 2, abs=1e-3), (2, 2))
    noise = [score_record(BASE, damaged(refs, every), seed) for seed, every in ((1, 2), (2, 9))]
    one, four = (
        change_at(
            Evidence(
                "smoke",
                [
                    *noise,
                    *(record for seed in seeds for record in sweep_of_seed(seed, refs, 4, 99)),
                ],
            ),
            0.25,
        )
        for seeds in ((1,), (1, 2, 3, 4))
    )
    assert one.high - one.low == pytest.approx(2 * (four.high - four.low), rel=0.01)


def test_a_seed_for_which_no_penalty_left_so_few_heads_is_left_out(refs):
    found = change_at(
        Evidence("smoke", [*sweep_of_seed(1, refs, 5, 3), *sweep_of_seed(2, refs, 4, 6)]), 0.25
    )
    assert (found.value, found.seeds) == (
        pytest.approx(bleu(damaged(refs, 6), refs) - 100, abs=1e-3),
        (1, 1),
    )


def test_of_the_models_with_few_enough_heads_the_one_with_most_tells_what_pruning_costs(refs):
    """No other one has scores here."""
    records = sweep_of_seed(1, refs, 3, 6)
    points = records[0]["series"]["encoder"]["points"]
    points[:] = [
        {"heads": 2, "config_digest": "2"},
        *points,
        {"heads": 1, "config_digest": "1"},
        {"heads": 5, "config_digest": "5"},
    ]
    assert change_at(Evidence("smoke", records), 0.25).value == pytest.approx(
        bleu(damaged(refs, 6), refs) - 100, abs=1e-3
    )


def test_heads_that_are_kept_are_counted_over_seeds():
    records = []
    for seed, cross in enumerate((5, 3), start=1):
        kept = {"encoder_self": [[]], "decoder_self": [[0, 1]], "cross": [list(range(cross))]}
        series = {"all": {"heads": 24, "points": [{"heads": 2 + cross, "kept_heads": kept}]}}
        records.append(of_seed({"kind": "pruning", "series": series}, PRUNED, seed))
    found = cross_goes_last(Evidence("smoke", records))
    # 3 and 1: their standard deviation is the square root of 2
    half = 12.7062 * math.sqrt(2) / math.sqrt(2)
    assert (found.value, found.high - found.value) == (2.0, pytest.approx(half, abs=1e-3))
    assert str(found).endswith(", 7 of 24 heads or 5 of 24 heads, mean of 2 seeds")


def test_what_survives_is_told_of_the_seeds_whose_roles_are_known():
    """Roles are in another kind of record, which a third seed does not have."""
    roles = [of_seed(heads_record(offset=1), PRUNED, seed) for seed in (1, 2)]
    kept = [
        of_seed(pruning_record([[], heads]), PRUNED, seed)
        for seed, heads in ((1, [0, 1, 2]), (2, [3, 4, 5]), (3, [6]))
    ]
    found = survival_difference(Evidence("smoke", [*roles, *kept]))
    assert found.value == pytest.approx((1 - 3 / 13) / 2) and (found.over, found.seeds) == (
        "3 of 16 heads",
        (2, 2),
    )
    assert (found.low, found.high) == (-1.0, 1.0)


def test_what_survives_is_not_told_where_roles_are_of_one_seed_and_the_sweep_of_another():
    verdict = verdict_on(
        "V-09", [heads_record(offset=1), of_seed(pruning_record([[], [0, 1, 2]]), PRUNED, 2)]
    )
    assert (verdict.status, verdict.reason) == (
        "not run",
        "pruning of base (model.num_heads=8), seed 1: not measured at smoke",
    )


def test_what_survives_is_told_of_the_model_nearest_three_tenths_of_its_heads():
    larger, record = (pruning_record(kept) for kept in ([list(range(8)), []], [[0, 1], [0, 1, 2]]))
    record["series"]["encoder"]["points"] += larger["series"]["encoder"]["points"]
    found = survival_difference(Evidence("smoke", [heads_record(offset=1), record]))
    assert (found.value, found.over) == (pytest.approx(1 - 2 / 13), "5 of 16 heads")


def test_gates_that_are_all_shut_tell_nothing_of_how_binary_gates_are():
    empty, left = (
        {"heads": 10, "points": [{"heads": heads, "almost_binary": 1.0}]} for heads in (0, 3)
    )
    sweeps = [
        of_seed({"kind": "pruning", "series": {"encoder": of, "all": of}}, PRUNED, seed)
        for seed, of in ((1, empty), (2, left))
    ]
    assert binary_share(Evidence("smoke", sweeps)).value == 1.0  # of the other seed
    with pytest.raises(Undefined, match="no pruned model has a head left"):
        binary_share(Evidence("smoke", sweeps[:1]))


def test_seeds_that_agree_about_shares_are_not_sure_of_them():
    """The least that another seed could change is one gate, or one head for another."""
    gates = {"heads": 10, "points": [{"heads": 3, "almost_binary": 0.9}] * 5}
    sweeps = [
        of_seed({"kind": "pruning", "series": {"encoder": gates, "all": gates}}, PRUNED, seed)
        for seed in (1, 2, 3)
    ]
    half = stats.t.ppf(0.975, 2) * (1 / 10 / 10) / math.sqrt(12 * 3)
    found = binary_share(Evidence("smoke", sweeps))
    assert (found.low, found.high) == (pytest.approx(0.9 - half), pytest.approx(0.9 + half))
    roles = [of_seed(heads_record(offset=1), PRUNED, seed) for seed in (1, 2, 3)]
    kept = [of_seed(pruning_record([[], [0, 1, 5]]), PRUNED, seed) for seed in (1, 2, 3)]
    found = survival_difference(Evidence("smoke", [*roles, *kept]))
    assert found.value - found.low == pytest.approx(
        stats.t.ppf(0.975, 2) * (1 / 3 + 1 / 13) / math.sqrt(12 * 3)
    )
    # one head is missing
    near = heads_about(
        BASE, encoder_self={"distance": [[3.0, 3.1]]}, decoder_self={"distance": [[1.0, None]]}
    )
    found = local_share(Evidence("smoke", [of_seed(near, BASE, seed) for seed in (1, 2, 3)]), BASE)
    assert (found.value, found.over, found.seeds) == (pytest.approx(2 / 3), "3 heads", (3, 3))
    assert found.value - found.low == pytest.approx(
        stats.t.ppf(0.975, 2) * (1 / 3) / math.sqrt(12 * 3)
    )
    nearer = heads_about(
        BASE, encoder_self={"distance": [[3.0, 3.0]]}, decoder_self={"distance": [[1.0, None]]}
    )
    found = local_share(
        Evidence("smoke", [of_seed(nearer, BASE, seed) for seed in (1, 2, 3)]), BASE
    )
    # a share ends there, however unsure
    assert (found.value, found.high) == (1.0, 1.0) and found.low < 1


def test_what_no_seed_has_is_told_of_the_first():
    with pytest.raises(
        NotMeasured, match="heads of base, seed 1: not measured at smoke. Fix: repro run makes it"
    ):
        local_share(Evidence("smoke", []), BASE)
