"""Derive stored numbers again from what they were computed from, without any model.

By kind of record, and from what:

    all            digest, name, system and seed of a run;       its configuration
                   where the record lies
    scores         scores; tokens and sentences per second       translations and references; counts and seconds
                   parameters; fingerprint of the data           the configuration; the corpus
                   that seeds are models of their own            the translations of the other seeds, which differ
    contrastive    accuracies; pairs, types, distances ...       cross entropies of single pairs; the suite
    heads          main offsets, roles; baselines and margins    counts by offset; counts of pairs of words and accuracies
                   shares of a layer                             sum to one
                   which heads there are; that all of dev count  the configuration; the corpus
    masks          that a translation is changed by the mask     translations of the same model without it, as many as were scored
                   which heads are masked                        the configuration
    pruning        heads, penalties; shapes of the small models  lists of kept heads; configurations in their score records
                   heads before; where each model came from      the configuration; those of the score records
                   which heads are kept                          the heads before: each once
                   which penalties were tried                    the search, with the numbers of heads that it found

Verdicts are derived again too. All else needs the model or the clock again, and is as it was measured: the translations and cross entropies
themselves, means over queries (confidence, distance, entropy, divergence ...), the parameters of gates (`undecided`, `almost_binary`), and
seconds; the weights of maps, shares off the diagonal and rates of `speed` are held to their shapes and ranges (`plausible.py`).
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from repro.analysis.ablation import heads_of
from repro.analysis.head_records import DIGITS
from repro.analysis.heads import HeadStatistics, head_roles
from repro.analysis.syntax import MARGIN, RELATIONS
from repro.config import ModelConfig, RunConfig, from_dict
from repro.data.corpora import load_once, own_folder
from repro.data.subwords import PAD_ID
from repro.errors import InputError, MachineError, ReproError, did_you_mean
from repro.papers import PAPERS
from repro.papers.evidence import Evidence, NotMeasured, Record
from repro.papers.plausible import check_heads_there, check_kept, check_maps, check_off_diagonal, check_speed, check_training
from repro.papers.pruned import NO_CONTROL, SERIES, shape_of, tried_penalties
from repro.papers.suites import check_contrastive
from repro.papers.verdicts import TEST, claims_of, further_test_sets, judge, load, of_scores, scales_with_verdicts
from repro.pruning import kept_heads
from repro.record_fields import KINDS, kind_of
from repro.records import overlap_of, place_of, read_records, rescore
from repro.scales import run_name, system_of
from repro.transformer import Transformer, count_parameters

ROUNDING = 0.51 * 10**-DIGITS  # of the numbers in head records

CUT_SHORT = (ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError, ValueError)
"""What comes of numbers deep in a record that are missing or of another type. `load_record` checks what all readers need, not every
number: the rest is found here, where it must be named and must not keep the other records from being checked."""

DISTINCT = 20
"""So many different translations of a test set are not the same by chance for two seeds."""

Scores = dict[tuple[str, str], Record]
"""Score records by the digest of their configuration and their test set."""


def verify_records(folder: Path, report: Callable[[str], None]) -> list[str]:
    """Return a line for every file that is no record, and for every number that is not what its evidence gives.

    Args:
        folder: of results.
        report: called with a line for every record whose evidence is not at hand, such as the references of a corpus.

    Raises:
        InputError: there is no such folder, or no record in it: nothing would be verified.
    """
    records, errors = read_records(folder)
    if not records and not errors:
        what = "holds no result record" if Path(folder).is_dir() else "is not a folder"
        raise InputError(str(folder), what, "name the folder of results: --results results")
    problems = [str(error) for error in errors]
    scores = {(record["config_digest"], record["split"]): record for record in records.values() if kind_of(record) == "scores"}
    for path, record in records.items():
        name = f"{record['run']}, {kind_of(record)} {record.get('split', '')}".rstrip()
        try:
            for what in _differences(path, record, scores):  # one by one: what was found before a check fails is kept
                problems.append(f"{name}: {what}")
        except (MachineError, NotMeasured) as error:
            report(f"{name}: not checked: {error}")
        except ReproError as error:
            problems.append(f"{name}: {error}")
        except CUT_SHORT as error:
            problems.append(f"{name}: {path} is damaged ({type(error).__name__}: {error})")
    return [*problems, *_counted_twice(scores.values())]


def _counted_twice(scores: Iterable[Record]) -> Iterator[str]:
    """Yield which seeds of a system translate a test set word for word as another seed does: then one model counts as two."""
    seen: dict[tuple, str] = {}
    for record in scores:
        hyps, settings = record["hypotheses"], {**record["config"], "train": {**record["config"]["train"], "seed": None}}
        if len(set(hyps)) < DISTINCT:  # models that were trained for a minute may all say the same
            continue
        model = (json.dumps([settings, record["split"], record["search"]], sort_keys=True), tuple(hyps))
        if (other := seen.setdefault(model, record["run"])) != record["run"]:
            yield f"{record['run']}, scores {record['split']}: has the translations of {other}, word for word: it is no seed of its own"


def verify_claims(folder: Path) -> list[str]:
    """Return a line for every stored verdict that the records which can be read do not give."""
    problems = []
    records = read_records(folder)[0].values()
    try:
        places = [*((scale, TEST) for scale in scales_with_verdicts(folder)), *further_test_sets(folder)]
    except ReproError as error:
        return [f"verdicts: {error}"]
    for scale, split in places:
        at = scale if split == TEST else f"{scale} on {split}"
        try:
            problems += _wrong_verdicts(at, load(folder, scale, split), Evidence(scale, records, split))
        except ReproError as error:
            problems.append(f"verdicts at {at}: {error}")
        except CUT_SHORT as error:
            problems.append(f"verdicts at {at}: they or their records are damaged ({type(error).__name__}: {error})")
    return problems


def _wrong_verdicts(scale: str, verdicts: dict[str, dict], evidence: Evidence) -> list[str]:
    problems = []
    claims = {paper: claims_of(paper) if evidence.split == TEST else of_scores(claims_of(paper)) for paper in PAPERS}
    found = judge([claim for of_paper in claims.values() for claim in of_paper], evidence)
    for names in ([claim.name for claim in of_paper] for of_paper in claims.values()):
        for name in names if any(other in verdicts for other in names) else ():  # a paper is judged as a whole, or not at all
            if name not in verdicts:
                problems.append(f"{name} at {scale}: its verdict is missing, derived {found[name]['status']}")
    for name, stored in verdicts.items():
        derived = found.get(name)
        if derived is None:
            problems.append(f"{name} at {scale}: no paper has this claim")
        elif _comparable(stored) != _comparable(derived):
            problems.append(f"{name} at {scale}: stored {stored['status']}, derived {derived['status']}: {'; '.join(derived['evidence'])}")
    return problems


def _comparable(verdict: dict) -> tuple:
    return verdict["claim"], verdict["test"], verdict["status"], list(verdict["evidence"]), verdict["reason"]


def _differences(path: Path, record: Record, scores: Scores) -> Iterator[str]:
    if kind_of(record) not in KINDS:
        yield f"unknown kind '{kind_of(record)}': {did_you_mean(kind_of(record), KINDS)}"
    place = place_of(record)
    yield from _unequal("place", "/".join(path.parts[-len(place.parts) :]), place.as_posix())
    config = from_dict(RunConfig, record["config"])
    yield from _unequal("configuration", record["config_digest"], config.digest())
    yield from _unequal("run", record["run"], run_name(config))
    yield from _unequal("system", record["system"], system_of(config.model))
    yield from _unequal("seed", record["seed"], config.train.seed)
    if kind_of(record) in CHECKS:
        yield from CHECKS[kind_of(record)](record, scores)


def _unequal(what: str, stored: Any, derived: Any) -> Iterator[str]:
    if stored != derived:
        yield f"{what}: stored {stored}, derived {derived}"


def _check_scores(record: Record, _: Scores) -> Iterator[str]:
    yield from check_training(record)
    training, decoding, number = record["training"], record["decoding"], len(record["hypotheses"])
    yield from _unequal("target tokens per second", training["target_tokens_per_second"], round(training["tokens"] / training["seconds"]))
    seconds = decoding["seconds"]  # stored with two decimals: a sentence of one's own may have taken 0.00
    slowest, fastest = number / (seconds + 0.005), number / (seconds - 0.005) if seconds > 0.005 else np.inf
    if not slowest - 0.05 <= decoding["sentences_per_second"] <= fastest + 0.05:
        yield f"sentences per second: stored {decoding['sentences_per_second']}, derived {slowest:.1f} to {fastest:.1f}"
    yield from _unequal("parameters", training["parameters"], count_parameters(_model(record)))
    _check_at_hand(record)
    corpus = load_once(*_pair(record).values())
    yield from _unequal("fingerprint of the data", record["provenance"]["data_fingerprint"], corpus.fingerprint)
    yield from _unequal("scores", record["scores"], rescore(record))
    in_train = overlap_of(**_pair(record), split=record["split"]).get("in_train")
    yield from _unequal("pairs in the training text", record.get("in_train"), in_train)


def _pair(record: Record) -> dict[str, str]:
    return {key: record["config"]["data"][key] for key in ("corpus", "source", "target")}


def _model(record: Record) -> Transformer:
    """Return the model of a record, untrained."""
    config = from_dict(RunConfig, record["config"])
    return _untrained(config.model, config.data.vocab_size)


@lru_cache(maxsize=200)
def _untrained(config: ModelConfig, vocab_size: int) -> Transformer:
    return Transformer(config, vocab_size, PAD_ID, length_ratio=1.0)  # the ratio of the data is no parameter


def _check_at_hand(record: Record) -> None:
    """Refuse a record of own files that are on another machine: it is not damaged."""
    for name in (record["config"]["data"]["corpus"], record["split"].rpartition(":")[0]):
        if (folder := own_folder(name)) and not folder.is_dir():
            raise MachineError(name, "is not on this machine", "verify where the folder is, or put it back")


def _check_masks(record: Record, scores: Scores) -> Iterator[str]:
    whole, scored = record["hypotheses"], _scores_of(record["config_digest"], record["split"], scores)["hypotheses"]
    yield from _unequal("number of translations without a mask", len(whole), len(scored))
    places = heads_of(_model(record), "encoder_self")
    heads = {str(head + 1): [list(place) for place in places if place.head == head] for head in {place.head for place in places}}
    yield from _unequal("masks", sorted(record["masks"]), sorted(heads))
    for number, mask in record["masks"].items():
        yield from _unequal(f"heads of mask {number}", mask["heads"], heads.get(number))
        for place, text in mask["changed"].items():
            if not 0 <= int(place) < len(whole) or whole[int(place)] == text:
                yield f"mask {number}: sentence {place} is not changed by it, or is not there"


def _check_heads(record: Record, _: Scores) -> Iterator[str]:
    syntactic = None
    if record["syntax"] is not None:
        margins, differences = _margins(record["syntax"])
        syntactic = np.any(margins >= MARGIN, axis=(0, 1))
        yield from differences
    for site, heads in shape_of(record["config"]["model"]).items():
        yield from check_heads_there(site, record["sites"][site], heads)
        if max(heads):
            yield from _check_site(site, record["sites"][site], syntactic if site == "encoder_self" else None)
    yield from _unequal("split", record["split"], "dev")
    _check_at_hand(record)
    yield from _unequal("sentences", record["measured"]["sentences"], len(load_once(*_pair(record).values())["dev"]))


def _check_site(site: str, found: dict[str, Any], syntactic: np.ndarray | None) -> Iterator[str]:
    numbers: dict[str, Any] = {field.name: _numbers(found[field.name]) for field in fields(HeadStatistics)}
    statistics = HeadStatistics(**numbers)
    for name in ("main_offset", "positional"):
        if not _agree(_numbers(found[name]), getattr(statistics, name)):
            yield f"{site} {name}: is not what the counts by offset give"
    roles = [[list(head) for head in layer] for layer in head_roles(statistics, syntactic)]
    yield from _unequal(f"{site} roles", found["roles"], roles)
    for name, power in (("relevance", 1), ("relevance_alphabeta", 1), ("gradient", 2)):
        for layer, row in enumerate(found[name]):
            whole = np.nansum(_numbers(row) ** power)
            if min(abs(whole), abs(whole - 1)) > 2 * len(row) * ROUNDING:  # 0: nothing depends on the layer
                yield f"{site} {name}: the shares of layer {layer} sum to {whole:.5f}"


def _margins(syntax: dict[str, Any]) -> tuple[np.ndarray, list[str]]:
    """Return accuracies minus baselines, `(num_relations, num_directions, num_layers, num_heads)`, and what is stored otherwise."""
    margins, differences = [], []
    for relation in RELATIONS:
        positions = syntax["positions"][relation]
        total, most = sum(positions.values()), max(positions.values(), default=0)
        baseline = most / total if total else np.nan
        accuracies, stored = ([_numbers(rows) for rows in syntax[name][relation].values()] for name in ("accuracy", "margin"))
        margins.append([(np.round(accuracy * total) - most) / total if total else accuracy for accuracy in accuracies])
        if not _agree(_numbers(syntax["baseline"][relation]), baseline):
            differences.append(f"baseline of {relation}: stored {syntax['baseline'][relation]}, derived {baseline:.5f}")
        if not all(_agree(a, b) for a, b in zip(stored, margins[-1], strict=True)):
            differences.append(f"margins of {relation}: are not those of its accuracies")
    return np.array(margins), differences


def _check_pruning(record: Record, scores: Scores) -> Iterator[str]:
    whole, series = record["whole"], record["series"]
    yield from _unequal(
        "heads before", whole, {site: [len(layer) for layer in layers] for site, layers in kept_heads(_model(record)).items()}
    )
    for name, sites in SERIES.items():
        runs = [point["run"] for point in series[name]["points"]]
        yield from _unequal(f"models of series {name}", sorted(runs), sorted(set(runs)))
        yield from _unequal(f"heads of series {name}", series[name]["heads"], sum(sum(whole[site]) for site in sites))
        heads = {point["penalty"]: point["heads"] for point in series[name]["points"]}
        yield from _unequal(f"penalties of series {name}", sorted(heads), tried_penalties(name, series[name]["heads"], heads))
        yield from _check_control(record, name, scores)
        for point in series[name]["points"]:
            yield from check_kept(point, whole)
            pruned = _scores_of(point["config_digest"], "test", scores)
            yield from _unequal("run", point["run"], pruned["run"])
            yield from _unequal(f"start of {point['run']}", pruned["config"]["train"]["start_from"], record["run"])
            yield from _unequal(f"gates of {point['run']}", list(pruned["config"]["model"]["gated_sites"]), list(sites))
            yield from _unequal(f"{point['run']} penalty", point["penalty"], pruned["config"]["train"]["gate_penalty"])
            yield from _unequal(
                f"{point['run']} heads", point["heads"], sum(len(layer) for site in sites for layer in point["kept_heads"][site])
            )
    small, scratch = (_scores_of(series["scratch"][which], "test", scores) for which in ("pruned", "scratch"))
    cut_from = [point for point in series["all"]["points"] if point["run"] == small["config"]["train"]["cut_from"]]
    shapes = [{site: list(map(len, layers)) for site, layers in point["kept_heads"].items()} for point in cut_from]
    for which in (small, scratch):
        yield from _unequal(f"shape of {which['run']}", [shape_of(which["config"]["model"])], shapes)


def _check_control(record: Record, name: str, scores: Scores) -> Iterator[str]:
    """Compare what a series of pruned models is compared with to how it must have been trained."""
    if "continued" not in record["series"][name]:
        yield f"series {name} has no control: {NO_CONTROL}"
        return
    control = _scores_of(record["series"][name]["continued"], "test", scores)["config"]
    yield from _unequal(f"start of the control of series {name}", control["train"]["start_from"], record["run"])
    yield from _unequal(f"gates of the control of series {name}", list(control["model"]["gated_sites"]), [])
    yield from _unequal(f"frozen decoder of the control of series {name}", control["train"]["freeze_decoder"], name == "encoder")


def _scores_of(digest: str, split: str, scores: Scores) -> Record:
    if (digest, split) not in scores:
        raise NotMeasured(f"the run of configuration {digest}", f"its translations of {split} are not stored", "repro run makes them")
    return scores[digest, split]


def _numbers(values: Any) -> np.ndarray:
    """Return stored numbers as an array; what is missing is NaN."""
    return np.array(values, dtype=float)


def _agree(stored: np.ndarray, derived: np.ndarray | float) -> bool:
    return np.allclose(stored, derived, rtol=0, atol=ROUNDING, equal_nan=True)


CHECKS: dict[str, Callable[[Record, Scores], Iterator[str]]] = {
    "scores": _check_scores,
    "contrastive": lambda record, _: check_contrastive(record),
    "masks": _check_masks,
    "heads": _check_heads,
    "pruning": _check_pruning,
    "maps": lambda record, _: check_maps(record),
    "off_diagonal": lambda record, _: check_off_diagonal(record),
    "speed": lambda record, _: check_speed(record),
}
