"""Generate a report in Markdown from result records.

It holds scores with signatures, costs, and whether systems differ by more than chance.
"""

import math
import re
import statistics
from collections.abc import Callable
from typing import Any

from repro.core.config import RunConfig, from_dict
from repro.data.catalogue import GENERATED
from repro.data.corpora import task_of
from repro.data.own_text import own_folder
from repro.errors import InputError
from repro.markdown import escape, table, visible
from repro.records.costs import TRAINING_COSTS, costs_note, training_costs
from repro.records.published import published_for
from repro.records.stored import pairs_of, score_of, search_of
from repro.records.translations import (
    LENGTHS_HEADING,
    compare_seeds,
    hypotheses_of,
    lengths_of,
)
from repro.runs.naming import conditions_of
from repro.statistics.comparing import Comparison

NUM_EXAMPLES = 5
SHARED = "shared"  # beside the fields of a record on a page: what its label need not say
# If subwords cost a perfect translation more points than this, a column shows scores without that.
LOST = 1.0


def render(records: list[dict[str, Any]]) -> str:
    """Return the report of records of the same corpus, direction and split.

    Raises:
        InputError: no record, or records that cannot be compared.
        DamagedFileError: the corpus has other references than the records.
    """
    return "\n\n".join(sections(records).values()) + "\n"


def sections(records: list[dict[str, Any]]) -> dict[str, str]:
    """Return the sections of a report by name, as `render` joins them.

    What all runs share is said once, and labels hold what differs.
    """
    check_comparable(records)
    records, shared = said_once(records)
    first = records[0]
    data = first["config"]["data"]
    sources, refs = pairs_of(first)
    title = "# " + escape(
        f"{data['corpus']}, {data['source']} to {data['target']}, {first['split']}"
    )
    note = (
        "This corpus is generated: its scores stand beside no paper's."
        if data["corpus"] in GENERATED
        else ""
    )
    scores = ["## Scores", scores_table(records), means_table(records), _signatures(records)]
    parts = {
        "top": [title, note, shared, in_train_note(first), writable_note(records)],
        "scores": scores,
        "costs": ["## Costs", costs_table(records)],
        "differences": ["## Differences", differences_table(records)] if len(records) > 1 else [],
        "examples": ["## Examples", _examples(records, sources, refs)],
        "made-with": ["## Made with", _made_with(records)],
    }
    return {
        name: "\n\n".join(text for text in texts if text) for name, texts in parts.items() if texts
    }


def said_once(records: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], str]:
    """Return records whose labels lack the unusual settings of all, and a line that says these."""
    shared = [
        each for each in _conditions(records[0]) if all(each in _conditions(r) for r in records)
    ]
    said = f"All runs here: {', '.join(shared)}." if shared else ""
    return [record | {SHARED: shared} for record in records], escape(said)


def check_comparable(records: list[dict[str, Any]]) -> None:
    """Refuse to compare records of different data, splits or metric versions.

    Raises:
        InputError: naming the difference.
    """
    if not records:
        raise InputError("report", "there is no record", "name at least one evaluated run")
    keys = {
        "references": lambda r: r["references_sha256"],
        "signatures": lambda r: [score["signature"] for score in r["scores"]],
    }
    _check_same(records, keys)
    check_same_text(records)


def check_same_text(described: list[dict[str, Any]]) -> None:
    """Refuse to compare records of runs whose train, dev or test differ.

    Args:
        described: what `scores.describe_run` returns, so that runs are refused before they
            translate.

    Raises:
        InputError: naming two of them.
    """
    _check_same(described, {"texts": lambda r: r["provenance"]["data_fingerprint"]})


def _check_same(
    records: list[dict[str, Any]], keys: dict[str, Callable[[dict[str, Any]], Any]]
) -> None:
    """Refuse to compare records that differ in a key, naming two of them."""
    for what, key in keys.items():
        for record in records[1:]:
            if key(record) != key(records[0]):
                where = f"{records[0]['run']} and {record['run']}"
                raise InputError(
                    where, f"have different {what}", "compare runs of the same corpus and version"
                )


