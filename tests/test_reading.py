"""A reading is the translator's own translation, and its probabilities are the model's."""

from collections import Counter
from functools import partial
from types import SimpleNamespace

import pytest
import torch
from expected_errors import refuses

from repro.analysis.reading import (
    END_MARK,
    START_MARK,
    Word,
    _join_subwords,
    changed_words,
    read,
)
from repro.analysis.weights import collect_weights
from repro.core.decoding import SearchConfig, Translator
from repro.data.corpora import prepare_lines
from repro.errors import InputError
from repro.runs import gallery
from repro.runs.models import load_translator
from repro.widgets.pruning import private_copy

SENTENCES = [
    "The old man sees a dog.",
    "A woman buys the small table",
    "the children with the hats sleep .",
]
SEARCH = SearchConfig(beam=2)


def test_the_translation_is_the_translators(translator):
    assert [
        read(translator, sentence, SEARCH).translation for sentence in SENTENCES
    ] == translator.translate(SENTENCES, SEARCH)


TYPED = "\ufeffThe old\u00ad man\u200b sees a dog.\u2028"
"""As it is pasted from a page: a byte order mark, a soft hyphen, a blank of no width, a separator
of lines."""


def test_typed_text_is_read_as_a_line_of_the_corpus_is(translator):
    typed, plain = read(translator, TYPED, SEARCH), read(translator, SENTENCES[0], SEARCH)
    assert (typed.source, typed.target, typed.unknown) == (plain.source, plain.target, Counter())
    assert translator.translate([TYPED], SEARCH) == translator.translate(SENTENCES[:1], SEARCH)
    assert prepare_lines("minigerman", [TYPED]) == translator.prepare([TYPED]) == SENTENCES[:1]


def test_typed_text_is_in_lower_case_for_a_model_of_such_a_corpus(translator):
    lower = Translator(translator.model, translator.subwords, partial(prepare_lines, "multi30k-lc"))
    for own in (lower, private_copy(lower)):
        assert (
            read(own, SENTENCES[0], SEARCH).source
            == read(translator, SENTENCES[0].lower(), SEARCH).source
        )
        assert own.translate(SENTENCES, SEARCH) == translator.translate(
            [text.lower() for text in SENTENCES], SEARCH
        )


def test_characters_that_a_model_has_never_seen_are_counted(translator):
    assert read(translator, "The \u0416 dog \u0416.", SEARCH).unknown == {"\u0416": 2}


def test_probabilities_are_those_of_the_models_next_tokens(translator):
    reading = read(translator, SENTENCES[0], SEARCH)
    product = 1.0
    for step in range(1, reading.tgt_in.shape[1]):
        with torch.no_grad():
            probabilities = translator.model(reading.src, reading.tgt_in[:, :step])[0, -1].softmax(
                dim=-1
            )
        product *= float(probabilities[reading.tgt_in[0, step]])
    found = 1.0
    for word in reading.words:
        assert 0 < word.probability < 1
        found *= word.probability
    assert found == pytest.approx(product, rel=1e-4)


def test_a_word_has_the_product_of_its_subwords(translator):
    ids = translator.subwords.encode(["sleeps xyz"])[0]
    assert len(ids) > 3
    first = len(translator.subwords.encode(["sleeps"])[0])
    chances = [0.5] * first + [0.9] * (len(ids) - first)
    expected = [Word("sleeps", 0.5**first), Word("xyz", pytest.approx(0.9 ** (len(ids) - first)))]
    assert _join_subwords(translator.subwords, ids, chances) == expected


def test_a_translation_may_be_empty(translator, monkeypatch):
    assert _join_subwords(translator.subwords, [], []) == []
    monkeypatch.setattr("repro.analysis.reading.beam_search", lambda *_: [SimpleNamespace(ids=[])])
    reading = read(translator, "a")
    assert (reading.words, reading.translation, reading.target) == (
        [],
        "",
        [START_MARK],
    )


def test_tokens_are_those_the_model_sees(translator):
    reading = read(translator, SENTENCES[0], SEARCH)
    assert reading.source == [*translator.subwords.pieces(SENTENCES[0]), END_MARK]
    assert (
        reading.target[0] == START_MARK
        and "".join(reading.target[1:]).replace("▁", " ").strip() == reading.translation
    )
    for layer in collect_weights(translator.model, reading.src, reading.tgt_in).cross:
        assert layer.shape == (1, 4, len(reading.target), len(reading.source))


def test_a_typed_mark_is_text(translator):
    reading = read(translator, "a </s> <img src=x> dog", SEARCH)
    assert (
        "".join(reading.source[:-1]) == "▁a▁</s>▁<img▁src=x>▁dog"
        and int((reading.src == 3).sum()) == 1
    )


@pytest.mark.parametrize(
    "before, after, marks",
    [
        ("a b c", "a b c", "..."),
        ("a b c", "a x c", ".x."),
        ("a b c", "a b b c", "..x."),
        ("a b c", "c", "."),
        ("a b", "b a", "x."),
        ("", "a b", "xx"),
        ("a", "", ""),
    ],
)
def test_changed_words_are_those_not_shared_in_order(before, after, marks):
    assert changed_words(before.split(), after.split()) == [mark == "x" for mark in marks]


def test_sentences_that_cannot_be_read_meet_one_line(translator):
    with pytest.raises(InputError, match="sentence: is empty. Fix: type some words"):
        read(translator, "  ")
    with pytest.raises(InputError, match="sentence: is empty. Fix: type some words"):
        read(translator, "\N{ZERO WIDTH SPACE}")  # no blank to Python, nothing to the subwords
    for found in (["a"], None):
        with pytest.raises(
            InputError, match="sentence: wants str, found .*. Fix: give one sentence, as in read"
        ):
            read(translator, found)
    limited = load_translator(gallery.load("ran-all"))
    with pytest.raises(
        InputError,
        match=(
            r"sentence: has \d+ tokens, but this model's attention is defined for \d+. Fix: split "
            r"the sentence"
        ),
    ):
        read(limited, "dog " * 1000)
    with refuses(InputError, "sentence", "2,000"):
        read(translator, "dog " * 2500)
