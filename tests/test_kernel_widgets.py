"""The choice among pruned models without a browser: state set in Python changes what is shown,
numbers are the model's, text stays text; and what a page without a kernel shows."""

import html
import re
import threading

import pytest
from expected_errors import refuses

from repro.analysis.reading import read
from repro.core.decoding import SearchConfig, Translator
from repro.core.int8 import quantized
from repro.errors import InputError
from repro.pruning.cutting import drop_heads
from repro.widgets import Pruning
from repro.widgets.pruning import factors_at_test_time

SENTENCE = "The old man sees a dog."
OTHER = "A woman buys the small table."
HOSTILE = "The <img src=x onerror=alert(1)> sees a dog."
SEARCH = SearchConfig(beam=2)


def one(translator, sentence: str) -> Pruning:
    return Pruning([("model", translator)], sentence, SEARCH)


def rows_of(page: str) -> dict[str, str]:
    """Return the translations in a page, by label."""
    found = re.findall(r"<th [^>]*>(.*?)</th><td [^>]*>(.*?)</td>", page)
    bare = {label: re.sub(r" <sub>[\d.]+</sub>|</?[bu]>", "", words) for label, words in found}
    return {html.unescape(label): html.unescape(words) for label, words in bare.items()}


def squares(page: str) -> list[str]:
    return re.findall("[■□]", page)


def test_the_choice_shows_what_is_left(translator, gated):
    pruning = Pruning([("all heads", translator), ("gated", gated)], SENTENCE, SEARCH)
    assert [*rows_of(pruning.view.value).values()] == translator.translate([SENTENCE], SEARCH)
    assert squares(pruning.view.value) == ["■"] * 24
    pruning.level.value = "gated"
    whole, left = (model.translate([SENTENCE], SEARCH)[0] for model in (translator, gated))
    assert rows_of(pruning.view.value) == {"all heads": whole, "gated": left}
    gates = [
        [attention.gate().tolist() for attention in layers]
        for layers in gated.model.attentions().values()
    ]
    assert factors_at_test_time(gated.model) == gates
    flat = [gate for layers in gates for heads in layers for gate in heads]
    assert squares(pruning.view.value) == ["■" if gate else "□" for gate in flat]
    kept = int(sum(flat))
    assert f"{kept} of 24 heads are left<" in pruning.message.value and 0 < kept < 24
    cut = Translator(drop_heads(gated.model), gated.subwords)
    only_cut = Pruning([("all", translator), ("cut", cut)], SENTENCE, SEARCH)
    only_cut.level.value = "cut"
    assert f"{kept} of 24 heads are left" in only_cut.message.value  # of those that there were


def test_a_run_in_place_of_its_translator_is_one_line_with_the_fix():
    with refuses(InputError, "translator", "'base'", "repro.load_translator"):
        Pruning([("a", "base")], SENTENCE)


def test_no_models_is_a_mistake(translator):
    # one of them would not be shown
    with pytest.raises(InputError, match="models: have a label twice"):
        Pruning([("8 heads", translator), ("8 heads", translator)], SENTENCE)
    with pytest.raises(InputError, match="models: there is none"):
        Pruning([], SENTENCE)


def test_a_first_sentence_that_cannot_be_read_is_refused(translator):
    with pytest.raises(InputError, match="sentence: is empty"):
        one(translator, "")


def test_markup_stays_text(translator):
    pruning = Pruning([("<b>all</b>", translator)], HOSTILE, SEARCH)
    for page in (pruning.view.value, pruning.still()):
        assert "<b>all" not in page and "&lt;b&gt;all" in page
        assert "<img" not in page and "<script" not in page
    pruning.sentence.value = "The <i>\u0416</i>."
    assert "<i>" not in pruning.message.value and "\u0416" in pruning.message.value


def test_characters_that_the_model_has_never_seen_are_told_until_they_are_gone(translator):
    widget = one(translator, SENTENCE)
    widget.sentence.value = "The \u0416 dog \u0416 sleeps\u200b."
    assert "never seen by the model: 2 characters of 1 kinds: \u0416<" in widget.message.value
    widget.sentence.value = OTHER
    assert "never seen" not in widget.message.value


def test_what_is_shown_is_marked_as_old_after_a_mistake_and_as_busy_meanwhile(translator):
    widget, states = one(translator, SENTENCE), []
    widget.view.observe(lambda change: states.append(change["new"]), "_dom_classes")
    widget.sentence.value = " "
    assert "sentence: is empty" in widget.message.value
    widget.sentence.value = OTHER
    assert states == [("rp-busy",), ("rp-busy", "rp-stale"), ("rp-stale",), (), ("rp-busy",), ()]


def test_a_widgets_model_has_the_parameters_of_the_one_it_was_given(translator):
    model = one(translator, SENTENCE).models["model"].model
    assert [p.data_ptr() for p in model.parameters()] == [
        p.data_ptr() for p in translator.model.parameters()
    ]
    assert not {*model.modules()} & {*translator.model.modules()}
    rounded = translator.with_model(quantized(translator.model))
    shown = rows_of(one(rounded, SENTENCE).view.value)["model"]
    assert shown == rounded.translate([SENTENCE], SEARCH)[0]


def test_of_two_sentences_typed_at_once_the_later_one_counts(translator, monkeypatch):
    """A kernel handles the messages of two controls in two threads; here the first of them is still
    translating when the other comes."""
    widget = one(translator, SENTENCE)
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

    monkeypatch.setattr("repro.widgets.pruning.read", slow_read)
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
    assert rows_of(widget.view.value)["model"] == translator.translate([OTHER], SEARCH)[0]


def test_the_still_picture_has_translation_and_heads(translator, gated):
    translation = translator.translate([SENTENCE], SEARCH)[0]
    pruning = Pruning([("base", translator), ("gated", gated)], SENTENCE, SEARCH)
    assert all(f"{word} <sub>" in pruning.still() for word in translation.split())
    base, gated_heads = pruning.still().split("gated</th>")
    assert base.count("■") == 24 and "□" not in base
    assert "□" in gated_heads and "<b><u>" not in base
    assert "not live: run the cell in JupyterLab" in pruning.still()


def test_a_widget_and_its_still_picture_are_two_outputs(translator, monkeypatch):
    """Of one output an exported page would choose the widget, and show nothing."""
    widget, outputs = one(translator, SENTENCE), []
    monkeypatch.setattr("repro.widgets.pruning.display", lambda data, raw: outputs.append(data))
    widget._ipython_display_()
    live, still = outputs
    assert live["application/vnd.jupyter.widget-view+json"]["model_id"] == widget.model_id
    assert set(still) == {"text/html", "text/plain"}
    assert live["text/plain"] == still["text/plain"] == ""
    assert "text/html" not in live and widget.still() in still["text/html"]
    # the style of the live widget finds its still picture
    assert f'class="rp-still-{widget.model_id}"' in still["text/html"]
    assert f".rp-still-{widget.model_id} {{ display: none; }}" in widget.view.value
