"""Read text files so that the n-th line of one stays the n-th line of the other.

Bytes are decoded as strict UTF-8, and only a newline byte ends a line. ``str.splitlines`` and plain
``open`` also break at form feeds, U+0085, U+2028 or lone carriage returns. Such a break would
silently shift one side of a corpus against the other.
"""

import codecs
import gzip
import unicodedata
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from repro.errors import InputError

MAX_PLACES = 5  # of many mistakes are named
MAX_CHARS = 10_000  # a longer line is usually a file that lost its newlines
# A gzip archive may expand this many times. Text shrinks to a third, one repeated line to 1/200.
MAX_EXPANSION = 100
ALWAYS_EXPANDED = 4_000_000  # bytes; every archive may expand to this size

# The first bytes of files that are not text.
SIGNATURES = {
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"%PDF": "a PDF document",
    b"PK\x03\x04": "a ZIP archive",
    b"BZh91AY&SY": "a bzip2 archive",
    b"\xfd7zXZ\x00": "an XZ archive",
    b"\x28\xb5\x2f\xfd": "a Zstandard archive",
    b"PAR1": "a Parquet table",
}
UTF32 = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)  # test before UTF-16LE, which begins alike
GZIP_SIGNATURE = b"\x1f\x8b"
BOM = b"\xef\xbb\xbf"
CONTINUATION_BYTES = bytes(range(0x80, 0xC0))


