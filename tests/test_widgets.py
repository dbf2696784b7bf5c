"""Widgets without a browser: state set in Python changes what is shown, numbers are the model's,
and text stays text."""

import json
import re
import subprocess
import sys
import threading
import zlib
from collections import Counter
from pathlib import Path

import ipywidgets
import numpy as np
import pytest
import torch

from repro.analysis.ablation import scaled_heads
from repro.analysis.reading import Reading, Word, changed_words, read
from repro.analysis.replacement import replaced_head
from repro.analysis.weights import collect_weights
from repro.core.attention.gaussian import Gaussian
from repro.core.config import ModelConfig
from repro.core.decoding import SearchConfig, Translator
from repro.core.int8 import quantized
from repro.core.subwords import PAD_ID
from repro.core.transformer import Transformer
from repro.errors import InputError
from repro.runs import gallery
from repro.runs.models import load_translator
from repro.widgets import Ablation, Explorer, Playground
from repro.widgets.heads import ones

SENTENCE = "The old man sees a dog."
OTHER = "A woman buys the small table."
SEARCH = SearchConfig(beam=2)


def texts(row: dict) -> str:
    return " ".join(word["text"] for word in row["words"])


def saved_bytes(widget: ipywidgets.Widget) -> int:
    """Return how many bytes a notebook grows by when it is saved with this widget in it."""
    ids, todo = set(), [widget]
    while todo:
        one = todo.pop()
        ids.add(one.model_id)
        todo += [
            value
            for value in (getattr(one, name, None) for name in ("layout", "style"))
            if isinstance(value, ipywidgets.Widget)
        ]
        todo += getattr(one, "children", ())
    state = ipywidgets.Widget.get_manager_state(
        widgets=[w for i, w in ipywidgets.widgets.widget._instances.items() if i in ids]
    )
    return len(json.dumps(state)) + len(json.dumps(widget.static()))


@pytest.mark.parametrize("kind", [Explorer, Ablation, Playground])
def test_characters_that_the_model_has_never_seen_are_told_until_they_are_gone(translator, kind):
    widget = kind(translator, SENTENCE, SEARCH)
    widget.sentence.value = "The \u0416 dog \u0416 sleeps\u200b."
    assert widget.notice.message.endswith(
        "never seen by the model: 2 characters of 1 kinds: \u0416"
    )
    widget.sentence.value = OTHER
    assert "never seen" not in widget.notice.message


# Explorer


def test_the_explorer_holds_the_models_tensors(translator):
    explorer = Explorer(translator, SENTENCE, SEARCH)
    maps = explorer.maps
    src = torch.tensor([[*translator.subwords.encode([SENTENCE])[0], 3]])
    tgt_in = torch.tensor(
        [[2, *translator.subwords.encode(translator.translate([SENTENCE], SEARCH))[0]]]
    )
    expected = collect_weights(translator.model, src, tgt_in)
    assert (len(maps.source), len(maps.target)) == (src.shape[1], tgt_in.shape[1])
    start = 0
    for site, layers in zip(maps.sites, expected, strict=True):
        assert site["layers"] == [4, 4]
        for layer in layers:
            np.testing.assert_allclose(
                maps.weights[start : start + layer.numel()], layer.numpy().ravel(), atol=1e-6
            )
            start += layer.numel()
    assert start == len(maps.weights)
    shades = np.frombuffer(zlib.decompress(maps.shades), np.uint8)
    assert np.abs(shades / 255 - maps.weights).max() <= 0.5 / 255 + 1e-6


def test_a_view_that_asks_gets_the_exact_weights(translator, monkeypatch):
    maps, sent = Explorer(translator, SENTENCE, SEARCH).maps, []
    monkeypatch.setattr(maps, "send", lambda *arguments: sent.append(arguments))
    maps._handle_custom_msg("something else", [])
    maps._handle_custom_msg("weights", [])
    assert sent == [({"version": maps.version}, [maps.weights.tobytes()])]
    assert maps.weights.dtype == np.float32


