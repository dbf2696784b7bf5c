"""Find the tutorials, their exercises, and the cells of notebooks."""

import ast
import importlib.util
import json
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import repro
from repro.errors import GET_PROJECT, DamagedFileError, InputError, MachineError, did_you_mean
from repro.teaching.exercise import Exercise

FOLDER = Path(repro.__file__).parents[1] / "tutorials"
LARGEST = 20_000_000  # bytes of a notebook


@dataclass
class Lesson:
    """A tutorial: its folder, and its exercises by name."""

    folder: Path
    exercises: dict[str, Exercise]

    @property
    def number(self) -> str:
        """The two digits that the folder begins with."""
        return self.folder.name[:2]


def lesson_folders() -> dict[str, Path]:
    """Return the folder of every tutorial by its number.

    Raises:
        MachineError: the package was installed without them.
    """
    found = {path.parent.name[:2]: path.parent for path in sorted(FOLDER.glob("*/check.py"))}
    if not found:
        raise MachineError("tutorials", "are not beside this package", GET_PROJECT)
    return found


def load_lesson(number: str) -> Lesson:
    """Return a tutorial by its number, such as "02".

    Raises:
        InputError: there is none of that number.
        MachineError: the package was installed without tutorials.
    """
    folders = lesson_folders()
    if number not in folders:
        raise InputError("TUTORIAL", f"{number!r} is none", did_you_mean(number, folders))
    return Lesson(folders[number], exercises_in(folders[number] / "check.py"))


def exercises_in(path: Path) -> dict[str, Exercise]:
    """Return the exercises of a `check.py` by name, in the order of the file."""
    spec = importlib.util.spec_from_file_location(f"check_{path.parent.name}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {name: value for name, value in vars(module).items() if isinstance(value, Exercise)}


def read_notebook(path: Path) -> dict[str, Any]:
    """Return a notebook as JSON has it, with the source of every cell as one text.

    Raises:
        DamagedFileError: it is not a notebook, or a very large one.
    """
    where, again = path.name, "hand in the notebook again, as Jupyter saves it"
    if path.stat().st_size > LARGEST:
        raise DamagedFileError(where, f"has more than {LARGEST // 10**6} MB", "clear its outputs")
    try:
        notebook = json.loads(path.read_bytes())
        language_of(notebook)
        for cell in notebook["cells"]:
            source = cell["source"]
            cell["source"] = source if isinstance(source, str) else "".join(source)
            cell["cell_type"], cell["metadata"] = str(cell["cell_type"]), dict(cell["metadata"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise DamagedFileError(where, "is not a notebook", again) from None
    return notebook


def language_of(notebook: dict[str, Any]) -> str:
    """Return the language of a notebook's kernel; Python if it says nothing."""
    metadata = notebook["metadata"]
    kernel, info = metadata.get("kernelspec") or {}, metadata.get("language_info") or {}
    return str(kernel.get("language") or info.get("name") or "python").lower()[:40]


def code_cells(notebook: dict[str, Any]) -> list[str]:
    """Return the code cells as plain Python: lines for IPython alone are left out."""
    return [
        re.sub(r"^\s*[%!].*$", "", cell["source"], flags=re.M)
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]


def own_cells(notebook: dict[str, Any], handed_out: dict[str, Any]) -> list[str]:
    """Return what has to run for a student's functions.

    That is every cell that the student wrote or changed; of the others, the imports of names that
    these use.
    """
    asked = [cell for cell in handed_out["cells"] if "exercise" not in tags_of(cell)]
    unchanged = {cell["source"].strip() for cell in asked}
    cells = code_cells(notebook)
    used = {
        word for cell in cells if cell.strip() not in unchanged for word in re.findall(r"\w+", cell)
    }
    return [_imports(cell, used) if cell.strip() in unchanged else cell for cell in cells]


def tags_of(cell: dict[str, Any]) -> list[str]:
    """Return the tags of a cell."""
    return cell["metadata"].get("tags", [])


def _imports(cell: str, used: set[str]) -> str:
    """Return the imports of a cell that make one of the names."""
    kept = []
    with suppress(SyntaxError):
        for node in ast.parse(cell).body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names = [a for a in node.names if (a.asname or a.name.partition(".")[0]) in used]
                if names:
                    node.names = names
                    kept.append(ast.unparse(node))
    return "\n".join(kept)


def functions_of(cell: str) -> list[str]:
    """Return the names of the functions that a cell defines; none if it is not Python."""
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        return [node.name for node in ast.parse(cell).body if isinstance(node, ast.FunctionDef)]
    return []
