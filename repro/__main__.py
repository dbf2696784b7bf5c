"""The command line.

Arguments are checked before torch is imported, so that a mistake is answered at once.
"""

import re
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

import click

import repro
from repro.cli import export as exporting
from repro.cli import heads as analysis
from repro.cli import own_variants, papers, run, tables, verify
from repro.cli import page as browser
from repro.cli import report as reporting
from repro.cli import runs as run_list
from repro.cli import score as evaluation
from repro.cli import split as splitting
from repro.cli import teaching as lessons
from repro.cli import train as training
from repro.cli import translate as translation
from repro.errors import InputError, ReproError, Stopped
from repro.runs.refusals import known

OUR_BUG = 70
LONGEST = 290  # characters of an error after the word
STOPPED = 130  # by Ctrl-C, as shells have it


class _Commands(click.Group):
    """Commands that refuse an option with a value given twice; one is surely a mistake."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        if command:
            given = command.make_parser(click.Context(command, ctx, name)).parse_args(list(rest))[2]
            for option in given:
                if (
                    isinstance(option, click.Option)
                    and not (option.multiple or option.is_flag)
                    and given.count(option) > 1
                ):
                    raise InputError(option.opts[0], "is given more than once", "give it once")
        return name, command, rest


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(repro.__version__, prog_name="repro")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def cli(debug: bool) -> None:
    """Simplified attention in machine translation: train, translate, compare.

    \b
    A first tour, a few minutes on two cores:
      repro translate gallery/base < sentences.en  with a bundled model
      repro variants                               list systems, variants and scales
      repro data minigerman                        the corpus that is generated here
      repro train --scale smoke --system base      a small Transformer
      repro train --scale smoke --system hc-sa     the same with hard-coded self-attention
      repro compare base hc-sa                     do they differ by more than chance?

    RUN is a run's folder, or the beginning of its name in the folder of runs (REPRO_RUNS, default:
    runs). Real corpora are read from the folder REPRO_DATA; some of them, if absent, from the
    Hugging Face Hub.
    """


for module in (
    training,
    run_list,
    own_variants,
    translation,
    evaluation,
    reporting,
    tables,
    splitting,
    exporting,
    analysis,
    papers,
    run,
    verify,
    browser,
    lessons,
):
    for command in vars(module).values():
        if isinstance(command, click.Command):
            cli.add_command(command)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line.

    An error is one line. Its traceback is kept in a file, or shown with --debug.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in arguments  # before the command or behind it
    with _noted_interrupts() as interrupts:
        try:
            if sys.flags.optimize > 1:
                raise InputError(
                    "python -OO",
                    "takes every help text and description away",
                    "use python -O, or no option",
                )
            given = [word for word in arguments if word != "--debug"]
            code = cli.main(given, prog_name="repro", standalone_mode=False)
        # older versions of click do not raise it
        except getattr(click.exceptions, "NoArgsIsHelpError", ()) as help_text:
            help_text.show()
            sys.exit(help_text.exit_code)
        except click.ClickException as error:
            _exit_with(_of_usage(error))
        except Stopped as stopped:
            click.echo(str(stopped), err=True)
            sys.exit(stopped.exit_code)
        except Exception as error:
            # a library that is being imported may turn Ctrl-C into any other error
            if isinstance(error, click.Abort) or interrupts:
                click.echo("stopped", err=True)
                sys.exit(STOPPED)
            if debug:
                raise
            _exit_with(known(error, next((word for word in arguments if word in cli.commands), "")))
    sys.exit(code if isinstance(code, int) else 0)  # of --help, and of a wrong option


@contextmanager
def _noted_interrupts() -> Iterator[list[int]]:
    """Note every Ctrl-C in a list; it raises KeyboardInterrupt as usual."""
    seen: list[int] = []

    def interrupted(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        signal.default_int_handler(number, frame)

    is_ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if is_ours:
        signal.signal(signal.SIGINT, interrupted)
    try:
        yield seen
    finally:
        if is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _of_usage(error: click.ClickException) -> InputError:
    """Return click's message about a wrong command line as one of our own errors."""
    context = getattr(error, "ctx", None)
    where = context.command_path if context else "repro"
    what, *hints = re.split(r" \(?Did you mean (?:one of: )?", error.format_message().strip())
    fix = f"did you mean {hints[0].rstrip('?).')}?" if hints else f"see `{where} --help`"
    return InputError(where, f"{what[:1].lower()}{what[1:]}".removesuffix("."), fix)


def _exit_with(error: Exception) -> NoReturn:
    """Print an error as a line, and exit with its code."""
    if isinstance(error, ReproError):
        click.echo(f"error: {_as_one_line(str(error))}", err=True)
        sys.exit(error.exit_code)
    with tempfile.NamedTemporaryFile("w", prefix="repro-bug-", suffix=".txt", delete=False) as file:
        traceback.print_exception(error, file=file)
    what = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"  # C++ adds its stack
    click.echo(
        f"error: a bug in repro: {what}. The traceback is in {file.name}; please report it",
        err=True,
    )
    sys.exit(OUR_BUG)


def _as_one_line(text: str) -> str:
    """Return the text of an error as one line of limited length.

    A name in it may hold a line break, or a command to the terminal.
    """
    text = "".join(letter if letter.isprintable() else f"\\u{ord(letter):04x}" for letter in text)
    # of a name without end its ends tell which one it is, and the fix must be seen
    if len(text) > LONGEST:
        text = re.sub(
            rf"\S{{{LONGEST // 3},}}",
            lambda name: f"{name[0][: LONGEST // 8]}...{name[0][-LONGEST // 8 :]}",
            text,
        )
    return text


if __name__ == "__main__":
    main()
