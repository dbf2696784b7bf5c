"""Pack a tutorial for students: the exercise, its checks and this package, but no solution."""

import ast
import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import repro
from repro.teaching.lessons import Lesson, load_lesson, read_notebook

PACKAGE = Path(repro.__file__).parent
BADGES = re.compile(r"^\[!\[Open in .*\n\n?", re.M)  # of where the project's own notebook opens
WITHOUT = ("__pycache__", "gallery_runs")  # caches, and models that no exercise needs
LOADER = '''"""Check your functions: `check.NAME(NAME)`, and `check.NAME.hint()` for a hint.

What they are compared with is in `check.bin`, packed, so that it does not give the answer away.
"""

import zlib
from pathlib import Path

exec(compile(zlib.decompress(Path(__file__).with_name("check.bin").read_bytes()), "check", "exec"))
'''
START = """# {title}

1. Install Python 3.11 or newer. On Windows work inside WSL.
2. Open a terminal in this folder, and make an environment of its own:
   `python3 -m venv .venv`, then `. .venv/bin/activate`
3. On Linux: `pip install torch --index-url https://download.pytorch.org/whl/cpu`. Without this
   line you get libraries for a GPU, several gigabytes of them.
4. `pip install -r requirements.txt`. This takes some minutes and a network, once.
5. `jupyter lab exercise.ipynb`
6. Write each function, and run the cell with `check` below it. `check.NAME.hint()` gives one hint
   after another.
7. Hand in `exercise.ipynb`.

Everything runs off-line. Nothing is sent anywhere.
"""


def handout_zip(number: str) -> bytes:
    """Return a tutorial as an archive with one folder, the same bytes each time.

    Raises:
        InputError: there is no such tutorial.
        MachineError: the package was installed without tutorials.
    """
    lesson = load_lesson(number)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in handout_files(lesson):
            entry = zipfile.ZipInfo(f"{lesson.folder.name}/{name}")
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def handout_files(lesson: Lesson) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of each file of a handout."""
    notebook = cleared(read_notebook(lesson.folder / "exercise.ipynb"))
    title = notebook["cells"][0]["source"].partition("\n")[0].removeprefix("# ")
    yield "README.md", START.format(title=title).encode()
    yield "exercise.ipynb", as_bytes(notebook)
    yield from packed_checks(lesson)
    asked = requires("repro-attention") or []
    needed = [line for line in asked if "extra ==" not in line]
    needed += [line.partition(";")[0] for line in asked if 'extra == "lab"' in line]
    yield "requirements.txt", "\n".join([*sorted(needed), ""]).encode()
    for path in sorted(PACKAGE.rglob("*")):
        place = path.relative_to(PACKAGE)
        if path.is_file() and not set(place.parts) & set(WITHOUT):
            yield f"repro/{place.as_posix()}", path.read_bytes()


def packed_checks(lesson: Lesson) -> Iterator[tuple[str, bytes]]:
    """Yield `check.py` and what it loads; the definitions are not readable in either."""
    plain = ast.unparse(ast.parse((lesson.folder / "check.py").read_text()))
    yield "check.py", LOADER.encode()
    yield "check.bin", zlib.compress(plain.encode(), 9)


def cleared(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook without outputs, and without links to files that are not handed out."""
    cells = []
    for cell in notebook["cells"]:
        cell = dict(cell)
        if cell["cell_type"] == "code":
            cell |= {"outputs": [], "execution_count": None}
        else:
            text = BADGES.sub("", cell["source"])
            cell["source"] = re.sub(r"\[([^\]]*)\]\((?!https?:|#)[^)]*\)", r"\1", text)
        cells.append(cell)
    return notebook | {"cells": cells}


def as_bytes(notebook: dict[str, Any]) -> bytes:
    """Return a notebook as Jupyter saves it."""
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()
