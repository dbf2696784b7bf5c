"""Run notebooks from fresh kernels, one after the other, and print how much memory each kernel had at most.

    python tests/notebook_memory.py [notebook ...]      default: every notebook and every tutorial's solution

Peak resident memory is what Linux calls VmHWM. The exit status is 1 if a notebook fails or takes more than `LIMIT`.
Exercises are not run by default: they hold the same code as their solutions, but for the gaps.
"""

import sys
from pathlib import Path
from typing import NamedTuple

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 1200  # MB: a free Binder has 2 GB for server, browser session and kernel
TIMEOUT = 3600  # seconds a cell


class Peak(NamedTuple):
    """The most memory of a kernel in MB, the cell that added most to it, and what went wrong, if anything did."""

    megabytes: int
    cell: int
    failure: str


def resident_peak(process: int) -> int:
    """Return the peak resident memory of a process in MB."""
    status = Path(f"/proc/{process}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) // 1024


def measure(path: Path) -> Peak:
    """Run a notebook in its own folder and return its peak; what it shows is not saved."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=TIMEOUT, resources={"metadata": {"path": str(path.parent)}})
    peak, most, largest, failure = 0, 0, 0, ""
    with client.setup_kernel():
        process = client.km.provisioner.pid
        for number, cell in enumerate(notebook.cells):
            try:
                client.execute_cell(cell, number)
            except CellExecutionError as error:
                failure = f"cell {number}: {error.ename}"
                break
            before, peak = peak, resident_peak(process)
            if number and peak - before > most:
                most, largest = peak - before, number
    return Peak(peak, largest, failure)


def main(paths: list[Path]) -> int:
    """Print a line for each notebook and return the exit status."""
    failed = False
    print(f"{'notebook':<45} {'peak, MB':>8}  most added by")
    for path in paths:
        peak = measure(path)
        wrong = peak.failure or (f"more than {LIMIT} MB" if peak.megabytes > LIMIT else "")
        failed |= bool(wrong)
        name = str(path.resolve().relative_to(ROOT)) if path.resolve().is_relative_to(ROOT) else str(path)
        print(f"{name:<45} {peak.megabytes:>8}  cell {peak.cell}" + (f"  FAILED: {wrong}" if wrong else ""), flush=True)
    return failed


if __name__ == "__main__":
    every = [*sorted(ROOT.glob("notebooks/*.ipynb")), *sorted(ROOT.glob("tutorials/*/solution.ipynb"))]
    sys.exit(main([Path(argument) for argument in sys.argv[1:]] or every))
