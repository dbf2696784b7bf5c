"""The same work on Ray: on every machine of a cluster, and on all GPUs of each; needs the extra `cluster` (https://docs.ray.io).

Every machine must see this package, the runs and the corpora under the same paths, as on a shared disk: a run then goes on from its last
checkpoint wherever its work lands next. Records are written by the machine that the command was given on.
"""

import contextlib
import os
import signal
import socket
from collections.abc import Callable, Iterator
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

from repro.errors import InputError, MachineError, ReproError
from repro.jobs import Outcome, Work
from repro.runs import runs_root

HERE = "local"  # the address of a cluster of this machine alone, which lasts as long as the command
PATIENCE = 10  # seconds that a cluster has to answer


class Share(NamedTuple):
    """What one piece of work gets of its machine."""

    num_cpus: int
    num_gpus: float


def share_of(machines: list[tuple[int, int]], jobs: int) -> Share:
    """Divide machines evenly by `jobs` pieces of work at a time. Where some machines have GPUs, all work goes to those.

    Args:
        machines: processors and GPUs of each; what the smallest can give, every piece gets.
        jobs: pieces of work at a time on each machine.

    >>> share_of([(16, 4), (16, 4), (64, 0)], jobs=8)
    Share(num_cpus=2, num_gpus=0.5)
    """
    machines = [machine for machine in machines if machine[1]] or machines
    cpus, gpus = min(cpus for cpus, _ in machines), min(gpus for _, gpus in machines)
    return Share(max(1, cpus // jobs), 1 / ceil(jobs / gpus) if gpus else 0)


def run_all_on_cluster(
    address: str, tasks: list[tuple[Any, ...]], work: Work, jobs: int, ended: Callable[[int, int, Outcome], None]
) -> list[Outcome]:
    """Do the same work on many things; `repro.jobs.run_all` for more than one machine or GPU.

    One that fails does not stop the others. What was on a machine that is lost is begun again on another. A stop request (Ctrl-C,
    SIGTERM) reaches every worker: each saves and ends.

    Args:
        address: of a running cluster, such as `auto` or `ray://head:10001`, or `local`.
        tasks: the arguments of each.
        work: a function of a module, such as `train_and_evaluate`.
        jobs: pieces of work at a time on each machine; they share its processors and GPUs.
        ended: called as each ends, with how many have ended, how many there are, and its outcome.

    Returns:
        For every task what `work` returned, or the error that ended it.

    Raises:
        InputError: `jobs` is below 1, or no cluster answers.
        MachineError: Ray is not installed, or workers died again and again.
        Stopped: a stop was asked for.
    """
    if jobs < 1:
        raise InputError("--jobs", f"must be at least 1, found {jobs}", "use 1 or more")
    from repro.training import Stopped

    with _cluster(address) as ray:
        share = share_of(_machines(ray), jobs)
        piece = ray.remote(**share._asdict())(_piece)
        folders = _folders()
        pending = {piece.remote(work, task, share.num_cpus, folders): index for index, task in enumerate(tasks)}
        outcomes: dict[int, Outcome] = {}
        with _signals() as stop_requests:
            try:
                while len(outcomes) < len(tasks):
                    done, _ = ray.wait([ref for ref, index in pending.items() if index not in outcomes], timeout=1)
                    if stop_requests:
                        raise Stopped(128 + stop_requests[0], 0)
                    for ref in done:
                        outcomes[pending[ref]] = outcome = _result(ray, ref)
                        ended(len(outcomes), len(tasks), outcome)
            except BaseException:
                for ref in pending:  # those that wait never begin; those that run get Ctrl-C, save and end
                    ray.cancel(ref)
                ray.wait(list(pending), num_returns=len(pending))
                raise
    return [outcomes[index] for index in range(len(tasks))]


@contextlib.contextmanager
def _cluster(address: str) -> Iterator[Any]:
    """Be connected to a cluster while the block lasts."""
    try:
        import ray
    except ImportError as error:
        raise MachineError("--cluster", "Ray is not installed", "pip install -e '.[cluster]'") from error
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to anybody
    where = {"include_dashboard": False} if address == HERE else {"address": address}
    try:
        host, _, port = address.rpartition("/")[2].rpartition(":")
        if host:
            socket.create_connection((host, int(port)), PATIENCE).close()  # Ray by itself asks for minutes
        ray.init(**where, log_to_driver=False, configure_logging=False)
    except (OSError, ValueError) as error:
        raise InputError("--cluster", f"no cluster answers at '{address}'", "`ray start --head` starts one; or use local") from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _machines(ray: Any) -> list[tuple[int, int]]:
    """Return processors and GPUs of every machine that takes work."""
    given = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    found = [(int(resources["CPU"]), int(resources.get("GPU", 0))) for resources in given if resources.get("CPU", 0) >= 1]
    if not found:
        raise InputError("--cluster", "no machine there takes work", "add one: `ray start --address=HEAD:PORT`")
    return found


def _folders() -> dict[str, str]:
    """Return the settings that say where runs and corpora are; a worker of a running cluster has those of its own start."""
    found = {"REPRO_RUNS": str(runs_root()), "REPRO_DATA": os.environ.get("REPRO_DATA", "")}
    return {name: str(Path(folder).resolve()) for name, folder in found.items() if folder}


def _piece(work: Work, task: tuple[Any, ...], threads: int, folders: dict[str, str]) -> Outcome:
    """Do one piece of work in a worker of the cluster."""
    import torch

    os.environ.update(folders)
    torch.set_num_threads(threads)
    try:
        return work(*task)
    except ReproError as error:
        return error


def _result(ray: Any, done: Any) -> Outcome:
    """Return what a piece of work returned; an error of the program itself is raised as it is."""
    try:
        return ray.get(done)
    except ray.exceptions.RayTaskError as error:
        if not isinstance(error.cause, ray.exceptions.RayError):
            raise error.as_instanceof_cause() from error
        what = f"a worker could not begin: {str(error.cause).split(chr(10))[0]}"
        raise MachineError("--cluster", what, "install this package on every machine, in the same version") from error
    except ray.exceptions.RayError as error:
        mend = "use fewer jobs if memory ran out; the same command goes on where they were"
        raise MachineError("--cluster", "workers died again and again", mend) from error


@contextlib.contextmanager
def _signals() -> Iterator[list[int]]:
    """Collect the signals that ask for the end; Ray does not bear an exception from their handlers."""
    found: list[int] = []
    before = {number: signal.signal(number, lambda number, _: found.append(number)) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield found
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
