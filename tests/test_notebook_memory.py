"""The script that measures how much memory each notebook takes."""

import nbformat
import notebook_memory
import pytest


def write(path, *cells: str):
    """Write a notebook of code cells and return its path."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbformat.write(notebook, path)
    return path


def test_a_notebook_is_measured_by_its_peak_not_by_what_it_keeps(tmp_path, monkeypatch, capsys):
    path = write(tmp_path / "large.ipynb", "import sys", "large = b'x' * 300_000_000\ndel large", "1")
    before = path.read_bytes()
    peak = notebook_memory.measure(path)
    assert 300 < peak.megabytes < 600 and (peak.cell, peak.failure) == (1, "")
    assert path.read_bytes() == before  # nothing is saved
    monkeypatch.setattr(notebook_memory, "LIMIT", 290)
    assert notebook_memory.main([path]) == 1
    assert "FAILED: more than 290 MB" in capsys.readouterr().out


def test_a_cell_that_fails_is_named(tmp_path, capsys):
    path = write(tmp_path / "wrong.ipynb", "1", "1 / 0")
    assert notebook_memory.main([path]) == 1
    assert "FAILED: cell 1: ZeroDivisionError" in capsys.readouterr().out


@pytest.mark.parametrize("cells", [(), ("1",)])
def test_a_small_notebook_passes(tmp_path, cells):
    assert notebook_memory.main([write(tmp_path / "small.ipynb", *cells)]) == 0
