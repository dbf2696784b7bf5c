"""Read and write result records: what a run achieved on a test set, and how to check it again.

A record is a JSON file: configuration, provenance, cost of training, search, every score with its
signature, and the hash of the references. Long parts are in tables next to it, which are read when
they are used: translations, the statistics of their scores, and the lengths of the references
(`sentences.py`). Tables, plots and prose are generated from records and from nothing else.
"""

import hashlib
import json
import os
from collections.abc import Collection
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from repro.core.config import DataConfig, RunConfig, from_dict
from repro.core.decoding import SearchConfig
from repro.core.settings import USUAL_ALPHA
from repro.data.corpora import count_pairs_in_train, load_corpus, load_pairs
from repro.data.own_text import ALLOWS_LEAKS, own_folder
from repro.data.parallel import column_digest
from repro.errors import DamagedFileError, InputError, MachineError, ReproError
from repro.files import refusals, remove_abandoned, write_json
from repro.reading import read_plain
from repro.records.manifest import known_files
from repro.records.schema import faults_of, kind_of
from repro.records.sentences import SUFFIX, StoredTable, cannot_read
from repro.runs.storage import MANIFEST

FORMAT = 2
VERDICTS = "claims"  # the folder of results that holds verdicts instead of records
# the file next to the records with the numbers of the code; see `verify.computed`
BEHAVIOUR = "behaviour.json"
FIX = "restore the file, or delete it and evaluate or measure the run again"


def _refuse_constant(constant: str) -> None:
    """Refuse `NaN` and infinities in a record: they are not valid JSON."""
    raise ValueError(f"{constant} is no number")


def load_record(path: Path, known: str = "") -> dict[str, Any]:
    """Read a record; its tables are read when they are used.

    Args:
        path: of its file.
        known: SHA-256 of the file when it was checked before; then its fields are not checked.

    Raises:
        DamagedFileError: the file is cut, edited into something else, or of a format this version
            does not know.
        MachineError: the file cannot be read.
    """
    path = Path(path)
    try:
        data = read_plain(path)
        record = json.loads(data, parse_constant=_refuse_constant)
    except (FileNotFoundError, ValueError, RecursionError) as error:
        raise DamagedFileError(str(path), "is not a result record", FIX) from error
    except OSError as error:
        raise cannot_read(path, error) from error
    if hashlib.sha256(data).hexdigest() != known:
        _check_record(path, record)
    tables = {
        name: StoredTable(_table_path(path, record, name, digest), digest)
        for name, digest in record.get("tables", {}).items()
    }
    return record | {"tables": tables} if tables else record


def _check_record(path: Path, record: Any) -> None:
    """Refuse a file that is not a record of a kind that this version knows."""
    version = record.get("format") if isinstance(record, dict) else None
    if version is None:  # another kind of file: to delete it would be bad advice
        fix = (
            "name the folder of results alone, as `repro run` or --record made it; or restore the "
            "file if it was one"
        )
        raise DamagedFileError(str(path), "is not a result record", fix)
    if type(version) is not int:
        raise DamagedFileError(str(path), "is not a result record", FIX)
    if version < FORMAT:
        raise DamagedFileError(
            str(path),
            f"has format {version}, which is too old: this version reads {FORMAT}",
            "evaluate the run again",
        )
    if version > FORMAT:
        what = f"has format {version}, this version reads {FORMAT}"
        raise DamagedFileError(str(path), what, "upgrade repro, or evaluate the run again")
    if fault := next(faults_of(record), None):
        raise DamagedFileError(str(path), f"is not a result record: {fault}", FIX)
    try:
        if missing := _missing_options(record["config"]):
            what = f"is not a result record: its configuration has no {missing[0]}"
            raise DamagedFileError(str(path), what, FIX)
        from_dict(RunConfig, record["config"])
        from_dict(SearchConfig, record.get("search", {}), "search")
    except InputError as error:  # a new option does not change the format
        fix = f"upgrade repro if a newer version wrote it; else {FIX}"
        raise DamagedFileError(
            str(path),
            f"has another configuration than there can be: {error.where}: {error.what}",
            fix,
        ) from error


def _missing_options(values: dict[str, Any]) -> list[str]:
    """Return the options that an old record lacks, which `from_dict` would guess.

    Options that older runs did not have are known.
    """
    return [
        f"{part.name}.{option.name}"
        for part in fields(RunConfig)
        for option in fields(getattr(RunConfig(), part.name))
        if "older" not in option.metadata and option.name not in values[part.name]
    ]


def _table_path(path: Path, record: dict[str, Any], name: str, digest: str) -> Path:
    """Return where a table of a record lies: beside it by its name.

    The table of the references, which many records share, has a name of its own. That of their
    likelihood stands beside another table of the record.
    """
    if name == "references":
        return path.with_name(f"references.{plain_name(record['split'])}.{digest[:12]}{SUFFIX}")
    ending = f".{name}{SUFFIX}" if name == "likelihood" else SUFFIX
    return path.with_name(path.name.removesuffix(".json") + ending)


