"""Run the papers' experiments, judge their claims, report, verify."""

import sys
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repro.claims.arms import Arm
from repro.cli.options import (
    RESULTS,
    SCALE,
    WHOLE_NUMBER,
    check_report,
    check_results,
    check_translates,
    damage_named,
    given_once,
)
from repro.core.config import DataConfig
from repro.data.corpora import load_pairs
from repro.errors import (
    DamagedFileError,
    InputError,
    MachineError,
    ReproError,
    Stopped,
    did_you_mean,
)
from repro.files import check_writable
from repro.presets import SYSTEMS, resolve
from repro.records.schema import kind_of
from repro.runs.jobs import HandOut, check_jobs, run_all
from repro.runs.naming import run_name

if TYPE_CHECKING:
    from repro.claims.evidence import Evidence, Record
    from repro.papers import Experiment, Paper
    from repro.papers.report import Section
    from repro.papers.runner import Plan

MOST_SEEDS = 1000  # of one command: more are a slip of the finger


@click.command(short_help="List the papers, their experiments and claims.")
@click.argument("name", required=False)
def papers(name: str | None) -> None:
    """List the papers, or the experiments and claims of the paper NAME, or one experiment as `repro run` has it (you2020.table2)."""
    from repro.papers import PAPERS, find_experiments, load_paper

    if name and "." in name:
        for paper, experiment in find_experiments(name):
            click.echo(f"{paper.name}: {paper.title}\n{_experiment_line(paper, experiment)}")
            if experiment.arms:
                click.echo(f"        trains {', '.join(map(str, experiment.arms))}")
        return
    for paper in map(load_paper, [name] if name else PAPERS):
        click.echo(f"{paper.name}: {paper.title}")
        for experiment in paper.experiments if name else ():
            click.echo(_experiment_line(paper, experiment))
        for claim in paper.claims if name else ():
            click.echo(f"  {claim.name}  {claim.statement} (reported: {claim.reported})")
            for condition in claim.conditions:
                click.echo(f"        holds if {condition.describe()}")
        if not name:
            click.echo(
                f"  {len(paper.experiments)} experiments, {len(paper.claims)} claims; repro papers {paper.name} lists them"
            )


def _experiment_line(paper: "Paper", experiment: "Experiment") -> str:
    return f"  {paper.name}.{experiment.name:<10} {experiment.place}: {experiment.title}"


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
    "--dry-run", is_flag=True, help="Say what is missing and how long it will take, and do nothing."
)
def run(names, scale, seeds, jobs, splits, cluster, results, out, dry_run) -> None:
    """Train and measure what NAMES need and is not in the results yet, and write their tables.

    A NAME is a paper (you2020), an experiment (you2020.table2), a system of `repro variants`
    (hc-sa), or `all`: every experiment of every paper. Runs are shared, and go on where they were
    stopped. A record whose run is not on this machine counts as done; a further test set or measure
    of it has the run trained again. KEY=VALUE changes an option for the systems, as in `repro
    train`.
    """
    if not dry_run:
        check_report(out)

    from repro.claims.evidence import Evidence
    from repro.papers.runner import carry_out, plan
    from repro.records.stored import load_records, of_this_text

    systems, experiments, settings = _asked_for(names, scale)
    _check_numbers(seeds, jobs)
    data = _check_splits(scale, settings, splits)
    corpora = _corpora(
        scale,
        [
            *systems,
            *(
                arm
                for _, experiment in experiments
                if experiment.runs_at(scale)
                for arm in experiment.arms
            ),
        ],
    )

    def stored() -> "list[Record]":
        # at first there may be none
        return of_this_text(load_records(results, None, corpora), data) if results.is_dir() else []

    known = stored()
    missing = plan(
        [experiment for _, experiment in experiments],
        Evidence(scale, known),
        seeds,
        systems,
        splits,
    )
    _check_models(missing, settings)
    if not dry_run and (missing.trainings or missing.num_measurements()):
        check_writable(results)
    _announce(missing, known, jobs, results)
    if not dry_run:
        _check_parser(missing)
    if lacking := _lacking_text(missing):
        if not dry_run:
            raise lacking
        click.echo(f"cannot be trained yet: {lacking}", err=True)
    if dry_run:
        return _list_trainings(missing)

    from repro.papers.report import write

    try:
        errors = carry_out(
            missing, results, jobs, lambda line: click.echo(line, err=True), _workers(cluster)
        )
    except Stopped as stopped:
        click.echo("stopped; the same command goes on where the runs were", err=True)
        sys.exit(stopped.exit_code)
    with damage_named(results):
        parts = _tables(experiments, systems, seeds, splits, Evidence(scale, stored()))
        for path in (
            reversed(write(parts, f"repro: {' '.join(names)} at {scale}", out)) if parts else ()
        ):
            click.echo(path)
    if errors:
        raise errors[0]


