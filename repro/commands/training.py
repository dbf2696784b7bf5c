"""See what there is, train, translate."""

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from repro.commands.options import SCALE, WHOLE_NUMBER, check_not_beside, given_once, no_progress, search_options
from repro.errors import InputError
from repro.files import check_plain, check_writable

if TYPE_CHECKING:
    from repro.decoding import Translator


@click.command(short_help="List systems, attention variants and scales.")
def variants() -> None:
    """List the systems of the papers, the attention variants they are made of, and the scales: corpus, shape and length of training."""
    from repro.catalogue import list_scales, list_systems, list_variants

    click.echo("Systems (repro train --variant NAME):\n" + list_systems())
    click.echo("\nAttention variants (at a site: model.encoder_self=NAME, model.decoder_self=NAME, model.cross=NAME):\n" + list_variants())
    click.echo("\nScales (repro train --scale NAME, and --scale of other commands):\n" + list_scales())


@click.command(short_help="Load a corpus and print its statistics.")
@click.argument("name")
@click.option("--direction", metavar="SRC-TGT", help="Languages, for example en-de; default: the first two of the corpus.")
@click.option(
    "--skipped", type=click.Path(path_type=Path), help="Write the pairs that were left out to this file: split, file, line, reason."
)
def data(name: str, direction: str | None, skipped: Path | None) -> None:
    """Load the corpus NAME and print its statistics (the columns of Table 1 of You et al. 2020) and what was found amiss.

    NAME is a known corpus, or local:FOLDER with your own files (train.en, train.de, dev.en, ...; TSV, JSONL or WIT3 XML). Sentences of
    dev or test that are in train are an error there; local-drop-leaks:FOLDER leaves them out of train, local-allow-leaks:FOLDER counts
    them. What was done is part of the name, in training too (data.corpus=local-drop-leaks:FOLDER), and so stands in every result.
    """
    from repro.data.corpora import load_corpus
    from repro.scales import split_direction

    if skipped:  # before the corpus is read, not after
        check_plain(skipped)
        check_writable(skipped.parent)
    languages = split_direction(direction) if direction else None
    corpus = load_corpus(name, *languages) if languages else load_corpus(name)
    source, target = languages or corpus.languages[:2]
    statistics = corpus.statistics(source, target)
    if skipped:
        corpus.write_skipped(skipped)
    click.echo(f"{name}, {source} to {target}")
    for split in corpus.splits:
        click.echo(f"  {split:<18} {len(corpus[split]):>9,} pairs")
    click.echo(f"  mean length        {statistics.source_length:>9.1f} {source} words, {statistics.target_length:.1f} {target} words")
    for reason, count in sorted(corpus.dropped.items()):
        click.echo(f"  left out           {count:>9,} pairs: {reason}")
    for leak in corpus.leaks:
        click.echo(f"  overlap            {corpus.describe(leak)}")
    for note in corpus.notes:
        click.echo(f"  note               {note}")
    click.echo(f"  fingerprint        {corpus.fingerprint}")
    if skipped:
        click.echo(f"  left out, in full  {skipped}")


