"""Score runs, and compare them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from repro.cli.options import (
    JSON,
    RESULTS,
    SPLIT,
    check_split,
    check_unused,
    loaded,
    no_progress,
    print_json,
    search_options,
    shown,
)
from repro.cli.own_text import TEXTS, metrics_named, score_by, score_text
from repro.data.corpora import load_pairs
from repro.errors import InputError
from repro.files import check_writable
from repro.markdown import visible
from repro.presets import resolve
from repro.runs import gallery

if TYPE_CHECKING:
    from repro.claims.evidence import Record
    from repro.cli.comparing import Seed


_TEXT = click.Path(path_type=Path, dir_okay=False)


@click.command(short_help="Translate a test set and print its scores.")
@click.argument("run")
@SPLIT
@click.option(
    "--record",
    type=click.Path(path_type=Path),
    help="Also write the result record below this folder.",
)
@click.option("--src", type=_TEXT, help="Translate this file, a sentence a line, not a test set.")
@click.option("--ref", type=_TEXT, help="The references of --src.")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="FILE:FUNCTION",
    help="Score by a metric of your own, too: my.py:comet.",
)
@JSON
@search_options
def evaluate(
    run: str,
    split: str,
    record: Path | None,
    src: Path | None,
    ref: Path | None,
    metrics: tuple[str, ...],
    as_json: bool,
    beam: int,
    alpha: float | None,
    penalty: Literal["length", "wu"],
) -> None:
    """Translate a test set with the model of RUN and print scores with their signatures.

    A metric of your own is a function of sources, translations and references, three lists of
    text, that returns a number. Its score is printed, and not recorded.

    \b
      repro evaluate gallery/base --split dev
      repro evaluate gallery/base --src news.en --ref news.de --json
      repro evaluate gallery/base --metric my.py:comet
    """
    own = metrics_named(metrics)
    if (src is None) != (ref is None):
        raise InputError("--src" if src else "--ref", "is given alone", "give --src and --ref")
    if src:
        check_unused(["split", "record"], "is for a test set, not for --src")
    found = gallery.find(run)
    if record:
        check_writable(record)
    found.check_finished()
    if not src:
        check_split(found, split)

    from repro.core.decoding import SearchConfig

    alpha = found.alpha if alpha is None else alpha
    search = SearchConfig(beam=beam, alpha=alpha, penalty=penalty)
    if src and ref:
        scored = score_text(found, (src, ref), search)
        scored["scores"] += score_by(own, *(scored[name] for name in TEXTS))
        return print_json(scored) if as_json else _print_scores(scored["scores"])

    from repro.measures.scores import evaluate_run
    from repro.records.report import in_train_note, writable_note
    from repro.records.stored import publish
    from repro.records.translations import hypotheses_of

    result = evaluate_run(found, split, search, quiet=no_progress())
    # A reader of the output may stop early, as `head` does, so the record is written first.
    written = publish(result, record) if record else None
    if own:
        data = found.config.data
        sources, refs = load_pairs(data.corpus, data.source, data.target, split)
        mine = score_by(own, sources, hypotheses_of(result), refs)
        result = result | {"scores": [*result["scores"], *mine]}
    if as_json:
        return print_json({name: value for name, value in result.items() if name != "tables"})
    _print_scores(result["scores"])
    click.echo(f"{result['decoding']['sentences_per_second']:7.1f}  sentences/s")
    for note in filter(None, (in_train_note(result), writable_note([result]))):
        click.echo(note)
    if written:
        click.echo(written)


def _print_scores(scores: list[dict[str, Any]]) -> None:
    for score in scores:
        click.echo(f"{shown(score['value']):>7}  {score['name']}  {score['signature']}")


@click.command(short_help="Tell whether two runs or systems differ by more than chance.")
@click.argument("first")
@click.argument("second")
@click.option(
    "--scale",
    callback=loaded,
    help="Only runs and records of the corpus of this scale, and those of its settings if there "
    "are; default: of any, or smoke if nothing is trained here.",
)
@RESULTS
@SPLIT
@JSON
@search_options
def compare(first, second, scale, results, split, as_json, beam, alpha, penalty) -> None:
    """Print by how much SECOND is better than FIRST on the same sentences.

    Printed are the difference and its 95 % interval; of two single runs also p (paired bootstrap).

    Each is one run, or all seeds of a system: `base` is every run whose name begins so, if these
    differ in their seeds alone. Of several seeds the means are compared, and the interval is over
    sentences and seeds. Seeds come from runs on this machine, and further ones from the results.

    \b
      repro compare base hc-sa
      repro compare base hc-sa --scale multi30k --json
    """

    if first == second:
        raise InputError(second, "is compared with itself", "name two systems or runs")

    from repro.cli.comparing import find_systems
    from repro.core.decoding import SearchConfig
    from repro.records.report import check_comparable, check_same_text

    def search(usual_alpha: float) -> SearchConfig:
        return SearchConfig(beam, usual_alpha if alpha is None else alpha, penalty)

    of_scale = resolve(scale) if scale else None
    systems = find_systems((first, second), of_scale, results, split, search)
    seeds = [seed for system in systems for seed in system]
    # Check every run before one of them translates, which may take minutes.
    for seed in seeds:
        if seed.here:
            seed.here.check_finished()
            check_split(seed.here, split)
    check_same_text([seed.described() for seed in seeds])
    records = [
        [seed.evaluated(split, search, no_progress()) for seed in system] for system in systems
    ]
    together = [record for system in records for record in system]
    check_comparable(together)
    if as_json:
        return print_json(_compared(records))
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
            began = [one["provenance"]["started"] for one in (seed.record, record)]
            what = "another scoring" if began[0] == began[1] else "another training"
            notes.append(
                f"{seed.name} in {results} is {what} of it: {score['name']} {shown(score['value'])}"
            )
    threads = sorted({record["provenance"]["threads"] for record in records})
    if len(threads) > 1:
        counts = " and ".join(map(str, threads))
        notes.append(
            f"trained by {counts} threads: another number makes another model, of the same seed as "
            "well"
        )
    return notes


def _compared(systems: "list[list[Record]]") -> dict[str, Any]:
    """Return the runs of two systems, and how much the second is better by each metric."""
    from repro.records.translations import compare_seeds

    first, second = ([record["run"] for record in system] for system in systems)
    rows = [
        {
            "metric": of.metric,
            "first": of.first,
            "second": of.second,
            "difference": of.difference,
            "low": of.low,
            "high": of.high,
            "p": of.p,
            "detectable": of.estimate.detectable,
            "counts_seeds": of.estimate.counts_seeds,
            "signature": of.signature,
        }
        for of in compare_seeds(systems)[0]
    ]
    return {"first": first, "second": second, "split": systems[0][0]["split"], "scores": rows}


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
