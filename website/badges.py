"""Write into README and notebooks where they open without an installation.

`[project.urls]` of pyproject.toml is the one place of the repository's address. Without an address,
badges lead to the page that says how to open notebooks there. With one, each notebook also gets a
cell that fetches the suite on Colab, which opens a single file.
"""

import json
import posixpath
import re
import tomllib
from pathlib import Path

START = "notebooks/00_start_here.ipynb"
COLAB = "colab"  # the id of the cell
_BADGES = re.compile(r"^\[!\[Open in Binder\].*$", re.M)


def repository(root: Path) -> str | None:
    """Return the address on GitHub as owner/name; None where pyproject.toml has none."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    address = project.get("urls", {}).get("Repository")
    return address and address.removeprefix("https://github.com/").strip("/")


def badges(name: str | None, page: str) -> str:
    """Return the line of badges.

    Args:
        name: of the repository, see `repository`.
        page: the README, or a notebook, as a path in the repository.
    """
    notebook = START if page == "README.md" else page
    up = posixpath.relpath("docs", posixpath.dirname(page) or ".")
    if name is None:
        links = {site: f"{up}/installing.md#{site}" for site in ("binder", "colab", "site")}
    else:
        owner, _, repo = name.partition("/")
        shown = "" if page == "README.md" else notebook.replace(".ipynb", ".html")
        links = {
            "binder": f"https://mybinder.org/v2/gh/{name}/HEAD?labpath={notebook}",
            "colab": f"https://colab.research.google.com/github/{name}/blob/main/{notebook}",
            "site": f"https://{owner}.github.io/{repo}/{shown}",
        }
    says = {"binder": "Open in Binder", "colab": "Open in Colab", "site": "Read on the site"}
    return " ".join(f"[![{says[k]}]({up}/badges/{k}.svg)]({link})" for k, link in links.items())


def with_badges(text: str, line: str) -> str:
    """Return Markdown with a line of badges in place of the one that is there.

    Where there is none, it comes below the title.
    """
    if _BADGES.search(text):
        return _BADGES.sub(lambda _: line, text, count=1)
    title, _, rest = text.partition("\n")
    return f"{title}\n\n{line}\n{rest}"


def colab_cell(name: str, page: str) -> dict:
    """Return the cell that fetches the suite on Colab and does nothing elsewhere.

    Args:
        name: of the repository, see `repository`.
        page: the notebook, as a path in the repository.
    """
    source = f"""# On Colab, this fetches the suite; elsewhere it does nothing.
import sys

if "google.colab" in sys.modules:
    from google.colab import output

    !git clone --quiet --depth 1 https://github.com/{name} /content/suite
    %pip install --quiet /content/suite
    %cd -q /content/suite/{posixpath.dirname(page)}
    output.enable_custom_widget_manager()"""
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": COLAB,
        "metadata": {"cellView": "form", "jupyter": {"source_hidden": True}},
        "outputs": [],
        "source": source.splitlines(keepends=True),
    }


def write_badges(root: Path) -> None:
    """Write the badges and cells that pyproject.toml asks for into README and all notebooks."""
    name = repository(root)
    readme = root / "README.md"
    readme.write_text(with_badges(readme.read_text(), badges(name, "README.md")))
    for path in notebooks(root):
        text = path.read_text(encoding="utf-8")
        page = path.relative_to(root).as_posix()
        line = badges(name, page)
        stored = json.loads(text)
        first, *rest = (cell for cell in stored["cells"] if cell.get("id") != COLAB)
        first["source"] = with_badges("".join(first["source"]), line).splitlines(keepends=True)
        stored["cells"] = [first, *([colab_cell(name, page)] if name else []), *rest]
        path.write_text(json.dumps(stored, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def notebooks(root: Path) -> list[Path]:
    """Return the notebooks that have badges: all but the solutions of exercises."""
    return sorted([*root.glob("notebooks/*.ipynb"), *root.glob("tutorials/*/exercise.ipynb")])


if __name__ == "__main__":
    write_badges(Path(__file__).resolve().parents[1])
