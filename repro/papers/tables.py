"""Render the tables of an experiment as Markdown: printed numbers beside ours."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from repro.claims.bins import equal_parts
from repro.claims.evidence import Evidence, NotMeasured, Record
from repro.claims.settings import Setting
from repro.errors import MachineError
from repro.markdown import table
from repro.papers.printed import Printed, printed_numbers
from repro.papers.printed_tables import remarks_of
from repro.records.stored import score_of
from repro.records.translations import LENGTHS_HEADING, Lengths, lengths_of
from repro.statistics.intervals import SENTENCES_ALONE, SENTENCES_ALONE_EXPLAINED

MOST_BESIDE = 4  # printed columns beside ours: a table with more would not fit the page


class Row(NamedTuple):
    """A row of a table of systems: our setting, and its cells in the paper's table.

    `cells` is `{"row": ...}` or `{"column": ...}`.
    """

    setting: Setting
    cells: dict[str, str]


def score_table(evidence: Evidence, paper: str, place: str, rows: Sequence[Row]) -> str:
    """Return a table of systems: printed cells, printed differences, and ours with 95 % intervals.

    Rows without cells are missing in the paper's table, such as our controls and the other
    direction. If no cell of the paper's table is known, the numbers in its text follow below, or a
    note. Without a place nothing is printed beside ours. Many printed columns have a table of their
    own below ours.
    """
    cells = {
        row.setting: {
            _heading(cell, row): cell
            for cell in (printed_numbers(paper, place, **row.cells) if row.cells else [])
        }
        for row in rows
    }
    headings = list(dict.fromkeys(heading for found in cells.values() for heading in found))
    first = rows[0].setting
    printed_difference = [f"printed difference to {first}"] if headings else []
    header = [
        "system",
        "ours: BLEU",
        f"ours: {LENGTHS_HEADING}",
        f"ours: difference to {first}",
        "seeds",
        "parameters",
        *printed_difference,
    ]
    body, theirs = (
        [],
        {
            setting: [found[h].as_printed if h in found else "-" for h in headings]
            for setting, found in cells.items()
        },
    )
    beside = headings if len(headings) <= MOST_BESIDE else []
    for row in rows:
        # Our columns come first: the end of a wide table is off the page.
        line = [str(row.setting), *_ours(evidence, row.setting, first)]
        line += [_printed_range(cells[row.setting], cells[first])] if headings else []
        body.append(line + theirs[row.setting][: len(beside)])
    parts = [
        explained(table([*header, *(f"printed: {heading}" for heading in beside)], body)),
        _stopped_early(evidence, rows),
    ]
    if headings and not beside:
        parts.append(
            table(
                ["printed", *headings],
                [[str(setting), *theirs[setting]] for setting, found in cells.items() if found],
            )
        )
    parts += [remarks_of(paper, place)] if place and not printed_numbers(paper, place) else []
    return "\n\n".join(part for part in parts if part)


def choice_table(evidence: Evidence, choices: dict[Setting, Setting], base: Setting) -> str:
    """Return a table of readings that a paper leaves open, against ours and a baseline."""
    body = []
    for other in evidence.scored(list(choices)):
        bleu, lengths, difference, seeds, parameters = _ours(evidence, other, choices[other])
        body.append(
            [
                str(other),
                bleu,
                lengths,
                str(choices[other]),
                difference,
                _difference(evidence, other, base),
                seeds,
                parameters,
            ]
        )
    header = [
        "read otherwise",
        "ours: BLEU",
        f"ours: {LENGTHS_HEADING}",
        "as read here",
        "difference to that",
        f"difference to {base}",
        "seeds",
        "parameters",
    ]
    return explained(table(header, body))


def length_table(
    evidence: Evidence, settings: Sequence[Setting], column: str, edges: Sequence[float], what: str
) -> str:
    """Return a paper's table of differences to the first setting, by bins of the test set."""
    first, others = settings[0], evidence.scored(settings[1:])
    columns = [evidence.gap_by([(1, setting), (-1, first)], column, edges) for setting in others]
    body = [
        [name, str(count), *(column[place][2].cell() for column in columns)]
        for place, (name, count, _) in enumerate(columns[0])
    ]
    return explained(
        table([what, "sentences", *(f"{setting} - {first}" for setting in others)], body)
    )


def mask_table(evidence: Evidence, settings: Sequence[Setting], heads: Sequence[str]) -> str:
    """Return a paper's table of the change in BLEU from masking each head, by setting."""
    settings = evidence.having("masks", settings)
    estimates = {head: [evidence.masked(setting, head) for setting in settings] for head in heads}
    body = [[head, *(found.cell(sign=-1) for found in row)] for head, row in estimates.items()]
    body.append(["measured for", *(found.seeds_said() for found in estimates[heads[0]])])
    return explained(
        table(["head masked: change in BLEU", *(str(setting) for setting in settings)], body)
    )


def masked_length_table(
    evidence: Evidence,
    setting: Setting,
    head: str,
    minus: Setting,
    column: str,
    edges: Sequence[float],
    what: str,
) -> str:
    """Return a paper's table of the change from masking a head, by bins."""
    body = [
        [
            name,
            str(len(inside)),
            evidence.masked(setting, head, inside).cell(sign=-1),
            evidence.contrast([(1.0, setting), (-1.0, minus)], inside).cell(),
        ]
        for name, _, inside in evidence.bins(setting, column, edges)
    ]
    return explained(
        table([what, "sentences", f"change with head {head} masked", f"{setting} - {minus}"], body)
    )


