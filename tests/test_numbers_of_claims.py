"""Numbers that claims ask for at their edges: chosen among several, of nothing, or of one training
run."""

import pytest
from paper_records import (
    ALL_OF_DEV,
    BASE,
    HARD,
    damaged,
    heads_record,
    mask_record,
    of_one_training,
    score_record,
    verdict_on,
)

from repro.claims.evidence import Evidence, NotMeasured
from repro.claims.settings import Setting
from repro.measures.pruning import wanted_heads
from repro.papers.figures import gap_figure
from repro.papers.pruned import change_at, point_near
from repro.papers.raganato2020.experiments import TOKEN
from repro.papers.specialised import rare_head
from repro.records.sentences import REFERENCE_WORDS


def masked_for_each(refs: list[str], lost: dict[str, range], seeds=(1, 2, 3)) -> list[dict]:
    """Return records of a perfect 7F+1L that loses these sentences without one head or another,
    whatever the seed."""
    records = [score_record(TOKEN, refs, seed) for seed in seeds]
    return [*records, *(mask_record(record, refs, lost) for record in records)]


def test_the_worst_of_three_against_the_best_of_three_was_chosen_on_the_same_sentences(refs):
    """Its interval must hold for whichever pair it is: wider than that of one pair, and as low as
    the lowest of all."""
    lost = {head: range(20 * int(head), 20 * int(head) + 60) for head in "234567"}
    evidence = Evidence("smoke", masked_for_each(refs, lost))
    (condition,) = (line for line in verdict_on("R-05", masked_for_each(refs, lost)).evidence)
    pairs = [
        evidence.masked_difference((TOKEN, near), (TOKEN, far)) for near in "234" for far in "567"
    ]
    low, high = (float(end) for end in condition.split("95 % ")[1].split(",")[0].split(" to "))
    assert low < min(pair.low for pair in pairs) and high > min(pair.high for pair in pairs)
    assert (
        condition.startswith("open: ")
        and f": {min(pair.value for pair in pairs):+.2f}, " in condition
    )


def test_a_clear_order_of_masks_is_seen_all_the_same(refs):
    near, far = dict.fromkeys("234", range(150)), dict.fromkeys("567", range(15))
    assert verdict_on("R-05", masked_for_each(refs, near | far)).status == "reproduced"
    swapped = dict.fromkeys("234", range(15)) | dict.fromkeys("567", range(150))
    assert verdict_on("R-05", masked_for_each(refs, swapped)).status == "not reproduced"


@pytest.mark.parametrize(
    ("num_heads", "wanted"), [(48, [14, 12, 4]), (16, [4, 4, 1]), (8, [2, 2, 1])]
)
def test_pruning_aims_at_no_more_heads_than_claims_allow_and_at_one_at_least(num_heads, wanted):
    assert wanted_heads("encoder", num_heads) == wanted


def test_of_models_equally_near_a_share_the_larger_one_is_taken():
    assert point_near(
        {"heads": 24, "points": [{"heads": heads} for heads in (10, 14, 15)]}, 0.5
    ) == {"heads": 14}


def test_a_model_without_any_head_is_none_with_very_few():
    points = [{"heads": heads, "config_digest": str(heads), "kept_heads": {}} for heads in (5, 0)]
    series = {"encoder": {"heads": 16, "points": points, "continued": "control"}}
    evidence = Evidence("smoke", [of_one_training("pruning") | {"series": series}])
    with pytest.raises(NotMeasured, match="no penalty that was tried leaves so few"):
        change_at(evidence, 0.1)


def test_a_relation_that_does_not_occur_decides_nothing():
    accuracy = {
        direction: [[None, None]] for direction in ("head to dependent", "dependent to head")
    }
    of_relation = {"positions": {}, "accuracy": accuracy, "baseline": None}
    syntax = {name: dict.fromkeys(("nsubj", "dobj"), value) for name, value in of_relation.items()}
    verdict = verdict_on("V-11", [heads_record() | {"syntax": syntax}])
    assert verdict.status == "not testable here" and verdict.evidence[0].endswith(
        ": nsubj does not occur in the parsed sentences"
    )


@pytest.mark.parametrize(
    "change", [{"relevance": [[None] * 8] * 2}, {"two_rarest": [[None] * 8] * 2}]
)
def test_a_layer_without_heads_or_rare_tokens_has_no_rare_head(change):
    record = heads_record()
    record["sites"]["encoder_self"] |= change
    verdict = verdict_on("V-10", [record])
    assert verdict.status == "not testable here"
    assert verdict.evidence[0].startswith("void: ")


@pytest.mark.parametrize(("shares", "points"), [([0.6, 0.5], -10), ([0.3, 0.6], 20)])
def test_the_most_relevant_head_must_look_at_rare_tokens_often_and_more_than_any_other(
    shares, points
):
    record = heads_record()
    record["sites"]["encoder_self"] |= {"relevance": [[0.1, 0.9]], "two_rarest": [shares]}
    assert rare_head(Evidence("smoke", [record])).value == pytest.approx(points)


def test_a_figure_says_where_its_intervals_know_nothing_of_seeds(refs):
    records = [score_record(BASE, refs), score_record(HARD, damaged(refs, 8))]
    of_one, of_two = (
        list(
            gap_figure(
                Evidence("smoke", found),
                (BASE, HARD),
                REFERENCE_WORDS,
                [0, 8, 1000],
                "reference words",
            )
        )
        for found in (records, [*records, score_record(BASE, damaged(refs, 90), 2)])
    )
    assert of_one == ["BLEU against base by reference words, intervals over test sentences alone"]
    assert of_two == ["BLEU against base by reference words"]


@pytest.mark.parametrize(
    ("base", "random", "status"),
    [
        (0.1, 0.02, "reproduced"),
        (0.1, 0.005, "partly"),
        (0.005, 0.02, "partly"),
        (0.002, 0.005, "not reproduced"),
    ],
)
def test_layers_of_recurrent_attention_must_be_more_alike_than_those_of_random_attention_too(
    refs, base, random, status
):
    """Layers that look at no tokens are alike already, beside those of the baseline."""
    found = {"ran-all": 0.01, "base": base, "syn-r": random}
    divergences = {system: [[0.0, value], [value, 0.0]] for system, value in found.items()}
    assert verdict_on("Z-09", divergence_records(refs, divergences)).status == status


def divergence_records(refs, divergences):
    """Return records of systems with the divergence of each decoder layer from each."""
    records = []
    for system, divergence in divergences.items():
        record = score_record(Setting(system), refs)
        layers = {"decoder_self": {"divergence": divergence}}
        records += [record, record | ALL_OF_DEV | {"kind": "heads", "sites": layers}]
    return records


def test_a_single_layer_has_no_neighbour_to_be_like(refs):
    records = divergence_records(refs, {name: [[0.0]] for name in ("ran-all", "base", "syn-r")})
    verdict = verdict_on("Z-09", records)
    assert verdict.status == "not testable here"
    assert all("a single layer has no neighbour" in line for line in verdict.evidence[:2])
