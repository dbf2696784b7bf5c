"""Write reports on runs, and on the five papers."""

from collections import Counter
from pathlib import Path

import click

from repro.cli.options import (
    RESULTS,
    SCALE,
    SPLIT,
    check_report,
    check_results,
    check_split,
    check_translates,
    check_unused,
    damage_named,
    no_progress,
    only_others,
)
from repro.errors import InputError
from repro.files import check_writable
from repro.runs import gallery


@click.command(short_help="Write a report on runs, or on the five papers.")
@click.argument("runs", nargs=-1)
@SCALE
@RESULTS
@SPLIT
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("reports/report.md"),
    show_default=True,
    help="File for the report, in Markdown.",
)
@click.option(
    "--figures",
    type=click.Path(file_okay=False, path_type=Path),
    help="Also write every figure of the papers into this folder.",
)
@click.option(
    "--format",
    type=click.Choice(["pdf", "svg", "png"]),
    default="pdf",
    show_default=True,
    help="Of the figures.",
)
def report(runs, scale, results, split, out, figures, format) -> None:
    """Write a report; the last line printed is its path.

    With RUNS: their scores, costs, differences and examples. Without: every claim, effect, table
    and figure of the five papers by the stored results of a scale. RUNS may also name papers, such
    as you2020, to report on these alone. A report is Markdown, with one page of HTML next to it.

    \b
      repro report --scale multi30k
      repro report you2020 --figures pictures --format pdf
      repro report base hc-sa --out mine.md
    """
    from repro.papers import PAPERS

    if set(runs) <= set(PAPERS):
        check_unused(
            ["split"], "is for a report on RUNS: the papers' test set is that of the scale"
        )
        if figures is None:
            check_unused(["format"], "wants --figures")
        papers = list(dict.fromkeys(runs)) or list(PAPERS)
        return _report_on_papers(scale, results, out, papers, figures, format)
    check_unused(
        ["scale", "results", "figures", "format"],
        "is for the report on the papers: RUNS have their own",
    )

    found = [gallery.find(run) for run in runs]
    if twice := [
        run for run, times in Counter(run.path.resolve() for run in found).items() if times > 1
    ]:
        raise InputError(
            twice[0].name, "is named twice, and would count as two seeds", "name each run once"
        )
    check_report(out)
    for run in found:
        run.check_finished()
        check_split(run, split)

    from repro.measures.scores import evaluate_run
    from repro.papers.pages import write_report
    from repro.papers.report import Section
    from repro.records.report import said_once, scores_table, sections

    records = [evaluate_run(run, split, quiet=no_progress()) for run in found]
    parts = [Section(text, {}, name) for name, text in sections(records).items()]
    written = write_report(parts, f"repro: {', '.join(run.path.name for run in found)}", out)
    labelled, shared = said_once(records)
    click.echo(f"{shared}\n" * bool(shared) + scores_table(labelled))
    for score in records[0]["scores"]:
        click.echo(f"{score['name']}: {score['signature']}")
    for path in reversed(written):
        click.echo(path)


def _report_on_papers(
    scale: str, results: Path, out: Path, papers: list[str], figures: Path | None, form: str
) -> None:
    """Write the papers' report of `repro report` by the stored results of a scale."""
    check_report(out)
    if figures:
        check_writable(figures)
    check_translates(scale)
    check_results(results)

    from repro.claims.evidence import Evidence
    from repro.papers.pages import write_figures, write_report
    from repro.papers.report import report_sections
    from repro.records.stored import load_records

    with damage_named(results):
        evidence = Evidence(scale, load_records(results, None))
        if others := only_others(results, evidence):
            click.echo(str(others), err=True)
        sections = report_sections(scale, evidence, results, papers)
        drawn = write_figures(sections, figures, form) if figures else []
        for path in [*drawn, *reversed(write_report(sections, f"repro: papers at {scale}", out))]:
            click.echo(path)
