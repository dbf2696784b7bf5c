"""What workers do in tests of jobs. A worker imports the module of its work, and one with tests takes much longer than the work."""

import os
import signal
import time

import torch


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
        os.kill(os.getppid(), signal.SIGTERM)
        time.sleep(1)
    return {"kind": kind}
