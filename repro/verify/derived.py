"""Re-derive each kind of record from its evidence and report every mismatch.

`verify.py` lists the evidence for each number.
"""

from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import lru_cache
from typing import Any

import numpy as np

from repro.analysis.ablation import heads_of
from repro.analysis.heads import HeadStatistics, head_roles
from repro.analysis.syntax import MARGIN, RELATIONS
from repro.claims.evidence import NotMeasured, Record
from repro.core.config import ModelConfig, RunConfig, from_dict
from repro.core.numbering import layer_name
from repro.core.subwords import PAD_ID
from repro.core.transformer import Transformer, count_parameters
from repro.data.corpora import load_once, load_pairs, task_of
from repro.data.own_text import is_text_found, own_folder
from repro.errors import MachineError
from repro.measures.alignments import check_alignments, check_gold
from repro.measures.contrastive import check_contrastive, check_pairs, check_published_pairs
from repro.measures.heads import DIGITS
from repro.measures.pruning import SERIES, penalties_tried
from repro.measures.registry import masks_table
from repro.papers.pruned import NO_CONTROL, shape_of
from repro.records.likelihood import references_fields
from repro.records.sentences import describe_references
from repro.records.stored import overlap_of
from repro.records.translations import changed_by, hypotheses_of, recount, rescore
from repro.statistics.metrics import metrics_for
from repro.verify.plausible import (
    check_dev_curve,
    check_kept_heads,
    check_likelihood,
    check_maps,
    check_off_diagonal,
    check_site_shapes,
    check_speed,
    check_training,
)

ROUNDING = 0.51 * 10**-DIGITS  # of the numbers in head records

Scores = dict[tuple[str, str], Record]
"""Score records by the digest of their configuration and their test set."""


Findings = Iterator[str | None]
"""A message for each derived number that is stored differently, None for each match."""


def unequal(what: str, stored: Any, derived: Any) -> Findings:
    """Yield a message if a stored value differs from the derived one, else None."""
    yield f"{what}: stored {stored}, derived {derived}" if stored != derived else None


def _check_scores(record: Record, _: Scores) -> Findings:
    """Yield what in a record of scores differs from what its tables give."""
    yield from check_training(record)
    yield from check_dev_curve(record)
    yield from _check_likelihood(record)
    training, decoding, number = record["training"], record["decoding"], record["sentences"]
    yield from unequal("sentences", number, record["tables"]["sentences"].num_rows)
    yield from unequal("references", record["tables"]["references"].num_rows, number)
    again = rescore(record)
    yield from unequal("number of scores", len(record["scores"]), len(again))
    for stored, derived in zip(record["scores"], again, strict=True):
        yield from unequal("scores", stored, derived)
    yield from unequal(
        "target tokens per second",
        training["target_tokens_per_second"],
        round(training["tokens"] / training["seconds"]),
    )
    # Seconds are stored with two decimals: a single sentence of one's own may have taken 0.00.
    seconds = decoding["seconds"]
    slowest, fastest = (
        number / (seconds + 0.005),
        number / (seconds - 0.005) if seconds > 0.005 else np.inf,
    )
    if not slowest - 0.05 <= decoding["sentences_per_second"] <= fastest + 0.05:
        yield (
            f"sentences per second: stored {decoding['sentences_per_second']}, derived "
            f"{slowest:.1f} to {fastest:.1f}"
        )
    yield from unequal("parameters", training["parameters"], count_parameters(_model(record)))


def _check_likelihood(record: Record) -> Findings:
    """Add up the likelihood of the references; older records have none."""
    table = record["tables"].get("likelihood")
    if table is not None:
        yield from check_likelihood(record)
    derived = None if table is None else references_fields(table)
    yield from unequal("likelihood", record.get("likelihood"), derived)


