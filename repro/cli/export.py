"""Write a run for other programs."""

from pathlib import Path

import click

from repro.files import check_writable
from repro.runs import gallery


@click.command(short_help="Write a run for CTranslate2 or Hugging Face.")
@click.argument("run")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="New folder."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["ctranslate2", "huggingface"]),
    default="ctranslate2",
    show_default=True,
    help="Of the folder.",
)
def export(run: str, out: Path, form: str) -> None:
    """Write RUN for another program, with its subwords and a README, into a folder.

    Both formats hold models with dot-product attention at every site, such as base. ctranslate2
    needs that program here. huggingface needs nothing: `transformers` loads the folder as a Pegasus
    model, whose layers normalise before each sublayer, as every scale here does. A run with
    model.norm=post becomes a Marian model, whose layers normalise after it.

    \b
      repro export gallery/base --out base-ct2
      repro export gallery/base --out base-hf --format huggingface
    """
    found = gallery.find(run)
    check_writable(out)
    if form == "ctranslate2":
        from repro.runs.ctranslate2 import save_ctranslate2

        save_ctranslate2(found, out)
    else:
        from repro.runs.huggingface import save_huggingface

        save_huggingface(found, out)
    click.echo(out)
