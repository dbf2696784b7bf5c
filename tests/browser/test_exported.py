"""A notebook exported to one file: what is in it is alive without kernel, server or network."""

import os
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from each_figure import shown as outputs_of
from nbconvert import HTMLExporter

from repro import plots
from repro.runs import gallery
from repro.widgets import Question, carried, claims_table, one_head, predict, translator

pytestmark = pytest.mark.browser

RESULTS = Path(__file__).resolve().parents[2] / "results"
SLOW = 600_000  # milliseconds; nothing takes so long, but a busy machine is no reason to fail
WORDS = "the old dog sees a small cat".split()
OF_A_PART = {"rules": {"page-has-heading-one": {"enabled": False}}}  # the notebook has it
SIZES = {"light": (1366, 900), "dark": (390, 844)}
DARK = "body { background: #111; color: #eee }"


def exported(folder: Path, *shown: object, style: str = "") -> Path:
    """Return a page with outputs, as nbconvert writes it."""
    notebook = nbformat.v4.new_notebook()
    for each in shown:
        cell = nbformat.v4.new_code_cell("shown")
        is_figure = hasattr(each, "to_dict")
        found = outputs_of(each) if is_figure else [(each._repr_mimebundle_(), {})]
        cell.outputs = [
            nbformat.v4.new_output("display_data", data, metadata=metadata)
            for data, metadata in found
        ]
        notebook.cells.append(cell)
    text, _ = HTMLExporter(template_name="basic").from_notebook_node(notebook)
    head = "<!doctype html><html lang=en><meta charset=utf-8><title>Exported</title>"
    path = folder / "exported.html"
    path.write_text(f"{head}<style>{style}</style>{text}", encoding="utf-8")
    return path


class Visit:
    """An open page, and what went wrong in it."""

    def __init__(self, browser, path: Path, size: tuple[int, int] = SIZES["light"], **options):
        width, height = size
        self.context = browser.new_context(viewport={"width": width, "height": height}, **options)
        self.context.set_default_timeout(SLOW)
        self.page, self.errors = self.context.new_page(), []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.route(
            re.compile("^(http|ws)s?:"),
            lambda route: self.errors.append(route.request.url) or route.abort(),
        )
        self.page.goto(path.as_uri(), timeout=SLOW)

    def frame(self, number: int):
        return self.page.locator("iframe").nth(number).content_frame

    def check(self, theme: str) -> None:
        """Nothing was wrong, is in anybody's way, or sticks out of its frame."""
        for number in range(self.page.locator("iframe").count()):
            handle = self.page.locator("iframe").nth(number).element_handle()
            frame = handle.content_frame()
            assert frame.evaluate("document.documentElement.dataset.theme") == theme
            inner, outer = (
                f"document.documentElement.{side}Width" for side in ("scroll", "client")
            )
            assert frame.evaluate(f"{inner} <= {outer}")
            found = Axe().run(frame, options=OF_A_PART).response["violations"]
            assert [(number, each["id"], each["nodes"][0]["target"]) for each in found] == []
        assert self.errors == []

    def close(self, name: str) -> None:
        if folder := os.environ.get("SCREENSHOTS"):
            self.page.screenshot(path=f"{folder}/{name}.png", full_page=True, timeout=SLOW)
        self.context.close()


def test_an_exported_page_translates_and_its_views_share_the_model(browser, tmp_path):
    whole = translator(gallery.load("base"), sentence="The old man sees a dog.")
    off = [("cross", 0, head) for head in range(4)]
    chosen = ("encoder_self", 1, 2)
    bell = whole.view("playground", focus=chosen, bells={chosen: (1.0, 2.0)})
    here = Visit(browser, exported(tmp_path, whole, whole.view("heads", off=off), bell))
    first, view = here.frame(0), here.frame(1)
    first.locator(".rp-word").first.wait_for()
    before = first.locator(".rp-translation").inner_text()
    field = first.locator(".rp-field").first
    field.fill("She sees the garden.")
    first.locator(".rp-word", has_text="Garten").first.wait_for()
    assert first.locator(".rp-translation").inner_text() != before
    view.locator(".rp-word").first.wait_for()
    view.locator(".rp-status", has_text="4 of 24 heads off").wait_for()
    assert view.get_by_role("tab").count() == 0

    # Tab comes to the chosen head, and on to its bell
    bell = here.frame(2)
    bell.locator(".rp-word").first.wait_for()
    bell.get_by_role("button", name="all heads on").press("Tab")
    head = bell.locator(".rp-head:focus").get_attribute("aria-label")
    assert head.startswith("Encoder self-attention, layer 2, head 3, replaced")
    for _ in range(2):
        here.page.keyboard.press("Tab")
    assert "middle" in bell.locator(".rp-handle:focus").get_attribute("aria-label")
    assert not here.errors
    here.close("exported-translator")


