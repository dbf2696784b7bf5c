"""Imports point one way."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1] / "repro"

LAYERS = [  # a module may import from lower layers and from its own
    {"lazy", "errors", "stops", "reading", "markdown"},
    {"files"},
    {"core.settings"},
    {"core.config", "core.attention.base", "core.attention.masks", "core.attention.patterns"},
    {"core.attention.dot_product", "core.attention.tables", "core.attention.gates"},
    {"core.attention"},
    {"core.layers"},
    {"core.transformer"},
    {"core"},
    {"generated"},
    {"data"},
    {"statistics"},
    {"plots"},
    {"contrastive"},
    {"scales"},
    {"presets", "setting_list"},
    {"runs"},
    {"analysis"},
    {"pruning"},
    {"records"},
    {"measures"},
    {"claims"},
    {"papers"},
    {"verify"},
    {"page"},
    {"widgets", "teaching"},
    {"cli"},
    {"__main__", ""},
]


def layer_of(module: str) -> int:
    """Return the layer of a module named below `repro`; a module not listed belongs where its
    package is."""
    while True:
        for number, layer in enumerate(LAYERS):
            if module in layer:
                return number
        assert "." in module, f"{module} has no layer: say where it belongs"
        module = module.rpartition(".")[0]


def imports_of(path: Path) -> set[str]:
    """Return the modules of ours that a file names in imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("repro."):
            found.add(node.module.removeprefix("repro."))
        elif isinstance(node, ast.ImportFrom) and node.module == "repro":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {
                alias.name.removeprefix("repro.")
                for alias in node.names
                if alias.name.startswith("repro.")
            }
    return found


@pytest.mark.parametrize(
    "path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT))
)
def test_a_module_imports_only_from_below(path):
    name = (
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix("__init__").rstrip(".")
    )
    for imported in imports_of(path):
        if path.stem == "__init__" and imported.startswith(f"{name}."):
            continue  # a package names what is inside it
        assert layer_of(imported) <= layer_of(name), f"{name} imports {imported} from above"


def test_only_the_transformer_builds_variants_by_name():
    users = {
        str(path.relative_to(ROOT))
        for path in ROOT.rglob("*.py")
        if "build_weights(" in path.read_text()
    }
    assert users == {
        "core/attention/spec.py",
        "core/contract.py",
        "core/transformer.py",
        "cli/listing.py",
        "analysis/weights.py",
    }


def test_variants_import_no_other_variant():
    for path in (ROOT / "core" / "attention").glob("*.py"):
        # a variant may build on the dot product
        if path.stem not in ("__init__", "multihead", "spec", "variants"):
            tools = {
                f"core.attention.{name}"
                for name in ("base", "masks", "patterns", "tables", "dot_product")
            }
            # and a paper's options on the paper's model
            tools.add(f"core.attention.{path.stem.removesuffix('_variants')}")
            assert imports_of(path) <= tools | {"errors"}, path.name


def closure(path: Path) -> set[Path]:
    """Return all files of ours that a file imports, directly or not, and itself."""
    found: set[Path] = set()
    waiting = {path}
    while waiting:
        path = waiting.pop()
        found.add(path)
        files = {
            ROOT.joinpath(*module.split(".")).with_suffix(".py") for module in imports_of(path)
        }
        waiting |= {file for file in files - found if file.exists()}
    return found


def test_the_core_needs_nothing_else_of_ours_but_errors():
    for path in (ROOT / "core").rglob("*.py"):
        allowed = {"errors", "lazy"} if path.stem == "__init__" else {"errors"}
        others = {name for name in imports_of(path) if not name.startswith("core.")}
        assert others <= allowed, path


def test_search_is_read_in_an_afternoon():
    files = closure(ROOT / "core" / "decoding.py")
    assert len(files) <= 15 and sum(len(path.read_text().splitlines()) for path in files) <= 2000