def test_the_explorers_statistics_are_those_of_the_sentence(translator):
    maps = Explorer(translator, SENTENCE, SEARCH).maps
    size = len(maps.source)
    # encoder, layer 0, head 0, without the end mark as query
    matrix = maps.weights[: size * size].reshape(size, size)[:-1]
    confidence, entropy, distance = maps.sites[0]["statistics"][0][0]
    assert confidence == pytest.approx(matrix[:, :-1].max(axis=1).mean(), rel=1e-5)
    assert distance == pytest.approx(
        np.abs(matrix[:, :-1].argmax(axis=1) - np.arange(size - 1)).mean()
    )
    whole = maps.weights[: size * size].reshape(size, size).astype(float)
    assert entropy == pytest.approx(-(whole * np.log(whole)).sum(axis=1).mean(), rel=1e-4)


def test_another_sentence_changes_the_explorer_and_a_mistake_is_told(translator):
    explorer = Explorer(translator, SENTENCE, SEARCH)
    explorer.maps.chosen, explorer.maps.token = [2, 1, 3], {"side": "target", "index": 1}
    before = explorer.maps.weights
    explorer.sentence.value = OTHER
    maps = explorer.maps
    assert maps.version == 2 and not np.array_equal(maps.weights, before) and maps.source[0] == "▁A"
    assert (maps.chosen, maps.token, maps.message) == ([2, 1, 3], {}, "")
    explorer.sentence.value = " "
    assert maps.message == "sentence: is empty. Fix: type some words" and maps.version == 2


def test_layers_without_attention_are_passed_over():
    maps = Explorer(load_translator(gallery.load("sh-x")), SENTENCE, SEARCH).maps
    assert [site["layers"] for site in maps.sites] == [[4, 4], [4, 4], [0, 1]]
    length = 4 * 2 * (len(maps.source) ** 2 + len(maps.target) ** 2) + len(maps.target) * len(
        maps.source
    )
    assert len(maps.weights) == length and maps.sites[2]["statistics"][0][0] == [None] * 3


def test_a_large_explorer_stays_small_in_a_notebook(translator, monkeypatch):
    """Six layers of eight heads over 40 tokens at three sites, with weights as peaked as those of
    trained models."""
    config = ModelConfig(encoder_layers=6, decoder_layers=6, embed_dim=64, num_heads=8)
    model = Transformer(config, len(translator.subwords), PAD_ID).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "query_proj" in name:
                parameter.mul_(5)
    ids = torch.randint(4, len(translator.subwords), (1, 40))
    reading = Reading(
        [f"▁token{i}" for i in range(40)],
        [f"▁token{i}" for i in range(40)],
        [Word("token", 0.5)],
        ids,
        ids,
        Counter(),
    )
    monkeypatch.setattr("repro.widgets.explorer.read", lambda *_: reading)
    explorer = Explorer(Translator(model, translator.subwords), SENTENCE)
    assert len(explorer.maps.weights) == 3 * 6 * 8 * 40 * 40
    assert (
        0.2
        < np.mean(
            [
                head[0]
                for site in explorer.maps.sites
                for layer in site["statistics"]
                for head in layer
            ]
        )
        < 0.8
    )
    assert saved_bytes(explorer) < 500_000


PEAK = """
import re
from repro import SearchConfig, gallery, load_translator
from repro.widgets import Explorer
explorer = Explorer(load_translator(gallery.load("base")), "dog " * 400, SearchConfig(beam=2))
assert len(explorer.maps.source) == 401, explorer.maps.source
explorer.static()
print(int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]) // 1024)
"""


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="only Linux tells the peak memory of one program"
)
def test_a_sentence_of_400_tokens_is_explored_in_600_megabytes():
    shown = subprocess.run([sys.executable, "-c", PEAK], capture_output=True, text=True, check=True)
    assert int(shown.stdout) < 600


def test_a_longer_sentence_or_translation_is_refused_in_one_line(translator, monkeypatch):
    explorer = Explorer(translator, SENTENCE, SEARCH)
    explorer.sentence.value = "dog " * 501
    limit = "and the explorer draws at most 500. Fix: type a shorter one"
    assert (
        explorer.maps.message == f"sentence: has 501 tokens, {limit}" and explorer.maps.version == 1
    )
    with pytest.raises(InputError, match=re.escape(limit)):
        Explorer(translator, "dog " * 2000, SEARCH)
    monkeypatch.setattr("repro.widgets.explorer.MAX_TOKENS", len(explorer.maps.source))
    monkeypatch.setattr(
        "repro.widgets.explorer.read",
        lambda *_: Reading([], ["a"] * 20, [], torch.ones(1, 1), torch.ones(1, 1), Counter()),
    )
    explorer.sentence.value = SENTENCE
    assert explorer.maps.message.startswith(
        "sentence: has a translation of 20 tokens, and the explorer draws at most"
    )


