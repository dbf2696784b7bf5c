"""Sides of a corpus put together: blank, huge and faulty lines, and sides that are shifted against each other."""

import pytest
from own_files import DE, EN, message, write, write_corpus

from repro.data.corpora import load_corpus
from repro.data.parallel import align
from repro.data.text import TextLines, find_fault, read_lines, remove_faults
from repro.errors import InputError


def test_blank_lines_leave_both_sides_of_train(tmp_path) -> None:  # case D1
    en, de = [*EN[:20], *[""] * 1000], [*DE[:20], *[" "] * 1000]
    en[3] = de[5] = ""
    corpus = load_corpus(write_corpus(tmp_path, train_en=en, train_de=de), "en", "de")
    kept = [i for i in range(20) if i not in (3, 5)]
    assert corpus.pairs("train", "en", "de") == ([EN[i] for i in kept], [DE[i] for i in kept])
    assert corpus.dropped == {"blank": 1002}
    corpus.write_skipped(tmp_path / "skipped.tsv")
    table = (tmp_path / "skipped.tsv").read_bytes().decode().split("\n")
    assert table[:4] == [
        "split\tfile\tline\treason",
        "train\ttrain.en\t4\tblank",
        "train\ttrain.de\t6\tblank",
        "train\ttrain.en\t21\tblank",
    ]
    assert len(table) == 1 + 1002 + 1


def test_a_blank_test_line_is_an_error(tmp_path) -> None:  # case D1
    expected = "test.de:2: is blank. Fix: mend the line on both sides; a dev or test set is never shortened"
    assert message(InputError, write_corpus(tmp_path, test_de=[DE[23], "", DE[25], DE[26]])) == expected


def test_line_counts_are_compared(tmp_path) -> None:  # case D2
    expected = (
        "train.en: has 20 lines, train.de has 19. Fix: find the missing or extra line: line n of both files must be the same sentence"
    )
    assert message(InputError, write_corpus(tmp_path, train_de=DE[:19])) == expected


@pytest.mark.parametrize("direction", ["further", "back"])
def test_a_shift_in_the_middle_is_found(tmp_path, direction) -> None:  # case D2
    lost = 150
    de = [*DE[:lost], *DE[lost + 1 :], "Ein Satz mehr"] if direction == "back" else [*DE[:lost], "Ein Satz mehr", *DE[lost:-1]]
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
    assert message(InputError, name).startswith("test.en:4: has 5,000,000 characters (max_chars 10,000). Fix: mend the line")


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


@pytest.mark.parametrize(
    ("character", "code", "reason"),
    [
        ("\x00", "U+0000", "control character"),
        ("\x1b", "U+001B", "control character"),
        ("\x0c", "U+000C", "line-break character"),
        ("\u200b", "U+200B", "invisible character"),
        ("\u200d", "U+200D", "invisible character"),
        ("\ufeff", "U+FEFF", "invisible character"),
        ("\xad", "U+00AD", "invisible character"),
        ("\ufffd", "U+FFFD", "replacement character"),
        ("\udc80", "U+DC80", "lone surrogate"),
    ],
)
def test_characters_no_model_should_see(tmp_path, character, code, reason) -> None:  # case D5
    corpus = load_corpus(write_corpus(tmp_path, train_de=[f"ab{character}c", *DE[1:20]]))
    assert corpus.dropped == {reason: 1}
    assert corpus.pairs("train", "en", "de") == (EN[1:20], DE[1:20])
    expected = f"test.de:1: column 3 holds {code}, {reason}. Fix: mend the line on both sides; a dev or test set is never shortened"
    assert message(InputError, write_corpus(tmp_path, test_de=[f"ab{character}c", *DE[24:27]])) == expected


@pytest.mark.parametrize("text", ["\u0645\u06cc\u200c\u062e\u0648", "👩\u200d💻", "क्\u200dष", "a\tb", "naïve e\u0301", "日本語"])
def test_characters_that_belong_are_kept(text) -> None:
    assert find_fault(text) is None
    assert remove_faults(text) == text


def test_an_official_test_set_is_cleaned_not_refused() -> None:
    sides = {"de": TextLines("t.de", ["a\u200bb", "", "c\u2028d"], range(1, 4)), "en": TextLines("t.en", ["x", "y", "z"], range(1, 4))}
    split, skipped, notes = align("test", sides, is_official=True)
    assert (split.columns["de"], skipped) == (["ab", "", "c d"], [])
    assert notes == ["t.de: 3 lines of the official set are blank or had characters removed"]
