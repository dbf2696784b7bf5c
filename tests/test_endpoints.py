"""Claims by likelihood beside BLEU, and the parts of a difference in BLEU, from made-up records."""

import math
from dataclasses import replace

import numpy as np
import pytest
from paper_records import BASE, HARD, claim_of, damaged, score_record

from repro.claims.conditions import POSITIVE, Check, Contrast, not_worse
from repro.claims.endpoints import BLEU, DEV_LIKELIHOOD, NATS_PER_BLEU, TEST_LIKELIHOOD, in_nats
from repro.claims.evidence import Evidence, NotMeasured
from repro.claims.likelihood import by_likelihood, with_likelihood
from repro.claims.outcomes import agreement
from repro.claims.parts import beyond_likelihood, brevity_part, logarithmic_mean, precision_part
from repro.claims.settings import Setting
from repro.claims.verdict_fields import as_stored, as_verdict, first_difference, verdict_faults
from repro.papers.endpoints import apart, apart_table, disagreement
from repro.papers.verdict_text import verdict_table
from repro.papers.verdicts import FORMAT
from repro.records.sentences import REFERENCE_WORDS, Table
from repro.statistics.noise import SeedNoise
from repro.statistics.resampling import bleu_of_sums, brevity_of_sums

GAP = [(1.0, HARD), (-1.0, BASE)]
DEV = {BASE: (1.70, 1.72), HARD: (1.60, 1.60)}


def made(refs, dev=DEV, hard=8, per_token=None) -> list[dict]:
    """Return records of two seeds a system: of hypotheses, dev losses, and test likelihoods."""
    found = []
    for setting, every in ((BASE, 4), (HARD, hard)):
        for seed, nll in enumerate(dev[setting], start=1):
            record = score_record(setting, damaged(refs, every, seed), seed)
            record["training"]["best_dev_nll"] = nll
            if per_token:
                tokens = np.arange(len(refs)) % 7 + 1
                nats = (per_token[setting] + 0.01 * seed) * tokens
                nats[seed::5] += 0.5  # which sentences are hard depends on the seed
                record["tables"]["likelihood"] = Table({"nll": nats, "tokens": tokens})
            found.append(record)
    return found


def test_dev_likelihood_is_a_difference_of_means_whose_interval_is_over_seeds(refs):
    found = Evidence("smoke", made(refs)).by(DEV_LIKELIHOOD).contrast(GAP)
    assert found.value == pytest.approx(0.11)  # the smaller loss is better, as of BLEU
    noise = SeedNoise(0.0001, 2).times(2 / 2)  # of base 0.0002, of hc-sa 0
    assert found.high - found.value == pytest.approx(4.3027 * math.sqrt(noise.variance), rel=1e-4)
    assert (found.unit, found.over, found.seeds) == ("nats", "dev and seeds", (2, 2))
    assert found.cell() == "+0.110 (+0.067 to +0.153)"


def test_test_likelihood_is_nats_per_token_of_all_references_over_sentences_and_seeds(refs):
    records = made(refs, per_token={BASE: 1.5, HARD: 1.4})
    evidence = Evidence("smoke", records).by(TEST_LIKELIHOOD)
    found = evidence.contrast(GAP)

    def loss(record):
        table = record["tables"]["likelihood"]
        return table["nll"].sum() / table["tokens"].sum()

    losses = list(map(loss, records))
    assert found.value == pytest.approx(np.mean(losses[:2]) - np.mean(losses[2:]))
    assert found.over == "test references and seeds" and found.low < found.value < found.high
    # each sentence moves both systems alike, so that resamples of sentences move nothing
    assert evidence.trend(GAP, REFERENCE_WORDS, [0, 6, 99], lambda m, _: m - m.mean())
    with pytest.raises(NotMeasured, match="single sentences of dev: not measured at smoke"):
        evidence.by(DEV_LIKELIHOOD).bins(BASE, REFERENCE_WORDS, [0, 6, 99])
    with pytest.raises(NotMeasured, match="single sentences of dev: not measured at smoke"):
        evidence.by(DEV_LIKELIHOOD).contrast(GAP, [0])


def test_the_likelihood_of_test_serves_only_if_all_records_hold_it(refs):
    records = made(refs, per_token={BASE: 1.5, HARD: 1.2})
    condition = Contrast(tuple(GAP), at_least=0.0)
    number = condition.number

    def over(records):
        return by_likelihood(number, condition.settings, Evidence("smoke", records)).over

    assert over(records) == "test references and seeds"
    del records[0]["tables"]["likelihood"]  # one seed is older
    assert over(records) == "dev and seeds"
    del records[0]["training"]["best_dev_nll"]
    assert by_likelihood(number, condition.settings, Evidence("smoke", records)) is None
    part = (Setting("base", part=0.5), BASE)  # its subwords are others
    assert by_likelihood(number, part, Evidence("smoke", made(refs))) is None


def judged_by(evidence, **bounds):
    condition = Contrast(tuple(GAP), **bounds)
    return with_likelihood(condition, condition.judge(evidence), evidence)


def test_bounds_are_taken_as_nats_by_one_conversion(refs):
    evidence = Evidence("smoke", made(refs))
    assert in_nats(0.5) == pytest.approx(0.042) and in_nats(None) is None
    for margin, outcome in ((0.151, "fails"), (0.11, "open"), (0.06, "holds")):
        judged = judged_by(evidence, at_least=margin / NATS_PER_BLEU)
        assert judged.likelihood.outcome == ("open" if outcome == "fails" else outcome)
    judged = judged_by(evidence, at_least=POSITIVE, at_most=0.5)
    assert judged.likelihood.outcome == "fails"
    assert judged.likelihood.condition == "> 0 and <= 0.042 nats per token, dev and seeds"
    assert f"; by likelihood fails: {judged.likelihood.condition}: +0.110, 95 %" in str(judged)


