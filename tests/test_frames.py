"""Stored results as frames: a row a record, a score, a condition."""

import math
from pathlib import Path

import pandas as pd
import pytest
import sacrebleu
from expected_errors import refuses
from paper_records import BASE, HARD, claim_of

import repro
from repro.claims.conditions import better
from repro.data.corpora import load_pairs
from repro.errors import InputError
from repro.papers.verdicts import (
    TEST,
    claims_of,
    of_scores,
    update_verdicts,
    verdict_places,
)
from repro.records.stored import load_records

STORED = Path(__file__).resolve().parents[1] / "results"


@pytest.fixture
def stored(results, evidence):
    """Return a folder of a few records, and a verdict on others."""
    update_verdicts(results, "smoke", [claim_of(better(HARD, BASE), better(BASE, HARD))], evidence)
    return results


def test_each_score_has_a_row_with_what_it_was_made_of(results):
    records, frame = load_records(results), repro.results("scores", results)
    assert len(frame) == sum(len(record["scores"]) for record in records)
    for record in records:
        rows = frame[frame["run"] == record["run"]].set_index("metric")
        texts, refs = (
            record["tables"]["sentences"]["hypothesis"],
            load_pairs("minigerman", "en", "de", "test")[1],
        )
        score = sacrebleu.corpus_bleu(texts, [refs])
        found = rows.loc["BLEU"]
        assert (found["value"], found["bp"]) == (
            pytest.approx(score.score, abs=1e-4),
            pytest.approx(score.bp),
        )
        assert (found["hyp_length"], found["ref_length"]) == (score.sys_len, score.ref_len)
        assert (found["system"], found["seed"], found["parameters"]) == (
            record["system"],
            record["seed"],
            record["training"]["parameters"],
        )
        assert math.isnan(rows.loc["chrF"]["bp"]) and found["search"] == ""
    assert frame["group"].nunique() == frame["system"].nunique()


def test_records_of_all_kinds_have_a_row_each(results):
    frame = repro.results("records", results)
    assert len(frame) == len(load_records(results, None)) and set(frame["kind"]) >= {"scores"}
    assert frame["exact"].all() and frame["started"].notna().all()


def test_each_condition_of_a_verdict_has_a_row(stored, evidence):
    frame = repro.results("verdicts", stored)
    assert list(frame["outcome"]) == ["holds", "fails"] and set(frame["status"]) == {"partly"}
    expected = evidence.contrast([(1, HARD), (-1, BASE)])
    first = frame.iloc[0]
    for name in ("value", "low", "high", "level", "detectable"):
        assert first[name] == pytest.approx(getattr(expected, name))
    assert (first["least_seeds"], first["most_seeds"], first["unit"]) == (2, 2, "BLEU")


def test_the_stored_verdicts_are_one_frame():
    """Of all scales and test sets; a claim that was not run has a row of its own."""
    frame = repro.results("verdicts", STORED)
    every = claims_of()
    expected = {
        (scale, split, claim.name)
        for scale, split in verdict_places(STORED)[0]
        for claim in (every if split == TEST else of_scores(every))
    }
    assert set(zip(frame["scale"], frame["split"], frame["claim"], strict=True)) == expected
    missing = frame[frame["status"] == "not run"]
    assert missing["outcome"].isna().all() and missing["reason"].str.len().gt(0).all()
    judged = frame[frame["status"] != "not run"]
    assert judged["value"].notna().eq(judged["outcome"] != "void").all()
    assert isinstance(frame, pd.DataFrame) and judged["right"].notna().any()


def test_what_is_not_there_is_named(tmp_path):
    with refuses(InputError, "what", "'score'", "'scores'"):
        repro.results("score", tmp_path)
    for what in ("records", "scores", "verdicts"):
        with pytest.raises(InputError, match="is no folder of results"):
            repro.results(what, tmp_path / "nowhere")
