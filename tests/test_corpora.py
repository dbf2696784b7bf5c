"""Corpora: what is read, what is refused and with which words, and what the real corpora hold."""

import gzip
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.data.catalogue import CORPORA
from repro.data.corpora import count_in_train, load_corpus, load_pairs
from repro.data.leaks import leak_free_split
from repro.data.parallel import align
from repro.data.text import TextLines, find_fault, normalise, read_lines, remove_faults
from repro.errors import DamagedFileError, InputError, MachineError, ReproError


@pytest.fixture
def real_root() -> Path:
    if "REPRO_DATA" not in os.environ:
        pytest.skip("REPRO_DATA is not set: the real corpora are not here")
    return Path(os.environ["REPRO_DATA"])


# Sentences of very different lengths, so that shifted sides do not fit.
SIZES = [1 + (7 * i * i + 3 * i) % 23 for i in range(400)]
EN = [f"line {i} " + "word " * size + "end" for i, size in enumerate(SIZES)]
DE = [f"Zeile {i} " + "Wort " * size + "Ende" for i, size in enumerate(SIZES)]


def write(folder: Path, **texts: bytes | str | list[str]) -> str:
    """Write files, ``train_en=`` as ``train.en``, and return the name of the corpus."""
    for name, text in texts.items():
        lines = "".join(line + "\n" for line in text) if isinstance(text, list) else text
        (folder / name.replace("_", ".")).write_bytes(lines.encode("utf-8", "surrogatepass") if isinstance(lines, str) else lines)
    return f"local:{folder}"


def write_corpus(folder: Path, **changed: bytes | str | list[str]) -> str:
    """Write a good corpus of 20 / 3 / 4 pairs, but for what is changed."""
    good = {"train_en": EN[:20], "train_de": DE[:20], "dev_en": EN[20:23], "dev_de": DE[20:23], "test_en": EN[23:27], "test_de": DE[23:27]}
    return write(folder, **{**good, **changed})


def message(error_type: type[ReproError], *arguments, **options) -> str:
    with pytest.raises(error_type) as caught:
        load_corpus(*arguments, **options)
    text = str(caught.value)
    assert "\n" not in text
    return text


# Reading


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=8), max_size=12), st.booleans())
def test_only_a_newline_byte_ends_a_line(tmp_path_factory, lines, has_final_newline) -> None:
    path = tmp_path_factory.mktemp("text") / "a.txt"
    data = "\n".join(lines).encode() + b"\n" * has_final_newline
    path.write_bytes(b"x" + data)  # a first letter, since empty, UTF-16-like or archive-like starts are cases of their own
    read = read_lines(path).lines
    assert len(read) == data.count(b"\n") + (not data.endswith(b"\n"))
    assert [line.rstrip("\r") for line in read] == [line.rstrip("\r") for line in ("x" + data.decode()).removesuffix("\n").split("\n")]