@pytest.mark.parametrize(
    ("status", "by_nats", "said"),
    [
        ("reproduced", "reproduced", "agrees"),
        ("reproduced", "not reproduced", "disagrees"),
        ("partly", "reproduced", "disagrees"),
        ("undecided", "reproduced", "decides"),
        ("undecided", "undecided", "open"),
        ("not reproduced", "undecided", "open"),
    ],
)
def test_likelihood_is_said_beside_the_verdict(status, by_nats, said):
    assert agreement(status, by_nats) == said


def test_a_verdict_stays_that_of_bleu_and_is_stored_with_both(refs):
    """BLEU is equal, so it cannot tell by so small a margin; likelihood is far better."""
    evidence = Evidence("smoke", made(refs, hard=4))
    claim = claim_of(not_worse(HARD, BASE, 0.001), Check("a count", lambda _: 1.0, (), at_least=0))
    verdict = claim.judge(evidence)
    assert (verdict.status, verdict.likelihood) == ("not testable here", "decides")
    assert verdict.said == "not testable here; likelihood: decides"
    assert "| not testable here; likelihood: decides |" in verdict_table([claim], [verdict])
    stored = as_stored(verdict, "0")
    assert as_verdict(stored) == verdict
    file = {"format": FORMAT, "scale": "smoke", "verdicts": {claim.name: stored}}
    assert not list(verdict_faults(file))
    likelihood = stored["conditions"][0]["likelihood"]
    assert likelihood["value"] == pytest.approx(0.11) and likelihood["unit"] == "nats"
    edited = as_stored(verdict, "0")
    edited["conditions"][0]["likelihood"]["value"] = 0.2
    assert "likelihood.value: stored 0.2" in first_difference(edited, stored)
    edited["conditions"][0]["likelihood"]["likelihood"] = {}
    assert any(
        "unknown likelihood" in fault
        for fault in verdict_faults(file | {"verdicts": {claim.name: edited}})
    )
    without = replace(verdict, conditions=(replace(verdict.conditions[0], likelihood=None),))
    assert without.likelihood is None and without.said == "not testable here"


def test_a_single_seed_decides_nothing_by_likelihood(refs):
    single = [record for record in made(refs) if record["seed"] == 1]
    judged = judged_by(Evidence("smoke", single), at_least=0.0)
    assert judged.likelihood.outcome == "one seed"
    assert judged.likelihood.found.cell() == "+0.100 (1 seed)"


def short(refs, share: float) -> list[str]:
    """Return references that lack their last words."""
    return [" ".join(ref.split()[: max(1, round(share * len(ref.split())))]) for ref in refs]


def test_brevity_and_precision_add_up_to_the_difference(refs):
    hyps = {BASE: (damaged(refs, 4), damaged(refs, 4, 1)), HARD: (short(refs, 0.8), refs)}
    records = [
        score_record(setting, texts, seed)
        for setting, seeds in hyps.items()
        for seed, texts in enumerate(seeds, start=1)
    ]
    evidence = Evidence("smoke", records)
    whole, brevity, precision = (
        number(evidence)
        for number in (
            lambda e: e.contrast(GAP),
            lambda e: brevity_part(e, HARD, BASE),
            lambda e: precision_part(e, HARD, BASE),
        )
    )
    assert brevity.value + precision.value == pytest.approx(whole.value)
    assert brevity.value < 0 < precision.value  # shorter, and right where it says something
    added = [BLEU.sums(record, 0).sum(axis=0)[None] for record in records]
    scores = [bleu_of_sums(rows)[0] for rows in added]
    level = logarithmic_mean(np.mean(scores[2:]), np.mean(scores[:2]))
    logs = [math.log(brevity_of_sums(rows)[0]) for rows in added]
    assert brevity.value == pytest.approx(level * (np.mean(logs[2:]) - np.mean(logs[:2])))
    assert brevity.unit == "BLEU" and brevity.counts_seeds
    assert logarithmic_mean(2.0, 2.0) == 2.0
    assert logarithmic_mean(1.0, math.e) == pytest.approx(math.e - 1)


@pytest.mark.parametrize("per_token", [None, {BASE: 1.5, HARD: 1.5}])
def test_bleu_beyond_likelihood_is_bleu_less_what_nats_are_worth(refs, per_token):
    evidence = Evidence("smoke", made(refs, per_token=per_token))
    found = beyond_likelihood(evidence, HARD, BASE)
    nats = evidence.by(TEST_LIKELIHOOD if per_token else DEV_LIKELIHOOD).contrast(GAP)
    assert found.value == pytest.approx(evidence.contrast(GAP).value - nats.value / NATS_PER_BLEU)
    check = Check("beyond", lambda e: beyond_likelihood(e, HARD, BASE), (HARD, BASE), at_least=0)
    # it is no difference in score
    assert with_likelihood(check, check.judge(evidence), evidence).likelihood is None


def test_a_difference_is_taken_apart_in_each_direction_that_has_records(refs):
    found = apart([Evidence("smoke", made(refs))], HARD, BASE)
    assert [one.corpus for one in found] == ["minigerman en-de"]
    assert "| minigerman en-de | 2 seeds | +" in apart_table(found)
    said = disagreement(found, "hc-sa", "base")
    assert said.startswith("hc-sa has more BLEU than base in 1 of 1 directions, with likelihoods ")
