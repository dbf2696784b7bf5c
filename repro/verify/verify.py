"""Derive stored numbers again from the evidence in the records, without any model.

By kind of record, and from what:

    all            digest, name, system, seed of a run;   its configuration
                   the path of the record
    scores         scores;                                counts of each translation;
                   tokens and sentences per second        counts and seconds
                   parameters                             the configuration
                   nats per token of the references       nats and tokens of each reference
                   tokens of each reference               runs with the same subwords
                   best dev loss                          the dev curve
                   seeds are distinct models              translations of other seeds, which differ
                   counts; fingerprint of the data        translations, references, corpus (*)
    contrastive    accuracies                             cross entropies of single pairs
                   pairs, types, distances ...            the suite (*)
    published_pairs    the same
    alignments     error rates, shares met                links of each sentence
                   gold links                             the alignments (*)
    heads          main offsets, roles;                   counts by offset;
                   baselines and margins                  counts of word pairs, accuracies
                   shares of a layer                      sum to one
                   which heads there are                  the configuration
                   all of dev was measured                the corpus (*)
    masks          the mask changes a translation         translations without it, as many as scored
                   which heads are masked                 the configuration
                   counts                                 translations and references (*)
    pruning        heads, penalties;                      lists of kept heads;
                   shapes of the small models             configurations in their score records
                   heads before; origin of each model     the configuration; their score records
                   which heads are kept                   the heads before: each once
                   which penalties were tried             the search, with its numbers of heads

(*) needs the corpus.

Verdicts are derived again too, from records alone. The manifest shows whether a record was edited,
lost or added. All else would need the model or a clock, and is taken as measured:

- the translations, cross entropies and nats of references themselves;
- means over queries (confidence, distance, entropy, divergence ...);
- the parameters of gates (`undecided`, `almost_binary`), and seconds.

Weights of maps, shares off the diagonal and rates of `speed` are checked for shape and range
(`plausible.py`).
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from repro.claims.evidence import Evidence, NotMeasured, Record
from repro.claims.verdict_fields import StoredVerdict, first_difference
from repro.core.config import RunConfig, from_dict
from repro.errors import InputError, MachineError, ReproError, did_you_mean
from repro.papers import PAPERS
from repro.papers.verdicts import TEST, claims_of, judge, load_verdicts, of_scores, verdict_places
from repro.records.likelihood import TOKENS
from repro.records.manifest import has_manifest, manifest_faults
from repro.records.schema import KINDS, kind_of
from repro.records.stored import place_of, read_records
from repro.records.translations import hypotheses_of
from repro.runs.naming import run_name, system_of
from repro.runs.own_code import AbsentFileError
from repro.runs.storage import MANIFEST
from repro.verify.derived import CHECKS, CORPUS_CHECKS, Findings, Scores, unequal

MALFORMED_RECORD = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""Errors from numbers deep in a record that are missing or of another type.

`load_record` checks what all readers need, not every number. The rest is found here: it is named,
and the other records are still checked.
"""

# Two seeds do not agree by chance on so many different translations of a test set.
DISTINCT = 20

STEP = 100  # records between two lines about progress
Report = Callable[[str], object]


@dataclass
class Verified:
    """The findings of a verification.

    Args:
        faults: a line for each file that is not a record, and each number that its evidence
            contradicts.
        unreadable: a line for each file or folder that cannot be opened.
        records: how many were read.
        numbers: how many numbers were derived again.
        unchecked: what a check lacks here, such as a corpus -> the records that lack it.
    """

    faults: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    records: int = 0
    numbers: int = 0
    unchecked: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


def verify_records(folder: Path, report: Report = lambda line: None) -> Verified:
    """Check a folder of results by its manifest, and derive the numbers of its records again.

    Args:
        folder: of results.
        report: called with a line before every `STEP` records, if there are more.

    Raises:
        InputError: there is no such folder, or no record in it to verify.
    """
    records, errors = read_records(folder)
    if not records and not errors:
        what = "holds no result record" if Path(folder).is_dir() else "is not a folder"
        raise InputError(str(folder), what, "name the folder of results: --results results")
    found = Verified(records=len(records))
    for error in errors:
        (found.unreadable if isinstance(error, MachineError) else found.faults).append(str(error))
    _check_manifest(folder, found)
    scores = {
        (record["config_digest"], record["split"]): record
        for record in records.values()
        if kind_of(record) == "scores"
    }
    absent: dict[str, MachineError] = {}
    for number, (path, record) in enumerate(records.items()):
        if number % STEP == 0 and len(records) > STEP:
            report(f"{number:,} of {len(records):,} records checked")
        _check(found, path, record, partial(_differences, path, record, scores))
        if kind_of(record) in CORPUS_CHECKS:
            _check_with_corpus(found, path, record, scores, absent)
    try:
        found.faults += _duplicate_seeds(scores.values())
        found.faults += _different_subwords(scores.values())
    # The loop above reported any table that cannot be read.
    except ReproError:
        pass
    return found


def _check_manifest(folder: Path, found: Verified) -> None:
    """Verify the files of a folder of results by its manifest."""
    if not has_manifest(folder):
        found.unchecked[
            f"{MANIFEST}, which shows edited records: repro results --update writes it"
        ].append(str(folder))
        return
    try:
        found.faults += [fault for fault in manifest_faults(folder) if fault not in found.faults]
    except MachineError as error:
        found.unreadable.append(str(error))
    except ReproError as error:
        found.faults.append(str(error))


