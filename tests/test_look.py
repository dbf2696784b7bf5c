"""What figures say by themselves: names at lines, headlines, square cells, paper where zero is."""

import io

import numpy as np
import pytest
from each_figure import FIGURES
from PIL import Image

from repro import plots
from repro.plots import headlines
from repro.plots.drawing import draw
from repro.plots.line_names import _spread

NAN = float("nan")


def names(figure) -> dict[str, float]:
    """Return the names written beside a figure, and their heights as shares of it."""
    return {note.text[1:]: note.y for note in figure.layout.annotations if note.text[0] == "\u2003"}


def test_lines_are_named_where_they_end():
    x = [1, 2, 3]
    figure = plots.curves({"low": (x, [3, 2, 1]), "high": (x, [0, 4, 5])}, "x", "y")
    low, high = figure.layout.yaxis.range
    assert names(figure) == pytest.approx(
        {"low": (1 - low) / (high - low), "high": (5 - low) / (high - low)}
    )
    marks = [note for note in figure.layout.annotations if note.text in "●■"]
    assert [mark.font.color for mark in marks] == list(plots.COLORS[:2])
    assert not figure.layout.showlegend and not draw(figure).legends
    written = [text.get_text() for text in draw(figure).texts]
    assert "\u2003low" in written and "\u2003high" in written


def test_pruning_runs_to_the_left_and_is_named_where_fewest_heads_are():
    figure = plots.pruning_curve({"a": ([8, 2], [30.0, 20.0]), "b": ([8, 2], [30.0, 29.0])}, {})
    assert names(figure)["a"] < names(figure)["b"]


def test_names_of_lines_that_end_together_keep_their_distance():
    places = _spread([0.5, 0.51, 0.9, 0.5], 0.1)
    assert places == pytest.approx([0.4033, 0.6033, 0.9, 0.5033], abs=1e-3)


def test_long_names_stay_in_a_legend():
    figure = plots.curves({"a" * 40: ([1, 2], [1, 2]), "b": ([1, 2], [2, 1])}, "x", "y")
    assert not names(figure) and len(draw(figure).legends) == 1


def test_headlines_say_what_the_numbers_say():
    assert headlines.lowest_loss({"a": 2.5, "b": 2.25}) == (
        "b ends lowest on dev, at 2.25 nats per token"
    )
    assert headlines.lowest_loss({}) == ""
    assert headlines.last_gaps(2100, {"a": 0.5, "b": NAN, "c": -6.0}) == (
        "After 2,100 updates: a +0.50, c -6.00"
    )
    low, high = np.array([0.1, -1, -2, NAN]), np.array([1, 1, -0.5, NAN])
    assert headlines.sure_bins({"a": (low, high), "b": (low[1:2], high[1:2])}) == (
        "a is above 0 in 1 of 3 bins and below 0 in 1 of 3 bins, b is undecided"
    )
    assert headlines.inside(np.array([0.5, 3, NAN]), np.zeros(3), np.ones(3)) == (
        "1 of 2 intervals holds the published number"
    )
    assert headlines.listed(list("abcde")) == "a, b, c and 2 more"
    figure = plots.pruning_curve({"ours": ([8, 2], [30.0, 29.0])}, {"WMT": ([48, 4], [30, 29])})
    assert figure.layout.title.text == "ours: -1.00 BLEU with 25 % of the heads"


def test_cells_are_square_in_the_still_picture():
    tokens = list("abcdefgh")
    for size in (2, 8):
        figure = plots.attention_maps([np.eye(size)] * 2, ["a", "b"], tokens[:size], tokens[:size])
        drawn = draw(figure)
        drawn.draw_without_rendering()
        boxes = [ax.get_window_extent() for ax in drawn.axes]
        assert len(boxes) == 2 and all(box.width == pytest.approx(box.height) for box in boxes)


def test_zero_is_the_paper_and_shades_are_many():
    weights = np.linspace(0, 1, 24).reshape(4, 6)
    tokens = list("abcdef")
    figure = plots.attention_maps([weights], ["a"], tokens[:4], tokens)
    pixels = np.asarray(Image.open(io.BytesIO(plots.picture(figure))).convert("RGBA"))
    blue = pixels[(pixels[..., 2] > 180) & (pixels[..., 0] < 60)]
    assert len(set(blue[:, 3].tolist())) >= 20  # one opacity a weight
    assert (pixels[0, 0] == 0).all()
    (mesh,) = draw(FIGURES["attention_maps"]()).axes[0].collections
    assert mesh.to_rgba(0.0)[3] == 0 and mesh.to_rgba(1.0)[3] == 1
