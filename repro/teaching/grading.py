"""Grade submissions: each notebook runs alone in a confined process, and its answers are judged
here."""

import copy
import math
import multiprocessing
import os
import shutil
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from repro.errors import DamagedFileError, InputError
from repro.teaching.exercise import COPIED, Diagnosis, Exercise
from repro.teaching.inside import serve
from repro.teaching.lessons import (
    Lesson,
    code_cells,
    functions_of,
    language_of,
    lesson_folders,
    load_lesson,
    own_cells,
    read_notebook,
)
from repro.teaching.limits import Limits
from repro.teaching.observing import TOO_LONG, Outcome, Stop
from repro.teaching.wire import from_line, pack, to_line, unpack, unpack_outcome

CALL_SECONDS = 2.0  # of the processor
WAITING = 4  # a busy machine may take this much longer on the clock
LONGEST_MESSAGE = 20_000_000  # bytes
LARGEST_SIZE, LARGEST_TENSOR = 200, 10_000  # that a definition is called with
ENDED = "Ended"


@dataclass
class Graded:
    """What a submission got.

    Args:
        name: of the submission.
        diagnoses: by exercise; None for a right answer.
        note: what else a teacher should know, such as files that it tried to open.
    """

    name: str
    diagnoses: dict[str, Diagnosis | None]
    note: str = ""

    @property
    def points(self) -> int:
        """One for each right answer."""
        return sum(diagnosis is None for diagnosis in self.diagnoses.values())

    @property
    def first_mistake(self) -> str:
        """The first mistake by name; empty if there is none."""
        wrong = [f"{name}: {found.name}" for name, found in self.diagnoses.items() if found]
        return wrong[0] if wrong else ""


def find_submissions(folder: Path) -> dict[str, Path]:
    """Return the notebooks of a folder by name.

    A notebook in a folder of its own, as learning platforms pack them, has the folder's name.

    Raises:
        InputError: there is no notebook.
    """
    paths = sorted(
        path
        for path in folder.rglob("*.ipynb")
        if path.is_file() and ".ipynb_checkpoints" not in path.parts
    )
    if not paths:
        raise InputError(str(folder), "holds no notebook", "put the submissions there, as .ipynb")
    names = [path.relative_to(folder).parts[0].removesuffix(".ipynb") for path in paths]
    alone = Counter(names)
    return {
        name if alone[name] == 1 else str(path.relative_to(folder).with_suffix("")): path
        for name, path in zip(names, paths, strict=True)
    }


def without_notebook(folder: Path) -> list[str]:
    """Return the names of what was handed in without a notebook: a program, a picture, a folder."""
    return [
        path.name
        for path in sorted(folder.iterdir())
        if not path.name.startswith(".")
        and path.suffix not in (".ipynb", ".csv")
        and not any(path.rglob("*.ipynb"))
    ]


def find_lesson(paths: Sequence[Path]) -> Lesson:
    """Return the tutorial whose exercises most of the notebooks define.

    Raises:
        InputError: none defines an exercise.
    """
    counts: Counter[str] = Counter()
    lessons = {number: load_lesson(number) for number in lesson_folders()}
    for path in paths:
        with suppress(DamagedFileError):
            defined = {f for cell in code_cells(read_notebook(path)) for f in functions_of(cell)}
            shared = {n: len(defined & set(one.exercises)) for n, one in lessons.items()}
            best = max(shared, key=lambda number: shared[number])
            counts[best] += shared[best] > 0
    if not +counts:
        raise InputError("submissions", "define no exercise", "name it: --tutorial 02")
    return lessons[counts.most_common(1)[0][0]]


def grade_all(paths: dict[str, Path], lesson: Lesson, limits: Limits, jobs: int) -> list[Graded]:
    """Grade submissions, several side by side."""
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        return list(pool.map(lambda name: grade(name, paths[name], lesson, limits), paths))


def grade(name: str, path: Path, lesson: Lesson, limits: Limits) -> Graded:
    """Grade one submission. Nothing that is in it raises here."""
    try:
        notebook = read_notebook(path)
    except DamagedFileError as error:
        unread = Diagnosis("unreadable", f"{error.what}. {error.fix[:1].upper()}{error.fix[1:]}")
        return Graded(name, dict.fromkeys(lesson.exercises, unread), error.what)
    cells = own_cells(notebook, read_notebook(lesson.folder / "exercise.ipynb"))
    language = language_of(notebook)
    notes = [] if language == "python" else [f"saved with a kernel of {language}; run as Python"]
    with tempfile.TemporaryDirectory(prefix="repro-grade-", ignore_cleanup_errors=True) as folder:
        student = _Student(cells, Path(folder), lesson, limits)
        try:
            diagnoses = {task: student.judge(task) for task in lesson.exercises}
        finally:
            student.stop()
    return Graded(name, diagnoses, "; ".join(notes + student.refused))


