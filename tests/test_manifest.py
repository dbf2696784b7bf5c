"""The manifest of results: whatever is done to a record, a table or a verdict, `repro verify` names
the file."""

import json
import os
import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from repro.errors import DamagedFileError, MachineError
from repro.records.manifest import has_manifest, manifest_faults, write_manifest
from repro.records.stored import load_records, read_records
from repro.runs.storage import MANIFEST

RESULTS = Path(__file__).resolve().parents[1] / "results"
MUTATIONS = int(os.environ.get("REPRO_MUTATIONS", "100"))  # 2,000 take a minute


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
