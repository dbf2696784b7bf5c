"""Lines of text files: what is read, what is refused and with which words."""

import gzip
import os
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from own_files import DE, EN, message, write, write_corpus

from repro.data.characters import find_faults
from repro.data.corpora import load_corpus
from repro.data.text import ALWAYS_EXPANDED, read_lines
from repro.errors import InputError


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=8),
        max_size=12,
    ),
    st.booleans(),
)
def test_only_a_newline_byte_ends_a_line(tmp_path_factory, lines, has_final_newline) -> None:
    path = tmp_path_factory.mktemp("text") / "a.txt"
    data = "\n".join(lines).encode() + b"\n" * has_final_newline
    # a first letter, since empty, UTF-16-like or archive-like starts are cases of their own
    path.write_bytes(b"x" + data)
    read = read_lines(path).lines
    assert len(read) == data.count(b"\n") + (not data.endswith(b"\n"))
    assert [line.rstrip("\r") for line in read] == [
        line.rstrip("\r") for line in ("x" + data.decode()).removesuffix("\n").split("\n")
    ]


@pytest.mark.parametrize("separator", ["\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_other_separators_do_not_end_a_line(tmp_path, separator) -> None:
    write(tmp_path, a_en=f"one{separator}two\nthree\n")
    lines = read_lines(tmp_path / "a.en").lines
    assert lines == [f"one{separator}two", "three"]
    assert find_faults(lines[0])[0].reason == "line-break character"


def test_byte_order_mark_and_carriage_returns_are_stripped_and_noted(tmp_path) -> None:
    name = write_corpus(
        tmp_path, train_en=b"\xef\xbb\xbf" + "".join(line + "\r\n" for line in EN[:20]).encode()
    )
    corpus = load_corpus(name)
    assert corpus.pairs("train", "en", "de") == (EN[:20], DE[:20])
    assert corpus.notes == [
        "train.en: byte order mark stripped",
        "train.en: carriage return stripped from 20 lines",
    ]


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
            (
                "test.de:2: column 4: byte 0xF6 is not UTF-8 (ISO-8859-1?). Fix: iconv -f "
                "ISO-8859-1 -t UTF-8"
            ),
        ),
        (
            "a\nb \x93c\x94\n".encode("latin-1"),
            (
                "test.de:2: column 3: byte 0x93 is not UTF-8 (Windows-1252?). Fix: iconv -f "
                "Windows-1252 -t UTF-8"
            ),
        ),
        (
            "Haus\n".encode("utf-16"),
            (
                "test.de:1: column 1: byte 0xFF is not UTF-8 (UTF-16LE?). Fix: iconv -f UTF-16LE "
                "-t UTF-8"
            ),
        ),
        (
            "Haus\n".encode("utf-32"),
            "test.de:1: column 1: byte 0xFF is not UTF-8 (UTF-32?). Fix: iconv -f UTF-32 -t UTF-8",
        ),
        (
            "Haus\n".encode("utf-16-be"),
            (
                "test.de:1: column 1: byte 0x00 is not UTF-8 (UTF-16BE?). Fix: iconv -f UTF-16BE "
                "-t UTF-8"
            ),
        ),
        (
            b"\x89PNG\r\n\x1a\n",
            (
                "test.de:1: column 1: byte 0x89 starts a PNG picture, not text. Fix: give a UTF-8 "
                "text file"
            ),
        ),
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


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path) -> None:
    os.mkfifo(tmp_path / "train.en")
    with pytest.raises(InputError, match=r"train.en: is not a regular file. Fix: name a text file"):
        read_lines(tmp_path / "train.en")


def test_a_damaged_gzip_is_not_taken_for_another_encoding(tmp_path) -> None:
    whole = gzip.compress("".join(f"Grüße {line}\n" for line in EN).encode(), mtime=0)
    # behind the header; the last bits may be padding
    for place in range(30, len(whole) - 16, len(whole) // 100):
        broken = bytearray(whole)
        broken[place] ^= 0x10
        (tmp_path / "a.en").write_bytes(broken)
        with pytest.raises(InputError, match="is a damaged or cut gzip archive"):
            read_lines(tmp_path / "a.en")


def test_all_lines_that_are_not_utf8_are_counted(tmp_path) -> None:
    (tmp_path / "a.de").write_bytes(b"gut\n" + 7 * "schön\n".encode("latin-1"))
    with pytest.raises(InputError) as caught:
        read_lines(tmp_path / "a.de")
    assert str(caught.value).startswith(
        "a.de:2: column 4: byte 0xF6 is not UTF-8 (ISO-8859-1?); 6 more: a.de:3 column 4: byte 0xF6"
    )


@pytest.mark.parametrize("line", ["\n", "x\n", "A dog sleeps.\n", "y" * 1000 + "\n"])
def test_an_archive_that_would_fill_the_memory_is_refused(tmp_path, monkeypatch, line) -> None:
    """A line takes at most 20 times its bytes; a tenth of what may always be read shows it, too."""
    assert 20 * ALWAYS_EXPANDED <= 200_000_000
    always = ALWAYS_EXPANDED // 10
    monkeypatch.setattr("repro.data.text.ALWAYS_EXPANDED", always)
    (tmp_path / "a.en").write_bytes(gzip.compress(line.encode() * (always * 6 // 5 // len(line))))
    tracemalloc.start()
    with pytest.raises(InputError) as caught:
        read_lines(tmp_path / "a.en")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    what = (
        "a.en: expands to more than 100 times its size, which text does not. Fix: inspect it; if "
        "it is intended, unpack it with gunzip"
    )
    assert str(caught.value) == what
    assert peak < 20 * always


def test_text_that_shrinks_like_text_is_read(tmp_path) -> None:
    lines = [f"{line} {place}" for place, line in enumerate(EN * 200)]
    (tmp_path / "a.en").write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))
    assert read_lines(tmp_path / "a.en").lines == lines
