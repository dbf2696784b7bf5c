"""Rules about the files themselves."""

import ast
import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from reading_time import minutes_to_read

import repro
from repro.papers import PAPERS, load_paper

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "repro").rglob("*.py"))
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LOCKS = sorted(path.name for path in ROOT.glob("*.lock"))

FORBIDDEN_CALLS = {
    "eval",
    "exec",
    "splitlines",
    "extractall",
    "pickle.load",
    "pickle.loads",
    "torch.load",
    "yaml.load",
}


def called_names(path: Path) -> set[str]:
    """Return the names of all calls in a file: `f`, `module.f` and the bare method name."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            names.add(ast.unparse(node.func))
            if isinstance(node.func, ast.Attribute) and node.func.attr in (
                "splitlines",
                "extractall",
            ):
                names.add(node.func.attr)
            assert not any(keyword.arg == "shell" for keyword in node.keywords), f"{path}: shell"
    return names


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_runs_code_from_data_or_splits_lines_wrongly(path):
    # students' notebooks are run by one file, in a process that is confined before
    allowed = {"exec"} if path == ROOT / "repro" / "teaching" / "inside.py" else set()
    assert not called_names(path) & FORBIDDEN_CALLS - allowed


def test_every_progress_bar_is_closed_whatever_ends_it():
    """An error that comes while its bar is open has its line at the end of the bar's."""
    for path in SOURCES:
        nodes = list(ast.walk(ast.parse(path.read_text())))
        closed = [
            item.context_expr for node in nodes if isinstance(node, ast.With) for item in node.items
        ]
        bars = [
            node
            for node in nodes
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "tqdm"
        ]
        assert not [f"{path}:{bar.lineno}" for bar in bars if bar not in closed]


def entries(lock: str) -> dict[str, list[str]]:
    """Return the hashes of each `package==version` of a lock."""
    text = (ROOT / lock).read_text()
    blocks = re.findall(
        r"^([a-z0-9._-]+==\S+).*\n((?:    --hash=sha256:[0-9a-f]{64}.*\n)*)", text, re.M
    )
    assert len(blocks) == len(re.findall(r"\S==\S", text)), f"{lock} has lines of another form"
    return {name: re.findall("sha256:[0-9a-f]{64}", hashes) for name, hashes in blocks}


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_pins_every_package_by_hash_and_names_no_host(lock):
    pinned = entries(lock)
    assert pinned and all(pinned.values())
    assert "://" not in (ROOT / lock).read_text()


def test_the_locks_hold_what_the_package_asks_for_in_versions_it_allows():
    """A dependency that was added or raised without `make lock` is found here."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    asked = {"requirements.lock": project["dependencies"] + extras["lab"] + extras["dev"]}
    asked |= {
        f"requirements-{name}.lock": extras[name]
        for name in ("browser", "cluster", "quiz", "site", "syntax")
    }
    assert set(asked) == set(LOCKS)
    torch = (ROOT / "requirements-torch.txt").read_text().split()[-1]
    for lock, requirements in asked.items():
        versions = dict(line.split("==") for line in (torch, *entries(lock)))
        for requirement in map(Requirement, requirements):
            assert requirement.specifier.contains(versions[requirement.name]), (
                f"{lock}: {requirement}"
            )


def test_the_locks_hold_nothing_that_depends_on_the_build_of_torch():
    names = {entry.split("==")[0] for lock in LOCKS for entry in entries(lock)}
    assert not names & {"torch", "triton"}
    assert {name for name in names if name.startswith(("cuda-", "nvidia-"))} == {"nvidia-ml-py"}


def test_the_citation_names_this_version_and_all_papers_and_the_readme_links_them():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == repro.__version__
    cited = {
        (
            (
                f"{', '.join(a['family-names'] for a in work['authors'])}: {work['title']}, "
                f"{work['conference']['name']}"
            ),
            work["url"],
        )
        for work in citation["references"]
    }
    papers = [load_paper(name) for name in PAPERS]
    # others stand for what the papers build on
    assert {(paper.title, paper.url) for paper in papers} <= cited
    readme = (ROOT / "README.md").read_text()
    assert all(f"]({paper.url})" in readme for paper in papers)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_were_run_top_to_bottom_and_are_small(path):
    notebook = json.loads(path.read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert not any(output["output_type"] == "error" for output in outputs)
    # no state of widgets that are no longer there
    views = "application/vnd.jupyter.widget-view+json"
    has_widget = any(views in output.get("data", {}) for output in outputs)
    assert ("widgets" in notebook["metadata"]) == has_widget
    # Pictures have two pixels for one of the page, and as many opacities as eyes can tell, so that
    # they lie on light and on dark paper. A forest plot has a line a number of all claims of a
    # paper and needs up to 360,000 bytes. The first notebook holds a model.
    text = path.read_text(encoding="utf-8")
    of_models = sum(map(len, re.findall(r"data-model=[^>]*?(?:>|&gt;)([\w+/=]{1000,})", text)))
    # A translator in an output holds its models, views of it hold none: the model of captions in
    # the sixth notebook, a small one of each paper in the eighth, a small one elsewhere.
    assert of_models < {"06": 4_300_000, "08": 5_500_000}.get(path.name[:2], 850_000)
    assert path.stat().st_size - of_models < 850_000


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_lesson_says_what_one_learns_needs_and_spends(path):
    first = "".join(json.loads(path.read_text())["cells"][0]["source"])
    assert "**You will be able to**" in first and "**You need**" in first
    (minutes,) = re.findall(r"\*\*Time\*\*: (\d+)\s+minutes\s+to\s+read", first)
    # a step of five minutes, and a little more to read does not ask for another number at once
    assert int(minutes) % 5 == 0 and abs(int(minutes) - minutes_to_read(path)) <= 5


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_lessons_show_what_they_compare_and_print_no_line_over_100_columns(path):
    """A silent assertion looks the same whether it holds or was never reached."""
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    assert not [cell["source"] for cell in cells if "assert" in "".join(cell["source"])]
    printed = [
        line.rstrip("\n")
        for cell in cells
        for output in cell["outputs"]
        for line in output.get("text", [])
    ]
    assert not [line for line in printed if len(line) > 100]


@pytest.mark.parametrize(
    "path",
    [*NOTEBOOKS, *sorted((ROOT / "tutorials").glob("*/*.ipynb"))],
    ids=lambda path: "/".join(path.parts[-2:]),
)
def test_cells_say_that_their_output_is_not_compared_where_it_is_not(path):
    """The sentence is for readers, the tag is what nbval looks at."""
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    said = [
        any(line.startswith("# output not compared: ") for line in cell["source"]) for cell in cells
    ]
    assert said == ["nbval-ignore-output" in cell["metadata"].get("tags", []) for cell in cells]
