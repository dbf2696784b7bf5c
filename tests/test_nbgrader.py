"""nbgrader itself makes the release of an assignment and grades it (`make nbgrader`)."""

import csv
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from repro.teaching.nbgrader import write_assignment

BIN = Path(sys.executable).parent  # nbgrader calls alembic, which is beside it
LESSON = "05_recurrent_attention"

pytestmark = pytest.mark.skipif(find_spec("nbgrader") is None, reason="needs nbgrader")


def nbgrader(course, *arguments):
    run = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=course,
        env=os.environ | {"HOME": str(course), "PATH": f"{BIN}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr


def test_nbgrader_releases_no_solution_and_gives_a_point_for_each_right_answer(tmp_path):
    course = tmp_path / "course"
    source = write_assignment("05", course)
    nbgrader(course, "generate_assignment", LESSON)
    released = course / "release" / LESSON
    text = (released / "exercise.ipynb").read_text()
    assert "SOLUTION" not in text and "torch.tanh(scores" not in text
    for student, notebook in {"solved": source, "untouched": released}.items():
        shutil.copytree(notebook, course / "submitted" / student / LESSON)
    nbgrader(course, "autograde", LESSON)
    nbgrader(course, "export")
    rows = csv.DictReader((course / "grades.csv").open())
    scores = {row["student_id"]: (row["score"], row["max_score"]) for row in rows}
    assert scores == {"solved": ("4.0", "4.0"), "untouched": ("0.0", "4.0")}
