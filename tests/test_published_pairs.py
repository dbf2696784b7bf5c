"""DistilLingEval: pairs on human and on machine references, scored and shown side by side."""

import json
from collections import Counter

import pytest
from paper_records import BASE, HARD, described

from repro.claims.evidence import Evidence, NotMeasured
from repro.contrastive import published
from repro.contrastive.published import FILES, FOLDER, load_distil_lingeval, sampled, suite_name
from repro.contrastive.scoring import _accuracies_as_json
from repro.contrastive.suites import ContrastiveItem, ContrastiveSuite
from repro.errors import InputError, MachineError
from repro.measures.contrastive import (
    check_contrastive,
    check_published_pairs,
    contrastive_results,
    measure_published_pairs,
    pack_results,
    published_pairs_table,
    published_suites,
)
from repro.measures.scores import describe_run
from repro.papers import suites
from repro.presets import resolve
from repro.records.stored import publish
from repro.runs import gallery
from repro.verify.verify import verify_records

NP, NICHT = "np_agreement", "polarity_particle_nicht_del"
ENTRIES = {
    "human": [("He does not sleep.", "Er schläft nicht.", {NICHT: "Er schläft."})],
    "machine": [
        ("He does not sleep.", "Er schläft nicht.", {NICHT: "Er schläft."}),
        (
            "The dog of 1998 sleeps.",
            "Der Hund von 1998 schläft.",
            {NP: "Die Hund von 1998 schläft."},
        ),
    ],
}


@pytest.fixture
def pairs(tmp_path, monkeypatch):
    """Write both files below REPRO_DATA."""
    published._read_once.cache_clear()
    published_suites.cache_clear()
    (tmp_path / FOLDER).mkdir()
    for reference, entries in ENTRIES.items():
        found = [
            {
                "source": source,
                "reference": right,
                "origin": "own",
                "errors": [{"type": kind, "contrastive": text} for kind, text in wrong.items()],
            }
            for source, right, wrong in entries
        ]
        (tmp_path / FOLDER / FILES[reference]).write_text(json.dumps(found), "utf-8")
    monkeypatch.setenv("REPRO_DATA", str(tmp_path))


def test_types_are_sampled_evenly_and_long_sentences_left_out(monkeypatch) -> None:
    monkeypatch.setattr(published, "PER_TYPE", 2)
    items = [ContrastiveItem(f"s {i}", f"r {i}", ("x",), "b") for i in range(5)]
    items += [ContrastiveItem("s", "r", ("x",), "a"), ContrastiveItem("w " * 61, "r", ("x",), "a")]
    suite = sampled(ContrastiveSuite("all", "en", "de", tuple(items), Counter(blank=1)))
    assert [item.source for item in suite.items] == ["s", "s 0", "s 2"]
    assert suite.skipped == {"blank": 1, "over 60 words": 1, "more than 2 of a type": 3}


def test_a_run_is_scored_on_both_kinds_of_reference(pairs) -> None:
    run = gallery.load("base")
    record = describe_run(run) | {"kind": "published_pairs"} | measure_published_pairs(run)
    human, machine = contrastive_results(record)
    assert [result["suite"]["name"] for result in (human, machine)] == [
        suite_name("human"),
        suite_name("machine"),
    ]
    assert machine["items"]["type"]["names"] == [NP, NICHT]
    # the same pair has the same score, whatever suite it is in
    assert human["items"]["reference"][0] == machine["items"]["reference"][1]
    assert human["items"]["contrastive"][0] == machine["items"]["contrastive"][1]
    assert set(check_contrastive(record)) == set(check_published_pairs(record)) == {None}
    np, nicht = published_pairs_table(record).splitlines()[2:]
    assert np.startswith("| np_agreement | 0 | - | 1 | ")
    assert nicht.startswith("| polarity_particle_nicht_del | 1 | ")


def test_records_are_verified(pairs, tmp_path) -> None:
    run, folder = gallery.load("base"), tmp_path / "results"
    record = describe_run(run) | {"kind": "published_pairs"} | measure_published_pairs(run)
    publish(record, folder)
    assert not verify_records(folder).faults
    record["results"][0]["accuracy"][0]["right"] += 1
    publish(record, folder)
    (fault,) = verify_records(folder).faults
    assert fault.startswith(f"{record['run']}, published_pairs: ")


def test_pairs_that_changed_are_named(pairs, tmp_path) -> None:
    run = gallery.load("base")
    record = describe_run(run) | measure_published_pairs(run)
    path = tmp_path / FOLDER / FILES["machine"]
    path.write_text(path.read_text("utf-8").replace("Die Hund", "Das Hund"), "utf-8")
    published._read_once.cache_clear()
    published_suites.cache_clear()
    assert list(check_published_pairs(record)) == [
        None,
        f"pairs: differ from those of {suite_name('machine')}",
    ]


def test_runs_into_other_languages_are_refused(pairs) -> None:
    with pytest.raises(InputError, match="from de into en, the published pairs are from en"):
        published_suites(resolve("smoke", direction="de-en").data)


def test_absent_pairs_say_where_they_belong(monkeypatch) -> None:
    published._read_once.cache_clear()
    monkeypatch.delenv("REPRO_DATA", raising=False)
    with pytest.raises(MachineError, match=f"REPRO_DATA/{FOLDER}/"):
        load_distil_lingeval("human")


def record_of(setting, right: dict[str, int]) -> dict:
    """Return a record on ten pairs of a type, so many of them right on each kind of reference."""
    results = []
    for reference, number in right.items():
        items = {
            "type": {"names": [NICHT], "of": [0] * 10},
            "origin": {"names": ["own"], "of": [0] * 10},
            "distance": [None] * 10,
            "reference": [1.0] * 10,
            "contrastive": [[2.0 if place < number else 0.5] for place in range(10)],
        }
        about = {"name": suite_name(reference), "items": 10, "skipped": {}, "sha256": "0"}
        found = {"masked": None, "kind": "contrastive", "suite": about, "items": items}
        results.append(found | {"accuracy": _accuracies_as_json(found)})
    return described(setting, 1) | {"kind": "published_pairs"} | pack_results(results)


def test_claims_and_tables_have_both_kinds_of_reference() -> None:
    records = [
        record_of(BASE, {"human": 9, "machine": 8}),
        record_of(HARD, {"human": 7, "machine": 8}),
    ]
    evidence = Evidence("smoke", records)
    drop = [
        suites.accuracy_difference(evidence, NICHT, BASE, HARD, reference=reference).value
        for reference in FILES
    ]
    assert drop == pytest.approx([20.0, 0.0])
    header, _, row = suites.published_pairs_table(evidence, (BASE, HARD)).splitlines()
    assert "base human" in header and "hc-sa machine" in header
    assert [cell.strip().split(" ")[0] for cell in row.split("|")[2:-1]] == [
        "10",
        "90.0",
        "70.0",
        "10",
        "80.0",
        "80.0",
    ]
    with pytest.raises(NotMeasured, match="has none of np_agreement"):
        suites.accuracy_difference(evidence, NP, BASE, HARD, reference="human")


@pytest.mark.real_data
def test_the_published_files_have_both_kinds_of_reference(real_data) -> None:
    published._read_once.cache_clear()
    human, machine = (load_distil_lingeval(reference) for reference in FILES)
    assert human.types["polarity_particle_kein_del"] > 500
    assert machine.types[NP] == machine.types["subj_verb_agreement"] == published.PER_TYPE
    assert NP not in human.types
