"""What is final is hashed: no file of a finished run can be changed without a word, whatever its
folder is named."""

import json
import os
import random
import shutil

import pytest
from expected_errors import refuses
from tiny_runs import forget_hashes

from repro.errors import DamagedFileError, ReproError
from repro.runs.models import new_model
from repro.runs.run import FINAL, Run
from repro.runs.storage import check_folder, hashes_beside, load_state, write_folder


@pytest.mark.parametrize("renamed", [False, True])
@pytest.mark.parametrize("name", FINAL)
def test_a_changed_byte_of_what_is_final_is_found(tmp_path, whole, name, renamed):
    path = shutil.copytree(whole().path, tmp_path / ("mine" if renamed else whole().path.name))
    good, noise = (path / name).read_bytes(), random.Random(name)
    for _ in range(20):
        bad = bytearray(good)
        bad[noise.randrange(len(bad))] ^= 1 << noise.randrange(8)
        (path / name).write_bytes(bad)
        with pytest.raises(ReproError, match="Fix: "):
            new_model(Run(path))
    (path / name).write_bytes(good)
    assert new_model(Run(path))


def test_what_records_and_curves_repeat_is_checked_where_it_is_read(tmp_path, whole):
    run = Run(shutil.copytree(whole().path, tmp_path / "mine"))
    assert run.metrics() == whole().metrics() and run.provenance() == whole().provenance()
    for path, old, new in (
        (run.metrics_path, b'"update": 4', b'"update": 5'),
        (run.provenance_path, b'"threads": 1', b'"threads": 9'),
    ):
        good = path.read_bytes()
        assert old in good
        path.write_bytes(good.replace(old, new))
        for read in (Run(run.path).metrics, Run(run.path).provenance):
            with refuses(DamagedFileError, path, "final/MANIFEST.json"):
                read()
        path.write_bytes(good)
    run.metrics_path.unlink()
    os.mkfifo(run.metrics_path)  # which nobody fills
    with pytest.raises(DamagedFileError, match="metrics.jsonl: is missing"):
        new_model(Run(run.path))


def test_a_run_of_before_is_believed(tmp_path, whole):
    run = Run(shutil.copytree(whole().path, tmp_path / "mine"))
    forget_hashes(run)
    check_folder(run.path / "final")
    assert hashes_beside(run.path / "final") == {} and sorted(
        hashes_beside(whole().path / "final")
    ) == sorted(FINAL)
    run.metrics_path.write_text('{"update": 1}\n')
    assert run.metrics() == [{"update": 1}] and new_model(run)


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "7", '"update"', "[" * 100_000, "\xff"])
def test_a_state_that_is_none_is_refused_though_its_hash_fits(tmp_path, content):
    path = tmp_path / "final"
    write_folder(
        path, lambda folder: (folder / "state.json").write_bytes(content.encode("latin-1"))
    )
    with pytest.raises(
        DamagedFileError,
        match="state.json: holds no counters. Fix: delete the folder and make it again",
    ):
        load_state(path)


@pytest.mark.parametrize(
    "manifest",
    [{"../config.json": 5}, {"../../../etc/passwd": {"bytes": 1, "sha256": ""}}, {"../": {}}],
)
def test_a_manifest_that_names_what_is_not_beside_it_is_refused(tmp_path, whole, manifest):
    run = Run(shutil.copytree(whole().path, tmp_path / "mine"))
    listed = json.loads((run.path / "final" / "MANIFEST.json").read_bytes())
    (run.path / "final" / "MANIFEST.json").write_text(json.dumps(listed | manifest))
    with pytest.raises(DamagedFileError):
        new_model(run)
