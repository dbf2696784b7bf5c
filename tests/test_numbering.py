"""Layers and heads have their numbers from one place."""

import re
from pathlib import Path

from repro.core.numbering import FIRST, head_name, head_number, layer_name

PACKAGE = Path(__file__).resolve().parents[1] / "repro"
WRITTEN = re.compile(r"(layer|head) \{|\{(layer|i)\}\.\{(head|j)\}|L\{layer\}")
OF_ARGUMENTS = {  # messages that name an argument as it was given, and keys for JavaScript
    "analysis/ablation.py",
    "analysis/weights.py",
    "core/attention/spec.py",
    "page/stored.py",
}
COUNTED_ALREADY = {  # numbers, not indices: records of masks count heads from 1
    "papers/cui2019/experiments.py",  # by enumerate(..., start=FIRST)
    "papers/figures.py",
    "papers/front.py",
    "papers/raganato2020/experiments.py",
    "papers/suites.py",
    "papers/tables.py",
    "plots/headlines.py",  # labels of rows
    "verify/plausible.py",
}


def test_names_count_from_the_first():
    assert FIRST == 1
    assert layer_name(2) == "layer 3"
    assert head_name(2, 0) == "layer 3, head 1"
    assert head_number(2, 0) == "3.1"


def test_no_other_file_numbers_a_layer_or_a_head_by_itself():
    found = {
        str(path.relative_to(PACKAGE)): line.strip()
        for path in PACKAGE.rglob("*.py")
        if path.name != "numbering.py"
        for line in path.read_text(encoding="utf-8").splitlines()
        if WRITTEN.search(line) and "FIRST" not in line
    }
    allowed = OF_ARGUMENTS | COUNTED_ALREADY
    assert set(found) <= allowed, {file: found[file] for file in set(found) - allowed}
