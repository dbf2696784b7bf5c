"""Look inside a trained model, and take heads away."""

from pathlib import Path
from typing import Literal

import click

from repro.cli.options import WHOLE_NUMBER, check_split, no_progress, shown
from repro.core.attention.spec import layers_of
from repro.core.config import SITES
from repro.data.corpora import load_once
from repro.data.own_text import check_text_is_found
from repro.errors import InputError, MachineError
from repro.files import check_writable
from repro.markdown import table
from repro.runs import gallery


@click.command(short_help="Say what every head of a run does.")
@click.argument("run")
@click.option(
    "--split",
    default="dev",
    show_default=True,
    help="dev, test, or a further test set of the corpus.",
)
@click.option("--limit", type=WHOLE_NUMBER, help="Only the first sentences.")
@click.option(
    "--trees",
    default="find",
    show_default=True,
    type=click.Choice(["find", "PUD"]),
    help="Trees of the grammatical relations: those found for the split, or the gold trees of PUD.",
)
@click.option(
    "--record",
    type=click.Path(path_type=Path),
    help="Also write the record below this folder; only for the whole of dev.",
)
@click.option(
    "--figures",
    type=click.Path(path_type=Path),
    help="Also draw them as pictures into this folder.",
)
def heads(
    run: str,
    split: str,
    limit: int | None,
    trees: Literal["find", "PUD"],
    record: Path | None,
    figures: Path | None,
) -> None:
    """Describe what every head of RUN does.

    Printed are relevance, confidence, where it points, and the grammatical relations that it
    follows.

    Layers and heads are counted from 1, as in settings: layer 3 of this page is the layer of
    model.cross="none; 3: dot-product".

    \b
      repro heads gallery/base --limit 50
    """

    if limit is not None and limit < 1:
        raise InputError(
            "--limit", f"must be at least 1, found {limit}", "leave it out for all sentences"
        )
    found = gallery.find(run)
    # tables and claims would take a part for all of dev
    if record and (limit is not None or split != "dev"):
        what = "is of all sentences of dev, as tables and claims want it"
        raise InputError("--record", what, "leave out --limit and --split, or leave out --record")
    for folder in filter(None, (record, figures)):
        check_writable(folder)
    found.check_finished()
    check_split(found, split)

    from repro.measures.heads import NO_PARSER, describe_heads
    from repro.papers.figures import head_figures
    from repro.plots import save
    from repro.records.head_tables import render_heads
    from repro.records.stored import publish

    if figures and set(layers_of(found.config.model)["encoder_self"]) == {"none"}:
        raise InputError(
            "--figures",
            f"the encoder of {found.path.name} has no heads to draw",
            "leave it out, or choose another run",
        )
    try:
        described = describe_heads(found, split, limit, treebank=trees, quiet=no_progress())
    # A missing parser, mostly. Tables and claims need its parses; a first look does not.
    except MachineError as absent:
        if record or trees == "PUD":
            raise
        described = describe_heads(found, split, limit, treebank=None, quiet=no_progress())
        click.echo(f"without grammatical relations: {absent}", err=True)
    else:
        if described["measured"]["parses"] is None and found.config.data.source == "en":
            click.echo(NO_PARSER, err=True)
    written = None
    try:
        if record:
            # before it is printed: a reader may stop early, as `head` does
            written = publish(described, record)
    finally:  # even if it cannot be published: it took minutes
        click.echo(render_heads(described), nl=False)
    if written:
        click.echo(written)
    if figures:
        for name, figure in head_figures(described).items():
            path = figures / f"{found.path.name}.{name.lower().replace(' ', '-')}.png"
            save(figure, path)
            click.echo(path)


