"""Put together what the site is made of: pages of the repository, and some written for the site.

The folder of sources is laid out as the repository, so that links in pages hold.
"""

import json
import re
import shutil
from pathlib import Path

from repro.papers.front import short_answer
from website.citation import citation

PAGES = (
    "README.md",  # the landing page includes a part of it
    "CONTRIBUTING.md",
    "docs/**/*.md",
    "tutorials/*.md",
    "results/README.md",
    "results/FORMAT.md",
    "results/claims/*.md",
    "benchmarks/*.md",
    "repro/gallery_runs/README.md",
)
NOTEBOOKS = ("notebooks/*.ipynb", "tutorials/*/exercise.ipynb")
FILES = (
    "CITATION.cff",
    "docs/**/*.png",
    "docs/**/*.svg",
    "docs/**/*.toml",
    "results/claims/*.svg",
    "benchmarks/*.svg",
)
"""What pages show or offer for download."""
ANSWER = "<!-- the answer in short -->"
WIDGET = "application/vnd.jupyter.widget-view+json"
FIGURE = re.compile(r"^!\[([^\]]*)\]\((\w+2\d{3})\.svg\)$", re.M)


def write_sources(root: Path, folder: Path) -> None:
    """Write all sources of the site into a folder.

    Args:
        root: of the repository.
        folder: to make.
    """
    for pattern in (*PAGES, *FILES):
        for path in sorted(root.glob(pattern)):
            _copy(path, folder / path.relative_to(root))
    for pattern in NOTEBOOKS:
        for path in sorted(root.glob(pattern)):
            write_notebook(path, folder / path.relative_to(root))
    for path in sorted((root / "website" / "pages").glob("*.md")):
        _copy(path, folder / path.name)
    teach = folder / "teach.md"
    if not list(root.glob("docs/teaching/*.md")):  # nothing to list is an error of Sphinx
        teach.write_text(teach.read_text(encoding="utf-8").replace("docs/teaching/*\n", ""))
    (folder / "cite.md").write_text(citation(root / "CITATION.cff"), encoding="utf-8")
    index = folder / "index.md"
    answered = index.read_text(encoding="utf-8").replace(ANSWER, short_answer(root / "results"))
    index.write_text(answered, encoding="utf-8")
    findings = folder / "findings.md"
    claims = (root / "results/claims/README.md").read_text(encoding="utf-8")
    findings.write_text(findings.read_text(encoding="utf-8") + forest_plots(claims))


def _copy(path: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, target)


def write_notebook(path: Path, target: Path) -> None:
    """Write a notebook without what its page cannot show.

    A widget without a kernel is replaced by the still picture saved beside it. The words below a
    figure become its text alternative, which the generator takes from the cell, not the output.
    """
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["metadata"].pop("widgets", None)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            outputs = [o for o in cell["outputs"] if WIDGET not in o.get("data", {})]
            images = [image for o in outputs for image in o.get("metadata", {}).values()]
            words = [image["alt"] for image in images if "alt" in image]
            if words:
                cell["metadata"]["mystnb"] = {"image": {"alt": " ".join(words)}}
            cell["outputs"] = [o for o in outputs if _plain_text(o) not in words]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(notebook), encoding="utf-8")


def _plain_text(output: dict) -> str:
    """Return what an output is in plain text, which a notebook keeps whole or in lines."""
    return "".join(output.get("data", {}).get("text/plain", ""))


def forest_plots(claims: str) -> str:
    """Return a section for each forest plot of the page of claims, with a link to its claims."""
    sections = []
    for match in FIGURE.finditer(claims):
        heading = re.findall(r"^## (.*)$", claims[: match.start()], re.M)[-1]
        sections.append(
            f"\n## {heading.partition(':')[0]}\n\n"
            f"![{match[1]}](results/claims/{match[2]}.svg)\n\n"
            f"[All claims of this paper, with numbers](results/claims/{match[2]}.md)\n"
        )
    return "".join(sections)
