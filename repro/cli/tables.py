"""Print stored results: as pages, as rows for other programs, or as a table for a paper."""

from itertools import chain
from pathlib import Path

import click

from repro.claims.settings import Setting
from repro.cli.options import SCALE, check_results, check_unused, damage_named, only_others
from repro.core.config import RunConfig
from repro.data.own_text import own_folder
from repro.errors import InputError, did_you_mean
from repro.presets import SYSTEMS, resolve

FILTERS = ("corpus", "direction", "system", "split", "metric")


@click.command(short_help="Print the stored results, as pages, rows or a table.")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=Path("results"))
@click.option(
    "--update",
    is_flag=True,
    help="Write the pages of FOLDER, behaviour.json and MANIFEST.json, and the generated parts of "
    "README and docs/ next to FOLDER.",
)
@click.option(
    "--format",
    type=click.Choice(["csv", "json", "latex", "markdown"]),
    help="csv, json: a row per score. latex, markdown: a table of systems with intervals.",
)
@SCALE
@click.option(
    "--of",
    multiple=True,
    help="A system, or one of your own as records name it: encoder_self=my.py; or an experiment: "
    "you2020.table2. May be given again.",
)
@click.option("--against", default="base", show_default=True, help="What differences are to.")
@click.option("--corpus", help="Only rows of this corpus.")
@click.option("--direction", metavar="SRC-TGT", help="Only rows of this direction.")
@click.option("--system", help="Only rows of this system.")
@click.option("--split", help="Only rows, or the table, of this test set.")
@click.option("--metric", help="Only rows of this metric, such as BLEU.")
def results(folder, update, format, scale, of, against, **filters) -> None:
    """Print the results stored below FOLDER; it needs no corpus and no model.

    \b
    Without --format: all tables, with published scores. With it:
      repro results --format csv --corpus multi30k --metric BLEU > scores.csv
      repro results --format json --system hc-sa --direction en-de
      repro results --format latex --scale multi30k --of you2020.table2 > table.tex
      repro results --format markdown --of base --of hc-sa --against base
    """
    check_results(folder)
    if format in ("csv", "json"):
        check_unused(["scale", "of", "against", "update"], f"is not for --format {format}")
        with damage_named(folder):
            return _print_rows(folder, format, filters)
    check_unused([name for name in FILTERS if name != "split"], "is for --format csv or json")
    if format is None:
        check_unused(["scale", "of", "against", "split"], "wants --format")
        return _print_pages(folder, update)
    with damage_named(folder):
        _print_table(folder, format, scale, of, against, filters["split"] or "test")


def _print_pages(folder: Path, update: bool) -> None:
    """Print all tables, or write them where they are stored."""
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


def _print_rows(folder: Path, form: str, filters: dict[str, str | None]) -> None:
    """Print the scores that fit the filters, one a row."""
    from repro.papers.frames import results as frame_of

    frame = frame_of("scores", folder)
    frame["direction"] = frame["source"] + "-" + frame["target"]
    for name, wanted in filters.items():
        if wanted is not None:
            known = sorted(set(frame[name]))
            if wanted not in known:
                fix = did_you_mean(wanted, known)
                raise InputError(f"--{name}", f"no such score has '{wanted}'", fix)
            frame = frame[frame[name] == wanted]
    written = (
        frame.to_csv(index=False)
        if form == "csv"
        else frame.to_json(orient="records", indent=1, force_ascii=False) + "\n"
    )
    click.echo(written, nl=False)


def _print_table(
    folder: Path, form: str, scale: str, names: tuple[str, ...], against: str, split: str
) -> None:
    """Print a table of systems at a scale, with intervals."""
    from repro.claims.evidence import Evidence
    from repro.papers.export import (
        as_latex,
        as_markdown,
        every_system,
        further_systems,
        systems_frame,
    )
    from repro.records.stored import load_records

    config = resolve(scale)
    experiments = {name: _compared(name) for name in names if "." in name and "=" not in name}
    corpora = {of.config(scale).data.corpus for of in chain(*experiments.values())}
    evidence = Evidence(scale, load_records(folder, None, {*corpora, config.data.corpus}), split)
    if others := only_others(folder, evidence):
        raise others
    further = further_systems(evidence)
    settings = [
        of for name in names for of in experiments.get(name) or [_setting_of(name, further)]
    ]
    settings, reference = settings or every_system(evidence), _setting_of(against, further)
    frame = systems_frame(evidence, list(dict.fromkeys(settings)), reference)
    if form == "latex":
        label = "+".join(names) or "systems"
        about = _about(config, scale, split)
        return click.echo(as_latex(frame, reference, about, label), nl=False)
    click.echo(as_markdown(frame, reference))


def _about(config: RunConfig, scale: str, split: str) -> str:
    """Say in a caption what was scored; of your own text, the name of its folder is enough."""
    data = config.data
    own = own_folder(data.corpus)
    corpus = own.name if own else data.corpus
    return f"{corpus} {split}, {data.source} to {data.target}, at the scale {scale}"


def _compared(name: str) -> list[Setting]:
    """Return the settings of an experiment, or of all of a paper's."""
    from repro.papers import find_experiments

    return [of for _, experiment in find_experiments(name) for of in experiment.settings]


def _setting_of(name: str, further: dict[str, Setting]) -> Setting:
    """Return the setting of a system, also of one that only records name, such as your own."""
    if name not in SYSTEMS and name not in further:
        raise InputError(name, "is not a system", did_you_mean(name, [*SYSTEMS, *further]))
    return further.get(name) or Setting(name)
