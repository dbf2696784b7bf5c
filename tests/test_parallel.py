"""Sides of a corpus put together: blank, huge and faulty lines, and sides that are shifted against
each other."""

import pytest
from own_files import DE, EN, message, write, write_corpus

from repro.data.aligning import Cleaning, align
from repro.data.characters import clean_line, find_faults
from repro.data.corpora import load_corpus, load_pairs
from repro.data.text import TextLines, read_lines
from repro.errors import InputError


def test_blank_lines_leave_both_sides_of_train(tmp_path) -> None:  # case D1
    en, de = [*EN[:20], *[""] * 1000], [*DE[:20], *[" "] * 1000]
    en[3] = de[5] = ""
    corpus = load_corpus(write_corpus(tmp_path, train_en=en, train_de=de), "en", "de")
    kept = [i for i in range(20) if i not in (3, 5)]
    assert corpus.pairs("train", "en", "de") == ([EN[i] for i in kept], [DE[i] for i in kept])
    assert corpus.dropped == {"blank": 1002}
    corpus.write_skipped(tmp_path / "skipped.tsv")
    assert (tmp_path / "skipped.tsv").read_text().splitlines() == [
        "split\tfile\tline\treason",
        "train\ttrain.en\t4\tblank",
        "train\ttrain.de\t6\tblank",
        "train\ttrain.en\t21-1020\tblank",
    ]


# case D1: published sets have some
def test_blank_lines_of_a_test_set_stay_and_are_noted(tmp_path) -> None:
    corpus = load_corpus(write_corpus(tmp_path, test_de=[DE[23], "", DE[25], " "]))
    assert corpus.pairs("test", "en", "de") == (EN[23:27], [DE[23], "", DE[25], ""])
    assert corpus.notes == ["test.de: 2 lines blank, kept as published"]


def test_everything_amiss_in_all_splits_is_told_at_once(tmp_path) -> None:
    long = "x" * 10_001
    name = write_corpus(
        tmp_path,
        dev_de=DE[20:22],
        test_en=[long, EN[24], "a\udc80", long],
        test_de=[long, DE[24], DE[25], DE[26]],
    )
    expected = (
        "dev.en: has 3 lines, dev.de has 2; 4 more: test.de:1 has 10,001 characters "
        "(max_chars 10,000); test.en:1 has 10,001 characters "
        "(max_chars 10,000); test.en:3 column 2 holds U+DC80, lone surrogate; test.en:4 has "
        "10,001 characters (max_chars 10,000). "
        "Fix: find the missing or extra line: line n of both files must be the same sentence"
    )
    assert message(InputError, name) == expected
    text = message(InputError, write_corpus(tmp_path, dev_en=[long] * 3, dev_de=[long] * 3))
    assert text.startswith("dev.de:1: has 10,001") and "; 5 more: dev.de:2 has" in text
    assert text.count("has 10,001") == 5 and "; .... Fix: correct the line on both sides" in text


def test_line_counts_are_compared(tmp_path) -> None:  # case D2
    expected = (
        "train.en: has 20 lines, train.de has 19. Fix: find the missing or extra line: "
        "line n of both files must be the same sentence"
    )
    assert message(InputError, write_corpus(tmp_path, train_de=DE[:19])) == expected


@pytest.mark.parametrize("direction", ["further", "back"])
def test_a_shift_in_the_middle_is_found(tmp_path, direction) -> None:  # case D2
    lost = 150
    de = (
        [*DE[:lost], *DE[lost + 1 :], "Ein Satz mehr"]
        if direction == "back"
        else [*DE[:lost], "Ein Satz mehr", *DE[lost:-1]]
    )
    name = write(tmp_path, train_en=EN, train_de=de)
    text = message(InputError, name)
    line = int(text.split(":")[1])
    assert abs(line - lost) <= 5
    assert f"lines fit train.en 1 line {'back' if direction == 'further' else 'further'}" in text


def test_aligned_sides_are_not_taken_for_shifted(tmp_path) -> None:
    assert len(load_corpus(write(tmp_path, train_en=EN, train_de=DE))["train"]) == 400


def test_a_huge_line_is_skipped_in_train(tmp_path) -> None:  # case D4
    name = write_corpus(tmp_path, train_de=[*DE[:7], "ä" * 50_000, *DE[8:20]])
    corpus = load_corpus(name)
    assert corpus.dropped == {"too long": 1}
    assert [(skip.file, skip.line) for skip in corpus.skipped] == [("train.de", 8)]
    assert "line 7 " not in " ".join(corpus.pairs("train", "en", "de")[0])


def test_a_huge_line_is_an_error_in_test(tmp_path) -> None:  # case D4
    name = write_corpus(tmp_path, test_en=[*EN[23:26], "ä" * 5_000_000])
    assert message(InputError, name).startswith(
        "test.en:4: has 5,000,000 characters (max_chars 10,000). Fix: correct the line"
    )


def test_the_limit_counts_characters(tmp_path) -> None:
    write(tmp_path, a_en=["ä" * 10, "ä" * 11, "€" * 50, "x"])
    read = read_lines(tmp_path / "a.en", max_chars=10)
    assert (read.lines, read.too_long) == (["ä" * 10, "", "", "x"], {2: 11, 3: 50})


def test_memory_stays_bounded(tmp_path) -> None:  # case D4
    import tracemalloc

    (tmp_path / "a.en").write_bytes(b"x" * 50_000_000 + b"\nend\n")
    tracemalloc.start()
    read = read_lines(tmp_path / "a.en")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (read.lines, read.too_long) == (["", "end"], {1: 50_000_000})
    assert peak < 2_000_000