def _asked_for(
    names: Sequence[str], scale: str
) -> "tuple[list[Arm], list[tuple[Paper, Experiment]], tuple[str, ...]]":
    """Return the systems, the experiments and the settings that are among the names, each once."""
    from repro.papers import PAPERS, find_experiments

    settings = given_once([name for name in names if "=" in name])
    for name in names:
        if name not in (*settings, *SYSTEMS, "all") and name.partition(".")[0] not in PAPERS:
            named = [
                f"{paper.name}.{experiment.name}"
                for paper, experiment in find_experiments("all")
                if experiment.name == name
            ]
            mend = (
                f"write {' or '.join(named)}"
                if named
                else did_you_mean(name, ["all", *PAPERS, *SYSTEMS])
            )
            raise InputError(name, "is no paper, experiment or system", mend)
    systems = [Arm(name, settings) for name in dict.fromkeys(names) if name in SYSTEMS]
    others = [name for name in dict.fromkeys(names) if name not in SYSTEMS and name not in settings]
    experiments = [found for name in others for found in find_experiments(name)]
    if experiments:
        check_translates(scale)
    if settings and (experiments or not systems):
        raise InputError(
            " ".join(settings),
            "is for systems; an experiment has its own settings",
            "name systems alone, such as base",
        )
    if seeded := [setting for setting in settings if setting.startswith("train.seed=")]:
        raise InputError(
            seeded[0], "would make one run of all seeds", "use --seeds, which trains with 1 .. N"
        )
    return systems, experiments, settings


def _check_numbers(seeds: int, jobs: int) -> None:

    if not 1 <= seeds <= MOST_SEEDS:
        raise InputError(
            "--seeds",
            f"must be from 1 to {MOST_SEEDS}, found {seeds}",
            "use 3, or 1 for a first look",
        )
    check_jobs(jobs)


def _check_splits(scale: str, settings: tuple[str, ...], splits: Sequence[str]) -> "DataConfig":
    """Return which corpus is trained on, after refusing a test set that is not there: before hours of training, not after."""

    data = resolve(scale, overrides=settings).data
    for split in (*splits, *(["test"] if settings else [])):
        if not load_pairs(data.corpus, data.source, data.target, split)[0]:
            raise InputError(
                f"{data.corpus} {split}", "is empty", "put sentences there to score the systems on"
            )
    return data


def _lacking_text(missing: "Plan") -> ReproError | None:
    """Return what keeps the text of a training from being read, such as a training set that is not there."""

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


def _check_models(missing: "Plan", settings: tuple[str, ...]) -> None:
    """Refuse an unknown variant or option here and once, not by every worker; what experiments name is known."""
    if settings:
        from repro.core.transformer import Transformer

        for config in missing.trainings:
            Transformer(config.model, vocab_size=1, pad_id=0, length_ratio=1.0)


