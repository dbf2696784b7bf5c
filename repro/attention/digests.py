"""What the files of a model's variants said, in a few digits, so that a run can tell whether it is still of the code that there is."""

import ast
import hashlib
import sys
from collections.abc import Iterator
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType
from typing import Any

from repro.attention import imported, layers_of, parse_variant
from repro.config import NO_SUBLAYER, ModelConfig

SHARED = Path(__file__).parent  # what variants have in common lies beside this file


def file_digests(model: ModelConfig) -> dict[str, str]:
    """Return twelve hex digits for each file that the variants in a model are made of; comments, docstrings and layout do not count.

    Those are the variant's own file, by its name, and, by the name of the module, what it imports from its own folder and from this one,
    and what that imports in turn. What all models share beyond that (`multihead.py`, `transformer.py`) is not among them.

    Raises:
        InputError: a variant's file is not there, or no Python.
    """
    specs = {spec for layers in layers_of(model).values() for spec in layers}
    variants = {name: imported(name) for name in sorted({parse_variant(spec)[0] for spec in specs} - {NO_SUBLAYER})}
    own = {_file_of(module): name for name, module in variants.items()}
    files = dict(own)
    waiting = [(module, {SHARED, _file_of(module).parent}) for module in variants.values()]
    while waiting:
        module, folders = waiting.pop()
        for found in _imports(module):
            if (file := _file_of(found)).parent in folders and file not in files:
                files[file] = found.__name__
                waiting.append((found, folders))
    return {name: _digest(file) for file, name in sorted(files.items(), key=lambda item: (item[0] not in own, item[1]))}


def _file_of(module: ModuleType) -> Path:
    return Path(str(module.__file__))


def _imports(importer: ModuleType) -> Iterator[ModuleType]:
    """Yield the modules with a file that a module imports by name, as far as they are loaded; packages are not among them."""
    for node in ast.walk(ast.parse(_file_of(importer).read_bytes())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            source = resolve_name("." * node.level + (node.module or ""), importer.__package__)
            names = [source, *(f"{source}.{alias.name}" for alias in node.names)]
        else:
            continue
        found = (sys.modules[name] for name in names if name in sys.modules)
        yield from (module for module in found if getattr(module, "__file__", None) and not hasattr(module, "__path__"))


def _digest(file: Path) -> str:
    tree = ast.parse(file.read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        if isinstance(node, ast.JoinedStr):  # 3.12 leaves empty pieces in some f-strings
            node.values = [piece for piece in node.values if getattr(piece, "value", None) != ""]
    return hashlib.sha256(repr(_outline(tree)).encode()).hexdigest()[:12]


def _outline(node: Any) -> Any:
    """Return a tree as nested lists, the same under every version of Python, which `ast.unparse` and `ast.dump` are not."""
    if isinstance(node, ast.AST):
        return [type(node).__name__, *([name, _outline(value)] for name, value in ast.iter_fields(node) if value not in (None, []))]
    return [_outline(item) for item in node] if isinstance(node, list) else node
