"""Time the page of `repro page` in a headless Chromium, beside our own greedy search in PyTorch.

Both run in the same sitting: what counts are the ratios.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import torch

from repro import InputError, SearchConfig, gallery, load_translator

SENTENCE = "Two young girls are playing with a small dog on the beach."
CAPTIONS = "multi30k-base"
VISITS = 3
LONGEST = 600_000  # milliseconds that a visit may take
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")

# Tasks of the page that take longer than 50 ms: meanwhile no frame is drawn.
WATCH_TASKS = """
window.longest = 0;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
}).observe({ type: "longtask", buffered: true });
"""
UNTIL = """(condition) => new Promise((done) => {
  const look = () => (condition() ? done(performance.now()) : requestAnimationFrame(look));
  look();
})"""
FIRST = f"() => ({UNTIL})(() => page.reading.found.words)"
MEASURED = f"() => ({UNTIL})(() => page.reading.isMeasured)"
SWITCH = f"""async () => {{
  const [before, began] = [page.reading.found.ticket, performance.now()];
  page.go({{ ...page.state, off: [page.mostNeeded()] }});
  return (await ({UNTIL})(() => page.reading.found.ticket !== before)) - began;
}}"""


def measure() -> list[dict]:
    """Measure the page with the caption model alone, and with the whole gallery.

    Returns:
        A row per page: its size; milliseconds of our greedy search for a sentence on one thread,
        and of the page for the first translation after opening, for a head that is switched off,
        and for the longest task that keeps the page from drawing.
    """
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if path is None:
        raise InputError("web-page", "there is no Chromium", "install your system's chromium")
    pages = {
        "captions": [CAPTIONS],
        "whole gallery": [CAPTIONS, *set(gallery.names()) - {CAPTIONS}],
    }
    rows = []
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for name, models in pages.items():
            file = Path(folder) / "page.html"
            command = [
                sys.executable,
                "-m",
                "repro",
                "page",
                *(f"gallery/{each}" for each in models),
                "--out",
                str(file),
            ]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            visits = [_visit(browser, file.as_uri()) for _ in range(VISITS)]
            found = {key: round(median(visit[key] for visit in visits), 1) for key in visits[0]}
            size = {"name": name, "megabytes": round(file.stat().st_size / 1e6, 2)}
            rows.append(size | {"greedy_ms": _greedy_ms(), "visits": VISITS} | found)
        browser.close()
    return rows


def _visit(browser, address: str) -> dict[str, float]:
    """Open the page once, wait until all heads are measured, and switch one off."""
    context = browser.new_context(viewport={"width": 1366, "height": 768}, offline=True)
    page = context.new_page()
    page.set_default_timeout(LONGEST)
    page.add_init_script(WATCH_TASKS)
    page.goto(address)
    found = {"first_ms": page.evaluate(FIRST)}
    page.evaluate(MEASURED)
    found |= {"switch_ms": page.evaluate(SWITCH), "longest_ms": page.evaluate("longest")}
    context.close()
    return found


def _greedy_ms() -> float:
    """Return the milliseconds of our greedy search for the sentence, on one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    translator, times = load_translator(gallery.load(CAPTIONS), "cpu"), []
    for _ in range(VISITS + 1):
        began = time.perf_counter()
        translator.translate([SENTENCE], SearchConfig(beam=1))
        times.append(1000 * (time.perf_counter() - began))
    torch.set_num_threads(threads)
    return round(median(times[1:]), 1)  # the first one warms up