def _check_scored_text(record: Record, _: Scores) -> Findings:
    """Score the translations again, with the corpus."""
    _check_at_hand(record)
    corpus = load_once(*_corpus_and_languages(record).values())
    yield from unequal(
        "fingerprint of the data", record["provenance"]["data_fingerprint"], corpus.fingerprint
    )
    for what, is_so in recount(record).items():
        yield None if is_so else f"{what}: are not what the translations and the corpus give"
    in_train = overlap_of(**_corpus_and_languages(record), split=record["split"]).get("in_train")
    yield from unequal("pairs in the training text", record.get("in_train"), in_train)


def _corpus_and_languages(record: Record) -> dict[str, str]:
    """Return the corpus and the languages of a record."""
    return {key: record["config"]["data"][key] for key in ("corpus", "source", "target")}


def _model(record: Record) -> Transformer:
    """Return the model of a re-derived record, untrained."""
    config = from_dict(RunConfig, record["config"])
    return _untrained(config.model, config.data.vocab_size)


@lru_cache(maxsize=200)
def _untrained(config: ModelConfig, vocab_size: int) -> Transformer:
    """Build the untrained model of a record."""
    # The length ratio of the data is not a parameter.
    return Transformer(config, vocab_size, PAD_ID, length_ratio=1.0)


def _check_at_hand(record: Record) -> None:
    """Refuse a record of own files that are elsewhere or were edited: it is not damaged."""
    corpus, other = record["config"]["data"]["corpus"], record.get("split", "").rpartition(":")[0]
    for name in (corpus, other):
        if not is_text_found(name):
            raise MachineError(
                name, "is not on this machine", "verify where the folder is, or put it back"
            )
    if own_folder(corpus):
        found = load_once(*_corpus_and_languages(record).values()).fingerprint
        if found != record["provenance"]["data_fingerprint"]:
            what = "holds another text than the one that these records are of"
            raise MachineError(corpus, what, "restore the text to check them")


def _check_masks(record: Record, scores: Scores) -> Findings:
    """Yield what in a record of masks differs from what its tables give."""
    whole, scored = (
        hypotheses_of(record),
        _find_scores(record["config_digest"], record["split"], scores),
    )
    yield from unequal("number of translations without a mask", len(whole), scored["sentences"])
    numbers = {0, *map(int, record["masks"])}
    yield from unequal(
        "masks of the translations",
        sorted(set(record["tables"]["masks"]["mask"].tolist()) - numbers),
        [],
    )
    places = heads_of(_model(record), "encoder_self")
    heads = {
        str(head + 1): [list(place) for place in places if place.head == head]
        for head in {place.head for place in places}
    }
    yield from unequal("masks", sorted(record["masks"]), sorted(heads))
    for number, mask in record["masks"].items():
        yield from unequal(f"heads of mask {number}", mask["heads"], heads.get(number))
        for place, text in changed_by(record, int(number)).items():
            is_changed = 0 <= place < len(whole) and whole[place] != text
            yield (
                None
                if is_changed
                else f"mask {number}: sentence {place} is not changed by it, or is not there"
            )


def _check_masked_text(record: Record, _: Scores) -> Findings:
    """Count the translations again, with the corpus."""
    _check_at_hand(record)
    data, table = record["config"]["data"], record["tables"]["masks"]
    sources, refs = load_pairs(data["corpus"], data["source"], data["target"], record["split"])
    if max(table["sentence"].tolist()) >= len(refs):
        yield f"translations: are of more sentences than {record['split']} has"
        return
    rows = list(
        zip(table["mask"].tolist(), table["sentence"].tolist(), table["hypothesis"], strict=True)
    )
    metrics = metrics_for(task_of(data["corpus"]), data["target"], tuple(refs))
    yield from unequal(
        "counts of the translations", table.digest, masks_table(rows, refs, data["target"]).digest
    )
    yield from unequal(
        "lengths of the references",
        record["tables"]["references"].digest,
        describe_references(metrics, sources, refs).digest,
    )


def _check_pairs_of_text(record: Record, _: Scores) -> Findings:
    """Make contrastive pairs again, with the corpus."""
    _check_at_hand(record)
    yield from check_pairs(record)


