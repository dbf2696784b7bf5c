"""The widget of the kernel in a real JupyterLab: it follows the hand, text stays text, nothing
leaves."""

import copy
import re
from collections.abc import Iterator

import nbclient
import pytest
from axe_playwright_python.sync_playwright import Axe
from conftest import desk, notebook_of
from nbconvert import HTMLExporter
from nbformat.sign import NotebookNotary
from steps import check_quiet, text_of, type_sentence, until

from repro.core.decoding import SearchConfig

pytestmark = pytest.mark.browser

SENTENCE = "The old man sees a dog."
LONG = (
    "The old man sees a dog and the small woman buys the new table that the child with the hat "
    "likes and the young men sleep."
)
SEARCH = SearchConfig(beam=2)
LIVE, STILL = "[class*=rp-live-]", "[class*=rp-still-]"

CELLS = {
    "load": f"""
import torch
torch.set_num_threads(1)
from repro import SearchConfig, gallery, load_translator
from repro.widgets import Pruning
SENTENCE, LONG, SEARCH = {SENTENCE!r}, {LONG!r}, {SEARCH!r}
base, gated = (load_translator(gallery.load(name)) for name in ("base", "gated"))
""",
    "pruning": "Pruning([('all heads', base), ('gated', gated)], SENTENCE, SEARCH)",
    "labels": """
labelled = Pruning([('<b>base</b>', base), ('gated', gated)], LONG, SEARCH)
labelled.level.value = 'gated'
labelled
""",
    "figure": """
from repro.plots import curves
curves({"loss": ([1, 2], [2, 1])}, "updates", "nats")
""",
}


@pytest.fixture(scope="module")
def lab(server, browser) -> Iterator:
    """Open a notebook with every widget; each test has cells of its own."""
    with desk(server, browser) as open_one:
        lab = open_one("widgets", list(CELLS.values()))
        lab.run_all()
        yield lab


def cell(lab, name: str):
    """Return the cell of that name."""
    return lab.page.locator(".jp-CodeCell").nth(list(CELLS).index(name))


def test_a_choice_shows_what_is_left(lab):
    pruning = cell(lab, "pruning")
    until(lab, lambda: "24 of 24 heads are left" in text_of(pruning, LIVE), "all heads")
    assert "□" not in text_of(pruning, LIVE)
    pruning.get_by_role("radio", name="gated").press("Space")
    until(lab, lambda: "□" in text_of(pruning, LIVE), "pruned heads")
    until(lab, lambda: "24 of 24 heads are left" not in text_of(pruning, LIVE), "their number")
    assert re.search(r"\d of 24 heads are left", text_of(pruning, LIVE))
    check_quiet(lab)


def test_a_label_is_text_and_changed_words_are_marked(lab):
    labels = cell(lab, "labels")
    until(lab, lambda: "<b>base</b>" in text_of(labels, f"{LIVE} th"), "the label")
    assert labels.locator(f"{LIVE} u").count() > 0
    check_quiet(lab)


def test_only_the_live_widget_is_seen_and_nothing_is_in_the_way(lab):
    for name in ("pruning", "labels"):
        live, still = (cell(lab, name).locator(part) for part in (LIVE, STILL))
        until(lab, still.is_hidden, f"the still picture of {name} to go")
        assert live.is_visible()
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        lab.set_theme(theme)
        lab.page.wait_for_timeout(500)
        lab.shoot(f"pruning-{theme[11:]}", cell(lab, "labels"))
        found = Axe().run(lab.page, context=[".widget-vbox"]).response["violations"]
        assert [(each["id"], each["nodes"][0]["target"]) for each in found] == []


def test_the_words_of_a_figure_become_its_alternative(lab):
    figure, words = cell(lab, "figure"), "Lines with points. Of: loss."
    until(lab, lambda: figure.get_by_role("img", name=words).count() == 1, "the words")
    assert not figure.get_by_text(words).is_visible()


def test_a_mistake_fades_what_is_shown_until_it_is_fixed(lab):
    labels = cell(lab, "labels")
    faded = labels.locator(".rp-stale")
    type_sentence(labels, " ")
    until(lab, lambda: faded.count() == 1, "the old words to fade")
    type_sentence(labels, LONG)
    until(lab, lambda: faded.count() == 0, "the new words")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Return a notebook as it is saved with widgets in it."""
    notebook = notebook_of([CELLS["load"], CELLS["pruning"]])
    nbclient.NotebookClient(
        notebook, timeout=600, resources={"metadata": {"path": tmp_path_factory.mktemp("saved")}}
    ).execute()
    return notebook


def test_an_exported_page_shows_the_stand_ins_without_a_network(browser, saved, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(HTMLExporter().from_notebook_node(saved)[0])
    view = browser.new_page(viewport={"width": 800, "height": 1000})
    view.context.set_offline(True)
    view.goto(page.as_uri())
    assert (
        view.locator(STILL).count() == 1
        and view.get_by_text("not live: run the cell in JupyterLab").is_visible()
    )
    assert view.evaluate("document.documentElement.scrollWidth") <= 800
    view.close()


@pytest.mark.parametrize("trusted", [True, False])
def test_a_saved_notebook_shows_everything_before_anything_runs(
    open_notebook, server, saved, trusted
):
    """Trusted: the widgets, from the state in the file. Else: their text, as on a page without any
    kernel."""
    if trusted:
        NotebookNotary(data_dir=str(server.data)).sign(saved)
    else:
        saved = copy.deepcopy(saved)
        saved.cells[0].source += "\n# nobody has signed this"
    lab = open_notebook(f"saved-{trusted}", saved)
    pruning = lab.page.locator(".jp-CodeCell").nth(1)
    if trusted:
        until(lab, lambda: pruning.locator(f"{LIVE} sub").count() > 5, "the translations")
        assert "not live" not in pruning.inner_text()
    else:
        assert "not live: run the cell" in pruning.inner_text()
        until(
            lab,
            lambda: "all heads" in text_of(pruning, "th") and "■ ■ ■ ■" in pruning.inner_text(),
            "the heads as text",
        )
    assert (server.folder / f"saved-{trusted}.ipynb").stat().st_size < 400_000
    lab.shoot(f"saved-{trusted}")
    check_quiet(lab)