def test_what_is_shown_is_marked_as_old_after_a_mistake_and_as_busy_meanwhile(
    translator, monkeypatch
):
    for widget in (Explorer(translator, SENTENCE, SEARCH), Ablation(translator, SENTENCE, SEARCH)):
        states = []
        widget.notice.observe(lambda change, states=states: states.append(change["new"]), "state")
        widget.sentence.value = " "
        widget.sentence.value = OTHER
        assert states == ["busy", "stale", "busy", "ready"]


# Ablation


def test_a_factor_changes_the_translation_as_scaled_heads_do(translator):
    ablation = Ablation(translator, SENTENCE, SEARCH)
    whole = translator.translate([SENTENCE], SEARCH)[0]
    assert [texts(row) for row in ablation.words.rows] == [whole, whole]
    ablation.heads.factors = [[[1.0] * 4] * 2, [[1.0] * 4] * 2, [[1.0] * 4, [0.0] * 4]]
    with scaled_heads(translator.model, {("cross", 1): [0.0] * 4}):
        expected = translator.translate([SENTENCE], SEARCH)[0]
    first, second = ablation.words.rows
    assert expected != whole and (texts(first), texts(second)) == (whole, expected)
    assert [word["changed"] for word in second["words"]] == changed_words(
        whole.split(), expected.split()
    )
    assert [word["changed"] for word in first["words"]] == changed_words(
        expected.split(), whole.split()
    )
    assert translator.translate([SENTENCE], SEARCH)[0] == whole


def test_the_slider_is_the_factor_of_the_chosen_head(translator):
    ablation = Ablation(translator, SENTENCE, SEARCH)
    before = ablation.words.rows[1]["words"]
    ablation.heads.chosen = [2, 1, 3]
    ablation.factor.value = 0.5
    assert ablation.heads.factors == [
        ones(translator.model)[0],
        ones(translator.model)[1],
        [[1.0] * 4, [1.0, 1.0, 1.0, 0.5]],
    ]
    assert [word["probability"] for word in ablation.words.rows[1]["words"]] != [
        word["probability"] for word in before
    ]
    ablation.heads.chosen = [0, 0, 0]
    assert ablation.factor.value == 1.0
    ablation.heads.chosen = [2, 1, 3]
    assert ablation.factor.value == 0.5
    ablation.reset.click()
    assert ablation.heads.factors == ones(translator.model) and ablation.factor.value == 1.0
    assert ablation.words.rows[1]["words"] == before


def test_a_factor_beyond_the_slider_is_laid_as_it_is(translator):
    ablation = Ablation(translator, SENTENCE, SEARCH)
    ablation.heads.factors = [[[-3.0, 1.0, 1.0, 1.0], [1.0] * 4], *ones(translator.model)[1:]]
    assert ablation.heads.factors[0][0][0] == -3.0


@pytest.mark.parametrize("make", [Explorer, Ablation, Playground])
def test_a_first_sentence_that_cannot_be_read_is_refused(translator, make):
    with pytest.raises(InputError, match="sentence: is empty"):
        make(translator, "")


def test_a_typed_sentence_goes_through_both_models(translator):
    ablation = Ablation(translator, SENTENCE, SEARCH)
    ablation.sentence.value = OTHER
    assert [texts(row) for row in ablation.words.rows] == translator.translate([OTHER], SEARCH) * 2
    ablation.sentence.value = ""
    assert ablation.words.message == "sentence: is empty. Fix: type some words"


# Playground