@click.command(short_help="Score a run on published pairs, or as a word aligner.")
@click.argument("run")
@click.argument("kind", type=click.Choice(["published_pairs", "alignments"]))
@click.option(
    "--record", type=click.Path(path_type=Path), help="Also write the record below this folder."
)
def measure(run: str, kind: str, record: Path | None) -> None:
    """Score RUN on published contrastive pairs, or its cross attention against gold alignments.

    published_pairs: DistilLingEval, English into German, on human beside machine references.
    alignments: for each head, and for the mean of all heads, the alignment error rate, and the
    share of words with gold links whose largest weight is on one.

    \b
      repro measure base alignments --record results
    """

    found = gallery.find(run)
    if record:
        check_writable(record)
    found.check_finished()

    from repro.measures.registry import ON_REQUEST
    from repro.measures.scores import describe_run
    from repro.records.stored import publish

    make, shown_as = ON_REQUEST[kind]
    made = describe_run(found) | {"kind": kind} | make(found)
    written = publish(made, record) if record else None
    click.echo(shown_as(made))
    if written:
        click.echo(written)


@click.command(short_help="Take heads away and save the smaller models.")
@click.argument("run")
@click.option(
    "--heads",
    "wanted",
    multiple=True,
    type=WHOLE_NUMBER,
    required=True,
    help="How many heads to leave; may be given several times.",
)
@click.option(
    "--sites",
    default="all",
    show_default=True,
    type=click.Choice(["encoder", "all"]),
    help="Where heads may go.",
)
@click.option("--jobs", type=WHOLE_NUMBER, default=2, show_default=True, help="Runs at a time.")
@click.option(
    "--split",
    default="test",
    show_default=True,
    help="test, dev, or a further test set of the corpus, for BLEU.",
)
def prune(run: str, wanted: tuple[int, ...], sites: str, jobs: int, split: str) -> None:
    """Prune heads of RUN until about as many as --heads are left (Voita et al. 2019).

    The smaller models are saved as runs. For each penalty that is tried, a gated model is trained
    from RUN. BLEU is of that model. Its difference to RUN with all heads has a 95 % interval over
    test sentences (paired bootstrap); one training says nothing about other seeds.

    \b
      repro prune base --heads 6 --heads 4 --sites encoder
    """

    found = gallery.find(run)

    data = found.config.data
    check_text_is_found(data.corpus, found.path)
    # a wrong name is refused before all work
    load_once(data.corpus, data.source, data.target).pairs(split, data.source, data.target)

    from repro.measures.pruning import nearest_point, sweep
    from repro.measures.scores import evaluate_run
    from repro.pruning.cutting import check_prunable, save_pruned
    from repro.pruning.gates import kept_heads
    from repro.records.translations import compare_records
    from repro.runs.models import load_model

    chosen = ("encoder_self",) if sites == "encoder" else SITES
    model = load_model(found)
    layers = kept_heads(model)
    num_heads = sum(len(layer) for site in chosen for layer in layers[site])
    for number in wanted:
        if not 0 <= number < num_heads:
            what = f"found {number}, where {found.path.name} has {num_heads} heads"
            raise InputError(
                "--heads",
                what,
                f"use 0 to {num_heads - 1}" if num_heads else "choose a model that has some",
            )
    check_prunable(model, chosen)
    points = sweep(found, wanted, chosen, jobs=jobs, split=split)
    whole = evaluate_run(found, split, quiet=no_progress())
    bleu = next(score["value"] for score in whole["scores"] if score["name"] == "BLEU")
    rows = [["all", str(num_heads), "", shown(bleu), "", "", found.path.name]]
    for number in wanted:
        point = nearest_point(points, number)
        small = save_pruned(point.run)
        compared = compare_records(whole, evaluate_run(point.run, split, quiet=no_progress()))
        of_bleu = next(result for result in compared if result.metric == "BLEU")
        difference = [f"{of_bleu.difference:+.2f}", f"{of_bleu.low:+.2f} to {of_bleu.high:+.2f}"]
        rows.append(
            [
                str(number),
                str(point.heads),
                f"{point.penalty:g}",
                shown(point.bleu),
                *difference,
                small.path.name,
            ]
        )
    click.echo(
        table(
            ["wanted", "heads left", "penalty", "BLEU", "to all heads", "95 % interval", "run"],
            rows,
        )
    )
