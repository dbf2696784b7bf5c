"""The pages that a visitor meets: what they say is measured, and what they point at is there."""

import io
import json
import math
import re
import shutil
import tomllib
from pathlib import Path

import numpy as np
import pytest
import test_layers
from PIL import Image
from reading_time import minutes_to_read
from test_written_commands import parsed

from repro import scales
from repro.papers import PAPERS
from repro.papers.front import FINDINGS, PICTURE, front_page, short_answer
from repro.papers.paper_corpora import USED, corpora_page
from repro.papers.summary import BEGIN, END
from repro.runs import gallery
from repro.setting_list import settings_page

ROOT = Path(__file__).resolve().parents[1]
README, CONTRIBUTING = ROOT / "README.md", ROOT / "CONTRIBUTING.md"
PAGES = [README, CONTRIBUTING, *sorted((ROOT / "docs").rglob("*.md")), *ROOT.glob("tutorials/*.md")]
SCREEN = 60  # lines; a long one of a table or list is one on a wide screen


@pytest.fixture(scope="module")
def generated() -> tuple[str, bytes]:
    return front_page(ROOT / "results")


def pixels(png: bytes) -> np.ndarray:
    """Return a picture in shades of grey, so small that fonts and versions hardly change it."""
    picture = Image.open(io.BytesIO(png)).convert("RGBA")
    paper = Image.new("RGBA", picture.size, "white")
    return np.asarray(Image.alpha_composite(paper, picture).convert("L").resize((80, 30)), float)


def test_the_front_page_holds_what_the_records_say(generated):
    assert f"{BEGIN}\n\n{generated[0]}\n\n{END}" in README.read_text()


def test_the_page_of_settings_is_generated():
    page = (ROOT / "docs/settings.md").read_text()
    assert f"{BEGIN}\n\n{settings_page()}\n\n{END}" in page


def test_the_page_of_corpora_is_generated_and_its_commands_are_known():
    page = corpora_page(ROOT / "results")
    assert f"{BEGIN}\n\n{page}\n\n{END}" in (ROOT / "docs/corpora.md").read_text()
    rows = [line.split(" | ") for line in page.splitlines() if "`repro run " in line]
    assert {row[0].removeprefix("| ") for row in rows} == set(PAPERS)
    for row in rows:
        assert parsed(re.findall(r"`(repro run [^`]*)`", row[3])[0].replace("my.toml", "smoke"))
    assert all(used.scale or used.missing for used in USED)
    changed = {used.changed: used.scale for used in USED if used.changed}
    for line, base in changed.items():
        scales._scale(tomllib.loads(line), "my.toml", ROOT, {base: scales.SCALES[base]})


def test_hours_on_a_papers_corpus_follow_from_timed_updates(tmp_path):
    """What trains on more languages or pairs has as many updates, so as many hours."""
    (tmp_path / "results").mkdir()
    assert "about" not in corpora_page(tmp_path / "results")
    timed = tmp_path / "benchmarks/results/hours.json"
    timed.parent.mkdir(parents=True)
    machine = {"device": "cuda", "processor": "A GPU, 8 x a processor, AVX512", "threads": 8}
    row = {"scale": "wmt17", "seconds_of_update": 0.24, "provenance": machine}
    timed.write_text(json.dumps({"rows": [row]}))
    rows = [line for line in corpora_page(tmp_path / "results").splitlines() if "WMT17" in line]
    assert len(rows) == 3 and all(line.endswith("| about 10.0 h on A GPU |") for line in rows)


def test_the_picture_of_the_front_page_is_what_the_model_and_the_records_say(generated):
    stored, drawn = (pixels(png) for png in ((ROOT / PICTURE).read_bytes(), generated[1]))
    assert np.abs(stored - drawn).max() < 20


def test_another_number_changes_its_sentence_and_no_other(tmp_path, generated):
    """A gain where there was a loss, and a claim that nothing has been measured for."""
    path = shutil.copytree(ROOT / "results/claims", tmp_path / "claims") / "multi30k.json"
    stored = json.loads(path.read_text())
    stored["verdicts"]["Y-02"]["conditions"][0]["value"] = -0.25
    del stored["verdicts"]["V-01"]
    path.write_text(json.dumps(stored))
    assert short_answer(tmp_path) == (
        "Of the 4 changes below, 4 cost less than one point of BLEU, or nothing."
    )
    lines = front_page(tmp_path)[0].replace(f"({tmp_path.name}/", "(results/").split("\n")
    before = generated[0].split("\n")
    changed = {i for i, line in enumerate(lines) if line != before[i]}
    told = dict(
        zip(FINDINGS, (i for i, line in enumerate(lines) if line.startswith("- ")), strict=True)
    )
    assert changed - {before.index(next(x for x in before if x.startswith("over ")))} == {
        told["V-01"],
        told["Y-02"],
    }
    assert "fix every head" in lines[told["Y-02"]] and "BLEU rises by 0.25" in lines[told["Y-02"]]
    assert lines[told["V-01"]].endswith(
        ": no number of BLEU yet ([V-01](results/claims/voita2019.md#v-01), *not run*)."
    )


