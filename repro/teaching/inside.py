"""Run a student's notebook in a process of its own, and answer the grader's calls.

Nothing that could tell an expected value is in this process. The grader sends arguments, this
process sends what the student's function returned; both as JSON.
"""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from signal import ITIMER_PROF
from types import ModuleType
from typing import Any

# Imported once, before the process of each student is forked. The last one lists the fonts by
# another program, which a student's process may not start.
import matplotlib.font_manager  # noqa: F401
import numpy as np
import torch

import repro
from repro.teaching.limits import Limits, confine
from repro.teaching.observing import SECONDS, Outcome, Stop, observe
from repro.teaching.wire import from_line, pack, pack_outcome, to_line, unpack

CELL_SECONDS = 10.0
SYSTEM = ("/usr", "/lib", "/lib64", "/etc", "/dev", "/proc", "/opt", "/System", "/Library")


def serve(grader: Connection, folder: Path, limits: Limits) -> None:
    """Run the cells that the grader sends, then call functions until the pipe is closed."""
    _leave_behind(folder)
    readable = [Path(place) for place in (sys.prefix, sys.base_prefix, *SYSTEM)]
    readable += [Path(repro.__file__).parent, *map(Path, np.__path__), *map(Path, torch.__path__)]
    refused = confine(folder, readable, limits)
    student = _Notebook(grader)
    try:
        grader.send_bytes(to_line({"ready": True}))
        while True:
            message = from_line(grader.recv_bytes())
            if "cells" in message:
                student.run(message["cells"], min(CELL_SECONDS, limits.seconds / 2))
                answer: dict[str, Any] = {"names": student.functions()}
            else:
                answer = student.call(message)
            grader.send_bytes(to_line(answer | {"refused": refused}))
    except (EOFError, OSError):
        pass
    finally:
        os._exit(0)  # whatever the student's code left running


def _leave_behind(folder: Path) -> None:
    """Leave the teacher's environment, folder and terminal."""
    os.setsid()
    os.environ.clear()
    os.environ.update(HOME=str(folder), TMPDIR=str(folder), PATH="/usr/bin:/bin")
    os.environ.update(OMP_NUM_THREADS="1", MPLBACKEND="agg", LANG="C.UTF-8")
    os.chdir(folder)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(os.dup(n), "r" if n == 0 else "w") for n in range(3)
    )
    torch.set_num_threads(1)


class _Notebook:
    """The names that a student's cells have made."""

    def __init__(self, grader: Connection) -> None:
        self.grader, self.names = grader, {"__name__": "__main__"}
        module = ModuleType("check")
        module.__getattr__ = self._exercise  # type: ignore[method-assign]
        sys.modules["check"] = module

    def run(self, cells: Sequence[str], seconds: float) -> None:
        """Run cells one after another; one that fails does not keep the next from running."""
        for cell in cells:
            observe(self._run_cell, (cell,), seconds=seconds, timer=ITIMER_PROF)

    def _run_cell(self, cell: str) -> None:
        exec(compile(cell, "<cell>", "exec"), self.names)

    def functions(self) -> list[str]:
        """Return the names of all functions."""
        return [name for name, value in self.names.items() if callable(value)]

    def call(self, message: dict[str, Any]) -> dict[str, Any]:
        """Call a function with a case; return its outcome, packed."""
        function: Any = self.names.get(message["call"])
        if not callable(function):
            outcome = Outcome(stop=Stop("NotDefined", ""))
        else:
            seconds = min(SECONDS, float(message["seconds"]))
            outcome = observe(function, unpack(message["case"]), seconds=seconds, timer=ITIMER_PROF)
        with suppress(Exception):
            return {"outcome": pack_outcome(outcome)}
        return {"outcome": pack_outcome(Outcome(value=object()))}

    def _exercise(self, name: str) -> Any:
        """Return what stands for `check.NAME`: it judges nothing, and asks for the definition."""
        if name.startswith("__"):
            raise AttributeError(name)

        def judge(*_: Any) -> None:
            return None

        def ask(*arguments: Any) -> Any:
            self.grader.send_bytes(to_line({"definition": name, "case": pack(arguments)}))
            answer = from_line(self.grader.recv_bytes())
            if "refused" in answer:
                raise PermissionError(answer["refused"])
            return unpack(answer["value"])

        ask.__name__ = name
        members = {"definition": ask, "problem": judge, "hint": judge, "mistakes": []}
        stand_in = type("Exercise", (), {"__call__": judge})()
        stand_in.__dict__.update(members, or_definition=lambda answer: answer, name=name)
        return stand_in