def test_the_centre_moves_the_matrix_and_the_translation(translator):
    play = Playground(translator, SENTENCE, SEARCH)
    play.heads.chosen = [2, 0, 1]
    play.pattern.value = "gaussian"
    play.std.value = 0.5
    seen = set()
    for center in (-3.0, 0.0, 4.0):
        play.center.value = center
        weights = np.frombuffer(play.matrix.weights, np.float32).reshape(
            len(play.matrix.query_tokens), len(play.matrix.key_tokens)
        )
        queries, keys = np.mgrid[: weights.shape[0], : weights.shape[1]]
        expected = np.exp(-((keys - queries - center) ** 2) / (2 * 0.25)) / (
            0.5 * np.sqrt(2 * np.pi)
        )
        np.testing.assert_allclose(weights, expected, atol=1e-6)
        with replaced_head(
            translator.model,
            "cross",
            0,
            1,
            Gaussian((center,), 16, 0.5),
        ):
            assert texts(play.words.rows[1]) == translator.translate([SENTENCE], SEARCH)[0]
        seen.add(tuple(word["probability"] for word in play.words.rows[1]["words"]))
    assert len(seen) == 3 and play.matrix.movable and play.settings[(2, 0, 1)].center == 4.0
    assert texts(play.words.rows[0]) == translator.translate([SENTENCE], SEARCH)[0]


def test_every_head_keeps_its_own_setting(translator):
    play = Playground(translator, SENTENCE, SEARCH)
    play.pattern.value = "previous"
    play.heads.chosen = [1, 1, 2]
    assert play.pattern.value == "its own"
    play.pattern.value = "left"
    play.heads.chosen = [2, 0, 0]
    assert "previous" not in play.pattern.options and "uniform" in play.pattern.options
    play.pattern.value = "uniform"
    np.testing.assert_allclose(
        np.frombuffer(play.matrix.weights, np.float32), 1 / len(play.matrix.key_tokens), rtol=1e-5
    )
    assert {place: setting.pattern for place, setting in play.settings.items()} == {
        (0, 0, 0): "previous",
        (1, 1, 2): "left",
        (2, 0, 0): "uniform",
    }
    assert play.heads.marked == [[0, 0, 0], [1, 1, 2], [2, 0, 0]]
    play.heads.chosen = [0, 0, 0]
    assert play.pattern.value == "previous"
    matrix = np.frombuffer(play.matrix.weights, np.float32).reshape(
        len(play.matrix.query_tokens), -1
    )
    assert np.array_equal(matrix, np.eye(len(matrix), k=-1))
    play.clear.click()
    assert play.pattern.value == "its own" and play.heads.marked == [[1, 1, 2], [2, 0, 0]]
    play.reset.click()
    assert play.settings == {} and play.heads.marked == []
    assert play.words.rows[1]["words"] == play.words.rows[0]["words"]


def test_painted_pairs_are_blocked(translator):
    play = Playground(translator, SENTENCE, SEARCH)
    before = np.frombuffer(play.matrix.weights, np.float32).reshape(
        len(play.matrix.query_tokens), -1
    )
    play.matrix.blocked = [[1, 0], [1, 1], [2, 3]]
    after = np.frombuffer(play.matrix.weights, np.float32).reshape(before.shape)
    expected = before.copy()
    expected[1, :2] = expected[2, 3] = 0
    np.testing.assert_allclose(after, expected / expected.sum(axis=1, keepdims=True), rtol=1e-5)
    assert play.settings[(0, 0, 0)].blocked == ((1, 0), (1, 1), (2, 3))
    play.heads.chosen = [0, 0, 1]
    assert play.matrix.blocked == []
    play.heads.chosen = [0, 0, 0]
    assert play.matrix.blocked == [[1, 0], [1, 1], [2, 3]]


def test_what_was_painted_while_the_kernel_was_busy_belongs_to_its_head(translator):
    play = Playground(translator, SENTENCE, SEARCH)
    play.heads.chosen = [0, 0, 1]
    # as a browser sends it, too late
    play.matrix.set_state({"blocked": [[1, 0]], "painted": {"head": [0, 0, 0], "pairs": [[1, 0]]}})
    assert {head: setting.blocked for head, setting in play.settings.items()} == {
        (0, 0, 0): ((1, 0),)
    }
    assert (
        play.matrix.blocked == []
        and play.heads.marked == [[0, 0, 0]]
        and play.matrix.head == [0, 0, 1]
    )
    play.matrix.set_state({"blocked": [[2, 1]], "painted": {"head": [0, 0, 1], "pairs": [[2, 1]]}})
    assert play.settings[(0, 0, 1)].blocked == ((2, 1),) and play.settings[(0, 0, 0)].blocked == (
        (1, 0),
    )


