"""A real JupyterLab in a headless Chromium, for tests marked `browser`."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
QUIET = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
LAB = {
    "ServerApp.token": "test",
    "LabApp.expose_app_in_browser": "True",
    "LabApp.extension_manager": "readonly",
    "LabApp.news_url": "",
    "LabApp.check_for_updates_class": "jupyterlab.handlers.announcements.NeverCheckForUpdate",
}
SETTINGS = {
    # all outputs are on the page, wherever it is scrolled to
    "notebook-extension/tracker": {"windowingMode": "none"},
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}

FOLDERS = (
    "JUPYTER_CONFIG_DIR",
    "JUPYTER_DATA_DIR",
    "JUPYTER_RUNTIME_DIR",
    "IPYTHONDIR",
    "JUPYTERLAB_SETTINGS_DIR",
)

READY = """async () => {
    const app = window.jupyterapp;
    await app.restored;
    app.shell.collapseLeft();
    await app.shell.currentWidget.context.ready;
    await app.shell.currentWidget.sessionContext.ready;
}"""
RUN_ALL = """async () => {
    const { commands } = window.jupyterapp;
    await commands.execute("notebook:clear-all-cell-outputs");
    void commands.execute("notebook:run-all-cells");
}"""
HAS_RUN = """() => {
    const { content, sessionContext } = window.jupyterapp.shell.currentWidget;
    const cells = content.widgets.filter((cell) => cell.model.type === "code");
    const outputs = cells.flatMap((cell) => cell.model.outputs.toJSON());
    const errors = outputs.filter((output) => output.output_type === "error");
    const failed = errors.map((error) => `${error.ename}: ${error.evalue}`);
    if (failed.length) return failed.join();
    const isIdle = sessionContext.session.kernel.status === "idle";
    return isIdle && cells.every((cell) => cell.model.executionCount) && "ended";
}"""
SLOW = 600_000  # milliseconds; nothing takes so long, but a busy machine is no reason to fail


def pytest_addoption(parser) -> None:
    parser.addoption(
        "--every-page", action="store_true", help="check every page of the site, not one of a kind"
    )


class Server(NamedTuple):
    """A running JupyterLab: its address, the folder of its notebooks, and that of what it
    trusts."""

    address: str
    folder: Path
    data: Path


def check_browser() -> None:
    """Skip a test where there is no browser."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        pytest.skip("a browser needs the machine for itself: make browser")
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    pytest.importorskip(
        "playwright", reason="playwright is not installed: pip install -e '.[browser]'"
    )


@pytest.fixture(scope="session")
def server(tmp_path_factory) -> Iterator[Server]:
    """Start JupyterLab in an empty folder, with settings of its own."""
    check_browser()
    home, folder = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("notebooks")
    badges = Path(__file__).resolve().parents[2] / "docs" / "badges"
    shutil.copytree(badges, folder / "docs" / "badges")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = LAB | {
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.port": port,
        "ServerApp.root_dir": folder,
    }
    arguments = [f"--{key}={value}" for key, value in options.items()]
    for name, setting in SETTINGS.items():
        path = home / "JUPYTERLAB_SETTINGS_DIR" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(setting))
    folders = {name: str(home / name) for name in FOLDERS}
    with open(home / "lab.log", "wb") as log:
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", *arguments]
        process = subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | folders)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(SLOW // 100):
            assert process.poll() is None, (home / "lab.log").read_text()
            try:
                urllib.request.urlopen(f"{address}/api?token=test").read()
                break
            except OSError:
                time.sleep(0.1)
        else:
            pytest.fail(f"JupyterLab does not answer: {(home / 'lab.log').read_text()}")
        yield Server(address, folder, home / "JUPYTER_DATA_DIR")
    finally:
        process.terminate()
        process.wait(timeout=60)


class Lab:
    """An open notebook: its page, what it asked of other machines, and what the browser complained
    about."""

    def __init__(self, page, address: str) -> None:
        self.page, self.outside, self.errors, self.dialogs = page, [], [], []
        page.on("request", lambda request: self._note_request(request.url, address))
        page.on(
            "websocket",
            lambda socket: self._note_request(socket.url.replace("ws://", "http://"), address),
        )
        page.on(
            "console",
            lambda message: self.errors.append(message.text) if message.type == "error" else None,
        )
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))

    def _note_request(self, url: str, address: str) -> None:
        if not url.startswith((address, "data:", "blob:", "about:")):
            self.outside.append(url)

    def run_all(self) -> None:
        """Run all cells, and wait until the last one has ended or one has failed."""
        self.page.evaluate(RUN_ALL)
        assert self.page.wait_for_function(HAS_RUN, timeout=SLOW).json_value() == "ended"

    def set_theme(self, theme: str) -> None:
        """Change to `JupyterLab Light` or `JupyterLab Dark`."""
        self.page.evaluate(
            "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", theme
        )

    def shoot(self, name: str, place=None) -> None:
        """Take a picture of a place or of the page, if somebody wants to look: the environment
        variable SCREENSHOTS names a folder."""
        if folder := os.environ.get("SCREENSHOTS"):
            (self.page if place is None else place).screenshot(path=f"{folder}/{name}.png")


def notebook_of(cells: list[str]) -> nbformat.NotebookNode:
    """Return a notebook of code cells."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.metadata.kernelspec = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    return notebook


@pytest.fixture(scope="session")
def browser() -> Iterator:
    """Start the browser."""
    check_browser()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET.split())
        yield chromium
        chromium.close()


@pytest.fixture
def open_notebook(server, browser) -> Iterator[Callable[..., Lab]]:
    """Return a function that opens a notebook; afterwards it is closed."""
    with desk(server, browser) as open_one:
        yield open_one


@contextmanager
def desk(server: Server, browser) -> Iterator[Callable[..., Lab]]:
    """Give a function that writes a notebook, given as code cells or whole, and opens it; close its
    page and end its kernel afterwards."""
    labs = {}

    def open_one(name: str, cells: list[str] | nbformat.NotebookNode) -> Lab:
        notebook = notebook_of(cells) if isinstance(cells, list) else cells
        (server.folder / name).parent.mkdir(exist_ok=True)
        nbformat.write(notebook, server.folder / f"{name}.ipynb")
        page = browser.new_page(viewport={"width": 1500, "height": 1100})
        labs[f"{name}.ipynb"] = lab = Lab(page, server.address)
        page.goto(f"{server.address}/lab/tree/{name}.ipynb?token=test&reset", timeout=SLOW)
        page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=SLOW)
        page.evaluate(READY)
        return lab

    yield open_one
    for lab in labs.values():
        lab.page.close()
    shut_down_kernels(server.address, labs)


def shut_down_kernels(address: str, notebooks: Collection[str]) -> None:
    """End what these notebooks started."""
    for session in json.loads(urllib.request.urlopen(f"{address}/api/sessions?token=test").read()):
        if session["path"] in notebooks:
            request = urllib.request.Request(
                f"{address}/api/sessions/{session['id']}?token=test", method="DELETE"
            )
            urllib.request.urlopen(request).read()
