"""Run the papers' experiments, judge their claims, report, verify."""

import sys
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repro.commands.options import RESULTS, SCALE, WHOLE_NUMBER, check_report, check_results, check_translates, damage_named, given_once
from repro.errors import DamagedFileError, InputError, Stopped, did_you_mean
from repro.files import check_writable

if TYPE_CHECKING:
    from repro.config import DataConfig
    from repro.jobs import HandOut
    from repro.papers import Experiment, Paper
    from repro.papers.arms import Arm
    from repro.papers.evidence import Evidence, Record
    from repro.papers.report import Section
    from repro.papers.runner import Plan


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
            click.echo(f"  {len(paper.experiments)} experiments, {len(paper.claims)} claims; repro papers {paper.name} lists them")


def _experiment_line(paper: "Paper", experiment: "Experiment") -> str:
    return f"  {paper.name}.{experiment.name:<10} {experiment.place}: {experiment.title}"


@click.command(short_help="Train and measure what papers or systems need.")
@click.argument("names", nargs=-1, required=True, metavar="NAMES... [KEY=VALUE]...")
@SCALE
@click.option("--seeds", type=WHOLE_NUMBER, default=1, show_default=True, help="Train with the seeds 1 .. N.")
@click.option("--jobs", type=WHOLE_NUMBER, default=2, show_default=True, help="Runs at a time, on each machine.")
@click.option("--split", "splits", multiple=True, help="Score on this test set, too, as in `repro evaluate`; may be given again.")
@click.option("--cluster", metavar="ADDRESS", help="Use a Ray cluster, such as auto, or all GPUs of this machine: local.")
@RESULTS
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("reports/run.md"), show_default=True, help="File for the tables, in Markdown."
)
@click.option("--dry-run", is_flag=True, help="Say what is missing and how long it will take, and do nothing.")
def run(names, scale, seeds, jobs, splits, cluster, results, out, dry_run) -> None:
    """Train and measure what NAMES need and is not in the results yet, and write their tables.

    A NAME is a paper (you2020), an experiment (you2020.table2), a system of `repro variants` (hc-sa), or `all`: every experiment of
    every paper. Runs are shared, and go on where they were stopped. A record whose run is not on this machine counts as done; a
    further test set or measure of it has the run trained again. KEY=VALUE changes an option for the systems, as in `repro train`.
    """
    if not dry_run:
        check_report(out)

    from repro.papers.evidence import Evidence
    from repro.papers.runner import carry_out, plan
    from repro.records import load_records, of_this_text

    systems, experiments, settings = _asked_for(names, scale)
    _check_numbers(seeds, jobs)
    data = _check_splits(scale, settings, splits)
    known = of_this_text(load_records(results, None), data) if results.is_dir() else []  # before the first run
    missing = plan([experiment for _, experiment in experiments], Evidence(scale, known), seeds, systems, splits)
    _check_models(missing, settings)
    if not dry_run and (missing.trainings or missing.num_measurements()):
        check_writable(results)
    _announce(missing, known, jobs, results)
    if dry_run:
        return _list_trainings(missing)
    _check_parser(missing)

    from repro.papers.report import write

    try:
        errors = carry_out(missing, results, jobs, lambda line: click.echo(line, err=True), _workers(cluster))
    except Stopped as stopped:
        click.echo("stopped; the same command goes on where the runs were", err=True)
        sys.exit(stopped.exit_code)
    with damage_named(results):
        known = of_this_text(load_records(results, None), data) if results.is_dir() else []  # every run may have failed
        parts = _tables(experiments, systems, seeds, splits, Evidence(scale, known))
        for path in reversed(write(parts, f"repro: {' '.join(names)} at {scale}", out)) if parts else ():
            click.echo(path)
    if errors:
        raise errors[0]


def _asked_for(names: Sequence[str], scale: str) -> "tuple[list[Arm], list[tuple[Paper, Experiment]], tuple[str, ...]]":
    """Return the systems, the experiments and the settings that are among the names, each once."""
    from repro.papers import PAPERS, find_experiments
    from repro.papers.arms import Arm
    from repro.scales import SYSTEMS

    settings = given_once([name for name in names if "=" in name])
    for name in names:
        if name not in (*settings, *SYSTEMS, "all") and name.partition(".")[0] not in PAPERS:
            named = [f"{paper.name}.{experiment.name}" for paper, experiment in find_experiments("all") if experiment.name == name]
            mend = f"write {' or '.join(named)}" if named else did_you_mean(name, ["all", *PAPERS, *SYSTEMS])
            raise InputError(name, "is no paper, experiment or system", mend)
    systems = [Arm(name, settings) for name in dict.fromkeys(names) if name in SYSTEMS]
    others = [name for name in dict.fromkeys(names) if name not in SYSTEMS and name not in settings]
    experiments = [found for name in others for found in find_experiments(name)]
    if experiments:
        check_translates(scale)
    if settings and (experiments or not systems):
        raise InputError(" ".join(settings), "is for systems; an experiment has its own settings", "name systems alone, such as base")
    if seeded := [setting for setting in settings if setting.startswith("train.seed=")]:
        raise InputError(seeded[0], "would make one run of all seeds", "use --seeds, which trains with 1 .. N")
    return systems, experiments, settings


def _check_numbers(seeds: int, jobs: int) -> None:
    from repro.jobs import check_jobs
    from repro.papers.evidence import MAX_SEEDS

    if not 1 <= seeds <= MAX_SEEDS:
        raise InputError("--seeds", f"must be from 1 to {MAX_SEEDS}, found {seeds}", "use 3, or 1 for a first look")
    check_jobs(jobs)


