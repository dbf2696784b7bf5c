"""What no model should see: scripts whose words a zero-width space tells apart, and leaks behind
characters that nobody sees."""

from collections import Counter

import pytest
from own_files import DE, EN, message, write, write_corpus

from repro.data.characters import SEPARATOR, clean_line, describe_characters, find_faults, normalise
from repro.data.corpora import load_corpus
from repro.errors import InputError
from repro.statistics.comparing import score_all

SPACED = {  # two words of a script, with nothing between
    "km": ("ខ្ញុំ", "ទៅ"),
    "th": ("ฉัน", "ไป"),
    "lo": ("ຂ້ອຍ", "ໄປ"),
    "my": ("ကျွန်တော်", "သွား"),
}


@pytest.mark.parametrize("language", SPACED)
@pytest.mark.parametrize("between", ["\u200b", "\u200b\u200b", " \u200b", "\u200b "])
def test_a_zero_width_space_between_words_is_read_as_a_blank(language, between) -> None:
    one, other = SPACED[language]
    text = f"\u200b{one}{between}{other}\u200b"
    assert clean_line(text) == f"{one} {other}"
    assert {fault.reason for fault in find_faults(text)} == {SEPARATOR}


def test_elsewhere_it_is_nothing() -> None:
    assert clean_line("ab\u200bcd") == "abcd"
    assert clean_line("日本\u200b語") == "日本語"


@pytest.mark.parametrize("language", SPACED)
def test_a_corpus_with_zero_width_spaces_is_read(tmp_path, language) -> None:
    lines = [
        ("\u200b".join(SPACED[language]) + "\u200b") * (1 + place % 3) + str(place)
        for place in range(27)
    ]
    texts = {
        f"{split}_{language}": lines[low:high]
        for split, low, high in (("train", 0, 20), ("dev", 20, 23), ("test", 23, 27))
    }
    sides = {"train_en": EN[:20], "dev_en": EN[20:23], "test_en": EN[23:27]}
    corpus = load_corpus(write(tmp_path, **sides, **texts))
    assert corpus.dropped == {}
    assert corpus.pairs("train", "en", language)[1] == [
        line.replace("\u200b", " ") for line in lines[:20]
    ]
    sources, refs = corpus.pairs("test", language, "en")[0], corpus.pairs("test", "en", language)[1]
    assert sources == [line.replace("\u200b", " ") for line in lines[23:]]
    assert refs == lines[23:]
    assert corpus.notes == [
        (
            f"dev.{language}: 3 lines with zero-width spaces between words (U+200B), read as "
            "blanks; kept in references"
        ),
        (
            f"test.{language}: 4 lines with zero-width spaces between words (U+200B), read as "
            "blanks; kept in references"
        ),
        f"train.{language}: 20 lines with zero-width spaces between words (U+200B), read as blanks",
    ]
    for score in score_all(sources, refs, language):
        assert score.value == pytest.approx(100), (
            "what a model can write of the references is right"
        )


HIDDEN = [
    "\u200b",
    "\xad",
    "\u061c",
    "\u034f",
    "\u115f",
    "\u17b4",
    "\u180b",
    "\u180e",
    "\u200c",
    "\u200d",
    "\u200e",
    "\u202e",
    "\u2060",
]
HIDDEN += [
    "\u2063",
    "\u2069",
    "\ufe0e",
    "\ufe0f",
    "\ufeff",
    "\ufff9",
    "\ufffc",
    "\ufdd0",
    "\U0001fffe",
    "\U000e0001",
    "\U000e0041",
]
HIDDEN += ["\U000e0100", "\x01", "\x7f", "\U0001bca0", "\U0001d173"]


@pytest.mark.parametrize("character", HIDDEN)
def test_a_character_that_nobody_sees_hides_no_leak(tmp_path, character) -> None:
    name = write_corpus(
        tmp_path,
        test_en=[EN[4][:3] + character + EN[4][3:] + character, *EN[24:27]],
        test_de=["Neu.", *DE[24:27]],
    )
    assert "one side 1 en" in message(InputError, name)


@pytest.mark.parametrize("filler", ["\u3164", "\uffa0", "\u2800", "\xa0", "\u3000"])
def test_what_looks_like_a_blank_hides_no_leak_either(filler) -> None:
    assert normalise(f"A dog{filler}sleeps.") == normalise("a dog sleeps")


@pytest.mark.parametrize("language", SPACED)
def test_how_words_are_told_apart_hides_no_leak(language) -> None:
    assert (
        len(
            {
                normalise(between.join(SPACED[language]))
                for between in ("", " ", "\u200b", "\u200b\u200b")
            }
        )
        == 1
    )
    assert normalise("a b") != normalise("ab")


def test_folding_keeps_what_is_seen() -> None:
    assert normalise("\u200b") == "\u200b"  # like marks alone
    assert normalise("👩\u200d💻") != normalise("👩") and normalise(
        "\u0645\u06cc\u200c\u062e"
    ) == normalise("\u0645\u06cc\u062e")


def test_an_invisible_character_changes_nothing_in_the_search_for_leaks():
    """Nor does the shorter way that texts without one may take."""
    for character in map(chr, [*range(0x20, 0x3100), 0x1F600]):
        text = f"A{character}b {character}C"
        assert normalise(text) == normalise(f"{text}\u2060"), f"U+{ord(character):04X}"


def test_characters_are_counted_in_words():
    assert describe_characters(Counter("aabc")) == "4 characters of 3 kinds: a b c"
    assert describe_characters(Counter(map(chr, range(200, 230)))).endswith(" Û …")
