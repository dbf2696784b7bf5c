"""Several runs at once on this machine: each worker process does one piece of work after the other, such as training a run.

Small models cannot use many threads or a whole GPU, so two runs side by side end sooner than one after the other.
"""

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, get_context
from typing import Any

from repro.config import RunConfig
from repro.errors import InputError, MachineError, ReproError, Stopped, known
from repro.log_lines import LogLines

MAX_JOBS = 1000  # of one machine
STOPS = (signal.SIGINT, signal.SIGTERM)

Outcome = dict[str, Any] | ReproError
Work = Callable[..., dict[str, Any]]
HandOut = Callable[[list[tuple[Any, ...]], Work, int, Callable[[int, int, Outcome], None]], list[Outcome]]
"""What gives work to workers: `run_all`, or another with its arguments."""


def train_and_evaluate(config: RunConfig, split: str = "test") -> dict[str, Any]:
    """Train a run, or find it finished, and return its result record."""
    from repro.scoring import evaluate_run
    from repro.training import train

    return evaluate_run(train(config, quiet=True, log=LogLines(config)), split)


def check_jobs(jobs: int) -> None:
    """Refuse a number of pieces of work at a time that is none, or that no machine can bear."""
    if not 1 <= jobs <= MAX_JOBS:
        raise InputError("--jobs", f"must be from 1 to {MAX_JOBS}, found {jobs}", "use 1 or more, at most one a processor")


def run_all(tasks: list[tuple[Any, ...]], work: Work, jobs: int, ended: Callable[[int, int, Outcome], None]) -> list[Outcome]:
    """Do the same work on many things, `jobs` at a time.

    One that fails does not stop the others. A stop request (Ctrl-C, SIGTERM) reaches every worker: each saves and ends.

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

    threads = max(1, torch.get_num_threads() // jobs)  # of this process: OMP_NUM_THREADS counts
    outcomes: dict[int, Outcome] = {}
    bugs, stop_requests = [], []

    def pass_on(number: int, _frame: Any) -> None:
        """Let every worker save and end. Ctrl-C in a terminal reaches them by itself, too; the button of an editor does not."""
        stop_requests.append(number)
        for process in active_children():
            assert process.pid is not None  # it has started
            os.kill(process.pid, number)

    try:
        before = {number: signal.signal(number, pass_on) for number in STOPS}
    except ValueError:  # not in the main thread: signals go elsewhere
        before = {}
    try:
        with ProcessPoolExecutor(jobs, get_context("spawn"), _start_worker, (threads,)) as pool:
            with _held_back():
                futures = {pool.submit(_do, work, task): index for index, task in enumerate(tasks)}
            for future in as_completed(futures):
                error, index = future.exception(), futures[future]
                if isinstance(error, Stopped):
                    pool.shutdown(wait=True, cancel_futures=True)
                elif error and not isinstance(error, BrokenProcessPool):
                    bugs.append(error)  # of one piece; the others end and are told
                    continue
                outcomes[index] = future.result()
                ended(len(outcomes), len(tasks), outcomes[index])
    except BrokenProcessPool as error:
        if stop_requests:  # a worker that was still starting could not save anything
            raise Stopped(128 + stop_requests[0], 0) from error
        mend = "use fewer jobs if memory ran out; the same command goes on where they were"
        raise MachineError("--jobs", "a worker process was killed", mend) from error
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if stop_requests:  # it came when the last pieces were as good as done
        raise Stopped(128 + stop_requests[0], 0)
    if bugs:
        raise bugs[0]
    return [outcomes[index] for index in range(len(tasks))]


_stop_requests: list[int] = []
"""In a worker: the signals that asked it to stop. Work that was already handed to it must not begin then."""


@contextlib.contextmanager
def _held_back() -> Iterator[None]:
    """Let stop requests wait: those of a worker that starts in the meantime until it can heed them, ours until the block ends."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_worker(threads: int) -> None:
    import torch

    torch.set_num_threads(threads)
    for number in STOPS:
        signal.signal(number, lambda number, _: _stop_requests.append(number))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)


def _do(work: Work, task: tuple[Any, ...]) -> Outcome:
    if _stop_requests:
        raise Stopped(128 + _stop_requests[0], 0)
    try:
        return work(*task)
    except Stopped as stopped:
        _stop_requests.append(stopped.exit_code - 128)
        raise
    except Exception as error:
        return outcome_of(error)


def outcome_of(error: Exception) -> ReproError:
    """Return an error that the user can mend, or the machine; any other is our bug, and raised."""
    if isinstance(error := known(error, "run"), ReproError):
        return error
    raise error


def describe_outcome(outcome: Outcome) -> str:
    """Return a line about a result record, or an error."""
    if isinstance(outcome, ReproError):
        return f"error: {outcome}"
    if "scores" in outcome:
        score, on = outcome["scores"][0], "" if outcome["split"] == "test" else f" on {outcome['split']}"
        return f"{outcome['run']}: {score['name']} {score['value']:.2f}{on}, {outcome['training']['seconds']:.0f} s"
    return f"{outcome['run']}: {outcome['kind']}"
