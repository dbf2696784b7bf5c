"""Figures show the numbers they were given, nothing where there is none, and text as it was
typed."""

import json

import numpy as np
import pytest
import torch
from each_figure import COUNTS, FIGURES, NAN, ROLES, VALUES, every_figure, shown
from expected_errors import refuses

from repro import plots
from repro.errors import InputError
from repro.plots import (
    Difference,
    attention_grid,
    attention_maps,
    curves,
    escape,
    head_values,
    picture,
)
from repro.plots.diagrams import ON_PALE
from repro.plots.drawing import draw
from repro.plots.style import COLORS, INK


def strings(value: object) -> list[str]:
    """Return all text in a value made of dicts and lists."""
    if isinstance(value, dict):
        value = list(value.values())
    return (
        [value]
        if isinstance(value, str)
        else [text for item in value for text in strings(item)]
        if isinstance(value, list)
        else []
    )


def luminance(color: str) -> float:
    """Return the relative luminance of `#RRGGBB` (WCAG 2.1)."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a: str, b: str) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(
    "typed, shown",
    [
        ("<s>", "&lt;s&gt;"),
        ("a & b", "a &amp; b"),
        ("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;"),
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("\x00", "⟨U+0000⟩"),
        ("$x$", "&#36;x&#36;"),
        ("Häuser ▁日本", "Häuser ▁日本"),
        ("👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"),  # one family
        ("❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥"),
        ("👩🏽\u200d💻", "👩🏽\u200d💻"),
        ("می\u200cروم", "می\u200cروم"),  # Persian: I go
        ("क्\u200dष", "क्\u200dष"),
        ("a\u200db", "a⟨U+200D⟩b"),
        ("a\u200cb", "a⟨U+200C⟩b"),
        ("👨\u200d", "👨⟨U+200D⟩"),
        ("\u200d👩", "⟨U+200D⟩👩"),
        ("👨\u200c👩", "👨⟨U+200C⟩👩"),
        ("م\u200d", "م⟨U+200D⟩"),
    ],
)
def test_text_is_never_markup(typed, shown):
    assert escape(typed) == shown


def test_every_function_that_draws_is_held_here():
    others = {"picture", "save", "escape"}
    drawing = {
        name for name in plots.__all__ if callable(getattr(plots, name)) and name[0].islower()
    } - others
    assert drawing == set(FIGURES)


@every_figure
def test_no_figure_reads_text_as_markup(make):
    texts = strings(json.loads(make().to_json()))
    assert not any("<img" in text for text in texts)
    if any("onerror" in text for text in texts):
        assert any("&lt;img src=x onerror=alert(1)&gt;" in text for text in texts)
    assert b"<img" not in picture(make(), "svg")


@every_figure
def test_every_axis_says_what_it_shows_and_the_mouse_reads_values(make):
    figure = make()
    # the grid: layers and heads are written beside its maps
    if isinstance(figure.layout.coloraxis.cmax, int):
        assert {"layer 1", "head 1"} <= {note.text for note in figure.layout.annotations}
        assert "%{z} %" in figure.layout.template.data.heatmap[0].hovertemplate
    else:
        assert any(axis.title.text for axis in figure.select_xaxes())
        assert any(axis.title.text or axis.ticktext for axis in figure.select_yaxes())
        read = [trace for trace in figure.data if trace.hoverinfo != "skip"]
        assert read and all(
            trace.hovertemplate or (trace.hoverinfo == "text" and all(trace.hovertext))
            for trace in read
        )
        # brackets and ticks of a forest plot, without a value of their own
        assert all(trace.mode == "lines" for trace in figure.data if trace.hoverinfo == "skip")


@every_figure
def test_figures_are_small_and_see_through(make):
    figure = make()
    assert len(figure.to_json()) < 12_000
    assert (
        figure.layout.template.layout.paper_bgcolor
        == figure.layout.template.layout.plot_bgcolor
        == "rgba(0, 0, 0, 0)"
    )
    assert 100 < figure.layout.height < 1000


@every_figure
def test_the_same_numbers_give_the_same_bytes(make):
    assert make().to_json() == make().to_json()
    assert picture(make()) == picture(make())


def test_ink_and_colors_read_on_light_and_on_dark():
    best_for_both = (contrast("#FFFFFF", "#111111")) ** 0.5
    assert best_for_both < 4.5  # so no ink has 4.5 on both
    assert contrast(INK, "#FFFFFF") >= 4.5 and contrast(INK, "#111111") >= 4.1
    assert all(
        contrast(color, page) >= 3 for color in COLORS[:4] for page in ("#FFFFFF", "#111111")
    )


def test_maps_hold_the_weights_and_the_tokens():
    weights = np.array([[0.25, 0.75, 0.0], [1.0, 0.0, 0.0]])
    figure = attention_maps(
        [weights, weights[:, ::-1]], ["<b>one", "two"], ["q", "<s>"], ["a", "a", "b"]
    )
    assert [trace.z.tolist() for trace in figure.data] == [
        weights.tolist(),
        weights[:, ::-1].tolist(),
    ]
    assert figure.layout.xaxis.ticktext == ("a", "a", "b") and figure.layout.yaxis.ticktext == (
        "q",
        "&lt;s&gt;",
    )
    assert figure.layout.annotations[0].text == "&lt;b&gt;one, up to 1"
    assert all((trace.zmin, trace.zmax) == (0, 1) for trace in figure.data)


def test_the_scale_of_a_map_ends_at_its_largest_weight_which_its_title_says():
    for weights, top in (
        ([[0.25, 0.2]], 0.25),
        ([[0.0, 0.9]], 0.9),
        ([[0.0, 0.0]], 1),  # zero stays paper
        ([[np.nan, 0.1]], 0.1),
    ):
        figure = attention_maps([np.array(weights)], ["a"], ["q"], ["k", "l"])
        (trace,) = figure.data
        assert (trace.zmin, trace.zmax) == (0, top)
        assert [note.text for note in figure.layout.annotations] == [f"a, up to {top:g}"]
        assert not trace.showscale
    both = attention_maps([np.full((1, 1), 0.2), np.full((1, 1), 0.9)], ["a", "b"], ["q"], ["k"])
    assert [trace.zmax for trace in both.data] == [0.2, 0.9]  # each panel has its own


def test_a_map_of_a_long_sentence_is_no_taller_than_a_page():
    tokens = [f"token{i}" for i in range(300)]
    figure = attention_maps([np.eye(300)], ["head"], tokens, tokens)
    assert figure.layout.height < 1000 and not figure.layout.yaxis.showticklabels
    assert attention_maps(
        [np.eye(40)], ["head"], tokens[:40], tokens[:40]
    ).layout.yaxis.showticklabels


def test_maps_hold_the_very_float_of_the_model():
    weight = np.float32(1 / 3)
    assert attention_maps([np.full((1, 1), weight)], ["a"], ["q"], ["k"]).data[0].z[0, 0] == weight


def test_labels_that_do_not_fit_are_refused_in_one_line():
    with refuses(InputError, "'one'", "3", "2"):
        attention_maps([np.eye(2)], ["one"], ["a", "b", "c"], ["a", "b"])
    with pytest.raises(InputError, match="key_labels: found 1 for 2 columns"):
        attention_grid([np.eye(2)[None]], ["a", "b"], ["a"])
    with pytest.raises(InputError, match="titles: found 0 for 1 maps"):
        attention_maps([np.eye(2)], [], ["a", "b"], ["a", "b"])
    with pytest.raises(InputError, match="cross: no layer has attention. Fix: choose another site"):
        attention_grid([None], ["a"], ["a"], title="cross")
    with pytest.raises(InputError, match="'base': found 1 for 2 bins"):
        plots.differences_by_length(
            ["1", "2"], {"base": plots.Measured([30.0], [29.0], [31.0])}, [1, 1], "words", "BLEU"
        )


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plots.pattern_gallery({}),
        lambda: plots.pattern_gallery({"next": np.eye(2)}, 0),
        lambda: plots.bell_curves(["word"], {}),
        lambda: attention_maps([], [], [], []),
        lambda: head_values({}, "confidence"),
        lambda: plots.divergence_matrix({}),
        lambda: plots.head_bars({}, "distance"),
        lambda: plots.entropy_by_layer({}),
        lambda: plots.roles_by_layer([]),
        lambda: plots.attention_by_sublayer({}, []),
        lambda: plots.score_sources({}),
        lambda: plots.gate_paths([], 1.0),
        lambda: plots.changes({}, "head", "BLEU"),
        lambda: plots.role_counts({}, "layer"),
        lambda: plots.heads_kept_by_site({}),
        lambda: plots.heads_kept_by_layer({}, []),
        lambda: plots.speed_by_length({}),
        lambda: plots.attention_maps([np.zeros((2, 0))], ["head"], ["a", "b"], []),
        lambda: plots.published_beside_reproduced([]),
    ],
)
def test_nothing_is_not_drawn(draw):
    with pytest.raises(InputError, match="figure: there is nothing to draw. Fix: give one"):
        draw()


def test_a_tensor_with_a_gradient_is_drawn_as_its_numbers():
    figure = plots.pattern_gallery({"next": torch.eye(2, requires_grad=True)})
    assert figure.data[0].z.tolist() == np.eye(2).tolist() and figure.data[0].zmax == 1
    overview = attention_grid([torch.eye(2, requires_grad=True)[None]], ["a", "b"], ["a", "b"])
    assert overview.data[0].z.tolist() == [[100, 0], [0, 100]]


def test_the_grid_holds_every_head_in_percent_and_no_map_of_a_missing_layer():
    heads = np.array([[[0.256, 0.744], [1.0, 0.0]], [[0.004, 0.996], [0.5, 0.5]]])
    figure = attention_grid([heads, None, heads[:1]], ["q", "r"], ["k", "<s>"], "cross")
    assert [trace.name for trace in figure.data] == [
        "layer 1, head 1",
        "layer 1, head 2",
        "layer 3, head 1",
    ]
    assert figure.layout.coloraxis.colorbar.ticktext == ("0", "50", "100")
    assert [trace.z.tolist() for trace in figure.data] == [
        [[26, 74], [100, 0]],
        [[0, 100], [50, 50]],
        [[26, 74], [100, 0]],
    ]
    assert [note.text for note in figure.layout.annotations if note.text == "no attention"] == [
        "no attention"
    ]
    labels = dict(
        zip(figure.layout.xaxis.tickvals.tolist(), figure.layout.xaxis.ticktext, strict=True)
    )
    second = figure.data[1]
    # what the mouse reads over the second head
    assert [labels[second.x0], labels[second.x0 + 1]] == ["k", "&lt;s&gt;"]


def test_heads_and_layers_are_written_beside_their_own_maps():
    """A map of this sentence is ten times as wide as it is high."""
    figure = attention_grid(
        [np.ones((2, 3, 30))] * 2, ["first", "second", "third"], [str(i) for i in range(30)]
    )
    middles = {note.text: (note.x, note.y) for note in figure.layout.annotations}
    rows = dict(
        zip(figure.layout.yaxis.tickvals.tolist(), figure.layout.yaxis.ticktext, strict=True)
    )
    for trace in figure.data:
        layer, head = trace.name.split(", ")
        assert (middles[head][0], middles[layer][1]) == (trace.x0 + 14.5, trace.y0 + 1)
        assert [rows[trace.y0 + i] for i in range(3)] == ["first", "second", "third"]


def test_the_first_row_is_on_top_and_the_most_heads_are_on_the_left():
    for name in (
        "attention_maps",
        "attention_grid",
        "pattern_gallery",
        "heads_kept_by_layer",
        "published_beside_reproduced",
    ):
        bottom, top = FIGURES[name]().layout.yaxis.range
        assert bottom > top, name
    for name in ("pruning_curve", "heads_kept_by_site"):
        left, right = FIGURES[name]().layout.xaxis.range
        assert left > right, name


def test_three_grids_of_six_layers_eight_heads_and_forty_tokens_stay_under_half_a_megabyte():
    tokens = [f"▁token{i}" for i in range(40)]
    layers = [np.random.default_rng(i).dirichlet(np.ones(40), (8, 40)) for i in range(6)]
    figure = attention_grid(layers, tokens, tokens, "encoder self-attention")
    assert 3 * len(json.dumps(shown(figure), indent=1)) < 500_000
    assert len(figure.data) == 48


def test_patterns_share_a_scale_up_to_their_largest_weight():
    figure = plots.pattern_gallery({"a": np.full((2, 2), 0.1), "b": np.full((2, 2), 0.4)})
    assert [(trace.zmin, trace.zmax) for trace in figure.data] == [(0, 0.4)] * 2
    assert figure.data[0].z == pytest.approx(np.full((2, 2), 0.1))


def test_divergences_and_kept_heads_share_a_scale_up_to_the_largest_of_all_panels():
    divergences = plots.divergence_matrix(
        {name: np.array([[0, far], [far, 0]]) for name, far in (("a", 0.1), ("b", 0.2))}
    )
    kept = plots.heads_kept_by_layer(
        {"encoder": np.array([[2, 1]]), "cross": np.array([[4, 3]])}, ["6", "4"]
    )
    assert [
        (trace.zmin, trace.zmax) for figure in (divergences, kept) for trace in figure.data
    ] == [(0, 0.2)] * 2 + [(0, 4)] * 2


def test_a_missing_head_is_empty_not_zero():
    z = head_values({"cross": VALUES}, "confidence").data[0].z
    assert np.isnan(z[1]).all() and z[0] == pytest.approx([0.1, 0.2, 0.3])
    bars = plots.head_bars({"cross": VALUES}, "distance")
    assert bars.data[0].y.tolist() == [0.1, 0.2, 0.3] and [
        note.text for note in bars.layout.annotations
    ] == ["cross", "none"]
    mean, dots = plots.entropy_by_layer({"base": VALUES}).data
    assert (
        mean.y[0] == pytest.approx(0.2)
        and np.isnan(mean.y[1])
        and dots.y.tolist() == [0.1, 0.2, 0.3]
    )
    scatter = plots.confidence_against_relevance(VALUES, VALUES).data
    assert [trace.x.tolist() for trace in scatter] == [[0.1, 0.2, 0.3]]


def test_bars_of_a_layer_stand_around_its_number_and_the_mouse_reads_layer_and_head():
    bars = plots.head_bars({"cross": VALUES}, "distance").data[0]
    assert bars.x == pytest.approx([-0.4, -0.1333, 0.1333], abs=1e-4) and bars.offset == 0
    assert bars.hovertext == ("layer 1, head 1", "layer 1, head 2", "layer 1, head 3")
    assert plots.entropy_by_layer({"base": VALUES}).data[1].hovertext == bars.hovertext


def test_the_scale_is_two_sided_only_where_numbers_have_both_signs():
    one_sided = head_values(
        {"a": np.array([[0.1, 2.0]]), "b": np.array([[3.0, NAN]])}, "distance, tokens"
    )
    assert [(trace.zmin, trace.zmax) for trace in one_sided.data] == [(0, 3)] * 2
    two_sided = head_values({"a": np.array([[-0.5, 0.2]])}, "BLEU")
    assert (two_sided.data[0].zmin, two_sided.data[0].zmax) == (-0.5, 0.5)
    assert two_sided.data[0].colorscale[1][1] == "#F7F7F7"
    # which way is written, too
    assert (one_sided.data[0].texttemplate, two_sided.data[0].texttemplate) == (
        "%{z:.2f}",
        "%{z:+.2f}",
    )
    given = head_values({"a": np.array([[0.1]])}, "probability", limits=(0, 1)).data[0]
    assert (given.zmin, given.zmax) == (0, 1)


def test_histograms_are_shares():
    shares = np.arange(12).reshape(2, 2, 3) / 12
    offsets = plots.offset_histograms(shares)
    assert offsets.data[0].z == pytest.approx(shares.reshape(4, 3))
    assert offsets.layout.yaxis.ticktext == (
        "1.1",
        "1.2",
        "2.1",
        "2.2",
    ) and offsets.layout.xaxis.ticktext == ("-1", "0", "+1")
    first, second = plots.weight_histograms({"base": COUNTS}, [0, 1]).data
    assert first.x.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert (
        first.y[:4] == pytest.approx(np.array([12, 15, 18, 21]) / 66) and first.y[4] == first.y[3]
    )
    assert second.y[0] == pytest.approx(48 / 210)
    chosen = plots.weight_histograms({"base": COUNTS}, [1])
    assert chosen.layout.annotations[0].text == "layer 2" and chosen.data[0].y[0] == second.y[0]


def test_heads_are_grouped_by_role_and_heads_with_several_are_counted_once():
    scatter = plots.confidence_against_relevance(VALUES, VALUES / 2, ROLES)
    assert {trace.name: (trace.x[0], trace.y[0], trace.text[0]) for trace in scatter.data} == {
        "positional": (0.1, 0.05, "1.1"),
        "several": (0.2, 0.1, "1.2"),
        "unknown": (0.3, 0.15, "1.3"),
    }
    assert "rare and syntactic" in scatter.data[1].hovertext[0]
    bars = plots.roles_by_layer(ROLES).data
    assert {bar.name: (bar.base.tolist(), bar.y.tolist()) for bar in bars} == {
        "positional": ([0, 0], [1, 0]),
        "several": ([1, 0], [1, 0]),
        "unknown": ([2, 0], [1, 0]),
    }


def test_bars_of_one_role_are_named_and_say_that_no_head_meets_a_criterion():
    counts = {"8": {"unknown": 8}, "4": {"unknown": 4, "positional": 0}}
    figure = plots.role_counts(counts, "heads kept")
    assert figure.layout.title.text == plots.NO_ROLE
    assert "\u2003unknown" in [text.get_text() for text in draw(figure).texts]
    figure = plots.role_counts({"8": {"rare": 1}}, "heads kept")
    assert [bar.name for bar in figure.data] == ["rare"]
    assert figure.layout.title.text == "1 of 1 heads have a role"


def test_a_cloud_of_one_role_says_that_no_head_meets_a_criterion():
    figure = plots.confidence_against_relevance(VALUES, VALUES, [[("unknown",)] * 3, [()] * 3])
    assert figure.layout.title.text == plots.NO_ROLE and not draw(figure).legends
    assert plots.confidence_against_relevance(VALUES, VALUES, ROLES).layout.showlegend
    assert not plots.confidence_against_relevance(VALUES, VALUES).layout.showlegend


def test_labels_of_heads_that_stand_together_do_not_stand_on_each_other():
    confidence, relevance = np.array([[0.30, 0.305, 0.9]]), np.array([[0.5, 0.5, 0.5]])
    (cloud,) = plots.confidence_against_relevance(confidence, relevance).data
    first, second, alone = cloud.textposition
    assert first != second and alone == "top center"
    left, right, _ = draw(plots.confidence_against_relevance(confidence, relevance)).axes[0].texts
    assert (left.get_text(), right.get_text()) == ("1.1", "1.2") and left.xyann != right.xyann


def test_a_large_cloud_labels_the_most_relevant_head_of_each_layer():
    relevance = np.arange(24).reshape(3, 8) / 100
    labels = plots.confidence_against_relevance(np.full((3, 8), 0.5), relevance).data[0].text
    assert [label for label in labels if label] == ["1.8", "2.8", "3.8"]


def test_pruning_is_drawn_as_difference_to_the_model_with_most_heads():
    ours, theirs = plots.pruning_curve(
        {"ours": ([2, 8, 4], [29.0, 30.5, 30.6])}, {"WMT": ([48, 12], [29.6, 29.45])}
    ).data
    assert ours.x.tolist() == [25, 50, 100] and ours.y == pytest.approx([-1.5, 0.1, 0])
    assert ours.customdata.tolist() == [[2, 29.0], [4, 30.6], [8, 30.5]]
    assert theirs.x.tolist() == [25, 100] and theirs.y == pytest.approx([-0.15, 0])
    assert (theirs.line.dash, ours.line.dash) == ("dash", "solid")


def test_kept_heads_hold_the_counts():
    encoder, cross = plots.heads_kept_by_site({"ours": {"encoder": [4, 1], "cross": [4, 3]}}).data
    assert encoder.x.tolist() == cross.x.tolist() == [8, 4] and (
        encoder.y.tolist(),
        cross.y.tolist(),
    ) == ([4, 1], [4, 3])
    layers = plots.heads_kept_by_layer({"cross": np.array([[4, 2], [4, 3]])}, ["8", "5"])
    assert layers.data[0].z.tolist() == [[4, 2], [4, 3]] and layers.layout.xaxis.ticktext == (
        "8",
        "5",
    )
    pairs = plots.heads_kept_by_layer(
        {"cross": np.array([[4, 2], [4, 3]])}, ["8", "5"], ["0 and 1", "2 and 3"], "heads kept here"
    )
    assert (layers.layout.xaxis.title.text, pairs.layout.xaxis.title.text) == (
        "model: heads kept in all",
        "model: heads kept here",
    )
    assert (layers.layout.yaxis.ticktext, pairs.layout.yaxis.ticktext) == (
        ("1", "2"),
        ("0 and 1", "2 and 3"),
    )


def test_twelve_lines_are_told_apart():
    figure = curves({f"line {number}": ([1, 2], [3.0, 2.5]) for number in range(12)}, "x", "y")
    assert (
        len({(line.line.color, line.line.dash, line.marker.symbol) for line in figure.data}) == 12
    )
    # without colours, too
    assert len({(line.line.dash, line.marker.symbol) for line in figure.data}) == 12


def test_lines_without_marks_are_told_apart_by_dashes():
    figure = curves({name: ([1, 2], [3, 4]) for name in "abcdef"}, "x", "y", marks=False)
    assert {trace.mode for trace in figure.data} == {"lines"} and len(
        {trace.line.dash for trace in figure.data}
    ) == 6
    assert (
        len({line.get_linestyle() + str(line._dash_pattern) for line in draw(figure).axes[0].lines})
        == 6
    )
    thin = [
        trace
        for trace in plots.training_curves(
            {name: [{"update": 1, "nll": 3.0}] for name in "abc"}
        ).data
        if trace.line.width == 1
    ]
    assert len({trace.line.dash for trace in thin}) == 3 and "solid" not in {
        trace.line.dash for trace in thin
    }


def test_labels_of_narrow_columns_stand_upright_or_are_smaller():
    tokens = [f"token{i}" for i in range(14)]
    crowded, roomy = (
        attention_maps([np.eye(14)] * 4, list("abcd"), tokens, tokens, columns).layout.xaxis
        for columns in (4, 2)
    )
    assert (crowded.tickangle, crowded.tickfont.size) == (-90, 9) and (
        roomy.tickangle,
        roomy.tickfont.size,
    ) == (-60, None)
    models = [str(number) for number in range(20, 33)]
    level, few = (
        plots.heads_kept_by_layer(
            {"a": np.ones((2, n)), "b": np.ones((2, n))}, models[:n]
        ).layout.xaxis
        for n in (13, 5)
    )
    assert (level.tickangle, level.tickfont.size) == (0, 9) and few.tickfont.size is None
    (label, *_) = (
        draw(attention_maps([np.eye(14)] * 4, list("abcd"), tokens, tokens))
        .axes[0]
        .get_xticklabels()
    )
    assert label.get_rotation() == 90 and label.get_fontsize() == 6


def test_curves_hold_the_values():
    figure = curves({"training": ([1, 2], [3.0, 2.5]), "dev": ([2], [2.7])}, "updates", "loss")
    assert [list(trace.y) for trace in figure.data] == [[3.0, 2.5], [2.7]]
    assert [trace.name for trace in figure.data] == ["training", "dev"]


def test_training_draws_each_split_where_it_was_measured():
    training, dev = FIGURES["training_curves"]().data
    assert (training.x.tolist(), training.y.tolist()) == ([1, 2], [3.0, 2.0])
    assert (dev.x.tolist(), dev.y.tolist()) == ([2], [2.5])
    assert (training.mode, dev.mode) == ("lines", "lines+markers") and training.line.width == 1


def test_bins_without_sentences_have_no_point_and_counts_are_written():
    figure = FIGURES["differences_by_length"]()
    assert figure.data[0].y[0] == 90 and np.isnan(figure.data[0].y[1])
    assert figure.layout.xaxis.ticktext[1] == "9<br>0" and figure.layout.xaxis.ticktext[0].endswith(
        "<br>1,200"
    )
    assert figure.layout.xaxis.title.text.endswith("; number of sentences")


def test_intervals_have_the_ends_that_were_given():
    trace = FIGURES["accuracy_by_distance"]().data[0]
    assert (trace.y + trace.error_y.array).tolist() == [92, 95] and (
        trace.y - trace.error_y.arrayminus
    ).tolist() == [85, 70]
    differences = FIGURES["differences_by_length"]()
    assert (differences.data[0].error_y.array[0], differences.data[0].error_y.arrayminus[0]) == (
        2,
        5,
    )
    _, reproduced = FIGURES["published_beside_reproduced"]().data
    assert reproduced.x - reproduced.error_x.arrayminus == pytest.approx([-0.5])
    assert reproduced.x + reproduced.error_x.array == pytest.approx([0.1])
    assert reproduced.customdata.tolist() == [[-0.5, 0.1]]  # from, to


def test_published_numbers_stand_beside_their_rows_and_unpublished_ones_nowhere():
    rows = [
        Difference("a", 0.3, 0.1, 0, 0.2),
        Difference("b", NAN, 0.5, 0.4, 0.6),
        Difference("c", -1.0, -2, -3, -1),
    ]
    published, reproduced = plots.published_beside_reproduced(rows).data
    assert published.x.tolist() == [0.3, -1] and np.rint(published.y).tolist() == [0, 2]
    assert reproduced.x.tolist() == [0.1, 0.5, -2] and np.rint(reproduced.y).tolist() == [0, 1, 2]
    assert (published.y < reproduced.y[[0, 2]]).all()  # so that neither hides the other


def test_bells_stand_at_their_means_and_marks_lie_on_them():
    marks, curve, _, other = plots.bell_curves(
        ["a", "b", "c"], {"before": 0.0, "after": 2.0}, std=2.0
    ).data
    # of the normal distribution, by table
    assert marks.y == pytest.approx([0.1995, 0.1760, 0.1210]) and marks.x.tolist() == [0, 1, 2]
    assert (curve.x[0], curve.x[-1], curve.x[curve.y.argmax()], other.x[other.y.argmax()]) == (
        -0.5,
        2.5,
        0,
        2,
    )
    assert dict(zip(curve.x.tolist(), curve.y.tolist(), strict=True))[1.0] == marks.y[1]


def test_sublayers_hold_the_heads_of_each_system_and_a_missing_one_has_no_box():
    figure = plots.attention_by_sublayer(
        {"base": [(4, "learned")] * 2, "sh-x": [(4, "hard-coded"), None]}, ["self", "cross"]
    )
    learned, hard_coded = figure.data
    assert (learned.x.tolist(), (learned.base + 0.4).tolist()) == ([0, 0], [0, 1])
    assert (hard_coded.x.tolist(), hard_coded.hovertext) == ([1], ("sh-x, self: 4 hard-coded",))
    written = {(note.x, note.y): note.text for note in figure.layout.annotations}
    assert written == {
        (0, 0): "4 learned",
        (0, 1): "4 learned",
        (1, 0): "4 hard-coded",
        (1, 1): "no sublayer",
    }
    assert {note.text for note in figure.layout.annotations if note.font.color == ON_PALE} == {
        "4 learned",
        "4 hard-coded",
    }
    # the first on top
    assert figure.layout.yaxis.ticktext == ("self", "cross") and figure.layout.yaxis.range == (
        1.5,
        -0.5,
    )
    with pytest.raises(InputError, match="'base': found 1 for 2 sublayers"):
        plots.attention_by_sublayer({"base": [None, None]}, ["self"])


def test_a_transformer_has_its_parts_in_order_and_one_way_from_encoder_to_decoder():
    figure = plots.transformer(6)
    attention, alone = (set(zip(bar.x, bar.hovertext, strict=True)) for bar in figure.data[:2])
    assert attention == {
        (0, "self-attention"),
        (1, "self-attention, past only"),
        (1, "cross attention"),
    }
    assert len(alone) == 5
    written = {(note.x, note.y): note.text for note in figure.layout.annotations}
    arrows = [trace for trace in figure.data[2:] if trace.mode == "lines" and len(trace.x) == 2]
    (across,) = (arrow for arrow in arrows if arrow.y[0] == arrow.y[1])
    assert (written[0, 2], written[1, across.y[0]]) == ("feed-forward", "cross attention")
    assert list(written.values()).count("6 layers") == 2
    assert "6 layers" in figure.layout.meta["words"]
    with refuses(InputError, "num_layers", "is 0"):
        plots.transformer(0)


def arrows_of(trace, heads) -> set[tuple]:
    """Return the arrows of a panel, each as the boxes where it starts and ends: column and row."""
    points = list(zip(trace.x.tolist(), trace.y.tolist(), strict=True))
    assert list(zip(heads.x, heads.y, strict=True)) == points[1::3]
    boxes = [(2 * round(x / 2), round(y)) for x, y in points if not np.isnan(x)]
    return set(zip(boxes[::2], boxes[1::2], strict=True))


def test_scores_come_from_the_words_or_the_scores_below_or_from_nothing():
    figure = plots.score_sources(
        {"dot-product": "words", "synthesizer": "nothing", "recurrent": "scores"}, num_layers=2
    )
    made, drawn = [], []
    for panel in range(3):
        traces = [trace for trace in figure.data if trace.xaxis == f"x{panel + 1 if panel else ''}"]
        up, up_heads, weigh, weigh_heads, *make, _, _ = traces
        boxes = traces[-2:]
        assert arrows_of(up, up_heads) == {((0, 0), (0, 1)), ((0, 1), (0, 2))}
        assert arrows_of(weigh, weigh_heads) == {((2, 1), (0, 1)), ((2, 2), (0, 2))}
        made.append(arrows_of(*make) if make else set())
        places = [(x, y + 0.25) for box in boxes for x, y in zip(box.x, box.base, strict=True)]
        drawn.append({(x, round(y)) for x, y in places})
    assert made == [
        {((0, 0), (2, 1)), ((0, 1), (2, 2))},
        set(),
        {((2, 0), (2, 1)), ((2, 1), (2, 2))},
    ]
    assert drawn[0] == drawn[1] == {(0, 0), (0, 1), (0, 2), (2, 1), (2, 2)}
    assert drawn[2] - drawn[0] == {(2, 0)}  # the first scores
    said = [text.get_text() for ax in draw(figure).axes for text in ax.texts]
    said += [note.text for note in figure.layout.annotations]
    assert [said.count(word) for word in ("weigh", "make", "no input", "A₀")] == [3, 2, 1, 1]
    assert len({trace.line.dash for trace in figure.data[:6:2]}) == 3  # known without their colours
    assert figure.layout.yaxis.ticktext == ("input", "layer 1", "layer 2")
    with refuses(InputError, "'a'", "'keys'"):
        plots.score_sources({"a": "keys"})


def test_changes_are_squares_where_the_whole_interval_lies_below_zero():
    group = {"0.0": (-1.0, -2.0, -0.5), "0.1": (-1.0, -2.0, 0.0), "0.2": (0.5, 0.25, 1.0)}
    worse, others = plots.changes({"cross": group}, "head", "BLEU").data
    assert (worse.marker.symbol, worse.x.tolist(), worse.hovertext) == ("square", [0], ("0.0",))
    assert (others.marker.symbol, others.x.tolist(), others.y.tolist()) == (
        "circle",
        [1, 2],
        [-1, 0.5],
    )
    assert (worse.y - worse.error_y.arrayminus, worse.y + worse.error_y.array) == ([-2], [-0.5])


def test_paths_of_gates_have_the_color_of_their_layer_between_the_limits():
    *paths, upper, lower = FIGURES["gate_paths"]().data
    assert [(path.name, path.y.tolist()) for path in paths] == [
        ("layer 1, head 1", [2, 2.1]),
        ("layer 1, head 2", [1.5, -0.5]),
        ("layer 2, head 1", [2, 2.6]),
    ]
    assert [path.line.color for path in paths] == [COLORS[0], COLORS[0], COLORS[1]]
    assert [path.line.dash for path in paths] == ["solid", "solid", "dash"]
    assert (upper.y.tolist(), lower.y.tolist()) == ([2.398] * 2, [-2.398] * 2)


def test_speed_is_on_logarithmic_scales():
    figure = FIGURES["speed_by_length"]()
    assert (figure.layout.xaxis.type, figure.layout.yaxis.type) == ("log", "log")
    assert figure.data[0].y.tolist() == [900, 500] and figure.layout.xaxis.tickvals == (16, 32)


def test_a_pruned_model_with_all_heads_is_not_taken_for_the_unpruned_one():
    (ours,) = plots.pruning_curve({"ours": ([16, 16, 3], [60.0, 59.0, 50.0])}, {}).data
    assert ours.x.tolist() == [18.75, 100, 100] and ours.y.tolist() == [-10, 0, -1]


def test_a_site_without_heads_is_drawn_without_bars():
    assert plots.head_bars({"decoder": np.zeros((2, 0))}, "distance").data[0].x.size == 0
    assert [
        line.name
        for line in plots.weight_histograms({"none": np.zeros((2, 0)), "base": COUNTS}, [0]).data
    ] == ["base"]
