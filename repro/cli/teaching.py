"""Hand out tutorials, grade what comes back, and export the quiz."""

import csv
import io
import os
from pathlib import Path

import click

from repro.cli.options import WHOLE_NUMBER, check_ours
from repro.errors import InputError
from repro.files import check_plain, check_writable, write_atomic


@click.command(short_help="Make a folder to hand out, without solutions.")
@click.argument("tutorial", metavar="TUTORIAL")
@click.option(
    "--to",
    type=click.Path(path_type=Path),
    required=True,
    help="The .zip file to write; with --nbgrader the folder of a course.",
)
@click.option("--nbgrader", is_flag=True, help="Write an assignment for nbgrader instead.")
def handout(tutorial: str, to: Path, nbgrader: bool) -> None:
    """Write TUTORIAL (01 to 08) as a folder that works by itself.

    It holds the exercise, its checks and this package. It has no solution, and the definitions
    that the checks compare with cannot be read by eye.

    \b
      repro handout 01 --to attention.zip
    """
    check_plain(to)
    if nbgrader:
        from repro.teaching.nbgrader import write_assignment

        if to.is_file():
            raise InputError("--to", f"{to} is a file", "name the folder of a course")
        click.echo(write_assignment(tutorial, to))
        return
    if to.suffix != ".zip":
        raise InputError("--to", f"{to} is not the name of an archive", "name it .zip")
    check_writable(to.parent)
    from repro.teaching.handout import handout_zip

    packed = handout_zip(tutorial)
    write_atomic(to, packed)
    click.echo(f"{to}  {len(packed) / 1e6:.1f} MB")


@click.command(short_help="Grade the notebooks of a class.")
@click.argument("submissions", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--csv", "table", type=click.Path(path_type=Path), help="Write points to this file.")
@click.option("--tutorial", help="Its number, 01 to 08. [default: as most notebooks have it]")
@click.option(
    "--seconds",
    type=WHOLE_NUMBER,
    default=30,
    show_default=True,
    help="Of the processor, for each.",
)
@click.option(
    "--megabytes",
    type=WHOLE_NUMBER,
    default=1000,
    show_default=True,
    help="Of memory for each notebook.",
)
@click.option(
    "--jobs", type=WHOLE_NUMBER, default=os.cpu_count() or 1, help="Notebooks side by side."
)
def grade(
    submissions: Path,
    table: Path | None,
    tutorial: str | None,
    seconds: int,
    megabytes: int,
    jobs: int,
) -> None:
    """Grade the notebooks in SUBMISSIONS, and print what the class got wrong.

    Each runs in a process of its own, in an empty folder, with limits of time and memory and,
    where the system allows it, without a network. It never sees the answers that it is compared
    with. A function that is right, in hidden cases too, is one point.

    \b
      repro grade submissions --tutorial 01 --csv points.csv
    """
    for name, value in (("--seconds", seconds), ("--megabytes", megabytes), ("--jobs", jobs)):
        if value < 1:
            raise InputError(name, f"{value} is too small", "give at least 1")
    if table is not None:
        check_plain(table)
        check_ours(table)
        check_writable(table.parent)
    from repro.teaching.grading import (
        find_lesson,
        find_submissions,
        grade_all,
        summarize,
        without_notebook,
    )
    from repro.teaching.lessons import load_lesson
    from repro.teaching.limits import Limits, unguarded

    paths = find_submissions(submissions)
    lesson = load_lesson(tutorial) if tutorial else find_lesson(list(paths.values()))
    if left_open := unguarded():
        click.echo(
            f"note: this system does not keep native code from {' and '.join(left_open)}; Python "
            "code is. Grade notebooks that you trust, or on a Linux that has Landlock.",
            err=True,
        )
    if ignored := without_notebook(submissions):
        click.echo(f"note: no notebook, so not graded: {', '.join(ignored)}", err=True)
    graded = grade_all(paths, lesson, Limits(seconds, megabytes), jobs)
    if table is not None:
        write_atomic(table, _as_csv(graded, list(lesson.exercises)).encode())
    click.echo(f"tutorial {lesson.folder.name}: {len(graded)} submissions")
    width = min(40, max(len(one.name) for one in graded))
    for one in graded:
        points = f"{one.points} of {len(lesson.exercises)}"
        note = f"  [{one.note}]" if one.note else ""
        click.echo(f"{one.name:{width}}  {points}  {one.first_mistake}{note}".rstrip())
    click.echo()
    click.echo("\n".join(summarize(graded, lesson)))


def _as_csv(graded: list, exercises: list[str]) -> str:
    """Return a row for each submission: points, each exercise, the first mistake, a note."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["submission", "points", "of", *exercises, "first mistake", "note"])
    for one in graded:
        found = [one.diagnoses[name] for name in exercises]
        names = ["right" if diagnosis is None else diagnosis.name for diagnosis in found]
        row = [one.name, one.points, len(exercises), *names, one.first_mistake, one.note]
        writer.writerow([_plain(value) for value in row])
    return text.getvalue()


def _plain(value: object) -> object:
    """Return a value that a spreadsheet does not take for a formula."""
    is_formula = isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t"))
    return f"'{value}" if is_formula else value


@click.command(short_help="Write the quiz for a learning platform, or to print.")
@click.option(
    "--to",
    type=click.Path(path_type=Path),
    required=True,
    help="quiz.xml for Moodle, quiz.zip for QTI (Canvas and others), quiz.md to print.",
)
def quiz(to: Path) -> None:
    """Write the twelve questions that are asked before and after the course.

    The sheet to print ends with a scoring sheet. Each wrong option is a mistake that a check of
    the tutorials knows by name.

    \b
      repro quiz --to quiz.md
    """
    from repro.teaching.quiz import WRITERS, read_quiz

    if to.suffix not in WRITERS:
        raise InputError("--to", f"{to} has no known ending", f"use one of {', '.join(WRITERS)}")
    check_plain(to)
    check_writable(to.parent)
    write_atomic(to, WRITERS[to.suffix](*read_quiz()))
    click.echo(to)
