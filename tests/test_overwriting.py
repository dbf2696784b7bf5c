"""A report is written over nothing but a report."""

from pathlib import Path

import pytest
from command_line import refused

from repro.cli.options import check_ours, check_report
from repro.errors import InputError
from repro.papers.pages import as_html
from repro.papers.report import Section
from repro.records.report import render
from repro.records.stored import load_records

pytestmark = pytest.mark.usefixtures("runs")


@pytest.mark.parametrize(
    "text",
    [
        "A sentence.\n",
        "# Notes on attention\n\nMine.\n",
        "<!doctype html><title>My page</title>",
        "{}",
    ],
)
@pytest.mark.parametrize("ending", [".md", ".html"])
def test_what_is_not_ours_is_not_written_over(text, ending):
    Path("mine" + ending).write_text(text)
    with pytest.raises(
        InputError,
        match=f"mine{ending}: is there, and was not written by this command. Fix: name another file",
    ):
        check_report(Path("mine.md"))


def test_our_own_pages_and_empty_files_are(results):
    pages = [render(load_records(results)[:1]), as_html([Section("# t", {}, "top")], "t")]
    pages += [
        "# 2 experiments at smoke\n",
        "# 1 experiment at smoke\n",
        "# What five papers claim, at smoke\n",
        "",
    ]
    for place, page in enumerate(pages):
        path = Path(f"{place}.md")
        path.write_text(page)
        check_ours(path)
    check_ours(Path("new.md"))


def test_it_is_refused_before_the_work(capsys):
    Path("train.en").write_text("A sentence.\n")
    code, line = refused(capsys, "run", "base", "--out", "train.en")
    assert code == 2 and line.startswith(
        "error: train.en: is there, and was not written by this command. Fix: "
    )
    assert Path("train.en").read_text() == "A sentence.\n"
