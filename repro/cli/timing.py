"""Say how long a plan will take, by timing it here where no stored run tells."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from repro.claims.evidence import Record
    from repro.papers.runner import Plan


def announce_hours(missing: "Plan", known: "Iterable[Record]") -> None:
    """Time the first updates of the missing runs, unless stored runs tell, and print the hours."""
    from repro.papers.runner import estimate_minutes
    from repro.papers.timing import UPDATES, hours_here

    configs = [*missing.trainings, *missing.trained_again()]
    if not configs or estimate_minutes(missing, known, 1) is not None:
        return
    hours = hours_here(configs)
    click.echo(
        f"{UPDATES} updates of each shape were timed: about {hours:.1f} hours of training here, "
        "one run after the other",
        err=True,
    )
