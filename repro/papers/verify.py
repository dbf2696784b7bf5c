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
from pathlib import Path

from repro.config import RunConfig, from_dict
from repro.errors import InputError, MachineError, ReproError, did_you_mean
from repro.papers import PAPERS
from repro.papers.derived import CHECKS, Scores, unequal
from repro.papers.evidence import Evidence, NotMeasured, Record
from repro.papers.verdicts import TEST, claims_of, further_test_sets, judge, load, of_scores, scales_with_verdicts
from repro.record_fields import KINDS, kind_of
from repro.records import place_of, read_records
from repro.scales import run_name, system_of

CUT_SHORT = (ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError, ValueError)
"""What comes of numbers deep in a record that are missing or of another type. `load_record` checks what all readers need, not every
number: the rest is found here, where it must be named and must not keep the other records from being checked."""

DISTINCT = 20
"""So many different translations of a test set are not the same by chance for two seeds."""


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
    yield from unequal("place", "/".join(path.parts[-len(place.parts) :]), place.as_posix())
    config = from_dict(RunConfig, record["config"])
    yield from unequal("configuration", record["config_digest"], config.digest())
    yield from unequal("run", record["run"], run_name(config))
    yield from unequal("system", record["system"], system_of(config.model))
    yield from unequal("seed", record["seed"], config.train.seed)
    if kind_of(record) in CHECKS:
        yield from CHECKS[kind_of(record)](record, scores)
