"""Verdicts as they are stored: numbers, of which all text is made, and the name of a test."""

import json
from dataclasses import replace
from functools import partial

import pytest
from paper_records import BASE, HARD, claim_of, damaged, score_record

from repro.claims.conditions import Check, Contrast, Judged, Verdict, better, not_worse
from repro.claims.evidence import Evidence
from repro.claims.outcomes import Power
from repro.claims.settings import Setting
from repro.claims.verdict_fields import as_stored, as_verdict, first_difference, verdict_faults
from repro.files import write_json
from repro.papers.heads import local_share
from repro.papers.verdicts import claims_of, judge, load_verdicts, update_verdicts
from repro.statistics.intervals import Estimate
from repro.verify.verify import verify_claims

SEEDS = {"seeds": (2, 3), "counts_seeds": True, "detectable": 0.5, "unit": "BLEU"}
PAIRS = {"over": "9 pairs", "seeds": (2, 2), "counts_seeds": True}


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (
            Estimate(1.0, 0.5, 1.5, 0.95, **SEEDS),
            "+1.00, 95 % +0.50 to +1.50, 2 to 3 seeds, detectable 0.50",
        ),
        (
            Estimate(-1.0, -1.5, -0.5, 0.95, seeds=(1, 1), unit="BLEU"),
            "-1.00, 95 % -1.50 to -0.50, 1 seed, other seeds not counted in",
        ),
        (
            Estimate(
                -3.0, -9.0, 3.0, 0.95, **PAIRS, shares=(("right", 65.04), ("by chance", 50.0))
            ),
            "-3.00, 95 % -9.00 to 3.00, 9 pairs, mean of 2 seeds, 65.0 % right, 50.0 % by chance",
        ),
        (Estimate(1.1, 0.9, 1.3, 1 - 2 / 2**5, "5 rounds"), "1.10, 94 % 0.90 to 1.30, 5 rounds"),
        (Estimate(1.0, 0.6, 1.0, over="5 bins"), "1.00, from 0.60 to 1.00, 5 bins"),
        (Estimate(0.95834, over="9 models", seeds=(1, 1)), "0.9583, 9 models, one seed alone"),
        (Estimate(-624128), "-624,128"),
    ],
)
def test_a_number_reads_the_same_after_it_was_stored(found, text):
    """Whatever it is of: BLEU over seeds, pairs, rounds, bins, heads of one model, parameters."""
    verdict = Verdict("T-01", "undecided", (Judged("a >= 0", "open", found),))
    stored = json.loads(json.dumps(as_stored(verdict, "0")))
    assert as_verdict(stored) == verdict and str(found) == text
    assert verdict.evidence == (f"open: a >= 0: {text}",)


def test_what_has_no_number_keeps_the_reason():
    judged = Judged("a >= 0", "void", reason="no head is positional")
    void = Verdict("T-01", "not testable here", (judged,))
    missing = Verdict("T-01", "not run", missing="base: not trained at smoke")
    for verdict, line in ((void, "void: a >= 0: no head is positional"), (missing, None)):
        stored = json.loads(json.dumps(as_stored(verdict, "0")))
        assert as_verdict(stored) == verdict and list(verdict.evidence) == [line] * (
            line is not None
        )
        values = {"format": 2, "scale": "smoke", "verdicts": {"T-01": stored}}
        assert next(verdict_faults(values), None) is None
    assert (missing.reason, void.reason) == (
        "base: not trained at smoke",
        "no head is positional",
    )


def test_a_difference_of_scores_that_knows_of_no_other_seed_decides_nothing():
    known = Estimate(1.0, 0.5, 1.5, 0.95, **SEEDS)
    alone = replace(known, counts_seeds=False, detectable=None)
    at_least = [replace(better(HARD, BASE), at_least=bound) for bound in (0.0, 2.0)]
    assert [Judged.by_bounds(condition, known).outcome for condition in at_least] == [
        "holds",
        "fails",
    ]
    assert [Judged.by_bounds(condition, alone).outcome for condition in at_least] == [
        "one seed",
        "one seed",
    ]
    # accuracies are judged by their pairs, and say that they are one seed's
    pairs = replace(alone, unit="")
    assert Judged.by_bounds(at_least[0], pairs).outcome == "holds" and pairs.is_of_one_seed


