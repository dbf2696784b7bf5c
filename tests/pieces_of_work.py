"""What workers do in tests of jobs. A worker imports the module of its work, and one with tests
takes much longer than the work."""

import contextlib
import os
import signal
import time
from multiprocessing import parent_process
from pathlib import Path

import torch

from repro.runs import jobs


def threads_here() -> dict[str, int]:
    """Work that tells how many threads a worker has."""
    return {"threads": torch.get_num_threads()}


def trouble(kind: str) -> dict[str, str]:
    """Work that goes well, or not."""
    if kind == "memory":
        raise RuntimeError("CUDA out of memory. Tried to allocate 20 MiB")
    if kind == "bug":
        raise LookupError("nobody expected this")
    if kind == "stop":
        os.kill(parent_process().pid, signal.SIGTERM)
        time.sleep(1)
    return {"kind": kind}


def killed(folder: Path, name: str, times: int) -> dict[str, str]:
    """Work whose worker is killed the first times that it is tried; a file keeps count."""
    tries = folder / name
    tries.write_text(f"{tries.read_text() if tries.exists() else ''}x")
    if len(tries.read_text()) <= times:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"kind": name}


def hard_to_send(kind: str) -> dict[str, str]:
    """Work that fails with an error which no other process can make again."""

    class Own(Exception):
        pass

    raise Own(f"{kind} of a kind")


def endless(folder: Path | str) -> None:
    """Heed no stop, not Ctrl-C either, and have a second once who began this is gone."""
    jobs.GRACE = 1
    (Path(folder) / f"begun.{os.getpid()}").write_text("")
    while True:
        with contextlib.suppress(KeyboardInterrupt):
            time.sleep(0.1)
