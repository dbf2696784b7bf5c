"""The site, built once: readable for everybody, on a phone and in the dark, without a network."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

pytest.importorskip("myst_nb", reason="the generator of the site is not installed: make site")

from website import __main__ as website

pytestmark = pytest.mark.browser

HERE = ("file:", "data:", "blob:")
SLOW = 600_000  # milliseconds; nothing takes so long, but a busy machine is no reason to fail

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


# What a second theme and a small screen can change; axe leaves targets out by itself.
COLOURS = ("color-contrast", "link-in-text-block")
ON_A_PHONE = (*COLOURS, "target-size", "scrollable-region-focusable")


def barriers(page, *rules: str) -> list[tuple[str, str]]:
    """Return what is in somebody's way: the rule and the first place; without rules, by all."""
    only = {"runOnly": {"type": "rule", "values": rules}} if rules else {}
    options = {"iframes": False, "resultTypes": ["violations"], "preload": False} | only
    found = Axe().run(page, options=options).response["violations"]
    return [(each["id"], each["nodes"][0]["html"]) for each in found]


def every_page(site: Path) -> list[str]:
    """Return the names of all pages but the translators."""
    paths = [path.relative_to(site) for path in sorted(site.rglob("*.html"))]
    return [
        str(path.with_suffix(""))
        for path in paths
        if path.parts[0] != "_static" and path.name not in website.TRANSLATORS
    ]


def test_pages_have_no_barrier_fit_a_phone_and_ask_no_other_machine(site, browser, request):
    wrong, page, asked = {}, browser.new_page(), []
    page.route("**/translator.html", lambda route: route.fulfill(body="", status=200))
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: asked.append(str(error)))
    for name in every_page(site) if request.config.getoption("every_page", False) else PAGES:
        asked.clear()
        page.set_viewport_size({"width": 1280, "height": 720})
        page.emulate_media(color_scheme="light")
        page.goto(f"file://{site / name}.html", timeout=SLOW)
        found = barriers(page)
        page.emulate_media(color_scheme="dark")
        page.wait_for_timeout(300)  # colours change slowly
        found += barriers(page, *COLOURS)
        page.set_viewport_size({"width": 390, "height": 844})
        page.wait_for_timeout(500)  # the theme lets boxes be reached a little after they scroll
        found += barriers(page, *ON_A_PHONE)
        width = page.evaluate("document.documentElement.scrollWidth")
        found += [("wider than a phone", f"{width} pixels")] * (width > 390)
        found += [("asked or failed", each) for each in asked if not each.startswith(HERE)]
        print(f"{name}: {found or 'no barrier'}", flush=True)
        if found:
            wrong[name] = found
    page.close()
    assert not wrong
