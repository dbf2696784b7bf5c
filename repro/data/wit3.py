"""Read single files of WIT3 (IWSLT): training text with tags, and dev or test sets of segments."""

import re
from pathlib import Path

from repro.data.text import TextLines, read_lines
from repro.errors import InputError

# XML entities. The ampersand comes last, otherwise "&amp;lt;" would become "<".
ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&"}
LONGEST_LINE = 10  # sentences: the description of a talk is longer than one
_SEGMENT = re.compile(r'<seg id="?\s*(\d+)\s*"?>(.*)</seg>')


def read_tagged(path: Path, max_chars: int) -> TextLines:
    """Read training text without the lines that start with ``<``, which describe the talk."""
    lines = read_lines(path, LONGEST_LINE * max_chars)
    kept = [place for place, line in enumerate(lines.lines) if not line.startswith("<")]
    texts = [_unescape_xml(lines.lines[place]) for place in kept]
    return _empty_too_long(lines, texts, [place + 1 for place in kept], max_chars)


def read_segments(path: Path, max_chars: int) -> TextLines:
    """Read the ``<seg>`` lines of a dev or test set.

    The files are read line by line, not by an XML parser: some archives contain a bare ``&``, and
    a parser would fetch entities.
    """
    lines = read_lines(path, LONGEST_LINE * max_chars)
    texts: list[str] = []
    numbers: list[int] = []
    for number, line in zip(lines.numbers, lines.lines, strict=True):
        if "<seg" not in line and number not in lines.too_long:
            continue
        match = _SEGMENT.search(line)
        if match is None and number not in lines.too_long:
            raise InputError(
                f"{path.name}:{number}",
                "has a <seg> that does not end on its line",
                "take the file from the archive again",
            )
        texts.append(_unescape_xml(match[2]) if match else "")
        numbers.append(number)
    return _empty_too_long(lines, texts, numbers, max_chars)


def _empty_too_long(
    lines: TextLines, texts: list[str], numbers: list[int], max_chars: int
) -> TextLines:
    """Return the sentences of a file, with those that are too long emptied and listed."""
    too_long = {
        number: len(text)
        for number, text in zip(numbers, texts, strict=True)
        if len(text) > max_chars
    }
    texts = [
        "" if number in too_long else text for number, text in zip(numbers, texts, strict=True)
    ]
    return TextLines(lines.name, texts, numbers, too_long | lines.too_long, lines.notes)


def _unescape_xml(text: str) -> str:
    """Replace the entities of XML by their characters."""
    for entity, character in ENTITIES.items():
        text = text.replace(entity, character)
    return text.strip(" ")
