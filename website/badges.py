"""Write the badges of the README and of the notebooks: where each opens without an installation.

`[project.urls]` of pyproject.toml is the one place of the repository's address. Without an address,
badges lead to the page that says how to open notebooks there.
"""

import json
import posixpath
import re
import tomllib
from pathlib import Path

START = "notebooks/00_start_here.ipynb"
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


def write_badges(root: Path) -> None:
    """Write the badges that pyproject.toml asks for into the README and all notebooks."""
    name = repository(root)
    readme = root / "README.md"
    readme.write_text(with_badges(readme.read_text(), badges(name, "README.md")))
    for path in notebooks(root):
        text = path.read_text(encoding="utf-8")
        line = badges(name, path.relative_to(root).as_posix())
        stored = json.loads(text)
        first = stored["cells"][0]
        first["source"] = with_badges("".join(first["source"]), line).splitlines(keepends=True)
        path.write_text(json.dumps(stored, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def notebooks(root: Path) -> list[Path]:
    """Return the notebooks that have badges: all but the solutions of exercises."""
    return sorted([*root.glob("notebooks/*.ipynb"), *root.glob("tutorials/*/exercise.ipynb")])


if __name__ == "__main__":
    write_badges(Path(__file__).resolve().parents[1])
