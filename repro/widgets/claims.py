"""Show claims in a table: the papers' statements, our verdicts, and their evidence."""

from collections.abc import Mapping, Sequence

from repro.claims.conditions import STATUSES
from repro.errors import InputError
from repro.page.page import widget_html
from repro.plots import escape
from repro.widgets.frame import Frame

COLUMNS = ("verdict", "id", "paper", "statement", "evidence")
LONG = ("statement", "evidence")  # may break into lines
STYLE = ("views.css", "tabs.css", "claims_table.css")
HEIGHT = 600  # pixels


def claims_table(claims: Sequence[Mapping[str, str]]) -> Frame:
    """Return claims with their verdicts, to sort and to filter; not reproduced comes first.

    Args:
        claims: `id`, `paper`, `statement`, `verdict` and `evidence` each, all text; evidence may
            have several lines.

    Raises:
        InputError: a claim that lacks one of them.
    """
    for number, claim in enumerate(claims):
        if missing := [column for column in COLUMNS if not isinstance(claim.get(column), str)]:
            what, fix = f"has no text for {', '.join(missing)}", f"give {', '.join(COLUMNS)}"
            raise InputError(f"claim {number}", what, fix)
    order: dict[str, int] = {verdict: place for place, verdict in enumerate(STATUSES)}
    ordered = [
        {column: claim[column] for column in COLUMNS}
        for claim in sorted(claims, key=lambda claim: order.get(claim["verdict"], len(order)))
    ]
    title = "Claims with their verdicts and the evidence"
    data = {"claims": ordered, "columns": COLUMNS, "long": LONG, "order": STATUSES}
    page = widget_html(title, "front/claims_table.js", STYLE, data)
    return Frame(title, page, HEIGHT, instead="".join(map(_folded, ordered)))


def _folded(claim: Mapping[str, str]) -> str:
    """Return a claim as a line that opens to its evidence: a table would be wider than a phone."""
    of = {column: "<br>".join(map(escape, claim[column].split("\n"))) for column in COLUMNS}
    line = f"<b>{of['verdict']}</b>: {of['id']} ({of['paper']}) {of['statement']}"
    return f"<details><summary>{line}</summary><p>{of['evidence']}</p></details>"
