"""The page of a model as the output of a cell, and views of it in other outputs."""

import html
import json
import re
from pathlib import Path

import pytest
from expected_errors import refuses

from repro.errors import InputError
from repro.page.bundle import FOLDER
from repro.page.page import page_html
from repro.runs import gallery
from repro.widgets import translator
from repro.widgets.translator_page import CLOSEST, VIEWS, WIDEST

FRAME = re.compile(r"<iframe title=\"([^\"]*)\" srcdoc='([^']*)' style=\"[^\"]*\"></iframe>")
HEAD = ("encoder_self", 1, 3)
ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def page():
    return translator(gallery.load("hc-sa"))


def shown(frame) -> tuple[str, str]:
    """Return the title and the page of an output."""
    title, page = FRAME.fullmatch(frame._repr_mimebundle_()["text/html"]).groups()
    return title, html.unescape(page)


def test_the_output_holds_the_page_as_a_command_writes_it_and_says_in_words_what_it_is(page):
    title, found = shown(page)
    assert found == page_html({"hc-sa": gallery.load("hc-sa")}, key=page.key)
    assert title == "A translator with heads to switch off: hc-sa"
    assert page._repr_mimebundle_()["text/plain"].startswith(title)


@pytest.mark.parametrize("name", gallery.names())
def test_what_is_on_record_of_the_heads_of_the_gallery_stands_in_the_output(name):
    """No claims, no pruned models: they belong to views that are not shown."""
    page = translator(gallery.load(name), views=["step"], results=ROOT / "results")
    (models,) = re.findall(r'id="models">(.*?)</script>', shown(page)[1])
    (options,) = re.findall(r'id="options">(.*?)</script>', shown(page)[1])
    (model,) = json.loads(models)
    assert model["facts"]["encoder_self.0.0"].keys() == {"roles", "confidence", "relevance"}
    assert json.loads(options).keys() == {"views"}


def test_a_name_is_text():
    named = translator(gallery.load("hc-sa"), name="\"'><b>")._repr_mimebundle_()["text/html"]
    assert "'><b>" not in named.replace("srcdoc='", "") and FRAME.fullmatch(named)


def test_a_view_holds_no_model_but_the_key_of_the_page_that_does(page):
    title, view = shown(page.view("playground", "A dog.", HEAD, [HEAD], {HEAD: (-2, 9)}))
    assert title == "playground: a view of hc-sa" and len(view) < 3_000
    assert f'"{page.key}"' in view and f'data-key="{page.key}"' in shown(page)[1]
    bell = '{"name": "bell", "center": -2, "std": 5.0, "sums": false, "blocked": []}'
    assert (
        '{"views": ["playground"], "start": {"sentence": "A dog.", "focus": "encoder_self.1.3", '
        f'"off": ["encoder_self.1.3"], "patterns": {{"encoder_self.1.3": {bell}}}}}}}'
    ) in view
    assert translator(gallery.load("sh-x")).key != page.key


def test_views_and_limits_are_those_of_the_page():
    listed = (FOLDER / "front" / "views.js").read_text().partition("VIEWS = {")[2]
    assert tuple(re.findall(r"^  (\w+):", listed, re.M)) == VIEWS
    limits = f"std: {{ least: {CLOSEST:g}, most: {WIDEST:g}, step: 0.05 }}"
    assert limits in (FOLDER / "front" / "patterns.js").read_text()


def test_a_view_or_a_site_that_is_not_there_is_refused(page):
    with refuses(InputError, "view", "'stepp'", "did you mean 'step'"):
        page.view("stepp")
    with refuses(InputError, "head", "'encoder'", "encoder_self"):
        page.view("heads", off=[("encoder", 0, 0)])
