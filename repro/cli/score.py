"""Commands that score runs: evaluate, compare, report, results."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Literal

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
    search_options,
    shown,
)
from repro.errors import InputError
from repro.files import check_writable, write_atomic
from repro.markdown import visible
from repro.presets import resolve
from repro.runs import gallery

if TYPE_CHECKING:
    from repro.claims.evidence import Record
    from repro.cli.comparing import Seed


@click.command(short_help="Translate a test set and print its scores.")
@click.argument("run")
@SPLIT
@click.option(
    "--record",
    type=click.Path(path_type=Path),
    help="Also write the result record below this folder.",
)
@search_options
def evaluate(
    run: str,
    split: str,
    record: Path | None,
    beam: int,
    alpha: float | None,
    penalty: Literal["length", "wu"],
) -> None:
    """Translate a test set with the model of RUN and print scores with their signatures."""

    found = gallery.find(run)
    if record:
        check_writable(record)
    found.check_finished()
    check_split(found, split)

    from repro.core.decoding import SearchConfig
    from repro.measures.scores import evaluate_run
    from repro.records.report import in_train_note, writable_note
    from repro.records.stored import publish

    alpha = found.alpha if alpha is None else alpha
    search = SearchConfig(beam=beam, alpha=alpha, penalty=penalty)
    result = evaluate_run(found, split, search, quiet=no_progress())
    # A reader of the output may stop early, as `head` does, so the record is written first.
    written = publish(result, record) if record else None
    for score in result["scores"]:
        click.echo(f"{shown(score['value']):>7}  {score['name']}  {score['signature']}")
    click.echo(f"{result['decoding']['sentences_per_second']:7.1f}  sentences/s")
    for note in filter(None, (in_train_note(result), writable_note([result]))):
        click.echo(note)
    if written:
        click.echo(written)


@click.command(short_help="Tell whether two runs or systems differ by more than chance.")
@click.argument("first")
@click.argument("second")
@click.option(
    "--scale",
    help="Only runs and records of the corpus of this scale; default: of any, "
    "or smoke if nothing is trained here.",
)
@RESULTS
@SPLIT
@search_options
def compare(first, second, scale, results, split, beam, alpha, penalty) -> None:
    """Print by how much SECOND is better than FIRST on the same sentences.

    Printed are the difference, its 95 % interval, and p (paired bootstrap).

    Each is a run, or the common beginning of the names of runs that differ only in their seeds,
    such as a system. Then the difference is between the means over seeds, and its interval is over
    sentences and seeds. Seeds come from runs on this machine, and further ones from the results.
    """

    if first == second:
        raise InputError(second, "is compared with itself", "name two systems or runs")
    data = resolve(scale).data if scale else None

    from repro.cli.comparing import find_systems
    from repro.core.decoding import SearchConfig
    from repro.records.report import check_comparable, check_same_training_text

    def search(usual_alpha: float) -> SearchConfig:
        return SearchConfig(beam, usual_alpha if alpha is None else alpha, penalty)

    systems = find_systems((first, second), data, results, split, search)
    seeds = [seed for system in systems for seed in system]
    # Check every run before one of them translates, which may take minutes.
    for seed in seeds:
        if seed.here:
            seed.here.check_finished()
            check_split(seed.here, split)
    check_same_training_text([seed.described() for seed in seeds])
    records = [
        [seed.evaluated(split, search, no_progress()) for seed in system] for system in systems
    ]
    together = [record for system in records for record in system]
    check_comparable(together)
    of_first, of_second = (", ".join(record["run"] for record in system) for system in records)
    for note in (
        f"{of_second} against {of_first}, {split}",
        *_describe_seeds(seeds, together, results),
    ):
        click.echo(visible(note))
    _print_comparison(*records)


def _describe_seeds(seeds: "list[Seed]", records: "list[Record]", results: Path) -> list[str]:
    """Print which seeds `repro compare` used, and differences in training besides the seed."""
    places: dict[str, list[str]] = {}
    for seed in seeds:
        places.setdefault(
            "runs on this machine" if seed.here else f"records in {results}", []
        ).append(seed.name)
    notes = (
        [f"{place}: {', '.join(names)}" for place, names in places.items()]
        if len(places) > 1 or seeds[0].record
        else []
    )
    for seed, record in zip(seeds, records, strict=True):
        if seed.here and seed.record and seed.record["scores"] != record["scores"]:
            score = seed.record["scores"][0]
            notes.append(
                f"{seed.name} in {results} is another training of it: {score['name']} "
                f"{shown(score['value'])}"
            )
    threads = sorted({record["provenance"]["threads"] for record in records})
    if len(threads) > 1:
        counts = " and ".join(map(str, threads))
        notes.append(
            f"trained by {counts} threads: another number makes another model, of the same seed as "
            "well"
        )
    return notes


def _print_comparison(first: "list[Record]", second: "list[Record]") -> None:
    """Print a line for each score, and what its interval covers."""
    from repro.records.report import describe, p_value
    from repro.records.translations import compare_seeds

    (compared,) = compare_seeds([first, second])
    for result in compared:
        difference, interval, *rest = describe(result)
        ending = (
            f"detectable {rest[-1]}"
            if result.p is None
            else f"p {p_value(result.p, result.num_samples)}"
        )
        scores = f"{shown(result.second)} - {shown(result.first)} = {difference}"
        click.echo(
            f"{result.metric}: {scores}, 95 % interval {interval}, {ending}  {result.signature}"
        )
    if compared[0].p is not None:
        click.echo("over test sentences: one training run each says nothing about other seeds")
    else:
        click.echo(
            f"means over {compared[0].estimate.seeds_said()}; intervals over test sentences and "
            "training seeds"
        )


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
def report(runs: tuple[str, ...], scale: str, results: Path, split: str, out: Path) -> None:
    """Write a report; the last line printed is its path.

    With RUNS: their scores, costs, differences and examples. Without: every claim, effect, table
    and figure of the five papers by the stored results of a scale. That report is Markdown, with
    one page of HTML next to it. RUNS may also name papers, such as you2020, to report on these
    alone.
    """
    from repro.papers import PAPERS

    if set(runs) <= set(PAPERS):
        check_unused(
            ["split"], "is for a report on RUNS: the papers' test set is that of the scale"
        )
        return _report_on_papers(scale, results, out, list(dict.fromkeys(runs)) or list(PAPERS))
    check_unused(["scale", "results"], "is for the report on the papers: RUNS have their own")

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
    from repro.records.report import render, scores_table

    records = [evaluate_run(run, split, quiet=no_progress()) for run in found]
    write_atomic(out, render(records).encode())
    click.echo(scores_table(records))
    for score in records[0]["scores"]:
        click.echo(f"{score['name']}: {score['signature']}")
    click.echo(out)


def _report_on_papers(scale: str, results: Path, out: Path, papers: list[str]) -> None:
    """Write the papers' report of `repro report`, by the stored results of a scale."""
    check_report(out)
    check_translates(scale)
    check_results(results)

    from repro.claims.evidence import Evidence
    from repro.papers.pages import write_report
    from repro.papers.report import report_sections
    from repro.records.stored import load_records

    with damage_named(results):
        evidence = Evidence(scale, load_records(results, None))
        sections = report_sections(scale, evidence, results, papers)
        for path in reversed(write_report(sections, f"repro: papers at {scale}", out)):
            click.echo(path)


@click.command(short_help="Print the tables of the stored records.")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=Path("results"))
@click.option(
    "--update",
    is_flag=True,
    help="Write the pages of FOLDER, behaviour.json and MANIFEST.json, and the generated parts of "
    "README and docs/ next to FOLDER.",
)
def results(folder: Path, update: bool) -> None:
    """Print the tables of the records stored below FOLDER, with published scores.

    It needs no corpus and no model.
    """
    check_results(folder)

    from repro.papers.summary import update_pages
    from repro.records.manifest import write_manifest
    from repro.records.report import render_results
    from repro.records.stored import load_records
    from repro.verify.computed import update_behaviour

    with damage_named(folder):
        # Pages would be written empty.
        if not load_records(folder, None):
            raise InputError(
                str(folder), "holds no result record", "name the folder that `repro run` made"
            )
        if update:
            written = [*update_pages(folder), update_behaviour(folder), write_manifest(folder)]
            return click.echo("\n".join(map(str, written)))
        click.echo(render_results(load_records(folder)), nl=False)