def test_of_two_controls_moved_at_once_the_later_one_counts(translator, monkeypatch):
    """A kernel handles the messages of two controls in two threads; here the first of them is still
    translating when the other comes."""
    play = Playground(translator, SENTENCE, SEARCH)
    play.pattern.value, play.center.value, play.sums_to_one.value = "gaussian", -6.0, True
    reading, read_on, running, most = threading.Event(), threading.Event(), [], []

    def slow_read(*arguments):
        running.append(1)
        most.append(len(running))
        if not reading.is_set():
            reading.set()
            read_on.wait(10)
        try:
            return read(*arguments)
        finally:
            running.pop()

    monkeypatch.setattr("repro.widgets.playground.read", slow_read)
    hands = [
        threading.Thread(target=play.std.set_trait, args=("value", std)) for std in (0.25, 5.0)
    ]
    hands[0].start()
    assert reading.wait(10)
    hands[1].start()
    hands[1].join(1)  # the later one: either it waits, or it has ended before the earlier one
    read_on.set()
    for hand in hands:
        hand.join(60)
    assert most == [1, 1] and play.settings[(0, 0, 0)].std == 5.0
    weights = np.frombuffer(play.matrix.weights, np.float32).reshape(
        len(play.matrix.query_tokens), -1
    )
    # nothing is left of a row by the narrow one
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("make", [Playground, Ablation])
def test_a_cell_finds_its_model_as_it_was_while_a_widget_translates(translator, monkeypatch, make):
    widget, seen = make(translator, SENTENCE, SEARCH), []
    whole = read(translator, SENTENCE, SEARCH).words

    def read_beside(*arguments):
        seen.append(read(translator, SENTENCE, SEARCH).words)
        return read(*arguments)

    monkeypatch.setattr(f"{make.__module__}.read", read_beside)
    if make is Ablation:
        widget.factor.value = 0.5
    else:
        widget.pattern.value = "uniform"
    assert widget.changed.words != whole and seen == [whole]


def test_a_widgets_model_has_the_parameters_of_the_one_it_was_given(translator):
    model = Playground(translator, SENTENCE, SEARCH).translator.model
    assert [p.data_ptr() for p in model.parameters()] == [
        p.data_ptr() for p in translator.model.parameters()
    ]
    assert not {*model.modules()} & {*translator.model.modules()}
    rounded = translator.with_model(quantized(translator.model))
    assert (
        texts(Playground(rounded, SENTENCE, SEARCH).words.rows[0])
        == rounded.translate([SENTENCE], SEARCH)[0]
    )


@pytest.mark.parametrize(
    "make, view", [(Explorer, "maps"), (Ablation, "heads"), (Playground, "heads")]
)
def test_a_head_that_is_not_there_is_not_chosen(translator, make, view):
    grid = getattr(make(translator, SENTENCE, SEARCH), view)
    for nowhere in ([2, 0, 4], [2, 2, 0], [3, 0, 0], [0, -1, 0], [0, 0]):
        expected = (
            rf"{view}.chosen: there is no head \[.*\]. Fix: give \[site, layer, head\] of one "
            r"that is drawn"
        )
        with pytest.raises(InputError, match=expected):
            grid.chosen = nowhere
    grid.chosen = [2, 0, 3]
    assert grid.chosen == [2, 0, 3]


@pytest.mark.parametrize("factors", [[], [[[0.0]]], [[[0.0] * 4]] * 3])
def test_factors_that_are_not_one_for_each_head_are_told(translator, factors):
    ablation = Ablation(translator, SENTENCE, SEARCH)
    ablation.heads.factors = factors
    ablation.sentence.value = OTHER
    assert ablation.words.message.startswith(
        "heads.factors: are not one for each head. Fix: give a list a site"
    )
    ablation.reset.click()
    assert ablation.words.message.startswith("translated in")


def test_rows_can_be_made_to_sum_to_one(translator):
    play = Playground(translator, SENTENCE, SEARCH)
    play.pattern.value = "gaussian"
    play.sums_to_one.value = True
    rows = np.frombuffer(play.matrix.weights, np.float32).reshape(len(play.matrix.query_tokens), -1)
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-5)


# Pruning, comparison, claims


# What a page without a kernel shows