@pytest.mark.parametrize("separator", ["\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_other_separators_do_not_end_a_line(tmp_path, separator) -> None:
    write(tmp_path, a_en=f"one{separator}two\nthree\n")
    lines = read_lines(tmp_path / "a.en").lines
    assert lines == [f"one{separator}two", "three"]
    assert find_fault(lines[0]).reason == "line-break character"


def test_byte_order_mark_and_carriage_returns_are_stripped_and_noted(tmp_path) -> None:
    name = write_corpus(tmp_path, train_en=b"\xef\xbb\xbf" + "".join(line + "\r\n" for line in EN[:20]).encode())
    corpus = load_corpus(name)
    assert corpus.pairs("train", "en", "de") == (EN[:20], DE[:20])
    assert corpus.notes == ["train.en: byte order mark stripped", "train.en: carriage return stripped from 20 lines"]


def test_gzip_is_told_by_content(tmp_path) -> None:
    name = write_corpus(tmp_path, train_en=gzip.compress("\n".join(EN[:20]).encode()))
    assert load_corpus(name).pairs("train", "en", "de")[0] == EN[:20]


def test_a_cut_gzip_is_refused(tmp_path) -> None:
    name = write_corpus(tmp_path, train_en=gzip.compress("\n".join(EN[:20]).encode())[:-20])
    assert message(InputError, name).startswith("train.en: is a damaged or cut gzip archive (")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (
            "Haus\nsch\xf6n\n".encode("latin-1"),
            "test.de:2: column 4: byte 0xF6 is not UTF-8 (ISO-8859-1?). Fix: iconv -f ISO-8859-1 -t UTF-8",
        ),
        (
            "a\nb \x93c\x94\n".encode("latin-1"),
            "test.de:2: column 3: byte 0x93 is not UTF-8 (Windows-1252?). Fix: iconv -f Windows-1252 -t UTF-8",
        ),
        ("Haus\n".encode("utf-16"), "test.de:1: column 1: byte 0xFF is not UTF-8 (UTF-16LE?). Fix: iconv -f UTF-16LE -t UTF-8"),
        ("Haus\n".encode("utf-32"), "test.de:1: column 1: byte 0xFF is not UTF-8 (UTF-32?). Fix: iconv -f UTF-32 -t UTF-8"),
        ("Haus\n".encode("utf-16-be"), "test.de:1: column 1: byte 0x00 is not UTF-8 (UTF-16BE?). Fix: iconv -f UTF-16BE -t UTF-8"),
        (b"\x89PNG\r\n\x1a\n", "test.de:1: column 1: byte 0x89 starts a PNG picture, not text. Fix: give a UTF-8 text file"),
    ],
)
def test_what_is_not_utf8_text_is_named(tmp_path, data, expected) -> None:  # case D3
    assert message(InputError, write_corpus(tmp_path, test_de=data)) == expected


def test_what_is_not_utf8_text_inside_gzip_is_named(tmp_path) -> None:
    name = write_corpus(tmp_path, test_de=b"")
    (tmp_path / "test.de").rename(tmp_path / "test.de.gz")
    for data, expected in (
        ("Haus\n".encode("utf-16"), "(UTF-16LE?). Fix: iconv -f UTF-16LE"),
        (b"\x89PNG\r\n\x1a\n", "starts a PNG picture"),
    ):
        (tmp_path / "test.de.gz").write_bytes(gzip.compress(data))
        assert expected in message(InputError, name)


def test_a_column_counts_characters_not_bytes(tmp_path) -> None:
    name = write_corpus(tmp_path, test_de="schön ".encode() + b"\xe4\n")
    assert message(InputError, name).startswith("test.de:1: column 7: byte 0xE4")


# Alignment and lines that no corpus should have


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


# Leaks


def leaking(folder: Path, en: str, de: str) -> str:
    return write_corpus(folder, test_en=[EN[23], en], test_de=[DE[23], de])


@pytest.mark.parametrize(
    ("en", "de", "expected"),
    [
        (EN[4], DE[4], "this pair is also train.en:5 (exact); test in train: 1 exact, 0 normalised, one side 0."),
        (EN[4].upper() + " !", DE[4], "this pair is also train.en:5 (normalised); test in train: 0 exact, 1 normalised, one side 0."),
        ("New.", DE[4], "this sentence is also train.de:5; test in train: 0 exact, 0 normalised, one side 1 de."),
    ],
)
def test_leaks_are_errors_with_both_lines(tmp_path, en, de, expected) -> None:  # case D7
    side = "de" if en == "New." else "en"
    fix = " Fix: leave the sentences of test out of train, or name the corpus local-drop-leaks:FOLDER, or local-allow-leaks:FOLDER"
    assert message(InputError, leaking(tmp_path, en, de), "en", "de") == f"test.{side}:2: {expected}{fix}"


def test_the_first_of_several_leaks_is_named_with_its_first_place(tmp_path) -> None:
    name = write_corpus(tmp_path, test_en=[EN[23], EN[4], EN[6]], test_de=[DE[23], DE[4], DE[6]])
    expected = "test.en:2: this pair is also train.en:5 (exact); test in train: 2 exact, 0 normalised, one side 0."
    assert message(InputError, name, "en", "de").startswith(expected)