def off_diagonal_table(evidence: Evidence, settings: Sequence[Setting], site: str) -> str:
    """Return a paper's table of BLEU by the share of off-diagonal tokens.

    A token is off the diagonal if its attention is strongest two or more positions away.
    """
    first = settings[0]
    # Another version of the corpus would assign the shares to other sentences.
    evidence.check_measured("off_diagonal", first)
    shares = evidence.one("off_diagonal", first, split=evidence.split)["shares"][site]
    edges, settings = equal_parts(shares, 5), evidence.scored(settings)
    body = []
    for low, high in pairwise(edges):
        inside = [i for i, share in enumerate(shares) if low <= share < high]
        scores = [
            f"{evidence.contrast([(1.0, setting)], inside).value:.2f}" for setting in settings
        ]
        body.append([f"{100 * low:.0f} to {100 * min(high, 1):.0f} %", str(len(inside)), *scores])
    sorted_by = f"Sentences are sorted by the weights of {first}, seed 1"
    if not evidence.share_training(("off_diagonal", "scores"), first, 1, split=evidence.split):
        sorted_by += ", in another training than the one that is scored"
    header = [f"tokens off the diagonal, {site}", "sentences", *map(str, settings)]
    return f"{table(header, body)}\n\n{sorted_by}."


def explained(text: str) -> str:
    """Explain below a paper's table its mark for intervals without seeds."""
    return f"{text}\n\n{SENTENCES_ALONE_EXPLAINED}" if SENTENCES_ALONE in text else text


def status_line(error: NotMeasured) -> str:
    """Return the line in place of a paper's table without data."""
    return f"Not run: {error.where}, {error.what}."


def render_available(*parts: Callable[[], str]) -> str:
    """Join the parts of an experiment; one without records becomes a placeholder line."""
    texts = []
    for part in parts:
        try:
            texts.append(part())
        except NotMeasured as error:
            texts.append(status_line(error))
    return "\n\n".join(texts)


def _ours(evidence: Evidence, setting: Setting, first: Setting) -> list[str]:
    """Return our cells in a paper's table: BLEU, lengths, difference, seeds, parameters."""
    try:
        records = [evidence.scores(setting, seed) for seed in evidence.seeds(setting)]
    except NotMeasured:
        return ["not run", "", "", "0", ""]
    # The size of a part of a corpus follows from the corpus.
    except MachineError:
        return ["needs its corpus", "", "", "", ""]
    values = [score_of(record, "BLEU")["value"] for record in records]
    deviation = f" ± {np.std(values, ddof=1):.2f}" if len(values) > 1 else ""
    parameters = f"{records[0]['training']['parameters']:,}"
    return [
        f"{np.mean(values):.2f}{deviation}",
        _mean_lengths(records).cell(),
        "" if setting == first else _difference(evidence, setting, first),
        str(len(values)),
        parameters,
    ]


def _mean_lengths(records: Sequence[Record]) -> Lengths:
    """Return our cell on lengths in a paper's table: of all seeds, with mean penalty."""
    found = [lengths_of(record) for record in records]
    totals = (sum(one.hypotheses for one in found), sum(one.references for one in found))
    return Lengths(*totals, float(np.mean([one.penalty for one in found])))


def _stopped_early(evidence: Evidence, rows: Sequence[Row]) -> str:
    """Name the systems in a paper's table whose training ended early; empty if none.

    Their learning rate had not come down.
    """
    found = []
    for setting in (row.setting for row in rows):
        try:
            records = [evidence.scores(setting, seed) for seed in evidence.seeds(setting)]
        except (NotMeasured, MachineError):
            continue
        ends = {
            (record["training"]["update"], record["config"]["train"]["max_updates"])
            for record in records
        }
        found += [
            f"{setting} after {update:,} of {planned:,} updates"
            for update, planned in sorted(ends)
            if update < planned
        ]
    return (
        f"Stopped early, when dev had not improved for long: {'; '.join(found)}." if found else ""
    )


def _difference(evidence: Evidence, setting: Setting, first: Setting) -> str:
    """Return our difference of a setting to the first row of a paper's table."""
    try:
        return evidence.contrast([(1.0, setting), (-1.0, first)]).cell()
    except NotMeasured:
        return f"{first} not run"


def _heading(cell: Printed, row: Row) -> str:
    """Name a cell that a paper prints by its other coordinate, and its metric if needed."""
    other = cell.row if "column" in row.cells else cell.column
    metric = "SacreBLEU" if cell.metric == "SacreBLEU" else ""
    return f"{other} {metric}".strip() + (" (read off a plot)" if cell.approx else "")


def _printed_range(own: dict[str, Printed], first: dict[str, Printed]) -> str:
    """Return the smallest and largest printed difference to the first row in BLEU.

    SacreBLEU is preferred where it is printed, as ours.
    """
    shared = [
        heading
        for heading in own
        if heading in first
        and "BLEU" in own[heading].metric
        and "difference" not in own[heading].metric
    ]
    shared = [heading for heading in shared if "SacreBLEU" in own[heading].metric] or shared
    differences = [own[heading].number - first[heading].number for heading in shared]
    if own is first or not differences:
        return ""
    low, high = min(differences), max(differences)
    return f"{low:+.2f}" if low == high else f"{low:+.2f} to {high:+.2f}"
