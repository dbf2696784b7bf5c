"""Which seeds of a system are compared: runs on this machine, and records of further ones."""

import json
import re
import shutil
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from command_line import refused, run
from expected_errors import refuses
from few_pairs import few_pairs

from repro.cli.comparing import find_systems
from repro.cli.options import shown
from repro.core.decoding import SearchConfig
from repro.errors import InputError
from repro.presets import resolve
from repro.records.report import describe, p_value
from repro.records.stored import load_records
from repro.runs.run import Run
from repro.statistics.comparing import Comparison
from repro.statistics.intervals import Estimate

ROOT = Path(__file__).parents[1]
NAME, FOLDER = "encoder_self=gaussian(std=0.7)", "encoder_self=gaussian_std=0.7_"
OWN = f"model.{NAME}"
STORED = ROOT / "results" / "minigerman.en-de"


@pytest.fixture
def stored(runs):
    """Return a folder of results with the seeds 1 and 2 of base and hc-sa of the smallest scale."""
    folder = Path("results") / STORED.name
    folder.mkdir(parents=True)
    for system in ("base", "hc-sa"):
        for seed in (1, 2):
            name = Run.create(resolve("smoke", system, seed=seed), Path("unused")).path.name
            for path in STORED.glob(f"{name}.*"):
                shutil.copy(path, folder)
    shutil.rmtree("unused")
    for path in STORED.glob("references.test.*"):
        shutil.copy(path, folder)
    return Path("results")


def usual(alpha: float) -> SearchConfig:
    """Return the usual search, with the length penalty of a run."""
    return SearchConfig(alpha=alpha)


def found(first: str, second: str, results: Path, data=None) -> list[list[tuple[str, bool]]]:
    """Return of each system the seeds that are compared, and whether each is a run."""
    systems = find_systems((first, second), data, results, "test", usual)
    return [
        [(seed.name[: seed.name.rindex("-")], seed.here is not None) for seed in seeds]
        for seeds in systems
    ]


def test_seeds_are_found_where_they_are(stored):
    base = [(f"base-seed{seed}", False) for seed in (1, 2)]
    assert found("base", "hc-sa", stored) == [
        base,
        [(f"hc-sa-seed{seed}", False) for seed in (1, 2)],
    ]
    own = [Run.create(resolve("smoke", overrides=[OWN], seed=seed)) for seed in (1, 2)]
    for made in own:
        (made.path / "final").mkdir()
    assert found("base", NAME, stored) == [base, [(f"{FOLDER}-seed{n}", True) for n in (1, 2)]]
    assert found("base-seed2", own[0].path.name, stored) == [base[1:2], [(f"{FOLDER}-seed1", True)]]
    (Run.create(resolve("smoke", seed=2)).path / "final").mkdir()
    assert found("base", "hc-sa", stored)[0] == [base[0], ("base-seed2", True)]


def test_a_run_that_is_not_finished_leaves_its_record_to_be_compared(stored):
    Run.create(resolve("smoke", seed=2))
    assert ("base-seed2", False) in found("base", "hc-sa", stored)[0]


def test_of_several_settings_the_pair_is_taken_that_differs_in_attention_alone(runs):
    for system in ("base", "hc-sa"):
        Run.create(resolve("smoke", system, overrides=["model.dropout=0.3"]))
    Run.create(resolve("smoke", overrides=["model.dropout=0.2"]))
    for seeds in find_systems(("base", "hc-sa"), None, Path("nowhere"), "test", SearchConfig()):
        assert [seed.config.model.dropout for seed in seeds] == [0.3]
    Run.create(resolve("smoke", "hc-sa", overrides=["model.dropout=0.2"]))
    with refuses(InputError, "base", "2", "base-seed1", "model.dropout=0.3", "--scale"):
        find_systems(("base", "hc-sa"), None, Path("nowhere"), "test", SearchConfig())