def test_leaks_can_be_dropped_from_train(tmp_path) -> None:  # case D7
    name = write_corpus(tmp_path, test_en=[EN[23], "New."], test_de=[DE[23], DE[4] + "!"])
    corpus = load_corpus(name.replace("local:", "local-drop-leaks:"), "en", "de")
    assert corpus.pairs("train", "en", "de")[0] == EN[:4] + EN[5:20]
    assert (corpus.dropped, corpus.leaks, len(corpus["test"])) == ({"leak": 1}, [], 2)
    assert (corpus.skipped[0].file, corpus.skipped[0].line) == ("train.en", 5)


def test_leaks_can_be_allowed_and_are_recorded(tmp_path) -> None:  # case D7
    (leak,) = load_corpus(leaking(tmp_path, EN[4], DE[4]).replace("local:", "local-allow-leaks:"), "en", "de").leaks
    assert (leak.held_out, leak.other, leak.exact, leak.first) == ("test", "train", 1, (1, 4))


def test_dev_in_test_is_a_leak_too(tmp_path) -> None:  # case D7
    assert message(InputError, leaking(tmp_path, EN[21], DE[21])).startswith("test.de:2: this pair is also dev.de:2 (exact)")


def test_normalising_keeps_what_differs() -> None:
    assert normalise("“Run!” he said .") == normalise("run he said")
    assert normalise("?") != normalise("!")
    assert normalise("schon") != normalise("schön")


def test_leak_free_split_keeps_connected_pairs_together() -> None:
    # a-A, a-B, b-B hang together through "a" and "B"; every other pair stands alone.
    en = ["a", "A!", "b", *(f"sentence {i}" for i in range(50))]
    de = ["x", "y", "Y", *(f"Satz {i}" for i in range(50))]
    columns = {"en": en, "de": de}
    for num_test in range(1, 30):
        split = leak_free_split(columns, 5, num_test)
        assert sorted(place for places in split.values() for place in places) == list(range(53))
        assert len({name for name, places in split.items() for place in places if place < 3}) == 1


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=40), st.integers(0, 10), st.integers(0, 10))
def test_no_sentence_is_in_two_splits(pairs, num_dev, num_test) -> None:
    split = leak_free_split({"en": [f"e {en}" for en, _ in pairs], "de": [f"d {de}" for _, de in pairs]}, num_dev, num_test)
    assert sorted(place for places in split.values() for place in places) == list(range(len(pairs)))
    for side in (0, 1):
        held = [{pairs[place][side] for place in places} for places in split.values()]
        assert len(set().union(*held)) == sum(map(len, held))


def test_a_stock_phrase_stays_in_train() -> None:
    en, de = ["Come on!"] * 5 + [f"e {i}" for i in range(20)], [f"d {i}" for i in range(25)]
    for wanted in range(10):
        assert set(range(5)) <= set(leak_free_split({"en": en, "de": de}, wanted, wanted)["train"])


@pytest.mark.parametrize(("size", "held_out"), [(4, True), (5, False)])
def test_a_group_of_four_may_be_held_out_and_one_of_five_may_not(size, held_out) -> None:
    split = leak_free_split({"en": ["Come on!"] * size, "de": [f"d {i}" for i in range(size)]}, 0, 1)
    assert (len(split["test"]), len(split["train"])) == ((size, 0) if held_out else (0, size))


def test_leak_free_split_does_not_depend_on_order() -> None:
    en, de = [f"e {i // 2}" for i in range(60)], [f"d {i}" for i in range(60)]
    forward = leak_free_split({"en": en, "de": de}, 7, 11)
    backward = leak_free_split({"en": en[::-1], "de": de[::-1]}, 7, 11)
    assert {name: [de[i] for i in places] for name, places in forward.items()} == {
        name: [de[::-1][i] for i in places] for name, places in backward.items()
    }


# Names


