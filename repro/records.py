"""Result records: what a run achieved on a test set, with everything needed to check it again. `scoring.py` makes them.

A record is one JSON file: configuration, provenance, cost of training, search, every score with its signature, the hypotheses that the
scores were computed from, and the hash of the references. Tables, plots and prose are generated from records and from nothing else.
"""

import json
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from repro.config import DataConfig, RunConfig, from_dict, missing_options
from repro.data.corpora import ALLOWS_LEAKS, count_in_train, load_corpus, load_once, load_pairs, own_folder, task_of
from repro.data.parallel import digest
from repro.decoding import SearchConfig
from repro.errors import DamagedFileError, InputError
from repro.evaluation import Comparison, SystemComparison, as_records, compare_systems, paired_bootstrap, score_all
from repro.files import read_plain, remove_abandoned, write_json
from repro.record_fields import faults_of, kind_of

FORMAT = 1
VERDICTS = "claims"  # the folder of results that holds no records but verdicts
BEHAVIOUR = "behaviour.json"  # the file beside the records that holds what the code computed, see `papers.computed`
MEND = "restore the file, or delete it and evaluate or measure the run again"


def _refuse(constant: str) -> None:
    """Refuse `NaN` and infinities, which are no JSON, and which no record was written with."""
    raise ValueError(f"{constant} is no number")


def load_record(path: Path) -> dict[str, Any]:
    """Read a record.

    Raises:
        DamagedFileError: the file is cut, edited into something else, or of a format this version does not know.
    """
    try:
        record = json.loads(read_plain(Path(path)), parse_constant=_refuse)
    except (OSError, ValueError, RecursionError) as error:
        raise DamagedFileError(str(path), "is not a result record", MEND) from error
    version = record.get("format") if isinstance(record, dict) else None
    if version is None:  # a file of something else: to delete it would be bad advice
        mend = "name the folder of results alone, as `repro run` or --record made it; or restore the file if it was one"
        raise DamagedFileError(str(path), "is not a result record", mend)
    if type(version) is not int:
        raise DamagedFileError(str(path), "is not a result record", MEND)
    if version < FORMAT:
        raise DamagedFileError(str(path), f"has format {version}, which is too old: this version reads {FORMAT}", "evaluate the run again")
    if version > FORMAT:
        what = f"has format {version}, this version reads {FORMAT}"
        raise DamagedFileError(str(path), what, "upgrade repro, or evaluate the run again")
    if fault := next(faults_of(record), None):
        raise DamagedFileError(str(path), f"is not a result record: {fault}", MEND)
    try:
        if missing := missing_options(RunConfig, record["config"]):
            raise DamagedFileError(str(path), f"is not a result record: its configuration has no {missing[0]}", MEND)
        from_dict(RunConfig, record["config"])
        from_dict(SearchConfig, record.get("search", {}), "search")
    except InputError as error:  # a new option does not change the format
        mend = f"upgrade repro if a newer version wrote it; else {MEND}"
        raise DamagedFileError(str(path), f"has another configuration than there can be: {error.where}: {error.what}", mend) from error
    return record


def of_this_text(records: list[dict[str, Any]], data: DataConfig) -> list[dict[str, Any]]:
    """Return the records without those of another version of the user's own text, which may have changed or be another folder by now."""
    if not own_folder(data.corpus):
        return records
    fingerprint = load_corpus(data.corpus, data.source, data.target).fingerprint
    same = (data.corpus, {data.source, data.target})
    return [
        record
        for record in records
        if (record["config"]["data"]["corpus"], {record["config"]["data"]["source"], record["config"]["data"]["target"]}) != same
        or record["provenance"]["data_fingerprint"] == fingerprint
    ]


def load_records(folder: Path, kind: str | None = "scores") -> list[dict[str, Any]]:
    """Read the records of a kind below a folder, in the order of their paths; None = of all kinds.

    Raises:
        InputError: there is no such folder.
        DamagedFileError: naming the first file that is no record, or the same one again.
    """
    if not Path(folder).is_dir():
        raise InputError(str(folder), "is no folder of results", "name the folder that `repro run` made")
    records, errors = read_records(folder)
    if errors:
        raise errors[0]
    return [record for record in records.values() if kind in (None, kind_of(record))]


def read_records(folder: Path) -> tuple[dict[Path, dict[str, Any]], list[DamagedFileError]]:
    """Read the records of all kinds below a folder, and go on past damaged ones.

    Returns:
        The records by path, and an error for every file that is no record, or a copy: the same run twice would count as two seeds.
    """
    records, errors = {}, []
    known: dict[Any, Path] = {}
    for path in _paths(folder):
        try:
            record = load_record(path)
            published = place_of(record)
            if published in known:
                raise DamagedFileError(str(path), f"is of the same run and kind as {known[published]}", "delete one of the two")
            records[path], known[published] = record, path
        except DamagedFileError as error:
            errors.append(error)
    return records, errors


