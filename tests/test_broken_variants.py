"""Set-ups that are wrong on purpose: each flips a named verdict, or is refused by name."""

from dataclasses import replace
from pathlib import Path

import pytest
from expected_errors import refuses

from repro.claims.evidence import Evidence
from repro.claims.settings import Setting
from repro.errors import InputError
from repro.papers.verdicts import claims_of
from repro.records.report import check_comparable
from repro.records.stored import load_records

RESULTS = Path(__file__).resolve().parents[1] / "results"

# records of systems that are wrong on purpose: no results
BROKEN = Path(__file__).parent / "broken_variants"


@pytest.fixture(scope="module")
def evidence():
    return Evidence("smoke", load_records(RESULTS, None) + load_records(BROKEN))


def verdict_with(evidence, name: str, changes: dict[Setting, Setting]) -> str:
    """Return the verdict on a claim when other runs stand for some of its settings."""
    (claim,) = [claim for claim in claims_of() if claim.name == name]
    conditions = [
        replace(
            condition,
            terms=tuple(
                (weight, changes.get(setting, setting)) for weight, setting in condition.terms
            ),
        )
        for condition in claim.conditions
    ]
    return replace(claim, conditions=tuple(conditions)).judge(evidence).status


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        # centres off by five
        (
            "Y-01",
            Setting("hc-sa"),
            Setting("hc-sa", ("model.encoder_self=gaussian(centers=[4, 6])",)),
        ),
        ("Y-02", Setting("hc-all"), Setting("hc-sa")),  # cross attention that is still learned
        # queries and keys where the recurrence should be
        ("Z-06", Setting("ran-e/-pe"), Setting("base/-pe")),
    ],
)
def test_a_broken_variant_flips_its_verdict(evidence, name, right, wrong):
    assert verdict_with(evidence, name, {}) != verdict_with(evidence, name, {right: wrong})
    assert verdict_with(evidence, name, {right: wrong}) in ("not reproduced", "partly")


def test_no_broken_variant_stands_among_the_results():
    broken = {record["config_digest"] for record in load_records(BROKEN)}
    assert broken and not broken & {record["config_digest"] for record in load_records(RESULTS)}


def test_another_tokeniser_is_refused(results):
    first, second = load_records(results)[:2]
    scores = [
        score | {"signature": score["signature"].replace("tok:13a", "tok:intl")}
        for score in second["scores"]
    ]
    with pytest.raises(InputError, match="have different signatures"):
        check_comparable([first, second | {"scores": scores}])


def test_other_training_data_are_refused(results):
    first, second = load_records(results)[:2]
    with pytest.raises(InputError, match="have different texts"):
        check_comparable(
            [first, second | {"provenance": second["provenance"] | {"data_fingerprint": "leaking"}}]
        )


def test_a_decoder_that_moves_while_the_encoder_is_pruned_is_refused():
    overrides = ('model.gated_sites=["encoder_self", "cross"]', "train.freeze_decoder=true")
    with refuses(InputError, "train.freeze_decoder", "encoder_self"):
        Setting("base", overrides).config("smoke")
