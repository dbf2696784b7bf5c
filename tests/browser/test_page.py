"""The page of `repro page`, opened as a plain file without a network, as a visitor uses it."""

import json
import os
import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from steps import HOSTILE

from repro.page.page import front_end, mount_model, packed_model, page_html
from repro.runs import gallery

pytestmark = pytest.mark.browser

RESULTS = Path(__file__).resolve().parents[2] / "results"
SLOW = 300_000  # milliseconds; nothing takes so long, but a busy machine is no reason to fail
WORST = "switch off the most needed head"
DRAWN = "(typeof page === 'undefined' ? apps : [page]).every((app) => !app.drawing)"


@pytest.fixture(scope="module")
def html() -> str:
    return page_html({name: gallery.load(name) for name in ("base", "gated")}, RESULTS)


class Visit:
    """An open page: what it asked of other machines, and what the browser complained about."""

    def __init__(self, context, address: str, loads: bool = True) -> None:
        self.context, self.address = context, address
        self.page, self.requests, self.errors, self.dialogs = context.new_page(), [], [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.errors.append(message.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.dialogs.append(1), dialog.dismiss()))
        self.page.goto(address)
        if loads:
            self.page.locator(".rp-word").first.wait_for(timeout=SLOW)

    def button(self, name: str):
        return self.page.get_by_role("button", name=name, exact=True)

    def measured(self) -> None:
        """Wait until every head is measured."""
        self.page.locator(".rp-status[aria-busy=false]").wait_for(timeout=SLOW)

    def translation(self) -> str:
        return " ".join(self.page.locator(".rp-translation .rp-text").all_text_contents())

    def translates(self, text: str) -> None:
        """Wait until the translation is a text; it comes later than the heads of a link."""
        for _ in range(SLOW // 100):
            if self.translation() == text:
                return
            self.page.wait_for_timeout(100)
        raise AssertionError(f"the translation is {self.translation()}, not {text}")

    def status(self, pattern: str) -> None:
        """Wait until the page says something."""
        found = self.page.locator(".rp-status").filter(has_text=re.compile(pattern))
        found.wait_for(timeout=SLOW)

    def off(self, count: int) -> None:
        """Wait until so many heads are off."""
        for _ in range(SLOW // 100):
            if self.page.locator(".rp-off").count() == count:
                return
            self.page.wait_for_timeout(100)
        raise AssertionError(f"there are not {count} heads off")

    def open(self, tab: str):
        """Open a tab, and return its panel."""
        self.page.get_by_role("tab", name=tab, exact=True).click()
        return self.page.get_by_role("tabpanel", name=tab, exact=True)

    def until(self, expression: str, what: object = None) -> None:
        """Wait until an expression of JavaScript about `page`, the app, holds and is drawn.

        Playwright's own `wait_for_function` evaluates text in the page, which the page forbids.
        """
        self.page.bring_to_front()  # a page behind another one draws nothing
        for _ in range(SLOW // 100):
            if self.page.evaluate(expression, what) and self.page.evaluate(DRAWN):
                return
            self.page.wait_for_timeout(100)
        raise AssertionError(f"it does not come true: {expression}")

    def link(self) -> str:
        """Return the state in the address, once it is written."""
        self.until("!page.address.writing")
        return self.page.evaluate("location.hash.slice(1)")

    def check_quiet(self) -> None:
        outside = [url for url in self.requests if not url.startswith(("file:", "data:", "blob:"))]
        assert (outside, self.errors, self.dialogs) == ([], [], [])


@pytest.fixture
def visit(browser, html, tmp_path):
    """Return a function that opens the page; its network is blocked."""
    path, contexts = tmp_path / "page.html", []
    path.write_text(html, encoding="utf-8")

    def open_one(link: str = "", loads: bool = True, script: str = "", **options) -> Visit:
        size = {"width": 1366, "height": 768}
        context = browser.new_context(**({"viewport": size} | options))
        context.set_offline(True)
        context.set_default_timeout(SLOW)
        if script:
            context.add_init_script(script)
        contexts.append(context)
        return Visit(context, path.as_uri() + (f"#{link}" if link else ""), loads)

    yield open_one
    for context in contexts:
        context.close()


def test_heads_are_switched_off_undone_and_found_again_by_the_link(visit):
    here = visit()
    whole = here.translation()
    here.measured()
    for count in (1, 2, 3):
        here.button(WORST).click()
        here.off(count)
    here.status("3 of 24 heads off")
    here.page.locator(".rp-whole").filter(has_text=whole).wait_for(timeout=SLOW)
    broken = here.translation()
    assert broken != whole
    there = visit(here.link())
    there.off(3)
    there.status("3 of 24 heads off")
    there.translates(broken)
    here.button("undo").click()
    here.off(2)
    here.button("redo").click()
    here.off(3)
    here.button("all heads on").click()
    here.off(0)
    here.page.locator(".rp-text", has_text=whole.split()[0]).first.wait_for(timeout=SLOW)
    for one in (here, there):
        one.check_quiet()


@pytest.mark.parametrize("name", ["base", "multi30k-base"])
def test_the_first_view_fits_a_small_laptop(visit, name, tmp_path):
    here = visit(loads=False)
    page = page_html({name: gallery.load(name)}, RESULTS)
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    here.page.reload()
    here.measured()
    box = here.page.locator(".rp-lines").bounding_box()
    assert box["y"] + box["height"] <= 768 and box["x"] + box["width"] <= 1366
    here.check_quiet()


def test_heads_are_reached_by_keys(visit):
    here = visit()
    square = here.page.get_by_role("button", name="Cross attention, layer 1, head 1")
    square.focus()
    here.page.keyboard.press("ArrowDown")
    here.page.keyboard.press("ArrowRight")
    here.page.keyboard.press("Space")
    here.off(1)
    pressed = here.page.locator(".rp-off").get_attribute("aria-label")
    assert pressed.startswith("Cross attention, layer 2, head 2, off")
    here.check_quiet()


def test_a_phone_switches_heads_by_touch(visit):
    here = visit(**PHONE)
    squares = here.page.locator(".rp-head")
    boxes = [square.bounding_box() for square in squares.all()]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)
    assert all(min(box["width"], box["height"]) >= 24 for box in boxes)
    squares.first.tap()
    here.off(1)
    here.check_quiet()


PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
TABS = (
    "Break it",
    "Where they look",
    "Replace a head",
    "Compare models",
    "Fewer heads",
    "One word, step by step",
    "The claims",
)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_in_the_way_of_any_visitor(visit, theme):
    here = visit(color_scheme=theme, reduced_motion="reduce")
    assert here.page.locator("html").get_attribute("data-theme") == theme
    here.measured()
    for tab in TABS:
        panel = here.open(tab)
        if tab == "Replace a head":
            panel.get_by_label("looks").select_option("bell")
        here.page.wait_for_timeout(500)
        found = Axe().run(here.page).response["violations"]
        assert [(tab, each["id"], each["nodes"][0]["target"]) for each in found] == []
        if folder := os.environ.get("SCREENSHOTS"):
            here.page.screenshot(path=f"{folder}/{theme}-{tab}.png")
    here.check_quiet()


def test_every_tab_fits_a_phone(visit):
    here = visit(**PHONE)
    for tab in TABS:
        here.open(tab)
        here.page.wait_for_timeout(300)
        assert here.page.evaluate("document.documentElement.scrollWidth") <= 390, tab
        for control in here.page.locator("button:visible, select:visible").all():
            box = control.bounding_box()
            assert min(box["width"], box["height"]) >= 24, (tab, control.text_content())
    here.check_quiet()


def test_tabs_are_reached_by_keys(visit):
    here = visit()
    here.page.get_by_role("tab", name=TABS[0]).focus()
    here.page.keyboard.press("ArrowLeft")
    here.page.get_by_role("tabpanel", name=TABS[-1]).wait_for()
    here.page.get_by_label("paper").select_option("voita2019")
    assert here.page.locator(".rp-track").count() > 5
    there = visit(here.link(), loads=False)
    assert there.page.get_by_label("paper").input_value() == "voita2019"
    here.check_quiet()
    there.check_quiet()


def test_a_head_is_replaced_by_a_bell_that_is_dragged(visit):
    here = visit()
    here.measured()
    panel = here.open("Replace a head")
    panel.get_by_role("button", name="Encoder self-attention, layer 1, head 2").click()
    panel.get_by_label("looks").select_option("bell")
    bell = "Object.values(page.state.patterns)[0]"
    here.until(f"{bell}?.center === -1 && page.reading.whole")
    handle = panel.get_by_role("slider", name="middle of the bell")
    box = handle.bounding_box()
    here.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    here.page.mouse.down()
    here.page.mouse.move(box["x"] + 80, box["y"] + 20, steps=4)
    here.page.mouse.up()
    here.until(f"{bell}.center > 1")
    dragged = here.page.evaluate(f"{bell}.center")
    panel.get_by_role("slider", name="width of the bell").focus()
    here.page.keyboard.press("ArrowRight")
    here.until(f"{bell}.std === 1.05")
    here.status("1 head replaced")
    there = visit(here.link())
    there.until(f"{bell}.std === 1.05 && {bell}.center === {dragged}")
    there.open("Replace a head")
    there.status("1 head replaced")
    for count in ("1.05", "1"):
        here.until(f"{bell}?.std === {count}")
        here.button("undo").click()
    here.until(f"{bell}?.center === -1")
    here.check_quiet()
    there.check_quiet()


def test_pairs_are_painted_shut_by_finger_and_by_keys(visit):
    here = visit(**PHONE)
    panel = here.open("Replace a head")
    panel.get_by_role("button", name="Encoder self-attention, layer 1, head 1").tap()
    here.until("page.reading.found.attention")
    panel.get_by_role("button", name="paint what it may not see").tap()
    # the cells in it are drawn anew with each head that is measured meanwhile
    panel.locator(".rp-matrix").scroll_into_view_if_needed()
    panel.locator(".rp-cell").nth(1).tap()
    pairs = "JSON.stringify(page.state.patterns['encoder_self.0.0']?.blocked ?? [])"
    here.until(f"{pairs} === '[[0,1]]'")
    panel.get_by_label("weights of the head").focus()
    here.page.keyboard.press("ArrowDown")
    here.page.keyboard.press("Space")
    here.until(f"{pairs} === '[[0,1],[1,1]]'")
    here.until("page.reading.weightsOf('encoder_self.0.0')[1][1] === 0")
    here.button("undo").tap()
    here.until(f"{pairs} === '[[0,1]]'")
    panel.get_by_role("button", name="this head as it was").tap()
    here.until(f"{pairs} === '[]'")
    here.check_quiet()


def test_words_are_right_or_wrong_where_the_truth_is_known(visit):
    here = visit()
    panel = here.open("Compare models")
    panel.locator(".rp-score").filter(has_text=re.compile("right|wrong")).nth(1).wait_for(
        timeout=SLOW
    )
    reference = here.page.evaluate("page.model.examples[0].reference")
    assert panel.locator(".rp-truth").text_content().endswith(reference)
    for row in panel.locator(".rp-model").all():
        said = [word.strip(" ✓") for word in row.locator(".rp-right").all_text_contents()]
        assert said and set(said) <= set(reference.split())
    here.page.get_by_label("sentence to translate").fill("The dog sees my cat.")
    panel.get_by_text("words that the first model does not write are marked").wait_for(timeout=SLOW)
    panel.locator(".rp-number").first.wait_for(timeout=SLOW)
    assert panel.locator(".rp-right, .rp-wrong").count() == 0
    here.until("[...page.view.found.values()].every(Boolean)")
    first, *others = (row.locator(".rp-words") for row in panel.locator(".rp-model").all())
    assert first.locator("mark").count() == 0
    usual = {text.rstrip(".,") for text in first.locator(".rp-text").all_text_contents()}
    for row in others:
        marked = {text.rstrip(".,") for text in row.locator("mark .rp-text").all_text_contents()}
        written = {text.rstrip(".,") for text in row.locator(".rp-text").all_text_contents()}
        assert marked == written - usual
    here.check_quiet()


def test_a_model_that_nothing_compares_with_leads_to_those_that_can_be(visit, tmp_path):
    runs = {name: gallery.load(name) for name in ("multi30k-base", "base", "gated")}
    (tmp_path / "page.html").write_text(page_html(runs), encoding="utf-8")
    here = visit(loads=False)
    panel = here.open("Compare models")
    panel.get_by_text("The other models of this page know other texts.").wait_for(timeout=SLOW)
    panel.get_by_role("button").click()
    here.until("page.state.model === 'base'")
    panel.locator(".rp-right").first.wait_for(timeout=SLOW)
    assert panel.locator(".rp-model").count() == 2
    assert panel.get_by_role("button").count() == 0
    here.check_quiet()


def test_a_slider_switches_off_the_heads_that_are_needed_least(visit):
    here = visit()
    here.measured()
    order = here.page.evaluate("page.reading.byNeed()")
    panel = here.open("Fewer heads")
    slider = panel.get_by_role("slider", name="heads left")
    slider.focus()
    for _ in range(3):
        here.page.keyboard.press("ArrowLeft")
    here.until("page.state.off.length === 3")
    assert here.page.evaluate("page.state.off") == sorted(order[:3])
    here.until("page.view.points.length === 25")
    assert panel.locator(".rp-changes li").count() >= 2
    here.check_quiet()


def test_a_slider_goes_through_the_pruned_models_on_record(visit):
    here = visit()
    panel = here.open("Fewer heads")
    series, *others = here.page.evaluate("page.options.pruned")
    slider = panel.get_by_role("slider", name="pruned model on record")
    slider.focus()
    for number, model in reversed(list(enumerate(series["models"]))):
        assert slider.input_value() == str(number)
        said = slider.get_attribute("aria-valuetext")
        assert said.startswith(f"{model['heads']} of {series['heads']} heads left: ")
        assert f"{model['bleu']:.1f} BLEU" in said and f"{model['nats']:.2f} nats" in said
        shown = panel.locator(".rp-square:not(.rp-gone)").all_text_contents()
        kept = [head + 1 for site in model["kept"].values() for layer in site for head in layer]
        assert shown == list(map(str, kept))
        assert panel.locator(".rp-square").count() == series["heads"]
        here.page.keyboard.press("ArrowLeft")
    fewest = panel.get_by_role("img", name="Cross attention: layer 1 keeps")
    layer = series["models"][0]["kept"]["cross"][0]
    assert f"layer 1 keeps {'head' if layer else 'none'}" in fewest.get_attribute("aria-label")
    chosen = panel.get_by_label("pruned from")
    assert chosen.count() == bool(others), "one seed is no choice"
    here.check_quiet()


def test_a_word_is_followed_through_the_pictures_of_all_heads(visit):
    here = visit("model=base&sentence=The+dog+sleeps.&view=attention&focus=cross.1.2")
    panel = here.page.get_by_role("tabpanel", name="Where they look")
    squares = panel.get_by_role("button", name=re.compile("layer 1, head 1"))
    look = "nodes => nodes.map(node => node.style.backgroundImage)"
    panel.get_by_text("On this sentence: largest weight").wait_for(timeout=SLOW)
    before = squares.evaluate_all(look)
    assert len(before) == 3 and all(each.startswith('url("data:image/png') for each in before)
    source = panel.get_by_role("group", name="follow: source")
    source.get_by_role("button", name="dog").press("Enter")
    here.until("page.view.word")
    encoder, decoder, cross = (
        a != b for a, b in zip(before, squares.evaluate_all(look), strict=True)
    )
    assert (encoder, decoder, cross) == (True, False, True)
    said = panel.locator(".rp-matrix + .rp-caption, .rp-scroll + .rp-caption").first
    assert "looks at “dog”" in said.text_content()
    weights = "page.reading.weightsOf('cross.1.2').map((row) => row[1])"
    largest = max(here.page.evaluate(weights))
    assert f"{100 * largest:.0f}" in said.text_content()
    source.get_by_role("button", name="dog").press("Enter")
    here.until("!page.view.word")
    assert squares.evaluate_all(look) == before
    squares.nth(2).press("ArrowRight")
    panel.get_by_role("heading", name="Cross attention, layer 1, head 2").wait_for()
    here.check_quiet()


def test_a_page_that_is_still_loading_says_so_and_no_translation_is_no_words(visit):
    late = "Worker = class { postMessage() {} terminate() {} };"
    here = visit(loads=False, script=late)
    here.page.locator(".rp-translation", has_text="loading the model").wait_for()
    assert not here.page.get_by_text("(no words)").count()
    here.check_quiet()


def test_a_step_is_gone_through_part_by_part(visit):
    here = visit(reduced_motion="no-preference")
    here.measured()
    panel = here.open("One word, step by step")
    panel.locator(".rp-part").first.wait_for(timeout=SLOW)
    for count in range(2, 6):
        panel.get_by_role("button", name="next part").click()
        here.until("count => page.view.drawnParts === count", count)
    assert panel.locator(".rp-part").count() == 5
    panel.get_by_role("button", name="next word").press("Enter")
    here.until("page.view.drawn.time === 1")
    likeliest = panel.locator(".rp-part").last.locator(".rp-of").first.text_content()
    written = here.page.evaluate("page.view.drawn.target[2]")
    assert likeliest == written
    panel.get_by_role("button", name="play").dblclick()  # the second click stops it at once
    here.until("page.view.timer === null && page.view.drawnParts === 1")
    panel.get_by_role("button", name="play").click()
    here.until("page.view.timer === null && page.view.drawnParts === 5")
    here.check_quiet()


@pytest.mark.parametrize(
    "sentence, answer",
    [
        ("", "Type a sentence"),
        ("   \u200f\u202e ", "Type a sentence"),
        ("dog " * 2000, "too long for one sentence"),
        ("dog " * 500, "this page reads 250"),
        ("The 😀 sees a dog.", "never seen by this model: 😀"),
        ("The \u202edog\u202c sees \u200fa cat. כלב", "never seen by this model: כ"),
    ],
    ids=["empty", "blank", "2000 words", "500 words", "emoji", "right to left"],
)
def test_bad_sentences_get_one_line_and_lose_nothing(visit, sentence, answer):
    here = visit()
    before = here.page.get_by_label("sentence to translate").input_value()
    here.page.get_by_label("sentence to translate").fill(sentence)
    here.status(answer)
    assert here.translation()
    here.button("undo").click()
    assert here.page.get_by_label("sentence to translate").input_value() == before
    here.check_quiet()


def test_letters_stay_while_an_answer_comes(visit):
    here = visit()
    field = here.page.get_by_label("sentence to translate")
    field.evaluate("""(field) => {
        field.value = "The cat sleeps.";
        field.dispatchEvent(new Event("input"));
        page.update(); // as an answer of the engine does
    }""")
    assert field.input_value() == "The cat sleeps."
    here.until("() => page.state.sentence === 'The cat sleeps.'")
    here.check_quiet()


def test_markup_is_text(visit):
    here = visit()
    here.page.get_by_label("sentence to translate").fill(HOSTILE)
    here.status("never seen by this model: < ")
    here.measured()  # until then another head may come into focus, whose lines lead elsewhere
    here.page.get_by_role("button", name="Encoder self-attention, layer 1, head 1").focus()
    here.page.locator(".rp-token", has_text="<unk>").first.wait_for(timeout=SLOW)
    assert here.page.locator("main img").count() == 0
    here.check_quiet()


@pytest.mark.parametrize(
    "link, answer",
    [
        ("nonsense", "holds no state of this page"),
        ("model=other&sentence=A+dog.", "a model that is not in this page"),
        (
            "model=base&sentence=The+dog+sleeps.&off=cross.9.9,x",
            "heads that this model does not have",
        ),
        (
            "model=base&sentence=The+dog+sleeps.&patterns=cross.9.9:bell:0:1:0:&view=nowhere",
            "heads that this model does not have",
        ),
    ],
)
def test_a_bad_link_is_named_and_the_page_works(visit, link, answer):
    here = visit(link)
    here.status(answer)
    here.measured()
    here.button(WORST).click()
    here.off(1)
    here.check_quiet()


EMBEDDED = """<!doctype html><meta charset="utf-8"><title>host</title>
<style>button {{ color: rgb(1, 2, 3); display: none }} p {{ margin: 7px }}</style>
<p>of the host</p><div></div><div></div>
<script>{script}</script><script>
const options = {options};
const models = [{{ ...options.model, text: async () => options.text }}];
const apps = [...document.querySelectorAll("div")].map((element, i) =>
  modules["front/mount.js"].mount(element, {{ ...options, models, views: options.views[i] }}));
</script>"""


def test_two_apps_live_in_another_page_and_leave_it_alone(visit, tmp_path):
    run, parts = gallery.load("base"), front_end()
    options = {key: parts[key] for key in ("engine", "style")} | {
        "model": mount_model("base", run, []),
        "text": packed_model("base", run),
        "views": [["heads"], ["step", "pruning"]],
    }
    data = json.dumps(options).replace("<", "\\u003c")
    here = visit(loads=False)
    text = EMBEDDED.format(script=parts["script"], options=data)
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    here.page.reload()
    here.until("apps.every((app) => app.reading.isMeasured)")
    assert here.page.get_by_role("tab").all_text_contents() == [TABS[5], TABS[4]]
    here.page.get_by_role("button", name="Cross attention, layer 1, head 1").click()
    here.until("apps[0].state.off.length === 1 && apps[1].state.off.length === 0")
    here.until("apps[0].reading.whole")
    here.page.evaluate("apps[0].setTheme('dark')")
    apart = here.page.evaluate("apps.map((app) => getComputedStyle(app.root).color)")
    assert apart[0] != apart[1]
    here.page.wait_for_timeout(500)
    assert here.page.evaluate("location.hash") == ""
    assert here.page.locator("p").first.evaluate("p => getComputedStyle(p).margin") == "7px"
    here.page.evaluate("apps.forEach((app) => app.unmount())")
    assert here.page.get_by_role("button").count() == 0
    here.check_quiet()


def test_another_model_takes_the_place_of_the_first(visit):
    here = visit()
    here.page.get_by_label("model").select_option("gated")
    here.page.locator(".rp-head:disabled").first.wait_for(timeout=SLOW)  # a gate that is shut
    here.measured()
    here.button(WORST).click()
    here.off(1)
    here.check_quiet()


def test_a_page_cut_short_says_so(visit, html, tmp_path):
    here = visit(loads=False)
    start = html.index('<script type="text/plain" data-model')
    place = html.index(">", start) + 40_000
    cut = html[:place] + html[html.index("</script>", place) :]
    (tmp_path / "page.html").write_text(cut, encoding="utf-8")
    here.page.reload()
    here.status("the model file is cut short or damaged")


@pytest.mark.parametrize("missing", ["DecompressionStream", "Worker"])
def test_an_old_browser_is_told(visit, missing):
    here = visit(loads=False, script=f"delete window.{missing}")
    here.page.get_by_role("alert").filter(has_text="cannot unpack the model").wait_for()
    here.check_quiet()


def test_the_view_is_copied_or_saved_as_a_picture_and_as_a_link(visit):
    here = visit()
    here.measured()
    here.button("copy picture").click()
    here.status("The picture is (copied|saved)")
    here.button("copy link").click()
    here.status("The link is (copied|in the address bar)")
    here.check_quiet()
