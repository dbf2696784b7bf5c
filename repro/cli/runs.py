"""List runs, show one, and rename or delete it."""

import click

from repro.cli.options import JSON, print_json
from repro.runs.overview import all_runs, as_line, delete, overview, rename
from repro.runs.run import Run, runs_root


@click.command(short_help="List the runs; show, rename or delete one.")
@click.argument("run", required=False)
@click.option("--name", metavar="NAME", help="Give the run this name; every command takes it.")
@click.option("--delete", "deletes", is_flag=True, help="Delete the run, after a question.")
@click.option("--yes", is_flag=True, help="Delete without a question.")
@JSON
def runs(run: str | None, name: str | None, deletes: bool, yes: bool, as_json: bool) -> None:
    """List the runs in the folder of runs (REPRO_RUNS, default: runs), or show RUN alone.

    A line has name, system, corpus, direction and seed; what differs from the scale; progress, dev
    perplexity, BLEU by test set, size, and the last change.

    \b
      repro runs
      repro runs base --name first
      repro runs first --json
      repro runs first --delete --yes
    """
    if run is None:
        if name is not None or deletes:
            raise click.UsageError("Missing argument 'RUN'.", click.get_current_context())
        rows = [overview(one) for one in all_runs()]
        if as_json:
            return print_json(rows)
        return click.echo("\n".join(map(as_line, rows)) or f"no run in {runs_root()}")
    found = Run.find(run)
    if name is not None:
        rename(found, name)
    if deletes:
        size = overview(found)["megabytes"]
        if not yes:
            click.confirm(f"delete {found.path} ({size:,} MB)?", abort=True)
        delete(found)
        return click.echo(f"deleted {found.path}, {size:,} MB")
    row = overview(found)
    if as_json:
        return print_json(row)
    click.echo(as_line(row))
