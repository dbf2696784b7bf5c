"""Imports point one way."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1] / "repro"

LAYERS = [  # a module may import from lower layers and from its own
    {"lazy", "errors", "reading", "stops", "markdown", "metrics", "scripts", "resampling", "statistics", "costs", "data.characters"},
    {"files", "locks", "tensors", "plots", "published", "energy", "allocator", "exercises", "provenance", "record_fields"},
    {"config", "data", "attention.base", "attention.masks", "attention.patterns"},
    {"scales", "log_lines", "runs", "attention.dot_product", "attention.tables", "attention.gates"},
    {"attention", "attention.multihead"},
    {"layers"},
    {"transformer"},
    {"loss", "updates", "behaviour", "checkpoints", "preparation", "training", "decoding", "rereading"},
    {"core", "evaluation", "sentences", "manifest", "analysis"},
    {"records", "translations", "catalogue"},
    {"scoring"},
    {"analysis.head_records"},
    {"report", "jobs", "comparing"},
    {"analysis.tables", "cluster"},
    {"pruning", "cutting", "pruning_sweep", "gallery"},
    {"papers", "widgets", "frames"},
    {"commands"},
    {"__main__", ""},
]


def layer_of(module: str) -> int:
    """Return the layer of a module named below `repro`; a module not listed belongs where its package is."""
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
            found |= {alias.name.removeprefix("repro.") for alias in node.names if alias.name.startswith("repro.")}
    return found


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_from_below(path):
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix("__init__").rstrip(".")
    for imported in imports_of(path):
        if path.stem == "__init__" and imported.startswith(f"{name}."):
            continue  # a package names what is inside it
        assert layer_of(imported) <= layer_of(name), f"{name} imports {imported} from above"


def test_only_the_transformer_builds_variants_by_name():
    users = {str(path.relative_to(ROOT)) for path in ROOT.rglob("*.py") if "build_weights(" in path.read_text()}
    assert users == {"attention/__init__.py", "transformer.py", "catalogue.py", "analysis/weights.py"}


def test_variants_import_no_other_variant():
    for path in (ROOT / "attention").glob("*.py"):
        if path.stem not in ("__init__", "multihead"):  # a variant may build on the dot product
            tools = {"errors", "attention.base", "attention.masks", "attention.patterns", "attention.tables"}
            assert imports_of(path) <= tools | {"attention.dot_product"}, path.name
