"""Verification: the stored records pass, and an edited number of any kind is named."""

import copy
import json
import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from paper_records import translations

from repro.claims.settings import Setting
from repro.contrastive.scoring import _accuracies_as_json
from repro.errors import InputError
from repro.measures.contrastive import contrastive_results
from repro.measures.registry import ON_REQUEST
from repro.papers.pruned import shape_of
from repro.presets import resolve
from repro.records.manifest import write_manifest
from repro.records.schema import kind_of
from repro.records.sentences import Table
from repro.records.stored import VERDICTS, load_records, pairs_of, place_of, publish
from repro.records.translations import changed_by, hypotheses_of, recount, rescore
from repro.runs.storage import MANIFEST
from repro.verify import derived, verify
from repro.verify.plausible import check_training
from repro.verify.verify import verify_claims, verify_records

RESULTS = Path(__file__).resolve().parents[1] / "results"
Record = dict[str, Any]


@pytest.fixture(scope="module")
def stored() -> list[Record]:
    return load_records(RESULTS / "minigerman.en-de", None)


@pytest.fixture(autouse=True)
def without_scoring(monkeypatch):
    """Believe what was counted of the translations: `make verify` counts again, which takes most of
    the time."""

    def believe(record: Record) -> dict[str, bool]:
        pairs_of(record)
        return {}

    monkeypatch.setattr(derived, "recount", believe)
    monkeypatch.setattr(derived, "rescore", lambda record: record["scores"])


@pytest.fixture
def problems(stored, monkeypatch) -> Callable[[Record], list[str]]:
    """What is said of a record beside all score records; every one of them is checked."""

    def problems_of(record: Record) -> list[str]:
        scores = [other for other in stored if kind_of(other) == "scores"]
        others = [
            other
            for other in scores
            if kind_of(record) != "scores" or other["run"] != record["run"]
        ]
        records = {
            Path(str(place)) / place_of(found): found
            for place, found in enumerate([record, *others])
        }
        monkeypatch.setattr(verify, "read_records", lambda _: (records, []))
        monkeypatch.setattr(verify, "_check_manifest", lambda *_: None)
        found = verify_records(RESULTS)
        assert not found.unchecked and not found.unreadable
        return found.faults

    return problems_of


def of_kind(stored: list[Record], kind: str) -> Record:
    """Return a record of a kind; of heads, one whose encoder has eight heads a layer and whose
    sentences are parsed."""
    found = [record for record in stored if kind_of(record) == kind]
    return next(
        record
        for record in found
        if kind != "heads"
        or (record["syntax"] and [*map(len, encoder(record)["confidence"])] == [8, 8])
    )


def encoder(record: Record) -> Record:
    return record["sites"]["encoder_self"]


# records of the other kinds are made and verified in tests of their own
@pytest.mark.parametrize("kind", [kind for kind in verify.CHECKS if kind not in ON_REQUEST])
def test_stored_records_pass(stored, problems, kind):
    assert problems(of_kind(stored, kind)) == []


def add(name: str, amount: float) -> Callable[[Record], None]:
    """Return an edit of a number of the first encoder head."""

    def edit(record: Record) -> None:
        encoder(record)[name][0][0] += amount

    return edit


def first_mask(record: Record) -> Record:
    return record["masks"]["1"]


def point(record: Record, series: str = "all") -> Record:
    return record["series"][series]["points"][0]


def swap_scratch(record: Record) -> None:
    record["series"]["scratch"]["pruned"] = point(record)["config_digest"]


def swap_controls(record: Record) -> None:
    encoder, everything = (record["series"][name] for name in ("encoder", "all"))
    encoder["continued"], everything["continued"] = everything["continued"], encoder["continued"]


def edit_table(record: Record, name: str, column: str, change: Callable[[list], Any]) -> None:
    """Edit a column of a table of a record."""
    columns = {of: list(values) for of, values in record["tables"][name].items()}
    change(columns[column])
    record["tables"] = record["tables"] | {name: Table(columns)}


