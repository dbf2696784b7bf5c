"""Put ten faults into a copy of the package, one by one, and report which tests turn red; a fault
that no test sees is an error.

These are the mistakes that re-implementations of the five papers make. Then twelve edits of the
kind that people make between two runs, four without and eight with another result, are held against
`results/behaviour.json`, which must tell them apart. Run it as `python tests/seeded_faults.py`.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import pytest

# for the processes that are forked from this one, which each take `repro` anew
import torch  # noqa: F401

ROOT = Path(__file__).resolve().parents[1]


class Fault(NamedTuple):
    """A line of a file below `repro/core/attention`, what a mistake would make of it, and the tests
    that guard it."""

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
        "gaussian_variants.py",
        "        if not self.renormalize:\n            return weights\n",
        "",
        "test_gaussian.py",
    ),
    Fault(
        "mask before density",
        "gaussian.py",
        "return weights.to(query.dtype).masked_fill(blocked, 0.0)",
        "means = self.means(positions)[..., None]\n"
        "        distances = (keys - means).masked_fill(blocked, 0.0)\n"
        "        return gaussian_density(distances, self.std).to(query.dtype)",
        "test_gaussian.py",
    ),
    Fault(
        "transposed pattern",
        "patterns.py",
        "return j == i + offset",
        "return i == j + offset",
        "test_fixed.py",
    ),
    Fault(
        "missing diagonal in MMA", "patterns.py", "return j >= i", "return j > i", "test_mixed.py"
    ),
    Fault(
        "wrong RAN axis",
        "recurrent_variants.py",
        'if self.axis == "query" else',
        'if self.axis == "key" else',
        "test_recurrent.py",
    ),
    Fault(
        "future leak in the decoder",
        "masks.py",
        "key_positions > query_positions[:, None]",
        "key_positions > query_positions[:, None] + 1",
        "test_transformer.py",
    ),
    Fault(
        "pad value not zeroed",
        "masks.py",
        "(ids == pad_id)[:, None, None, :]",
        "(ids < 0)[:, None, None, :]",
        "test_transformer.py",
    ),
    Fault(
        "gate after the output projection",
        "multihead.py",
        "return self.out_proj(heads.transpose(1, 2).flatten(2))",
        (
            "return self.out_proj(heads.transpose(1, 2).flatten(2)) * (1 if self.gate is None "
            "else self.gate().mean())"
        ),
        "test_gates.py",
    ),
    Fault(
        "word pattern by token",
        "fixed.py",
        'words = positions.words if self.unit == "word" else',
        "words =",
        "test_fixed.py",
    ),
]


class Edit(NamedTuple):
    """Lines of a file below `repro`, what an edit makes of them, and whether results change."""

    name: str
    file: str
    line: str
    edited: str
    changes: bool


EDITS = [
    Edit(
        "annotated",
        "core/attention/dot_product.py",
        "dropout: float = 0.0,",
        "dropout: int | float = 0.0,",
        False,
    ),
    Edit("local renamed", "core/attention/masks.py", "lowest", "smallest", False),
    Edit(
        "unused constant",
        "core/attention/masks.py",
        "import torch\n",
        "import torch\n\nUNUSED = 1\n",
        False,
    ),
    Edit(
        "message reworded",
        "core/attention/gaussian_variants.py",
        "gamma and floor belong to",
        "gamma and floor are options of",
        False,
    ),
    Edit(
        "bias in the values",
        "core/attention/multihead.py",
        "self.value_proj = nn.Linear(embed_dim, width, bias=False)",
        "self.value_proj = nn.Linear(embed_dim, width)",
        True,
    ),
    Edit(
        "embeddings not scaled",
        "core/transformer.py",
        "embedding(ids) * math.sqrt(self.config.embed_dim)",
        "embedding(ids)",
        True,
    ),
    Edit(
        "feed-forward without its residual",
        "core/layers.py",
        "return x if place is None else place.leave(x, place.sublayer(place.enter(x)))",
        "return x if place is None else place.norm(place.sublayer(place.enter(x)))",
        True,
    ),
    Edit(
        "label smoothing halved",
        "core/loss.py",
        "vocab, device = weight",
        "smoothing = smoothing / 2\n        vocab, device = weight",
        True,
    ),
    Edit(
        "embeddings drawn twice as wide",
        "core/transformer.py",
        "std=self.config.embed_dim**-0.5",
        "std=2 * self.config.embed_dim**-0.5",
        True,
    ),
    Edit(
        "source end mark dropped",
        "core/batches.py",
        "return [*ids, EOS_ID] if end_mark else list(ids)",
        "return list(ids)",
        True,
    ),
    Edit(
        "future leak by one",
        "core/attention/masks.py",
        "> query_positions[:, None]",
        "> query_positions[:, None] + 1",
        True,
    ),
    Edit(
        "centre off by one",
        "core/attention/gaussian.py",
        "positions.query + centers[:, None]",
        "positions.query + centers[:, None] + 1",
        True,
    ),
]
"""What a digest of the text of variants told apart in 2 of 12 cases."""

GATE = "            heads = heads * factors.to(heads.dtype)[:, None, None]\n"
"""The right place of the gate, which the fault that moves it takes away."""


def in_a_process(work: Callable[..., Any], *arguments: Any) -> Any:
    """Return what work returns in a process of its own, which has torch already: to import it takes
    longer than most of the work."""
    with get_context("fork").Pool(1) as pool:
        return pool.apply(work, arguments)


def enter(folder: Path) -> None:
    """Take `repro` and the tests from a copy of the project, and be silent."""
    os.chdir(folder)
    sys.path[0] = str(folder)
    sys.dont_write_bytecode = True
    for stream in (sys.stdout, sys.stderr):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class Failures:
    """A plugin of pytest that notes which tests failed."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that failed in any of its phases."""
        if report.failed:
            self.names.append(report.nodeid.partition("::")[2])


