"""Cut one file of sentence pairs into train, dev and test."""

from pathlib import Path

import click

from repro.cli.options import WHOLE_NUMBER
from repro.data.formats import read_columns
from repro.data.leaks import leak_free_split
from repro.data.text import MAX_CHARS, TextLines, read_lines
from repro.errors import InputError
from repro.files import check_writable, write_atomic
from repro.presets import split_direction

COLUMNS = 10  # a line may have further ones, such as Tatoeba's authors


@click.command(short_help="Cut one file of pairs into train, dev and test.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--direction", metavar="SRC-TGT", required=True, help="Its first two columns: en-fr.")
@click.option("--dev", type=WHOLE_NUMBER, default=1000, show_default=True, help="Pairs of dev.")
@click.option("--test", type=WHOLE_NUMBER, default=1000, show_default=True, help="Pairs of test.")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="New folder."
)
def split(file: Path, direction: str, dev: int, test: int, out: Path) -> None:
    """Cut FILE, which has a pair of sentences a line with a tab between them, into a corpus.

    No sentence of dev or test is also in train, on either side. Pairs with an empty side and
    repeated pairs are left out. A first line that names the two languages is a header; without
    one, the columns are those of --direction. The cut depends on the texts alone.

    \b
      repro split fra.txt --direction en-fr --out plain
      repro data local:plain --direction en-fr
    """
    source, target = split_direction(direction)
    if min(dev, test) < 1:
        raise InputError("--dev", f"and --test are {dev} and {test}", "use 1 or more of each")
    if out.exists() and any(out.iterdir()):
        raise InputError(str(out), "is not empty", "name a new folder")
    check_writable(out)
    columns = _columns(read_lines(file, COLUMNS * MAX_CHARS), source, target)
    pairs = dict.fromkeys(
        pair for pair in zip(*columns.values(), strict=True) if all(side.strip() for side in pair)
    )
    left = len(columns[source]) - len(pairs)
    texts = {source: [pair[0] for pair in pairs], target: [pair[1] for pair in pairs]}
    places = leak_free_split(texts, dev, test)
    if not places["train"]:
        what = f"has {len(pairs):,} pairs, which leave none for train"
        raise InputError(str(file), what, "ask for smaller --dev and --test")
    for name, of_split in places.items():
        for language, lines in texts.items():
            text = "".join(f"{lines[place]}\n" for place in of_split)
            write_atomic(out / f"{name}.{language}", text.encode())
    counts = ", ".join(f"{name} {len(of_split):,}" for name, of_split in places.items())
    click.echo(f"{counts} pairs; left out {left:,} that are repeated or empty")
    click.echo(f"data.corpus=local:{out}")


def _columns(table: TextLines, source: str, target: str) -> dict[str, list[str]]:
    """Return the two sides of a table, by its header if it has one."""
    header = table.lines[0].split("\t") if table.lines else []
    if {source, target} <= set(header):
        names, skipped = header, 1
    else:
        names, skipped = [source, target], 0
    read = read_columns(table, names, MAX_CHARS)
    return {language: read[language].lines[skipped:] for language in (source, target)}
