"""Make slides of teaching plans: what is between `<!-- slide -->` marks, as Reveal shows it."""

import re
import sys
from pathlib import Path
from typing import Any

from repro.files import write_atomic

MARKED = re.compile(r"^<!-- slide -->\n(.*?)^<!-- /slide -->$", re.M | re.S)


def slides_in(page: str) -> list[str]:
    """Return the slides of a plan, in its order; the first is its title."""
    title = page.partition("\n")[0]
    return [title, *(slide.strip() for slide in MARKED.findall(page))]


def slides_html(page: str) -> str:
    """Return a plan's slides as one HTML page, which loads Reveal from the network."""
    from nbconvert import SlidesExporter
    from nbformat import from_dict

    cells = [
        {
            "cell_type": "markdown",
            "id": f"slide-{number}",
            "metadata": {"slideshow": {"slide_type": "slide"}},
            "source": slide,
        }
        for number, slide in enumerate(slides_in(page))
    ]
    notebook: Any = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    text, _ = SlidesExporter().from_notebook_node(from_dict(notebook))
    return str(text)


def main(pages: list[str]) -> None:
    """Write `build/slides/NAME.html` for each plan."""
    for page in map(Path, pages):
        out = Path("build/slides") / f"{page.stem}.html"
        out.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(out, slides_html(page.read_text()).encode())
        print(out)


if __name__ == "__main__":
    main(sys.argv[1:])