def share(at_least: float = 0.6, setting: Setting = BASE, what: str = "a share") -> Check:
    return Check(what, partial(local_share, arm=setting), (setting,), ("heads",), at_least=at_least)


def test_words_are_no_part_of_a_test():
    named = Setting(HARD.system, HARD.overrides, label="other words")
    pairs = [
        (share(), share(what="another wording")),
        (not_worse(HARD, BASE, 1), not_worse(named, BASE, 1.0)),
    ]
    for first, second in pairs:
        assert claim_of(first).digest("smoke") == claim_of(second).digest("smoke")


@pytest.mark.parametrize(
    "other",
    [
        share(at_least=0.7),
        share(setting=HARD),
        replace(share(), at_least=None, at_most=0.6),
        replace(share(), measures=()),
        replace(share(), number=partial(local_share, arm=HARD)),
        replace(share(), number=partial(Evidence.seeds, setting=BASE)),
    ],
)
def test_all_else_of_a_number_is_part_of_its_test(other):
    assert claim_of(share()).digest("smoke") != claim_of(other).digest("smoke")


def test_all_of_a_contrast_is_part_of_its_test():
    terms = ((1, HARD), (-1, BASE))
    others = [
        Contrast(((1, HARD), (-0.5, BASE)), 0.0),
        Contrast(((1, HARD), (-1, Setting("sh-x"))), 0.0),
        Contrast(((1, HARD), (-1, replace(BASE, overrides=("model.dropout=0.3",)))), 0.0),
        Contrast(terms, None, 0.0),
        Contrast(terms, 0.1),
    ]
    assert (
        len({claim_of(condition).digest("smoke") for condition in (Contrast(terms, 0.0), *others)})
        == 6
    )


def test_the_number_of_each_claim_has_a_name():
    """A lambda has none, and arguments by place would be no part of the test."""
    for condition in (condition for claim in claims_of() for condition in claim.conditions):
        number = getattr(condition, "number", None)
        function = number.func if isinstance(number, partial) else number
        assert function is None or function.__name__.isidentifier()
        assert not isinstance(number, partial) or not number.args


def test_verdicts_that_say_the_same_are_not_written_anew(tmp_path, evidence):
    """Another processor adds up in another order; the file would change in the last digits."""
    claim = claim_of(better(HARD, BASE))
    update_verdicts(tmp_path, "smoke", [claim], evidence)
    path = tmp_path / "claims" / "smoke.json"
    values = json.loads(path.read_bytes())
    values["verdicts"]["T-01"]["conditions"][0]["value"] += 1e-12
    write_json(path, values)
    written = path.read_bytes()
    update_verdicts(tmp_path, "smoke", [claim], evidence)
    assert path.read_bytes() == written
    update_verdicts(tmp_path, "smoke", [claim_of(replace(better(HARD, BASE)))], evidence)
    assert path.read_bytes() == written


@pytest.mark.parametrize(
    "name", ["value", "low", "level", "detectable", "seeds", "over", "condition", "counts_seeds"]
)
def test_each_edited_number_of_a_verdict_is_found(evidence, name):
    derived = judge([claim_of(better(HARD, BASE))], evidence)["T-01"]
    stored = json.loads(json.dumps(derived))
    (condition,) = stored["conditions"]
    assert first_difference(stored, derived) == ""
    before = condition[name]
    changes = {
        bool: lambda: not before,
        float: lambda: before + 1e-5,
        str: lambda: before + "!",
        list: lambda: [1, *before[1:]],
    }
    condition[name] = changes[type(before)]()
    assert first_difference(stored, derived).startswith(f"conditions[0].{name}")
    del condition[name]
    assert first_difference(stored, derived).startswith(f"conditions[0].{name}: stored None")


