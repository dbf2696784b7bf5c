"""Figures as pictures and pages: they hold the numbers of the figure, text as it was typed, and
need no network."""

import base64
import html
import io
import re
import subprocess
import sys

import numpy as np
import plotly.graph_objects as go
import pytest
from each_figure import FIGURES, MARKUP, every_figure, shown
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from PIL import Image
from plotly.basedatatypes import BaseTraceType

from repro.errors import InputError
from repro.plots import (
    COLORS,
    attention_by_sublayer,
    attention_maps,
    curves,
    escape,
    head_values,
    save,
    score_sources,
)
from repro.plots.description import describe, plain_text
from repro.plots.diagrams import ON_PALE
from repro.plots.drawing import draw
from repro.plots.style import INK


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
            assert any(
                mesh.shape == trace.z.shape
                and np.array_equal(mesh, trace.z.astype(float), equal_nan=True)
                for mesh in meshes
            )
        elif isinstance(trace, go.Scatter):
            assert any(np.array_equal(line, trace.y, equal_nan=True) for line in lines)
        else:
            assert set(trace.y) <= set(bars)


def in_panels(figure: go.Figure) -> list[tuple[BaseTraceType, Axes]]:
    """Return each trace with the axes of its still picture."""
    drawn = draw(figure).axes
    color_bars = [mesh.colorbar.ax for ax in drawn for mesh in ax.collections if mesh.colorbar]
    panels = dict.fromkeys(trace.xaxis for trace in figure.data)
    axes = dict(zip(panels, (ax for ax in drawn if ax not in color_bars), strict=True))
    return [(trace, axes[trace.xaxis]) for trace in figure.data]


@every_figure
def test_the_axes_of_the_still_picture_run_the_way_of_those_of_the_figure(make):
    """A matrix upside down has the same numbers."""
    figure = make()
    for trace, ax in in_panels(figure):
        for which, name in (("x", trace.xaxis or "x"), ("y", trace.yaxis or "y")):
            spec, axis = (
                figure.layout[name.replace(which, f"{which}axis")],
                getattr(ax, f"{which}axis"),
            )
            limits = getattr(ax, f"get_{which}lim")()
            if spec.type == "log":  # plotly gives exponents
                limits = tuple(np.log10(limits))
            assert spec.range is None or limits == pytest.approx(spec.range)
            assert axis.get_scale() == (spec.type or "linear")
            assert {label.get_rotation() for label in axis.get_ticklabels()} <= {
                -(spec.tickangle or 0) % 360
            }


@every_figure
def test_lines_bars_and_intervals_of_the_still_picture_stand_where_those_of_the_figure_do(make):
    for trace, ax in in_panels(make()):
        if isinstance(trace, go.Bar):
            base = np.broadcast_to(0 if trace.base is None else trace.base, trace.y.shape)
            boxes = {(bar.get_x(), bar.get_y(), bar.get_height()) for bar in ax.patches}
            assert set(zip(trace.x + trace.offset, base, trace.y, strict=True)) <= boxes
        elif isinstance(trace, go.Scatter):
            course = "steps-post" if trace.line.shape == "hv" else "default"
            lines = [
                (line.get_xdata(), line.get_ydata())
                for line in ax.lines
                if line.get_drawstyle() == course
            ]
            assert any(
                np.array_equal(line, (trace.x, trace.y), equal_nan=True)
                for line in lines
                if len(line[0]) == len(trace.x)
            )
            for way, values, error in ((0, trace.x, trace.error_x), (1, trace.y, trace.error_y)):
                if error.array is not None:
                    drawn = [
                        segment
                        for bars in ax.containers
                        for segment in bars.lines[2][0].get_segments()
                        if len(segment)
                    ]
                    ends = zip(values - error.arrayminus, values + error.array, strict=True)
                    assert {pair for pair in ends if np.isfinite(pair).all()} <= {
                        tuple(segment[:, way]) for segment in drawn
                    }


@every_figure
def test_the_still_picture_has_the_scale_of_colors_of_the_figure(make):
    figure = make()
    for trace, ax in in_panels(figure):
        if isinstance(trace, go.Heatmap):
            scale = figure.layout.coloraxis
            limits = (scale.cmin, scale.cmax) if trace.coloraxis else (trace.zmin, trace.zmax)
            assert {mesh.get_clim() for mesh in ax.collections} == {limits}


def test_the_two_colors_of_losses_and_gains_stand_at_the_ends_of_the_scale():
    (ax, _) = draw(head_values({"cross": np.array([[-0.5, 0.2]])}, "BLEU")).axes
    assert [to_hex(ax.collections[0].to_rgba(end)).upper() for end in (-0.5, 0.5)] == [
        COLORS[0],
        COLORS[1],
    ]


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
    ((bundle, _),) = shown(make())
    assert list(bundle) == ["application/vnd.plotly.v1+json"]
    with pytest.raises(
        InputError, match="the figure holds more than `repro.plots` draws.* Fix: write .html"
    ):
        save(make(), tmp_path / "own.png")
    save(make(), tmp_path / "own.html")


