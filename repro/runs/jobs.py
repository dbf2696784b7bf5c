"""Do several pieces of work at once on this machine, such as training runs.

Each worker process does one piece of work after the other. Small models cannot use many threads or
a whole GPU, so two runs at the same time end sooner than one after the other.
"""

import contextlib
import copy
import os
import pickle
import signal
import sys
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterator
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from threading import Thread
from typing import Any

from repro import stops
from repro.core.config import RunConfig
from repro.errors import InputError, MachineError, ReproError, Stopped
from repro.runs.naming import run_name
from repro.runs.refusals import known

MAX_JOBS = 1000  # of one machine
TRIES = 2  # for a piece of work whose worker is killed
GRACE = 8  # seconds that a worker has to save and end once its parent is gone

Outcome = dict[str, Any] | ReproError
Work = Callable[..., dict[str, Any]]
HandOut = Callable[
    [list[tuple[Any, ...]], Work, int, Callable[[int, int, Outcome], None]], list[Outcome]
]
"""A function that gives work to workers: `run_all`, or another with its arguments."""


def check_jobs(jobs: int) -> None:
    """Refuse a number of pieces of work at a time that is below 1 or too large for any machine."""
    if not 1 <= jobs <= MAX_JOBS:
        raise InputError(
            "--jobs",
            f"must be from 1 to {MAX_JOBS}, found {jobs}",
            "use 1 or more, at most one a processor",
        )


def run_all(
    tasks: list[tuple[Any, ...]], work: Work, jobs: int, ended: Callable[[int, int, Outcome], None]
) -> list[Outcome]:
    """Do the same work for many tasks, `jobs` at a time.

    A task that fails does not stop the others; a task whose worker is killed is tried once more. A
    stop request (Ctrl-C, SIGTERM) reaches every worker: each saves and ends. A second request ends
    them at once, and so does the death of this process, after `GRACE`.

    Args:
        tasks: the arguments of each.
        work: a function of a module, such as `train_and_evaluate`.
        jobs: number of worker processes; they share the machine's threads.
        ended: called as each ends, with how many have ended, how many there are, and its outcome.

    Returns:
        For every task what `work` returned, or the error that ended it.

    Raises:
        InputError: `jobs` is out of range.
        Stopped: a stop was asked for.
    """
    check_jobs(jobs)
    import torch

    outcomes: dict[int, Outcome] = {}
    bugs, killed = [], Counter[int]()
    waiting = deque(range(len(tasks)))
    # of this process: OMP_NUM_THREADS counts
    with _crew(max(1, torch.get_num_threads() // jobs)) as crew:
        while crew.fill(waiting, tasks, work, jobs):
            for index, result in crew.results():
                if result is None:
                    killed[index] += 1
                    result = _error_of_killed(tasks[index], killed[index])
                if result is None:
                    waiting.append(index)
                elif isinstance(result, Exception) and not isinstance(result, ReproError):
                    bugs.append(result)  # of one piece; the others end and are reported
                else:
                    outcomes[index] = result
                    ended(len(outcomes), len(tasks), result)
        stops.raise_if_stopping()
    if bugs:
        raise bugs[0]
    return [outcomes[index] for index in range(len(tasks))]


def _error_of_killed(task: tuple[Any, ...], times: int) -> ReproError | None:
    """Return the error of a piece of work whose worker was killed so many times.

    If it is tried again, print a line and return None.
    """
    names = [
        run_name(part) if isinstance(part, RunConfig) else str(part)
        for part in task
        if not isinstance(part, list)
    ]
    name = ", ".join(names) or "a piece of work"
    if times < TRIES:
        print(f"{name}: its worker process was killed; it is tried once more", file=sys.stderr)
        return None
    fix = "use fewer jobs if memory ran out; the same command goes on where it was"
    return MachineError(name, f"its worker process was killed {times} times", fix)


class _Worker:
    """A process that does one piece of work after the other, and the index of its current one."""

    def __init__(self, threads: int) -> None:
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, threads))
        with _without_interrupts():
            self.process.start()
        theirs.close()  # so that the death of the process closes the pipe
        self.index: int | None = None

    def begin(self, index: int, work: Work, task: tuple[Any, ...]) -> None:
        """Hand a piece of work over; reading its result will show whether the worker was killed."""
        self.index = index
        with contextlib.suppress(OSError):
            self.pipe.send((work, task))

    def end(self) -> None:
        """Let the process end, now that nothing keeps it alive."""
        self.pipe.close()
        self.process.join()