def _check_parser(missing: "Plan") -> None:
    """Miss a parser that is not installed before hours of training, not after."""
    parsed = [
        config.data
        for config, kind in missing.measures
        if kind == "heads" and config.data.corpus != "minigerman"
    ]
    if parsed:
        from repro.measures.heads import find_treebank

        find_treebank(parsed[0], "dev", ())


def _announce(missing: "Plan", known: "Iterable[Record]", jobs: int, results: Path) -> None:
    """Say on standard error how much there is to do, and how long that will take if runs like these are known."""
    from repro.papers.runner import estimate_minutes

    minutes, again = estimate_minutes(missing, known, jobs), len(missing.trained_again())
    counts = f"{len(missing.trainings)} run{'' if len(missing.trainings) == 1 else 's'} to train, "
    counts += f"{again} to train again, " * bool(again) + f"{missing.num_measurements()} to measure"
    if not missing.trainings and not missing.num_measurements():
        ending = f"{results} has it all; --results with a folder of your own trains it here"
    else:
        ending = (
            f"training about {minutes:.0f} minutes" if minutes is not None else "time not known yet"
        )
    click.echo(f"{counts}; {ending}", err=True)


def _list_trainings(missing: "Plan") -> None:

    for config in [*missing.trainings, *missing.trained_again()]:
        click.echo(run_name(config))


def _workers(cluster: str | None) -> "HandOut":
    """Return what hands the runs out: to processes of this machine, or to a Ray cluster."""

    if cluster is None:
        return run_all
    from repro.runs.cluster import run_all_on_cluster

    return partial(run_all_on_cluster, cluster)


def _tables(
    experiments: "list[tuple[Paper, Experiment]]",
    systems: "list[Arm]",
    seeds: int,
    splits: Sequence[str],
    evidence: "Evidence",
) -> "list[Section]":
    """Return the experiments, then the scores of the systems, a section for each test set."""
    from repro.papers.report import Section, experiments_sections
    from repro.records.report import render

    parts = experiments_sections(experiments, evidence) if experiments else []
    for split in dict.fromkeys(("test", *splits)):
        scored = [
            record
            for arm in systems
            for seed in range(1, seeds + 1)
            for record in evidence.find("scores", arm, seed, split=split)
        ]
        parts += [Section(render(scored).rstrip(), {}, f"systems.{split}")] if scored else []
    return parts


@click.command(short_help="Judge the claims of the papers by the records.")
@click.argument("name", required=False)
@SCALE
@RESULTS
@click.option(
    "--discard",
    multiple=True,
    metavar="CLAIM",
    help="Throw the stored verdict of a claim away, because its test has changed.",
)
@click.option(
    "--split",
    "splits",
    multiple=True,
    help="Judge by this test set; given again, by all of them as one.  [default: test]",
)
def claims(name, scale, results, discard, splits) -> None:
    """Judge the claims of the paper NAME, the claim of that name (Y-01), or all, by the stored results, and store the verdicts with them.

    A claim whose test was changed after its result was known is refused. On other test sets than
    `test` those claims are judged that rest on scores alone.
    """
    from repro.claims.evidence import Evidence
    from repro.claims.pooling import AND
    from repro.claims.verdict_fields import as_verdict
    from repro.papers.report import inexact_note
    from repro.papers.verdicts import TEST, claims_of, counts, judge, of_scores, update
    from repro.records.stored import VERDICTS, load_records

    judged, split = claims_of(name), AND.join(sorted(set(splits))) or TEST
    check_translates(scale)
    check_results(results)
    if split != TEST:
        judged = of_scores(judged)
        if not judged:
            raise InputError(
                "--split",
                f"{name} rests on more than scores, and that was measured on {TEST} alone",
                "leave --split out",
            )
    click.echo(
        f"judging {len(judged)} claim{'' if len(judged) == 1 else 's'} by the records in {results}",
        err=True,
    )
    with damage_named(results):
        records = load_records(
            results, None, _corpora(scale, [arm for claim in judged for arm in claim.arms()])
        )
        evidence = Evidence(scale, records, split)
        if split != TEST and not evidence.all("scores"):
            known = sorted(
                {
                    record["split"]
                    for record in records
                    if kind_of(record) == "scores" and record["split"] != "dev"
                }
            )
            mend = (
                f"score one with repro run --split, or use one of {', '.join(known)}"
                if known
                else "score one with repro run --split"
            )
            raise InputError(
                str(results), f"holds no run of {scale} that was scored on {split}", mend
            )
        refused = _refusal_to_store(results / VERDICTS)
        verdicts = (
            [*map(as_verdict, judge(judged, evidence).values())]
            if refused
            else update(results, scale, judged, evidence, discard)
        )
    for claim, verdict in zip(judged, verdicts, strict=True):
        click.echo(f"{claim.name}  {verdict.status:<15} {claim.statement}")
        for line in verdict.evidence or [verdict.reason]:
            click.echo(f"      {line}")
    click.echo(", ".join(f"{count} {status}" for status, count in counts(verdicts).items()))
    if note := inexact_note(evidence):
        click.echo(note)
    if refused:
        click.echo(f"{refused}. The verdicts were not stored", err=True)