def test_missing_things_name_what_exists(tmp_path) -> None:  # case D8
    name = write_corpus(tmp_path)
    corpus = load_corpus(name)
    expected = f"{name}: has no split 'tset'. Fix: did you mean 'test'? Known: train, dev, test"
    with pytest.raises(InputError) as caught:
        corpus.pairs("tset", "en", "de")
    assert str(caught.value) == expected
    assert message(InputError, name, "en", "du") == f"{tmp_path}: has no language 'du'. Fix: use one of de, en"
    assert message(InputError, "multi30k", "en", "es") == "multi30k: has no language 'es'. Fix: use one of en, de, fr"
    assert message(InputError, "multi30").startswith("data.corpus: unknown corpus 'multi30'. Fix: did you mean 'multi30k'?")
    (tmp_path / "dev.de").unlink()
    assert message(InputError, name).startswith(f"{tmp_path}: has dev.en but no dev.de. Fix: add dev.de")


def test_a_folder_without_text_says_what_it_holds(tmp_path) -> None:
    write(tmp_path, notes_docx="x")
    assert message(InputError, f"local:{tmp_path}").startswith(f"{tmp_path}: holds no parallel text known here, but notes.docx. Fix: ")
    assert message(InputError, f"local:{tmp_path}/no").startswith(f"{tmp_path}/no: is not a folder. Fix: ")


# Test sets of other corpora


def test_a_split_of_another_corpus_reads_as_the_own_text(tmp_path, monkeypatch) -> None:
    name = write_corpus(tmp_path, test_en=["The Dog.", "A cat!"], test_de=["Der Hund.", "Eine Katze!"])
    assert load_pairs("minigerman", "de", "en", f"{name}:test") == (["Der Hund.", "Eine Katze!"], ["The Dog.", "A cat!"])
    monkeypatch.setitem(CORPORA, "minigerman", replace(CORPORA["minigerman"], prepare=str.lower))
    assert load_pairs("minigerman", "de", "en", f"{name}:test") == (["der hund.", "eine katze!"], ["the dog.", "a cat!"])


@pytest.mark.parametrize(
    ("split", "expected"),
    [
        ("minigerman:test", "minigerman:test: is a split of the corpus of the run itself. Fix: write test"),
        ("minisummary:test", "minisummary:test: is for summarisation, minigerman is for translation. Fix: "),
        ("enja:test", "enja: has no language 'de'. Fix: "),
        ("iwslt:test", "data.corpus: unknown corpus 'iwslt'. Fix: did you mean 'iwslt1"),
    ],
)
def test_what_is_no_test_set_for_a_run_is_refused(split, expected) -> None:
    with pytest.raises(InputError) as caught:
        load_pairs("minigerman", "en", "de", split)
    assert str(caught.value).startswith(expected)


def test_what_a_model_may_know_of_another_corpus_is_counted(tmp_path) -> None:
    (tmp_path / "own").mkdir()
    own = write_corpus(tmp_path / "own", train_en=["A dog.", "Thank you.", "Go on."], train_de=["Ein Hund.", "Danke.", "Weiter."])
    other = write(
        tmp_path,
        # known; its English known; known; its German known; new
        test_en=["a dog", "Thank you!", "Go on!", "Walk on.", "It rains."],
        test_de=["Ein Hund!", "Vielen Dank.", "Weiter", "Weiter.", "Es regnet."],
    )
    assert count_in_train(own, "en", "de", f"{other}:test") == {"pairs": 2, "en": 1, "de": 1}
    assert count_in_train(own, "en", "de", "dev") == {"pairs": 0, "en": 0, "de": 0}
    write(tmp_path / "own", train_en=["It rains.", "Thank you.", "Go on."])
    assert count_in_train(own, "en", "de", f"{other}:test") == {"pairs": 1, "en": 2, "de": 2}, "the text as it is now"


# Formats


