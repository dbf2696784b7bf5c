"""Head records as Markdown tables. A head is named layer.head."""

from statistics import fmean
from typing import Any

from repro.analysis.syntax import DIRECTIONS, RELATIONS
from repro.core.config import SITES
from repro.core.numbering import FIRST, head_number
from repro.markdown import table

MISSING = "-"

COLUMNS = {  # field of a head record -> its header and format
    "relevance": ("relevance", ".3f"),
    "relevance_alphabeta": ("alphabeta", ".3f"),
    "gradient": ("gradient", ".3f"),
    "confidence": ("confidence", ".3f"),
    "offset": ("offset", "+.2f"),
    "distance": ("distance", ".2f"),
    "main_offset": ("main offset", "+.0f"),
    "positional": ("there", ".0%"),
    "entropy": ("entropy", ".2f"),
    "two_rarest": ("two rarest", ".0%"),
}


def render_heads(record: dict[str, Any]) -> str:
    """Return all tables of a record as a page."""
    parts = [f"# Heads of {record['run']}", sentences_measured(record), columns_explained(record)]
    for site in SITES:
        if record["sites"][site]["confidence"][0]:
            parts += [f"## {site}", heads_table(record, site), layers_table(record, site)]
    if record["syntax"]:
        parts += ["## Grammatical relations", syntax_table(record), accuracy_table(record)]
    return "\n\n".join(parts) + "\n"


def sentences_measured(record: dict[str, Any]) -> str:
    """Name the sentences that a record was made on, and the seed of its model."""
    data, measured = record["config"]["data"], record["measured"]
    where = (
        f"{data['corpus']}, {data['source']} to {data['target']}, {measured['sentences']:,} "
        f"sentences of {record['split']}"
    )
    return f"Measured on {where}, training seed {record['seed']}."


def columns_explained(record: dict[str, Any]) -> str:
    """Explain the columns of a head record's table."""
    measured = record["measured"]
    return (
        f"Heads: layer.head, both counted from {FIRST}. Relevance: share of a layer, by two rules, "
        "and gradient, whose layer has L2 norm 1: on the first "
        f"{measured['relevance_sentences']:,} sentences. Confidence: mean largest weight. "
        "Offset, distance: tokens; main offset: where most queries point, and how many do of those "
        "that can. Entropy: nats. Two rarest: queries that point to them, where the rarest token "
        f"of the sentence is not among the {measured['most_frequent']:,} most frequent. Parses: "
        f"{measured['parses'] or 'none for this language'}."
    )


def heads_table(record: dict[str, Any], site: str = "encoder_self") -> str:
    """Return the table of a head record at a site, with a row a head.

    Its columns are relevance, confidence, where the head points, its best relation above the
    baseline, and its roles.
    """
    found = record["sites"][site]
    has_syntax = site == "encoder_self" and record["syntax"] is not None
    rows = []
    for layer, head in _heads_at(record, site):
        cells = [_formatted(found[name][layer][head], form) for name, (_, form) in COLUMNS.items()]
        best = [_best_relation(record, layer, head)] if has_syntax else []
        rows.append(
            [head_number(layer, head), *cells, *best, ", ".join(found["roles"][layer][head])]
        )
    header = [
        "head",
        *(name for name, _ in COLUMNS.values()),
        *(["best relation, points above baseline"] if has_syntax else []),
        "roles",
    ]
    return table(header, rows)


def layers_table(record: dict[str, Any], site: str) -> str:
    """Return the table of a head record at a site, with a row a layer (Zeng et al. 2021).

    Its columns are the mean entropy of the heads, and the divergence from every layer.
    """
    found = record["sites"][site]
    rows = []
    for layer, divergences in enumerate(found["divergence"]):
        entropies = [value for value in found["entropy"][layer] if value is not None]
        mean = fmean(entropies) if entropies else None
        rows.append(
            [
                str(layer + FIRST),
                _formatted(mean, ".2f"),
                *(_formatted(value, ".3f") for value in divergences),
            ]
        )
    return table(
        ["layer", "entropy", *(f"divergence from {i + FIRST}" for i in range(len(rows)))], rows
    )


def syntax_table(record: dict[str, Any]) -> str:
    """Return a head record's best head for each relation, and the positional baseline.

    Source: Voita et al. 2019, Table 1.
    """
    syntax, rows = record["syntax"], []
    for relation in RELATIONS:
        pairs = f"{sum(syntax['positions'][relation].values()):,}"
        for direction in DIRECTIONS:
            accuracies = {
                place: syntax["accuracy"][relation][direction][place[0]][place[1]]
                for place in _heads_at(record, "encoder_self")
            }
            known = {
                place: accuracy for place, accuracy in accuracies.items() if accuracy is not None
            }
            best = [MISSING] * 3
            if known:
                layer, head = max(known, key=lambda place: known[place])
                best = [
                    head_number(layer, head),
                    _formatted(known[layer, head], ".0%"),
                    _points(syntax["margin"][relation][direction][layer][head]),
                ]
            rows.append(
                [
                    f"{relation}, {direction}",
                    pairs,
                    _formatted(syntax["baseline"][relation], ".0%"),
                    *best,
                ]
            )
    return table(
        [
            "relation, direction",
            "pairs of words",
            "baseline",
            "best head",
            "accuracy",
            "points above",
        ],
        rows,
    )


def accuracy_table(record: dict[str, Any]) -> str:
    """Return a head record's accuracy of every encoder head on each relation.

    The points above the baseline are in brackets.
    """
    syntax, rows = record["syntax"], []
    columns = [(relation, direction) for relation in RELATIONS for direction in DIRECTIONS]
    for layer, head in _heads_at(record, "encoder_self"):
        found = [
            [syntax[name][relation][direction][layer][head] for name in ("accuracy", "margin")]
            for relation, direction in columns
        ]
        cells = [
            MISSING if accuracy is None else f"{accuracy:.0%} ({_points(margin)})"
            for accuracy, margin in found
        ]
        rows.append([head_number(layer, head), *cells])
    return table(["head", *(f"{relation}, {direction}" for relation, direction in columns)], rows)


def _heads_at(record: dict[str, Any], site: str) -> list[tuple[int, int]]:
    """Return layer and head of all heads at a site of a record."""
    layers = enumerate(record["sites"][site]["confidence"])
    return [
        (layer, head)
        for layer, row in layers
        for head, value in enumerate(row)
        if value is not None
    ]


def _best_relation(record: dict[str, Any], layer: int, head: int) -> str:
    """Return the relation of a head record in which a head most exceeds the baseline."""
    margins = {
        f"{relation}, {direction}": matrix[layer][head]
        for relation, directions in record["syntax"]["margin"].items()
        for direction, matrix in directions.items()
        if matrix[layer][head] is not None
    }
    best = max(margins, key=lambda name: margins[name], default=None)
    return MISSING if best is None else f"{best} {_points(margins[best])}"


def _formatted(value: Any, form: str) -> str:
    """Return a value of a head record as a table cell; a mark where it is missing."""
    return MISSING if value is None else format(value, form)


def _points(margin: float) -> str:
    """Return a margin of a head record in points, with its sign."""
    return f"{100 * margin:+.0f}"
