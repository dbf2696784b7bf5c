"""Time the page of `repro page` in a headless Chromium, beside our own greedy search in PyTorch.

Both run in the same sitting: what counts are the ratios.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import torch

from repro import InputError, MachineError, SearchConfig, gallery, load_translator

SENTENCE = "Two young girls are playing with a small dog on the beach."
CAPTIONS = "multi30k-base"
VISITS = 3
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = ("--headless", "--no-sandbox", "--window-size=1366,768", "--remote-debugging-pipe")
NO_NETWORK = "--host-resolver-rules=MAP * ~NOTFOUND"

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
FIRST = f"({UNTIL})(() => window.page?.reading?.found.words)"
MEASURED = f"({UNTIL})(() => page.reading.isMeasured)"
SWITCH = f"""(async () => {{
  const [before, began] = [page.reading.found.ticket, performance.now()];
  page.go({{ ...page.state, off: [page.mostNeeded()] }});
  return (await ({UNTIL})(() => page.reading.found.ticket !== before)) - began;
}})()"""


def measure() -> list[dict]:
    """Measure the page with the caption model alone, and with the whole gallery.

    Returns:
        A row per page: its size; milliseconds of our greedy search for a sentence on one thread,
        and of the page for the first translation after opening, for a head that is switched off,
        and for the longest task that keeps the page from drawing.
    """
    path = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if path is None:
        raise InputError("web-page", "there is no Chromium", "install your system's chromium")
    pages = {
        "captions": [CAPTIONS],
        "whole gallery": [CAPTIONS, *set(gallery.names()) - {CAPTIONS}],
    }
    rows = []
    with _browser(path) as browser, tempfile.TemporaryDirectory() as folder:
        for name, models in pages.items():
            file = Path(folder) / "page.html"
            names = (f"gallery/{each}" for each in models)
            command = [sys.executable, "-m", "repro", "page", *names, "--out", str(file)]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            visits = [_visit(browser, file.as_uri()) for _ in range(VISITS)]
            found = {key: round(median(visit[key] for visit in visits), 1) for key in visits[0]}
            size = {"name": name, "megabytes": round(file.stat().st_size / 1e6, 2)}
            rows.append(size | {"greedy_ms": _greedy_ms(), "visits": VISITS} | found)
    return rows


class _Browser:
    """Chromium, asked by the protocol of its developer tools.

    Playwright always has the browser keep what it loads, for which the page of 15 MB is decoded a
    second time, in one task that no visitor waits for.
    """

    def __init__(self, questions: int, answers: int) -> None:
        self._questions, self._answers = os.fdopen(questions, "wb"), os.fdopen(answers, "rb")
        self._count, self._rest = 0, b""

    def ask(self, method: str, tab: str = "", **parameters: Any) -> dict[str, Any]:
        """Return the answer of the browser, or of one of its tabs."""
        self._count += 1
        to = {"sessionId": tab} if tab else {}
        question = {"id": self._count, "method": method, "params": parameters} | to
        self._questions.write(json.dumps(question).encode() + b"\0")
        self._questions.flush()
        return next(each for each in self._messages() if each.get("id") == self._count)["result"]

    def evaluate(self, expression: str, tab: str) -> float:
        """Return a number of the page, or what it promises."""
        options = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        return self.ask("Runtime.evaluate", tab, **options)["result"]["value"]

    @contextmanager
    def tab(self) -> Iterator[str]:
        """Open a tab, and close it at the end."""
        target = self.ask("Target.createTarget", url="about:blank")
        yield self.ask("Target.attachToTarget", flatten=True, **target)["sessionId"]
        self.ask("Target.closeTarget", **target)

    def _messages(self) -> Iterator[dict[str, Any]]:
        while read := self._answers.read1():
            *messages, self._rest = (self._rest + read).split(b"\0")
            yield from map(json.loads, messages)
        raise MachineError("web-page", "Chromium stopped", "start it by hand to see why")


@contextmanager
def _browser(chromium: str) -> Iterator[_Browser]:
    """Start Chromium with an empty profile, and stop it at the end."""
    its_questions, questions = os.pipe()
    answers, its_answers = os.pipe()
    with tempfile.TemporaryDirectory() as profile:
        # Chromium reads questions from file 3, and writes answers to file 4.
        redirected = f'exec "$@" 3<&{its_questions} 4>&{its_answers}'
        command = [chromium, *OPTIONS, NO_NETWORK, f"--user-data-dir={profile}"]
        process = subprocess.Popen(
            ["sh", "-c", redirected, "sh", *command],
            pass_fds=[its_questions, its_answers],
            stderr=subprocess.DEVNULL,
        )
        os.close(its_questions)
        os.close(its_answers)
        try:
            yield _Browser(questions, answers)
        finally:
            process.kill()
            process.wait()


def _visit(browser: _Browser, address: str) -> dict[str, float]:
    """Open the page once, wait until all heads are measured, and switch one off."""
    with browser.tab() as tab:
        browser.ask("Page.enable", tab)
        browser.ask("Page.addScriptToEvaluateOnNewDocument", tab, source=WATCH_TASKS)
        browser.ask("Page.navigate", tab, url=address)
        found = {"first_ms": browser.evaluate(FIRST, tab)}
        browser.evaluate(MEASURED, tab)
        found["switch_ms"] = browser.evaluate(SWITCH, tab)
        return found | {"longest_ms": browser.evaluate("longest", tab)}


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
