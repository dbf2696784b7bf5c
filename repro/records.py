"""Result records: what a run achieved on a test set, with everything needed to check it again.

A record is one JSON file: configuration, provenance, cost of training, search, every score with its signature, the hypotheses that the
scores were computed from, and the hash of the references. Tables, plots and prose are generated from records and from nothing else.
"""

import hashlib
import json
import math
import textwrap
import time
import types
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, NotRequired, TypedDict, get_args, get_origin, get_type_hints, is_typeddict

from repro.config import RunConfig, from_dict
from repro.data.corpora import LOCAL, count_in_train, load_pairs, task_of
from repro.decoding import SearchConfig, Translator
from repro.errors import DamagedFileError, InputError
from repro.evaluation import Comparison, as_records, paired_bootstrap, score_all
from repro.files import write_json
from repro.runs import Run, load_state
from repro.scales import system_of

FORMAT = 1
VERDICTS = "claims"  # the folder of results that holds no records but verdicts
MEND = "restore the file, or delete it and evaluate or measure the run again"


class _Data(TypedDict):
    corpus: str
    source: str
    target: str


class _Config(TypedDict):
    data: _Data
    model: dict[str, Any]
    train: dict[str, Any]


class _Provenance(TypedDict):
    data_fingerprint: str
    versions: dict[str, str]
    device: str
    threads: int
    processor: str
    commit: str


class _Described(TypedDict):
    """What a record of any kind has."""

    kind: NotRequired[str]
    run: str
    system: str
    seed: int
    config: _Config
    config_digest: str
    provenance: _Provenance


class _Training(TypedDict):
    update: int
    tokens: int
    seconds: float
    best_dev_nll: float
    parameters: int
    target_tokens_per_second: int
    joules: NotRequired[dict[str, float] | None]


class _Decoding(TypedDict):
    seconds: float
    sentences_per_second: float


class _Score(TypedDict):
    name: str
    value: float
    signature: str


class _Scores(_Described):
    split: str
    training: _Training
    search: dict[str, Any]
    decoding: _Decoding
    scores: list[_Score]
    references_sha256: str
    hypotheses: list[str]
    in_train: NotRequired[dict[str, int]]


class _Contrastive(_Described):
    results: list[dict[str, Any]]


class _Heads(_Described):
    split: str
    sites: dict[str, dict[str, Any]]
    syntax: dict[str, Any] | None


class _Maps(_Described):
    source: list[str]
    target: list[str]
    weights: dict[str, Any]


class _Mask(TypedDict):
    heads: list[Any]
    changed: dict[str, str]


class _Masks(_Described):
    split: str
    masks: dict[str, _Mask]


class _OffDiagonal(_Described):
    split: str
    shares: dict[str, list[float]]


class _Pruning(_Described):
    whole: dict[str, Any]
    series: dict[str, dict[str, Any]]


class _Speed(_Described):
    sitting: list[str]
    sentences: int
    batch_size: int
    steps: int
    threads: int
    sentences_per_second: list[float]


KINDS: dict[str, type] = {
    "scores": _Scores,
    "contrastive": _Contrastive,
    "heads": _Heads,
    "maps": _Maps,
    "masks": _Masks,
    "off_diagonal": _OffDiagonal,
    "pruning": _Pruning,
    "speed": _Speed,
}
"""Kind of record -> the fields that tables and checks read of it; a record may have more."""


def evaluate_run(run: Run, split: str = "test", search: SearchConfig | None = None, quiet: bool = True) -> dict[str, Any]:
    """Translate and score a split with a finished run; the record is kept in the run's folder and found there the next time.

    A kept record that is damaged, edited, or of other text than there is now is made again.

    Args:
        run: a finished run.
        split: `test`, `dev`, a further test set of the corpus, or one of another corpus, `iwslt16:test`.
        search: how to search.
        quiet: no progress bar.

    Returns:
        The record.
    """
    search = search or SearchConfig()
    data = run.config.data
    sources, refs = load_pairs(data.corpus, data.source, data.target, split)
    made_of = json.dumps(asdict(search), sort_keys=True)
    if ":" in split or data.corpus.startswith(LOCAL):  # unlike a published corpus, it may have changed since
        made_of += str((sources, refs))
    path = run.path / "evaluations" / f"{_file_name(split)}-{_digest(made_of)}.json"
    if run.is_finished and _is_what_it_would_be(path, run, split, search, refs):
        return load_record(path)
    translator = Translator.from_run(run)
    start = time.perf_counter()
    hyps = translator.translate(sources, search, quiet)
    seconds = time.perf_counter() - start
    decoding = {"seconds": round(seconds, 2), "sentences_per_second": round(len(sources) / seconds, 1)}
    write_json(path, _describe(run, split, search, refs, hyps, decoding))
    return load_record(path)