def test_of_several_settings_those_of_the_scale_are_taken(capsys, runs, tmp_path):
    """Two scales of one text differ in their schedule alone."""
    for updates in (30, 400):
        text = f'base = "smoke"\ntrain.max_updates = {updates}\n'
        (tmp_path / f"my{updates}.toml").write_text(text)
        for system, seed in product(("base", "mma", "hc-all"), (1, 2)):
            Run.create(resolve(str(tmp_path / f"my{updates}.toml"), system, seed=seed))
    for updates in (30, 400):
        scale = resolve(str(tmp_path / f"my{updates}.toml"))
        systems = find_systems(("base", "mma"), scale, Path("nowhere"), "test", usual)
        assert [[seed.config.train.seed for seed in seeds] for seeds in systems] == [[1, 2]] * 2
        assert {one.config.train.max_updates for seeds in systems for one in seeds} == {updates}
    told = refused(capsys, "compare", "base", "mma")[1]
    assert "base: fits 2 settings: " in told and "(train.max_updates=400)" in told
    assert told.endswith("Fix: name their scale with --scale, or one run")


@pytest.mark.parametrize(
    ("names", "line"),
    [
        (("base", "base"), "error: base: is compared with itself. Fix: name two systems or runs"),
        (
            ("base", "nothing"),
            (
                "error: nothing: no such run in .*, and no such record in results. Fix: train one "
                "with `repro train`"
            ),
        ),
        (
            ("base", "base-seed"),
            (
                "error: base and base-seed: are the same training settings. Fix: name two systems "
                "that differ"
            ),
        ),
    ],
)
def test_what_cannot_be_compared_is_told(capsys, stored, names, line):
    code, told = refused(capsys, "compare", *names)
    assert code == 2 and re.match(line, told)


def test_a_line_says_which_seeds_are_records_and_what_else_differs(capsys, stored):
    for path in (stored / STORED.name).glob("hc-sa-seed2-*.json"):
        record = json.loads(path.read_bytes())
        record["provenance"]["threads"] = 3
        path.write_text(json.dumps(record))
    said = run(capsys, "compare", "base", "hc-sa")
    assert said[1].startswith("records in results: base-seed1-") and said[1].count("seed") == 4
    assert re.fullmatch(
        "trained by .*3 threads: another number makes another model, of the same seed as well",
        said[2],
    )
    assert (
        said[3].startswith("BLEU: ")
        and said[-1] == "means over 2 seeds; intervals over test sentences and training seeds"
    )


def test_a_score_is_the_same_number_in_every_command():
    """25.61503 is 25.62 by itself, and 25.61 by way of the 25.6150 of its record."""
    assert shown(25.61503) == shown(25.6150) == f"{25.6150:.2f}"


def test_records_of_another_search_or_test_set_are_left_out(stored):
    assert len(load_records(stored)) == 4
    for split, search in (("dev", usual), ("test", lambda alpha: SearchConfig(1, alpha))):
        with pytest.raises(InputError, match="no such record in results"):
            find_systems(("base", "hc-sa"), None, stored, split, search)


def test_corpora_are_not_mixed(capsys, stored):
    config = resolve("smoke", overrides=[f"data.corpus={few_pairs()}", OWN])
    own = Run.create(config)
    (own.path / "final").mkdir()
    with pytest.raises(InputError, match="base: no such run in .*, and no such record"):
        found("base", NAME, stored)
    (Run.create(replace(config, model=resolve("smoke").model)).path / "final").mkdir()
    assert [[is_here for _, is_here in seeds] for seeds in found("base", NAME, stored)] == [
        [True],
        [True],
    ]


@pytest.mark.parametrize(
    ("p", "told"), [(0.5, "= 0.500"), (2 / 1001, "= 0.002"), (1 / 1001, "< 0.002")]
)
def test_no_p_is_told_that_resamples_cannot_tell(p, told):
    comparison = Comparison("BLEU", "", 1.0, 2.0, Estimate(1.0, 0.5, 1.5), p, 1000)
    assert p_value(p, 1000) == told and describe(comparison)[-1] == told.removeprefix("= ")
