"""A pytest plugin that measures the kernels nbval runs notebooks in.

    python -m pytest -p tests.kernel_memory --nbval notebooks

At the end it prints the peak memory of every notebook. The cell that takes its kernel above `LIMIT`
fails. Where there is no `/proc`, as on macOS, nothing is measured.
"""

import sys
from collections import defaultdict
from itertools import chain, pairwise
from pathlib import Path

import pytest

# nbval imports jsonschema, which would build a grammar of IRIs to check some: two seconds in every
# process, and a notebook has none.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]

LIMIT = 1200  # MB: a free Binder has 2 GB for the server, the browser's session and the kernel
PEAK = "peak memory in MB"


def resident_peak(process: int) -> int | None:
    """Return the peak resident memory of a process in MB (`VmHWM`), or None if it is unknown."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return None
    peaks = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(peaks[0]) * 1024 // 1_000_000 if peaks else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Note the peak of the kernel after each cell; fail the first cell that passes the limit."""
    report = yield
    kernel = getattr(item.parent, "kernel", None)
    peak = resident_peak(kernel.km.provisioner.pid) if call.when == "call" and kernel else None
    if peak is not None:
        earlier = getattr(item.parent, "peak_memory", 0)
        item.parent.peak_memory = peak
        report.user_properties.append((PEAK, peak))
        if earlier <= LIMIT < peak and report.passed:
            report.outcome = "failed"
            report.longrepr = (
                f"{item.nodeid}: the kernel took {peak} MB, and {earlier} MB until this cell; "
                f"the limit is {LIMIT} MB. Fix: hold less at a time"
            )
    return report


def pytest_terminal_summary(terminalreporter):
    """Print for each notebook its peak and the cell that added most after the first."""
    peaks = defaultdict(list)
    for report in chain(*terminalreporter.stats.values()):
        for name, peak in getattr(report, "user_properties", ()):
            if name == PEAK:
                notebook, _, cell = report.nodeid.partition("::Cell ")
                peaks[notebook].append((peak, int(cell)))  # in the order of the cells when sorted
    if peaks:
        terminalreporter.section(f"peak memory of the kernels in MB, at most {LIMIT}")
    for notebook, measured in sorted(peaks.items()):
        measured.sort()
        rises = [(after - before, cell) for (before, _), (after, cell) in pairwise(measured)]
        rise, cell = max(rises, default=(0, measured[0][1]), key=lambda one: one[0])
        terminalreporter.line(
            f"{notebook:<45} {measured[-1][0]:>6}   most added: {rise} in cell {cell}"
        )
