"""The widgets of the kernel in a real JupyterLab: they follow the hand, text stays text, nothing
leaves."""

import copy
from collections.abc import Iterator

import nbclient
import pytest
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
    "joiners": r"""
typed = ["👨\u200d👩\u200d👧", "می\u200cروم", "a\u200db", "क्\u200dष"]
joined = Pruning([('base', base)], SENTENCE, SEARCH)
words = [{"text": word, "probability": 1.0, "changed": False} for word in typed]
joined.words.rows = [{"label": "typed", "words": words}]
joined
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


def test_the_pruning_slider_moves(lab):
    pruning = cell(lab, "pruning")
    assert pruning.locator(".rp-head").count() == 24 and pruning.locator(".rp-off").count() == 0
    pruning.locator(".noUi-handle").press("ArrowRight")
    until(lab, lambda: pruning.locator(".rp-off").count() > 0, "pruned heads")
    until(lab, lambda: "of 24 heads are left" in text_of(pruning, ".rp-notice"), "their number")
    check_quiet(lab)


def test_a_label_is_text_and_changed_words_are_marked(lab):
    labels = cell(lab, "labels")
    assert (
        "<b>base</b>" in text_of(labels, ".rp-side")
        and labels.locator("mark.rp-changed").count() > 0
    )
    check_quiet(lab)


def test_only_the_live_widget_is_seen_and_all_sliders_have_names(lab):
    for name in ("pruning", "labels"):
        until(
            lab,
            lambda name=name: cell(lab, name).locator(".rp-still").is_hidden(),
            f"the stand-in of {name} to go",
        )
        assert cell(lab, name).locator(".rp").first.is_visible()
    sliders = lab.page.get_by_role("slider")
    assert all(
        label
        for label in sliders.evaluate_all(
            "nodes => nodes.map(node => node.getAttribute('aria-label'))"
        )
    )
    assert cell(lab, "pruning").get_by_role("slider", name="model").count() == 1


def test_joiners_are_shown_where_they_join(lab):
    tokens = cell(lab, "joiners").locator(".rp-word .rp-text")
    until(lab, lambda: tokens.count() == 4, "the words")
    assert tokens.all_text_contents() == [
        "👨\u200d👩\u200d👧",
        "می\u200cروم",
        "a⟨U+200D⟩b",
        "क्\u200dष",
    ]


def test_the_words_of_a_figure_become_its_alternative(lab):
    figure, words = cell(lab, "figure"), "Lines with points. Of: loss."
    until(lab, lambda: figure.get_by_role("img", name=words).count() == 1, "the words")
    assert not figure.get_by_text(words).is_visible()


def test_a_mistake_fades_what_is_shown_until_it_is_fixed(lab):
    labels = cell(lab, "labels")
    view = labels.locator(".rp").last  # the words, below the heads
    type_sentence(labels, " ")
    until(lab, lambda: view.get_attribute("data-state") == "stale", "the old words to fade")
    type_sentence(labels, LONG)
    until(lab, lambda: view.get_attribute("data-state") == "ready", "the new words")


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
        view.locator(".rp-still").count() == 1
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
        until(lab, lambda: pruning.locator(".rp-word").count() > 5, "the translations")
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
