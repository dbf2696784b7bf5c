"""The site: its sources, its links and its badges; `make site` builds it."""

import json
import re
import shutil
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from repro.papers.front import short_answer
from website.badges import badges, notebooks, repository, with_badges, write_badges
from website.citation import citation
from website.links import MOST, problems
from website.sources import WIDGET, forest_plots, write_notebook, write_sources

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def sources(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "sources"
    write_sources(ROOT, folder)
    return folder


def test_the_site_has_all_notebooks_and_exercises_and_no_solution(sources):
    names = {path.relative_to(sources).as_posix() for path in sources.rglob("*.ipynb")}
    assert names == {path.relative_to(ROOT).as_posix() for path in notebooks(ROOT)}
    assert len(names) == 18 and not any("solution" in name for name in names)
    assert not list(sources.rglob("check.py"))


def test_every_paper_has_its_forest_plot_among_the_results(sources):
    page, claims = (
        (sources / name).read_text() for name in ("findings.md", "results/claims/README.md")
    )
    pictures = sorted(path.name for path in (ROOT / "results/claims").glob("*2*.svg"))
    assert len(pictures) == 5 and all(f"](results/claims/{name})" in page for name in pictures)
    assert forest_plots(claims.replace("](you2020.svg)", "](you2020.png)")).count("![") == 4


def test_the_landing_page_answers_its_question_before_the_details(sources):
    found = (sources / "index.md").read_text().partition("## What was found\n\n")[2]
    assert found.startswith(short_answer(ROOT / "results"))


def test_a_page_of_a_notebook_has_the_still_picture_of_a_widget_and_says_nothing_twice(tmp_path):
    def output(data: dict, **metadata) -> dict:
        return {"output_type": "display_data", "data": data, "metadata": metadata}

    outputs = [
        output({WIDGET: {}, "text/plain": "VBox()"}),
        output({"text/html": "<b>still</b>", "text/plain": "words"}),
        output({"image/png": "AAAA"}, **{"image/png": {"alt": "A map.", "width": 9}}),
        output({"text/plain": ["A map."]}),
        output({"text/plain": "3"}),
    ]
    cell = {"cell_type": "code", "metadata": {}, "source": "x", "outputs": outputs}
    notebook = {"cells": [cell], "metadata": {"widgets": {"state": {}}}}
    (tmp_path / "in.ipynb").write_text(json.dumps(notebook))
    write_notebook(tmp_path / "in.ipynb", tmp_path / "out.ipynb")
    written = json.loads((tmp_path / "out.ipynb").read_text())
    shown = [list(found["data"]) for found in written["cells"][0]["outputs"]]
    assert shown == [["text/html", "text/plain"], ["image/png"], ["text/plain"]]
    assert written["cells"][0]["metadata"]["mystnb"] == {"image": {"alt": "A map."}}
    assert "widgets" not in written["metadata"]


def test_every_work_can_be_cited():
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    page = citation(ROOT / "CITATION.cff")
    titles = [cff["title"], *(work["title"] for work in cff["references"])]
    assert all(f"*{title}*" in page and f"title = {{{{{title}}}}}" in page for title in titles)
    assert page.count("```bibtex") == len(titles)
    assert "author = {Weiqiu You and Simeng Sun and Mohit Iyyer}" in page
    assert "@software{repro,\n  author = {{The repro authors}},\n" in page
    assert "need?* Version" in page


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ('<a href="b.html#place">', []),
        ('<a href="https://example.org/x"><a href="#top"><p id="top">', []),
        ('<a href="c.html">', ["a.html: c.html is not there"]),
        ('<a href="b.html#nowhere">', ["a.html: b.html#nowhere names no place in b.html"]),
        ('<img alt="A map." src="x.png">', ["a.html: x.png is not there"]),
        ('<img alt="b.html" src="b.html">', ["a.html: b.html has no words"]),
        ('<img src="b.html">', ["a.html: b.html has no words"]),
        ('<script src="https://example.org/x.js">', None),
        (" " * MOST, ["a.html: larger than 2 MB"]),
        (f'<script data-model="a">{"A" * MOST}', []),
        (f'<p data-model="a">{" " * MOST}', ["a.html: larger than 2 MB"]),
    ],
)
def test_wrong_links_wordless_pictures_and_large_pages_are_found(tmp_path, body, found):
    (tmp_path / "a.html").write_text(f"<body>{body}")
    (tmp_path / "b.html").write_text('<h2 id="place">')
    if found is None:
        found = ["a.html: loads https://example.org/x.js from another machine"]
    assert problems(tmp_path) == found
    assert not [line for line in problems(tmp_path, ["a.html"]) if line.startswith("a.html")]


