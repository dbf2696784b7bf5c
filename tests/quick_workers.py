"""Workers that begin at once, for tests of what they do then.

A worker of `repro.runs.jobs` is a new Python, which imports torch and the rest for two to four
seconds. Here each is forked from a process that has imported them. Where a worker starts is
elsewhere the same, so the real start has tests of its own.
"""

import os
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

IMPORTED = ["pytest", "repro.measures.scores", "repro.analysis.relevance", "repro.runs.models"]

_server = get_context("forkserver")
_server.set_forkserver_preload(IMPORTED)


class QuickWorkers:
    """What `repro.runs.jobs` uses of a context of multiprocessing."""

    Pipe = staticmethod(_server.Pipe)

    @staticmethod
    def Process(target: Callable[..., None], args: tuple[Any, ...]) -> BaseProcess:
        """Return a process with the settings and the standard error that this one has now."""
        error = Connection(os.dup(2), readable=False)  # which another process may be given
        return _server.Process(target=_begin, args=({**os.environ}, error, target, args))


def _begin(
    settings: dict[str, str], error: Connection, target: Callable[..., None], args: tuple[Any, ...]
) -> None:
    os.environ.clear()
    os.environ.update(settings)
    os.dup2(error.fileno(), 2)
    target(*args)
