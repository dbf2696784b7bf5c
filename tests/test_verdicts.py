"""How conditions make a verdict, and that no margin moves after its result."""

import math
from dataclasses import replace

import pytest
from expected_errors import refuses
from paper_records import BASE, HARD, claim_of

from repro.claims.conditions import POSITIVE, Check, Contrast, better, loss, not_worse
from repro.claims.evidence import Evidence, NotMeasured
from repro.claims.settings import Setting
from repro.claims.verdict_fields import as_stored, as_verdict, first_difference, verdict_faults
from repro.errors import InputError
from repro.papers.verdict_text import evidence_lines, verdict_table
from repro.papers.verdicts import (
    claims_of,
    count_verdicts,
    judge,
    load_verdicts,
    update_verdicts,
)
from repro.statistics.intervals import (
    Undefined,
    median,
)


def holding(value: bool) -> Check:
    return Check("a number", lambda _: float(value), (), at_least=0.5)


@pytest.mark.parametrize(
    ("conditions", "status"),
    [
        ((holding(True), holding(True)), "reproduced"),
        ((holding(True), holding(False)), "partly"),
        ((holding(False), holding(False)), "not reproduced"),
        (
            (holding(True), Check("nothing", lambda _: math.nan, (), at_least=0)),
            "not testable here",
        ),
        ((holding(True), not_worse(Setting("sh-x"), BASE, 1.0)), "not run"),
    ],
)
def test_a_verdict_combines_its_conditions(evidence, conditions, status):
    assert claim_of(*conditions).judge(evidence).status == status


def test_a_verdict_speaks_of_an_interval_only_where_one_is_open(evidence):
    def nothing(_):
        raise Undefined("no head is positional")

    void = Check("a share", nothing, (), at_least=POSITIVE)
    verdict = claim_of(holding(True), void).judge(evidence)
    assert (verdict.status, verdict.reason) == (
        "not testable here",
        "no head is positional",
    )
    assert verdict.evidence[1] == "void: a share > 0: no head is positional"
    assert claim_of(holding(False), void).judge(evidence).status == "not reproduced"
    wide = Check("a median", lambda _: median([0.0, 1.0, 2.0], "3 rounds"), (), at_least=0.5)
    verdict = claim_of(wide).judge(evidence)
    assert (
        verdict.reason == "0 of 1 conditions hold, 0 fail; the interval is too wide for the bound"
    )
    assert claim_of(Check("parameters", lambda _: 624128, (), at_most=-1)).judge(
        evidence
    ).evidence == ("fails: parameters <= -1: 624,128",)


def test_margins_decide(evidence):
    gap = evidence.contrast([(1, HARD), (-1, BASE)])
    assert gap.low > 0 and claim_of(better(HARD, BASE)).judge(evidence).status == "reproduced"
    assert (
        claim_of(loss(BASE, HARD, at_least=-gap.low + 1)).judge(evidence).status == "not reproduced"
    )
    assert (
        claim_of(Contrast(((1, HARD), (-1, BASE)), at_least=gap.low - 0.1, at_most=gap.high + 0.1))
        .judge(evidence)
        .status
        == "reproduced"
    )


def test_what_is_missing_is_named(evidence):
    verdict = claim_of(not_worse(Setting("sh-x"), BASE, 1.0)).judge(evidence)
    assert verdict.reason == "sh-x: not trained at smoke"
    with pytest.raises(NotMeasured, match="speed of base, seed 1: not measured at smoke"):
        evidence.one("speed", BASE)


def test_power_is_said_before_the_runs(evidence):
    claim = claim_of(not_worse(Setting("sh-x"), BASE, 1.0))
    verdict = claim.judge(evidence, lambda _: -0.5)
    ((at_zero, reported),) = verdict.power
    assert (at_zero.truth, reported.truth) == (0.0, -0.5) and 0 < reported.chance < at_zero.chance
    assert verdict.notes == (f"power before its runs: {at_zero}; {reported}",)
    assert as_verdict(as_stored(verdict, "0")) == verdict


def test_a_margin_cannot_move_after_its_result(tmp_path, evidence):
    claim = claim_of(not_worse(HARD, BASE, 0.5))
    before = update_verdicts(tmp_path, "smoke", [claim], evidence)
    moved = replace(claim, conditions=(not_worse(HARD, BASE, 5.0),))
    with pytest.raises(
        InputError, match="T-01: its test was changed after its result at smoke was known"
    ) as error:
        update_verdicts(tmp_path, "smoke", [moved], evidence)
    command = f"repro claims --scale smoke --results {tmp_path} --discard T-01"
    assert command in str(error.value)
    assert load_verdicts(tmp_path, "smoke")["T-01"]["status"] == before[0].status
    assert (
        update_verdicts(tmp_path, "smoke", [moved], evidence, discard=["T-01"])[0].status
        == "reproduced"
    )


