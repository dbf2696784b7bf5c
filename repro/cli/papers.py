"""Commands on what the papers say: papers, claims."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repro.cli.options import (
    JSON,
    RESULTS,
    SCALE,
    check_results,
    check_translates,
    corpora_of,
    damage_named,
    only_others,
    print_json,
)
from repro.errors import InputError, MachineError, shortened
from repro.files import check_writable
from repro.records.schema import kind_of
from repro.scales import command_options

if TYPE_CHECKING:
    from repro.papers import Experiment, Paper


@click.command(short_help="List the papers, their experiments and claims.")
@click.argument("name", required=False)
def papers(name: str | None) -> None:
    """List the papers, or the experiments and claims of the paper NAME.

    NAME may also be one experiment, as in `repro run` (you2020.table2).

    \b
      repro papers you2020
      repro papers you2020.table2
    """
    from repro.papers import PAPERS, find_experiments, load_paper

    if name and "." in name:
        for paper, experiment in find_experiments(name):
            click.echo(f"{paper.name}: {paper.title}\n{_experiment_line(paper, experiment)}")
            if experiment.settings:
                click.echo(f"        trains {', '.join(map(str, experiment.settings))}")
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
                f"  {len(paper.experiments)} experiments, {len(paper.claims)} claims; repro papers "
                f"{paper.name} lists them"
            )


def _experiment_line(paper: "Paper", experiment: "Experiment") -> str:
    """Return the line of `repro papers` about an experiment: name, place, title."""
    return f"  {paper.name}.{experiment.name:<10} {experiment.place}: {experiment.title}"


@click.command(short_help="Judge the claims of the papers by the records.")
@click.argument("name", required=False)
@SCALE
@RESULTS
@JSON
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
@click.option("--records", "with_records", is_flag=True, help="List the records of each verdict.")
def claims(name, scale, results, as_json, discard, splits, with_records) -> None:
    """Judge the claims of the paper NAME, the claim of that name (Y-01), or all, by the results.

    The verdicts are stored with the results. A claim whose test was changed after its result was
    known is refused. On other test sets than `test`, only claims that depend on scores alone are
    judged.

    \b
      repro claims you2020
      repro claims Y-01 --scale multi30k --split test_2017_flickr
    """
    from repro.claims.evidence import Evidence
    from repro.claims.pooling import AND
    from repro.claims.verdict_fields import as_verdict
    from repro.papers.report import inexact_note
    from repro.papers.verdict_text import deciding_commands, record_lines
    from repro.papers.verdicts import (
        TEST,
        claims_of,
        counted,
        judge,
        of_scores,
        update_verdicts,
    )
    from repro.records.manifest import RENEW
    from repro.records.stored import VERDICTS, load_records, lost_records
    from repro.runs.storage import MANIFEST

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
    if sys.stderr and sys.stderr.isatty():
        many = "claim" if len(judged) == 1 else "claims"
        click.echo(f"judging {len(judged)} {many} by the records in {results}", err=True)
    corpora = corpora_of(scale, [setting for claim in judged for setting in claim.settings()])
    if lost := lost_records(results, corpora):
        what = "1 record is" if len(lost) == 1 else f"{len(lost)} records are"
        click.echo(
            f"{results}: {what} missing that {MANIFEST} lists, and claims are judged without: "
            f"{shortened(', '.join(map(str, lost)), 120)}. Fix: {RENEW}",
            err=True,
        )
    with damage_named(results):
        records = load_records(results, None, corpora)
        evidence = Evidence(scale, records, split)
        others = only_others(results, evidence)
        if split != TEST and not evidence.all("scores"):
            known = sorted(
                {
                    record["split"]
                    for record in records
                    if kind_of(record) == "scores" and record["split"] != "dev"
                }
            )
            fix = (
                f"score one with repro run --split, or use one of {', '.join(known)}"
                if known
                else "score one with repro run --split"
            )
            raise InputError(
                str(results), f"holds no run of {scale} that was scored on {split}", fix
            )
        refused = _refusal_to_store(results / VERDICTS)
        verdicts = (
            [*map(as_verdict, judge(judged, evidence).values())]
            if refused
            else update_verdicts(results, scale, judged, evidence, discard)
        )
    if as_json:
        return print_json(
            [
                {"claim": claim.name, "statement": claim.statement, "status": verdict.status}
                | {"reason": verdict.reason, "evidence": [*verdict.evidence, *verdict.notes]}
                | ({"records": record_lines(claim, evidence)} if with_records else {})
                for claim, verdict in zip(judged, verdicts, strict=True)
            ]
        )
    options = "".join(f" --split {name}" for name in splits if name != TEST)
    options = f"{command_options(scale, results)}{options}"
    for claim, verdict in zip(judged, verdicts, strict=True):
        click.echo(f"{claim.name}  {verdict.status:<17} {claim.statement}")
        for line in (
            *(verdict.evidence or [verdict.reason]),
            *verdict.notes,
            *deciding_commands(claim, scale, verdict, options, evidence),
            *(record_lines(claim, evidence) if with_records else ()),
        ):
            click.echo(f"      {line}")
    click.echo(counted(verdicts))
    if note := inexact_note(evidence):
        click.echo(note)
    if others:
        click.echo(str(others), err=True)
    if refused:
        click.echo(f"{refused}. The verdicts were not stored", err=True)


def _refusal_to_store(folder: Path) -> MachineError | None:
    """Return why `repro claims` cannot store verdicts, if so: results may be read-only."""
    try:
        check_writable(folder)
    except MachineError as error:
        return error
    return None
