"""Numbers behind the further claims, each on made-up records whose answer is known."""

import numpy as np
import pytest
from paper_records import BASE, HARD, described, heads_record, of_one_training, pruning_record
from paper_records import score_record as scored

from repro.claims.evidence import Evidence, NotMeasured
from repro.claims.settings import Setting
from repro.papers.cui2019 import further as of_cui
from repro.papers.memory import memory_ratio
from repro.papers.pairs import extra_loss_far_apart, extra_loss_on
from repro.papers.printed import quoted, quoted_changes
from repro.papers.pruned import pruned_minus_scratch
from repro.papers.pruned_roles import roles_gained, roles_lost, specialised_share_difference
from repro.papers.specialised import confidence_of_most_relevant
from repro.papers.zeng2021 import further as of_zeng
from repro.papers.zeng2021.claims import _extra_parameters_for_the_text
from repro.statistics.intervals import Undefined

AGREEMENT = "subj_verb_agreement"


def test_a_loss_on_some_pairs_is_compared_with_that_on_the_others(monkeypatch):
    """Of 40 near pairs a model loses 4, of 40 far ones 12: 20 points more."""
    items = {
        "type": {"names": [AGREEMENT, "other"], "of": [0] * 80 + [1] * 40},
        "distance": [1] * 40 + [5] * 40 + [9] * 40,
    }
    right = {BASE: [True] * 120, HARD: [True] * 120}
    for place in (*range(4), *range(40, 52)):
        right[HARD][place] = False
    monkeypatch.setattr(
        "repro.papers.pairs.result_of",
        lambda _, setting, *rest: {
            "suite": {"sha256": ""},
            "items": items,
            "right": right[setting],
        },
    )
    monkeypatch.setattr("repro.papers.pairs.decisions", lambda result: result["right"])
    evidence = Evidence("smoke", [])
    far = extra_loss_far_apart(evidence, AGREEMENT, HARD, BASE)
    assert far.value == pytest.approx(20) and far.over == "40 against 40 pairs"
    # Bonett and Price have -1.54 to 20.59 about 10 and 13.40 to 43.74 about 30; halves are squared
    # and added: 20 - hypot(16.60, 10.59) and 20 + hypot(13.74, 11.54)
    assert (far.low, far.high) == (pytest.approx(0.31, abs=0.02), pytest.approx(37.94, abs=0.02))
    assert extra_loss_on(evidence, [AGREEMENT], HARD, BASE).value == pytest.approx(100 * 16 / 80)
    assert extra_loss_on(evidence, ["other"], HARD, BASE).value == pytest.approx(-20)
    with pytest.raises(Undefined, match="only 0 pairs in a group"):
        extra_loss_on(evidence, ["neither"], HARD, BASE)
    with pytest.raises(Undefined, match="no pairs of neither with a distance"):
        extra_loss_far_apart(evidence, "neither", HARD, BASE)


def map_of(setting: Setting, site: str, layers: list[np.ndarray]) -> dict:
    weights = [layer.tolist() for layer in layers]
    return described(setting) | {"kind": "maps", "weights": {site: weights}}


def test_the_first_token_leads_where_it_has_more_weight_than_others_beyond_the_neighbours():
    """Six queries; from the fourth on they have the first token and others beyond neighbours."""
    weights = np.zeros((1, 6, 6))
    for query in range(6):
        weights[0, query, : query + 1] = 0.1
        weights[0, query, 0] = 0.4
    ran = Setting("ran-all")
    found = of_zeng._lead_of_first_token(
        Evidence("smoke", [map_of(ran, "decoder_self", [weights])])
    )
    assert found.value == pytest.approx(0.3) and found.over == "3 rows of weights"
    flat = np.full((1, 6, 6), 1 / 6)
    level = of_zeng._lead_of_first_token(Evidence("smoke", [map_of(ran, "decoder_self", [flat])]))
    assert level.value == pytest.approx(0)


def test_heads_of_a_type_are_found_in_every_layer():
    """Global, local, forward, backward; directed heads look as far as their layer says."""
    mma, size = Setting("mma"), 5
    at_itself, next_one = np.eye(size), np.roll(np.eye(size), 1, axis=1)
    flat = np.full((size, size), 1 / size)
    layers = [
        np.stack([flat, at_itself, at_itself, at_itself]),
        np.stack([at_itself, flat, next_one, next_one]),
    ]
    evidence = Evidence("smoke", [map_of(mma, "encoder_self", layers)])
    assert of_cui._own_weight_above_chance(evidence).value == pytest.approx(0)
    # four tokens look one away, the last one wraps around to the first
    assert of_cui._reach_of_upper_layers(evidence).value == pytest.approx((4 * 1 + 4) / 5)
    swapped = Evidence("smoke", [map_of(mma, "encoder_self", layers[::-1])])
    assert of_cui._own_weight_above_chance(swapped).value == pytest.approx(1 - 1 / size)