def render_results(records: list[dict[str, Any]]) -> str:
    """Return a page with the tables of stored records, by corpus, direction and test set.

    Published scores are in the tables; no corpus is needed. A list of the parts comes first, with
    links as GitHub and JupyterLab name headings. Your own text may have changed between runs: each
    version of it has a part, the oldest run's first.
    """
    groups: dict[tuple[str, str, str, str], dict[tuple[str, str], list[dict[str, Any]]]] = {}
    for record in sorted(records, key=lambda record: record["provenance"]["started"]):
        data = record["config"]["data"]
        about = (data["corpus"], data["source"], data["target"], record["split"])
        text = (record["provenance"]["data_fingerprint"], record["references_sha256"])
        groups.setdefault(about, {}).setdefault(text, []).append(record)
    links, parts = [], []
    for (corpus, source, target, split), number, of, group in (
        (about, number, len(versions), group)
        for about, versions in sorted(groups.items())
        for number, group in enumerate(versions.values(), start=1)
    ):
        check_comparable(group)
        group.sort(key=lambda record: (label_of(record), record["seed"]))
        published = [
            f"- published, {p.system}: {p.metric} {p.value:.2f}. {p.reference}; {p.setting}."
            for p in published_for(corpus, source, target, split)
        ]
        version = f", version {number} of the text" if of > 1 else ""
        title = escape(f"{corpus}, {source} to {target}, {split}{version}")
        anchor = re.sub(r"[^\w -]", "", title).lower().replace(" ", "-")
        links.append(
            f"- [{title}](#{anchor}): systems: {len({label_of(record) for record in group})}, "
            f"runs: {len(group)}"
        )
        parts += [
            f"## {title}",
            in_train_note(group[0]),
            writable_note(group),
            scores_table(group),
            means_table(group),
            "\n".join(published),
            _signatures(group),
            costs_table(group),
        ]
        parts.append(_made_with(group))
    note = (
        "Generated from the records in this folder by `repro results --update`; nothing here is "
        "typed in."
    )
    return (
        "\n\n".join(part for part in ["# Stored results", note, "\n".join(links), *parts] if part)
        + "\n"
    )


def scores_table(records: list[dict[str, Any]]) -> str:
    """Return a table of the scores of each record, with the lengths that BLEU punishes.

    Where the task is not translation, it has the perplexity of a subword on dev. That is of the
    best checkpoint, while the scores are those of the mean of the last ones.
    """
    names = [score["name"] for score in records[0]["scores"]]
    rows = [
        [
            escape(label_of(record)),
            str(record["seed"]),
            *(f"{score_of(record, name)['value']:.2f}" for name in names),
        ]
        for record in records
    ]
    if "BLEU" in names:
        names.append(LENGTHS_HEADING)
        rows = [
            [*row, lengths_of(record).cell()] for row, record in zip(rows, records, strict=True)
        ]
    if _cannot_write_all(records):
        names.append(f"{names[0]} of what the model can write")
        against = (
            record.get("writable", {"scores": {}})["scores"].get(names[0]) for record in records
        )
        rows = [
            [*row, "-" if value is None else f"{value:.2f}"]
            for row, value in zip(rows, against, strict=True)
        ]
    if task_of(records[0]["config"]["data"]["corpus"]) != "translation":
        names.append("dev perplexity of the best checkpoint")
        rows = [
            [*row, f"{math.exp(record['training']['best_dev_nll']):.2f}"]
            for row, record in zip(rows, records, strict=True)
        ]
    return table(["system", "seed", *names], rows)