def write_record(path: Path, record: dict[str, Any]) -> None:
    """Write a record and its tables.

    If a table changes, the old record is removed first: a stop in between leaves no record rather
    than one with the sentences of another.

    Raises:
        MachineError: the disk refuses.
    """
    tables = record.get("tables", {})
    for name, table in tables.items():
        place = _table_path(path, record, name, table.digest)
        if not _is_written(StoredTable(place, table.digest)):
            if name != "references":
                with refusals(path):
                    path.unlink(missing_ok=True)
            table.write(place)
    write_json(
        path,
        record | {"tables": {name: table.digest for name, table in tables.items()}}
        if tables
        else record,
    )


def _is_written(table: StoredTable) -> bool:
    """Return whether a table of a record is on disk with its digest."""
    try:
        return table.is_sound()
    except ReproError:
        return False


def plain(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record as it is read from its file, with its tables."""
    tables = record.get("tables")
    values = json.loads(
        json.dumps({name: value for name, value in record.items() if name != "tables"})
    )
    return values | {"tables": tables} if tables else values


def of_this_text(records: list[dict[str, Any]], data: DataConfig) -> list[dict[str, Any]]:
    """Drop records made from another version of the user's own text.

    Such a text may have changed, or its name may mean another folder now.
    """
    if not own_folder(data.corpus):
        return records
    fingerprint = load_corpus(data.corpus, data.source, data.target).fingerprint
    same = (data.corpus, {data.source, data.target})
    return [
        record
        for record in records
        if (
            record["config"]["data"]["corpus"],
            {record["config"]["data"]["source"], record["config"]["data"]["target"]},
        )
        != same
        or record["provenance"]["data_fingerprint"] == fingerprint
    ]


def load_records(
    folder: Path, kind: str | None = "scores", corpora: Collection[str] | None = None
) -> list[dict[str, Any]]:
    """Read the records of a kind and of some corpora below a folder, in the order of their paths.

    Raises:
        InputError: there is no such folder.
        DamagedFileError: naming the first file that is not a record, or is a copy of one.
        MachineError: a file or folder cannot be read.
    """
    if not Path(folder).is_dir():
        raise InputError(
            str(folder), "is no folder of results", "name the folder that `repro run` made"
        )
    records, errors = read_records(folder, corpora)
    if errors:
        raise errors[0]
    return [record for record in records.values() if kind in (None, kind_of(record))]


def read_records(
    folder: Path, corpora: Collection[str] | None = None
) -> tuple[dict[Path, dict[str, Any]], list[ReproError]]:
    """Read the records of all kinds below a folder, of some corpora or all; skip damaged ones.

    Returns:
        The records by path, and an error for every file that is not a record, that cannot be read,
        or that is a copy: the same run twice would count as two seeds.
    """
    if not Path(folder).is_dir():
        return {}, []
    records, errors = {}, []
    published: dict[Any, Path] = {}
    known = known_files(folder)
    paths, unreadable = _record_paths(Path(folder))
    errors += unreadable
    for path in paths:
        if not _is_of(path.relative_to(folder), corpora):
            continue
        try:
            record = load_record(path, known.get(path.resolve(), ""))
            place = place_of(record)
            if place in published:
                raise DamagedFileError(
                    str(path),
                    f"is of the same run and kind as {published[place]}",
                    "delete one of the two",
                )
            records[path], published[place] = record, path
        except (DamagedFileError, MachineError) as error:
            errors.append(error)
    return records, errors


def lost_records(folder: Path, corpora: Collection[str]) -> list[Path]:
    """Return the records of some corpora that the manifest of a folder lists and that are gone."""
    root = Path(folder).resolve()
    listed = (path for path in known_files(folder) if path.is_relative_to(root))
    return sorted(
        path.relative_to(root)
        for path in listed
        if path.suffix == ".json" and _is_of(path.relative_to(root), corpora) and not path.exists()
    )


def _is_of(path: Path, corpora: Collection[str] | None) -> bool:
    """Return whether a path in a folder of results is of one of some corpora; None means all."""
    return corpora is None or path.parts[0].startswith(
        tuple(f"{plain_name(corpus)}." for corpus in corpora)
    )


def _record_paths(folder: Path) -> tuple[list[Path], list[ReproError]]:
    """Return the files of records below a folder, and an error for each that cannot be opened.

    Verdicts and hidden files, such as editors' copies, are left out.
    """
    errors: list[ReproError] = []
    paths = []
    for place, folders, names in os.walk(
        folder, onerror=lambda error: errors.append(cannot_read(Path(error.filename), error))
    ):
        hidden_or_no_record = [name for name in folders if name.startswith(".") or name == VERDICTS]
        folders[:] = sorted(set(folders) - set(hidden_or_no_record))
        found = (
            name
            for name in names
            if name.endswith(".json")
            and not name.startswith(".")
            and name not in (MANIFEST, BEHAVIOUR)
        )
        paths += [Path(place) / name for name in found]
    return sorted(paths), errors


def publish(record: dict[str, Any], folder: Path) -> Path:
    """Write a record below the folder of results, at `place_of`.

    Raises:
        InputError: it would replace a record of other sentences or other parameters.
        DamagedFileError: the file there is not a whole record.
    """
    path = Path(folder) / place_of(record)
    if path.exists():
        older = load_record(path)
        before, now = _measured_on(older), _measured_on(record)
        if before == now and _text_of(older) != _text_of(record):
            before, now = (
                f"{what} of the text {_text_of(one)}"
                for what, one in ((before, older), (now, record))
            )
        if before != now:
            raise InputError(
                str(path),
                f"was measured on {before}, this on {now}",
                "record it below another folder",
            )
    write_record(path, record)
    remove_abandoned(path.parent)
    return path


def place_of(record: dict[str, Any]) -> Path:
    """Return the path of a record below the folder of results.

    There is a folder for each corpus and direction, in it one for each kind, and a file for each
    run. The name of a file of scores also has its test set and search.
    """
    data, kind = record["config"]["data"], kind_of(record)
    place = Path(f"{plain_name(data['corpus'])}.{data['source']}-{data['target']}")
    if kind != "scores":
        return place / kind / f"{record['run']}.json"
    return place / ".".join(
        [record["run"], plain_name(record["split"]), *search_of(record), "json"]
    )


def _measured_on(record: dict[str, Any]) -> str:
    """Return in words the sentences of a record, and whether its parameters were rounded."""
    parts = record.get("split"), record.get("measured", {}).get("sentences")
    sentences = (
        " sentences of ".join(
            f"{part:,}" if type(part) is int else part for part in reversed(parts) if part
        )
        or "no split"
    )
    return sentences + " by parameters in half precision" * (
        "half_precision" in record.get("training", {})
    )


def _text_of(record: dict[str, Any]) -> str:
    """Return the digest of a record's text: of the references for scores, else of the corpus."""
    return record.get("references_sha256", record["provenance"]["data_fingerprint"])[:12]


def group_key(record: dict[str, Any]) -> str:
    """Return the digest of a record's configuration without its seed: equal for all seeds."""
    train = {name: value for name, value in record["config"]["train"].items() if name != "seed"}
    return _group_key(json.dumps(record["config"] | {"train": train}))


@cache  # thousands of records are of a few hundred systems
def _group_key(config: str) -> str:
    """Return the group key of a record, from its configuration as JSON."""
    return from_dict(RunConfig, json.loads(config)).group_key()


def search_of(record: dict[str, Any]) -> list[str]:
    """Return the settings of a record's search that differ from its run's, as `name=value`.

    Tables and claims use records of the search of the run.
    """
    usual = SearchConfig(alpha=record["training"].get("alpha", USUAL_ALPHA))
    return SearchConfig(**record["search"]).conditions(usual)


def score_of(record: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the score of that name in a record, with its signature.

    Raises:
        DamagedFileError: the record has none of that name.
    """
    for score in record["scores"]:
        if score["name"] == name:
            return score
    known = ", ".join(score["name"] for score in record["scores"]) or "none"
    raise DamagedFileError(
        f"{record['run']} {record['split']}", f"has no score '{name}', only {known}", FIX
    )


def pairs_of(record: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the sources that a record translated, and the references that it was scored against.

    Raises:
        DamagedFileError: the corpus has other references than those.
    """
    data = record["config"]["data"]
    sources, refs = load_pairs(data["corpus"], data["source"], data["target"], record["split"])
    _check_references(record, refs)
    return sources, refs


def _check_references(record: dict[str, Any], refs: list[str]) -> None:
    """Refuse a corpus with other references than those of the record."""
    if column_digest(refs) != record["references_sha256"]:
        what = (
            f"was scored against other references than {record['config']['data']['corpus']} "
            f"{record['split']} has here"
        )
        raise DamagedFileError(
            record["run"], what, "use the same version of the corpus, or evaluate the run again"
        )


def overlap_of(corpus: str, source: str, target: str, split: str) -> dict[str, dict[str, int]]:
    """Return how much of a record's test set is in the training text.

    Records say this if the test set is out of domain, or if leaks were allowed; of other corpora,
    `repro data` says it.
    """
    is_told = ":" in split or corpus.startswith(ALLOWS_LEAKS)
    return {"in_train": count_pairs_in_train(corpus, source, target, split)} if is_told else {}


def plain_name(name: str) -> str:
    """Return a name for a record's path, such as `local:../own`, that leads to no other folder."""
    return "".join(c if c.isalnum() or c in "-+.=_" else "-" for c in name)