def test_the_fingerprint_is_of_the_text_not_of_the_format(tmp_path) -> None:
    aligned, tsv, jsonl, other = (tmp_path / name for name in ("aligned", "tsv", "jsonl", "other"))
    for folder in (aligned, tsv, jsonl, other):
        folder.mkdir()
    write_corpus(aligned)
    write_corpus(other, dev_en=[EN[20], EN[21], EN[22] + "."])
    for split, low, high in (("train", 0, 20), ("dev", 20, 23), ("test", 23, 27)):
        rows = list(zip(EN[low:high], DE[low:high], strict=True))
        write(tsv, **{f"{split}_tsv": ["en\tde", *(f"{en}\t{de}" for en, de in rows)]})
        write(jsonl, **{f"{split}_jsonl": [json.dumps({"translation": {"en": en, "de": de}}) for en, de in rows]})
    prints = [load_corpus(f"local:{folder}", "en", "de").fingerprint for folder in (aligned, tsv, jsonl, other)]
    assert prints[0] == prints[1] == prints[2] != prints[3]
    code = f"from repro.data.corpora import load_corpus; print(load_corpus('local:{aligned}', 'de', 'en').fingerprint)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == prints[0]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"train_tsv": "Hello\tHallo\n"}, "train.tsv:1: does not name the languages of the columns"),
        ({"train_tsv": "en\tde\nHello Hallo\n"}, "train.tsv:2: has 1 columns, not 2"),
        ({"train_jsonl": '{"en": "a", "de": "b"}\n{"en": "a"}\n'}, "train.jsonl:2: has no text in 'de'"),
        ({"train_jsonl": '{"en": "a", "de": "b"}\n[1]\n'}, "train.jsonl:2: is not a JSON object"),
        ({"train_jsonl": "{" * 50_000}, "train.jsonl:1: is not a JSON object"),
        ({"train_tsv": "en\tde\ten\na\tb\tc\n"}, "train.tsv:1: names 'en' more than once"),
    ],
)
def test_damaged_tables_name_the_line(tmp_path, files, expected) -> None:
    assert message(InputError, write(tmp_path, **files)).startswith(expected)


@pytest.mark.parametrize("kind", ["tsv", "jsonl"])
def test_tables_of_one_corpus_have_the_same_languages(tmp_path, kind) -> None:
    text = {"tsv": "en\tde\tfr\na\tb\tc\n", "jsonl": '{"en": "a", "de": "b", "fr": "c"}\n'}[kind]
    fewer = {"tsv": "en\tde\nd\te\n", "jsonl": '{"en": "d", "de": "e"}\n'}[kind]
    name = write(tmp_path, **{f"train_{kind}": text, f"dev_{kind}": fewer})
    assert f": train.{kind} has de, en, fr, but dev.{kind} has de, en. Fix: give all files the same" in message(InputError, name)
    assert load_corpus(name, "en", "de").pairs("dev", "en", "de") == (["d"], ["e"])


def test_two_files_for_one_thing_are_refused(tmp_path) -> None:
    write(tmp_path, valid_en="x\n", valid_de="x\n")
    assert message(InputError, write_corpus(tmp_path)) == f"{tmp_path}: has both dev.de and valid.de. Fix: take one of them away"
    tables = tmp_path / "tables"
    tables.mkdir()
    (tables / "train.tsv").write_text("en\tde\na\tb\n")
    (tables / "train.tsv.gz").write_bytes(gzip.compress(b"en\tde\na\tb\n"))
    assert message(InputError, f"local:{tables}") == f"{tables}: has both train.tsv and train.tsv.gz. Fix: take one of them away"


def test_two_layouts_in_one_folder_are_refused(tmp_path) -> None:  # one would be read and the other passed over in silence
    name = write_corpus(tmp_path)
    (tmp_path / "train.tsv").write_text("en\tde\na\tb\n")
    expected = f"{tmp_path}: has dev.de and train.tsv, which are of two layouts. Fix: keep one layout, and move the others elsewhere"
    assert message(InputError, name) == expected


def test_an_overlong_cell_is_skipped(tmp_path) -> None:
    corpus = load_corpus(write(tmp_path, train_tsv=["en\tde", "a\tb", "a\t" + "x" * 10_001, "c\td"]))
    assert (corpus.pairs("train", "en", "de")[0], corpus.dropped, corpus.skipped[0].line) == (["a", "c"], {"too long": 1}, 3)


SEGMENTS = (
    '<?xml version="1.0"?>\n<mteval>\n<doc docid="1">\n<title>{0}</title>\n'
    '<seg id="1"> {0} &amp; co </seg>\n<seg id="2"> b </seg>\n</doc>\n'
)