def in_train_note(record: dict[str, Any]) -> str:
    """Say below a table of records how much of a test set is in the training text.

    Only for a test set of another corpus, or where leaks were allowed; else return an empty text.
    """
    if "in_train" not in record:
        return ""
    data, found = record["config"]["data"], record["in_train"]
    sides = " and ".join(
        f"the {escape(language)} side of {found[language]} others"
        for language in (data["source"], data["target"])
    )
    held = f"holds {found['pairs']} of these {record['sentences']:,} pairs, {sides}"
    reason = "Leaks were allowed"
    if ":" in record["split"]:  # whether it is near your own text, nobody but you knows
        reason = "Another corpus" if own_folder(data["corpus"]) else "Out of domain"
    return (
        f"{reason}: the training text, {escape(data['corpus'])}, {held} (case, punctuation and "
        "spacing ignored)."
    )


def writable_note(records: list[dict[str, Any]]) -> str:
    """Say how many references the models of records cannot write, and the cost in points."""
    found = [record["writable"] for record in records if "writable" in record]
    if not found:
        return ""
    name = records[0]["scores"][0]["name"]
    changed, best = [one["changed"] for one in found], [one["best"][name] for one in found]
    whose = (
        "the models here"
        if len(found) == len(records)
        else f"{len(found)} of {len(records)} models here"
    )
    held = (
        f"Of {records[0]['sentences']:,} references, {_range_in_words(changed, 0)} hold "
        "characters that "
        f"{whose} cannot write"
    )
    return (
        f"{held}: a perfect translation in their subwords scores {name} {_range_in_words(best, 2)}."
    )


def _cannot_write_all(records: list[dict[str, Any]]) -> bool:
    """Return whether a record's perfect model loses over `LOST` points by its subwords."""
    name = records[0]["scores"][0]["name"]
    return any(
        100 - record["writable"]["best"][name] > LOST for record in records if "writable" in record
    )


def _range_in_words(numbers: list[float], digits: int) -> str:
    """Return the range of a number over records as text; one number if all are equal."""
    least, most = (f"{number:,.{digits}f}" for number in (min(numbers), max(numbers)))
    return least if least == most else f"{least} to {most}"


def means_table(records: list[dict[str, Any]]) -> str:
    """Return a table of records' mean scores, for systems with several seeds.

    Standard deviations are of one seed, not of the mean.
    """
    names = [score["name"] for score in records[0]["scores"]]
    rows = []
    for label, group in by_label(records).items():
        if len(group) > 1:
            values = ([score_of(record, name)["value"] for record in group] for name in names)
            rows.append(
                [
                    escape(label),
                    str(len(group)),
                    *(f"{statistics.mean(v):.2f} ± {statistics.stdev(v):.2f}" for v in values),
                ]
            )
    return table(["mean ± standard deviation over seeds", "seeds", *names], rows) if rows else ""


def costs_table(records: list[dict[str, Any]]) -> str:
    """Return a table of parameters, time and speed of each record, and what to know about them."""
    found = [
        (record["provenance"]["device"], f"{record['decoding']['sentences_per_second']:,}")
        for record in records
    ]
    rows = [
        [escape(label_of(record)), str(record["seed"]), *costs, escape(device), speed]
        for record, costs, (device, speed) in zip(
            records, training_costs(records), found, strict=True
        )
    ]
    return (
        table(["system", "seed", *TRAINING_COSTS, "device", "sentences/s in decoding"], rows)
        + f"\n\n{costs_note(records)}"
    )


def differences_table(records: list[dict[str, Any]]) -> str:
    """Return a table of records: the differences of every system to the first.

    They are over seeds if a system has several. Without a second system, return a line that says
    so.
    """
    systems = by_label(records)
    first, *others = systems
    if not others:
        return f"Nothing to compare {escape(first)} with."
    pairs = [escape(f"{name} - {first}") for name in others]
    compared = compare_seeds(list(systems.values()))
    rows = [
        [pair, found.metric, *describe(found)]
        for pair, by_metric in zip(pairs, compared, strict=True)
        for found in by_metric
    ]
    header = ["systems", "metric", "difference", "95 % interval"]
    if len(systems) == len(records):
        num_samples = compared[0][0].num_samples
        note = (
            f"Paired bootstrap (Koehn 2004), {num_samples:,} resamples; one training run each "
            "says nothing about other seeds."
        )
        return table([*header, "p"], rows) + "\n\n" + note
    note = (
        "Intervals are over test sentences and training seeds; how far a seed moves a score "
        "is pooled from the systems of this table. For a claim it is pooled from all systems of "
        "the scale, which gives another interval. "
        "*Detectable* is the true difference from 0 that such an interval shows with a chance "
        "of 80 %."
    )
    return table([*header, "from", "detectable"], rows) + "\n\n" + note