def add_row(record: Record, name: str, **row: Any) -> None:
    """Add a row to a table of a record: the first one, but for these columns."""
    columns = record["tables"][name].items()
    record["tables"] = record["tables"] | {
        name: Table({of: [*values, row.get(of, values[0])] for of, values in columns})
    }


def decide_wrongly(values: list[float]) -> None:
    """Let the last reference that is likelier than its contrastive translation be less likely."""
    values[
        max(place for place in range(0, len(values), 2) if values[place] < values[place + 1])
    ] = 99.0


def swap_types(record: Record) -> None:
    """Call two types by each other's name, with accuracies to match."""
    first, second = list(dict.fromkeys(record["tables"]["items"]["type"]))[:2]
    other = {first: second, second: first}
    edit_table(
        record,
        "items",
        "type",
        lambda types: types.__setitem__(slice(None), [other.get(of, of) for of in types]),
    )
    for result, whole in zip(record["results"], contrastive_results(record), strict=True):
        result["accuracy"] = _accuracies_as_json(whole)


def drop_a_head(record: Record) -> None:
    layers = point(record)["kept_heads"]["cross"]
    next(layer for layer in layers if layer).pop()


def keep_another(record: Record, head: int | None) -> None:
    """Put another head into the place of one that is kept in a layer with several; None: the one
    beside it, a second time."""
    layer = next(layer for layer in point(record)["kept_heads"]["cross"] if len(layer) > 1)
    layer[0] = layer[1] if head is None else head


def first_point_without_heads(record: Record) -> None:
    del point(record)["heads"]