def test_the_short_answer_says_what_cost_most(generated, tmp_path):
    told = short_answer(ROOT / "results")
    falls = re.findall(r"BLEU falls by (\d+\.\d\d)", generated[0])
    few = 5 - sum(float(fall) >= 1 for fall in falls)
    assert told.startswith(f"Of the 5 changes below, {few} cost less than one point of BLEU")
    assert f"What cost most, {max(falls, key=float)} points, was to fix every head" in told
    assert short_answer(tmp_path) == "Nothing has been measured yet."


def test_every_finding_has_one_number_of_bleu(generated):
    sentences = [line for line in generated[0].split("\n") if line.startswith("- ")]
    assert len(sentences) == 5
    for line in sentences:
        words = re.sub(r"\[[^]]*\]\([^)]*\)", "", line)  # years and names of claims are in links
        assert len(re.findall(r"\d+\.\d\d", words)) == len(re.findall(r"\d[\d.]*\d", words)) == 1


def test_the_minutes_of_the_doors_are_those_of_their_lessons_and_records():
    """Reading as in `reading_time`; the exercises' own minutes; training."""
    rows = re.findall(r"^\| (\w+) \| \[[^]]*\]\(([^)]*)\) \| (\d+)", README.read_text(), re.M)
    (student, notebook, reading), (teacher, exercise, work), (researcher, _, run) = rows
    assert (student, teacher, researcher) == ("students", "teachers", "researchers")
    assert math.ceil(minutes_to_read(ROOT / notebook) / 5) * 5 == int(reading)
    first = "".join(json.loads((ROOT / exercise).read_text())["cells"][0]["source"])
    assert sum(map(int, re.findall(r"\| (\d+) \|$", first, re.M))) == int(work)
    (seconds,) = re.findall(
        r"^\| base \|(?:[^|]*\|){4} (\d+) \|", (gallery.FOLDER / "README.md").read_text(), re.M
    )
    assert math.ceil(int(seconds) / 60) == int(run)


@pytest.mark.parametrize("page", [README, CONTRIBUTING], ids=lambda page: page.name)
def test_a_page_fits_a_screen(page):
    assert len(page.read_text().splitlines()) <= SCREEN


def test_the_first_command_comes_soon():
    before = README.read_text().partition("\n    make demo")[0]
    shown = re.sub(r"!\[[^]]*\]|\]\([^)]*\)|<!--.*?-->|[|#*\[-]", " ", before)
    assert len(shown.split()) <= 300


def anchors(page: Path) -> set[str]:
    """Return the names that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_what_is_there(page):
    for link in re.findall(r"\]\(([^)]+)\)", page.read_text()):
        if link.startswith("http"):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", PAGES[:-2], ids=lambda page: str(page.relative_to(ROOT)))
def test_lines_have_100_columns(page):
    for line in page.read_text().splitlines():
        assert len(line) <= 100 or line.startswith("|") or "](" in line


def test_every_page_is_on_the_list_of_pages():
    listed = (ROOT / "docs/README.md").read_text()
    assert all(f"]({page.name})" in listed for page in (ROOT / "docs").glob("[!R]*.md"))


def test_the_map_names_every_folder_from_low_to_high():
    mapped = re.findall(r"^\| `(\w+)/` \|", CONTRIBUTING.read_text(), re.M)
    folders = {path.parent.name for path in (ROOT / "repro").glob("*/__init__.py")}
    assert sorted(mapped) == sorted(folders)
    assert mapped == sorted(mapped, key=test_layers.layer_of)


def test_pages_name_files_that_are_there():
    """Those of the map in their folder, those of the main path below the package."""
    for folder, files in re.findall(
        r"^\| `(\w+)/` \|.*\|([^|]*)\|$", CONTRIBUTING.read_text(), re.M
    ):
        for name in re.findall(r"`([\w/]+\.py)`", files):
            assert (ROOT / "repro" / folder / name).is_file(), f"{folder}/{name}"
        for part, name in re.findall(r"`(\w+)` in `([\w/]+\.py)`", files):
            text = (ROOT / "repro" / folder / name).read_text()
            assert re.search(rf"\b{part}\b", text), f"{part} in {folder}/{name}"
    for name in re.findall(r"`([\w/]+\.py)`", (ROOT / "docs/main-path.md").read_text()):
        assert (ROOT / "repro" / name).is_file() or (ROOT / name).is_file(), name