def _check_with_corpus(
    found: Verified, path: Path, record: Record, scores: Scores, absent: dict[str, MachineError]
) -> None:
    """Check a record with its corpus; an absent corpus is looked for once."""
    data = record["config"]["data"]
    needed = f"the corpus {data['corpus']} {record['provenance']['data_fingerprint']}"
    if other := record.get("split", "").rpartition(":")[0]:
        needed += f" and {other}"
    if kind_of(record) in ("published_pairs", "alignments"):
        needed += f" ({kind_of(record)})"
    if kind_of(record) == "contrastive":
        needed += f" ({data['source']}-{data['target']} pairs)"
    if needed in absent:
        found.unchecked[str(absent[needed])].append(_name_of(record))
        return

    def check() -> Findings:
        try:
            yield from CORPUS_CHECKS[kind_of(record)](record, scores)
        except MachineError as error:
            absent[needed] = error
            found.unchecked[str(error)].append(_name_of(record))

    _check(found, path, record, check)


def _check(found: Verified, path: Path, record: Record, checks: Callable[[], Findings]) -> None:
    """Collect what re-deriving a record finds, also before a check fails."""
    name = _name_of(record)
    try:
        for what in checks():
            found.numbers += 1
            if what is not None:
                found.faults.append(f"{name}: {what}")
    except MachineError as error:
        found.unreadable.append(f"{name}: {error}")
    except (NotMeasured, AbsentFileError) as error:
        found.unchecked[str(error)].append(name)
    except ReproError as error:
        found.faults.append(f"{name}: {error}")
    except MALFORMED_RECORD as error:
        found.faults.append(f"{name}: {path} is damaged ({type(error).__name__}: {error})")


def _name_of(record: Record) -> str:
    """Name a re-derived record in messages: run, kind and split."""
    return f"{record['run']}, {kind_of(record)} {record.get('split', '')}".rstrip()


def _duplicate_seeds(scores: Iterable[Record]) -> Iterator[str]:
    """Verify that no two seeds translate alike: yield a message for each that does.

    One model would count as two.
    """
    seen: dict[tuple, str] = {}
    for record in scores:
        config = {**record["config"], "train": {**record["config"]["train"], "seed": None}}
        about = json.dumps([config, record["split"], record["search"]], sort_keys=True)
        other = seen.setdefault((about, record["tables"]["sentences"].digest), record["run"])
        # Models that were trained for a minute may all give the same translations.
        if other != record["run"] and len(set(hypotheses_of(record))) >= DISTINCT:
            yield (
                f"{record['run']}, scores {record['split']}: has the translations of {other}, word "
                "for word: it is not a separate seed"
            )


def _different_subwords(scores: Iterable[Record]) -> Iterator[str]:
    """Verify that runs with the same subwords count the same tokens of a reference.

    Runs on the same data have the same subwords, so their likelihoods compare token by token.
    """
    seen: dict[str, Record] = {}
    for record in scores:
        if "likelihood" not in record["tables"]:
            continue
        versions = record["provenance"]["versions"].get("sentencepiece")
        about = [record["config"]["data"], record["references_sha256"], versions]
        first = seen.setdefault(json.dumps(about, sort_keys=True), record)
        tokens, others = (one["tables"]["likelihood"][TOKENS] for one in (record, first))
        if not np.array_equal(tokens, others):
            yield (
                f"{record['run']}, scores {record['split']}: its references have other numbers of "
                f"tokens than those of {first['run']}, which has the same subwords"
            )


def verify_claims(folder: Path, report: Report = lambda line: None) -> Verified:
    """Judge every stored verdict again from the readable records; no corpus is needed.

    Args:
        folder: of results.
        report: called with a line before each scale and test set, if there are several.
    """
    found = Verified()
    records = list(read_records(folder)[0].values())
    try:
        places, errors = verdict_places(folder)
    except ReproError as error:
        places, errors = [], [error]
    for error in errors:
        (found.unreadable if isinstance(error, MachineError) else found.faults).append(
            f"verdicts: {error}"
        )
    for scale, split in places:
        at = scale if split == TEST else f"{scale} on {split}"
        if len(places) > 1:
            report(f"judging again at {at}")
        try:
            stored = load_verdicts(folder, scale, split)
            found.faults += _wrong_verdicts(at, stored, Evidence(scale, records, split))
            found.numbers += len(stored)
        except MachineError as error:
            found.unchecked[str(error)].append(f"verdicts at {at}")
        except ReproError as error:
            found.faults.append(f"verdicts at {at}: {error}")
        except MALFORMED_RECORD as error:
            found.faults.append(
                f"verdicts at {at}: they or their records are damaged ({type(error).__name__}: "
                f"{error})"
            )
    return found


def _wrong_verdicts(
    scale: str, verdicts: dict[str, StoredVerdict], evidence: Evidence
) -> list[str]:
    """Return the stored verdicts that the records do not give."""
    problems = []
    claims = {
        paper: claims_of(paper) if evidence.split == TEST else of_scores(claims_of(paper))
        for paper in PAPERS
    }
    found = judge([claim for of_paper in claims.values() for claim in of_paper], evidence)
    for names in ([claim.name for claim in of_paper] for of_paper in claims.values()):
        # A paper is judged as a whole, or not at all.
        for name in names if any(other in verdicts for other in names) else ():
            if name not in verdicts:
                problems.append(
                    f"{name} at {scale}: its verdict is missing, derived {found[name]['status']}"
                )
    for name, stored in verdicts.items():
        derived = found.get(name)
        if derived is None:
            problems.append(f"{name} at {scale}: no paper has this claim")
        elif what := first_difference(stored, derived):
            problems.append(f"{name} at {scale}: {what}")
    return problems


def _differences(path: Path, record: Record, scores: Scores) -> Findings:
    """Yield what in a stored record differs from what its evidence gives, by kind."""
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