def _check_heads(record: Record, _: Scores) -> Findings:
    """Yield what in a head record differs from what its counts give."""
    syntactic = None
    if record["syntax"] is not None:
        margins, differences = _margins(record["syntax"])
        syntactic = np.any(margins >= MARGIN, axis=(0, 1))
        yield from differences
    for site, heads in shape_of(record["config"]["model"]).items():
        yield from check_site_shapes(site, record["sites"][site], heads)
        if max(heads):
            yield from _check_site(
                site, record["sites"][site], syntactic if site == "encoder_self" else None
            )
    yield from unequal("split", record["split"], "dev")
    yield from unequal(
        "sentences", record["measured"]["sentences"], record["measured"]["sentences_of_split"]
    )


def _check_measured_text(record: Record, _: Scores) -> Findings:
    """Verify a head record with the corpus: count the sentences of dev."""
    _check_at_hand(record)
    yield from unequal(
        "sentences",
        record["measured"]["sentences_of_split"],
        len(load_once(*_corpus_and_languages(record).values())["dev"]),
    )


def _check_site(site: str, found: dict[str, Any], syntactic: np.ndarray | None) -> Findings:
    """Yield what at a site of a head record differs from what its counts give."""
    numbers: dict[str, Any] = {
        field.name: _as_array(found[field.name]) for field in fields(HeadStatistics)
    }
    statistics = HeadStatistics(**numbers)
    for name in ("main_offset", "positional"):
        if not _agree(_as_array(found[name]), getattr(statistics, name)):
            yield f"{site} {name}: is not what the counts by offset give"
    roles = [[list(head) for head in layer] for layer in head_roles(statistics, syntactic)]
    yield from unequal(f"{site} roles", found["roles"], roles)
    for name, power in (("relevance", 1), ("relevance_alphabeta", 1), ("gradient", 2)):
        for layer, row in enumerate(found[name]):
            whole = np.nansum(_as_array(row) ** power)
            # A sum of 0 means that nothing depends on the layer.
            if min(abs(whole), abs(whole - 1)) > 2 * len(row) * ROUNDING:
                yield f"{site} {name}: the shares of {layer_name(layer)} sum to {whole:.5f}"


def _margins(syntax: dict[str, Any]) -> tuple[np.ndarray, list[str]]:
    """Derive the margins of a head record again, and report every stored one that differs.

    Accuracies have the shape `(num_relations, num_directions, num_layers, num_heads)`.
    """
    margins, differences = [], []
    for relation in RELATIONS:
        positions = syntax["positions"][relation]
        total, most = sum(positions.values()), max(positions.values(), default=0)
        baseline = most / total if total else np.nan
        accuracies, stored = (
            [_as_array(rows) for rows in syntax[name][relation].values()]
            for name in ("accuracy", "margin")
        )
        margins.append(
            [
                (np.round(accuracy * total) - most) / total if total else accuracy
                for accuracy in accuracies
            ]
        )
        if not _agree(_as_array(syntax["baseline"][relation]), baseline):
            differences.append(
                f"baseline of {relation}: stored {syntax['baseline'][relation]}, derived "
                f"{baseline:.5f}"
            )
        if not all(_agree(a, b) for a, b in zip(stored, margins[-1], strict=True)):
            differences.append(f"margins of {relation}: are not those of its accuracies")
    return np.array(margins), differences


