"""Take several test sets as one: more sentences, so narrower intervals."""

from collections.abc import Iterable, Sequence
from typing import Any

from repro.records.schema import kind_of
from repro.records.sentences import JoinedTable
from repro.records.stored import search_of

AND = "+"  # between the names of joined test sets


def pooled(records: Iterable[dict[str, Any]], splits: Sequence[str]) -> list[dict[str, Any]]:
    """Join the score records of a run on several test sets into one, set after set.

    BLEU of all sentences is not the mean of the sets' BLEU: its counts are added up. Runs that were
    not scored on every set are left out, as are scores on other sets or under another search.
    Records of other kinds are unchanged.

    Args:
        records: of any kind.
        splits: the test sets, in the order of their sentences.
    """
    others: list[dict[str, Any]] = []
    scored: dict[str, dict[str, dict[str, Any]]] = {}  # configuration -> test set -> record
    for record in records:
        if kind_of(record) != "scores":
            others.append(record)
        elif record["split"] in splits and not search_of(record):
            scored.setdefault(record["config_digest"], {})[record["split"]] = record
    whole = [sets for sets in scored.values() if len(sets) == len(splits)]
    return [*others, *(_joined([sets[split] for split in splits]) for sets in whole)]


def _joined(sets: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return one record for the pooled test sets: all their tables, without the first's scores."""
    own = ("scores", "decoding", "likelihood")
    kept = {name: value for name, value in sets[0].items() if name not in own}
    return kept | {
        "split": AND.join(record["split"] for record in sets),
        "references_sha256": AND.join(record["references_sha256"] for record in sets),
        "sentences": sum(record["sentences"] for record in sets),
        "tables": {
            name: JoinedTable([record["tables"][name] for record in sets])
            for name in sets[0]["tables"]
            if all(name in record["tables"] for record in sets)
        },
    }