@dataclass(frozen=True)
class TextLines:
    """The lines of one side of one split.

    Args:
        name: the name of the file in errors.
        lines: the text of each line without its end.
        numbers: the 1-based line number of each line in its file.
        too_long: number of characters of each line over the limit, by line number; its text in
            ``lines`` is empty.
        notes: what was stripped (byte order mark, carriage returns).
    """

    name: str
    lines: list[str]
    numbers: Sequence[int]
    too_long: dict[int, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read_lines(path: Path, max_chars: int = MAX_CHARS) -> TextLines:
    """Read a UTF-8 text file, plain or gzip, as one string per newline byte.

    The content decides whether it is gzip, not the name. A last line without a newline counts as a
    line. A byte order mark at the start and one carriage return at the end of a line are stripped
    and noted. Memory is bounded: only the length of a line over ``max_chars`` is kept.

    Raises:
        InputError: the file is missing, not text, or not UTF-8, with line, column, byte and the
            likely encoding; or the archive is damaged, or expands further than text does.
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        raise InputError(str(path), "is not a regular file", "name a text file, plain or gzip")
    try:
        with open(path, "rb") as raw:
            return _read_stream(raw, path, max_chars)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(
            path.name, f"is a damaged or cut gzip archive ({error})", "fetch the file again"
        ) from error
    except OSError as error:
        raise InputError(
            str(path), f"cannot be read ({error.strerror})", "check the path and its permissions"
        ) from error


def _read_stream(raw: BinaryIO, path: Path, max_chars: int) -> TextLines:
    """Read the lines of an open file for `read_lines`; report bytes that are not UTF-8 at the end.

    Only the end of an archive has the checksum that shows damage, the likelier cause.
    """
    lines: list[str] = []
    too_long: dict[int, int] = {}
    carriage_returns = 0
    starts_with_bom = False
    undecodable: list[InputError] = []
    num_undecodable = 0
    file, most = _open_text(raw, path), _max_expanded(path)
    for number, (line, num_chars) in enumerate(_iterate_lines(file, max_chars), start=1):
        if number == 1 and line.startswith(BOM):
            starts_with_bom = True
            line = line[len(BOM) :]
        if line.endswith(b"\r"):
            carriage_returns += 1
            line = line[:-1]
        try:
            text = "" if num_chars else _decode_line(line, path, number)
        except InputError as error:
            text = ""
            num_undecodable += 1
            if len(undecodable) < MAX_PLACES:
                undecodable.append(error)
        num_chars = num_chars or (len(text) if len(text) > max_chars else 0)
        if num_chars:
            too_long[number], text = num_chars, ""
        lines.append(text)
        _check_expansion(file, path, most)
    if undecodable:
        raise together(undecodable, num_undecodable)
    notes = [f"{path.name}: byte order mark stripped"] if starts_with_bom else []
    if carriage_returns:
        notes.append(f"{path.name}: carriage return stripped from {carriage_returns:,} lines")
    return TextLines(path.name, lines, range(1, len(lines) + 1), too_long, notes)


def together(errors: Sequence[InputError], count: int | None = None) -> InputError:
    """Return one error for the many of a corpus: the first, and number and places of others.

    Args:
        errors: at least one; the fix is that of the first.
        count: how many there are, if not all are given.
    """
    first, *others = errors
    if not others:
        return first
    further = (count or len(errors)) - 1
    named = "; ".join(f"{error.where} {error.what}" for error in others[: MAX_PLACES - 1])
    rest = "; ..." if further >= MAX_PLACES else ""
    return InputError(first.where, f"{first.what}; {further:,} more: {named}{rest}", first.fix)


def compose_accents(side: TextLines) -> TextLines:
    """Return lines with each letter and its accents as one character (NFC); note how many changed.

    Models always write composed letters, because their tokenizer composes. A reference with
    separate accents, as in some files from macOS, would never match them, though both look alike.
    """
    lines = [unicodedata.normalize("NFC", line) for line in side.lines]
    changed = sum(new != old for new, old in zip(lines, side.lines, strict=True))
    if not changed:
        return side
    return replace(
        side,
        lines=lines,
        notes=[
            *side.notes,
            f"{side.name}: letters and their accents composed (NFC) in {changed:,} "
            f"line{'s' if changed > 1 else ''}",
        ],
    )


def _open_text(raw: BinaryIO, path: Path) -> BinaryIO | gzip.GzipFile:
    """Return a stream of the text bytes of a file; refuse other kinds of files by their content."""
    head = raw.read(4096)
    raw.seek(0)
    if head.startswith(GZIP_SIGNATURE):
        raw = gzip.open(raw)
        head = raw.read(4096)
        raw.seek(0)
    for signature, kind in SIGNATURES.items():
        if head.startswith(signature):
            raise InputError(
                f"{path.name}:1",
                f"column 1: byte 0x{head[0]:02X} starts {kind}, not text",
                "give a UTF-8 text file",
            )
    if wide := "UTF-32" if head.startswith(UTF32) else guess_utf16(head):
        raise InputError(
            f"{path.name}:1",
            f"column 1: byte 0x{head[0]:02X} is not UTF-8 ({wide}?)",
            f"iconv -f {wide} -t UTF-8",
        )
    return raw


def _max_expanded(path: Path) -> int:
    """Return how many bytes an archive may expand to, so that it cannot fill the memory."""
    return max(ALWAYS_EXPANDED, MAX_EXPANSION * path.stat().st_size)


def _check_expansion(file: BinaryIO | gzip.GzipFile, path: Path, most: int) -> None:
    """Refuse a compressed file that expands far more than text does."""
    if isinstance(file, gzip.GzipFile) and file.tell() > most:
        what = f"expands to more than {MAX_EXPANSION} times its size, which text does not"
        raise InputError(path.name, what, "inspect it; if it is intended, unpack it with gunzip")


def guess_utf16(head: bytes) -> str | None:
    """Return `UTF-16LE` or `UTF-16BE` if the first bytes of a text have its mark or its zeros.

    In UTF-16, every second byte of a Latin text is zero.
    """
    marked = {b"\xff\xfe": "UTF-16LE", b"\xfe\xff": "UTF-16BE"}.get(head[:2])
    if marked or len(head) < 8:
        return marked
    zeros = [head[start::2].count(0) * 2 / len(head) for start in (0, 1)]
    return (
        "UTF-16BE"
        if zeros[0] > 0.7 > zeros[1]
        else "UTF-16LE"
        if zeros[1] > 0.7 > zeros[0]
        else None
    )


def _iterate_lines(file: BinaryIO | gzip.GzipFile, max_chars: int) -> Iterator[tuple[bytes, int]]:
    """Yield the bytes of each line without its newline, and 0; for a long line, b"" and its length.

    Only a line that is certainly over `max_chars` is long here; its length is in characters.
    """
    # A character has at most four bytes; carriage return and newline come on top.
    limit = 4 * max_chars + len(BOM) + 2
    while chunk := file.readline(limit):
        if chunk.endswith(b"\n"):
            yield chunk[:-1], 0
        elif len(chunk) < limit:
            yield chunk, 0
        else:
            num_chars = 0
            while chunk and not chunk.endswith(b"\n"):
                num_chars += len(chunk.translate(None, CONTINUATION_BYTES))
                chunk = file.readline(limit)
            yield b"", num_chars + len(chunk.rstrip(b"\r\n").translate(None, CONTINUATION_BYTES))


def _decode_line(line: bytes, path: Path, number: int) -> str:
    """Decode a line strictly, but let lone surrogates pass: they are counted as faults later."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        try:
            return line.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            column = len(line[: error.start].decode("utf-8")) + 1
            # Bytes 0x80-0x9F are letters and quotes in Windows-1252; text in ISO-8859-1 never
            # uses them.
            guess = "Windows-1252" if any(0x80 <= byte < 0xA0 for byte in line) else "ISO-8859-1"
            what = f"column {column}: byte 0x{line[error.start]:02X} is not UTF-8 ({guess}?)"
            raise InputError(f"{path.name}:{number}", what, f"iconv -f {guess} -t UTF-8") from error
