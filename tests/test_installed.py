"""Installed without the project's folder: the models are there, and results are told of."""

import tomllib
from pathlib import Path

import pytest
from command_line import refused, run

import repro
from repro.errors import GET_PROJECT
from repro.runs import bundling, gallery

pytestmark = pytest.mark.usefixtures("runs")


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


def test_a_wheel_has_the_gallery():
    """A model is loaded from where the package lies, so its files must be installed with it."""
    root = Path(repro.__file__).parent
    settings = tomllib.loads((root.parent / "pyproject.toml").read_text())["tool"]["setuptools"]
    packed = {path for glob in settings["package-data"]["repro"] for path in root.glob(glob)}
    wanted = {file for name in gallery.names() for file in bundling.files(gallery.FOLDER / name)}
    assert len(wanted) >= 9 * 8 and wanted | {gallery.FOLDER / "README.md"} <= packed
    assert not [path for path in packed if "evaluations" in path.parts]