EDITS: list[tuple[str, Callable[[Record], Any], str]] = [
    (
        "scores",
        lambda r: r.update(config_digest="0" * 12),
        "configuration: stored 000000000000, derived ",
    ),
    ("scores", lambda r: r.update(system="sh-x"), "system: stored sh-x, derived "),
    ("scores", lambda r: r.update(seed=2), "seed: stored 2, derived 1"),
    ("scores", lambda r: r["training"].update(parameters=5), "parameters: stored 5, derived "),
    (
        "scores",
        lambda r: r["provenance"].update(data_fingerprint="0"),
        "fingerprint of the data: stored 0, derived ",
    ),
    ("scores", lambda r: r["training"].update(seconds=1.0), "target tokens per second: stored "),
    (
        "scores",
        lambda r: r["decoding"].update(seconds=2 * r["decoding"]["seconds"]),
        "sentences per second: stored ",
    ),
    (
        "scores",
        lambda r: r.update(in_train={"pairs": 3}),
        "pairs in the training text: stored {'pairs': 3}, derived None",
    ),
    (
        "scores",
        lambda r: r.update(kind="nokind"),
        "unknown kind 'nokind': use one of scores, contrastive, ",
    ),
    ("scores", lambda r: r["training"].update(seconds=0.0), " is damaged (ZeroDivisionError: "),
    (
        "scores",
        lambda r: r.update(split="tset"),
        "minigerman: has no split 'tset'. Fix: did you mean 'test'?",
    ),
    ("scores", lambda r: r["training"].update(update=351), "update 351 cannot end a training of "),
    (
        "scores",
        lambda r: r["training"].update(update=400),
        "update 400 is before the end of a linear schedule of ",
    ),
    (
        "scores",
        lambda r: r["training"].update(averaged=50),
        "averaged checkpoints: stored 50, derived ",
    ),
    ("maps", lambda r: r["source"].pop(), "maps of encoder_self, layer 1: are not weights of "),
    ("maps", lambda r: r["weights"]["cross"].pop(), "maps of cross: has "),
    (
        "maps",
        lambda r: r["weights"]["cross"][0][0][0].__setitem__(0, -0.5),
        "maps of cross, layer 1: are not weights of ",
    ),
    (
        "maps",
        lambda r: r["weights"]["decoder_self"][0][0][0].__setitem__(0, 1.01),
        "maps of decoder_self, layer 1: are not weights of ",
    ),
    (
        "off_diagonal",
        lambda r: r["shares"]["encoder_self"].pop(),
        "shares: are of different numbers of sentences",
    ),
    (
        "off_diagonal",
        lambda r: r["shares"]["decoder_self"].__setitem__(3, 7.0),
        "shares of decoder_self: are not between 0 and 1",
    ),
    (
        "speed",
        lambda r: r["sentences_per_second"].__setitem__(0, 0.0),
        "sentences per second: are not all above 0",
    ),
    (
        "speed",
        lambda r: r.update(sentences_per_second=[]),
        "sentences per second: are not all above 0",
    ),
    ("speed", lambda r: r["sitting"].remove(r["run"]), "sitting: is without "),
    (
        "contrastive",
        lambda r: edit_table(r, "items", "distance", lambda distances: distances.__setitem__(0, 9)),
        "distances: are not those of the pairs of minigerman",
    ),
    (
        "masks",
        lambda r: add_row(r, "masks", mask=1, sentence=-1, hypothesis="Ja."),
        "mask 1: sentence -1 is not changed by it, or is not there",
    ),
    ("pruning", lambda r: keep_another(r, 99), " keeps heads that were not there, or one twice"),
    ("pruning", lambda r: keep_another(r, None), " keeps heads that were not there, or one twice"),
    (
        "contrastive",
        lambda r: r["results"][0]["accuracy"][0].update(right=1),
        "its accuracies are not those of its cross entropies",
    ),
    (
        "contrastive",
        lambda r: edit_table(r, "items", "cross_entropy", decide_wrongly),
        "its accuracies are not those",
    ),
    (
        "contrastive",
        lambda r: r["results"][1]["suite"].update(sha256="0"),
        "pairs: differ from those of minigerman",
    ),
    (
        "contrastive",
        lambda r: edit_table(
            r, "items", "origin", lambda origins: origins.__setitem__(0, "elsewhere")
        ),
        "origins: are not those of the pairs of minigerman",
    ),
    ("contrastive", swap_types, "types of error: are not those of the pairs of minigerman"),
    ("masks", lambda r: r["masks"].pop("3"), "masks: stored ['1', '2', '4', "),
    ("masks", lambda r: first_mask(r)["heads"].pop(), "heads of mask 1: stored "),
    ("masks", lambda r: first_mask(r)["heads"][0].__setitem__(2, 5), "heads of mask 1: stored "),
    (
        "masks",
        lambda r: add_row(r, "masks", mask=0, sentence=1000, hypothesis="Ja."),
        "number of translations without a mask: stored ",
    ),
    (
        "masks",
        lambda r: add_row(r, "masks", mask=1, sentence=100000, hypothesis="Ja."),
        "mask 1: sentence 100000 is not changed by it, or is not there",
    ),
    (
        "heads",
        add("main_offset", 1),
        "encoder_self main_offset: is not what the counts by offset give",
    ),
    (
        "heads",
        add("positional", 0.001),
        "encoder_self positional: is not what the counts by offset give",
    ),
    (
        "heads",
        lambda r: encoder(r)["offsets"][0][0].__setitem__(10, 10**6),
        "encoder_self positional: is not what",
    ),
    (
        "heads",
        lambda r: encoder(r)["roles"][0].__setitem__(0, ["rare", "positional"]),
        "encoder_self roles: stored ",
    ),
    ("heads", add("two_rarest", 0.9), "encoder_self roles: stored "),
    ("heads", add("relevance", 0.001), "encoder_self relevance: the shares of layer 1 sum to 1.00"),
    (
        "heads",
        add("relevance_alphabeta", 0.001),
        "encoder_self relevance_alphabeta: the shares of layer 1 sum to 1.00",
    ),
    ("heads", add("gradient", 0.01), "encoder_self gradient: the shares of layer 1 sum to 1.0"),
    ("heads", lambda r: r["measured"].update(sentences=499), "sentences: stored 499, derived 500"),
    ("heads", lambda r: r.update(split="test"), "split: stored test, derived dev"),
    (
        "heads",
        lambda r: encoder(r)["confidence"].pop(),
        "encoder_self: has [8] heads by layer, not [8, 8]",
    ),
    (
        "heads",
        lambda r: encoder(r)["confidence"][1].__setitem__(2, None),
        "encoder_self: has [8, 7] heads by layer, not [8, 8]",
    ),
    (
        "heads",
        lambda r: encoder(r)["entropy"].pop(),
        "encoder_self entropy: has rows of [8] heads, not of 8 in 2 layers",
    ),
    (
        "heads",
        lambda r: encoder(r)["distance"][0].pop(),
        "encoder_self distance: has rows of [7, 8] heads, not of 8 in 2 layers",
    ),
    ("heads", add("confidence", 1), "encoder_self confidence: is not from 0 to 1"),
    ("heads", add("rarest", -1), "encoder_self rarest: is not from 0 to 1"),
    (
        "heads",
        lambda r: encoder(r)["divergence"][0].__setitem__(1, 0.75),
        "encoder_self divergence: is not from 0 to 0.6931",
    ),
    (
        "heads",
        lambda r: r["syntax"]["baseline"].update(nsubj=0.9),
        "baseline of nsubj: stored 0.9, derived ",
    ),
    (
        "heads",
        lambda r: r["syntax"]["positions"]["dobj"].update({"5": 999}),
        "baseline of dobj: stored ",
    ),
    (
        "heads",
        lambda r: r["syntax"]["accuracy"]["amod"]["head to dependent"][0].__setitem__(0, 0.99),
        "margins of amod: are not those",
    ),
    (
        "heads",
        lambda r: r["syntax"]["margin"]["amod"]["head to dependent"][0].__setitem__(0, 0.99),
        "margins of amod: are not those",
    ),
    ("heads", lambda r: r["syntax"]["positions"].pop("nsubj"), " is damaged (KeyError: 'nsubj')"),
    (
        "heads",
        lambda r: r["sites"]["encoder_self"].update(divergence=[]),
        "encoder_self divergence: has rows of [] layers, not of 2",
    ),
    ("pruning", lambda r: r["whole"]["cross"].__setitem__(0, 16), "heads before: stored "),
    (
        "pruning",
        lambda r: r["series"]["all"]["points"].append(point(r)),
        "models of series all: stored ",
    ),
    (
        "pruning",
        lambda r: r["series"]["all"]["points"].append(point(r, "encoder")),
        "gates of gated",
    ),
    ("pruning", lambda r: r.update(run="base"), "start of gated"),
    ("pruning", lambda r: point(r).update(heads=1), " heads: stored 1, derived "),
    (
        "pruning",
        lambda r: point(r, "encoder").update(penalty=0.5),
        " penalty: stored 0.5, derived ",
    ),
    ("pruning", lambda r: point(r).update(run="gated"), "run: stored gated, derived "),
    ("pruning", first_point_without_heads, " is damaged (KeyError: 'heads')"),
    ("pruning", drop_a_head, " heads: stored "),
    (
        "pruning",
        lambda r: r["series"]["all"].update(heads=47),
        "heads of series all: stored 47, derived 48",
    ),
    ("pruning", swap_scratch, "shape of gated"),
    (
        "pruning",
        lambda r: r["series"]["encoder"]["points"].pop(2),
        "penalties of series encoder: stored [",
    ),
    (
        "pruning",
        lambda r: r["series"]["all"].pop("continued"),
        "series all has no control: delete its record below pruning/ and run it again",
    ),
    (
        "pruning",
        swap_controls,
        "frozen decoder of the control of series encoder: stored False, derived True",
    ),
    (
        "pruning",
        lambda r: r["series"]["all"].update(continued=point(r)["config_digest"]),
        "gates of the control of series all: stored ",
    ),
    (
        "pruning",
        lambda r: r["series"]["all"].update(continued=r["config_digest"]),
        "start of the control of series all: stored None, derived ",
    ),
]