def test_the_still_picture_shows_text_as_typed():
    typed = ["<b>", "&lt;b&gt;", "$x$", "a\u202eb"]
    (ax, *_) = draw(attention_maps([np.eye(4)], ["<i>"], typed, typed)).axes
    shown = ["<b>", "&lt;b&gt;", "$x$", "a⟨U+202E⟩b"]
    assert (
        [label.get_text() for label in ax.get_xticklabels()]
        == [label.get_text() for label in ax.get_yticklabels()]
        == shown
    )
    assert "<i>, up to 1" in [text.get_text() for text in ax.figure.texts]


def test_the_still_picture_writes_notes_in_their_color():
    figure = attention_by_sublayer({"base": [(4, "learned")], "sh-x": [None]}, ["self"])
    written = {text.get_text(): text.get_color() for text in draw(figure).texts}
    assert (written["4 learned"], written["no sublayer"]) == (ON_PALE, INK)


@every_figure
def test_a_notebook_holds_a_sharp_picture_and_its_description(make):
    (picture, metadata), (words, _) = shown(make())
    # nothing that another view could take the place of
    assert list(picture) == ["image/png"] and list(words) == ["text/html", "text/plain"]
    found, (width, alt) = (
        Image.open(io.BytesIO(base64.b64decode(picture["image/png"]))),
        metadata["image/png"].values(),
    )
    assert found.width // 2 == width  # two pixels for one of the page
    assert alt == words["text/plain"]
    assert words["text/html"].startswith(f"<p>{html.escape(alt)}</p><script>")


@pytest.mark.parametrize("notebook, loaded", [(True, "repro"), (False, "no renderers")])
def test_notebooks_show_figures_so_by_default_and_commands_need_not_load_what_shows_them(
    notebook, loaded
):
    start = (
        "from IPython.core.interactiveshell import InteractiveShell; InteractiveShell.instance(); "
        * notebook
    )
    told = (
        "print(plotly.io.renderers.default if 'plotly.io._renderers' in sys.modules else 'no "
        "renderers')"
    )
    code = f"import sys; {start}import repro.plots, plotly.io; {told}"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == loaded
    )


def test_a_description_says_what_a_figure_shows():
    def described(name: str) -> str:
        return describe(FIGURES[name]().to_dict()).replace(MARKUP, "<m>")

    assert (
        described("attention_maps")
        == "Heat map. Panels: <m>. Across: key. Up: query. Colour: weight, from 0 to the largest "
        "of each panel."
    )
    assert described("attention_grid").startswith(
        "Heat map: <m>. Panels: layer 1, head 1. Colour: weight, %, from 0 to 100."
    )
    assert described("training_curves") == (
        "Lines and lines with points: <m> ends at 2.50 nats per token on dev. Of: <m>, training; "
        "<m>, dev. Across: updates, from 1 to 2. "
        "Up: negative log-likelihood, nats per token, from 2 to 3."
    )
    assert described("head_bars") == (
        "Bars: Largest in <m>, layer 1, head 3: 0.30. Across: layer. Up: <m>, from 0.1 to 0.3."
    )
    assert described("attention_by_sublayer").startswith("Heads of each sublayer. ")
    systems = {"base": [(4, "learned")] * 2, "sh-x": [(4, "hard-coded"), None]}
    of_heads = describe(attention_by_sublayer(systems, ["self", "cross"]).to_dict())
    assert "base: 4 learned. sh-x: 4 hard-coded, but no sublayer in cross." in of_heads
    of_scores = describe(score_sources({"RAN": "scores"}).to_dict())
    assert "RAN: the scores below make those of a layer, from A₀ on." in of_scores
    many = describe(curves({f"s{i}": ([1], [i]) for i in range(12)}, "x", "y").to_dict())
    assert "Of: s0, s1, s2, s3, s4, s5, s6, s7 and 4 more." in many


@every_figure
def test_every_figure_is_described_by_its_axes(make):
    figure = make()
    words = describe(figure.to_dict())
    titles = [
        axis.title.text
        for axis in (*figure.select_xaxes(), *figure.select_yaxes())
        if axis.title.text
    ]
    assert all(plain_text(title) in words for title in titles) and len(words) < 600


def test_a_page_needs_no_network(tmp_path):
    save(FIGURES["curves"](), tmp_path / "figure.html")
    page = (tmp_path / "figure.html").read_text()
    assert not re.search(r"<(script|link|img)[^>]*(src|href)=", page.replace(escape(MARKUP), ""))
    assert "Plotly.newPlot" in page


@pytest.mark.parametrize(
    "ending, start", [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")]
)
def test_pictures_are_written_without_a_browser(tmp_path, ending, start):
    save(FIGURES["head_values"](), tmp_path / f"figure.{ending}")
    assert (tmp_path / f"figure.{ending}").read_bytes().startswith(start)


def test_another_ending_is_refused_in_one_line(tmp_path):
    with pytest.raises(InputError, match="a figure is not written as '.jpg'. Fix: "):
        save(FIGURES["curves"](), tmp_path / "figure.jpg")
    assert not list(tmp_path.iterdir())
