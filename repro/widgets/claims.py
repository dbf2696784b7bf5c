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
    return Frame(title, page, HEIGHT, instead=_table(ordered))


def _table(claims: Sequence[Mapping[str, str]]) -> str:
    heading = "".join(f"<th {_style(column)}>{column}</th>" for column in COLUMNS)
    rows = (
        "".join(f"<td {_style(column)}>{_lines(claim[column])}</td>" for column in COLUMNS)
        for claim in claims
    )
    return f"<table><tr>{heading}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def _style(column: str) -> str:
    """Return the style of a cell; JupyterLab aligns tables to the right, as for numbers."""
    return (
        'style="text-align: left; vertical-align: top; white-space: '
        f'{"normal" if column in LONG else "nowrap"}"'
    )


def _lines(text: str) -> str:
    """Return a text as HTML, with its line breaks."""
    return "<br>".join(escape(line) for line in text.split("\n"))
