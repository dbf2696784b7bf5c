"""The command line. Arguments are checked before torch is imported, so that a mistake is answered at once."""

import sys
import tempfile
import traceback

import click

from repro.commands import analysis, evaluation, papers, training
from repro.errors import ReproError

OUR_BUG = 70


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def cli(debug: bool) -> None:
    """Simplified attention in machine translation: train, translate, compare.

    \b
    A first tour, a few minutes on two cores:
      repro variants                               what there is
      repro data minigerman                        the corpus that is generated here
      repro train --scale smoke --variant base     a small Transformer
      repro train --scale smoke --variant hc-sa    the same with hard-coded self-attention
      repro compare base hc-sa                     do they differ by more than chance?

    RUN is a run's folder, or the beginning of its name in the folder of runs (REPRO_RUNS, default: runs).
    Real corpora are read from the folder REPRO_DATA, else from the Hugging Face Hub.
    """


for module in (training, evaluation, analysis, papers):
    for command in vars(module).values():
        if isinstance(command, click.Command):
            cli.add_command(command)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; an error is one line, and a traceback is kept in a file unless --debug asks to see it."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        cli.main(arguments, prog_name="repro")
    except ReproError as error:
        if "--debug" in arguments:
            raise
        click.echo(f"error: {error}", err=True)
        sys.exit(error.exit_code)
    except Exception as error:
        if "--debug" in arguments:
            raise
        with tempfile.NamedTemporaryFile("w", prefix="repro-bug-", suffix=".txt", delete=False) as file:
            traceback.print_exc(file=file)
        click.echo(f"error: a bug in repro: {type(error).__name__}: {error}. The traceback is in {file.name}; please report it", err=True)
        sys.exit(OUR_BUG)


if __name__ == "__main__":
    main()
