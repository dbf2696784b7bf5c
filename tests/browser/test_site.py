"""The site, built once: readable for everybody, on a phone and in the dark, without a network."""

import pytest
from axe_playwright_python.sync_playwright import Axe

pytest.importorskip("myst_nb", reason="the generator of the site is not installed: make site")

from website import __main__ as website

pytestmark = pytest.mark.browser

# One of each kind; the translators are pages of their own, with tests of their own.
PAGES = (
    "index",
    "findings",
    "notebooks/05_recurrent_attention",
    "tutorials/01_attention/exercise",
    "results/claims/README",
    "docs/teaching/rubric",
    "teach",
)


@pytest.fixture(scope="module")
def site():
    """Return the folder of the built site."""
    assert website.main() == 0
    return website.BUILD / "html"


def test_pages_have_no_barrier_fit_a_phone_and_ask_no_other_machine(site, browser):
    for name in PAGES:
        page, asked, errors = browser.new_page(), [], []
        page.route("**/translator.html", lambda route: route.fulfill(body="", status=200))
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.on("pageerror", lambda error, errors=errors: errors.append(str(error)))
        page.goto(f"file://{site / name}.html")
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            page.wait_for_timeout(300)  # colours change slowly
            found = Axe().run(page, options={"iframes": False}).response["violations"]
            assert [(each["id"], each["nodes"][0]["html"]) for each in found] == [], (name, theme)
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
        assert not page.locator("img:not([alt]), img[alt='']").count(), name
        assert not errors and all(url.startswith("file:") for url in asked), name
        page.close()
