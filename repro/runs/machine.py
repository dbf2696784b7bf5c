"""Choose the device, the threads and the use of memory of this process."""

import contextlib
import ctypes
import sys
from collections.abc import Iterator

import torch

from repro.errors import InputError, MachineError, check_kind
from repro.reading import exists
from repro.runs.run import Run


def keep_freed_memory() -> None:
    """Let the C library keep freed memory for the next tensors, for the life of the process.

    Otherwise the system clears every page again, which takes a tenth of the time of training, and
    of search.
    """
    m_trim_threshold, m_mmap_threshold, one_gigabyte = -1, -3, 1 << 30
    with contextlib.suppress(OSError, AttributeError):  # not glibc
        libc = ctypes.CDLL(None)
        libc.mallopt(m_mmap_threshold, one_gigabyte)
        libc.mallopt(m_trim_threshold, one_gigabyte)


def find_device(name: str | None) -> torch.device:
    """Return the device of that name, after computing something on it; default: a GPU if any.

    Raises:
        InputError: there is no such kind of device.
        MachineError: this machine has none, or it does not work.
    """
    if name is None:
        name = "cuda" if torch.cuda.is_available() else "cpu"
    # torch also takes a number, as the GPU of that number
    check_kind("device", name, "use 'cpu', 'cuda', or leave it out", str, torch.device)
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise InputError(
            "--device", f"unknown device '{name}'", "use cpu, cuda, or leave it out"
        ) from error
    try:
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise MachineError(
            "--device", f"'{name}' does not work here ({reason})", "use cpu, or leave it out"
        ) from error
    return device


def warn_of_emulated_precision(run: Run, device: torch.device) -> None:
    """Say on standard error that bf16 slows training on x86 without AVX-512, which emulates it."""
    capability = torch.backends.cpu.get_cpu_capability()
    if device.type == "cpu" and run.config.train.precision == "bf16" and capability == "AVX2":
        what = "this processor (AVX2) has no instructions for bf16 and emulates it; "
        what += "train.precision=fp32 is many times faster here"
        print(f"{run.path}: {what}, and another run", file=sys.stderr)


@contextlib.contextmanager
def threads_of(run: Run) -> Iterator[None]:
    """Use as many threads as a run began with: with others, sums round differently."""
    before = torch.get_num_threads()
    if exists(run.provenance_path):
        torch.set_num_threads(run.provenance()["threads"])
    try:
        yield
    finally:
        torch.set_num_threads(before)
