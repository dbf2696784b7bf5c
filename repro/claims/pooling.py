"""Several test sets taken as one: more sentences, so narrower intervals."""

from collections.abc import Iterable, Sequence
from typing import Any

from repro.records.schema import kind_of
from repro.records.sentences import JoinedTable
from repro.records.stored import search_of

AND = "+"  # between the names of test sets that are taken as one


def pooled(records: Iterable[dict[str, Any]], splits: Sequence[str]) -> list[dict[str, Any]]:
    """Return records in which the scores of a run on several test sets are one record: its translations of all, set after set.

    BLEU of all sentences is no mean of BLEU of the sets: its counts are added up. Runs that were
        not scored on every set are left out, and
    so are scores on other sets or under another search. Records of other kinds stay as they are.

    Args:
        records: of any kind.
        splits: the test sets, in the order that their sentences take.
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
    """Return the first record with the translations of all, and without what was computed of the first set alone."""
    kept = {name: value for name, value in sets[0].items() if name not in ("scores", "decoding")}
    return kept | {
        "split": AND.join(record["split"] for record in sets),
        "references_sha256": AND.join(record["references_sha256"] for record in sets),
        "sentences": sum(record["sentences"] for record in sets),
        "tables": {
            name: JoinedTable([record["tables"][name] for record in sets])
            for name in ("sentences", "references")
        },
    }
