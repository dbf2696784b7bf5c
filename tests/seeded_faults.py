"""Put ten faults into a copy of the package, one by one, and report which tests turn red; a fault that no test sees is an error.

These are the mistakes that re-implementations of the five papers make. Run it as `python tests/seeded_faults.py`.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]


class Fault(NamedTuple):
    """A line of a file below `repro/attention`, what a mistake would make of it, and the tests that guard it."""

    name: str
    file: str
    line: str
    mistake: str
    tests: str


FAULTS = [
    Fault(
        "centre off by one",
        "gaussian.py",
        "means = self.gamma * positions.query + centers[:, None]",
        "means = self.gamma * positions.query + centers[:, None] + 1",
        "test_gaussian.py",
    ),
    Fault(
        "renormalised density",
        "gaussian.py",
        "return weights / weights.sum(-1, keepdim=True).clamp_min(smallest) if self.renormalize else weights",
        "return weights / weights.sum(-1, keepdim=True).clamp_min(smallest)",
        "test_gaussian.py",
    ),
    Fault(
        "mask before density",
        "gaussian.py",
        "        weights = weights.masked_fill(blocked, 0.0)\n",
        "        weights = gaussian_density((keys - means).masked_fill(blocked, 0.0), self.std).to(query.dtype)\n",
        "test_gaussian.py",
    ),
    Fault("transposed pattern", "patterns.py", "return j == i + offset", "return i == j + offset", "test_fixed.py"),
    Fault("missing diagonal in MMA", "patterns.py", "return j >= i", "return j > i", "test_mixed.py"),
    Fault("wrong RAN axis", "recurrent.py", 'if self.axis == "query" else', 'if self.axis == "key" else', "test_recurrent.py"),
    Fault(
        "future leak in the decoder",
        "masks.py",
        "key_positions > query_positions[:, None]",
        "key_positions > query_positions[:, None] + 1",
        "test_transformer.py",
    ),
    Fault("pad value not zeroed", "masks.py", "(ids == pad_id)[:, None, None, :]", "(ids < 0)[:, None, None, :]", "test_transformer.py"),
    Fault(
        "gate after the output projection",
        "multihead.py",
        "return self.out_proj(heads.transpose(1, 2).flatten(2))",
        "return self.out_proj(heads.transpose(1, 2).flatten(2)) * (1 if self.gate is None else self.gate().mean())",
        "test_gates.py",
    ),
    Fault(
        "word pattern by token",
        "fixed.py",
        'words = positions.words if self.options["unit"] == "word" else',
        "words =",
        "test_fixed.py",
    ),
]
GATE = "            if factors is not None:\n                heads = heads * factors.to(heads.dtype)[:, None, None]\n"
"""The right place of the gate, which the fault that moves it takes away."""


def run_tests(folder: Path, files: set[str]) -> tuple[int, list[str]]:
    """Run test files of a copy of the project; return the exit code and the names of the tests that failed."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *(f"tests/{file}" for file in sorted(files))]
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, re.findall(r"^(?:FAILED|ERROR) tests/\S+::(\S+)", done.stdout, re.MULTILINE)


def put_in(fault: Fault, folder: Path) -> None:
    """Replace the line in the copy, and leave nothing else changed.

    Raises:
        SystemExit: the line is not there exactly once: the fault must be written anew.
    """
    path = folder / "repro" / "attention" / fault.file
    text = (ROOT / "repro" / "attention" / fault.file).read_text()
    if text.count(fault.line) != 1:
        sys.exit(f"{fault.name}: {fault.file} does not hold this line once: {fault.line.strip()}. Fix: adapt tests/seeded_faults.py")
    text = text.replace(fault.line, fault.mistake)
    if fault.file == "multihead.py":
        text = text.replace(GATE, "            pass\n")
    path.write_text(text)


def main() -> None:
    """Check that the tests are green without a fault, then that each fault turns some red."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("repro", "tests"):
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", folder)
        code, failed = run_tests(folder, {fault.tests for fault in FAULTS})
        if code:
            sys.exit(f"the tests are not green without a fault: {', '.join(failed)}")
        unseen = []
        for fault in FAULTS:
            put_in(fault, folder)
            _, failed = run_tests(folder, {fault.tests})
            shutil.copy(ROOT / "repro" / "attention" / fault.file, folder / "repro" / "attention" / fault.file)
            print(f"{fault.name}: {f'{len(failed)} red, first {failed[0]}' if failed else 'NOT SEEN'}", flush=True)
            unseen += [] if failed else [fault.name]
    if unseen:
        sys.exit(f"no test sees: {', '.join(unseen)}")


if __name__ == "__main__":
    main()