def _is_what_it_would_be(path: Path, run: Run, split: str, search: SearchConfig, refs: list[str]) -> bool:
    """Tell whether a record is kept at a path and is what its translations give; a score that was edited, or a cut file, is not."""
    try:
        kept = load_record(path)
        if kind_of(kept) != "scores":
            return False
        derived = _describe(run, split, search, refs, kept["hypotheses"], kept["decoding"])
    except (DamagedFileError, InputError):  # no file, or a damaged one, or not as many translations as references
        return False
    return kept == json.loads(json.dumps(derived))


def _describe(run: Run, split: str, search: SearchConfig, refs: list[str], hyps: list[str], decoding: dict[str, float]) -> dict[str, Any]:
    """Return the record of translations of a split."""
    data = run.config.data
    training = load_state(run.path / "final")
    return {
        "format": FORMAT,
        "run": run.path.name,
        "system": system_of(run.config.model),
        "split": split,
        "seed": run.config.train.seed,
        "config": asdict(run.config),
        "config_digest": run.config.digest(),
        "provenance": run.provenance(),
        "training": training | {"target_tokens_per_second": round(training["tokens"] / training["seconds"])},
        "search": asdict(search),
        "decoding": decoding,
        "scores": as_records(score_all(hyps, refs, data.target, task_of(data.corpus))),
        "references_sha256": _digest("\n".join(refs), 64),
        "hypotheses": hyps,
    } | overlap_of(data.corpus, data.source, data.target, split)


def load_record(path: Path) -> dict[str, Any]:
    """Read a record.

    Raises:
        DamagedFileError: the file is cut, edited into something else, or of a format this version does not know.
    """
    try:
        record = json.loads(Path(path).read_bytes())
    except (OSError, ValueError) as error:
        raise DamagedFileError(str(path), "is not a result record", MEND) from error
    version = record.get("format") if isinstance(record, dict) else None
    if type(version) is not int:
        raise DamagedFileError(str(path), "is not a result record", MEND)
    if version < FORMAT:
        raise DamagedFileError(str(path), f"has format {version}, which is too old: this version reads {FORMAT}", "evaluate the run again")
    if version > FORMAT:
        what = f"has format {version}, this version reads {FORMAT}"
        raise DamagedFileError(str(path), what, "upgrade repro, or evaluate the run again")
    if fault := next(_faults(record), None):
        raise DamagedFileError(str(path), f"is not a result record: {fault}", MEND)
    try:
        from_dict(RunConfig, record["config"])
        from_dict(SearchConfig, record.get("search", {}), "search")
    except InputError as error:  # a new option does not change the format
        mend = f"upgrade repro if a newer version wrote it; else {MEND}"
        raise DamagedFileError(str(path), f"has another configuration than there can be: {error.where}: {error.what}", mend) from error
    return record


def _faults(record: dict[str, Any]) -> Iterator[str]:
    """Say what of a record is not as its kind has it; what follows the first may not be said, but raise."""
    yield from _type_faults(record, _Described, "")
    yield from _type_faults(record, KINDS.get(kind_of(record), _Described), "")
    data = record["config"]["data"]
    if "in_train" in record and record["in_train"].keys() != {"pairs", data["source"], data["target"]}:
        yield f"in_train has {', '.join(record['in_train']) or 'nothing'}, not pairs, {data['source']} and {data['target']}"


_NAMES = {str: "text", int: "a whole number", float: "a number", list: "a list", dict: "an object", type(None): "null"}


def _type_faults(value: Any, hint: Any, where: str) -> Iterator[str]:
    """Say what in a value of JSON is missing or of another type than its hint; numbers may be whole, and must be finite."""
    kind = dict if is_typeddict(hint) else get_origin(hint) or hint
    if kind is types.UnionType:
        choices = get_args(hint)
        if all(any(True for _ in _type_faults(value, choice, where)) for choice in choices):
            yield from _type_faults(value, choices[0], where)
    elif not _is_a(value, kind):
        yield f"{where or 'it'} wants {_NAMES[kind]}, found {textwrap.shorten(repr(value), 60, placeholder=' ...')}"
    elif is_typeddict(hint):
        for key, inner in get_type_hints(hint).items():
            path = f"{where}.{key}".lstrip(".")
            if key in value:
                yield from _type_faults(value[key], inner, path)
            elif key in hint.__required_keys__:
                yield f"{path} is missing"
    elif kind is list:
        for place, item in enumerate(value):
            yield from _type_faults(item, get_args(hint)[0], f"{where}[{place}]")
    elif kind is dict:
        for key, item in value.items():
            yield from _type_faults(item, get_args(hint)[1], f"{where}.{key}")


