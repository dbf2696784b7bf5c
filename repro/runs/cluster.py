"""Do the same work on Ray: on every machine of a cluster, and on all GPUs of each.

This needs the extra `cluster` (https://docs.ray.io). Every machine must see this package, the runs
and the corpora under the same paths, as on a shared disk. A run then resumes from its last
checkpoint on whichever machine it continues. Records are written by the machine on which the
command was given.
"""

import contextlib
import logging
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Generator, Iterator
from importlib.util import find_spec
from math import ceil
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import torch

from repro import stops
from repro.errors import InputError, MachineError, ReproError, Stopped
from repro.runs.jobs import Outcome, Work, check_jobs
from repro.runs.refusals import known
from repro.runs.run import runs_root
from repro.stops import STOPS

HERE = "local"  # the address of a cluster of this machine alone, for the duration of the command
PATIENCE = 10  # seconds that a cluster has to answer
DRIVERS = 3  # started one after the other if one dies before the work is done

Tasks = list[tuple[Any, ...]]
Ended = tuple[int, Outcome]
"""The index of a task among those handed out, and its outcome."""


class _NotStarted(Exception):
    """Ray gave up while it started a cluster here."""


class Share(NamedTuple):
    """The part of a machine for one piece of work."""

    num_cpus: int
    num_gpus: float