def _check_pruning(record: Record, scores: Scores) -> Findings:
    """Yield what in a pruning record differs from the scores of its models."""
    whole, series = record["whole"], record["series"]
    yield from unequal("heads before", whole, _model(record).num_heads())
    for name, sites in SERIES.items():
        runs = [point["run"] for point in series[name]["points"]]
        yield from unequal(f"models of series {name}", sorted(runs), sorted(set(runs)))
        yield from unequal(
            f"heads of series {name}",
            series[name]["heads"],
            sum(sum(whole[site]) for site in sites),
        )
        heads = {point["penalty"]: point["heads"] for point in series[name]["points"]}
        yield from unequal(
            f"penalties of series {name}",
            sorted(heads),
            penalties_tried(name, series[name]["heads"], heads),
        )
        yield from _check_control(record, name, scores)
        for point in series[name]["points"]:
            yield from check_kept_heads(point, whole)
            pruned = _find_scores(point["config_digest"], "test", scores)
            yield from unequal("run", point["run"], pruned["run"])
            yield from unequal(
                f"start of {point['run']}", pruned["config"]["train"]["start_from"], record["run"]
            )
            yield from unequal(
                f"gates of {point['run']}",
                list(pruned["config"]["model"]["gated_sites"]),
                list(sites),
            )
            yield from unequal(
                f"{point['run']} penalty",
                point["penalty"],
                pruned["config"]["train"]["gate_penalty"],
            )
            yield from unequal(
                f"{point['run']} heads",
                point["heads"],
                sum(len(layer) for site in sites for layer in point["kept_heads"][site]),
            )
    small, scratch = (
        _find_scores(series["scratch"][which], "test", scores) for which in ("pruned", "scratch")
    )
    cut_from = [
        point
        for point in series["all"]["points"]
        if point["run"] == small["config"]["train"]["cut_from"]
    ]
    shapes = [
        {site: list(map(len, layers)) for site, layers in point["kept_heads"].items()}
        for point in cut_from
    ]
    for which in (small, scratch):
        yield from unequal(f"shape of {which['run']}", [shape_of(which["config"]["model"])], shapes)


def _check_control(record: Record, name: str, scores: Scores) -> Findings:
    """Verify a pruning record: how the control of its series was trained."""
    if "continued" not in record["series"][name]:
        yield f"series {name} has no control: {NO_CONTROL}"
        return
    control = _find_scores(record["series"][name]["continued"], "test", scores)["config"]
    yield from unequal(
        f"start of the control of series {name}", control["train"]["start_from"], record["run"]
    )
    yield from unequal(
        f"gates of the control of series {name}", list(control["model"]["gated_sites"]), []
    )
    yield from unequal(
        f"frozen decoder of the control of series {name}",
        control["train"]["freeze_decoder"],
        name == "encoder",
    )


def _find_scores(digest: str, split: str, scores: Scores) -> Record:
    """Return the score record with which another one is verified."""
    if (digest, split) not in scores:
        raise NotMeasured(
            f"the run of configuration {digest}",
            f"its translations of {split} are not stored",
            "repro run makes them",
        )
    return scores[digest, split]


def _as_array(values: Any) -> np.ndarray:
    """Return the stored numbers to derive again as an array; missing ones are NaN."""
    return np.array(values, dtype=float)


def _agree(stored: np.ndarray, derived: np.ndarray | float) -> bool:
    """Return whether stored numbers equal derived ones up to rounding."""
    return np.allclose(stored, derived, rtol=0, atol=ROUNDING, equal_nan=True)


CHECKS: dict[str, Callable[[Record, Scores], Findings]] = {
    "scores": _check_scores,
    "contrastive": lambda record, _: check_contrastive(record),
    "published_pairs": lambda record, _: check_contrastive(record),
    "alignments": lambda record, _: check_alignments(record),
    "masks": _check_masks,
    "heads": _check_heads,
    "pruning": _check_pruning,
    "maps": lambda record, _: check_maps(record),
    "off_diagonal": lambda record, _: check_off_diagonal(record),
    "speed": lambda record, _: check_speed(record),
}
"""Kind of record -> the checks that need records alone."""

CORPUS_CHECKS: dict[str, Callable[[Record, Scores], Findings]] = {
    "scores": _check_scored_text,
    "contrastive": _check_pairs_of_text,
    "published_pairs": lambda record, _: check_published_pairs(record),
    "alignments": lambda record, _: check_gold(record),
    "masks": _check_masked_text,
    "heads": _check_measured_text,
}
"""Kind of record -> the checks that need the corpus."""