def _is_a(value: Any, kind: Any) -> bool:
    if kind is Any:
        return True
    if kind is float:
        return type(value) is int or (type(value) is float and math.isfinite(value))
    return type(value) is kind  # true and false are no numbers


def load_records(folder: Path, kind: str | None = "scores") -> list[dict[str, Any]]:
    """Read the records of a kind below a folder, in the order of their paths; None = of all kinds.

    Raises:
        DamagedFileError: naming the first file that is no record.
    """
    return [record for record in map(load_record, _paths(folder)) if kind in (None, kind_of(record))]


def read_records(folder: Path) -> tuple[dict[Path, dict[str, Any]], list[DamagedFileError]]:
    """Read the records of all kinds below a folder, and go on past damaged ones.

    Returns:
        The records by path, and an error for every file that is no record.
    """
    records, errors = {}, []
    for path in _paths(folder):
        try:
            records[path] = load_record(path)
        except DamagedFileError as error:
            errors.append(error)
    return records, errors


def _paths(folder: Path) -> list[Path]:
    return [path for path in sorted(Path(folder).rglob("*.json")) if path.parent.name != VERDICTS]


def kind_of(record: dict[str, Any]) -> str:
    """Return what a record is about: `scores` on a test set, or what `papers.measures` measured."""
    return record.get("kind", "scores")


def publish(record: dict[str, Any], folder: Path) -> Path:
    """Write a record where results are kept: a folder a corpus and direction, in it one a kind, a file a run, test set and search."""
    data, kind = record["config"]["data"], kind_of(record)
    place = Path(folder) / f"{_file_name(data['corpus'])}.{data['source']}-{data['target']}"
    path = (place if kind == "scores" else place / kind) / file_name_of(record)
    write_json(path, record)
    return path


def file_name_of(record: dict[str, Any]) -> str:
    """Return the name of the file that a record is published in; of scores, it tells test set and search."""
    if kind_of(record) != "scores":
        return f"{record['run']}.json"
    return ".".join([record["run"], _file_name(record["split"]), *search_of(record), "json"])


def search_of(record: dict[str, Any]) -> list[str]:
    """Return how the search of a score record differs from the usual one, as `name=value`; tables and claims use the usual one."""
    return SearchConfig(**record["search"]).conditions()


def score_of(record: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the score of that name with its signature.

    Raises:
        DamagedFileError: the record has none of that name.
    """
    for score in record["scores"]:
        if score["name"] == name:
            return score
    known = ", ".join(score["name"] for score in record["scores"]) or "none"
    raise DamagedFileError(f"{record['run']} {record['split']}", f"has no score '{name}', only {known}", MEND)


def pairs_of(record: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the sources that a record translated, and the references that it was scored against.

    Raises:
        DamagedFileError: the corpus at hand has other references than those.
    """
    data = record["config"]["data"]
    sources, refs = load_pairs(data["corpus"], data["source"], data["target"], record["split"])
    _check_references(record, refs)
    return sources, refs


def _check_references(record: dict[str, Any], refs: list[str]) -> None:
    if _digest("\n".join(refs), 64) != record["references_sha256"]:
        what = f"was scored against other references than {record['config']['data']['corpus']} {record['split']} has here"
        raise DamagedFileError(record["run"], what, "use the same version of the corpus, or evaluate the run again")


def rescore(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Compute the scores again from the stored hypotheses and the references of the corpus.

    Raises:
        DamagedFileError: the corpus at hand has other references than those the record was made with.
    """
    data = record["config"]["data"]
    _, refs = pairs_of(record)
    return as_records(score_all(record["hypotheses"], refs, data["target"], task_of(data["corpus"])))


def overlap_of(corpus: str, source: str, target: str, split: str) -> dict[str, dict[str, int]]:
    """Return what a record says of a test set out of domain: how much of it is in the training text. Of own splits, `repro data` tells."""
    return {"in_train": count_in_train(corpus, source, target, split)} if ":" in split else {}


def compare_records(first: dict[str, Any], second: dict[str, Any], refs: list[str]) -> list[Comparison]:
    """Compare two comparable records by paired bootstrap on the references that they were scored against.

    Raises:
        DamagedFileError: one of them was scored against other references.
    """
    data = first["config"]["data"]
    for record in (first, second):
        _check_references(record, refs)
    return paired_bootstrap(first["hypotheses"], second["hypotheses"], refs, data["target"], task=task_of(data["corpus"]))


def _file_name(name: str) -> str:
    """Return a name, such as `local:../own`, without what would lead to another folder."""
    return "".join(c if c.isalnum() or c in "-+.=_" else "-" for c in name)


def _digest(text: str, length: int = 8) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]
