"""Write a run for other programs."""

from pathlib import Path

import click

from repro.files import check_writable
from repro.runs import gallery


@click.command(short_help="Write a run for CTranslate2.")
@click.argument("run")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="New folder."
)
def export(run: str, out: Path) -> None:
    """Write RUN as a model of CTranslate2, with its subwords and a README, into a folder.

    CTranslate2 holds dot-product attention alone, in the shape of base. It must be installed.
    There is no export to the Marian models of Hugging Face: their layers normalise after each
    sublayer, and those of every scale here before it.

    \b
      repro export gallery/base --out base-ct2
    """
    found = gallery.find(run)
    check_writable(out)

    from repro.runs.ctranslate2 import save_ctranslate2

    save_ctranslate2(found, out)
    click.echo(out)
