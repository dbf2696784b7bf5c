"""Twelve submissions are graded, each in a confined process; and what is handed out."""

import io
import json
import socket
import subprocess
import sys
import zipfile

import pytest
from click.testing import CliRunner
from made_submissions import write_notebook, write_submissions
from test_tutorials import ROOT

from repro.cli.teaching import _plain, grade
from repro.errors import InputError
from repro.teaching import limits
from repro.teaching.grading import _Student, find_submissions, without_notebook
from repro.teaching.grading import grade as grade_one
from repro.teaching.handout import handout_zip
from repro.teaching.lessons import load_lesson, own_cells
from repro.teaching.nbgrader import write_assignment
from repro.teaching.wire import pack, unpack

EXPECTED = {
    "bomb": ("2", "scaled_scores: stops:RuntimeError"),
    "deletes": ("4", ""),
    "empty": ("0", "scaled_scores: not_defined"),
    "endless": ("2", "scaled_scores: too_long"),
    "other_kernel": ("4", ""),
    "prints": ("4", ""),
    "raises": ("2", "scaled_scores: stops:RuntimeError"),
    "reads": ("3", "scaled_scores: copied"),
    "renamed": ("3", "scaled_scores: not_defined"),
    "right": ("4", ""),
    "socket": ("4", ""),
    "wrong": ("2", "split_heads: only_reshaped"),
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Grade the twelve from the command line; return the folder and what was printed."""
    folder = tmp_path_factory.mktemp("class")
    submissions, target = folder / "submissions", folder / "target"
    for path in (submissions, target):
        path.mkdir()
    (target / "kept.txt").write_text("kept")
    server = socket.create_server(("127.0.0.1", 0))
    server.setblocking(False)
    solution = ROOT / "01_attention" / "solution.ipynb"
    write_submissions(submissions, solution, target, server.getsockname()[1])
    arguments = "submissions --csv points.csv --seconds 20 --megabytes 300 --jobs 2".split()
    command = [sys.executable, "-m", "repro", "grade", *arguments]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    with pytest.raises(BlockingIOError):  # nobody connected
        server.accept()
    server.close()
    return folder, run.stdout


def test_every_submission_gets_its_points_and_its_first_mistake_by_name(graded):
    lines = (graded[0] / "points.csv").read_text().split("\n")
    rows = [line.split(",") for line in lines[1:] if line]
    assert {row[0]: (row[1], row[7]) for row in rows} == EXPECTED
    assert "  1 of 12: The shape is right, the numbers are not" in graded[1]


def test_nothing_leaves_its_folder(graded):
    folder, printed = graded
    assert sorted(path.name for path in folder.iterdir()) == ["points.csv", "submissions", "target"]
    assert [path.name for path in (folder / "target").iterdir()] == ["kept.txt"]
    for refused in ("solution.ipynb", "shutil.rmtree", "socket.", "saved with a kernel of r"):
        assert refused in printed


def test_a_notebook_is_named_by_its_folder_and_formulas_are_text(tmp_path):
    for name in ("ann/hw.ipynb", "bob/a.ipynb", "bob/b.ipynb", "eve.ipynb", "eve/a.ipynb"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write_notebook(tmp_path / name, [])
    assert list(find_submissions(tmp_path)) == ["ann", "bob/a", "bob/b", "eve/a", "eve"]
    assert _plain("=1+1") == "'=1+1" and _plain("ann") == "ann" and _plain(-1) == -1


def test_what_holds_no_notebook_is_named(tmp_path):
    write_notebook(tmp_path / "ann.ipynb", [])
    (tmp_path / "bob").mkdir()
    (tmp_path / "bob" / "answer.py").write_text("")
    (tmp_path / "points.csv").write_text("")
    assert without_notebook(tmp_path) == ["bob"]


def test_only_imports_that_a_student_uses_run_again():
    def cell(source, **metadata):
        return {"cell_type": "code", "source": source, "metadata": metadata}

    imports = cell("import math, check\nimport torch as t")
    mine = cell("def f(x):\n    return t.ones(x)")
    handed_out = {"cells": [imports, cell("x", tags=["exercise"])]}
    ran = own_cells({"cells": [imports, mine]}, handed_out)
    assert ran == ["import torch as t", mine["source"]]


def test_a_notebook_that_waits_is_ended_by_the_clock(tmp_path):
    path = tmp_path / "waits.ipynb"
    write_notebook(path, ["import time\ntime.sleep(1000)"])
    found = grade_one("waits", path, load_lesson("01"), limits.Limits(seconds=0.5))
    assert {one.name for one in found.diagnoses.values()} == {"too_long"}
    assert "after 2 seconds" in str(found.diagnoses["scaled_scores"])


def test_a_definition_is_not_run_on_what_would_keep_the_grader_busy(tmp_path):
    student = _Student([], tmp_path, load_lesson("02"), limits.Limits())
    for case in ((10**6, 3, 0.0), (3, 10**6, 0.0)):
        asked = {"definition": "gaussian_weights", "case": pack(case)}
        assert "small" in student._definition(asked)["refused"]
    asked = {"definition": "gaussian_weights", "case": pack((3, 3, 0.0))}
    assert unpack(student._definition(asked)["value"]).shape == (3, 3)


def test_a_folder_without_notebooks_and_a_limit_of_zero_are_refused(tmp_path):
    with pytest.raises(InputError, match="holds no notebook"):
        CliRunner().invoke(grade, [str(tmp_path)], catch_exceptions=False, standalone_mode=False)
    with pytest.raises(InputError, match="--seconds"):
        arguments = [str(tmp_path), "--seconds", "0"]
        CliRunner().invoke(grade, arguments, catch_exceptions=False, standalone_mode=False)


def test_values_cross_processes_as_they_are():
    import torch

    value = [1, 2.5, "a", None, True, (torch.ones(2, 3), [torch.zeros(0, dtype=torch.bool)])]
    again = unpack(json.loads(json.dumps(pack(value))))
    assert str(again) == str(value) and type(again[5]) is tuple
    assert type(unpack(pack(iter([])))).__name__ == "list_iterator"
    with pytest.raises(ValueError, match="not a packed value"):
        unpack({"tensor": [1], "dtype": "nonsense", "shape": [1]})


@pytest.mark.parametrize("number", [f"{n:02}" for n in range(1, 9)])
def test_a_handout_has_checks_but_no_solution_and_no_definition(number, tmp_path):
    lesson = load_lesson(number)
    with zipfile.ZipFile(io.BytesIO(handout_zip(number))) as archive:
        names = {name.partition("/")[2] for name in archive.namelist()}
        files = {
            name: archive.read(f"{lesson.folder.name}/{name}")
            for name in names
            if not name.startswith("repro/")
        }
    assert names > {"exercise.ipynb", "check.py", "check.bin", "README.md", "requirements.txt"}
    assert b"\njupyterlab>=" in b"\n" + files["requirements.txt"]  # its README starts it
    assert not [name for name in names if "solution" in name or "gallery_runs/" in name]
    readable = b"".join(files.values())
    assert b".mistake" not in readable and b"](../" not in readable
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    script = (
        "import check, inspect\n"
        f"for name in {list(lesson.exercises)}:\n"
        "    task = getattr(check, name)\n"
        "    assert task.problem(task.definition).startswith('the numbers are right, but')\n"
        "    try: inspect.getsource(task.definition); raise SystemExit('readable')\n"
        "    except OSError: pass\n"
    )
    if number == "01":  # a process takes seconds
        subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)


def test_an_assignment_holds_every_solution_between_its_marks(tmp_path):
    folder = write_assignment("01", tmp_path)
    cells = json.loads((folder / "exercise.ipynb").read_text())["cells"]
    marks = [cell["metadata"]["nbgrader"] for cell in cells if "nbgrader" in cell["metadata"]]
    assert [mark["grade_id"] for mark in marks if mark["solution"]] == list(
        load_lesson("01").exercises
    )
    assert sum(mark.get("points", 0) for mark in marks) == 4
    with pytest.raises(InputError, match="is there"):
        write_assignment("01", tmp_path)


def test_a_layer_that_the_system_lacks_is_named(monkeypatch):
    def lacking(*_):
        raise OSError("not here")

    monkeypatch.setattr(limits, "_leave_network", lacking)
    monkeypatch.setattr(limits, "_lock_files", lambda *_: None)
    assert limits._refused_by_no_kernel() == ["the network"]
    monkeypatch.setattr(limits, "_lock_files", lacking)
    assert limits._refused_by_no_kernel() == ["the network", "files elsewhere"]
