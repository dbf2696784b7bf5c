"""The command verify: derive the stored numbers and verdicts again."""

from functools import partial
from pathlib import Path

import click

from repro.cli.options import RESULTS, check_results
from repro.errors import DamagedFileError, MachineError


@click.command(short_help="Derive the stored numbers and verdicts again.")
@RESULTS
@click.option(
    "--claims/--no-claims", "judge", default=True, help="Also compute the verdicts again."
)
@click.option(
    "--strict", is_flag=True, help="End with exit code 3 if something could not be checked here."
)
def verify(results: Path, judge: bool, strict: bool) -> None:
    """Derive stored numbers and verdicts again, and check for edits; any difference is an error.

    Numbers are derived from the tables of sentences; edits are found by the manifest. If
    behaviour.json is next to the records, the code must also compute the same as when they were
    written.

    With the corpora, the translations are scored again as well. What cannot be checked here is
    counted, and is not an error.

    \b
      repro verify --no-claims
      repro verify --results mine
    """
    check_results(results)

    from repro.verify.computed import verify_behaviour
    from repro.verify.verify import Verified, verify_claims, verify_records

    report = partial(click.echo, err=True)  # it takes minutes, and must not seem to hang
    found = verify_records(results, report)
    verdicts = verify_claims(results, report) if judge else Verified()
    computed, same = verify_behaviour(results)
    faults, unreadable = (
        [*found.faults, *verdicts.faults, *computed],
        found.unreadable + verdicts.unreadable,
    )
    for line in [*faults, *unreadable]:
        click.echo(line, err=True)
    unchecked = {**found.unchecked, **verdicts.unchecked}
    for what, lacking in unchecked.items():
        click.echo(
            f"not checkable here, {_count_in_words(len(lacking), 'record')}: {what}", err=True
        )
    if faults:
        raise DamagedFileError(
            str(results),
            f"faults found: {len(faults)}, each named above",
            "restore the records, or make them again",
        )
    if unreadable:
        what = f"could not be read in {_count_in_words(len(unreadable), 'place')}, each named above"
        raise MachineError(str(results), what, "check permissions and disk, then start again")
    if same:
        click.echo(same)
    again = [
        f"{_count_in_words(found.numbers, 'number')} of {_count_in_words(found.records, 'record')}"
    ]
    again += [_count_in_words(verdicts.numbers, "verdict")] if judge else []
    click.echo(
        f"{' and '.join(again)} derived again: no "
        f"fault{', of what could be checked here' if unchecked else ''}"
    )
    if unchecked and strict:
        raise MachineError(
            str(results),
            "could not be checked completely here, see above",
            "give what is lacking",
        )


def _count_in_words(number: int, what: str) -> str:
    """Write a number with its noun for `repro verify`, as `2 runs`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
