"""Show claims in a table: the papers' statements, our verdicts, and their evidence."""

from collections.abc import Mapping, Sequence

import anywidget
import traitlets

from repro.claims.conditions import STATUSES
from repro.errors import InputError
from repro.plots import escape
from repro.widgets.parts import InteractiveWidget, module, style

COLUMNS = ("verdict", "id", "paper", "statement", "evidence")


class Table(anywidget.AnyWidget):
    """Show rows that a click on a heading sorts.

    `verdicts` are those shown, none = all; `order` is the one for sorting.
    """

    _esm, _css = module("claims"), style("claims")
    columns = traitlets.List(list(COLUMNS)).tag(sync=True)
    order = traitlets.List(list(STATUSES)).tag(sync=True)
    claims = traitlets.List().tag(sync=True)
    verdicts = traitlets.List().tag(sync=True)


class ClaimsTable(InteractiveWidget):
    """Show claims with their verdicts; not reproduced comes first.

    Args:
        claims: `id`, `paper`, `statement`, `verdict` and `evidence` each, all text; evidence may
            have several lines.

    `table.verdicts` may be set to show only some.

    Raises:
        InputError: a claim that lacks one of them.
    """

    def __init__(self, claims: Sequence[Mapping[str, str]]) -> None:
        for number, claim in enumerate(claims):
            if missing := [column for column in COLUMNS if not isinstance(claim.get(column), str)]:
                raise InputError(
                    f"claim {number}",
                    f"has no text for {', '.join(missing)}",
                    f"give {', '.join(COLUMNS)}",
                )
        order: dict[str, int] = {verdict: place for place, verdict in enumerate(STATUSES)}
        ordered = sorted(claims, key=lambda claim: order.get(claim["verdict"], len(order)))
        self.table = Table(
            claims=[{column: claim[column] for column in COLUMNS} for claim in ordered]
        )
        super().__init__([self.table])

    def static(self) -> str:
        """Return all claims in the order of the live table, their evidence folded away.

        A table would be wider than a phone.
        """
        return "".join(map(_folded, self.table.claims))


def _folded(claim: Mapping[str, str]) -> str:
    """Return a claim as a line that opens to its evidence."""
    of = {column: "<br>".join(map(escape, claim[column].split("\n"))) for column in COLUMNS}
    line = f"<b>{of['verdict']}</b>: {of['id']} ({of['paper']}) {of['statement']}"
    return f"<details><summary>{line}</summary><p>{of['evidence']}</p></details>"
