"""Options that several commands have."""

import json
import math
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from repro.claims.settings import Setting
from repro.data.corpora import load_pairs, task_of
from repro.data.own_text import own_folder
from repro.errors import GET_PROJECT, DamagedFileError, InputError, shortened
from repro.files import check_plain, check_writable
from repro.presets import SCALES, resolve
from repro.runs.run import Run
from repro.scales import DEFAULT_RESULTS, load_scale

if TYPE_CHECKING:
    from repro.claims.evidence import Evidence


class _WholeNumber(click.types.IntParamType):
    """Whole numbers as in `key=value` settings, which are JSON.

    `int` would also take 1_000, 007 and digits of any script.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            found = json.loads(value) if isinstance(value, str) else value
        except (ValueError, RecursionError):
            found = None
        if type(found) is not int:
            self.fail(f"{shortened(repr(value), 80)} is not a valid integer.", param, ctx)
        return found


WHOLE_NUMBER = _WholeNumber()


def loaded(context: click.Context, option: click.Parameter, scale: str | None) -> str | None:
    """Return the name of a scale, whose file is read if it is one of your own."""
    return None if scale is None else load_scale(scale)


SCALE = click.option(
    "--scale",
    default="smoke",
    show_default=True,
    callback=loaded,
    help="Corpus, shape and schedule: one of `repro variants`, or your own file (my.toml).",
)
SPLIT = click.option(
    "--split",
    default="test",
    show_default=True,
    help="test, dev, a further test set of the corpus, or CORPUS:SPLIT.",
)
RESULTS = click.option(
    "--results",
    type=click.Path(file_okay=False, path_type=Path),
    default=DEFAULT_RESULTS,
    show_default=True,
    help="Folder of records.",
)

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, for other programs.")


def print_json(value: Any) -> None:
    """Print a value as JSON; NaN, which JSON lacks, is null."""
    click.echo(json.dumps(_without_nan(value), indent=1, ensure_ascii=False, allow_nan=False))


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nan(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def search_options(command):
    """Add the options of the search to a command."""
    command = click.option(
        "--beam",
        type=WHOLE_NUMBER,
        default=5,
        show_default=True,
        help="Prefixes kept per sentence; 1 is greedy search.",
    )(command)
    command = click.option(
        "--alpha",
        type=float,
        help="Strength of the length penalty; 0 is none.  [default: the run's own, usually 1]",
    )(command)
    return click.option(
        "--penalty",
        default="length",
        show_default=True,
        type=click.Choice(["length", "wu"]),
        help="length^alpha, or Wu et al. 2016.",
    )(command)


def shown(score: float) -> str:
    """Write a score as all commands print it: two decimals, from the four of records."""
    return f"{round(score, 4):.2f}"


def check_split(run: "Run", split: str) -> None:
    """Refuse an unknown test set of a command, before torch is loaded.

    The corpus is not read again after that. The user's own text may change and is read each time,
    so there the command itself finds the mistake.
    """

    data = run.config.data
    if not own_folder(data.corpus):
        load_pairs(data.corpus, data.source, data.target, split)


def no_progress() -> bool:
    """Return whether a command needs no progress bar: standard error is a file, or closed."""
    return sys.stderr is None or not sys.stderr.isatty()


def given_once(settings: Sequence[str]) -> tuple[str, ...]:
    """Return the `key=value` settings of a command, and refuse a key given twice.

    Raises:
        InputError: a key is given twice; one of the two is surely a mistake.
    """
    keys = [setting.partition("=")[0] for setting in settings]
    for place, key in enumerate(keys):
        if key in keys[:place]:
            raise InputError(settings[place], f"'{key}' is given more than once", "give it once")
    return tuple(settings)


def check_translates(scale: str) -> None:
    """Refuse a command's scale that is unknown, or of summaries or replies.

    The papers' tables and claims are in BLEU, about translation.
    """

    if (task := task_of(resolve(scale).data.corpus)) != "translation":
        others = ", ".join(
            name for name, config in SCALES.items() if task_of(config.data.corpus) == "translation"
        )
        what = f"is for {task}, and the papers' experiments and claims are on translation"
        raise InputError(f"--scale {scale}", what, f"use one of {others}")


def corpora_of(scale: str, settings: Iterable[Setting]) -> set[str]:
    """Return the corpora whose records a command reads, for a scale and some settings."""
    return {
        resolve(scale).data.corpus,
        *(setting.config(scale).data.corpus for setting in settings),
    }


def check_results(folder: Path) -> None:
    """Refuse a missing folder of results, in the same words for every command.

    Raises:
        InputError: it is missing; for the project's own folder, with how to get it.
    """
    if not folder.is_dir():
        yours = "name the folder that `repro run` made"
        fix = f"{yours}, or {GET_PROJECT}" if folder == DEFAULT_RESULTS else yours
        raise InputError(str(folder), "is no folder of results", fix)


def check_unused(names: Sequence[str], why: str) -> None:
    """Refuse options of the running command that were given and would do nothing.

    Args:
        names: of its parameters.
        why: in words.
    """
    context = click.get_current_context()
    spelled = {str(option.name): option.opts[0] for option in context.command.params}
    for name in names:
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise InputError(spelled[name], why, "leave it out")


def check_not_beside(name: str, keys: Sequence[str], settings: Sequence[str]) -> None:
    """Refuse an option of the running command if a `key=value` setting says the same.

    The setting would override the option.

    Args:
        name: of the parameter.
        keys: of the same meaning.
        settings: that were given.
    """
    given = [setting for setting in settings if setting.partition("=")[0] in keys]
    if given:
        check_unused([name], f"is given beside {given[0]}, and one of the two is surely a mistake")


@contextmanager
def damage_named(results: Path) -> Iterator[None]:
    """Name the record whose damage ends a command; another error passes unchanged.

    Records are checked for the fields that all readers need, not for every number that some table
    may use.
    """
    try:
        yield
    except Exception as error:
        from repro.verify.verify import MALFORMED_RECORD, verify_records

        problems = verify_records(results).faults if isinstance(error, MALFORMED_RECORD) else []
        if not problems:
            raise
        fix = "restore the records that `repro verify` names, or make them again"
        raise DamagedFileError(
            str(results), f"cannot be read in full: {problems[0]}", fix
        ) from error


def only_others(results: Path, evidence: "Evidence") -> InputError | None:
    """Return an error that says what scores a folder holds, if none are of the scale and test set.

    None if some are, or if there are no scores at all. --scale was forgotten, as a rule.
    """
    from repro.papers.verdicts import verdict_places
    from repro.records.stored import load_records

    if evidence.all("scores"):
        return None
    held = set()
    for record in load_records(results):
        data, split = record["config"]["data"], record["split"]
        own = own_folder(data["corpus"])
        corpus = own.name if own else data["corpus"]
        held.add(f"{corpus} {split} {data['source']}-{data['target']}")
    if not held:
        return None
    named = sorted({scale for scale, _ in verdict_places(results)[0]} - {evidence.scale})
    what = f"holds no scores of {evidence.split} at {evidence.scale}, but some of "
    what += shortened(", ".join(sorted(held)), 90)
    what += f" (judged at {shortened(', '.join(named), 50)})" if named else ""
    return InputError(str(results), what, "give their --scale, such as my.toml, or another folder")


OUR_PAGES = re.compile(
    rb"# (\d+ experiments? at |What five papers claim, at |.+, \S+ to \S+, )"
    rb"|submission,points,of,"
    rb'|<!doctype html>[^<]*<html[^>]*><head>[^\n]*content="repro"'
)
"""The beginnings of our reports: one of their headings, the head of their page of HTML, or of the
table of grades."""


def check_ours(path: Path) -> None:
    """Refuse a command's output over another file, such as a text named by mistake.

    Raises:
        InputError: the file is there and has another beginning.
    """
    try:
        with open(path, "rb") as file:
            head = file.read(1000)
    # `check_writable` checks whether it can be made
    except (FileNotFoundError, NotADirectoryError):
        return
    if head and not OUR_PAGES.match(head):
        raise InputError(
            str(path),
            "is there, and was not written by this command",
            "name another file, or move that one away",
        )


def check_report(out: Path) -> None:
    """Refuse a command's report that cannot be written, before the work.

    Raises:
        InputError: it ends in .html, or is a folder.
        MachineError: the disk refuses, or something that is not a file has one of the two names.
    """
    if out.suffix == ".html" or not out.name:
        raise InputError(
            "--out",
            f"{out} is no name for Markdown",
            "name it .md; a page of HTML is written beside it",
        )
    if out.is_dir():
        raise InputError("--out", f"{out} is a folder", f"name a file in it: {out / 'report.md'}")
    for path in (out, out.with_suffix(".html")):
        check_plain(path)
        check_ours(path)
    check_writable(out.parent)
