"""How long a lesson takes to read: 150 words of prose or 10 lines of code a minute."""

import json
from pathlib import Path

KINDS = ("markdown", "code")


def minutes_to_read(notebook: Path) -> float:
    """Return the minutes that the prose and the code of a notebook take."""
    cells = json.loads(notebook.read_text())["cells"]
    prose, code = ([c["source"] for c in cells if c["cell_type"] == kind] for kind in KINDS)
    words = sum(len("".join(lines).split()) for lines in prose)
    lines = sum(bool(line.strip()) for lines in code for line in lines)
    return words / 150 + lines / 10
