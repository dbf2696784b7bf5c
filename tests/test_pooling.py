"""Several test sets taken as one, and verdicts on other sets than the one that the tests of claims
were written for."""

import json
from pathlib import Path

import pytest
from command_line import ended
from paper_records import BASE, HARD, bleu, damaged, masked_records, score_record, translations

from repro.claims.conditions import Claim, better, not_worse
from repro.claims.evidence import Evidence, NotMeasured
from repro.claims.pooling import pooled
from repro.claims.settings import Setting
from repro.data.corpora import load_pairs
from repro.errors import DamagedFileError
from repro.papers.summary import test_sets_table as table_of_test_sets
from repro.papers.verdicts import (
    FORMAT,
    claims_of,
    further_test_sets,
    load_verdicts,
    of_scores,
    scales_with_verdicts,
    update_verdicts,
)
from repro.records.sentences import REFERENCE_WORDS
from repro.records.stored import load_record, publish
from repro.records.translations import hypotheses_of
from repro.verify.verify import verify_claims

RESULTS = Path(__file__).resolve().parents[1] / "results"
BOTH = "dev+test"


@pytest.fixture(scope="module")
def references() -> dict[str, list[str]]:
    return {split: load_pairs("minigerman", "en", "de", split)[1] for split in ("dev", "test")}


def scored(
    setting: Setting, references: dict[str, list[str]], every: int, seed: int = 1
) -> list[dict]:
    """Return a run's records of both sets; every n-th sentence is damaged, another one for each
    seed."""
    return [
        score_record(setting, damaged(refs, every, seed), seed, split=split)
        for split, refs in references.items()
    ]


def several(references: dict[str, list[str]]) -> list[dict]:
    """Return two systems of two seeds each, which hardly differ; the second is worse."""
    return [
        record
        for setting, every in ((BASE, 8), (HARD, 4))
        for seed in (1, 2)
        for record in scored(setting, references, every, seed)
    ]


def test_translations_of_all_sets_are_one_record_in_the_order_asked_for(references):
    dev, test = scored(BASE, references, 4)
    for order, parts in ((["dev", "test"], [dev, test]), (["test", "dev"], [test, dev])):
        (joined,) = pooled([dev, test], order)
        assert joined["split"] == "+".join(order)
        assert hypotheses_of(joined) == [hyp for record in parts for hyp in hypotheses_of(record)]
        assert joined["sentences"] == len(references["dev"]) + len(references["test"])
        assert "scores" not in joined and joined["config_digest"] == dev["config_digest"]


def test_runs_that_lack_a_set_other_sets_and_other_searches_are_left_out_and_other_kinds_stay(
    references,
):
    dev, test = scored(BASE, references, 4)
    (masks,) = masked_records(BASE, references["test"], range(3), seeds=(1,))[1:]
    wider = [
        record | {"search": record["search"] | {"beam": 9}}
        for record in scored(HARD, references, 4)
    ]
    assert pooled(
        [scored(HARD, references, 4)[0], *wider, test | {"split": "ted"}, masks], ["dev", "test"]
    ) == [masks]
    with pytest.raises(NotMeasured, match="hc-sa: not trained at smoke"):
        Evidence("smoke", [dev, test, scored(HARD, references, 4)[1]], BOTH).contrast(
            [(1, BASE), (-1, HARD)]
        )


def test_bleu_of_two_sets_is_that_of_all_sentences_and_its_interval_is_narrower(references):
    records = several(references)
    found, *single = (
        Evidence("smoke", records, split).contrast([(1, BASE), (-1, HARD)])
        for split in (BOTH, "dev", "test")
    )
    refs = references["dev"] + references["test"]
    score = {
        every: [
            bleu(
                damaged(references["dev"], every, seed) + damaged(references["test"], every, seed),
                refs,
            )
            for seed in (1, 2)
        ]
        for every in (8, 4)
    }
    assert found.value == pytest.approx((sum(score[8]) - sum(score[4])) / 2)
    assert found.high - found.low < min(one.high - one.low for one in single)


def test_parts_of_two_sets_are_found_by_their_sentences(references):
    evidence = Evidence("smoke", several(references), BOTH)
    assert evidence.lengths(BASE, REFERENCE_WORDS) == [
        len(ref.split()) for ref in references["dev"] + references["test"]
    ]


def test_a_claim_that_rests_on_more_than_scores_is_not_judged_on_other_sets():
    kept = {claim.name for claim in of_scores(claims_of())}
    assert {"Y-01", "M-01", "Z-04"} <= kept and not kept & {"R-05", "Y-12", "Y-13", "V-01", "Z-08"}


