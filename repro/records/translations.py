"""Read the translations of a record from its tables: texts, counts, scores and comparisons."""

from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from repro.core.subwords import Subwords
from repro.data.corpora import task_of
from repro.errors import DamagedFileError
from repro.records.schema import kind_of
from repro.records.sentences import (
    Table,
    describe_references,
    has_statistics,
    statistic_columns,
    statistics,
)
from repro.records.stored import FIX, pairs_of
from repro.statistics.comparing import (
    Comparison,
    Counted,
    Score,
    as_records,
    compare_counted,
    score_all,
)
from repro.statistics.metrics import Distinct, metrics_for
from repro.statistics.resampling import brevity_of_sums


def score_tables(
    hyps: list[str], sources: list[str], refs: list[str], target: str, task: str
) -> dict[str, Table]:
    """Return the tables of a score record: translations, and their references."""
    metrics = metrics_for(task, target, tuple(refs))
    references = describe_references(metrics, sources, refs)
    return {
        "sentences": Table({"hypothesis": hyps, **statistic_columns(metrics, hyps)}),
        "references": references,
    }


def writable(
    subwords: Subwords, hyps: list[str], refs: list[str], target: str, task: str
) -> dict[str, Any]:
    """Return the cost of subwords in a record, if the model cannot write some references.

    Returns:
        `changed`: the number of references that its subwords change; `best`: the scores of the
        references as it can write them; `scores`: its own scores against these. Empty if none is
        changed.
    """
    written = subwords.decode(subwords.encode(refs))
    changed = sum(one.split() != other.split() for one, other in zip(written, refs, strict=True))
    if not changed:
        return {}
    best, scores = (
        {score.name: round(score.value, 4) for score in score_all(lines, against, target, task)}
        for lines, against in ((written, refs), (hyps, written))
    )
    return {"writable": {"changed": changed, "best": best, "scores": scores}}


def hypotheses_of(record: dict[str, Any]) -> list[str]:
    """Return the translations of a record of scores, or the unmasked ones of a record of masks."""
    if kind_of(record) != "masks":
        return record["tables"]["sentences"]["hypothesis"]
    table = record["tables"]["masks"]
    return [
        text
        for text, mask in zip(table["hypothesis"], table["mask"].tolist(), strict=True)
        if not mask
    ]


def changed_by(record: dict[str, Any], mask: int) -> dict[int, str]:
    """Return the translations in a masks record that masking a head changes."""
    table = record["tables"]["masks"]
    rows = zip(table["mask"].tolist(), table["sentence"].tolist(), table["hypothesis"], strict=True)
    return {sentence: text for number, sentence, text in rows if number == mask}


def statistics_of(record: dict[str, Any], name: str, mask: int = 0) -> np.ndarray:
    """Return the statistics of a record's translations, `(sentences, statistics)`.

    Args:
        record: of scores or masks.
        name: of the metric.
        mask: number of the head that is masked; 0 = none.
    """
    references = record["tables"]["references"]
    if kind_of(record) != "masks":
        return statistics(name, record["tables"]["sentences"], references)
    table = record["tables"]["masks"]
    sums = statistics(name, _Rows(table, table["mask"] == 0), references)
    if mask:
        changed = table["mask"] == mask
        places = table["sentence"][changed]
        sums[places] = statistics(name, _Rows(table, changed), _Rows(references, places))
    return sums


class Lengths(NamedTuple):
    """How long translations are, in words as BLEU counts them."""

    hypotheses: int
    references: int
    penalty: float  # the factor of BLEU

    def cell(self) -> str:
        """Return the lengths of a record's translations by their references', and the penalty."""
        return f"{self.hypotheses / self.references:.3f} / {self.penalty:.3f}"


LENGTHS_HEADING = "length ratio / brevity penalty"


def lengths_of(record: dict[str, Any], name: str = "BLEU") -> Lengths:
    """Return how long the translations of a record are, by BLEU or its tokenised form."""
    added = statistics_of(record, name).sum(axis=0)
    return Lengths(int(added[0]), int(added[1]), float(brevity_of_sums(added[None])[0]))


class _Rows(dict[str, np.ndarray]):
    """The columns of some rows of a table."""

    def __init__(self, table: Table, rows: np.ndarray) -> None:
        self._table, self._rows = table, rows

    def __missing__(self, name: str) -> np.ndarray:
        return self._table[name][self._rows]


def counted_of(record: dict[str, Any]) -> list[Counted]:
    """Return the counts of a record's translations, for each metric that is computed from sums."""
    summed = [score for score in record["scores"] if has_statistics(score["name"])]
    return [
        Counted(score["name"], score["signature"], statistics_of(record, score["name"]))
        for score in summed
    ]


def rescore(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Compute the scores again from the tables of the record; no corpus is needed."""
    counted = {one.metric: one for one in counted_of(record)}
    again = []
    for name, signature in ((score["name"], score["signature"]) for score in record["scores"]):
        value = (
            counted[name].score()
            if name in counted
            else _distinct(name).score(hypotheses_of(record))
        )
        again.append(Score(name, value, signature))
    return as_records(again)


def _distinct(name: str) -> Distinct:
    """Return the metric of a record with a name such as `distinct-1`."""
    stem, _, n = name.rpartition("-")
    if stem != "distinct" or n not in ("1", "2"):
        raise DamagedFileError(name, "is the name of no score", FIX)
    return Distinct(int(n))


def recount(record: dict[str, Any]) -> dict[str, bool]:
    """Compute the tables and signatures of a record again from its translations and references.

    Returns:
        Name of each recomputed part -> whether it is as stored.

    Raises:
        DamagedFileError: the corpus has other references than those of the record.
    """
    data, hyps = record["config"]["data"], hypotheses_of(record)
    sources, refs = pairs_of(record)
    if len(hyps) != len(refs):
        raise DamagedFileError(
            record["run"], f"has {len(hyps):,} translations of {len(refs):,} sentences", FIX
        )
    task = task_of(data["corpus"])
    tables = score_tables(hyps, sources, refs, data["target"], task)
    signatures = [
        (metric.name, metric.signature())
        for metric in metrics_for(task, data["target"], tuple(refs))
    ]
    return {
        "counts of the translations": tables["sentences"] == record["tables"]["sentences"],
        "lengths of the references": tables["references"] == record["tables"]["references"],
        "signatures": signatures
        == [(score["name"], score["signature"]) for score in record["scores"]],
    }


def compare_records(first: dict[str, Any], second: dict[str, Any]) -> list[Comparison]:
    """Compare two comparable records by paired bootstrap.

    Raises:
        DamagedFileError: they were scored against different references.
    """
    (compared,) = compare_seeds([[first], [second]])
    return compared


def compare_seeds(systems: Sequence[Sequence[dict[str, Any]]]) -> list[list[Comparison]]:
    """Compare systems with the first, each by comparable records of one seed or several.

    See `comparing.compare_systems`.

    Raises:
        DamagedFileError: two of them were scored against different references.
    """
    _check_same_references(list(chain.from_iterable(systems)))
    return compare_counted([[counted_of(record) for record in seeds] for seeds in systems])


def _check_same_references(records: Sequence[dict[str, Any]]) -> None:
    """Refuse records that were scored against different references."""
    for record in records:
        if record["references_sha256"] != records[0]["references_sha256"]:
            what = f"was scored against other references than {records[0]['run']}"
            raise DamagedFileError(
                record["run"], what, "use the same version of the corpus, or evaluate the run again"
            )
