"""Installed without the project's folder: the models are there, and results are told of."""

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from command_line import refused, run
from test_variants_in_files import ALIBI

import repro
from repro.errors import GET_PROJECT
from repro.runs import bundling, gallery

pytestmark = pytest.mark.usefixtures("runs")

# Each line is a command; all of them in one process, which imports torch once.
COMMANDS = """
import shlex, sys
import repro
from repro.__main__ import cli

print(repro.__file__)
for line in sys.argv[1:]:
    cli(shlex.split(line), standalone_mode=False)
"""


@pytest.mark.parametrize("command", ["report", "claims", "verify", "results"])
def test_results_are_said_where_to_get(capsys, command):
    told = (
        "error: results: is no folder of results. Fix: name the folder that `repro run` made, or "
        f"{GET_PROJECT}"
    )
    assert refused(capsys, command) == (2, told)


def test_figures_that_need_no_run_are_drawn_anywhere(capsys):
    assert (
        run(capsys, "run", "you2020.figure1")[-1] == "reports/run.html"
        or Path("reports/run.md").exists()
    )


def test_a_wheel_has_every_file_of_the_package():
    """Models, tables and pages are read from where the package lies, so they are installed too."""
    root = Path(repro.__file__).parent
    settings = tomllib.loads((root.parent / "pyproject.toml").read_text())["tool"]["setuptools"]
    packed = {path for glob in settings["package-data"]["repro"] for path in root.glob(glob)}
    bundled = {file for name in gallery.names() for file in bundling.files(gallery.FOLDER / name)}
    assert len(bundled) >= 9 * 8
    wanted = bundled | {
        path
        for path in root.rglob("*")
        if path.is_file()
        and path.suffix not in (".py", ".pyc")
        and (gallery.FOLDER not in path.parents or path.parent == gallery.FOLDER)
    }
    assert wanted <= packed, sorted(wanted - packed)
    assert not [path for path in packed if "evaluations" in path.parts]


def test_a_wheel_alone_translates_and_trains_and_checks_your_own_variant(tmp_path):
    """In an empty folder, where no file of the project is."""
    root, source = Path(repro.__file__).parents[1], tmp_path / "source"
    shutil.copytree(root / "repro", source / "repro", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(root / name, source)
    build = (sys.executable, "-m", "build", "--quiet", "--no-isolation", "--wheel")
    subprocess.run([*build, "--outdir", tmp_path, source], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "my.py").write_text(ALIBI)
    variant = "model.encoder_self=my.py:alibi(window=2)"
    done = subprocess.run(
        [
            *(sys.executable, "-c", COMMANDS),
            "--version",
            "translate gallery/base",
            "check my.py:alibi",
            f"train --name mine train.max_updates=2 '{variant}'",
            "runs",
        ],
        cwd=empty,
        env=os.environ
        | {"PYTHONPATH": str(tmp_path / "site"), "REPRO_RUNS": "runs", "OMP_NUM_THREADS": "1"},
        input="The old man sees a dog.\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    where, version, translation, *said = done.stdout.splitlines()
    assert where == str(tmp_path / "site/repro/__init__.py")
    assert version == f"repro, version {repro.__version__}"
    assert wheel.name.split("-")[1] == repro.__version__
    assert translation == "Der alte Mann sieht einen Hund."
    assert said[0].startswith("encoder_self: keeps every promise")
    assert any(line.startswith("mine; ") and "2 updates" in line for line in said)
