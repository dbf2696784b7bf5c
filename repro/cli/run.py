"""The command run: train and measure what papers and systems need."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repro.claims.settings import Setting
from repro.cli.options import (
    RESULTS,
    SCALE,
    WHOLE_NUMBER,
    check_report,
    check_translates,
    corpora_of,
    damage_named,
    given_once,
)
from repro.cli.timing import announce_hours
from repro.core.config import DataConfig
from repro.data.corpora import load_pairs
from repro.data.own_text import own_folder
from repro.errors import InputError, MachineError, ReproError, Stopped, did_you_mean, shortened
from repro.files import check_writable
from repro.presets import SYSTEMS, resolve
from repro.runs.jobs import HandOut, check_jobs, run_all
from repro.runs.naming import run_name, system_of
from repro.runs.overview import rename
from repro.runs.run import Run

if TYPE_CHECKING:
    from repro.claims.evidence import Evidence, Record
    from repro.papers import Experiment, Paper
    from repro.papers.report import Section
    from repro.papers.runner import Plan

MOST_SEEDS = 1000  # of one command: more are a typing mistake


@click.command(short_help="Train and measure what papers or systems need.")
@click.argument("names", nargs=-1, required=True, metavar="NAMES... [KEY=VALUE]...")
@SCALE
@click.option(
    "--seeds", type=WHOLE_NUMBER, default=1, show_default=True, help="Train with the seeds 1 .. N."
)
@click.option(
    "--jobs",
    type=WHOLE_NUMBER,
    default=2,
    show_default=True,
    help="Runs at a time, on each machine.",
)
@click.option(
    "--split",
    "splits",
    multiple=True,
    help="Score on this test set, too, as in `repro evaluate`; may be given again.",
)
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Use a Ray cluster, such as auto, or all GPUs of this machine: local.",
)
@RESULTS
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("reports/run.md"),
    show_default=True,
    help="File for the tables, in Markdown.",
)
@click.option(
    "--name",
    metavar="NAME",
    help="A name of your own for the run of one system, as in `repro runs`; with --seeds, NAME-1, "
    "NAME-2 and so on.",
)
@click.option(
    "--dry-run", is_flag=True, help="Say what is missing and how long it will take, and do nothing."
)
def run(names, scale, seeds, jobs, splits, cluster, results, out, name, dry_run) -> None:
    """Train and measure what NAMES need and is not in the results yet; write tables and verdicts.

    A NAME is a paper (you2020), an experiment (you2020.table2), a system of `repro variants`
    (hc-sa), or `all`: every experiment of every paper. Runs are shared, and resume where they
    stopped. What has a record is done, even if its run is not on this machine; a further test set
    or measure then trains that run again. KEY=VALUE changes an option for the systems, as in
    `repro train`.

    \b
      repro run you2020.table2 --dry-run
      repro run base hc-sa --seeds 3 model.dropout=0.2
      repro run hc-sa --name first train.warmup=50
      repro run all --scale my.toml --results mine
    """
    if not dry_run:
        check_report(out)

    from repro.claims.evidence import Evidence
    from repro.papers.runner import execute_plan, of_this_code, plan
    from repro.records.stored import load_records, of_this_text

    systems, experiments, overrides = _asked_for(names, scale)
    _check_numbers(seeds, jobs)
    if name is not None and (experiments or len(systems) != 1):
        what = f"is for the runs of one system, and {' '.join(names)} is more"
        raise InputError("--name", what, "name one system, or `repro runs RUN --name NAME` later")
    data = _check_splits(scale, overrides, splits)
    settings = [
        *systems,
        *(
            setting
            for _, experiment in experiments
            if experiment.runs_at(scale)
            for setting in experiment.settings
        ),
    ]
    corpora = corpora_of(scale, settings)

    def stored() -> "list[Record]":
        if not results.is_dir():  # before the first run
            return []
        models = {setting.config(scale).model for setting in settings}
        return of_this_code(of_this_text(load_records(results, None, corpora), data), models)

    known = stored()
    missing = plan(
        [experiment for _, experiment in experiments],
        Evidence(scale, known),
        seeds,
        systems,
        splits,
    )
    _check_models(missing, overrides)
    if not dry_run and (missing.trainings or missing.num_measurements()):
        check_writable(results)
    if not dry_run:
        _check_parser(missing)
        missing = _with_word_senses(missing)
    lacking = _lacking_text(missing)
    if lacking and not dry_run:
        raise lacking
    _announce_work(missing, known, jobs, results, dry_run)
    if lacking:
        click.echo(f"cannot be trained yet: {lacking}", err=True)
    if dry_run:
        if not lacking:
            announce_hours(missing, known)
        return _list_trainings(missing)

    from repro.papers.pages import write_report

    if name is not None:
        _name_runs(missing, name, seeds)
    try:
        errors = execute_plan(
            missing, results, jobs, lambda line: click.echo(line, err=True), _workers(cluster)
        )
    except Stopped as stopped:
        click.echo("stopped; the same command goes on where the runs were", err=True)
        sys.exit(stopped.exit_code)
    with damage_named(results):
        parts = _experiment_tables(
            experiments, systems, seeds, splits, Evidence(scale, stored()), results
        )
        for path in (
            reversed(write_report(parts, f"repro: {' '.join(names)} at {scale}", out))
            if parts
            else ()
        ):
            click.echo(path)
    if errors:
        raise errors[0]


def _asked_for(
    names: Sequence[str], scale: str
) -> "tuple[list[Setting], list[tuple[Paper, Experiment]], tuple[str, ...]]":
    """Return what the NAMES of `repro run` are: systems, experiments and overrides."""
    from repro.papers import PAPERS, find_experiments

    overrides = given_once([name for name in names if "=" in name])
    for name in names:
        if name not in (*overrides, *SYSTEMS, "all") and name.partition(".")[0] not in PAPERS:
            named = [
                f"{paper.name}.{experiment.name}"
                for paper, experiment in find_experiments("all")
                if experiment.name == name
            ]
            fix = (
                f"write {' or '.join(named)}"
                if named
                else did_you_mean(name, ["all", *PAPERS, *SYSTEMS])
            )
            raise InputError(name, "is not a paper, experiment or system", fix)
    systems = [Setting(name, overrides) for name in dict.fromkeys(names) if name in SYSTEMS]
    others = [
        name for name in dict.fromkeys(names) if name not in SYSTEMS and name not in overrides
    ]
    experiments = [found for name in others for found in find_experiments(name)]
    if experiments:
        check_translates(scale)
    if overrides and (experiments or not systems):
        raise InputError(
            " ".join(overrides),
            "is for systems; an experiment has its own settings",
            "name systems alone, such as base",
        )
    if seeded := [override for override in overrides if override.startswith("train.seed=")]:
        raise InputError(
            seeded[0], "would make one run of all seeds", "use --seeds, which trains with 1 .. N"
        )
    return systems, experiments, overrides


def _check_numbers(seeds: int, jobs: int) -> None:
    """Refuse numbers of seeds and jobs that `repro run` cannot mean."""
    if not 1 <= seeds <= MOST_SEEDS:
        raise InputError(
            "--seeds",
            f"must be from 1 to {MOST_SEEDS}, found {seeds}",
            "use 3, or 1 for a first look",
        )
    check_jobs(jobs)


def _check_splits(scale: str, overrides: tuple[str, ...], splits: Sequence[str]) -> "DataConfig":
    """Return the corpus of `repro run`; refuse a missing test set before hours of training."""

    data = resolve(scale, overrides=overrides).data
    for split in (*splits, *(["test"] if overrides else [])):
        if not load_pairs(data.corpus, data.source, data.target, split)[0]:
            raise InputError(
                f"{data.corpus} {split}", "is empty", "put sentences there to score the systems on"
            )
    return data


def _lacking_text(missing: "Plan") -> ReproError | None:
    """Return the error of a text that `repro run` cannot read; None if all is there."""

    texts = {
        config.data.corpus: config.data for config in [*missing.trainings, *missing.trained_again()]
    }
    for data in texts.values():
        for split in ("train", "dev"):
            try:
                load_pairs(data.corpus, data.source, data.target, split)
            except ReproError as error:
                return error
    return None


def _check_models(missing: "Plan", overrides: tuple[str, ...]) -> None:
    """Refuse an unknown variant or option once, before every worker does.

    The options of experiments are known.
    """
    if overrides:
        from repro.core.transformer import Transformer

        for config in missing.trainings:
            Transformer(config.model, vocab_size=1, pad_id=0, length_ratio=1.0)


def _check_parser(missing: "Plan") -> None:
    """Refuse, or for your own text say, that a parser is not there, before hours of training."""
    parsed = [
        config.data
        for config, kind in missing.measures
        if kind == "heads" and config.data.corpus != "minigerman"
    ]
    if parsed:
        from repro.measures.heads import NO_PARSER, find_treebank

        if find_treebank(parsed[0], "dev", ()) is None and parsed[0].source == "en":
            click.echo(NO_PARSER, err=True)


def _with_word_senses(missing: "Plan") -> "Plan":
    """Refuse a lack of MuCoW before hours of training; leave it out of plans on your own text."""
    from repro.measures.contrastive import load_mucow, wants_mucow

    wanting = [
        (config, kind)
        for config, kind in missing.measures
        if kind == "contrastive" and wants_mucow(config.data)
    ]
    if not wanting:
        return missing
    try:
        load_mucow()
    except MachineError as absent:
        if not own_folder(wanting[0][0].data.corpus):
            raise
        click.echo(f"into English, without contrastive pairs: {absent}", err=True)
        rest = [measured for measured in missing.measures if measured not in wanting]
        return replace(missing, measures=rest)
    return missing


def _announce_work(
    missing: "Plan", known: "Iterable[Record]", jobs: int, results: Path, dry_run: bool
) -> None:
    """Print the amount of work on standard error, and its duration if similar runs are known.

    If none are, name the systems, and what would list the runs and time them beforehand.
    """
    from repro.papers.runner import estimate_minutes

    minutes, again = estimate_minutes(missing, known, jobs), len(missing.trained_again())
    counts = f"{len(missing.trainings)} run{'' if len(missing.trainings) == 1 else 's'} to train, "
    counts += f"{again} to train again, " * bool(again) + f"{missing.num_measurements()} to measure"
    if not missing.trainings and not missing.num_measurements():
        ending = f"{results} has it all; --results with a folder of your own trains it here"
    else:
        ending = (
            f"training about {minutes:.0f} minutes"
            if minutes is not None
            else "no stored run tells how long"
        )
    click.echo(f"{counts}; {ending}", err=True)
    configs = [*missing.trainings, *missing.trained_again()]
    if configs and minutes is None and not dry_run:
        systems = dict.fromkeys(system_of(config.model) for config in configs)
        click.echo(
            f"to train: {shortened(', '.join(systems), 60)}; --dry-run lists the runs and the "
            "hours without training",
            err=True,
        )


def _name_runs(missing: "Plan", name: str, seeds: int) -> None:
    """Give the runs that `repro run` will train names of one's own."""
    if not missing.trainings:
        raise InputError(
            "--name", "there is no run to train", "name it: repro runs RUN --name NAME"
        )
    for config in missing.trainings:
        rename(Run.create(config), f"{name}-{config.train.seed}" if seeds > 1 else name)


def _list_trainings(missing: "Plan") -> None:
    """Print the name of every run that `repro run` would train."""
    for config in [*missing.trainings, *missing.trained_again()]:
        click.echo(run_name(config))


def _workers(cluster: str | None) -> "HandOut":
    """Return the function that gives the runs of `repro run` to processes or to Ray."""

    if cluster is None:
        return run_all
    from repro.runs.cluster import run_all_on_cluster

    return partial(run_all_on_cluster, cluster)


def _experiment_tables(
    experiments: "list[tuple[Paper, Experiment]]",
    systems: "list[Setting]",
    seeds: int,
    splits: Sequence[str],
    evidence: "Evidence",
    results: Path,
) -> "list[Section]":
    """Return the tables that `repro run` writes: experiments, then scores by test set."""
    from repro.papers.report import Section, experiments_sections
    from repro.records.report import render

    parts = experiments_sections(experiments, evidence, results) if experiments else []
    for split in dict.fromkeys(("test", *splits)):
        scored = [
            record
            for setting in systems
            for seed in range(1, seeds + 1)
            for record in evidence.find("scores", setting, seed, split=split)
        ]
        parts += [Section(render(scored).rstrip(), {}, f"systems.{split}")] if scored else []
    return parts
