"""`repro translate`: lines in, as many lines out, as they arrive."""

import io
import os
import re
import subprocess
import sys

import pytest
from command_line import ended

from repro.cli.translate import LONGEST_LINE, MOST_TOLD, arriving
from repro.core.decoding import Translator
from repro.runs import gallery

BASE = str(gallery.FOLDER / "base")
DOG = b"The dog sleeps."


class Arriving(io.RawIOBase):
    """A pipe in which each piece arrives when what came before was read."""

    def __init__(self, *pieces: bytes) -> None:
        self.pieces = list(pieces)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        piece = self.pieces.pop(0) if self.pieces else b""
        buffer[: len(piece)] = piece
        return len(piece)


def lines_of(*pieces: bytes) -> list[list[bytes | None]]:
    return list(arriving(io.BufferedReader(Arriving(*pieces))))


@pytest.fixture
def translated(capsys, monkeypatch):
    """Return what gives exit status, lines of output and lines of errors of a text."""

    def run(given: bytes, *options: str) -> tuple[int, list[str], list[str]]:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
        code, out, err = ended(capsys, "translate", BASE, "--beam", "1", *options)
        return code, out.splitlines(), err.splitlines()

    return run


def test_what_has_arrived_is_not_kept_waiting():
    assert lines_of(b"one\n", b"two\nthr", b"ee\n", b"four") == [
        [b"one"],
        [b"two"],
        [b"three"],
        [b"four"],
    ]
    assert lines_of(b"one\ntwo\n\nthree") == [[b"one", b"two", b""], [b"three"]]
    assert lines_of() == [] and lines_of(b"\n") == [[b""]]


@pytest.mark.parametrize("size", [LONGEST_LINE + 1, 5 * LONGEST_LINE])
def test_of_a_line_without_end_nothing_is_kept(size):
    pieces = [b"x" * 60_000] * (size // 60_000) + [b"x" * (size % 60_000)]
    assert lines_of(b"one\n", *pieces, b"\ntwo\n") == [[b"one"], [None, b"two"]]
    assert lines_of(*pieces) == [[None]]
    assert lines_of(*pieces, b"\nthree")[-1] == [b"three"]
    assert lines_of(b"y" * 1000 + b"\n", b"x" * 60_000, b"x" * 60_000, b"x" * 8_000 + b"\n") == [
        [b"y" * 1000],
        [b"x" * 128_000],
    ]


def test_a_pipe_that_stays_open_is_answered_line_by_line():
    command = [sys.executable, "-m", "repro", "translate", BASE, "--beam", "1"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ
    ) as process:
        for sentence in (DOG, b"The cat sees a man."):
            process.stdin.write(sentence + b"\n")
            process.stdin.flush()
            # which waits for ever where nothing is answered
            assert process.stdout.readline().endswith(b".\n")
        process.stdin.close()
        assert process.stdout.read() == b"" and process.wait() == 0


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            b"dog " * 3000,
            (
                r"has 3,00\d tokens, and attention takes memory with their square: the limit is "
                r"2,000\. Fix: split .*"
            ),
        ),
        (b"dog" * 100_000, "has more than 128,000 bytes. Fix: put a sentence on a line"),
        (
            "schön".encode("latin-1"),
            r"byte 0xF6 is not UTF-8\. Fix: convert the text, for example: iconv -f latin1 -t utf8",
        ),
        (b"\xed\xa0\x80", r"byte 0xED is not UTF-8\. .*"),
    ],
)
def test_a_line_that_cannot_be_translated_is_empty_and_told(translated, given, told):
    code, out, err = translated(DOG + b"\n\n" + given + b"\n" + DOG)
    assert (
        code == 2
        and [bool(line) for line in out] == [True, False, False, True]
        and out[0] == out[3]
    )
    assert re.fullmatch(f"standard input:3: {told}", err[0])
    assert err[1:] == [
        "error: standard input: 1 of 4 lines were not translated, and are empty in the "
        "output. Fix: correct the lines named above"
    ]


def test_a_flood_of_bad_lines_is_counted(translated):
    code, out, err = translated(b"\xf6\n" * 25 + DOG + b"\n")
    assert code == 2 and len(out) == 26 and len(err) == MOST_TOLD + 2
    assert err[-2] == "further ones are counted only" and "25 of 26 lines" in err[-1]


@pytest.mark.parametrize(
    "line", [b"The\x00 dog sleeps.", b"The dog\x1b sleeps.", "The dog\u200b sleeps.".encode()]
)
def test_characters_that_are_taken_out_are_told(translated, line):
    code, out, err = translated(DOG + b"\n" + line + b"\n")
    assert code == 0 and out[0] == out[1]
    assert err == ["1 of 2 lines held invisible or control characters; they were taken out"]


@pytest.mark.parametrize("ending", [b"\r\n", b"\n"])
def test_a_mark_at_the_start_and_carriage_returns_are_no_text(translated, ending):
    code, out, err = translated(b"\xef\xbb\xbf" + DOG + ending + DOG + ending)
    assert code == 0 and len(out) == 2 and out[0] == out[1] and err == []


def test_no_line_is_encoded_twice(translated, monkeypatch):
    encode, seen = Translator.encode, []
    monkeypatch.setattr(
        Translator, "encode", lambda self, lines: seen.extend(lines) or encode(self, lines)
    )
    translated(b"".join(b"The dog number %d sleeps.\n" % n for n in range(70)))
    assert len(seen) == len(set(seen)) == 70


def test_lines_with_characters_that_the_model_does_not_know_are_counted(translated):
    _, _, err = translated(DOG + b"\n" + "Ж sleeps, Ж.\n".encode() + "Ω\n".encode())
    assert err[0] == "2 of 3 lines hold characters that the model has never seen"