def share_of(machines: list[tuple[int, int]], jobs: int) -> Share:
    """Divide machines evenly by `jobs` pieces of work at a time.

    Where some machines have GPUs, all work goes to those.

    Args:
        machines: processors and GPUs of each; every piece gets what the smallest machine can give.
        jobs: pieces of work at a time on each machine.

    >>> share_of([(16, 4), (16, 4), (64, 0)], jobs=8)
    Share(num_cpus=2, num_gpus=0.5)
    """
    machines = [machine for machine in machines if machine[1]] or machines
    cpus, gpus = min(cpus for cpus, _ in machines), min(gpus for _, gpus in machines)
    return Share(max(1, cpus // jobs), 1 / ceil(jobs / gpus) if gpus else 0)


def run_all_on_cluster(
    address: str, tasks: Tasks, work: Work, jobs: int, ended: Callable[[int, int, Outcome], None]
) -> list[Outcome]:
    """Do the same work for many tasks: `repro.runs.jobs.run_all` for several machines or GPUs.

    A task that fails does not stop the others. If a machine is lost, its tasks start again on
    another. A stop request (Ctrl-C, SIGTERM) reaches every worker: each saves and ends. A second
    one ends them at once.

    Args:
        address: of a running cluster, such as `auto` or `ray://head:10001`, or `local`.
        tasks: the arguments of each.
        work: a function of a module, such as `train_and_evaluate`.
        jobs: pieces of work at a time on each machine; they share its processors and GPUs.
        ended: called as each ends, with how many have ended, how many there are, and its outcome.

    Returns:
        For every task what `work` returned, or the error that ended it.

    Raises:
        InputError: `jobs` is out of range, or no cluster answers.
        MachineError: Ray is not installed, or workers or Ray itself died again and again.
        Stopped: a stop was asked for.
    """
    check_jobs(jobs)
    if find_spec("ray") is None:
        raise MachineError("--cluster", "Ray is not installed", "pip install -e '.[cluster]'")
    outcomes: dict[int, Outcome] = {}
    for _ in range(DRIVERS):
        left = [index for index in range(len(tasks)) if index not in outcomes]
        with contextlib.closing(
            _outcomes_of_driver(address, [tasks[index] for index in left], work, jobs)
        ) as driven:
            for place, outcome in driven:
                outcomes[left[place]] = outcome
                ended(len(outcomes), len(tasks), outcome)
        if len(outcomes) == len(tasks):
            return [outcomes[index] for index in range(len(tasks))]
    fix = "read Ray's logs, by default in /tmp/ray/session_latest/logs; "
    fix += "the same command resumes the runs"
    raise MachineError("--cluster", f"Ray ended {DRIVERS} times before the work", fix)


def _outcomes_of_driver(
    address: str, tasks: Tasks, work: Work, jobs: int
) -> Generator[Ended, None, None]:
    """Yield each outcome on the cluster as it ends.

    The driver is a separate process, because Ray ends the whole process, without an exception, if
    a part of Ray is missing. All that is seen then is that fewer outcomes were yielded. A driver
    that is asked to stop and dies of it has stopped.
    """
    context = get_context("spawn")
    inbox, outbox = context.Pipe(duplex=False)
    driver = context.Process(target=_drive, args=(outbox, address, tasks, work, jobs))
    resource_tracker.ensure_running()  # it lifts any block of signals, so it starts before the next
    signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)  # in the driver, too, until it handles them
    driver.start()
    outbox.close()

    def pass_on(number: int, at_once: bool) -> None:
        assert driver.pid is not None  # it has started
        # Ray ends the workers of a driver that is gone, and a cluster that it began
        os.kill(driver.pid, signal.SIGKILL if at_once else number)

    with stops.noted(pass_on):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
        try:
            while True:
                ended = inbox.recv()
                if isinstance(ended, Exception):
                    raise ended
                yield ended
        except EOFError:
            stops.raise_if_stopping()
        except BaseException:  # the caller's, too
            driver.terminate()  # workers save and end
            raise
        finally:
            driver.join()


def _drive(outbox: Connection, address: str, tasks: Tasks, work: Work, jobs: int) -> None:
    """Be a driver of Ray: send each outcome, and the error that ended everything."""
    stop_requests: list[int] = []
    with contextlib.suppress(BrokenPipeError):  # nobody is left to be told
        try:
            # again: Ray set its own
            with (
                _on_stop(stop_requests.append),
                _connection(address) as ray,
                _on_stop(stop_requests.append),
            ):
                _hand_out(ray, tasks, work, jobs, stop_requests, outbox)
        # only the reason, on standard error, as when Ray ends the process
        except _NotStarted as error:
            sys.exit(f"Ray: {error.__cause__}")
        except SystemExit:  # Ray's answer to SIGTERM while it starts
            outbox.send(Stopped(128 + signal.SIGTERM, 0))
        except Exception as error:
            error.add_note(traceback.format_exc())
            outbox.send(error)


def _hand_out(
    ray: Any, tasks: Tasks, work: Work, jobs: int, stop_requests: list[int], outbox: Connection
) -> None:
    """Let the cluster work until all tasks have ended or a stop is asked for."""
    share = share_of(_machines(ray), jobs)
    piece = ray.remote(**share._asdict())(do_piece)
    folders, parent = folders_here(), parent_process()
    assert parent is not None  # this is the driver
    pending = {
        piece.remote(work, task, share.num_cpus, folders): place for place, task in enumerate(tasks)
    }
    try:
        while pending:
            done, _ = ray.wait(list(pending), timeout=1)
            # Ray ends the process if what has just ended is canceled
            places = {ref: pending.pop(ref) for ref in done}
            if not parent.is_alive():
                stop_requests.append(signal.SIGTERM)
            if stop_requests:
                raise Stopped(128 + stop_requests[0], 0)
            for ref, place in places.items():
                outbox.send((place, _outcome_of(ray, ref)))
            if pending and not _has_machines(ray):
                fix = "the same command resumes the runs, once those still in training have ended"
                raise MachineError("--cluster", "all its machines are lost", fix)
    except BaseException:
        for ref in pending:  # waiting tasks never begin; running ones get Ctrl-C, save and end
            ray.cancel(ref)
        while (
            pending
            and _has_machines(ray)
            and ray.wait(list(pending), num_returns=len(pending), timeout=1)[1]
        ):
            pass
        raise


@contextlib.contextmanager
def _connection(address: str) -> Iterator[Any]:
    """Be connected to a cluster while the block lasts."""
    import ray

    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent to anybody
    logging.getLogger("ray").setLevel(logging.ERROR)  # no notices between the lines of a command
    if address == HERE:
        _start_here(ray)
    else:
        _connect(ray, address)
    try:
        yield ray
    finally:
        ray.shutdown()


def _start_here(ray: Any) -> None:
    """Start a cluster on this machine."""
    try:
        ray.init(include_dashboard=False, log_to_driver=False, configure_logging=False)
    except Exception as error:  # Ray's own has no name; it gives up after 30 seconds
        raise _NotStarted from error


def _connect(ray: Any, address: str) -> None:
    """Connect to a running cluster."""
    try:
        host, _, port = address.rpartition("/")[2].rpartition(":")
        if host:
            # Ray's own client would try for minutes
            socket.create_connection((host, int(port)), PATIENCE).close()
        ray.init(address, log_to_driver=False, configure_logging=False)
    except (OSError, ValueError) as error:
        fix = "`ray start --head` starts one (set RAY_AUTH_MODE=token if it asks for a token); "
        fix += "or use local"
        raise InputError("--cluster", f"no cluster answers at '{address}'", fix) from error


def _has_machines(ray: Any) -> bool:
    """Return whether a machine is left; Ray would wait for others forever."""
    return any(node["Alive"] for node in ray.nodes())


def _machines(ray: Any) -> list[tuple[int, int]]:
    """Return processors and GPUs of every machine that takes work."""
    given = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    found = [
        (int(resources["CPU"]), int(resources.get("GPU", 0)))
        for resources in given
        if resources.get("CPU", 0) >= 1
    ]
    if not found:
        raise InputError(
            "--cluster", "no machine there takes work", "add one: `ray start --address=HEAD:PORT`"
        )
    return found


def folders_here() -> dict[str, str]:
    """Return the folders of runs, corpora and relative names, as environment variables.

    A worker of a running cluster has those of the cluster's start.
    """
    found = {"REPRO_RUNS": str(runs_root()), "REPRO_DATA": os.environ.get("REPRO_DATA", "")}
    return {name: str(Path(folder).resolve()) for name, folder in found.items() if folder} | {
        "PWD": os.getcwd()
    }


def do_piece(work: Work, task: tuple[Any, ...], threads: int, folders: dict[str, str]) -> Outcome:
    """Do one piece of work in a worker of the cluster."""

    os.environ.update(folders)
    # a machine that lacks the folder can do what needs nothing there
    with contextlib.suppress(OSError):
        os.chdir(folders["PWD"])
    torch.set_num_threads(threads)
    try:
        return work(*task)
    except Stopped:
        raise
    except Exception as error:
        if isinstance(error := known(error), ReproError):
            return error
        raise error


def _outcome_of(ray: Any, done: Any) -> Outcome:
    """Return the outcome of a piece of work; an error of the program itself is raised as it is."""
    try:
        return ray.get(done)
    except ray.exceptions.RayTaskError as error:
        if not isinstance(error.cause, ray.exceptions.RayError):
            raise error.cause from error
        what = f"a worker could not begin: {str(error.cause).split(chr(10))[0]}"
        raise MachineError(
            "--cluster", what, "install this package on every machine, in the same version"
        ) from error
    except ray.exceptions.RayError as error:
        fix = "use fewer jobs if memory ran out; the same command goes on where they were"
        raise MachineError("--cluster", "workers died again and again", fix) from error


@contextlib.contextmanager
def _on_stop(do: Callable[[int], object]) -> Iterator[None]:
    """Give the signals that ask for the end to a function, which must not raise within Ray."""
    before = {number: signal.signal(number, lambda number, _: do(number)) for number in STOPS}
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
