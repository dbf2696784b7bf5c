"""Translate standard input as it arrives."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Literal

import click

from repro.cli.options import search_options
from repro.data.characters import find_faults
from repro.data.text import BOM, GZIP_SIGNATURE, guess_utf16
from repro.errors import InputError
from repro.runs import gallery

if TYPE_CHECKING:
    from repro.core.decoding import Hypothesis, SearchConfig, Translator

CHUNK = 1 << 16  # bytes; the size of a pipe
# bytes: 2,000 tokens, the most that is translated, of 16 characters of 4 bytes
LONGEST_LINE = 128_000
MOST_TOLD = 10  # lines that were not translated


@click.command(short_help="Translate sentences from standard input.")
@click.argument("run")
@click.option(
    "--int8",
    is_flag=True,
    help=(
        "Multiply in 8-bit integers: faster for wide models. A few words differ, and may depend "
        "on which lines are translated together."
    ),
)
@search_options
def translate(
    run: str, int8: bool, beam: int, alpha: float | None, penalty: Literal["length", "wu"]
) -> None:
    """Translate standard input to standard output, a sentence a line, with the model of RUN.

    Lines are translated as they arrive. Line n of the output always belongs to line n of the input:
    a line that is too long, or not UTF-8, gives an empty line. Such lines are named on standard
    error, and the exit status is 2 at the end.

    \b
      repro translate gallery/base < sentences.en
      repro translate base --beam 1 < sentences.en > sentences.de
    """

    found = gallery.find(run)

    from repro.core.decoding import SearchConfig
    from repro.runs.models import load_translator

    alpha = found.alpha if alpha is None else alpha
    search = SearchConfig(beam=beam, alpha=alpha, penalty=penalty)
    translator = load_translator(found, "cpu" if int8 else None)
    if int8:
        from repro.core.int8 import quantized

        translator = translator.with_model(quantized(translator.model))
    if sys.stdin is None:
        raise InputError(
            "standard input", "is closed", "pipe sentences into the command, a sentence a line"
        )
    work = _Work(translator, search)
    for lines in arriving(sys.stdin.buffer):
        click.echo("\n".join(work.translate(lines)))
    for note in work.notes():
        click.echo(note, err=True)
    if work.refused:
        what = (
            f"{work.refused:,} of {work.total:,} lines were not translated, and are empty in the "
            "output"
        )
        raise InputError("standard input", what, "correct the lines named above")


def arriving(stream: BinaryIO) -> Iterator[list[bytes | None]]:
    """Yield the lines that `repro translate` reads as they arrive, without waiting for more.

    Only a line feed ends a line, and one at the very end starts no empty line. A line that is too
    long is None.
    """
    rest, is_too_long = b"", False
    # the buffer of standard input has this method
    while chunk := stream.read1(CHUNK):  # type: ignore[attr-defined]
        first, *others = (rest + chunk).split(b"\n")
        if others:
            *middle, rest = others
            yield [None if is_too_long or len(first) > LONGEST_LINE else first, *middle]
            is_too_long = False
        else:
            rest = first
        if len(rest) > LONGEST_LINE:
            rest, is_too_long = b"", True
    if rest or is_too_long:
        yield [None if is_too_long else rest]


@dataclass
class _Work:
    """Translate lines in the order of their arrival, and count those to be reported."""

    translator: "Translator"
    search: "SearchConfig"
    total: int = 0
    refused: int = 0
    cleaned: int = 0
    cut: int = 0
    unknown: int = 0

    def translate(self, lines: list[bytes | None]) -> list[str]:
        """Return the translation of each line, an empty one where it cannot be translated."""
        from repro.core.subwords import UNK_ID

        texts = [
            self._read(line, number) for number, line in enumerate(lines, start=self.total + 1)
        ]
        encoded = self.translator.encode(texts)  # once: long lines take time
        for place, ids in enumerate(encoded):
            if why := self._too_long(len(ids), self.total + place + 1):
                self._refuse(why)
                encoded[place] = []
        self.unknown += sum(UNK_ID in ids for ids in encoded)
        hypotheses: list[Hypothesis] = self.translator.search_ids(encoded, self.search)
        self.total, self.cut = (
            self.total + len(lines),
            self.cut + sum(hypothesis.cut for hypothesis in hypotheses),
        )
        return self.translator.texts(hypotheses)

    def notes(self) -> list[str]:
        """Return what a reader of the output should know."""
        counts = {
            (
                f"{self.cleaned:,} of {self.total:,} lines held invisible or control characters; "
                "they were taken out"
            ): self.cleaned,
            (
                f"{self.unknown:,} of {self.total:,} lines hold characters that the model has "
                "never seen"
            ): self.unknown,
            (
                f"{self.cut:,} of {self.total:,} translations would have gone on; they were cut "
                "at the limit of their length"
            ): self.cut,
        }
        return [note for note, count in counts.items() if count]

    def _read(self, line: bytes | None, number: int) -> str:
        """Return the text of a line; report a line that is not text, and return an empty text."""

        where = f"standard input:{number}"
        if line is None:
            self._refuse(
                InputError(
                    where, f"has more than {LONGEST_LINE:,} bytes", "put a sentence on a line"
                )
            )
            return ""
        if number == 1:
            _check_start(line, where)
            line = line.removeprefix(BOM)
        try:
            text = line.removesuffix(b"\r").decode()
        except UnicodeDecodeError as error:
            what = f"byte 0x{line[error.start]:02X} is not UTF-8"
            self._refuse(
                InputError(where, what, "convert the text, for example: iconv -f latin1 -t utf8")
            )
            return ""
        self.cleaned += bool(find_faults(text))
        return text

    def _too_long(self, count: int, number: int) -> InputError | None:
        """Return the error of a line with too many tokens, or None."""
        try:
            self.translator.check_tokens(count, f"standard input:{number}")
        except InputError as error:
            return error
        return None

    def _refuse(self, error: InputError) -> None:
        """Count a line that is not translated; print the first errors."""
        self.refused += 1
        if self.refused <= MOST_TOLD:
            click.echo(f"{error}", err=True)
        elif self.refused == MOST_TOLD + 1:
            click.echo("further ones are counted only", err=True)


def _check_start(line: bytes, where: str) -> None:
    """Refuse standard input of `repro translate` that is not text.

    Raises:
        InputError: its first bytes are of UTF-16 or gzip.
    """

    if utf16 := guess_utf16(line):  # some of it can be read as UTF-8, with a zero after each letter
        raise InputError(
            where, f"byte 0x{line[0]:02X} starts {utf16}, not UTF-8", f"iconv -f {utf16} -t UTF-8"
        )
    if line.startswith(GZIP_SIGNATURE):
        raise InputError(where, "is compressed with gzip, not text", "zcat it into the command")
