"""Read the energy counters of a machine.

They are Linux's powercap for processor and memory (RAPL), and NVML for a GPU. A counter belongs to
its whole device: it includes other work at the same time and the device's idle power. Of two runs
at a time, each counts both. Nothing is estimated where there is no counter, or where it may not be
read.
"""

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pynvml
import torch

POWERCAP = Path("/sys/class/powercap")

Joules = dict[str, float]
"""Joules by the name of their counter."""


class Counter(NamedTuple):
    """An energy counter: how to read it, its unit in joules, and its range, after which it is 0."""

    name: str
    read: Callable[[], int]
    unit: float
    wraps_after: int | None = None


class EnergyMeter:
    """Measure the energy spent since the counters were last read.

    Args:
        device: where the work is done; a GPU's counter is read for work on that GPU only.
    """

    def __init__(self, device: torch.device) -> None:
        self._counters = [
            *_processor_counters(),
            *(_gpu_counters(device) if device.type == "cuda" else ()),
        ]
        self._last = self._read()

    def spent(self) -> Joules:
        """Return the joules since the last call, such as `{"package-0": 312.5}`.

        Counters that cannot be read are absent.
        """
        last, self._last = self._last, self._read()
        found = {}
        for counter in self._counters:
            if counter.name in last and counter.name in self._last:
                units = self._last[counter.name] - last[counter.name]
                found[counter.name] = (
                    units % counter.wraps_after if counter.wraps_after else units
                ) * counter.unit
        return found

    def _read(self) -> dict[str, int]:
        """Return the counters by name; those that cannot be read are left out."""
        found = {}
        for counter in self._counters:
            # training continues without it
            with contextlib.suppress(OSError, ValueError, pynvml.NVMLError):
                found[counter.name] = counter.read()
        return found


def add_joules(total: Joules | None, spent: Joules) -> Joules | None:
    """Return the sum of a run's joules by counter, or None if it is not known.

    It is not known once a part was not measured, or was measured by other counters.

    >>> add_joules({}, {"package-0": 2.0})
    {'package-0': 2.0}
    >>> add_joules({"package-0": 2.0}, {}) is None
    True
    """
    if total is None or not spent or (total and total.keys() != spent.keys()):
        return None
    return {name: total.get(name, 0.0) + joules for name, joules in spent.items()}


def _processor_counters() -> Iterator[Counter]:
    """Yield the counters of every processor package, and of memory where it has its own.

    AMD's have the same names.

    The files are described in https://www.kernel.org/doc/html/latest/power/powercap/powercap.html;
    many systems let only root read them.
    """
    for zone in sorted(POWERCAP.glob("intel-rapl:*")):
        with contextlib.suppress(OSError, ValueError):
            name = (zone / "name").read_text().strip()
            if name == "dram":
                package = POWERCAP / zone.name.rpartition(":")[0] / "name"
                name = f"dram of {package.read_text().strip()}"
            if name.startswith(("package", "dram")):
                wraps_after = _number_in(zone / "max_energy_range_uj")
                yield Counter(name, partial(_number_in, zone / "energy_uj"), 1e-6, wraps_after)


def _number_in(file: Path) -> int:
    """Return the number in a file of the kernel, such as an energy counter."""
    return int(file.read_text())


def _gpu_counters(device: torch.device) -> Iterator[Counter]:
    """Yield the counter of a GPU; GPUs since Volta have one."""
    with contextlib.suppress(pynvml.NVMLError):
        pynvml.nvmlInit()
        properties = torch.cuda.get_device_properties(device)
        handle = pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{properties.uuid}")
        yield Counter(
            properties.name, lambda: pynvml.nvmlDeviceGetTotalEnergyConsumption(handle), 1e-3
        )
