"""Write a tutorial as an assignment of nbgrader, with the solution between its marks."""

import json
from pathlib import Path
from typing import Any

from repro.errors import InputError
from repro.files import write_atomic
from repro.teaching.handout import as_bytes, cleared, packed_checks
from repro.teaching.lessons import Lesson, load_lesson, read_notebook, tags_of

CONFIG = """c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "attention"
# Seconds. A busy machine is slow to import torch and to show a figure, and nbgrader gives no point
# for what comes after a cell that it stopped.
c.Execute.timeout = 300
c.Execute.iopub_timeout = 60
"""
BEGIN, END = "    ### BEGIN SOLUTION", "    ### END SOLUTION"


def write_assignment(number: str, course: Path) -> Path:
    """Write a tutorial into `COURSE/source/`, and a configuration if there is none.

    Returns:
        the folder of the assignment.

    Raises:
        InputError: there is no such tutorial, or the assignment is there already.
    """
    lesson = load_lesson(number)
    folder = course / "source" / lesson.folder.name
    if folder.exists():
        raise InputError("--to", f"{folder} is there", "delete it, or name another course")
    folder.mkdir(parents=True)
    if not (course / "nbgrader_config.py").exists():
        write_atomic(course / "nbgrader_config.py", CONFIG.encode())
    write_atomic(folder / "exercise.ipynb", as_bytes(assignment(lesson)))
    for name, content in packed_checks(lesson):
        write_atomic(folder / name, content)
    return folder


def assignment(lesson: Lesson) -> dict[str, Any]:
    """Return the notebook with the metadata of nbgrader: one point for each exercise.

    The cell below an exercise is locked; its assertion runs the hidden cases, too.
    """
    notebook = json.loads(json.dumps(cleared(read_notebook(lesson.folder / "solution.ipynb"))))
    starter = read_notebook(lesson.folder / "exercise.ipynb")["cells"]
    for cell, empty in zip(notebook["cells"], starter, strict=True):
        names = [name for name in lesson.exercises if f"check.{name}({name})" in cell["source"]]
        if "exercise" in tags_of(empty):
            head = empty["source"].removesuffix("    raise NotImplementedError")
            body = cell["source"].removeprefix(head)
            cell["source"] = f"{head}{BEGIN}\n{body}\n{END}"
            name = head.partition("def ")[2].partition("(")[0]
            cell["metadata"]["nbgrader"] = _marks(name, solution=True)
        elif names:
            cell["source"] += f"\nassert check.{names[0]}.problem({names[0]}) is None"
            cell["metadata"]["nbgrader"] = _marks(f"test_{names[0]}", grade=True) | {"points": 1}
    return notebook


def _marks(grade_id: str, solution: bool = False, grade: bool = False) -> dict[str, Any]:
    """Return the metadata of a cell."""
    return {
        "grade_id": grade_id,
        "solution": solution,
        "grade": grade,
        "locked": not solution,
        "task": False,
        "schema_version": 3,
    }
