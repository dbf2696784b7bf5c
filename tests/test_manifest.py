"""The manifest of results: whatever is done to a record, a table or a verdict, `repro verify` names
the file. A value of another type than its kind allows is refused without a manifest, too.
"""

import copy
import json
import os
import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, NotRequired, get_args, get_origin, get_type_hints, is_typeddict

import pytest

from repro.data.alignments import AlignedPair, GoldAlignments
from repro.errors import DamagedFileError, MachineError
from repro.measures.alignments import measure_alignments
from repro.measures.scores import describe_run
from repro.records.manifest import has_manifest, manifest_faults, write_manifest
from repro.records.schema import KINDS, kind_of
from repro.records.stored import VERDICTS, load_record, load_records, publish, read_records
from repro.runs import gallery
from repro.runs.storage import MANIFEST

RESULTS = Path(__file__).resolve().parents[1] / "results"
MUTATIONS = int(os.environ.get("REPRO_MUTATIONS", "200"))  # of each of two sorts


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with a few records of every kind, their tables, and verdicts."""
    copy = tmp_path_factory.mktemp("kept") / "results"
    of = RESULTS / "minigerman.en-de"
    for kind in (of, *(path for path in of.iterdir() if path.is_dir()), RESULTS / "claims"):
        place = copy / kind.relative_to(RESULTS)
        place.mkdir(parents=True)
        for path in sorted(kind.glob("*.json"))[:3]:
            for beside in kind.glob(f"{path.name.removesuffix('.json')}.*"):
                shutil.copy(beside, place)
    write_manifest(copy)
    return copy


def mutations(data: bytes, random: random.Random) -> Iterator[bytes]:
    """Yield a file with another digit, a bit turned over, cut, with a line more, or with two lines
    exchanged."""
    digits = [match.start() for match in re.finditer(rb"\d", data)]
    if digits:
        place = random.choice(digits)
        yield (
            data[:place]
            + random.choice(
                [b"%d" % digit for digit in range(10) if b"%d" % digit != data[place : place + 1]]
            )
            + data[place + 1 :]
        )
    place = random.randrange(len(data))
    yield data[:place] + bytes([data[place] ^ 1 << random.randrange(8)]) + data[place + 1 :]
    yield data[:place]
    yield data[:place] + b"\n" + data[place:]


def test_no_mutation_of_a_file_is_accepted(folder):
    chance, paths = (
        random.Random(1),
        sorted(path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST),
    )
    tried = 0
    while tried < MUTATIONS:
        path = chance.choice(paths)
        whole = path.read_bytes()
        for mutated in mutations(whole, chance):
            path.write_bytes(mutated)
            (fault,) = manifest_faults(folder)
            assert fault.startswith(
                f"{path}: is not what {MANIFEST} lists. Fix: restore it; or, if it is meant "
                "to be so, "
            )
            tried += 1
        path.write_bytes(whole)
    assert list(manifest_faults(folder)) == []


Place = tuple[str | int, ...]
"""The keys and places in lists that lead to a value of a record."""

JSON = (None, True, "text", 3, 1.5, float("nan"), [], {})


def declared(value: Any, hint: Any, place: Place = ()) -> Iterator[tuple[Place, Any, bool]]:
    """Yield every value of a record whose type its kind says: place, type, and whether it must be.

    A value of any type is not one of them, nor is what it holds.
    """
    if is_typeddict(hint):
        for name, of in get_type_hints(hint, include_extras=True).items():
            may_lack = get_origin(of) is NotRequired
            (of,) = get_args(of) if may_lack else (of,)
            if name in value:
                yield (*place, name), of, not may_lack
                yield from declared(value[name], of, (*place, name))
    elif get_origin(hint) is list:
        for number, item in enumerate(value):
            yield (*place, number), get_args(hint)[0], False
            yield from declared(item, get_args(hint)[0], (*place, number))
    elif get_origin(hint) is dict:
        for name, item in value.items():
            yield (*place, name), get_args(hint)[1], False
            yield from declared(item, get_args(hint)[1], (*place, name))
    elif get_origin(hint) is UnionType and value is not None:
        yield from declared(value, get_args(hint)[0], place)


def is_of(value: Any, hint: Any) -> bool:
    """Whether a value of JSON is of a type, on its surface."""
    if get_origin(hint) is UnionType:
        return any(is_of(value, choice) for choice in get_args(hint))
    if get_origin(hint) is Annotated:  # a number that is finite
        return type(value) in (int, float) and value == value
    if hint is Any:
        return True
    return type(value) is (dict if is_typeddict(hint) else get_origin(hint) or hint)


def damages(record: dict[str, Any], chance: random.Random) -> Iterator[dict[str, Any]]:
    """Yield a record with a value of another type, a line break in a text, or a key missing."""
    places = [
        found for found in declared(record, KINDS[kind_of(record)]) if not is_of(None, found[1])
    ]
    for damage in ("type", "text", "key"):
        damaged = copy.deepcopy(record)
        texts = [found for found in places if found[1] is str]
        needed = [found for found in places if found[2]]
        place, hint, _ = chance.choice({"type": places, "text": texts, "key": needed}[damage])
        holder = damaged
        for step in place[:-1]:
            holder = holder[step]
        if damage == "type":
            holder[place[-1]] = chance.choice([value for value in JSON if not is_of(value, hint)])
        elif damage == "text":
            text, at = holder[place[-1]], chance.randrange(len(holder[place[-1]]) + 1)
            holder[place[-1]] = text[:at] + chance.choice("\n\r\x1b\x85\u2028") + text[at:]
        else:
            del holder[place[-1]]
        yield damaged


@pytest.fixture
def measured_on_request(folder, tmp_path, monkeypatch) -> list[dict[str, Any]]:
    """Records of the kinds of which none is stored."""
    pair = AlignedPair("a dog", "ein Hund", frozenset({(0, 0)}), frozenset({(0, 0), (1, 1)}))
    gold = GoldAlignments("own", (pair,), 0)
    monkeypatch.setattr("repro.measures.alignments.load_alignments", lambda *_: gold)
    run = gallery.load("base")
    alignments = describe_run(run) | {"kind": "alignments"} | measure_alignments(run)
    contrastive = next(folder.rglob("contrastive/*.json"))
    return [
        json.loads(publish(alignments, tmp_path / "results").read_bytes()),
        json.loads(contrastive.read_bytes()) | {"kind": "published_pairs"},  # of the same form
    ]


def test_no_value_of_another_type_is_accepted_where_there_is_no_manifest(
    folder, measured_on_request, tmp_path
):
    chance, path = random.Random(1), tmp_path / "record.json"
    records = [
        json.loads(found.read_bytes())
        for found in sorted(folder.rglob("*.json"))
        if found.name != MANIFEST and found.parent.name != VERDICTS
    ]
    records += measured_on_request
    assert {kind_of(record) for record in records} == KINDS.keys()
    tried = 0
    while tried < MUTATIONS:
        for damaged in damages(chance.choice(records), chance):
            path.write_text(json.dumps(damaged))
            with pytest.raises(DamagedFileError) as refused:
                load_record(path)
            assert str(refused.value).startswith(f"{path}: is not a result record")
            assert "\n" not in str(refused.value)
            tried += 1


def test_what_is_gone_and_what_was_added_is_named(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "results")
    gone, *_ = sorted(copy.glob("*.en-de/*.json"))
    gone.rename(gone.with_name("another.test.json"))
    first, second = manifest_faults(copy)
    assert first.startswith(f"{gone}: is missing. Fix: ")
    assert second.startswith(
        f"{gone.with_name('another.test.json')}: is not listed in {MANIFEST}. Fix: delete it, "
        "or list it: "
    )
    (copy / ".cache.json").touch()
    (copy / "README.md").write_text("a page")
    write_manifest(copy)
    assert list(manifest_faults(copy)) == []


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"format": 9, "files": {}}',
        '{"format": 1, "files": [1]}',
        '{"format": 1, "files": {"a": 1}}',
    ],
)
def test_what_is_no_manifest_is_named_and_records_are_read_without_it(folder, tmp_path, content):
    copy = shutil.copytree(folder, tmp_path / "results")
    (copy / MANIFEST).write_text(content)
    with pytest.raises(
        DamagedFileError, match=f"{MANIFEST}: is no manifest of results. Fix: restore it; or"
    ):
        list(manifest_faults(copy))
    assert len(load_records(copy, None)) == len(load_records(folder, None))


def test_a_record_that_is_as_listed_is_not_checked_again_and_an_edited_one_is(
    folder, tmp_path, monkeypatch
):
    copy = shutil.copytree(folder, tmp_path / "results")
    checked = []
    monkeypatch.setattr(
        "repro.records.stored._check_record", lambda path, record: checked.append(path)
    )
    load_records(copy, None)
    load_records(copy / "minigerman.en-de", None)
    assert checked == []
    path, *_ = sorted(copy.glob("*.en-de/*.json"))
    path.write_text(json.dumps(json.loads(path.read_bytes())))
    load_records(copy, None)
    assert checked == [path]


def test_what_cannot_be_opened_is_said_and_not_taken_for_damage(folder, monkeypatch):
    """Root may open everything, so the refusal is made up."""
    scandir = os.scandir

    def refuse(path):
        if Path(path).name == "heads":
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    message = (
        r"heads: cannot be read \(Permission denied\)\. Fix: check its permissions and its disk"
    )
    with pytest.raises(MachineError, match=message):
        load_records(folder, None)
    with pytest.raises(MachineError, match=message):
        list(manifest_faults(folder))
    assert [type(error) for error in read_records(folder)[1]] == [MachineError]


def test_the_stored_results_have_a_manifest():
    assert has_manifest(RESULTS)