def test_verdicts_on_another_set_are_kept_beside_and_move_no_other(tmp_path, references):
    records, claim = (
        several(references),
        Claim("T-01", "a statement", "a number", (better(BASE, HARD),)),
    )
    moved = Claim("T-01", "a statement", "a number", (not_worse(HARD, BASE, 99.0),))
    update_verdicts(tmp_path, "smoke", [claim], Evidence("smoke", records))
    # its file has no verdict yet
    update_verdicts(tmp_path, "smoke", [moved], Evidence("smoke", records, BOTH))
    assert load_verdicts(tmp_path, "smoke")["T-01"]["test"] == claim.digest("smoke")
    assert (
        load_verdicts(tmp_path, "smoke", BOTH)["T-01"]["test"] == moved.digest("smoke")
        and load_verdicts(tmp_path, "smoke", "dev") == {}
    )
    update_verdicts(tmp_path, "smoke", [claim], Evidence("smoke", records, "ted"))
    assert scales_with_verdicts(tmp_path) == ["smoke"] and further_test_sets(tmp_path) == [
        ("smoke", "ted"),
        ("smoke", BOTH),
    ]
    (tmp_path / "claims" / f"smoke.{BOTH}.json").rename(tmp_path / "claims" / "smoke.dev.json")
    with pytest.raises(DamagedFileError, match=r"smoke\.dev\.json: is not a file of verdicts"):
        load_verdicts(tmp_path, "smoke", "dev")


@pytest.fixture
def two_sets(tmp_path, references) -> Path:
    """Return a folder of stored results, and of the same runs on another set, on which the second
    system is much worse."""
    for setting, every in ((BASE, 100), (HARD, 3)):
        for seed in (1, 2):
            (path,) = (RESULTS / "minigerman.en-de").glob(
                f"*-{setting.config('smoke', seed).digest()}.test.json"
            )
            record = load_record(path)
            publish(record, tmp_path / "results")
            publish(
                record | translations(damaged(references["dev"], every, seed), "dev"),
                tmp_path / "results",
            )
    return tmp_path / "results"


def test_the_command_judges_by_other_sets_and_verifies_what_it_stored(capsys, two_sets):
    results = ("--results", str(two_sets))
    for splits in ([], ["--split", "test", "--split", "dev"], ["--split", "dev"]):
        code, page, _ = ended(capsys, "claims", *results, *splits)
        assert code == 0 and ("R-05" in page) == (not splits)
    assert "Y-01  not reproduced" in page
    assert (
        further_test_sets(two_sets) == [("smoke", "dev"), ("smoke", BOTH)]
        and verify_claims(two_sets).faults == []
    )
    path = two_sets / "claims" / "smoke.dev.json"
    path.write_text(
        path.read_text().replace('"status": "not reproduced"', '"status": "reproduced"')
    )
    (problem,) = verify_claims(two_sets).faults
    assert problem.startswith("Y-01 at smoke on dev: stored reproduced, derived not reproduced")
    values = json.loads(path.read_bytes())
    del values["verdicts"]["Y-01"]
    path.write_text(json.dumps(values))
    assert verify_claims(two_sets).faults == [
        "Y-01 at smoke on dev: its verdict is missing, derived not reproduced"
    ]
    path.write_text("{}")
    assert verify_claims(two_sets).faults == [
        f"verdicts: {path}: is not a file of verdicts. Fix: restore it, or delete it and run "
        "repro claims"
    ]


@pytest.mark.parametrize(
    "arguments, told",
    [
        (["--split", "nowhere"], "nowhere"),
        (
            ["R-05", "--split", "dev"],
            (
                "--split: R-05 rests on more than scores, and that was measured on test alone. "
                "Fix: leave --split out"
            ),
        ),
        (["--scale", "minisummary", "--split", "dev"], "translat"),
    ],
)
def test_what_no_other_set_can_tell_is_refused(capsys, two_sets, arguments, told):
    code, page, message = ended(capsys, "claims", *arguments, "--results", str(two_sets))
    assert (
        code == 2
        and not page
        and message.startswith("error: ")
        and told in message
        and not (two_sets / "claims").exists()
    )


def test_a_set_that_no_run_was_scored_on_is_named(capsys, two_sets):
    for path in two_sets.glob("*/*.dev.json"):
        path.unlink()
    code, _, message = ended(capsys, "claims", "--split", "dev", "--results", str(two_sets))
    assert (
        code == 2
        and "holds no run of smoke that was scored on dev. Fix: score one with repro run --split"
        in message
    )
    assert not (two_sets / "claims").exists()


def test_the_table_says_what_other_sets_decide_and_what_they_turn_over(tmp_path):
    def store(split: str, statuses: dict[str, str]) -> None:
        verdicts = {
            name: {"test": "t", "claim": name, "status": status, "conditions": []}
            for name, status in statuses.items()
        }
        name = "smoke" if split == "test" else f"smoke.{split}"
        (tmp_path / "claims").mkdir(exist_ok=True)
        (tmp_path / "claims" / f"{name}.json").write_text(
            json.dumps({"format": FORMAT, "scale": "smoke", "split": split, "verdicts": verdicts})
        )

    store(
        "test",
        {"Y-01": "reproduced", "Z-04": "undecided", "M-01": "reproduced", "R-05": "reproduced"},
    )
    store("dev", {"Y-01": "not reproduced", "Z-04": "partly", "M-01": "reproduced"})
    store(BOTH, {"Y-01": "undecided", "Z-04": "not run", "M-01": "reproduced"})
    assert [
        line.strip("| ").split(" | ") for line in table_of_test_sets(tmp_path).splitlines()[2:]
    ] == [
        ["smoke", "test", "0", "0", "1", "0", "0", "2", "none", "none"],
        ["smoke", "dev", "1", "1", "0", "0", "0", "1", "Z-04", "Y-01"],
        ["smoke", "dev, test", "0", "0", "1", "0", "1", "1", "none", "none"],
    ]
