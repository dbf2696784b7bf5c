"""Text that is not ours is shown as it is, in pages and on the terminal."""

import html
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from repro.markdown import escape, table, visible
from repro.papers.pages import as_html
from repro.papers.report import Section
from repro.records.report import render, render_results
from repro.records.stored import load_records

HOSTILE = [
    "![p](http://evil.example/p.png)",
    "[a link](http://evil.example)",
    "[a link]: http://evil.example",
    "<img src=x onerror=alert(1)>",
    "gated_sites=__encoder_self___-seed1-0123",
    "*bold* **bold** `code` ~~gone~~ a\\b",
    "&lt;b&gt; &#60; AT&T",
    "x\n\n# Forged heading\n\n| BLEU | 99.9 |",
    "a | b",
]


def shown(text: str) -> str:
    """Return the text that a browser shows of a heading that holds the text."""
    page = (
        MarkdownIt("commonmark", {"html": True})
        .enable(["table", "strikethrough"])
        .render(f"# x{escape(text)}x")
    )
    assert re.fullmatch(r"<h1>[^<]*</h1>\n", page), page
    return html.unescape(page[len("<h1>x") : -len("x</h1>\n")])


@pytest.mark.parametrize("text", HOSTILE)
def test_markup_is_shown_as_characters(text):
    assert shown(text) == visible(text)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.text(st.sampled_from("ab _*`[]()!<>&;#~\\\n\x1b|:-=1.")))
def test_any_text_is_shown_as_characters(text):
    assert shown(text) == visible(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b]0;owned\x07", "⟨U+001B⟩]0;owned⟨U+0007⟩"),
        ("a\r\nb\u2028c\x85d", "a⟨U+000D⟩⟨U+000A⟩b⟨U+2028⟩c⟨U+0085⟩d"),
        ("abc\u202ecba", "abc⟨U+202E⟩cba"),
        ("नमस्ते \u3000 👨\u200d👩 می\u200cشود", "नमस्ते \u3000 👨\u200d👩 می\u200cشود"),
    ],
)
def test_commands_to_a_terminal_are_shown_and_letters_are_not(text, expected):
    assert visible(text) == expected


def test_names_of_settings_stay_readable():
    assert escape("train.batch_tokens=4096, gaussian(centers=[-3, 2], std=0.5)") == (
        "train.batch_tokens=4096, gaussian(centers=[-3, 2], std=0.5)"
    )


@pytest.fixture
def hostile(results):
    """Return records whose names and texts are markup and commands to the terminal."""
    records = load_records(results)[:2]
    for record in records:
        origin = record["provenance"]
        origin["processor"], origin["commit"] = HOSTILE[0] + "\x1b[2J", HOSTILE[1]
        origin["device"], origin["versions"]["torch"] = HOSTILE[3], HOSTILE[0]
        record["run"] += HOSTILE[7]
        record["system"] += HOSTILE[0]
        record["scores"][0]["signature"] += "` " + HOSTILE[0]
        record["training"]["joules"] = {HOSTILE[0]: 1.0}
    return records


def test_a_page_of_hostile_records_asks_nobody_and_is_nobody_elses(hostile, monkeypatch):
    monkeypatch.setattr(
        "repro.records.report.pairs_of",
        lambda record: (["a\n\n# Forged"] * 1000, ["b\x1b[2J"] * 1000),
    )
    monkeypatch.setattr("repro.records.report.differences_table", lambda *_: "")
    for page in (render(hostile), render_results(hostile)):
        assert "\x1b" not in page and "\n# Forged" not in page and "\n| BLEU | 99.9 |" not in page
        document = as_html([Section(page, {}, "top")], "x")
        body = document[document.index("<h1>") :]
        assert not re.search(r"<(img|a href=\"http|script)", body)


def test_no_picture_is_fetched_even_where_something_was_not_escaped():
    assert "<img" not in as_html(
        [Section("# t\n\n![p](http://evil.example/p.png)", {}, "top")], "x"
    )


def test_a_bar_in_a_cell_makes_no_column():
    assert table(["a"], [[escape("x | y")]]).splitlines()[-1] == "| x \\| y |"