def by_label(records: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return the records of each system by its label, in their order."""
    found: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        found.setdefault(label_of(record), []).append(record)
    return found


def label_of(record: dict[str, Any]) -> str:
    """Return the system of a record with its unusual settings, for its corpus and in its search.

    Those that a page has said of all its records are left out; see `said_once`.
    """
    shared = record.get(SHARED, [])
    conditions = [each for each in _conditions(record) if each not in shared]
    return f"{record['system']} ({', '.join(conditions)})" if conditions else record["system"]


def _conditions(record: dict[str, Any]) -> list[str]:
    return conditions_of(from_dict(RunConfig, record["config"])) + search_of(record)


def names_of(records: list[dict[str, Any]]) -> list[str]:
    """Return the labels of records, with the seed where another has the same label."""
    labels = [label_of(record) for record in records]
    return [
        f"{label}, seed {record['seed']}" if labels.count(label) > 1 else label
        for label, record in zip(labels, records, strict=True)
    ]


def describe(comparison: Comparison) -> list[str]:
    """Return the difference of two records with its interval as text.

    The p-value follows for single runs; for several, the number of seeds and the detectable
    difference.
    """
    found = [f"{comparison.difference:+.2f}", f"{comparison.low:+.2f} to {comparison.high:+.2f}"]
    if comparison.p is not None:
        return [*found, p_value(comparison.p, comparison.num_samples).removeprefix("= ")]
    return [*found, comparison.estimate.seeds_said(), f"{comparison.estimate.detectable:.2f}"]


def p_value(p: float, num_samples: int) -> str:
    """Return the p-value of two records' difference: `= 0.123`, or `< 0.002` at the limit.

    So many resamples show no smaller probability.
    """
    smallest = 1 / (num_samples + 1)
    return f"= {p:.3f}" if p > 1.5 * smallest else f"< {2 * smallest:.3f}"


def _signatures(records: list[dict[str, Any]]) -> str:
    """List the signatures of the scores in records."""
    return "\n".join(
        f"- {escape(s['name'])}: `{visible(s['signature']).replace('`', chr(39))}`"
        for s in records[0]["scores"]
    )


def _examples(records: list[dict[str, Any]], sources: list[str], refs: list[str]) -> str:
    """Show the first translations of records, indented so that nothing in them is markup."""
    names, blocks = ["source", "reference", *names_of(records)], []
    width = max(map(len, names))
    hypotheses = [hypotheses_of(record) for record in records]
    for index in range(min(NUM_EXAMPLES, len(refs))):
        texts = [sources[index], refs[index], *(lines[index] for lines in hypotheses)]
        blocks.append(
            "\n".join(
                f"    {visible(name):<{width}} {visible(text)}"
                for name, text in zip(names, texts, strict=True)
            )
        )
    return "\n\n".join(blocks)


def _made_with(records: list[dict[str, Any]]) -> str:
    """Return commit, machine and versions behind records, a line for all runs that share them."""
    runs: dict[str, dict[str, None]] = {}
    for record in records:
        origin = record["provenance"]
        versions = ", ".join(f"{name} {number}" for name, number in origin["versions"].items())
        inexact = f"; not exact: {'; '.join(origin['inexact'])}" if origin.get("inexact") else ""
        machine = f"{origin['device']}, threads {origin['threads']}, {origin['processor']}"
        commits = ", then ".join(origin.get("commits", [origin["commit"]]))
        runs.setdefault(f"commit {commits}, {machine}, {versions}{inexact}", {})[record["run"]] = (
            None
        )
    return "\n".join(
        f"- {escape(', '.join(names))}: {escape(origin)}" for origin, names in runs.items()
    )
