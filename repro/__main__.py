"""The command line. Arguments are checked before torch is imported, so that a mistake is answered at once."""

import sys
import tempfile
import traceback
from pathlib import Path

import click

from repro.errors import InputError, ReproError

OUR_BUG = 70


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def cli(debug: bool) -> None:
    """Simplified attention in machine translation: train, translate, compare.

    \b
    A first tour, a few minutes on two cores:
      repro variants                               what there is
      repro data minigerman                        the corpus that is generated here
      repro train --scale smoke --variant base     a small Transformer
      repro train --scale smoke --variant hc-sa    the same with hard-coded self-attention
      repro compare base hc-sa                     do they differ by more than chance?

    RUN is a run's folder, or the beginning of its name in the folder of runs (REPRO_RUNS, default: runs).
    Real corpora are read from the folder REPRO_DATA, else from the Hugging Face Hub.
    """


@cli.command()
def variants() -> None:
    """List the systems of the papers and the attention variants they are made of."""
    from repro.catalogue import list_systems, list_variants

    click.echo("Systems (repro train --variant NAME):\n" + list_systems())
    click.echo("\nAttention variants (at a site: model.encoder_self=NAME, model.decoder_self=NAME, model.cross=NAME):\n" + list_variants())


@cli.command()
@click.argument("name")
@click.option("--direction", metavar="SRC-TGT", help="Languages, for example en-de; default: the first two of the corpus.")
def data(name: str, direction: str | None) -> None:
    """Load the corpus NAME and print its statistics (the columns of Table 1 of You et al. 2020) and what was found amiss.

    NAME is a known corpus, or local:FOLDER with your own files (train.en, train.de, dev.en, ...; TSV, JSONL or WIT3 XML).
    """
    from repro.data.corpora import load_corpus
    from repro.scales import split_direction

    languages = split_direction(direction) if direction else (None, None)
    corpus = load_corpus(name, *languages)
    source, target = languages if direction else corpus.languages[:2]
    statistics = corpus.statistics(source, target)
    click.echo(f"{name}, {source} to {target}")
    for split in corpus.splits:
        click.echo(f"  {split:<18} {len(corpus[split]):>9,} pairs")
    click.echo(f"  mean length        {statistics.source_length:>9.1f} {source} words, {statistics.target_length:.1f} {target} words")
    for reason, count in sorted(corpus.dropped.items()):
        click.echo(f"  left out           {count:>9,} pairs: {reason}")
    for leak in corpus.leaks:
        click.echo(f"  overlap            {leak}")
    for note in corpus.notes:
        click.echo(f"  note               {note}")
    click.echo(f"  fingerprint        {corpus.fingerprint}")


@cli.command()
@click.option("--scale", default="smoke", show_default=True, help="Corpus, shape and schedule: smoke, multi30k, tatoeba, enja, iwslt16.")
@click.option("--variant", default="base", show_default=True, help="A system of the papers; `repro variants` lists them.")
@click.option("--direction", metavar="SRC-TGT", help="For example de-en; default: the scale's.")
@click.option("--seed", default=1, show_default=True)
@click.option("--device", help="cpu or cuda; default: the GPU if there is one.")
@click.option("--allow-inexact", is_flag=True, help="Resume although device, threads or torch changed; the results say so.")
@click.argument("overrides", nargs=-1, metavar="[KEY=VALUE]...")
def train(scale, variant, direction, seed, device, allow_inexact, overrides) -> None:
    """Train a run, or go on where it was left; a finished run is not trained again.

    KEY=VALUE changes an option of the scale: train.max_updates=100, model.dropout=0.2,
    'model.encoder_self=gaussian(std=0.5)', data.corpus=local:my/folder.
    """
    from repro.attention import parse_layers
    from repro.config import SITES
    from repro.data.corpora import check_languages
    from repro.scales import resolve

    config = resolve(scale, variant, direction, seed, overrides)
    for site in SITES:
        num_layers = config.model.encoder_layers if site == "encoder_self" else config.model.decoder_layers
        parse_layers(getattr(config.model, site), num_layers, f"model.{site}")
    check_languages(config.data.corpus, config.data.source, config.data.target)

    from repro.runs import load_state
    from repro.training import Stopped
    from repro.training import train as train_run

    try:
        run = train_run(config, device=device, allow_inexact=allow_inexact, quiet=not sys.stderr.isatty())
    except Stopped as stopped:
        click.echo(str(stopped), err=True)
        sys.exit(stopped.exit_code)
    state = load_state(run.path / "final")
    click.echo(f"{state['update']:,} updates, {state['seconds'] / 60:.1f} minutes, dev loss {state['best_dev_nll']:.3f} nats per token")
    click.echo(run.path)


