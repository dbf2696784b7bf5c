"""Installed without the project's folder: one line says how to get models and results, the same everywhere."""

from pathlib import Path

import pytest
from command_line import refused, run

from repro.errors import GET_PROJECT, InputError
from repro.runs import gallery

pytestmark = pytest.mark.usefixtures("runs")


@pytest.fixture
def wheel(monkeypatch, tmp_path):
    """Let the package lie where no folder of the project is beside it."""
    monkeypatch.setattr("repro.runs.run.GALLERY", tmp_path / "site-packages" / "gallery")
    return tmp_path / "site-packages" / "gallery"


@pytest.mark.parametrize(
    "command", [["translate"], ["evaluate"], ["heads"], ["prune", "--heads", "1"], ["report"]]
)
def test_a_model_of_the_gallery_is_said_where_to_get(capsys, wheel, command):
    code, line = refused(capsys, command[0], "gallery/base", *command[1:])
    assert (
        code == 2
        and line.startswith("error: gallery/base: no such run in ")
        and line.endswith(f"Fix: {GET_PROJECT}")
    )


def test_python_says_the_same(wheel):
    with pytest.raises(InputError, match=f"there are no trained models here. Fix: {GET_PROJECT}"):
        gallery.load("base", wheel)


@pytest.mark.parametrize("command", ["report", "claims", "verify", "results"])
def test_results_are_said_where_to_get(capsys, command):
    told = f"error: results: is no folder of results. Fix: name the folder that `repro run` made, or {GET_PROJECT}"
    assert refused(capsys, command) == (2, told)


def test_figures_that_need_no_run_are_drawn_anywhere(capsys, wheel):
    assert (
        run(capsys, "run", "you2020.figure1")[-1] == "reports/run.html"
        or Path("reports/run.md").exists()
    )