def run_tests(folder: Path, files: set[str]) -> tuple[int, list[str]]:
    """Run test files of a copy of the project; return the exit code and the names of the tests that
    failed."""
    enter(folder)
    failures = Failures()
    command = [
        "-p",
        "no:cacheprovider",
        "-p",
        "no:nbval",
        "--tb=no",
        *(f"tests/{file}" for file in sorted(files)),
    ]
    return int(pytest.main(command, plugins=[failures])), failures.names


def seems_changed(folder: Path) -> str:
    """Return CHANGED or SAME: what the stored numbers of two systems say of a copy, or what went
    wrong."""
    enter(folder)
    try:
        from repro.verify.computed import _load

        rows = {row.name: row for row in _load(Path("results"))}
        return "CHANGED" if any(rows[name].changes() for name in ("base", "hc-all")) else "SAME"
    except Exception as error:  # whatever an edit breaks
        return repr(error)


def tell_apart(folder: Path) -> list[str]:
    """Make each edit in the copy, and return those that the stored numbers take for something
    else."""
    wrong = []
    for edit in EDITS:
        path = folder / "repro" / edit.file
        text = (ROOT / "repro" / edit.file).read_text()
        if edit.line not in text:
            sys.exit(
                f"{edit.name}: {edit.file} does not hold: {edit.line}. Fix: adapt "
                "tests/seeded_faults.py"
            )
        path.write_text(text.replace(edit.line, edit.edited))
        found, wanted = in_a_process(seems_changed, folder), "CHANGED" if edit.changes else "SAME"
        shutil.copy(ROOT / "repro" / edit.file, path)
        print(f"{edit.name}: {found}", flush=True)
        wrong += [] if found == wanted else [edit.name]
    return wrong


def put_in(fault: Fault, folder: Path) -> None:
    """Replace the line in the copy, and leave nothing else changed.

    Raises:
        SystemExit: the line is not there exactly once: the fault must be written anew.
    """
    path = folder / "repro" / "core" / "attention" / fault.file
    text = (ROOT / "repro" / "core" / "attention" / fault.file).read_text()
    if text.count(fault.line) != 1:
        sys.exit(
            f"{fault.name}: {fault.file} does not hold this line once: {fault.line.strip()}. "
            "Fix: adapt tests/seeded_faults.py"
        )
    text = text.replace(fault.line, fault.mistake)
    if fault.file == "multihead.py":
        text = text.replace(GATE, "            pass\n")
    path.write_text(text)


def main() -> None:
    """Check that the tests are green without a fault, that each fault turns some red, and that each
    edit is known for what it is."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("repro", "tests"):
            shutil.copytree(
                ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__")
            )
        shutil.copy(ROOT / "pyproject.toml", folder)
        code, failed = in_a_process(run_tests, folder, {fault.tests for fault in FAULTS})
        if code:
            sys.exit(f"the tests are not green without a fault: {', '.join(failed)}")
        unseen = []
        for fault in FAULTS:
            put_in(fault, folder)
            _, failed = in_a_process(run_tests, folder, {fault.tests})
            shutil.copy(
                ROOT / "repro" / "core" / "attention" / fault.file,
                folder / "repro" / "core" / "attention" / fault.file,
            )
            print(
                (
                    f"{fault.name}: "
                    f"{f'{len(failed)} red, first {failed[0]}' if failed else 'NOT SEEN'}"
                ),
                flush=True,
            )
            unseen += [] if failed else [fault.name]
        (folder / "results").mkdir()
        shutil.copy(ROOT / "results" / "behaviour.json", folder / "results")
        mistaken = tell_apart(folder)
    if unseen or mistaken:
        sys.exit(
            f"no test sees: {', '.join(unseen) or '-'}; taken for something else: "
            f"{', '.join(mistaken) or '-'}"
        )


if __name__ == "__main__":
    main()