LOST = {
    "\x00": "control character",
    "\x1b": "control character",
    "\x0c": "line-break character",
    "\ufffd": "replacement character",
}
HALF = "\udc80"
UNSEEN = (
    "\xad",
    "\u061c",
    "\u034f",
    "\u180e",
    "\u200b",
    "\u200d",
    "\u200e",
    "\u202a",
    "\u2060",
    "\ufeff",
    "\ufe0f",
    "\ufdd0",
)
UNSEEN += ("\ufff9", "\U0001fffe", "\U000e0001", "\U000e0041")


@pytest.mark.parametrize("character", [*LOST, HALF])
def test_a_training_pair_that_lost_something_is_left_out(tmp_path, character) -> None:  # case D5
    corpus = load_corpus(write_corpus(tmp_path, train_de=[f"ab{character}c", *DE[1:20]]))
    assert corpus.dropped == {LOST.get(character, "lone surrogate"): 1}
    assert corpus.pairs("train", "en", "de") == (EN[1:20], DE[1:20])


@pytest.mark.parametrize("character", UNSEEN)
def test_a_training_pair_loses_what_nobody_sees_and_stays(tmp_path, character) -> None:
    corpus = load_corpus(write_corpus(tmp_path, train_de=[f"ab{character}c", *DE[1:20]]))
    assert corpus.dropped == {}
    assert corpus.pairs("train", "en", "de") == (EN[:20], ["abc", *DE[1:20]])
    code = f"U+{ord(character):04X}"
    assert corpus.notes == [
        f"train.de: 1 line with characters that no model should see ({code}), read without them"
    ]


@pytest.mark.parametrize(
    "character", [*UNSEEN, *(character for character in LOST if character != "\x0c")]
)
def test_a_test_set_is_scored_as_published_and_read_without(tmp_path, character) -> None:  # case D5
    name = write_corpus(tmp_path, test_de=[f"ab{character}c", *DE[24:27]])
    corpus = load_corpus(name)
    assert corpus.pairs("test", "en", "de")[1] == [f"ab{character}c", *DE[24:27]]
    assert corpus.pairs("test", "de", "en") == (["abc", *DE[24:27]], EN[23:27])
    code = f"U+{ord(character):04X}"
    assert corpus.notes == [
        f"test.de: 1 line with characters that no model should see ({code}), read without "
        "them; kept in references"
    ]
    cleaned = load_corpus(name.replace("local:", "local-clean:"))
    assert cleaned.pairs("test", "en", "de")[1] == ["abc", *DE[24:27]]
    assert cleaned.notes == [
        f"test.de: 1 line with characters that no model should see ({code}), read without them"
    ]
    assert load_pairs("minigerman", "de", "en", f"{name}:test")[0][0] == "abc"


# no file can hold them
def test_halves_of_characters_are_refused_in_a_test_set_or_cleaned(tmp_path) -> None:
    name = write_corpus(tmp_path, test_de=["ab\udc80c", *DE[24:27]])
    assert message(InputError, name).startswith(
        "test.de:1: column 3 holds U+DC80, lone surrogate. Fix: correct the line on both sides"
    )
    assert (
        load_corpus(name.replace("local:", "local-clean:")).pairs("test", "en", "de")[1][0] == "abc"
    )


def test_shifted_sides_are_noted_not_refused_in_clean_text(tmp_path) -> None:
    name = write(tmp_path, train_en=EN, train_de=[*DE[:150], *DE[151:], "Ein Satz mehr"])
    assert "lines fit train.en 1 line further" in message(InputError, name)
    (note,) = load_corpus(name.replace("local:", "local-clean:")).notes
    assert "lines fit train.en 1 line further" in note


BELONGING = [
    "\u0645\u06cc\u200c\u062e\u0648",
    "क्\u200dष",
    "ශ්\u200dරී",
    "a\tb",
    "naïve e\u0301",
    "日本語",
    "葛\U000e0100",
]
BELONGING += [
    "👩\u200d💻",
    "\u2764\ufe0f\u200d🔥",
    "1\ufe0f\u20e3",
    "🏳\ufe0f\u200d🌈",
    "\u26f9🏽\u200d\u2640\ufe0f",
    "\xa9\ufe0f",
]
BELONGING += [
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "\u1820\u180b\u1820",
    "\u1100\u1160",
    "\u2801\u2800\u2803",
]


@pytest.mark.parametrize("text", BELONGING)
def test_characters_that_belong_are_kept(text) -> None:
    assert find_faults(text) == []
    assert clean_line(text) == text


def test_a_corpus_whose_results_are_of_cleaned_references_keeps_them_so() -> None:
    sides = {
        "de": TextLines("t.de", ["a\u200bb", "", "c\u2028d"], range(1, 4)),
        "en": TextLines("t.en", ["x", "y", "z"], range(1, 4)),
    }
    aligned = align("test", sides, Cleaning(is_published=True, cleans_references=True))
    assert (aligned.split.columns["de"], aligned.skipped, aligned.errors) == (
        ["ab", "", "c d"],
        [],
        [],
    )
    assert aligned.notes == [
        (
            "t.de: 2 lines with characters that no model should see (U+200B, U+2028), read "
            "without them"
        ),
        "t.de: 1 line blank, kept as published",
    ]


def test_characters_that_train_has_nowhere_are_counted(tmp_path) -> None:
    name = write_corpus(
        tmp_path, train_en=["a dog"], train_de=["ein Hund"], test_en=["a 7 7 o"], test_de=["Öl"]
    )
    assert load_corpus(name).unseen_characters("test") == {"7": 2, "Ö": 1, "l": 1}