def test_badges_lead_where_the_one_address_says():
    line = badges("someone/suite", "notebooks/01_transformer.ipynb")
    assert "https://mybinder.org/v2/gh/someone/suite/HEAD?labpath=notebooks/01_transf" in line
    assert "https://colab.research.google.com/github/someone/suite/blob/main/notebooks/01_" in line
    assert "(https://someone.github.io/suite/notebooks/01_transformer.html)" in line
    assert "labpath=notebooks/00_start_here.ipynb)" in badges("someone/suite", "README.md")
    assert with_badges(with_badges("# A\n\nb\n", line), line) == f"# A\n\n{line}\n\nb\n"


def test_the_address_is_that_of_pyproject(tmp_path):
    text = (ROOT / "pyproject.toml").read_text()
    assert (repository(ROOT) is None) == ("urls" not in tomllib.loads(text)["project"])
    (tmp_path / "pyproject.toml").write_text(
        f'{text}\n[project.urls]\nRepository = "https://github.com/someone/suite"\n'
    )
    assert repository(tmp_path) == "someone/suite"


def test_notebooks_fetch_the_suite_on_colab_once_there_is_an_address(tmp_path):
    notebook = "notebooks/01_transformer.ipynb"
    for name in ("pyproject.toml", "README.md", notebook):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    before = (tmp_path / notebook).read_text()
    project = (tmp_path / "pyproject.toml").read_text()
    address = '\n[project.urls]\nRepository = "https://github.com/someone/suite"\n'
    (tmp_path / "pyproject.toml").write_text(project + address)
    for _ in range(2):  # the second time, the cell is there already
        write_badges(tmp_path)
        cells = json.loads((tmp_path / notebook).read_text())["cells"]
        assert [cell["id"] for cell in cells].count("colab") == 1 and cells[1]["id"] == "colab"
    source = "".join(cells[1]["source"])
    assert "/someone/suite " in source and "%cd -q /content/suite/notebooks\n" in source
    exec(re.sub("^    [!%].*\n", "", source, flags=re.M), {})  # nothing happens elsewhere
    (tmp_path / "pyproject.toml").write_text(project)
    write_badges(tmp_path)
    assert (tmp_path / notebook).read_text() == before


def test_readme_and_notebooks_have_these_badges():
    name = repository(ROOT)
    assert badges(name, "README.md") in (ROOT / "README.md").read_text()
    for path in notebooks(ROOT):
        first = "".join(json.loads(path.read_text())["cells"][0]["source"])
        assert badges(name, path.relative_to(ROOT).as_posix()) in first, path.name


def test_every_column_of_a_table_has_a_name(sources):
    """A reader who hears a table is told the name of the column of each cell."""
    for path in sources.rglob("*.md"):
        lines = path.read_text(encoding="utf-8").split("\n")
        for head, rule in pairwise(lines):
            if rule.startswith("|") and set(rule) <= set("|-: "):
                cells = head.strip().removeprefix("|").removesuffix("|").split("|")
                assert all(cell.strip() for cell in cells), f"{path.name}: {head}"


def test_every_page_is_in_a_table_of_contents(sources):
    """The build refuses any other; this test needs no build. An entry may be `title <page>`."""
    listed = {"index", "README"}  # the second is part of the first
    for page in sources.glob("*.md"):
        for block in page.read_text(encoding="utf-8").split("```{toctree}")[1:]:
            lines = block.partition("```")[0].splitlines()
            for name in (line.rpartition("<")[2].rstrip(">").strip() for line in lines):
                found = [*sources.glob(f"{name}.md"), *sources.glob(f"{name}.ipynb")]
                listed |= {path.relative_to(sources).with_suffix("").as_posix() for path in found}
    pages = {*sources.rglob("*.md"), *sources.rglob("*.ipynb")}
    assert {path.relative_to(sources).with_suffix("").as_posix() for path in pages} <= listed
