"""Result records: what a run achieved on a test set, with everything needed to check it again.

A record is one JSON file: configuration, provenance, cost of training, search, every score with its signature, the hypotheses that the
scores were computed from, and the hash of the references. Tables, plots and prose are generated from records and from nothing else.
"""

import hashlib
import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from repro.data.corpora import count_in_train, load_pairs, task_of
from repro.decoding import SearchConfig, Translator
from repro.errors import DamagedFileError
from repro.evaluation import Comparison, as_records, paired_bootstrap, score_all
from repro.files import write_json
from repro.runs import Run, load_state
from repro.scales import system_of

FORMAT = 1
VERDICTS = "claims"  # the folder of results that holds no records but verdicts


def evaluate_run(run: Run, split: str = "test", search: SearchConfig | None = None, quiet: bool = True) -> dict[str, Any]:
    """Translate and score a split with a finished run; the record is kept in the run's folder and found there the next time.

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
    made_of = json.dumps(asdict(search), sort_keys=True)
    if ":" in split:  # unlike the run's own corpus, it may have changed since
        made_of += str(load_pairs(data.corpus, data.source, data.target, split))
    path = run.path / "evaluations" / f"{_file_name(split)}-{_digest(made_of)}.json"
    if path.exists():
        return load_record(path)
    sources, refs = load_pairs(data.corpus, data.source, data.target, split)
    translator = Translator.from_run(run)
    start = time.perf_counter()
    hyps = translator.translate(sources, search, quiet)
    seconds = time.perf_counter() - start
    training = load_state(run.path / "final")
    record = {
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
        "decoding": {"seconds": round(seconds, 2), "sentences_per_second": round(len(sources) / seconds, 1)},
        "scores": as_records(score_all(hyps, refs, data.target, task_of(data.corpus))),
        "references_sha256": _digest("\n".join(refs), 64),
        "hypotheses": hyps,
    } | overlap_of(data.corpus, data.source, data.target, split)
    write_json(path, record)
    return load_record(path)


def load_record(path: Path) -> dict[str, Any]:
    """Read a record.

    Raises:
        DamagedFileError: the file is cut, edited into something else, or of a format this version does not know.
    """
    try:
        record = json.loads(Path(path).read_bytes())
        known = record["format"] == FORMAT
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DamagedFileError(str(path), "is not a result record", "evaluate the run again") from error
    if not known:
        what = f"has format {record['format']}, this version reads {FORMAT}"
        raise DamagedFileError(str(path), what, "upgrade repro, or evaluate the run again")
    return record


def load_records(folder: Path, kind: str | None = "scores") -> list[dict[str, Any]]:
    """Read the records of a kind below a folder, in the order of their paths; None = of all kinds."""
    paths = [path for path in sorted(Path(folder).rglob("*.json")) if path.parent.name != VERDICTS]
    return [record for record in map(load_record, paths) if kind in (None, kind_of(record))]


def kind_of(record: dict[str, Any]) -> str:
    """Return what a record is about: `scores` on a test set, or what `papers.measures` measured."""
    return record.get("kind", "scores")


def publish(record: dict[str, Any], folder: Path) -> Path:
    """Write a record where results are kept: a folder a corpus and direction, in it one a kind, a file a run, test set and search."""
    data, kind = record["config"]["data"], kind_of(record)
    place = Path(folder) / f"{_file_name(data['corpus'])}.{data['source']}-{data['target']}"
    if kind == "scores":
        path = place / ".".join([record["run"], _file_name(record["split"]), *search_of(record), "json"])
    else:
        path = place / kind / f"{record['run']}.json"
    write_json(path, record)
    return path


def search_of(record: dict[str, Any]) -> list[str]:
    """Return how the search of a score record differs from the usual one, as `name=value`; tables and claims use the usual one."""
    return SearchConfig(**record["search"]).conditions()


def score_of(record: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the score of that name with its signature."""
    return next(score for score in record["scores"] if score["name"] == name)


def rescore(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Compute the scores again from the stored hypotheses and the references of the corpus.

    Raises:
        DamagedFileError: the corpus at hand has other references than those the record was made with.
    """
    data = record["config"]["data"]
    _, refs = load_pairs(data["corpus"], data["source"], data["target"], record["split"])
    if _digest("\n".join(refs), 64) != record["references_sha256"]:
        what = f"was scored against other references than {data['corpus']} {record['split']} has here"
        raise DamagedFileError(record["run"], what, "use the same version of the corpus")
    return as_records(score_all(record["hypotheses"], refs, data["target"], task_of(data["corpus"])))


def overlap_of(corpus: str, source: str, target: str, split: str) -> dict[str, dict[str, int]]:
    """Return what a record says of a test set out of domain: how much of it is in the training text. Of own splits, `repro data` tells."""
    return {"in_train": count_in_train(corpus, source, target, split)} if ":" in split else {}


def compare_records(first: dict[str, Any], second: dict[str, Any], refs: list[str]) -> list[Comparison]:
    """Compare two comparable records by paired bootstrap on the references that they were scored against."""
    data = first["config"]["data"]
    return paired_bootstrap(first["hypotheses"], second["hypotheses"], refs, data["target"], task=task_of(data["corpus"]))


def _file_name(name: str) -> str:
    """Return a name, such as `local:../own`, without what would lead to another folder."""
    return "".join(c if c.isalnum() or c in "-+.=_" else "-" for c in name)


def _digest(text: str, length: int = 8) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]
