"""Figures as pictures and pages: they hold the numbers of the figure, text as it was typed, and need no network."""

import base64
import re

import numpy as np
import plotly.graph_objects as go
import plotly.io
import pytest
from each_figure import FIGURES, MARKUP, every_figure

from repro.errors import InputError
from repro.plots import attention_maps, escape, save
from repro.plots.still import draw


@every_figure
def test_the_still_picture_holds_the_numbers_of_the_figure(make):
    figure = make()
    drawn = draw(figure).axes
    arrays = [mesh.get_array() for ax in drawn for mesh in ax.collections]
    meshes = [array.astype(float).filled(np.nan) for array in arrays if array is not None]
    lines = [line.get_ydata() for ax in drawn for line in ax.lines]
    bars = [bar.get_height() for ax in drawn for bar in ax.patches]
    for trace in figure.data:
        if isinstance(trace, go.Heatmap):
            assert any(mesh.shape == trace.z.shape and np.array_equal(mesh, trace.z.astype(float), equal_nan=True) for mesh in meshes)
        elif isinstance(trace, go.Scatter):
            assert any(np.array_equal(line, trace.y, equal_nan=True) for line in lines)
        else:
            assert set(trace.y) <= set(bars)


@pytest.mark.parametrize(
    "make",
    [
        lambda: go.Figure(go.Scatter(x=[1, 2], y=[1, 2])),
        lambda: FIGURES["curves"]().add_scatter(x=[1, 2], y=[1, 2]),
        lambda: FIGURES["curves"]().add_histogram(x=[1, 2]),
        lambda: FIGURES["curves"]().add_hline(y=1, annotation_text="x"),
    ],
)
def test_a_figure_of_ones_own_is_shown_by_plotly_alone(make, tmp_path):
    bundle = plotly.io.renderers["repro"].to_mimebundle(make().to_dict())
    assert list(bundle) == ["application/vnd.plotly.v1+json"]
    with pytest.raises(InputError, match="the figure holds more than `repro.plots` draws.* Fix: write .html"):
        save(make(), tmp_path / "own.png")
    save(make(), tmp_path / "own.html")


def test_the_still_picture_shows_text_as_typed():
    typed = ["<b>", "&lt;b&gt;", "$x$", "a\u202eb"]
    (ax, *_) = draw(attention_maps([np.eye(4)], ["<i>"], typed, typed)).axes
    shown = ["<b>", "&lt;b&gt;", "$x$", "a⟨U+202E⟩b"]
    assert [label.get_text() for label in ax.get_xticklabels()] == [label.get_text() for label in ax.get_yticklabels()] == shown
    assert "<i>" in [text.get_text() for text in ax.figure.texts]


def test_a_notebook_holds_the_figure_and_its_picture():
    bundle = plotly.io.renderers["repro"].to_mimebundle(FIGURES["curves"]().to_dict())
    assert set(bundle) == {"application/vnd.plotly.v1+json", "image/png"}
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert plotly.io.renderers.default == "repro"


def test_a_page_needs_no_network(tmp_path):
    save(FIGURES["curves"](), tmp_path / "figure.html")
    page = (tmp_path / "figure.html").read_text()
    assert not re.search(r"<(script|link|img)[^>]*(src|href)=", page.replace(escape(MARKUP), ""))
    assert "Plotly.newPlot" in page


@pytest.mark.parametrize("ending, start", [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_pictures_are_written_without_a_browser(tmp_path, ending, start):
    save(FIGURES["head_values"](), tmp_path / f"figure.{ending}")
    assert (tmp_path / f"figure.{ending}").read_bytes().startswith(start)


def test_another_ending_is_refused_in_one_line(tmp_path):
    with pytest.raises(InputError, match="a figure is not written as '.jpg'. Fix: "):
        save(FIGURES["curves"](), tmp_path / "figure.jpg")
    assert not list(tmp_path.iterdir())