@click.command(short_help="Train a run, or go on where it was left.")
@SCALE
@click.option("--variant", default="base", show_default=True, help="A system of the papers; `repro variants` lists them.")
@click.option("--direction", metavar="SRC-TGT", help="For example de-en; default: the scale's.")
@click.option("--seed", type=WHOLE_NUMBER, default=1, show_default=True, help="Of first parameters, order of the data and dropout.")
@click.option("--device", help="cpu or cuda; default: the GPU if there is one.")
@click.option("--allow-inexact", is_flag=True, help="Resume although data, device, libraries or code changed; the results say so.")
@click.argument("overrides", nargs=-1, metavar="[KEY=VALUE]...")
def train(scale, variant, direction, seed, device, allow_inexact, overrides) -> None:
    """Train a run, or go on where it was left; a finished run is not trained again.

    KEY=VALUE changes an option of the scale: train.max_updates=100, model.dropout=0.2,
    'model.encoder_self=gaussian(std=0.5)', data.corpus=local:my/folder.
    """
    from repro.attention import VARIANTS, layers_of
    from repro.data.corpora import check_languages
    from repro.scales import SYSTEMS, resolve

    if variant.partition("(")[0] in VARIANTS and variant not in SYSTEMS:
        mend = f"say at which site, as in 'model.encoder_self={variant}'"
        raise InputError("--variant", f"'{variant}' is an attention variant, no system of the papers", mend)
    check_not_beside("seed", ("train.seed",), overrides)
    check_not_beside("direction", ("data.source", "data.target"), overrides)
    config = resolve(scale, variant, direction, seed, given_once(overrides))
    layers_of(config.model)  # which refuses what is no variant
    check_languages(config.data.corpus, config.data.source, config.data.target)

    from repro.tensors import load_state
    from repro.training import train as train_run

    run = train_run(config, device=device, allow_inexact=allow_inexact, quiet=no_progress())
    state = load_state(run.path / "final")
    click.echo(f"{state['update']:,} updates, {state['seconds'] / 60:.1f} minutes, dev loss {state['best_dev_nll']:.3f} nats per token")
    click.echo(run.path)


@click.command(short_help="Translate sentences from standard input.")
@click.argument("run")
@click.option(
    "--int8",
    is_flag=True,
    help="Multiply in 8-bit integers: faster for wide models; a word changes here and there, also with the lines beside it.",
)
@search_options
def translate(run: str, int8: bool, beam: int, alpha: float, penalty: Literal["length", "wu"]) -> None:
    """Translate standard input to standard output, a sentence a line, with the model of RUN."""
    from repro.runs import Run

    found = Run.find(run)

    from repro.decoding import SearchConfig, Translator

    search = SearchConfig(beam=beam, alpha=alpha, penalty=penalty)
    translator = Translator.from_run(found, "cpu").quantized() if int8 else Translator.from_run(found)
    if sys.stdin is None:
        raise InputError("standard input", "is closed", "pipe sentences into the command, a sentence a line")
    total = cut = 0
    for lines in _line_chunks(sys.stdin.buffer, partial(_read_line, found.config.data.corpus, translator)):
        hypotheses = translator.search(lines, search)
        click.echo("\n".join(translator.texts(hypotheses)))
        total, cut = total + len(lines), cut + sum(hypothesis.cut for hypothesis in hypotheses)
    if cut:
        click.echo(f"{cut:,} of {total:,} translations would have gone on; they were cut at the limit of their length", err=True)


def _line_chunks(stream, read, size: int = 1000):
    """Yield lists of lines as `read` returns them; one that it refuses ends the text, after the lines before it were yielded.

    Only a line feed ends a line, and one at the very end starts no empty line.
    """
    lines, refused = [], None
    for number, raw in enumerate(stream, start=1):
        try:
            lines.append(read(raw, number))
        except InputError as error:
            refused = error
            break
        if len(lines) == size:
            yield lines
            lines = []
    if lines:
        yield lines
    if refused:
        raise refused


def _read_line(corpus: str, translator: "Translator", raw: bytes, number: int) -> str:
    """Return a line of standard input as the models of a corpus read text."""
    from repro.data.corpora import prepare_lines
    from repro.data.text import GZIP_SIGNATURE, utf16_of

    where = f"standard input:{number}"
    if number == 1 and (utf16 := utf16_of(raw)):  # some of it can be read as UTF-8, with a zero after each letter
        raise InputError(where, f"byte 0x{raw[0]:02X} starts {utf16}, not UTF-8", f"iconv -f {utf16} -t UTF-8")
    if number == 1 and raw.startswith(GZIP_SIGNATURE):
        raise InputError(where, "is compressed with gzip, not text", "zcat it into the command")
    try:
        (line,) = prepare_lines(corpus, [raw.removesuffix(b"\n").removesuffix(b"\r").decode()])
    except UnicodeDecodeError as error:
        what = f"byte 0x{raw[error.start]:02X} is not UTF-8"
        raise InputError(where, what, "convert the text, for example: iconv -f latin1 -t utf8") from error
    translator.check_length(line, where)
    return line
