"""Describe what determines the result of a run besides its configuration."""

import contextlib
import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from repro.runs.provenance_fields import IDENTITY, now

PACKAGES = ("torch", "numpy", "sentencepiece", "sacrebleu", "datasets", "safetensors")


def provenance(device: torch.device, threads: int, data_fingerprint: str) -> dict[str, Any]:
    """Return data, versions, machine, number of threads and commit, which determine a result."""
    return {
        "data_fingerprint": data_fingerprint,
        "python": platform.python_version(),
        "versions": {package: version(package) for package in PACKAGES},
        "device": device.type,
        "threads": threads,
        "processor": describe_processor(device),
        "commit": commit_of(Path(__file__).resolve()),
        "started": now(),
    }


DECISIVE = ("torch", "numpy", "sentencepiece")
"""The packages that determine a run: its sums, the order of its data, its subwords.

Python's minor version counts, too.
"""


def identity_changes(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """List in words the differences between two provenances that prevent a bit-identical resume."""
    pairs = {key: (old[key], new[key]) for key in IDENTITY}
    pairs |= {name: (old["versions"].get(name), new["versions"][name]) for name in DECISIVE}
    pairs["Python"] = _minor_version(old["python"]), _minor_version(new["python"])
    if old["device"] == new["device"]:
        pairs["GPU" if new["device"] == "cuda" else "instructions"] = _rounding(old), _rounding(new)
    return [f"{key} was {was}, is {now}" for key, (was, now) in pairs.items() if was != now]


def _minor_version(python: str) -> str:
    """Return Python's version up to the minor number."""
    return ".".join(python.split(".")[:2])


def _rounding(found: dict[str, Any]) -> str:
    """Return the part of `describe_processor` that determines rounding: a GPU, or instructions."""
    gpu, _, rest = found["processor"].partition(", ")
    return gpu if found["device"] == "cuda" else rest.rpartition(", ")[2]


def describe_processor(device: torch.device) -> str:
    """Return the number and kind of processors, and the instructions that torch uses on them.

    With other instructions, rounding leads to another model. For a GPU: its name, then the
    processor.
    """
    processor = (
        f"{os.cpu_count()} x {_processor_model()}, {torch.backends.cpu.get_cpu_capability()}"
    )
    return (
        f"{torch.cuda.get_device_name(device)}, {processor}" if device.type == "cuda" else processor
    )


def _processor_model() -> str:
    """Return the name of the processor."""
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def commit_of(file: Path) -> str:
    """Return the commit of the repository of a file, or `unknown`; `-dirty` after a change.

    An installed package is in a repository only by chance, and that one says nothing about it.
    """
    git = ["git", "-C", str(file.parent)]
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        subprocess.run(
            [*git, "ls-files", "--error-unmatch", file.name], capture_output=True, check=True
        )
        return subprocess.run(
            [*git, "describe", "--always", "--dirty", "--abbrev=12"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
    return "unknown"
