"""What figures say by themselves: names at lines, headlines, square cells, paper where zero is."""

import io

import numpy as np
import pytest
from each_figure import FIGURES
from PIL import Image

from repro import plots
from repro.plots import headlines
from repro.plots.drawing import draw
from repro.plots.line_names import spread

NAN = float("nan")


def names(figure) -> dict[str, float]:
    """Return the names written beside a figure, and their heights on its axis."""
    return {
        note.text.replace("\u2003", ""): note.y
        for note in figure.layout.annotations
        if note.text[0] == "\u2003"
    }


def test_lines_are_named_where_they_end():
    x = [1, 2, 3]
    figure = plots.curves({"low": (x, [3, 2, 1]), "high": (x, [0, 4, 5])}, "x", "y")
    assert names(figure) == pytest.approx({"low": 1, "high": 5})
    marks = [note for note in figure.layout.annotations if note.text in "●■"]
    assert [mark.font.color for mark in marks] == list(plots.COLORS[:2])
    assert not figure.layout.showlegend and not draw(figure).legends
    written = [text.get_text() for text in draw(figure).texts]
    assert "\u2003low" in written and "\u2003high" in written


def test_pruning_runs_to_the_left_and_is_named_where_fewest_heads_are():
    figure = plots.pruning_curve({"a": ([8, 2], [30.0, 20.0]), "b": ([8, 2], [30.0, 29.0])}, {})
    assert names(figure)["a"] < names(figure)["b"]


def test_names_of_lines_that_end_together_keep_their_distance():
    places = spread([0.5, 0.5, 0.51, 0.9], [0.1] * 4)
    assert places == pytest.approx([0.4033, 0.5033, 0.6033, 0.9], abs=1e-3)
    assert spread([1, 1], [0.1, 0.3]) == pytest.approx([0.8, 1])  # none above the panel
    # the upper line has the upper name, where both end at the same height
    ends = names(plots.curves({"above": ([1, 2], [3, 4]), "below": ([1, 2], [1, 4])}, "x", "y"))
    assert ends["above"] > ends["below"]


def test_long_names_stand_on_several_lines():
    figure = plots.curves({"a word " * 6: ([1, 2], [1, 2]), "b": ([1, 2], [2, 1])}, "x", "y")
    assert list(names(figure)) == ["b", "a word a word a word a<br>word a word a word"]
    assert not draw(figure).legends


def test_names_stand_in_every_panel_and_on_logarithmic_axes():
    kept = {"cross": [4, 3], "decoder": [4, 1]}
    notes = plots.heads_kept_by_site({"ours": kept, "theirs": kept}).layout.annotations
    places = [(note.text, note.yref, note.y) for note in notes if note.text[0] == "\u2003"]
    assert places == [
        ("\u2003decoder", "y", 1),
        ("\u2003cross", "y", 3),
        ("\u2003decoder", "y2", 1),
        ("\u2003cross", "y2", 3),
    ]
    figure = plots.speed_by_length({"a": ([1, 8], [1.0, 100.0]), "b": ([1, 8], [1.0, 1000.0])})
    assert names(figure) == pytest.approx({"a": 2, "b": 3})
    assert figure.layout.title.text == (
        "At 8 tokens: from 100 target tokens per second (a) to 1,000 (b)"
    )
    (axis,) = draw(figure).axes
    assert np.log10(axis.get_ylim()) == pytest.approx(figure.layout.yaxis.range)
    bars = plots.role_counts({"8": {"rare": 6}, "4": {"positional": 1, "rare": 2}}, "heads")
    assert names(bars)["rare"] == pytest.approx(2)  # in the middle of 1 to 3


def test_no_figure_of_lines_or_bars_needs_a_legend():
    of_marks = {"forest", "published_beside_reproduced", "confidence_against_relevance"}
    of_boxes = {"transformer"}  # which have names; the legend says what their two colours mean
    for name in FIGURES.keys() - of_marks - of_boxes:
        figure = FIGURES[name]()
        named = [t for t in figure.data if t.type != "heatmap" and t.showlegend is not False]
        assert not draw(figure).legends, name
        assert figure.layout.showlegend is False or not named, name


