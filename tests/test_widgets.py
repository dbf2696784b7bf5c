"""Widgets without a browser: state set in Python changes what is shown, numbers are the model's,
and text stays text."""

import threading

import pytest

from repro.analysis.reading import read
from repro.core.decoding import SearchConfig
from repro.core.int8 import quantized
from repro.errors import InputError
from repro.widgets import Pruning

SENTENCE = "The old man sees a dog."
OTHER = "A woman buys the small table."
SEARCH = SearchConfig(beam=2)


def one(translator, sentence: str, search: SearchConfig | None = None) -> Pruning:
    return Pruning([("model", translator)], sentence, search)


def texts(row: dict) -> str:
    return " ".join(word["text"] for word in row["words"])


def test_characters_that_the_model_has_never_seen_are_told_until_they_are_gone(translator):
    widget = one(translator, SENTENCE, SEARCH)
    widget.sentence.value = "The \u0416 dog \u0416 sleeps\u200b."
    assert widget.notice.message.endswith(
        "never seen by the model: 2 characters of 1 kinds: \u0416"
    )
    widget.sentence.value = OTHER
    assert "never seen" not in widget.notice.message


def test_what_is_shown_is_marked_as_old_after_a_mistake_and_as_busy_meanwhile(translator):
    widget, states = one(translator, SENTENCE, SEARCH), []
    widget.notice.observe(lambda change: states.append(change["new"]), "state")
    widget.sentence.value = " "
    widget.sentence.value = OTHER
    assert states == ["busy", "stale", "busy", "ready"]


def test_a_first_sentence_that_cannot_be_read_is_refused(translator):
    with pytest.raises(InputError, match="sentence: is empty"):
        one(translator, "")


def test_a_widgets_model_has_the_parameters_of_the_one_it_was_given(translator):
    model = one(translator, SENTENCE, SEARCH).models["model"].model
    assert [p.data_ptr() for p in model.parameters()] == [
        p.data_ptr() for p in translator.model.parameters()
    ]
    assert not {*model.modules()} & {*translator.model.modules()}
    rounded = translator.with_model(quantized(translator.model))
    assert (
        texts(one(rounded, SENTENCE, SEARCH).words.rows[0])
        == rounded.translate([SENTENCE], SEARCH)[0]
    )


def test_of_two_sentences_typed_at_once_the_later_one_counts(translator, monkeypatch):
    """A kernel handles the messages of two controls in two threads; here the first of them is still
    translating when the other comes."""
    widget = one(translator, SENTENCE, SEARCH)
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
    assert texts(widget.words.rows[0]) == translator.translate([OTHER], SEARCH)[0]