@dataclass
class _Student:
    """A submission that runs in a process of its own, started again when it has died."""

    cells: list[str]
    folder: Path
    lesson: Lesson
    limits: Limits
    refused: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.seconds = WAITING * self.limits.seconds
        self.deadline = float("inf")  # the clock starts when the first process is ready
        self.process: Any = None
        self.called, self.copied = "", False  # the function that is being judged

    def judge(self, name: str) -> Diagnosis | None:
        """Return what is wrong with the student's function of that name."""
        task, self.copied = self.lesson.exercises[name], False
        ended: list[Outcome] = []

        def call(case: tuple) -> Outcome:
            outcome = ended[0] if ended else self._call(name, case)
            if outcome.stop and outcome.stop.kind == ENDED:
                ended.append(outcome)
            return outcome

        diagnosis = task.judge(name, call)
        stop = ended[0].stop if ended else None
        if self.copied:
            return Diagnosis("copied", COPIED)
        if diagnosis and diagnosis.name == "stops:NotDefined":
            return Diagnosis("not_defined", "no function of this name is in the notebook")
        if diagnosis and stop:
            return Diagnosis("ended", stop.message)
        return diagnosis

    def _call(self, name: str, case: tuple) -> Outcome:
        """Call a function of the student; the process may die of it, or be ended."""
        try:
            if self.process is None:
                self._start()
            self.called = name
            call = {"call": name, "case": pack(case), "seconds": CALL_SECONDS}
            return unpack_outcome(self._ask(call)["outcome"])
        except (EOFError, OSError, ValueError, KeyError):
            self.stop()
            if time.monotonic() < self.deadline:
                return Outcome(
                    stop=Stop(ENDED, "the process ended: out of memory, or it left Python")
                )
            return Outcome(stop=Stop(TOO_LONG, f"{self.seconds:g}"))

    def _start(self) -> None:
        """Start the process, and run the cells in it.

        Raises:
            TimeoutError: the time of this submission is over.
            EOFError, OSError: the process has died.
        """
        if time.monotonic() >= self.deadline:
            raise TimeoutError
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([serve.__module__])
        self.pipe, theirs = context.Pipe()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.process = context.Process(
            target=serve, args=(theirs, self.folder, self.limits), daemon=True
        )
        self.process.start()
        theirs.close()
        self.called = ""
        self.pipe.recv_bytes(LONGEST_MESSAGE)  # ready: what came before was no work of the student
        self.deadline = min(self.deadline, time.monotonic() + self.seconds)
        self.end = threading.Timer(self.deadline - time.monotonic(), self.process.kill)
        self.end.daemon = True
        self.end.start()
        self._ask({"cells": self.cells})

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send a message, answer what the student's code asks for, and return the reply.

        Raises:
            EOFError, OSError: the process has died, or its time was over.
        """
        self.pipe.send_bytes(to_line(message))
        while True:
            reply = from_line(self.pipe.recv_bytes(LONGEST_MESSAGE))
            if "definition" not in reply:
                self.refused = [str(text)[:200] for text in reply.get("refused", [])][:5]
                return reply
            self.pipe.send_bytes(to_line(self._definition(reply)))

    def _definition(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return the value of a definition, unless it is the one that is judged."""
        task: Exercise | None = self.lesson.exercises.get(str(asked["definition"]))
        if task is None:
            return {"refused": "there is no exercise of this name"}
        if task.name == self.called:
            self.copied = True
            return {"refused": "the definition is no answer of your own"}
        definition: Callable[..., Any] = task.definition
        try:
            case = unpack(asked["case"])
            if not all(map(_is_small, case)):  # it runs here, where nothing stops it
                return {"refused": "a definition takes small arguments only"}
            return {"value": pack(definition(*copy.deepcopy(case)))}
        # the student's arguments may be anything
        except Exception as error:
            return {"refused": f"{type(error).__name__}: {error}"[:200]}

    def stop(self) -> None:
        """End the process and all that it may have started."""
        if self.process is None:
            return
        self.end.cancel()
        self.pipe.close()
        with suppress(ProcessLookupError, PermissionError):
            if os.getpgid(self.process.pid) == self.process.pid:
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.join()
        self.process = None


def _is_small(argument: Any) -> bool:
    """Whether a definition, written with loops, is done with an argument at once."""
    if isinstance(argument, (list, tuple)):
        return len(argument) <= LARGEST_SIZE and all(
            _is_small(part) for part in argument if not isinstance(part, int)
        )
    if isinstance(argument, int):
        return abs(argument) <= LARGEST_SIZE
    return not hasattr(argument, "shape") or math.prod(argument.shape) <= LARGEST_TENSOR


def summarize(graded: Sequence[Graded], lesson: Lesson) -> list[str]:
    """Return the mistakes of a class, most frequent first, as "12 of 30: ..."."""
    lines = []
    for task in lesson.exercises:
        found = [one.diagnoses[task] for one in graded]
        lines.append(f"{task}: {sum(d is None for d in found)} of {len(found)} right")
        texts = {d.name: _first_sentence(d.text) for d in found if d}
        for name, count in Counter(d.name for d in found if d).most_common():
            lines.append(f"  {count} of {len(found)}: {texts[name]} ({name})")
    return lines


def _first_sentence(text: str) -> str:
    """Return the first sentence of an explanation."""
    line = text.partition("\n")[0]
    return line.partition(". ")[0].rstrip(".")