def test_a_long_headline_is_written_on_lines_that_fit():
    ours = {f"ours: corpus {i}, seed 1": ([8, 2], [30.0, 29.0]) for i in range(3)}
    figure = plots.pruning_curve(ours, {})
    lines = figure.layout.title.text.split("<br>")
    assert len(lines) == 2 and max(map(len, lines)) <= 90
    drawn = draw(figure)
    drawn.draw_without_rendering()
    (title,) = [text for text in drawn.texts if text.get_text().startswith("ours: corpus 0")]
    box = title.get_window_extent()
    assert box.x1 <= 800 and box.y0 >= drawn.axes[0].get_window_extent().y1


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
    assert headlines.listed(["a, seed 1", "b"]) == "a, seed 1; b"
    figure = plots.pruning_curve({"ours": ([8, 2], [30.0, 29.0])}, {"WMT": ([48, 4], [30, 29])})
    assert figure.layout.title.text == "ours: -1.00 BLEU with 25 % of the heads"


def test_headlines_name_heads_sites_and_models():
    sites = {"self": np.array([[0.1, NAN]]), "cross": np.array([[0.2, -0.5]])}
    assert headlines.largest_head(sites) == "Largest in cross, layer 1, head 2: -0.50"
    assert headlines.largest_head({"none": np.zeros((2, 0))}) == ""
    assert headlines.highest_mean({"a": sites["self"], "b": np.ones((1, 2))}, "entropy") == (
        "entropy: highest in b, 1.00 on average; lowest in a, 0.10"
    )
    assert headlines.widest_apart({"a": np.zeros((1, 1)), "b": np.full((1, 1), 0.25)}) == (
        "Layers of b differ most, by up to 0.25 nats"
    )
    assert headlines.steadiest(np.array([[0.2, 0.1], [0.0, 0.6]]), ["1.1", "1.2"], ["-1", "0"]) == (
        "Head 1.2 is the steadiest: 60 % of its queries look at 0"
    )
    assert headlines.sharp_weights({"a": 0.015}, 0.9, "layer 2") == (
        "Weights from 0.9 in layer 2: a 1.5 %"
    )
    assert headlines.roles_found([(3, 8), (1, 2)]) == (
        "3 of 8 heads have a role in the first bar, 1 of 2 in the last"
    )
    assert headlines.decided_gates(np.array([3.0, -3, 0, 2]), 2.5) == (
        "Of 4 gates, 1 end open, 1 closed and 2 in between"
    )
    series = [{"a": 1, "b": 2}, {"a": 3, "b": 2}, {"a": 0, "b": 2}]
    assert headlines.fewest_heads(series) == "a keeps fewest heads in 2 of 3 series"
    assert headlines.last_kept({"x": np.array([[4, 1], [4, 2]])}, ["1", "2"]) == (
        "In the last model, layer 2 of x keeps most heads: 2"
    )
    assert headlines.falls(["1", "9"], {"a": (90, 80.5)}) == (
        "From 1 to 9 words, accuracy changes by: a -9.5 points"
    )
    assert headlines.surely_below([-1, 0, 1]) == "1 of 3 changes is surely below 0"


def test_numbers_in_cells_have_the_better_of_two_inks():
    figure = plots.head_values({"a": np.linspace(0, 1, 12).reshape(3, 4)}, "share")
    axis = draw(figure).axes[0]
    (mesh,) = axis.collections
    values, inks = mesh.get_array().ravel(), [text.get_color() for text in axis.texts]
    assert {"black", "white"} == set(inks)
    for value, ink in zip(values, inks, strict=True):
        red, green, blue, _ = (np.array(mesh.to_rgba(value)) / 1.055 + 0.052) ** 2.4
        light = 0.2126 * red + 0.7152 * green + 0.0722 * blue
        ratio = (light + 0.05) / 0.05 if ink == "black" else 1.05 / (light + 0.05)
        assert ratio > 4.5, value


def test_where_all_numbers_are_losses_none_is_the_lightest():
    matrix = plots.Matrix("", np.array([[-60.0, 0.0]]), ["a"], ["b", "c"])
    figure = plots.heatmaps([matrix], "", "", "change", (-60, 0), text_format=".0f")
    (mesh,) = draw(figure).axes[0].collections
    assert sum(mesh.to_rgba(0.0)[:3]) > sum(mesh.to_rgba(-60.0)[:3])


def test_cells_of_the_grid_are_square():
    for heads, queries, keys in ((1, 2, 30), (8, 12, 3), (4, 6, 6)):
        weights = np.full((heads, queries, keys), 1 / keys)
        tokens = [str(i) for i in range(30)]
        figure = plots.attention_grid([weights] * 2, tokens[:queries], tokens[:keys])
        drawn = draw(figure)
        drawn.draw_without_rendering()
        box, (left, right) = drawn.axes[0].get_window_extent(), drawn.axes[0].get_xlim()
        down, up = drawn.axes[0].get_ylim()
        assert box.width / (right - left) == pytest.approx(box.height / (down - up), rel=0.01)
        assert figure.layout.width <= 800 and figure.layout.height < 1000


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
