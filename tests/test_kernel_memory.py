"""The plugin that measures the memory of notebooks."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def run_notebook(folder: Path, *cells: str, options: tuple[str, ...] = ()) -> tuple[int, str]:
    """Run a notebook of these cells as CI does; return the exit status and what was printed."""
    empty = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    noted = [empty | {"id": f"c{place}", "source": cell} for place, cell in enumerate(cells)]
    notebook = {"cells": noted, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "one.ipynb").write_text(json.dumps(notebook))
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.kernel_memory", "--nbval-lax"]
    done = subprocess.run(
        [*command, *options, "one.ipynb"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peaks are read from /proc")
@pytest.mark.parametrize("options", [(), ("-n", "1")], ids=["here", "in a worker"])
def test_the_cell_that_takes_too_much_fails_even_if_it_gives_it_back(tmp_path, options):
    greedy = (
        "block = bytearray(1_300_000_000); block[::4096] = b'x' * len(block[::4096]); del block"
    )
    code, printed = run_notebook(tmp_path, *"123456789", greedy, "2", options=options)
    assert code == 1 and "1 failed, 10 passed" in printed
    (peak, rise) = re.findall(r"^one.ipynb +(\d+)   most added: (\d+) in cell 9$", printed, re.M)[0]
    assert 1_300 < int(peak) < 1_700 and 1_100 < int(rise) < 1_400


def test_a_small_notebook_passes_and_has_its_line(tmp_path):
    code, printed = run_notebook(tmp_path, "1", "2")
    assert code == 0 and "2 passed" in printed
    assert re.search(r"^one.ipynb +\d+ ", printed, re.M) or not Path("/proc/self/status").exists()
