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

from repro.analysis.reading import Reading, Word, read
from repro.analysis.weights import collect_weights
from repro.core.config import ModelConfig
from repro.core.decoding import SearchConfig, Translator
from repro.core.int8 import quantized
from repro.core.subwords import PAD_ID
from repro.core.transformer import Transformer
from repro.errors import InputError
from repro.runs import gallery
from repro.runs.models import load_translator
from repro.widgets import Comparison, Explorer

SENTENCE = "The old man sees a dog."
OTHER = "A woman buys the small table."
SEARCH = SearchConfig(beam=2)


def compared(translator, sentence: str, search: SearchConfig | None = None) -> Comparison:
    return Comparison({"model": translator}, sentence, search)


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


@pytest.mark.parametrize("kind", [Explorer, compared])
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
    for widget in (Explorer(translator, SENTENCE, SEARCH), compared(translator, SENTENCE, SEARCH)):
        states = []
        widget.notice.observe(lambda change, states=states: states.append(change["new"]), "state")
        widget.sentence.value = " "
        widget.sentence.value = OTHER
        assert states == ["busy", "stale", "busy", "ready"]


@pytest.mark.parametrize("make", [Explorer, compared])
def test_a_first_sentence_that_cannot_be_read_is_refused(translator, make):
    with pytest.raises(InputError, match="sentence: is empty"):
        make(translator, "")


# Several models


def test_a_widgets_model_has_the_parameters_of_the_one_it_was_given(translator):
    model = Explorer(translator, SENTENCE, SEARCH).translator.model
    assert [p.data_ptr() for p in model.parameters()] == [
        p.data_ptr() for p in translator.model.parameters()
    ]
    assert not {*model.modules()} & {*translator.model.modules()}
    rounded = translator.with_model(quantized(translator.model))
    assert (
        texts(compared(rounded, SENTENCE, SEARCH).words.rows[0])
        == rounded.translate([SENTENCE], SEARCH)[0]
    )


def test_a_head_that_is_not_there_is_not_chosen(translator):
    maps = Explorer(translator, SENTENCE, SEARCH).maps
    for nowhere in ([2, 0, 4], [2, 2, 0], [3, 0, 0], [0, -1, 0], [0, 0]):
        expected = (
            r"maps.chosen: there is no head \[.*\]. Fix: give \[site, layer, head\] of one "
            r"that is drawn"
        )
        with pytest.raises(InputError, match=expected):
            maps.chosen = nowhere
    maps.chosen = [2, 0, 3]
    assert maps.chosen == [2, 0, 3]


def test_of_two_sentences_typed_at_once_the_later_one_counts(translator, monkeypatch):
    """A kernel handles the messages of two controls in two threads; here the first of them is still
    translating when the other comes."""
    widget = compared(translator, SENTENCE, SEARCH)
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

    monkeypatch.setattr("repro.widgets.several.read", slow_read)
    hands = [
        threading.Thread(target=widget.sentence.set_trait, args=("value", text))
        for text in ("The cat sleeps.", OTHER)
    ]
    hands[0].start()
    assert reading.wait(10)
    hands[1].start()
    hands[1].join(1)  # the later one: either it waits, or it has ended before the earlier one
    read_on.set()
    for hand in hands:
        hand.join(60)
    assert most == [1, 1]
    assert texts(widget.words.rows[0]) == translator.translate([OTHER], SEARCH)[0]