@pytest.mark.parametrize("theme", SIZES)
def test_small_widgets_live_in_an_exported_page(browser, tmp_path, theme):
    asked = predict(
        Question("Y-01", "How many points does BLEU change?", (-10, 5)),
        Question("Y-02", "How many points are lost?", (0, 20)),
        results=RESULTS,
    )
    head = one_head(WORDS, ["bell", "local", "even"])
    steps = carried([np.eye(7), np.full((7, 7), 1 / 7)], ["layer 1", "layer 2"], WORDS)
    verdicts = ["reproduced", "partly", "not reproduced", "reproduced"]
    about = {"paper": "P", "statement": "<i>s</i>", "evidence": "e\nf"}
    claims = claims_table([{"id": f"a{n}", "verdict": verdicts[n], **about} for n in range(4)])
    path = exported(tmp_path, asked, head, steps, claims, style=DARK if theme == "dark" else "")
    here = Visit(browser, path, SIZES[theme], color_scheme="light", reduced_motion="reduce")
    prediction, one, layers, table = map(here.frame, range(4))

    # nothing is revealed before a guess is locked in, and then that one alone
    slider = prediction.get_by_label("How many points are lost?")
    slider.wait_for()
    here.page.locator("[data-stand-in]").wait_for(state="detached")
    assert prediction.locator("svg, .rp-headline").count() == 0
    slider.press("ArrowRight")
    slider.press("Tab")
    here.page.keyboard.press("Enter")
    prediction.locator(".rp-headline", has_text="Your guess lies 3.6 above").wait_for()
    assert prediction.locator(".rp-headline").count() == 1 and slider.is_disabled()

    sums = one.locator(".rp-caption", has_text="The rows sum to")
    assert sums.inner_text().startswith("The rows sum to 0.30, 0.70, 0.94, 1.00")
    one.get_by_role("slider", name="middle of the bell").press("ArrowRight")
    one.locator(".rp-caption", has_text="The rows sum to 0.40").wait_for()
    one.get_by_label("the head looks").select_option("local")
    one.get_by_label("neighbours to each side").press("ArrowRight")
    matrix = one.get_by_role("group", name="weights of the head")
    matrix.press("Space")  # shuts the first word to itself: its two neighbours share
    matrix.press("ArrowRight")
    one.get_by_text("“the” looks at “old”: 50 %").wait_for()

    layers.get_by_label("step").press("ArrowRight")
    layers.get_by_role("heading", name="layer 2").wait_for()
    layers.get_by_text("The largest weight of a row is 14 % on average.").wait_for()

    assert table.locator("tbody [data-verdict]").all_text_contents() == [
        "not reproduced",
        "partly",
        "reproduced",
        "reproduced",
    ]
    table.get_by_role("button", name="id", exact=True).press("Enter")
    assert table.locator("tbody td:nth-child(2)").all_text_contents() == ["a0", "a1", "a2", "a3"]
    table.get_by_role("button", name="reproduced 2", exact=True).press("Enter")
    table.get_by_text("2 of 4 claims").wait_for()
    second = table.get_by_text("f", exact=True).first
    assert not second.is_visible()
    table.get_by_text("e", exact=True).first.click()
    second.wait_for()
    assert table.locator("tbody").get_by_text("<i>s</i>").count() == 2
    table.get_by_label("filter claims by words").fill("A3 p")
    table.get_by_text("1 of 4 claims").wait_for()
    here.check(theme)
    here.close(f"exported-small-{theme}")


def test_the_words_of_a_figure_become_its_alternative_and_it_stays_legible(browser, tmp_path):
    wide = plots.curves({"up": ([1, 2], [3, 4]), "down": ([1, 2], [4, 3])}, "<updates>", "loss")
    maps = plots.pattern_gallery({"<two>": np.eye(2)})
    here = Visit(browser, exported(tmp_path, wide, maps), SIZES["dark"])
    lines, pattern = here.page.get_by_role("img").all()
    assert lines.get_attribute("alt").startswith("Lines with points. Of: up, down. Across: <upd")
    assert pattern.get_attribute("alt").startswith("Heat map. Panels: <two>.")
    assert not here.page.get_by_text("Heat map.").is_visible()
    width = int(lines.get_attribute("width"))
    assert lines.bounding_box()["width"] == pytest.approx(0.66 * width, abs=1)
    assert here.page.evaluate("document.documentElement.scrollWidth") == SIZES["dark"][0]
    here.page.set_viewport_size({"width": 1366, "height": 900})
    assert lines.bounding_box()["width"] == pytest.approx(width, abs=1)
    assert not here.errors
    here.close("exported-figures")


def test_without_scripts_an_answer_is_folded_away(browser, tmp_path):
    asked = predict(Question("Y-02", "How many points are lost?", (0, 20)), results=RESULTS)
    here = Visit(browser, exported(tmp_path, asked), java_script_enabled=False)
    answer = here.page.get_by_text("Printed: 8.9")
    assert not answer.is_visible()
    here.page.get_by_text("Guess, then open").click()
    answer.wait_for()
    here.close("exported-without-scripts")