class _Crew:
    """The workers of a call of `run_all`."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self.workers: list[_Worker] = []

    def fill(
        self, waiting: deque[int], tasks: list[tuple[Any, ...]], work: Work, jobs: int
    ) -> bool:
        """Hand out waiting work to free workers unless a stop was asked for; say if any is busy."""
        while waiting and len(self._busy()) < jobs:
            if stops.asked():
                break
            idle = [worker for worker in self.workers if worker.index is None]
            if not idle:
                self.workers.append(_Worker(self._threads))
            index = waiting.popleft()
            (idle or self.workers)[-1].begin(index, work, tasks[index])
        if stops.asked():  # a worker that was just starting has not been told
            self.pass_on(signal.SIGTERM, False)
        return bool(self._busy())

    def results(self) -> Iterator[tuple[int, Any]]:
        """Wait until some workers are done; yield the index and result of their pieces of work.

        The result is None if the process was killed. Pieces that a general stop interrupted are not
        yielded.
        """
        for worker in self._done():
            index, worker.index = worker.index, None
            try:
                result = worker.pipe.recv()
            except (EOFError, OSError):
                result = None
            # a worker that was told to stop begins nothing
            if result is None or isinstance(result, Stopped):
                self.workers.remove(worker)
                worker.end()
                if stops.asked():
                    continue
                result = None
            assert index is not None  # it was at work
            yield index, result

    def pass_on(self, _number: int, at_once: bool) -> None:
        """Let every worker save and end, or end at once."""
        for worker in [*self.workers]:
            if worker.process.is_alive():
                assert worker.process.pid is not None  # it has started
                os.kill(worker.process.pid, signal.SIGKILL if at_once else signal.SIGTERM)

    def _busy(self) -> list[_Worker]:
        """Return the workers with a piece of work."""
        return [worker for worker in self.workers if worker.index is not None]

    def _done(self) -> list[_Worker]:
        """Wait until some workers are done, and return these."""
        readable = wait([worker.pipe for worker in self._busy()])
        return [worker for worker in self._busy() if worker.pipe in readable]


@contextlib.contextmanager
def _crew(threads: int) -> Iterator[_Crew]:
    """Have workers while the block lasts, and stop the busy ones when an error ends it."""
    # which lifts any block of signals, so not within `_without_interrupts`
    resource_tracker.ensure_running()
    crew = _Crew(threads)
    with stops.noted(crew.pass_on):
        try:
            yield crew
        except BaseException:
            crew.pass_on(signal.SIGTERM, False)
            raise
        finally:
            for worker in crew.workers:
                worker.end()


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Let Ctrl-C wait: a terminal sends it to a starting worker, too, which would die of it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(pipe: Connection, threads: int) -> None:
    """Be a worker until the other end of the pipe is closed."""
    # the parent decides what Ctrl-C means; until work begins, SIGTERM just ends the worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    Thread(target=_end_with_parent, daemon=True).start()
    import torch

    import repro.runs.train  # noqa: F401  # it takes seconds, and nearly all work needs it

    torch.set_num_threads(threads)
    with stops.noted(quiet=True), contextlib.suppress(EOFError, OSError):
        while True:
            pipe.send(_do_piece(*pipe.recv()))


def _end_with_parent() -> None:
    """Make this worker save and end once its parent process is gone, even if that was killed."""
    parent = parent_process()
    assert parent is not None  # this is a worker
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os._exit(128 + signal.SIGTERM)


def _do_piece(work: Work, task: tuple[Any, ...]) -> Outcome | Exception:
    """Return the outcome of a piece of work, or its error."""
    try:
        stops.raise_if_stopping()
        return work(*task)
    except Stopped as stopped:
        return stopped
    except Exception as error:
        return _picklable(known(error, "run"))


def _picklable(error: Exception) -> Exception:
    """Return a worker's error that another process can read, with its traceback.

    This is the error itself if it can be pickled, else its words.
    """
    try:
        copy.copy(error)  # makes it again, as the other process will
        pickle.dumps(error)
    except Exception:
        error = RuntimeError(f"{type(error).__name__}: {error}")
    error.add_note(traceback.format_exc())
    return error


def describe_outcome(outcome: Outcome) -> str:
    """Return a line about a piece of work that ended: its record, or its error."""
    if isinstance(outcome, ReproError):
        return f"error: {outcome}"
    if "scores" in outcome:
        score, on = (
            outcome["scores"][0],
            "" if outcome["split"] == "test" else f" on {outcome['split']}",
        )
        seconds = f"{outcome['training']['seconds']:.0f} s"
        return f"{outcome['run']}: {score['name']} {score['value']:.2f}{on}, {seconds}"
    return f"{outcome['run']}: {outcome['kind']}"