def write_wit3(root: Path) -> Path:
    folder = root / "ted-en-de"
    folder.mkdir(parents=True)
    for language, url in (("de", "<url>u</url>\n<reviewer>r</reviewer>\n"), ("en", "<url>u</url>\n")):
        (folder / f"train.tags.de-en.{language}").write_text(
            f"{url}<title>t</title>\n {language} 1 \n{language} 2\n<url>v</url>\n{language} 3\n"
        )
        for talks, name in (("TED", "tst2010"), ("TED", "tst2012"), ("TED", "tst2013"), ("TEDX", "tst2013")):
            path = folder / f"IWSLT16.{talks}.{name}.de-en.{language}.xml"
            path.write_text(SEGMENTS.format(f"{talks} {name} {language}"))
    return folder


def test_wit3_archives_are_read(tmp_path, monkeypatch) -> None:
    folder = write_wit3(tmp_path)
    corpus = load_corpus(f"local-allow-leaks:{folder}", "de", "en")
    assert corpus.pairs("train", "de", "en") == (["de 1", "de 2", "de 3"], ["en 1", "en 2", "en 3"])
    assert list(corpus.splits) == ["train", "dev", "test", "tst2010", "tedx_tst2013"]
    assert corpus.pairs("test", "de", "en")[0] == corpus.pairs("tst2013", "de", "en")[0] == ["TED tst2013 de & co", "b"]
    assert corpus["train"].place(2, "de") == "train.tags.de-en.de:7"
    assert corpus["train"].place(2, "en") == "train.tags.de-en.en:6"


def test_a_missing_train_split_says_where_to_put_it(tmp_path, monkeypatch) -> None:
    for path in write_wit3(tmp_path).glob("train.*"):
        path.unlink()
    monkeypatch.setitem(CORPORA, "iwslt16", replace(CORPORA["iwslt16"], checksums={}))
    corpus = load_corpus("iwslt16", root=tmp_path)
    with pytest.raises(InputError) as caught:
        corpus.pairs("train", "de", "en")
    mend = "put its training files into REPRO_DATA/ted-en-de/ (from https://wit3.fbk.eu)"
    assert str(caught.value) == f"iwslt16: has no split 'train'. Fix: {mend}"


def test_a_changed_published_file_is_refused(tmp_path) -> None:  # case D9
    write_wit3(tmp_path)
    expected = "iwslt16/IWSLT16.TED.tst2012.de-en.de.xml: SHA-256 of its text is "
    assert message(DamagedFileError, "iwslt16", root=tmp_path).startswith(expected)


# The corpus object


def test_it_is_a_dataset_with_a_column_per_language(tmp_path) -> None:
    dataset = load_corpus(write_corpus(tmp_path), "en", "de").dataset
    assert dataset["train"].column_names == ["en", "de"]
    assert list(dataset["test"]["de"]) == DE[23:27]


def test_statistics_are_those_of_you2020_table_1(tmp_path) -> None:
    name = write(tmp_path, train_en=["a b", "c"], train_de=["x y z", "u v w"], test_en=["d e f"], test_de=["p"])
    statistics = load_corpus(name).statistics("en", "de")
    assert (statistics.train_pairs, statistics.test_pairs) == (2, 1)
    assert (statistics.source_length, statistics.target_length) == (2.0, 7 / 3)


def test_importing_is_cheap() -> None:
    code = "import sys, repro.data.corpora; print(sorted({'torch', 'datasets', 'numpy', 'huggingface_hub'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_records_are_complete() -> None:
    for name, record in CORPORA.items():
        assert record.about and record.licence and record.citation, name
        assert (record.folder or name.startswith("mini")) and len(record.languages) >= 2, name


# The Hub


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """Stand in for the Hub: return the calls made, and answer them with a corpus of ours."""
    import datasets
    import huggingface_hub

    calls: list[tuple] = []

    def load_dataset(name, **options):
        calls.append((name, options))
        rows = {"train": range(20), "validation": range(20, 23), "test": range(23, 27)}
        tables = {
            split: datasets.Dataset.from_dict({"translation": [{"de": DE[i], "en": EN[i]} for i in numbers]})
            for split, numbers in rows.items()
        }
        return datasets.DatasetDict(tables)

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", lambda *_, **__: None)
    monkeypatch.setenv("REPRO_DATA", str(tmp_path))
    return calls


