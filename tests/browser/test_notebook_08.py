"""Notebook 08 in a real JupyterLab, as a reader plays with it."""

from pathlib import Path

import nbformat
import pytest
from conftest import SLOW
from steps import HOSTILE, cell_with, check_quiet, text_of, type_sentence, until

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}


def test_notebook_08_is_a_playing_field(open_notebook, server):
    """Run the real one, compare models, look into heads, move the playground's center, switch a
    head off, type markup in every widget that takes a sentence."""
    (server.folder / "results").symlink_to(ROOT / "results")
    notebook = nbformat.read(ROOT / "notebooks" / "08_compare_and_ablate.ipynb", 4)
    lab = open_notebook("notebooks/08_compare_and_ablate", notebook)
    lab.run_all()

    models = cell_with(lab, "page = translator(").locator("iframe").content_frame
    models.locator(".rp-model").nth(4).locator(".rp-number").first.wait_for(timeout=SLOW)
    look = cell_with(lab, 'page.view("attention"').locator("iframe").content_frame
    look.get_by_role("heading", name="Cross attention, layer 2, head 3").wait_for(timeout=SLOW)

    play = cell_with(lab, 'page.view("playground"').locator("iframe").content_frame
    play.locator(".rp-number").first.wait_for(timeout=SLOW)
    shown = ".rp-text, .rp-number"  # a good model may say the same, with other probabilities
    words = text_of(play, shown)
    bell = play.get_by_role("slider", name="middle of the bell")
    until(lab, lambda: bell.press("ArrowRight") or text_of(play, shown) != words, "other numbers")

    heads = cell_with(lab, 'off=[("cross"').locator("iframe").content_frame
    heads.locator(".rp-status", has_text="4 of 24 heads off").wait_for(timeout=SLOW)
    heads.get_by_role("button", name="Cross attention, layer 2, head 1").press("Space")
    heads.locator(".rp-status", has_text="5 of 24 heads off").wait_for(timeout=SLOW)

    for theme, name in THEMES.items():
        lab.set_theme(name)
        for name, widget in {
            "compare": "page = translator(",
            "attention": 'page.view("attention"',
            "playground": 'page.view("playground"',
            "heads": 'off=[("cross"',
            "fewer": "off=by_need",
            "claims": "claims_table(",
        }.items():
            place = cell_with(lab, widget).locator(".jp-Cell-outputWrapper").last
            place.scroll_into_view_if_needed()
            lab.page.wait_for_timeout(300)
            lab.shoot(f"{name}-{theme}", place)

    fewer = cell_with(lab, "off=by_need").locator("iframe").content_frame
    for place in (models, look, fewer):
        before = text_of(place, ".rp-token, .rp-number")
        type_sentence(place, HOSTILE)
        until(
            lab,
            lambda place=place, before=before: text_of(place, ".rp-token, .rp-number") != before,
            "the new sentence",
        )
    tokens = look.get_by_role("group", name="follow: source").get_by_role("button")
    until(lab, lambda: "<" in "".join(tokens.all_text_contents()), "the markup as text")
    assert look.locator("main img").count() == models.locator("main img").count() == 0

    figures = lab.page.locator(".jp-RenderedImage img")
    assert figures.count() == 4 and lab.page.locator(".js-plotly-plot, .plot-img").count() == 0
    figures.first.scroll_into_view_if_needed()
    before = figures.first.bounding_box()
    figures.first.hover()
    lab.page.wait_for_timeout(500)
    assert figures.first.bounding_box() == before  # nothing takes its place under the mouse
    sizes = figures.first.evaluate("node => [node.naturalWidth, node.width]")
    assert 0 <= sizes[0] - 2 * sizes[1] <= 1, sizes  # two pixels for one of the page
    lab.page.set_viewport_size({"width": 800, "height": 1100})
    assert figures.first.evaluate(
        "node => node.width <= node.closest('.jp-OutputArea-output').clientWidth"
    )
    lab.shoot("hostile")
    check_quiet(lab)
