"""Look inside a trained model, and take heads away."""

import sys
from pathlib import Path

import click


@click.command()
@click.argument("run")
@click.option("--split", default="dev", show_default=True)
@click.option("--limit", type=int, help="Only the first sentences.")
@click.option("--record", type=click.Path(path_type=Path), help="Also write the record below this folder.")
@click.option("--figures", type=click.Path(path_type=Path), help="Also draw them as pictures into this folder.")
def heads(run: str, split: str, limit: int | None, record: Path | None, figures: Path | None) -> None:
    """Say what every head of RUN does: relevance, confidence, where it points, which grammatical relations it follows."""
    from repro.runs import Run

    found = Run.find(run)

    from repro.analysis.head_records import describe_heads
    from repro.analysis.tables import render_heads
    from repro.papers.figures import head_figures
    from repro.plots import save
    from repro.records import publish

    described = describe_heads(found, split, limit, quiet=not sys.stderr.isatty())
    click.echo(render_heads(described), nl=False)
    if record:
        click.echo(publish(described, record))
    if figures:
        for name, figure in head_figures(described).items():
            path = figures / f"{found.path.name}.{name.lower().replace(' ', '-')}.png"
            save(figure, path)
            click.echo(path)


@click.command()
@click.argument("run")
@click.option("--heads", "wanted", multiple=True, type=int, required=True, help="How many heads to leave; may be given several times.")
@click.option("--sites", default="all", show_default=True, type=click.Choice(["encoder", "all"]), help="Where heads may go.")
@click.option("--jobs", default=2, show_default=True, help="Runs at a time.")
@click.option("--split", default="test", show_default=True)
def prune(run: str, wanted: tuple[int, ...], sites: str, jobs: int, split: str) -> None:
    """Prune heads of RUN until about so many are left (Voita et al. 2019), and save the smaller models as runs of their own."""
    from repro.runs import Run

    found = Run.find(run)

    from repro.config import SITES
    from repro.pruning import save_pruned
    from repro.pruning_sweep import nearest, sweep
    from repro.report import table

    chosen = ("encoder_self",) if sites == "encoder" else SITES
    points = sweep(found, wanted, chosen, jobs=jobs, split=split)
    rows = []
    for number in wanted:
        point = nearest(points, number)
        small = save_pruned(point.run)
        rows.append([str(number), str(point.heads), f"{point.penalty:g}", f"{point.bleu:.2f}", small.path.name])
    click.echo(table(["wanted", "heads left", "penalty", "BLEU", "run"], rows))