@cli.command()
@click.argument("systems", nargs=-1, required=True)
@click.option("--scale", default="smoke", show_default=True, help="Corpus, shape and schedule: smoke, multi30k, tatoeba, enja, iwslt16.")
@click.option("--direction", metavar="SRC-TGT", help="For example de-en; default: the scale's.")
@click.option("--seeds", default=1, show_default=True, help="Train each system with the seeds 1 .. N.")
@click.option("--jobs", default=2, show_default=True, help="Runs at a time.")
@click.option("--split", default="test", show_default=True)
@click.option("--record", type=click.Path(path_type=Path), help="Also write the result records below this folder.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("reports/run.md"), show_default=True)
def run(systems, scale, direction, seeds, jobs, split, record, out) -> None:
    """Train and evaluate SYSTEMS (or `all`), several at a time, and write a report. What is finished is not made again.

    Differences in the report are to the first system.
    """
    from repro.scales import SYSTEMS, resolve

    names = list(SYSTEMS) if systems == ("all",) else list(dict.fromkeys(systems))
    configs = [resolve(scale, name, direction, seed) for name in names for seed in range(1, seeds + 1)]

    from repro.files import write_atomic
    from repro.jobs import run_all
    from repro.records import publish
    from repro.report import render
    from repro.training import Stopped

    try:
        outcomes = run_all(configs, jobs, split, lambda line: click.echo(line, err=True))
    except Stopped as stopped:
        click.echo("stopped; the same command goes on where the runs were", err=True)
        sys.exit(stopped.exit_code)
    records = [outcome for outcome in outcomes if not isinstance(outcome, ReproError)]
    if record:
        for result in records:
            publish(result, record)
    if records:
        write_atomic(out, render(records).encode())
        click.echo(out)
    failed = [outcome for outcome in outcomes if isinstance(outcome, ReproError)]
    if failed:
        raise failed[0]


def _search_options(command):
    """Add the options of the search to a command."""
    command = click.option("--beam", default=5, show_default=True, help="Prefixes kept per sentence; 1 is greedy search.")(command)
    command = click.option("--alpha", default=1.0, show_default=True, help="Strength of the length penalty; 0 is none.")(command)
    return click.option(
        "--penalty", default="length", show_default=True, type=click.Choice(["length", "wu"]), help="length^alpha, or Wu et al. 2016."
    )(command)


@cli.command()
@click.argument("run")
@click.option("--int8", is_flag=True, help="Multiply in 8-bit integers: faster on a CPU, nearly always the same words.")
@_search_options
def translate(run: str, int8: bool, beam: int, alpha: float, penalty: str) -> None:
    """Translate standard input to standard output, a sentence a line, with the model of RUN."""
    from repro.runs import Run

    found = Run.find(run)

    from repro.decoding import SearchConfig, Translator

    search = SearchConfig(beam=beam, alpha=alpha, penalty=penalty)
    translator = Translator.from_run(found, "cpu").quantized() if int8 else Translator.from_run(found)
    for lines in _line_chunks(sys.stdin.buffer):
        click.echo("\n".join(translator.translate(lines, search)))


def _line_chunks(stream, size: int = 1000):
    """Yield lists of lines; only a line feed ends a line, and one at the very end starts no empty line."""
    lines = []
    for number, raw in enumerate(stream, start=1):
        try:
            lines.append(raw.removesuffix(b"\n").removesuffix(b"\r").decode())
        except UnicodeDecodeError as error:
            what = f"byte 0x{raw[error.start]:02X} is not UTF-8"
            raise InputError(f"standard input:{number}", what, "convert the text, for example: iconv -f latin1 -t utf8") from error
        if len(lines) == size:
            yield lines
            lines = []
    if lines:
        yield lines


@cli.command()
@click.argument("run")
@click.option("--split", default="test", show_default=True, help="test, dev, or a further test set of the corpus.")
@click.option("--record", type=click.Path(path_type=Path), help="Also write the result record below this folder.")
@_search_options
def evaluate(run: str, split: str, record: Path | None, beam: int, alpha: float, penalty: str) -> None:
    """Translate a test set with the model of RUN and print scores with their signatures."""
    from repro.runs import Run

    found = Run.find(run)

    from repro.decoding import SearchConfig
    from repro.records import evaluate_run, publish

    result = evaluate_run(found, split, SearchConfig(beam=beam, alpha=alpha, penalty=penalty), quiet=not sys.stderr.isatty())
    for score in result["scores"]:
        click.echo(f"{score['value']:7.2f}  {score['name']}  {score['signature']}")
    click.echo(f"{result['decoding']['sentences_per_second']:7.1f}  sentences/s")
    if record:
        click.echo(publish(result, record))


@cli.command()
@click.argument("first")
@click.argument("second")
@click.option("--split", default="test", show_default=True)
@_search_options
def compare(first: str, second: str, split: str, beam: int, alpha: float, penalty: str) -> None:
    """Say by how much SECOND is better than FIRST on the same sentences: difference, 95 % interval, p (paired bootstrap)."""
    from repro.runs import Run

    runs = [Run.find(first), Run.find(second)]

    from repro.decoding import SearchConfig
    from repro.evaluation import paired_bootstrap
    from repro.records import evaluate_run
    from repro.report import check_comparable, references_of

    search = SearchConfig(beam=beam, alpha=alpha, penalty=penalty)
    records = [evaluate_run(run, split, search, quiet=not sys.stderr.isatty()) for run in runs]
    check_comparable(records)
    target = records[0]["config"]["data"]["target"]
    click.echo(f"{records[1]['run']} against {records[0]['run']}, {split}")
    for result in paired_bootstrap(records[0]["hypotheses"], records[1]["hypotheses"], references_of(records[0]), target):
        click.echo(
            f"{result.metric}: {result.second:.2f} - {result.first:.2f} = {result.difference:+.2f}, "
            f"95 % interval {result.low:+.2f} to {result.high:+.2f}, p = {result.p:.3f}  {result.signature}"
        )


@cli.command()
@click.argument("runs", nargs=-1, required=True)
@click.option("--split", default="test", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), default=Path("reports/report.md"), show_default=True)
def report(runs: tuple[str, ...], split: str, out: Path) -> None:
    """Write a Markdown report on RUNS: scores, costs, differences, examples. The last line printed is its path."""
    from repro.runs import Run

    found = [Run.find(run) for run in runs]

    from repro.files import write_atomic
    from repro.records import evaluate_run
    from repro.report import render, scores_table

    records = [evaluate_run(run, split, quiet=not sys.stderr.isatty()) for run in found]
    write_atomic(out, render(records).encode())
    click.echo(scores_table(records))
    for score in records[0]["scores"]:
        click.echo(f"{score['name']}: {score['signature']}")
    click.echo(out)


@cli.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path), default=Path("results"))
def results(folder: Path) -> None:
    """Print the tables of the records stored below FOLDER, published scores beside; needs no corpus and no model."""
    from repro.records import load_records
    from repro.report import render_results

    click.echo("# Stored results\n\nGenerated from the records in this folder by `repro results`; nothing here is typed in.\n")
    click.echo(render_results(load_records(folder)), nl=False)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; an error is one line, and a traceback is kept in a file unless --debug asks to see it."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        cli.main(arguments, prog_name="repro")
    except ReproError as error:
        if "--debug" in arguments:
            raise
        click.echo(f"error: {error}", err=True)
        sys.exit(error.exit_code)
    except Exception as error:
        if "--debug" in arguments:
            raise
        with tempfile.NamedTemporaryFile("w", prefix="repro-bug-", suffix=".txt", delete=False) as file:
            traceback.print_exc(file=file)
        click.echo(f"error: a bug in repro: {type(error).__name__}: {error}. The traceback is in {file.name}; please report it", err=True)
        sys.exit(OUR_BUG)


if __name__ == "__main__":
    main()
