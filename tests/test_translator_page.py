"""The page of a model as the output of a cell."""

import html
import re

from repro.page.page import page_html
from repro.runs import gallery
from repro.widgets import translator


def test_the_output_holds_the_page_as_a_command_writes_it_and_says_in_words_what_it_is():
    run = gallery.load("hc-sa")
    shown = translator(run)._repr_mimebundle_()
    frame = re.fullmatch(
        r'<iframe title="(.*)" srcdoc="([^"]*)" style="[^"]*"></iframe>', shown["text/html"]
    )
    assert frame and html.unescape(frame[2]) == page_html({"hc-sa": run})
    assert frame[1] == "A translator with heads to switch off: hc-sa"
    assert shown["text/plain"].startswith(frame[1])


def test_a_name_is_text():
    shown = translator(gallery.load("hc-sa"), name='"><b>')._repr_mimebundle_()["text/html"]
    assert '"><b>' not in shown and "&quot;&gt;&lt;b&gt;" in shown
