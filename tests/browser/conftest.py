"""A real JupyterLab in a headless Chromium, for tests marked `browser`."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIET = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync"
LAB = {
    "ServerApp.token": "test",
    "LabApp.expose_app_in_browser": "True",
    "LabApp.extension_manager": "readonly",
    "LabApp.news_url": "",
    "LabApp.check_for_updates_class": "jupyterlab.handlers.announcements.NeverCheckForUpdate",
}
SETTINGS = {
    "notebook-extension/tracker": {"windowingMode": "none"},  # all outputs are on the page, wherever it is scrolled to
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}

FOLDERS = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "JUPYTERLAB_SETTINGS_DIR")

READY = """async (theme) => {
    const app = window.jupyterapp;
    await app.restored;
    await app.commands.execute("apputils:change-theme", { theme });
    app.shell.collapseLeft();
    await app.shell.currentWidget.context.ready;
    await app.shell.currentWidget.sessionContext.ready;
}"""


class Server(NamedTuple):
    """A running JupyterLab: its address, the folder of its notebooks, and that of what it trusts."""

    address: str
    folder: Path
    data: Path


@pytest.fixture(scope="session")
def server(tmp_path_factory) -> Iterator[Server]:
    """Start JupyterLab in an empty folder, with settings of its own."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    pytest.importorskip("playwright", reason="playwright is not installed: pip install -e '.[browser]'")
    home, folder = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("notebooks")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = LAB | {"ServerApp.ip": "127.0.0.1", "ServerApp.port": port, "ServerApp.root_dir": folder}
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
        for _ in range(600):
            assert process.poll() is None, (home / "lab.log").read_text()
            try:
                urllib.request.urlopen(f"{address}/api?token=test").read()
                break
            except OSError:
                time.sleep(0.1)
        yield Server(address, folder, home / "JUPYTER_DATA_DIR")
    finally:
        process.terminate()
        process.wait(timeout=60)


class Lab:
    """An open notebook: its page, what it asked of other machines, and what the browser complained about."""

    def __init__(self, page, address: str) -> None:
        self.page, self.outside, self.errors, self.dialogs = page, [], [], []
        page.on("request", lambda request: self._note_request(request.url, address))
        page.on("websocket", lambda socket: self._note_request(socket.url.replace("ws://", "http://"), address))
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))

    def _note_request(self, url: str, address: str) -> None:
        if not url.startswith((address, "data:", "blob:", "about:")):
            self.outside.append(url)

    def run_all(self) -> None:
        """Run all cells, and wait until the last one has ended."""
        self.page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")

    def run_all_below(self, number: int) -> None:
        """Run the cell of that number, the first one 0, and those after it."""
        self.page.locator(".jp-CodeCell").nth(number).locator(".cm-content").click()
        self.page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-below')")

    def shoot(self, name: str, selector: str = "") -> None:
        """Take a picture, if somebody wants to look: the environment variable SCREENSHOTS names a folder."""
        if folder := os.environ.get("SCREENSHOTS"):
            target = self.page.locator(selector).first if selector else self.page
            target.screenshot(path=f"{folder}/{name}.png")


def notebook_of(cells: list[str]) -> nbformat.NotebookNode:
    """Return a notebook of code cells."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return notebook


@pytest.fixture
def open_notebook(server) -> Iterator[Callable[..., Lab]]:
    """Return a function that writes a notebook, given as code cells or whole, and opens it; afterwards its kernel is shut down."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET.split())

        def open_one(name: str, cells: list[str] | nbformat.NotebookNode, theme: str = "JupyterLab Light") -> Lab:
            notebook = notebook_of(cells) if isinstance(cells, list) else cells
            nbformat.write(notebook, server.folder / f"{name}.ipynb")
            page = browser.new_page(viewport={"width": 1500, "height": 1100})
            lab = Lab(page, server.address)
            page.goto(f"{server.address}/lab/tree/{name}.ipynb?token=test&reset")
            page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=120_000)
            page.evaluate(READY, theme)
            return lab

        yield open_one
        browser.close()
    shut_down_kernels(server.address)


def shut_down_kernels(address: str) -> None:
    """End what the notebooks started."""
    for session in json.loads(urllib.request.urlopen(f"{address}/api/sessions?token=test").read()):
        request = urllib.request.Request(f"{address}/api/sessions/{session['id']}?token=test", method="DELETE")
        urllib.request.urlopen(request).read()
