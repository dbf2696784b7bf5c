"""Look at a corpus, and train."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from repro.cli.listing import list_corpora
from repro.cli.options import (
    JSON,
    SCALE,
    WHOLE_NUMBER,
    check_not_beside,
    check_unused,
    given_once,
    no_progress,
    print_json,
)
from repro.core.attention.spec import layers_of
from repro.core.attention.variants import VARIANTS
from repro.data.characters import describe_characters
from repro.data.corpora import check_languages, check_leaks, survey_corpus
from repro.data.parallel import ParallelCorpus, check_skipped
from repro.errors import InputError, MachineError
from repro.files import check_plain, check_writable
from repro.presets import SYSTEMS, resolve, split_direction
from repro.runs.log_lines import LogLines
from repro.runs.overview import overview, rename
from repro.runs.run import Run
from repro.statistics.scripts import is_cut_into_words, unspaced_kind


@click.command(short_help="Load a corpus and print its statistics.")
@click.argument("name", required=False)
@click.option(
    "--direction",
    metavar="SRC-TGT",
    help="Languages, for example en-de; default: the first two of the corpus.",
)
@click.option(
    "--skipped",
    type=click.Path(path_type=Path),
    help="Write the pairs that were left out to this file: split, file, line, reason.",
)
@JSON
def data(name: str | None, direction: str | None, skipped: Path | None, as_json: bool) -> None:
    """Load the corpus NAME and print its statistics and its problems; without NAME, list corpora.

    The statistics are the columns of Table 1 of You et al. 2020. NAME is a known corpus, or
    local:FOLDER with your own files (train.en, train.de, dev.en, ...; TSV, JSONL or WIT3 XML).
    `repro split` makes such a folder from one file.

    Sentences of dev or test that are also in train are an error in your own files, reported below
    the table. local-drop-leaks:FOLDER leaves them out of train; local-allow-leaks:FOLDER counts
    them. References of dev and test are scored as they are. local-clean:FOLDER also removes
    invisible characters from them, and accepts leaks and shifted sides. Training takes the same
    names (data.corpus=local-drop-leaks:FOLDER), and every result carries them.

    \b
      repro data minigerman --direction de-en
      repro data local-drop-leaks:plain --direction en-fr
    """

    if name is None:
        check_unused(["direction", "skipped", "as_json"], "wants the name of a corpus")
        return click.echo(list_corpora())
    if skipped:  # before the corpus is read, not after
        check_plain(skipped)
        check_skipped(skipped)
        check_writable(skipped.parent)
    languages = split_direction(direction) if direction else None
    corpus = survey_corpus(name, *(languages or ()))
    source, target = languages or corpus.languages[:2]
    statistics = corpus.statistics(source, target)
    if skipped:
        corpus.write_skipped(skipped)
    if as_json:
        print_json(_described(corpus, source, target))
        return check_leaks(corpus)
    click.echo(f"{name}, {source} to {target}")
    if ":" not in name:
        record = check_languages(name)
        for title, text in {
            "about": record.about,
            "licence": record.licence,
            "citation": record.citation,
        }.items():
            click.echo(f"  {title:<18} {text}")
    for split, fix in corpus.missing().items():
        click.echo(f"  {split:<18} {'none':>9}{': ' * bool(fix)}{fix}")
    for split in corpus.splits:
        click.echo(f"  {split:<18} {len(corpus[split]):>9,} pairs")
    (first, unit), (second, other) = (
        _mean_length(corpus, language, words)
        for language, words in (
            (source, statistics.source_length),
            (target, statistics.target_length),
        )
    )
    click.echo(f"  mean length        {first:>9.1f} {source} {unit}, {second:.1f} {target} {other}")
    for reason, count in sorted(corpus.dropped.items()):
        click.echo(f"  left out           {count:>9,} pairs: {reason}")
    for leak in corpus.leaks:
        click.echo(f"  overlap            {corpus.describe(leak)}")
    for note in corpus.notes:
        click.echo(f"  note               {note}")
    for split in corpus.splits if "train" in corpus.splits else ():
        if unseen := corpus.unseen_characters(split):
            click.echo(f"  nowhere in train   {split}: {describe_characters(unseen)}")
    click.echo(f"  fingerprint        {corpus.fingerprint}")
    if skipped:
        click.echo(f"  left out, in full  {skipped}")
    check_leaks(corpus)


def _described(corpus: "ParallelCorpus", source: str, target: str) -> dict[str, Any]:
    """Return what the table of a corpus says."""
    return {
        "corpus": corpus.name,
        "source": source,
        "target": target,
        "pairs": {split: len(corpus[split]) for split in corpus.splits},
        "missing": corpus.missing(),
        "left_out": corpus.dropped,
        "overlaps": [corpus.describe(leak) for leak in corpus.leaks],
        "notes": corpus.notes,
        "fingerprint": corpus.fingerprint,
        **asdict(corpus.statistics(source, target)),
    }


def _mean_length(corpus: "ParallelCorpus", language: str, words: float) -> tuple[float, str]:
    """Return the mean sentence length that `repro data` prints, and its unit.

    The unit is characters where blanks do not separate words.
    """
    lines = [
        line
        for split in ("train", "test")
        if split in corpus.splits
        for line in corpus[split].columns[language]
    ]
    kind = unspaced_kind(lines[:1000], language)
    if kind is None or is_cut_into_words(lines[:1000], kind):
        return words, "words"
    return sum(map(len, lines)) / len(lines), "characters"


@click.command(short_help="Train a run, or go on where it was left.")
@SCALE
@click.option(
    "--system",
    "--variant",
    "system",
    default="base",
    show_default=True,
    help="A system of the papers (`repro variants` lists them); --variant is the older name.",
)
@click.option("--direction", metavar="SRC-TGT", help="For example de-en; default: the scale's.")
@click.option(
    "--seed",
    type=WHOLE_NUMBER,
    default=1,
    show_default=True,
    help="Of first parameters, order of the data and dropout.",
)
@click.option("--name", metavar="NAME", help="A name of your own for the run, as in `repro runs`.")
@click.option(
    "--log",
    "logger",
    type=click.Choice(["tensorboard"]),
    help="Also log there, into the run's folder.",
)
@click.option("--device", help="cpu or cuda; default: the GPU if there is one.")
@click.option(
    "--allow-inexact",
    is_flag=True,
    help="Resume although data, device, libraries or code changed; the results say so.",
)
@JSON
@click.argument("overrides", nargs=-1, metavar="[KEY=VALUE]...")
def train(
    scale, system, direction, seed, name, logger, device, allow_inexact, as_json, overrides
) -> None:
    """Train a run, or resume it where it stopped; a finished run is not trained again.

    KEY=VALUE changes an option of the scale: train.max_updates=100, model.dropout=0.2,
    'model.encoder_self=gaussian(std=0.5)', data.corpus=local:my/folder.

    Without a GPU, all cores are used. The environment variable OMP_NUM_THREADS limits them, for
    several runs at a time. With another number of threads, a seed gives another model.

    \b
      repro train --system hc-sa --name first
      repro train --scale my.toml 'model.encoder_self=my.py:alibi(window=3)'
    """

    if system.partition("(")[0] in VARIANTS and system not in SYSTEMS:
        what = f"'{system}' is an attention variant, not a system of the papers"
        raise InputError(
            "--system", what, f"say at which site, as in 'model.encoder_self={system}'"
        )
    check_not_beside("seed", ("train.seed",), overrides)
    check_not_beside("direction", ("data.source", "data.target"), overrides)
    config = resolve(scale, system, direction, seed, given_once(overrides))
    layers_of(config.model)  # refuses an unknown variant
    check_languages(config.data.corpus, config.data.source, config.data.target)

    from repro.measures.scores import dev_loss
    from repro.runs.train import Log
    from repro.runs.train import train as train_run

    logs: list[Log] = [LogLines(config)] if no_progress() else []
    if logger:
        from repro.runs.tensorboard import TensorBoardLog

        logs.append(TensorBoardLog(config))
    if name is not None:
        rename(Run.create(config), name)

    def log(line: dict[str, Any]) -> None:
        for one in logs:
            one(line)

    run = train_run(
        config, device=device, allow_inexact=allow_inexact, quiet=no_progress(), log=log
    )
    state = run.state()
    if as_json:
        return print_json(overview(run) | {"path": str(run.path), "seconds": state["seconds"]})
    best = f"{state['best_dev_nll']:.3f} at its best"
    try:
        loss = f"dev loss {dev_loss(run):.3f} nats per token, {best}"
    except MachineError:  # a finished run needs no corpus
        loss = f"dev loss {best}"
    click.echo(f"{state['update']:,} updates, {state['seconds'] / 60:.1f} minutes, {loss}")
    click.echo(run.path)
