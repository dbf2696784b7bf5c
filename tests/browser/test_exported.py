"""A notebook exported to one file: what is in it translates without kernel, server or network."""

import nbformat
import pytest
from nbconvert import HTMLExporter

from repro.runs import gallery
from repro.widgets import translator

pytestmark = pytest.mark.browser


def test_an_exported_page_translates(browser, tmp_path):
    shown = translator(gallery.load("base"))._repr_mimebundle_()
    cell = nbformat.v4.new_code_cell("translator(run)")
    cell.outputs = [nbformat.v4.new_output("display_data", shown)]
    notebook = nbformat.v4.new_notebook(cells=[cell])
    text, _ = HTMLExporter(template_name="basic").from_notebook_node(notebook)
    path = tmp_path / "exported.html"
    path.write_text(f"<!doctype html><meta charset=utf-8>{text}", encoding="utf-8")
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.route("http*://**", lambda route: errors.append(route.request.url) or route.abort())
    page.goto(path.as_uri(), timeout=600_000)
    frame = page.frame_locator("iframe")
    frame.locator(".rp-word").first.wait_for(timeout=600_000)
    before = frame.locator(".rp-translation").inner_text()
    field = frame.locator(".rp-field").first
    field.fill("She sees the garden.")
    field.press("Enter")
    frame.locator(".rp-word", has_text="Garten").first.wait_for(timeout=600_000)
    assert frame.locator(".rp-translation").inner_text() != before
    assert not errors
    page.close()
