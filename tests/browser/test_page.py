"""The page of `repro page`, opened as a plain file without a network, as a visitor uses it."""

import re

import pytest
from steps import HOSTILE

from repro.page.page import page_html
from repro.runs import gallery

pytestmark = pytest.mark.browser

SLOW = 300_000  # milliseconds; nothing takes so long, but a busy machine is no reason to fail
WORST = "switch off the most needed head"


@pytest.fixture(scope="module")
def html() -> str:
    return page_html({name: gallery.load(name) for name in ("base", "gated")})


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
    here.page.wait_for_timeout(500)  # the link is written a little later
    there = visit(here.page.url.partition("#")[2])
    there.off(3)
    there.status("3 of 24 heads off")
    assert there.translation() == broken
    here.button("undo").click()
    here.off(2)
    here.button("redo").click()
    here.off(3)
    here.button("all heads on").click()
    here.off(0)
    here.page.locator(".rp-text", has_text=whole.split()[0]).first.wait_for(timeout=SLOW)
    for one in (here, there):
        one.check_quiet()


def test_the_first_view_fits_a_small_laptop(visit):
    here = visit()
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
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    here = visit(**phone)
    squares = here.page.locator(".rp-head")
    boxes = [square.bounding_box() for square in squares.all()]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)
    assert all(min(box["width"], box["height"]) >= 24 for box in boxes)
    squares.first.tap()
    here.off(1)
    here.check_quiet()


@pytest.mark.parametrize(
    "sentence, answer",
    [
        ("", "Type a sentence"),
        ("   \u200f\u202e ", "Type a sentence"),
        ("dog " * 2000, "too long for one sentence"),
        ("dog " * 500, "this page reads 250"),
        ("The 😀 sees a dog.", "never seen by this model: 😀"),
    ],
    ids=["empty", "blank", "2000 words", "500 words", "emoji"],
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


def test_markup_is_text(visit):
    here = visit()
    here.page.get_by_label("sentence to translate").fill(HOSTILE)
    here.page.locator(".rp-token", has_text="<").first.wait_for(timeout=SLOW)
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
    ],
)
def test_a_bad_link_is_named_and_the_page_works(visit, link, answer):
    here = visit(link)
    here.status(answer)
    here.measured()
    here.button(WORST).click()
    here.off(1)
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


def test_an_old_browser_is_told(visit):
    here = visit(loads=False, script="delete window.DecompressionStream")
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