def test_the_hub_gives_what_files_give(hub, tmp_path) -> None:
    corpus = load_corpus("iwslt17", "en", "de")
    files = {split: f"iwslt2017-en-de/{split}/*.parquet" for split in ("train", "validation", "test")}
    assert hub == [("IWSLT/iwslt2017", {"data_files": files, "revision": "refs/convert/parquet"})]
    assert corpus.pairs("dev", "en", "de") == (EN[20:23], DE[20:23])
    assert corpus.fingerprint == load_corpus("iwslt17", "de", "en").fingerprint
    folder = tmp_path / "iwslt17"
    folder.mkdir()
    write_corpus(folder)
    assert load_corpus("iwslt17", "en", "de").fingerprint == corpus.fingerprint
    assert len(hub) == 2


def test_a_hub_copy_that_differs_is_noted(hub) -> None:
    notes = load_corpus("multi30k", "en", "de").notes
    assert len(notes) == 6 and notes[0].startswith("train.en: SHA-256 of its text is ")


def test_a_column_missing_on_the_hub_is_named(hub) -> None:
    assert "has no column 'ro' in train, but de, en" in message(MachineError, "wmt16-en-ro")


def test_no_network_is_one_line(monkeypatch) -> None:
    import huggingface_hub

    def refuse(*_, **__):
        raise ConnectionError("Name or service not known\nand more")

    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", refuse)
    monkeypatch.setattr("repro.data.hub._unanswered", {})
    monkeypatch.delenv("REPRO_DATA", raising=False)
    expected = (
        "iwslt14 (huggingface.co/datasets/bbaaaa/iwslt14-de-en): cannot be loaded (ConnectionError: Name or service not known). "
        "Fix: connect to the network, or set REPRO_DATA to a folder that holds iwslt14/"
    )
    assert message(MachineError, "iwslt14") == expected


def test_a_hub_that_does_not_answer_is_not_asked_again_for_a_minute(monkeypatch) -> None:
    """With a network that swallows questions each one takes ten seconds."""
    import huggingface_hub

    asked, now = [], 0.0

    def swallow(*_, **__):
        asked.append(now)
        raise TimeoutError("timed out")

    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", swallow)
    monkeypatch.setattr("repro.data.hub._unanswered", {})
    monkeypatch.setattr("repro.data.hub.time.monotonic", lambda: now)
    monkeypatch.delenv("REPRO_DATA", raising=False)
    messages = set()
    for second in (0.0, 10.0, 59.0, 60.0, 61.0):
        now = second
        messages.add(message(MachineError, "iwslt14"))
    assert asked == [0.0, 60.0]
    assert len(messages) == 1 and "TimeoutError: timed out" in messages.pop()
    message(MachineError, "iwslt17")
    assert asked == [0.0, 60.0, 61.0]


def test_what_is_on_no_hub_says_where_to_get_it(monkeypatch, tmp_path) -> None:
    monkeypatch.delenv("REPRO_DATA", raising=False)
    mend = "Fix: get it from https://www.manythings.org/anki and set REPRO_DATA to the parent of tatoeba-deu-eng/"
    assert message(MachineError, "tatoeba") == f"tatoeba: needs REPRO_DATA, which is not set. {mend}"
    assert message(MachineError, "tatoeba", root=tmp_path) == f"tatoeba: is not in REPRO_DATA ({tmp_path}). {mend}"
    assert message(InputError, "tatoeba", root=tmp_path / "no").startswith(f"REPRO_DATA: {tmp_path}/no is not a folder")


# The real corpora


@pytest.mark.real_data
def test_lower_case_is_the_same_sentences(real_root) -> None:
    mixed, lower = (load_corpus(name, "en", "de", root=real_root) for name in ("multi30k", "multi30k-lc"))
    for split in mixed.splits:
        for ours, theirs in zip(mixed.pairs(split, "en", "de"), lower.pairs(split, "en", "de"), strict=True):
            assert theirs == [line.lower() for line in ours] != ours
    assert mixed.fingerprint != lower.fingerprint