def test_an_edited_number_of_a_stored_verdict_is_named_by_verify(tmp_path, evidence, monkeypatch):
    claim = claim_of(better(HARD, BASE))
    monkeypatch.setattr("repro.verify.verify.claims_of", lambda *_: [claim])
    monkeypatch.setattr("repro.verify.verify.Evidence", lambda *_: evidence)
    update_verdicts(tmp_path, "smoke", [claim], evidence)
    assert verify_claims(tmp_path).faults == []
    path = tmp_path / "claims" / "smoke.json"
    values = json.loads(path.read_bytes())
    values["verdicts"]["T-01"]["conditions"][0]["high"] += 0.01
    write_json(path, values)
    (fault,) = verify_claims(tmp_path).faults
    assert fault.startswith("T-01 at smoke: conditions[0].high: stored ")


def test_power_and_reason_of_what_cannot_be_decided_are_stored_beside_the_number():
    power = (Power(0.0, "nothing differs", 0.125), Power(-0.15, "as reported", 0.1))
    found = Estimate(0.1, -0.6, 0.8, 0.95, seeds=(2, 3), counts_seeds=True, unit="BLEU")
    judged = Judged("a >= -0.5", "not testable", found, "power of at most 12 %", power)
    verdict = Verdict("T-01", "not testable here", (judged,), planned=3, first_look=(2, 2))
    stored = json.loads(json.dumps(as_stored(verdict, "0")))
    values = {"format": 2, "scale": "smoke", "verdicts": {"T-01": stored}}
    assert as_verdict(stored) == verdict and next(verdict_faults(values), None) is None
    assert verdict.reason == "power of at most 12 %"
    assert verdict.evidence[0].endswith(
        ", 2 to 3 seeds; power of at most 12 %; "
        "power with 3 seeds 12 % at +0 (nothing differs), 10 % at -0.15 (as reported)"
    )
    # records do not tell when somebody looked
    assert first_difference(stored, {k: v for k, v in stored.items() if k != "first_look"}) == ""


@pytest.mark.parametrize(
    ("seeds", "first_look", "said"),
    [
        ((3, 3), None, ""),
        ((3, 3), (3, 3), ""),
        ((2, 3), None, "2 of 3 planned seeds"),
        ((3, 5), None, "up to 5 seeds, some added beyond the plan, after a look"),
        ((3, 3), (1, 3), "up to 3 seeds, some added after a look at 1"),
        ((2, 3), (1, 1), "2 of 3 planned seeds; up to 3 seeds, some added after a look at 1"),
        ((2, 2), (3, 5), "2 of 3 planned seeds"),
    ],
)
def test_a_verdict_says_how_its_seeds_differ_from_the_plan(seeds, first_look, said):
    found = Estimate(1.0, 0.5, 1.5, 0.95, seeds=seeds, counts_seeds=True, unit="BLEU")
    judged = (Judged("a >= 0", "holds", found),)
    verdict = Verdict("T-01", "reproduced", judged, planned=3, first_look=first_look)
    assert verdict.seeds_said == said


def test_a_further_seed_is_said_to_be_added_after_a_look(tmp_path, refs):
    claim = claim_of(better(HARD, BASE))
    records = [
        score_record(setting, damaged(refs, every + seed), seed)
        for setting, every in ((HARD, 9), (BASE, 3))
        for seed in (1, 2, 3)
    ]
    update_verdicts(tmp_path, "smoke", [claim], Evidence("smoke", [*records[:2], *records[3:5]]))
    update_verdicts(tmp_path, "smoke", [claim], Evidence("smoke", records))
    (stored,) = load_verdicts(tmp_path, "smoke").values()
    assert as_verdict(stored).seeds_said == "up to 3 seeds, some added after a look at 2"
