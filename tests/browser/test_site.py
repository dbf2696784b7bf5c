"""The site, built once: readable for everybody, on a phone and in the dark, without a network."""

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

pytest.importorskip("myst_nb", reason="the generator of the site is not installed: make site")

from website import __main__ as website

pytestmark = pytest.mark.browser

HERE = ("file:", "data:", "blob:")
TABS = min(4, os.cpu_count() or 1)  # each has a process of its own
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
START = """options => {
    const begun = new Promise((begin) => setTimeout(begin));  // when this call has returned
    window.found = begun.then(() => axe.run(document, options));
}"""


class Tab:
    """A tab of the browser, and what is in somebody's way on the page that it shows."""

    def __init__(self, browser) -> None:
        self.page, self.asked, self.found = browser.new_page(), [], []
        self.page.route("**/translator.html", lambda route: route.fulfill(body="", status=200))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("pageerror", lambda error: self.asked.append(str(error)))

    def show(self, address: str) -> None:
        """Open a page as on a desk, in the light."""
        self.asked.clear()
        self.page.set_viewport_size({"width": 1280, "height": 720})
        self.page.emulate_media(color_scheme="light")
        self.page.goto(address, timeout=SLOW)
        self.page.evaluate(f"{Axe().axe_script}; null")
        self.found = []


def note_barriers(tabs: Iterable[Tab], *rules: str) -> None:
    """Look in all tabs at once for the rule and the first place of barriers; no rules: by all."""
    only = {"runOnly": {"type": "rule", "values": rules}} if rules else {}
    options = {"iframes": False, "resultTypes": ["violations"], "preload": False} | only
    for tab in tabs:
        tab.page.evaluate(START, options)
    for tab in tabs:
        violations = tab.page.evaluate("window.found.then((found) => found.violations)")
        tab.found += [(each["id"], each["nodes"][0]["html"]) for each in violations]


def every_page(site: Path) -> list[str]:
    """Return the names of all pages but the translators, by their number of elements: those that
    are checked at once take about as long."""
    paths = [path for path in site.rglob("*.html") if path.name not in website.TRANSLATORS]
    paths.sort(key=lambda path: path.read_text(encoding="utf-8").count("</"))
    names = [path.relative_to(site).with_suffix("") for path in paths]
    return [str(name) for name in names if name.parts[0] != "_static"]


def barriers(site: Path, names: list[str], browser) -> dict[str, list[tuple[str, str]]]:
    """Return what is wrong with pages, by name; those where nothing is are left out."""
    wrong, all_tabs = {}, [Tab(browser) for _ in range(TABS)]
    wait = all_tabs[0].page.wait_for_timeout
    for start in range(0, len(names), TABS):
        tabs = dict(zip(names[start:], all_tabs, strict=False))
        for name, tab in tabs.items():
            tab.show(f"file://{site / name}.html")
        note_barriers(tabs.values())
        for tab in tabs.values():
            tab.page.emulate_media(color_scheme="dark")
        wait(300)  # colours change slowly
        note_barriers(tabs.values(), *COLOURS)
        for tab in tabs.values():
            tab.page.set_viewport_size({"width": 390, "height": 844})
        wait(500)  # the theme lets boxes be reached a little after they scroll
        note_barriers(tabs.values(), *ON_A_PHONE)
        for name, tab in tabs.items():
            width = tab.page.evaluate("document.documentElement.scrollWidth")
            tab.found += [("wider than a phone", f"{width} pixels")] * (width > 390)
            asked = [each for each in tab.asked if not each.startswith(HERE)]
            tab.found += [("asked or failed", each) for each in asked]
            print(f"{name}: {tab.found or 'no barrier'}", flush=True)
            if tab.found:
                wrong[name] = tab.found
    for tab in all_tabs:
        tab.page.close()
    return wrong


def test_pages_have_no_barrier_fit_a_phone_and_ask_no_other_machine(site, browser, request):
    names = every_page(site) if request.config.getoption("every_page", False) else list(PAGES)
    wrong = barriers(site, names, browser)
    print(f"{len(names)} pages, {len(wrong)} with barriers")
    assert not wrong


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder, and give its address: a search reads the pages that it finds."""
    handler = partial(SimpleHTTPRequestHandler, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_the_menu_and_what_a_search_finds_can_be_read(site, browser):
    tab = Tab(browser)
    with served(site) as address:
        tab.show(f"{address}/search.html?q=pruning")
        tab.page.locator("#search-results a .highlighted").first.wait_for(timeout=SLOW)
        tab.page.locator(".theme-switch-button:visible").click()
        for theme in ("light", "dark"):
            tab.page.emulate_media(color_scheme=theme)
            tab.page.wait_for_timeout(300)
            assert tab.page.locator(".dropdown-item.active:visible").count() == 1
            note_barriers([tab])
        tab.page.close()
    assert not tab.found


def test_barriers_are_found_in_either_theme_and_on_a_phone(tmp_path, browser):
    page = """<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">
        <title>a page</title><style>{}</style><main><h1>A page</h1><p>with words</p></main>"""
    styles = {
        "light": "p { color: #bbb } @media (prefers-color-scheme: dark) { p { color: #000 } }",
        "dark": "@media (prefers-color-scheme: dark) { p { color: #bbb } }",
        "phone": "@media (max-width: 400px) { p { color: #bbb; width: 500px } }",
        "good": "",
    }
    for name, style in styles.items():
        (tmp_path / f"{name}.html").write_text(page.format(style))
    found = barriers(tmp_path, list(styles), browser)
    rules = {name: [rule for rule, _ in each] for name, each in found.items()}
    assert rules == {
        "light": ["color-contrast"],
        "dark": ["color-contrast", "color-contrast"],
        "phone": ["color-contrast", "wider than a phone"],
    }