REAL_SIZES = {
    "multi30k": {"train": 29_000, "dev": 1_014, "test": 1_000, "test_2017_flickr": 1_000, "test_2017_mscoco": 461},
    "tatoeba": {"train": 166_801, "dev": 1_001, "test": 2_000},
    "enja": {"train": 50_000, "dev": 500, "test": 500},
    "iwslt16": {
        **{"dev": 1_700, "test": 993, "dev2010": 887, "tst2010": 1_565, "tst2011": 1_433, "tst2014": 1_305},
        **{"tedx_dev2012": 1_165, "tedx_tst2013": 1_363, "tedx_tst2014": 1_414},
    },
}
REAL_SECONDS = {"multi30k": 3, "tatoeba": 15, "enja": 3, "iwslt16": 3}


@pytest.mark.real_data
@pytest.mark.parametrize("name", REAL_SIZES)
def test_real_corpora(real_root, name) -> None:
    start = time.process_time()  # of this process alone: the limit must hold on a busy machine too
    corpus = load_corpus(name, root=real_root)
    assert time.process_time() - start < REAL_SECONDS[name]
    assert {split: len(corpus[split]) for split in corpus.splits} == REAL_SIZES[name]
    assert sum(len(split) for split in corpus.splits.values()) + len(corpus.skipped) == sum(REAL_SIZES[name].values()) + 11 * (
        name == "tatoeba"
    )


@pytest.mark.real_data
def test_tatoeba_is_leak_free_and_not_trivial(real_root) -> None:
    corpus = load_corpus("tatoeba", root=real_root)
    assert len(corpus["train"]) + len(corpus["dev"]) + len(corpus["test"]) + corpus.dropped["invisible character"] == 169_813
    texts = {
        name: [{normalise(text) for text in split.columns[language]} for language in ("en", "de")] for name, split in corpus.splits.items()
    }
    for one, other in (("train", "dev"), ("train", "test"), ("dev", "test")):
        assert all(a.isdisjoint(b) for a, b in zip(texts[one], texts[other], strict=True))
    lengths = {name: [len(text.split()) for text in split.columns["en"]] for name, split in corpus.splits.items()}
    means = {name: sum(numbers) / len(numbers) for name, numbers in lengths.items()}
    for name in ("dev", "test"):
        assert abs(means[name] - means["train"]) < 0.5
        assert sum(number <= 2 for number in lengths[name]) < 0.05 * len(lengths[name])
        assert len(texts[name][0]) > 0.8 * len(lengths[name])
    # The file is sorted by length; the first pairs of train are a fair sample all the same.
    assert abs(sum(lengths["train"][:2_000]) / 2_000 - means["train"]) < 0.5


@pytest.mark.real_data
def test_overlaps_of_published_splits_are_recorded(real_root) -> None:
    found = {leak.held_out: leak for leak in load_corpus("enja", root=real_root).leaks if leak.other == "train"}
    assert {name: (leak.exact, leak.normalised, dict(leak.one_side)) for name, leak in found.items()} == {
        "dev": (0, 0, {"en": 78}),
        "test": (0, 0, {"en": 61}),
    }
    leaks = load_corpus("multi30k", root=real_root).leaks
    assert sum(leak.exact + leak.normalised for leak in leaks) == 0


@pytest.mark.real_data
def test_a_shift_in_an_official_set_is_noted(real_root) -> None:
    notes = load_corpus("iwslt16", root=real_root).notes
    assert sum("lines fit" in note for note in notes) == sum("tedx_dev2012" in note or "TEDX.dev2012" in note for note in notes) - 1 == 1


@pytest.mark.real_data
def test_a_line_lost_from_a_real_corpus_is_found(real_root, tmp_path) -> None:
    english, german = load_corpus("multi30k", root=real_root).pairs("train", "en", "de")
    name = write(tmp_path, train_en=english, train_de=german[:14_000] + german[14_001:] + ["Ein Hund ."])
    assert abs(int(message(InputError, name).split(":")[1]) - 14_000) < 10


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path) -> None:
    os.mkfifo(tmp_path / "train.en")
    with pytest.raises(InputError, match=r"train.en: is no regular file. Fix: name a file of text"):
        read_lines(tmp_path / "train.en")
