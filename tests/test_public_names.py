"""The public surface: what notebooks, tutorials, pages and benchmarks may import, and nothing
deeper."""

import ast
import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from repro.lazy import attach

ROOT = Path(__file__).resolve().parents[1]
DOORS = ("repro", "repro.core", "repro.analysis", "repro.papers", "repro.plots", "repro.widgets")
LISTED = DOORS[:4]  # their docstrings list every name
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "tutorials").glob("*.md")),
    *sorted((ROOT / "benchmarks").glob("*.md")),
]
SCRIPTS = [
    *sorted((ROOT / "tutorials").glob("*/*.py")),
    *sorted((ROOT / "benchmarks").glob("*.py")),
]
NOTEBOOKS = [
    *sorted((ROOT / "notebooks").glob("*.ipynb")),
    *sorted((ROOT / "tutorials").glob("*/*.ipynb")),
]
READ = [*NOTEBOOKS, *SCRIPTS, *PAGES]


def code_of(path: Path) -> list[ast.Module]:
    """Return the code of a script, of the cells of a notebook, or of the Python blocks of a
    page."""
    text = path.read_text()
    if path.suffix == ".ipynb":
        sources = [
            "".join(cell["source"])
            for cell in json.loads(text)["cells"]
            if cell["cell_type"] == "code"
        ]
    elif path.suffix == ".md":
        sources = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    else:
        sources = [text]
    return [ast.parse(source.strip(" ")) for source in sources if not source.startswith("    ")]


def is_a_file_of_the_package(code: ast.Module) -> bool:
    """Whether a page shows what to write into the package: a variant, which `build` makes."""
    return any(isinstance(node, ast.FunctionDef) and node.name == "build" for node in code.body)


def deep_imports(code: ast.Module) -> list[str]:
    """Return every import and attribute that reaches below the public surface."""
    found = []
    for node in ast.walk(code):
        if (
            isinstance(node, ast.ImportFrom)
            and node.module
            and node.module.split(".")[0] == "repro"
        ):
            public = importlib.import_module(node.module).__all__ if node.module in DOORS else []
            known = {
                *public,
                *(door.rpartition(".")[2] for door in DOORS if node.module == "repro"),
            }
            found += [
                f"from {node.module} import {alias.name}"
                for alias in node.names
                if alias.name not in known
            ]
        elif isinstance(node, ast.Import):
            found += [
                f"import {alias.name}" for alias in node.names if alias.name.startswith("repro.")
            ]
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "repro"
        ):
            if node.attr not in importlib.import_module("repro").__all__:
                found.append(f"repro.{node.attr}")
    return found


@pytest.mark.parametrize("path", READ, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_people_read_imports_public_names_only(path):
    codes = [
        code for code in code_of(path) if path.suffix != ".md" or not is_a_file_of_the_package(code)
    ]
    assert [found for code in codes for found in deep_imports(code)] == []


@pytest.mark.parametrize(
    "source",
    [
        "from repro.core.decoding import Translator",
        "from repro.plots.maps import Matrix",
        "from repro import decoding",
        "import repro.core.decoding",
        "import repro\nrepro.decoding",
    ],
)
def test_a_deep_import_is_found(source):
    assert deep_imports(ast.parse(source))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_cell_is_a_list_of_imports(path):
    for code in code_of(path):
        imports = [node for node in code.body if isinstance(node, ast.Import | ast.ImportFrom)]
        assert sum(node.end_lineno - node.lineno + 1 for node in imports) <= 10, ast.unparse(code)


@pytest.mark.parametrize("name", DOORS)
def test_every_public_name_is_there(name):
    door = importlib.import_module(name)
    assert len(set(door.__all__)) == len(door.__all__)
    for public in door.__all__:
        assert getattr(door, public) is not None
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'nothing'"):
        door.nothing  # noqa: B018


@pytest.mark.parametrize("name", LISTED)
def test_the_docstring_of_a_door_lists_its_names(name):
    door = importlib.import_module(name)
    rows = re.findall(r"^    (?:\w+(?: \w+)? {2,}| +)(\w.*)$", door.__doc__, re.M)
    listed = [public for row in rows for public in re.findall(r"\w+", row)]
    assert sorted(listed) == sorted(door.__all__)
    assert len(door.__doc__.split("\n")) <= 30


def test_nothing_is_loaded_before_it_is_used():
    doors = ", ".join(DOORS[:3])
    checks = f"import sys, {doors}; assert not {{'torch', 'numpy', 'plotly'}} & set(sys.modules)"
    checks += "; import repro.papers; assert not {'scipy.stats', 'sacremoses'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", checks], check=True, cwd=ROOT)


def test_a_package_has_the_names_that_type_checkers_read(tmp_path):
    (tmp_path / "door.py").write_text(
        "if TYPE_CHECKING:\n    from json import dumps as write, decoder\n"
    )
    find, names, listed = attach("door", str(tmp_path / "door.py"))
    assert names() == listed == ["decoder", "write"]
    assert find("write") is json.dumps and find("decoder") is json.decoder