@pytest.mark.parametrize(
    ("kind", "edit", "message"),
    EDITS,
    ids=[f"{kind}: {message[:30]}" for kind, _, message in EDITS],
)
def test_an_edited_number_is_named(stored, problems, kind, edit, message):
    record = copy.deepcopy(of_kind(stored, kind))
    before = copy.deepcopy(record)
    edit(record)
    assert record != before
    assert any(message in problem for problem in problems(record))


def test_translations_too_quick_for_two_decimals_are_no_fault(stored, problems):
    record = copy.deepcopy(of_kind(stored, "scores"))
    record["decoding"] = {
        "seconds": 0.0,
        "sentences_per_second": round(record["sentences"] / 0.004, 1),
    }
    assert problems(record) == []
    record["decoding"]["sentences_per_second"] /= 2
    assert any("sentences per second: stored " in problem for problem in problems(record))


def test_a_look_behind_the_last_full_stretch_of_updates_is_a_checkpoint_too():
    schedule = {"schedule": "inverse-sqrt", "max_updates": 5, "eval_every": 2, "average": 5}
    assert (
        list(
            check_training(
                {"training": {"update": 5, "averaged": 3}, "config": {"train": schedule}}
            )
        )
        == []
    )


def test_a_translation_that_the_mask_left_alone_is_named(stored, problems):
    record = copy.deepcopy(of_kind(stored, "masks"))
    place = next(iter(changed_by(record, 1)))
    row = len(hypotheses_of(record))  # the first one with a mask
    edit_table(
        record,
        "masks",
        "hypothesis",
        lambda hyps: hyps.__setitem__(row, hypotheses_of(record)[place]),
    )
    line = (
        f"{record['run']}, masks test: mask 1: sentence {place} is not changed by it, or is not "
        "there"
    )
    assert line in problems(record)