def test_a_verdict_that_is_given_up_stays_in_the_history_of_the_next(tmp_path, evidence):
    claim = claim_of(not_worse(HARD, BASE, 0.5))
    (before,) = update_verdicts(tmp_path, "smoke", [claim], evidence)
    for margin in (5.0, 6.0):
        claim = replace(claim, conditions=(not_worse(HARD, BASE, margin),))
        update_verdicts(tmp_path, "smoke", [claim], evidence, discard=["T-01"])
    (again,) = update_verdicts(tmp_path, "smoke", [claim], evidence)
    stored = load_verdicts(tmp_path, "smoke")["T-01"]
    first, second = stored["history"]
    assert first["status"] == before.status and first["evidence"] == list(before.evidence)
    assert second["status"] == "reproduced" and first["test"] != second["test"] != stored["test"]
    line = f"changed after the result: on {first['discarded'][:10]} the verdict by the test "
    assert [note for note in again.notes if note.startswith(line)] == list(again.notes[-2:])
    assert first_difference(stored, judge([claim], evidence)["T-01"]) == ""
    file = {"format": 2, "scale": "smoke", "verdicts": {"T-01": stored}}
    assert list(verdict_faults(file)) == []


def test_a_verdict_follows_its_evidence(tmp_path, evidence):
    claim = claim_of(not_worse(HARD, BASE, 5.0))
    for found, status in ((Evidence("smoke", []), "not run"), (evidence, "reproduced")):
        update_verdicts(tmp_path, "smoke", [claim], found)
        assert load_verdicts(tmp_path, "smoke")["T-01"]["status"] == status


def test_only_what_is_judged_again_can_be_discarded(tmp_path, evidence):
    update_verdicts(
        tmp_path,
        "smoke",
        [claim for claim in claims_of("cui2019") if claim.name == "M-02"],
        evidence,
    )
    update_verdicts(tmp_path, "smoke", [claim_of(not_worse(HARD, BASE, 0.5))], evidence)
    with pytest.raises(InputError, match="--discard: unknown claim 'M-02'"):
        update_verdicts(tmp_path, "smoke", claims_of("you2020"), evidence, discard=["M-02"])
    assert "T-01" in load_verdicts(tmp_path, "smoke")
    # of no paper: nothing else would ever take it away
    update_verdicts(tmp_path, "smoke", claims_of("you2020"), evidence, discard=["T-01"])
    assert "M-02" in load_verdicts(tmp_path, "smoke") and "T-01" not in load_verdicts(
        tmp_path, "smoke"
    )


def test_only_what_is_there_can_be_discarded(tmp_path, evidence):
    with refuses(InputError, "--discard", "'T-02'", "'T-01'"):
        update_verdicts(
            tmp_path, "smoke", [claim_of(not_worse(HARD, BASE, 0.5))], evidence, discard=["T-02"]
        )
    with pytest.raises(InputError, match="nowhere: is no folder of results"):
        update_verdicts(
            tmp_path / "nowhere", "smoke", [claim_of(not_worse(HARD, BASE, 0.5))], evidence
        )


def test_a_result_is_not_lost_with_its_records(tmp_path, evidence):
    """Else its test could be changed unseen while they are away."""
    claim = claim_of(not_worse(HARD, BASE, 0.5))
    (verdict,) = update_verdicts(tmp_path, "smoke", [claim], evidence)
    with refuses(InputError, "T-01", verdict.status):
        update_verdicts(tmp_path, "smoke", [claim], Evidence("smoke", []))
    assert load_verdicts(tmp_path, "smoke")["T-01"]["status"] == verdict.status
    update_verdicts(tmp_path, "smoke", [claim], Evidence("smoke", []), discard=["T-01"])
    assert load_verdicts(tmp_path, "smoke")["T-01"]["status"] == "not run"


def test_the_digest_of_a_test_is_of_its_claim_its_conditions_and_their_bounds():
    """Not of its words, which may be fixed after a result; two claims with one condition have two
    tests."""
    claim = claim_of(not_worse(HARD, BASE, 0.5))
    assert replace(claim, statement="other words", reported="another number").digest(
        "smoke"
    ) == claim.digest("smoke")
    changes = [
        {"name": "T-02"},
        {"seeds": 5},
        {"conditions": (not_worse(HARD, BASE, 0.6),)},
        {"conditions": claim.conditions * 2},
    ]
    assert (
        len(
            {
                claim.digest("smoke"),
                *(replace(claim, **change).digest("smoke") for change in changes),
            }
        )
        == 5
    )


def test_a_margin_may_move_before_its_result(tmp_path, evidence):
    claim = claim_of(not_worse(Setting("sh-x"), BASE, 0.5))
    update_verdicts(tmp_path, "smoke", [claim], evidence)
    update_verdicts(
        tmp_path, "smoke", [replace(claim, conditions=(not_worse(HARD, BASE, 5.0),))], evidence
    )


def test_what_was_not_reproduced_comes_first(evidence):
    claims = [
        replace(claim_of(holding(value)), name=name)
        for name, value in (("A-01", True), ("B-01", False))
    ]
    verdicts = [claim.judge(evidence) for claim in claims]
    lines = verdict_table(claims, verdicts).splitlines()[2:]
    assert [line.split(" | ")[0] for line in lines] == ["| B-01", "| A-01"]
    assert count_verdicts(verdicts)["not reproduced"] == 1


def test_the_evidence_of_two_scales_is_said_and_a_scale_without_one_says_so(evidence):
    claim = claim_of(holding(True))
    lines = evidence_lines(
        [claim], {"smoke": judge([claim], evidence), "multi30k": {}}
    ).splitlines()
    assert lines[0] == f"{claim.name} {claim.statement} (reported: {claim.reported})"
    assert lines[1].startswith("     smoke: reproduced: 1 of 1 conditions hold")
    assert lines[2].startswith("         holds: ")
    assert lines[3:] == ["     multi30k: not run: no verdict is stored"]