def _check_splits(scale: str, settings: tuple[str, ...], splits: Sequence[str]) -> "DataConfig":
    """Return which corpus is trained on, after refusing a test set that is not there: before hours of training, not after."""
    from repro.data.corpora import load_pairs
    from repro.scales import resolve

    data = resolve(scale, overrides=settings).data
    for split in (*splits, *(["test"] if settings else [])):
        if not load_pairs(data.corpus, data.source, data.target, split)[0]:
            raise InputError(f"{data.corpus} {split}", "is empty", "put sentences there to score the systems on")
    return data


def _check_models(missing: "Plan", settings: tuple[str, ...]) -> None:
    """Refuse an unknown variant or option here and once, not by every worker; what experiments name is known."""
    if settings:
        from repro.transformer import Transformer

        for config in missing.trainings:
            Transformer(config.model, vocab_size=1, pad_id=0, length_ratio=1.0)


def _check_parser(missing: "Plan") -> None:
    """Miss a parser that is not installed before hours of training, not after."""
    parsed = [config.data for config, kind in missing.measures if kind == "heads" and config.data.corpus != "minigerman"]
    if parsed:
        from repro.analysis.head_records import find_treebank

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
        ending = f"training about {minutes:.0f} minutes" if minutes is not None else "time not known yet"
    click.echo(f"{counts}; {ending}", err=True)


def _list_trainings(missing: "Plan") -> None:
    from repro.scales import run_name

    for config in [*missing.trainings, *missing.trained_again()]:
        click.echo(run_name(config))


def _workers(cluster: str | None) -> "HandOut":
    """Return what hands the runs out: to processes of this machine, or to a Ray cluster."""
    from repro.jobs import run_all

    if cluster is None:
        return run_all
    from repro.cluster import run_all_on_cluster

    return partial(run_all_on_cluster, cluster)


def _tables(
    experiments: "list[tuple[Paper, Experiment]]", systems: "list[Arm]", seeds: int, splits: Sequence[str], evidence: "Evidence"
) -> "list[Section]":
    """Return the experiments, then the scores of the systems, a section for each test set."""
    from repro.papers.report import Section, experiments_sections
    from repro.report import render

    parts = experiments_sections(experiments, evidence) if experiments else []
    for split in dict.fromkeys(("test", *splits)):
        scored = [record for arm in systems for seed in range(1, seeds + 1) for record in evidence.find("scores", arm, seed, split=split)]
        parts += [Section(render(scored).rstrip(), {}, f"systems.{split}")] if scored else []
    return parts


@click.command(short_help="Judge the claims of the papers by the records.")
@click.argument("name", required=False)
@SCALE
@RESULTS
@click.option("--discard", multiple=True, metavar="CLAIM", help="Throw the stored verdict of a claim away, because its test has changed.")
@click.option("--split", "splits", multiple=True, help="Judge by this test set; given again, by all of them as one.  [default: test]")
def claims(name, scale, results, discard, splits) -> None:
    """Judge the claims of the paper NAME, the claim of that name (Y-01), or all, by the stored results, and store the verdicts with them.

    A claim whose test was changed after its result was known is refused. On other test sets than `test` those claims are judged that rest
    on scores alone.
    """
    from repro.papers.evidence import Evidence
    from repro.papers.pooling import AND
    from repro.papers.report import inexact_note
    from repro.papers.verdicts import TEST, claims_of, counts, of_scores, update
    from repro.records import load_records

    judged, split = claims_of(name), AND.join(sorted(set(splits))) or TEST
    check_translates(scale)
    check_results(results)
    if split != TEST:
        _check_splits(scale, (), splits)
        judged = of_scores(judged)
        if not judged:
            raise InputError("--split", f"{name} rests on more than scores, and that was measured on {TEST} alone", "leave --split out")
    with damage_named(results):
        evidence = Evidence(scale, load_records(results, None), split)
        if split != TEST and not evidence.all("scores"):
            raise InputError(str(results), f"holds no run of {scale} that was scored on {split}", "score one with repro run --split")
        verdicts = update(results, scale, judged, evidence, discard)
    for claim, verdict in zip(judged, verdicts, strict=True):
        click.echo(f"{claim.name}  {verdict.status:<15} {claim.statement}")
        for line in verdict.evidence or [verdict.reason]:
            click.echo(f"      {line}")
    click.echo(", ".join(f"{count} {status}" for status, count in counts(verdicts).items()))
    if note := inexact_note(evidence):
        click.echo(note)


@click.command(short_help="Derive the stored numbers and verdicts again.")
@RESULTS
@click.option("--claims/--no-claims", "judge", default=True, help="Also compute the verdicts again.")
def verify(results: Path, judge: bool) -> None:
    """Derive stored numbers and verdicts again from the translations and counts behind them; any difference is an error.

    Where behaviour.json lies beside the records, the code must also compute what it computed when they were written.
    """
    check_results(results)

    from repro.papers.computed import verify_behaviour
    from repro.papers.verify import verify_claims, verify_records

    unchecked: list[str] = []

    def note(line: str) -> None:
        unchecked.append(line)
        click.echo(line, err=True)

    problems = verify_records(results, note)
    problems += verify_claims(results) if judge else []
    other, same = verify_behaviour(results)
    problems += other
    for problem in problems:
        click.echo(problem, err=True)
    if problems:
        raise DamagedFileError(str(results), f"faults found: {len(problems)}, each named above", "restore the records, or make them again")
    if same:
        click.echo(same)
    rest = f"; records not checked: {len(unchecked)}, each named above" if unchecked else ""
    click.echo(f"every number that has evidence was derived again, all others held to their ranges{rest}")