def test_what_has_no_evidence_beside_it_is_said_not_to_be_checked(tmp_path, stored):
    record = of_kind(stored, "masks")
    publish(record, tmp_path)
    write_manifest(tmp_path)
    found = verify_records(tmp_path)
    lacking = (
        f"the run of configuration {record['config_digest']}: its translations of test are not "
        "stored. Fix: repro run makes them"
    )
    assert not found.faults and found.unchecked == {lacking: [f"{record['run']}, masks test"]}


def checked(folder: Path) -> list[str]:
    """Return what is said of a folder all of whose evidence is at hand."""
    found = verify_records(folder)
    assert not found.unreadable and all(MANIFEST in what for what in found.unchecked)
    return found.faults


def two_of(stored: list[Record], folder: Path) -> list[Path]:
    """Publish two score records."""
    return [
        publish(record, folder)
        for record in [r for r in stored if kind_of(r) == "scores" and r["seed"] == 1][:2]
    ]


def edit(path: Path, change: Callable[[Record], Any]) -> None:
    record = json.loads(path.read_bytes())
    change(record)
    path.write_text(json.dumps(record))


@pytest.mark.parametrize(
    ("name", "message"), [("nowhere", "is not a folder"), ("empty", "holds no result record")]
)
def test_to_verify_nothing_is_no_success(tmp_path, name, message):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=f"{name}: {message}. Fix: name the folder of results"):
        checked(tmp_path / name)


def test_a_damaged_record_is_named_and_the_others_are_checked(tmp_path, stored):
    damaged, edited = two_of(stored, tmp_path)
    damaged.write_bytes(damaged.read_bytes()[:1000])
    edit(edited, lambda record: record.update(seed=7))
    first, second = checked(tmp_path)
    assert first.startswith(f"{damaged}: is not a result record. Fix: ")
    assert second.endswith("seed: stored 7, derived 1")


def test_what_was_found_before_a_check_fails_is_said(tmp_path, stored, monkeypatch):
    monkeypatch.setattr(derived, "recount", recount)
    record = next(
        record for record in stored if kind_of(record) == "scores" and record["seed"] == 1
    )
    table = Table({name: values[:-1] for name, values in record["tables"]["sentences"].items()})
    publish(record | {"seed": 7, "tables": record["tables"] | {"sentences": table}}, tmp_path)
    found = checked(tmp_path)
    assert (
        "seed: stored 7, derived 1" in found[0]
        and "sentences: stored 1000, derived 999" in found[1]
    )


