"""Several runs at once on this machine: each worker process trains and evaluates one configuration after the other.

Small models cannot use many threads or a whole GPU, so two runs side by side end sooner than one after the other.
"""

import os
import signal
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, get_context
from typing import Any

from repro.config import RunConfig
from repro.errors import InputError, MachineError, ReproError

Outcome = dict[str, Any] | ReproError


def run_all(configs: list[RunConfig], jobs: int, split: str = "test", report: Callable[[str], None] = print) -> list[Outcome]:
    """Train and evaluate configurations, `jobs` at a time; what is finished is found, not made again.

    One that fails does not stop the others. A stop request (Ctrl-C, SIGTERM) reaches every worker: each saves and ends.

    Args:
        configs: what to run.
        jobs: number of worker processes; they share the machine's threads.
        split: test set to evaluate on.
        report: called with a line as each run ends.

    Returns:
        For every configuration its result record, or the error that ended it.

    Raises:
        InputError: `jobs` is below 1.
        Stopped: a stop was asked for.
    """
    if jobs < 1:
        raise InputError("--jobs", f"must be at least 1, found {jobs}", "use 1 or more")
    from repro.training import Stopped

    threads = max(1, len(os.sched_getaffinity(0)) // jobs)
    outcomes: dict[int, Outcome] = {}
    before = signal.signal(signal.SIGTERM, _pass_on)
    try:
        with ProcessPoolExecutor(jobs, get_context("spawn"), _start_worker, (threads,)) as pool:
            futures = {pool.submit(_run, config, split): index for index, config in enumerate(configs)}
            for future in as_completed(futures):
                if isinstance(future.exception(), Stopped | KeyboardInterrupt):
                    pool.shutdown(wait=True, cancel_futures=True)
                index = futures[future]
                outcomes[index] = future.result()
                report(f"[{len(outcomes)}/{len(configs)}] {_describe(outcomes[index])}")
    except BrokenProcessPool as error:
        mend = "use fewer jobs if memory ran out; the same command goes on where they were"
        raise MachineError("--jobs", "a worker process was killed", mend) from error
    finally:
        signal.signal(signal.SIGTERM, before)
    return [outcomes[index] for index in range(len(configs))]


_stop_requests: list[int] = []
"""In a worker: the signals that asked it to stop. Work that was already handed to it must not begin then."""


def _start_worker(threads: int) -> None:
    import torch

    torch.set_num_threads(threads)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: _stop_requests.append(number))


def _run(config: RunConfig, split: str) -> Outcome:
    from repro.records import evaluate_run
    from repro.training import Stopped, train

    if _stop_requests:
        raise Stopped(128 + _stop_requests[0], 0)
    try:
        return evaluate_run(train(config, quiet=True), split)
    except Stopped as stopped:
        _stop_requests.append(stopped.exit_code - 128)
        raise
    except ReproError as error:
        return error


def _pass_on(number: int, _frame: Any) -> None:
    """Let every worker save and end; Ctrl-C reaches them by itself."""
    for process in active_children():
        os.kill(process.pid, number)


def _describe(outcome: Outcome) -> str:
    if isinstance(outcome, ReproError):
        return f"error: {outcome}"
    return f"{outcome['run']}: {outcome['scores'][0]['name']} {outcome['scores'][0]['value']:.2f}, {outcome['training']['seconds']:.0f} s"