def _paths(folder: Path) -> list[Path]:
    """Return the files of records below a folder: not verdicts, and nothing hidden, such as the copies that editors keep."""
    paths = {path: path.relative_to(folder).parts for path in sorted(Path(folder).rglob("*.json")) if path.name != BEHAVIOUR}
    return [path for path, parts in paths.items() if path.parent.name != VERDICTS and not any(part.startswith(".") for part in parts)]


def publish(record: dict[str, Any], folder: Path) -> Path:
    """Write a record where results are kept: a folder a corpus and direction, in it one a kind, a file a run; of scores, one a test set
    and search as well.

    Raises:
        InputError: there it would replace what was measured on other sentences, or of other parameters.
        DamagedFileError: what is there is no whole record.
    """
    path = Path(folder) / place_of(record)
    if path.exists():
        older = load_record(path)
        before, now = _measured_on(older), _measured_on(record)
        if before == now and _text_of(older) != _text_of(record):
            before, now = (f"{what} of the text {_text_of(one)}" for what, one in ((before, older), (now, record)))
        if before != now:
            raise InputError(str(path), f"was measured on {before}, this on {now}", "record it below another folder")
    write_json(path, record)
    remove_abandoned(path.parent)
    return path


def place_of(record: dict[str, Any]) -> Path:
    """Return where a record is published below the folder of results; the name of a file of scores tells test set and search."""
    data, kind = record["config"]["data"], kind_of(record)
    place = Path(f"{plain_name(data['corpus'])}.{data['source']}-{data['target']}")
    if kind != "scores":
        return place / kind / f"{record['run']}.json"
    return place / ".".join([record["run"], plain_name(record["split"]), *search_of(record), "json"])


def _measured_on(record: dict[str, Any]) -> str:
    """Return in words which sentences a record is about, as far as it says, and whether parameters were rounded for the gallery."""
    parts = record.get("split"), record.get("measured", {}).get("sentences")
    sentences = " sentences of ".join(f"{part:,}" if type(part) is int else part for part in reversed(parts) if part) or "no split"
    return sentences + " by parameters in half precision" * ("half_precision" in record.get("training", {}))


def _text_of(record: dict[str, Any]) -> str:
    """Return what names the text that a record is about: of scores the references, else all of the corpus."""
    return record.get("references_sha256", record["provenance"]["data_fingerprint"])[:12]


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


def check_text(record: dict[str, Any]) -> None:
    """Refuse a record of another version of its corpus, whose translations are of other sentences, or whose model learned from others.

    Raises:
        DamagedFileError: train, dev or test of the corpus at hand are not those that the run was trained with.
    """
    data = record["config"]["data"]
    if load_once(data["corpus"], data["source"], data["target"]).fingerprint != record["provenance"]["data_fingerprint"]:
        what = f"was trained on another version of {data['corpus']} than is here"
        raise DamagedFileError(record["run"], what, "use that version of the corpus, or delete the run's records and run it again")


def _check_references(record: dict[str, Any], refs: list[str]) -> None:
    if digest(refs) != record["references_sha256"]:
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
    """Return how much of a test set is in the training text, which a record says if it is out of domain or leaks were allowed.

    Of other corpora `repro data` tells it.
    """
    is_told = ":" in split or corpus.startswith(ALLOWS_LEAKS)
    return {"in_train": count_in_train(corpus, source, target, split)} if is_told else {}


def compare_records(first: dict[str, Any], second: dict[str, Any], refs: list[str]) -> list[Comparison]:
    """Compare two comparable records by paired bootstrap on the references that they were scored against.

    Raises:
        DamagedFileError: one of them was scored against other references.
    """
    data = first["config"]["data"]
    for record in (first, second):
        _check_references(record, refs)
    return paired_bootstrap(first["hypotheses"], second["hypotheses"], refs, data["target"], task=task_of(data["corpus"]))


def compare_seeds(systems: Sequence[Sequence[dict[str, Any]]], refs: list[str]) -> list[list[SystemComparison]]:
    """Compare systems with the first of them, each by comparable records of one seed or several; see `evaluation.compare_systems`.

    Raises:
        DamagedFileError: one of them was scored against other references.
    """
    data = systems[0][0]["config"]["data"]
    for record in chain.from_iterable(systems):
        _check_references(record, refs)
    hypotheses = [[record["hypotheses"] for record in seeds] for seeds in systems]
    return compare_systems(hypotheses, refs, data["target"], task=task_of(data["corpus"]))


def plain_name(name: str) -> str:
    """Return a name, such as `local:../own`, without what would lead to another folder."""
    return "".join(c if c.isalnum() or c in "-+.=_" else "-" for c in name)