def _refusal_to_store(folder: Path) -> MachineError | None:
    """Return why nothing can be written into a folder, if so: results that others share may be for reading only."""
    try:
        check_writable(folder)
    except MachineError as error:
        return error
    return None


def _corpora(scale: str, arms: "Iterable[Arm]") -> set[str]:
    """Return the corpora whose records tell something of a scale and of arms, some of which have a corpus of their own."""

    return {resolve(scale).data.corpus, *(arm.config(scale).data.corpus for arm in arms)}


@click.command(short_help="Derive the stored numbers and verdicts again.")
@RESULTS
@click.option(
    "--claims/--no-claims", "judge", default=True, help="Also compute the verdicts again."
)
@click.option(
    "--strict", is_flag=True, help="End with exit code 3 if something could not be checked here."
)
def verify(results: Path, judge: bool, strict: bool) -> None:
    """Derive stored numbers and verdicts again from the tables behind them, and look for edits by the manifest; any difference is an error.

    Where behaviour.json lies beside the records, the code must also compute what it computed when
    they were written.

    With the corpora, the translations are scored again as well. What cannot be checked here is
    counted, and is no error.
    """
    check_results(results)

    from repro.verify.computed import verify_behaviour
    from repro.verify.verify import Verified, verify_claims, verify_records

    found = verify_records(results)
    verdicts = verify_claims(results) if judge else Verified()
    computed, same = verify_behaviour(results)
    faults, unreadable = (
        [*found.faults, *verdicts.faults, *computed],
        found.unreadable + verdicts.unreadable,
    )
    for line in [*faults, *unreadable]:
        click.echo(line, err=True)
    unchecked = {**found.unchecked, **verdicts.unchecked}
    for what, lacking in unchecked.items():
        click.echo(f"not checkable here, {_counted(len(lacking), 'record')}: {what}", err=True)
    if faults:
        raise DamagedFileError(
            str(results),
            f"faults found: {len(faults)}, each named above",
            "restore the records, or make them again",
        )
    if unreadable:
        what = f"could not be read in {_counted(len(unreadable), 'place')}, each named above"
        raise MachineError(str(results), what, "check permissions and disk, then start again")
    if same:
        click.echo(same)
    again = [f"{_counted(found.numbers, 'number')} of {_counted(found.records, 'record')}"]
    again += [_counted(verdicts.numbers, "verdict")] if judge else []
    click.echo(
        f"{' and '.join(again)} derived again: no fault{', of what could be checked here' if unchecked else ''}"
    )
    if unchecked and strict:
        raise MachineError(
            str(results),
            "could not be checked as a whole here, as said above",
            "give what is lacking",
        )


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