def entropies(setting: Setting, site: str, layers: list[list[float]]) -> dict:
    return described(setting) | {"kind": "heads", "sites": {site: {"entropy": layers}}}


def test_entropies_are_compared_layer_by_layer_and_over_all():
    site, ran, synthesizer = "decoder_self", Setting("ran-all"), Setting("syn-r")
    evidence = Evidence(
        "smoke",
        [
            entropies(ran, site, [[1.0, 2.0], [0.5, 0.5]]),
            entropies(synthesizer, site, [[1.0, 1.0], [2.0, 2.0]]),
        ],
    )
    assert of_zeng._entropy_difference(evidence, ran, synthesizer, site).value == -0.5
    assert of_zeng._largest_entropy_difference(evidence, ran, synthesizer, site).value == 0.5
    assert of_zeng._entropy_fall(evidence, ran, site).value == 1.0


def test_ran_has_fewer_parameters_where_layers_are_wide_for_their_text():
    """Two stacks of four matrices, a transition and its norm, against queries and keys (Zeng 3)."""
    size, heads = 128, 4
    ran = 2 * (heads * size**2 + size**2 + size + 2 * size)
    for scale, layers, width in (("multi30k", 4, 128), ("smoke", 2, 64)):
        saved = 2 * layers * 2 * width**2
        assert _extra_parameters_for_the_text(Evidence(scale, [])) == ran - saved
    assert ran - saved == 131_840


@pytest.mark.parametrize(
    "before, after, lost, gained, share",
    [
        # 16 heads: a third is five, so the model with heads 0 to 4 of the first layer
        (["positional", "syntactic", "rare"], ["positional", "syntactic", "rare"], 0, 0, 3 / 5),
        (["positional", "syntactic", "rare"], ["positional", "unknown", "rare"], 1, 0, 2 / 5),
        (["positional", "syntactic", "rare"], ["syntactic", "positional", "rare"], 0, 2, 3 / 5),
    ],
)
def test_roles_in_a_pruned_model_are_its_own(before, after, lost, gained, share):
    def roles(first: list[str]) -> list:
        return [[[name] for name in first] + [["unknown"]] * 5, [["unknown"]] * 8]

    heads, pruned = heads_record(), pruning_record([[0, 1, 2, 3, 4], []])
    heads["sites"]["encoder_self"]["roles"] = roles(before)
    old = Evidence("smoke", [heads, pruning_record([[0, 1, 2, 3, 4], []])])
    with pytest.raises(NotMeasured, match="roles in pruned models"):
        roles_lost(old)
    pruned["series"]["encoder"]["points"][0]["roles"] = roles(after)
    evidence = Evidence("smoke", [heads, pruned])
    assert (roles_lost(evidence).value, roles_gained(evidence).value) == (lost, gained)
    assert specialised_share_difference(evidence).value == pytest.approx(share - 3 / 16)


def test_a_role_that_the_whole_encoder_lacks_cannot_be_kept():
    pruned = pruning_record([[0, 1, 2, 3, 4], []])
    pruned["series"]["encoder"]["points"][0]["roles"] = [[["unknown"]] * 8] * 2
    with pytest.raises(Undefined, match="positional or rare or syntactic"):
        roles_lost(Evidence("smoke", [heads_record(), pruned]))


def test_the_most_relevant_head_is_compared_with_the_middle_of_its_layer():
    """Relevance rises with the number of the head, and here confidence does, too."""
    record = heads_record()
    record["sites"]["encoder_self"]["confidence"][0] = [0.1 * head for head in range(8)]
    found = confidence_of_most_relevant(Evidence("smoke", [record]))
    assert found.value == pytest.approx(0.7 - 0.35)


def test_a_sweep_without_a_model_trained_on_is_no_test_of_training_from_scratch():
    record = of_one_training("pruning") | {"series": {"scratch": {"pruned": "a", "scratch": "b"}}}
    with pytest.raises(NotMeasured, match="trained on"):
        pruned_minus_scratch(Evidence("smoke", [record]))


def test_only_long_sentences_tell_of_long_sentences(refs):
    with pytest.raises(Undefined, match="0 sentences of 40 words or more"):
        of_zeng._gain_on_long_sources(Evidence("smoke", [scored(BASE, refs)]))


def test_fewer_parts_leave_room_for_more_tokens():
    evidence = Evidence("smoke", [])
    assert memory_ratio(evidence, BASE, BASE) == 1
    assert 1 < memory_ratio(evidence, HARD, BASE) < memory_ratio(evidence, Setting("sh-x"), BASE)


def test_what_is_quoted_stands_in_the_table_of_printed_numbers():
    of = {"row": "polarity-particle-kein-ins"}
    hard, base = ({"column": name} for name in ("hc-all", "base"))
    assert quoted_changes("you2020", "Table 4", hard, base, **of) == "+3.9"
    # two metrics
    assert quoted("zeng2021", "text, main results", "+", row="RAN-E") == "+0.13, +0.16"
    with pytest.raises(LookupError):
        quoted("zeng2021", "text, main results", row="RAN-F")