def test_another_search_than_the_name_of_the_file_tells_is_named(tmp_path, stored):
    path, _ = two_of(stored, tmp_path)
    edit(path, lambda record: record["search"].update(beam=99))
    (line,) = checked(tmp_path)
    assert (
        f"place: stored {path.parent.name}/{path.name}, derived "
        f"{path.parent.name}/{path.stem}.beam=99.json" in line
    )


def test_a_record_in_another_corpus_s_folder_is_named(tmp_path, stored):
    path = publish(stored[0], tmp_path)
    (tmp_path / "multi30k.en-de").mkdir()
    for beside in path.parent.iterdir():
        beside.rename(tmp_path / "multi30k.en-de" / beside.name)
    (line,) = checked(tmp_path)
    assert f"place: stored multi30k.en-de/{path.name}, derived minigerman.en-de/{path.name}" in line


def test_one_model_that_is_given_out_as_two_seeds_is_named(tmp_path, stored):
    seeds = [
        r
        for r in stored
        if kind_of(r) == "scores" and r["system"] == "base" and r["split"] == "test"
    ]
    usual = Setting("base").config("smoke").digest()
    first = next(r for r in seeds if r["config_digest"] == usual)
    second = next(
        r
        for r in seeds
        if r["config"] == {**first["config"], "train": {**first["config"]["train"], "seed": 2}}
    )
    for record in (first, second):
        publish(record, tmp_path)
    assert checked(tmp_path) == []
    copied = second | {name: first[name] for name in ("tables", "scores", "decoding", "likelihood")}
    publish(copied, tmp_path)
    line = (
        f"{copied['run']}, scores test: has the translations of {first['run']}, word for word: it "
        "is not a separate seed"
    )
    assert checked(tmp_path) == [line]
    for record in (first, second):
        record = {name: of for name, of in record.items() if name != "likelihood"}
        record |= translations(["Ja ."] * 1000)
        publish(record | {"scores": rescore(record)}, tmp_path)
    assert checked(tmp_path) == [], "too few updates to say more than one thing"


def test_a_record_of_own_files_that_are_elsewhere_is_said_not_to_be_checked(tmp_path, stored):
    own = next(record for record in stored if kind_of(record) == "scores") | {
        "split": f"local:{tmp_path}/gone:test"
    }
    publish(own, tmp_path)
    write_manifest(tmp_path)
    found = verify_records(tmp_path)
    (lacking,) = found.unchecked
    assert (
        not found.faults
        and "gone: is not on this machine. Fix: verify where the folder is" in lacking
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not a file of verdicts"),
        ('{"format": 2, "scale": "smoke", "verdicts": {"Y-02": {}}}', "is not a file of verdicts"),
        ('{"format": 2, "scale": "smoke", "verdicts": [1]}', "is not a file of verdicts"),
        ("[" * 100_000, "is not a file of verdicts"),
        ('{"format": 2, "scale": "enja", "verdicts": {}}', "is not a file of verdicts"),
    ],
)
def test_damaged_verdicts_are_named(tmp_path, content, message):
    (tmp_path / VERDICTS).mkdir()
    (tmp_path / VERDICTS / "smoke.json").write_text(content)
    (line,) = verify_claims(tmp_path).faults
    assert re.search(message, line)


@pytest.mark.parametrize(
    "system, encoder_self, cross",
    [
        ("base", [4, 4], [4, 4]),
        ("7Ftoken+1L", [8, 8], [4, 4]),
        ("1L", [1, 1], [4, 4]),
        ("8L", [8, 8], [4, 4]),
        ("sh-x", [4, 4], [0, 1]),
    ],
)
def test_the_heads_that_a_record_should_have_are_those_of_its_model(system, encoder_self, cross):
    """A variant may have its own number of them, as Raganato et al. have eight whatever the scale
    has."""
    expected = {"encoder_self": encoder_self, "decoder_self": [4, 4], "cross": cross}
    assert shape_of(asdict(resolve("smoke", system).model)) == expected
