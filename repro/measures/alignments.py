"""Score the cross attention of a run against gold word alignments: its record and its table.

A record has `gold` (the sentences), `scores` (each head, the mean of each layer and of all) and
`diagonal` (each target word linked to the source word at its relative place). The table `links` has
the counts of every sentence, from which all scores follow; see `analysis/alignment.py`.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from repro.analysis.alignment import (
    MEAN,
    QUERIES,
    LinkCounts,
    align_with_heads,
    count_diagonal,
    error_rate,
)
from repro.core.numbering import head_number, layer_name
from repro.data.alignments import AlignedPair, GoldAlignments, load_alignments
from repro.data.corpora import prepare_lines
from repro.errors import InputError
from repro.markdown import table
from repro.records.sentences import Table
from repro.runs.models import load_translator
from repro.runs.run import Run

DIGITS = 5


def measure_alignments(run: Run) -> dict[str, Any]:
    """Return the links of every cross-attention head on the gold alignments of the run's languages.

    Raises:
        InputError: there are none for its languages, or the model has no cross attention.
        MachineError: they are not at hand.
    """
    data, translator = run.config.data, load_translator(run)
    gold = load_alignments(data.source, data.target)
    pairs = [_prepared(pair, data.corpus) for pair in gold.pairs]
    counts = list(align_with_heads(translator.model, translator.subwords, pairs))
    if not counts:
        what = "has no cross attention, or other words than the gold alignments"
        raise InputError(str(run.path), what, "choose another run")
    links = Table(dict(zip(LinkCounts._fields, map(list, zip(*counts, strict=True)), strict=True)))
    kept = [pairs[number] for number in dict.fromkeys(count.sentence for count in counts)]
    return _with_scores(gold, kept, links)


def _prepared(pair: AlignedPair, corpus: str) -> AlignedPair:
    """Return a sentence pair with gold links as models read it, before alignments are measured."""
    source, target = prepare_lines(corpus, [pair.source, pair.target])
    return AlignedPair(source, target, pair.sure, pair.possible)


def _with_scores(gold: GoldAlignments, kept: Sequence[AlignedPair], links: Table) -> dict[str, Any]:
    """Return the fields of an alignment record: gold links, and the scores of each head."""
    about = {
        "name": gold.name,
        "sentences": len(kept),
        "skipped": len(gold.pairs) - len(kept),
        "stray_links": gold.num_stray,
        "sure": sum(len(pair.sure) for pair in kept),
        "aligned_words": sum(len({target for _, target in pair.possible}) for pair in kept),
        "sha256": gold.fingerprint,
    }
    sums = np.sum([count_diagonal(pair) for pair in kept], axis=0).tolist()
    return {
        "gold": about,
        "diagonal": _score(sums, about),
        "scores": scores_of(links, about),
        "tables": {"links": links},
    }


def scores_of(links: Table, gold: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the alignment error rate of each head of a record, and its share of linked words.

    Args:
        links: the counts of every sentence.
        gold: the description of the gold links in a record.
    """
    rows: dict[tuple[str, int, int], list[int]] = {}
    columns = [links["query"], *(links[name].tolist() for name in LinkCounts._fields[2:])]
    for query, layer, head, *counts in zip(*columns, strict=True):
        sums = rows.setdefault((query, layer, head), [0, 0, 0])
        for place, count in enumerate(counts):
            sums[place] += count
    return [
        {"query": query, "layer": layer, "head": head} | _score(sums, gold)
        for (query, layer, head), sums in rows.items()
    ]


def _score(sums: Sequence[int], gold: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an alignment record on one head, from its counted links."""
    links, sure, possible = sums
    return {
        "links": links,
        "sure": sure,
        "possible": possible,
        "error_rate": round(error_rate(links, sure, possible, gold["sure"]), DIGITS),
        "met": round(possible / gold["aligned_words"], DIGITS),
    }


def check_alignments(record: dict[str, Any]) -> Iterator[str | None]:
    """Derive the scores of a measured record again; yield a message or None for each."""
    derived = scores_of(record["tables"]["links"], record["gold"])
    yield None if len(derived) == len(record["scores"]) else "scores: not those of the counts"
    for stored, again in zip(record["scores"], derived, strict=False):
        name = f"{again['query']} {_name(again)}"
        yield None if stored == again else f"{name}: stored {stored}, derived {again}"


def check_gold(record: dict[str, Any]) -> Iterator[str | None]:
    """Read the gold links of a measured record again; yield a message if they differ, else None.

    Raises:
        MachineError: they are not at hand.
    """
    data = record["config"]["data"]
    gold = load_alignments(data["source"], data["target"])
    is_same = gold.fingerprint == record["gold"]["sha256"]
    yield None if is_same else f"gold alignments: differ from those of {gold.name}"


def alignments_table(record: dict[str, Any]) -> str:
    """Return the table of a measured alignment record: heads, means, the diagonal.

    It has the error rate, and the share of target words with a gold link that meet one, for both
    kinds of query.
    """
    found = {(one["query"], one["layer"], one["head"]): one for one in record["scores"]}
    header = ["head"]
    for query in QUERIES:
        header += [f"error rate, {query}", f"met, {query}"]
    rows = []
    for layer, head in dict.fromkeys((one["layer"], one["head"]) for one in record["scores"]):
        ones = [found[query, layer, head] for query in QUERIES]
        rows.append([_name(ones[0]), *(cell for one in ones for cell in _cells(one))])
    rows.append(["diagonal", *_cells(record["diagonal"]) * len(QUERIES)])
    return table(header, rows)


def _name(one: dict[str, Any]) -> str:
    """Name a head, or a mean of heads, in the table of an alignment record."""
    if one["head"] != MEAN:
        return head_number(one["layer"], one["head"])
    return f"mean of {'all' if one['layer'] == MEAN else layer_name(one['layer'])}"


def _cells(one: dict[str, Any]) -> list[str]:
    """Return the two cells of a head in the table of an alignment record."""
    return [f"{100 * one['error_rate']:.1f}", f"{100 * one['met']:.1f}"]
