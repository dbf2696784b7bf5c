"""Say in a few fields what a run is, how far it is, and how it scored; rename and delete runs.

Nothing here checks parameters: a list of runs must not read gigabytes.
"""

import json
import math
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from repro.errors import InputError, ReproError
from repro.files import write_atomic
from repro.reading import is_file, names_in, read_plain
from repro.runs.naming import conditions_of, system_of
from repro.runs.run import LABEL, Run, label_of, runs_root


def all_runs(root: Path | None = None) -> list[Run]:
    """Return all runs below a folder that can be read, by name."""
    root = root or runs_root()
    folders = [root / name for name in names_in(root)]
    found = []
    for folder in folders:
        if is_file(folder / "config.json"):
            try:
                found.append(Run(folder))
            except ReproError:  # of a newer version, or damaged; its own commands say so
                continue
    return found


def overview(run: Run) -> dict[str, Any]:
    """Return what a run is and how far it is.

    Returns:
        `name` that you gave it, or None; `run`, its folder's name; `system`, `corpus`, `direction`,
        `seed`; `differs`, the settings that its scale does not have; `progress`: `update`, `of` and
        whether it is `finished`; `dev_nll`, the best one in nats per token, or None; `scores`: test
        set -> BLEU of the usual search; `megabytes`; `changed`, the time of the last line of its
        log.
    """
    data, lines = run.config.data, run.metrics()
    dev = [line["dev_nll"] for line in lines if "dev_nll" in line]
    log = run.metrics_path if lines else run.path / "config.json"
    return {
        "name": label_of(run.path),
        "run": run.path.name,
        "system": system_of(run.config.model),
        "corpus": data.corpus,
        "direction": f"{data.source}-{data.target}",
        "seed": run.config.train.seed,
        "differs": conditions_of(run.config),
        "progress": {
            "update": lines[-1]["update"] if lines else 0,
            "of": run.config.train.max_updates,
            "finished": run.is_finished,
        },
        "dev_nll": min(dev, default=None),
        "scores": _scores(run),
        "megabytes": round(_bytes(run.path) / 1e6, 1),
        "changed": datetime.fromtimestamp(log.stat().st_mtime, UTC).isoformat(timespec="seconds"),
    }


def _scores(run: Run) -> dict[str, float]:
    """Return the BLEU of each test set that was translated by the usual search."""
    folder, found = run.path / "evaluations", {}
    for name in names_in(folder):
        if name.endswith(".json"):
            try:
                record = json.loads(read_plain(folder / name))
                if record["search"]["beam"] == 5:
                    found[record["split"]] = record["scores"][0]["value"]
            except (ValueError, LookupError, TypeError):  # damaged; `repro evaluate` makes it again
                continue
    return found


def _bytes(folder: Path) -> int:
    """Return the size of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def as_line(row: dict[str, Any]) -> str:
    """Return an overview as a line for people."""
    progress, data = row["progress"], f"{row['corpus']} {row['direction']}"
    done = f"{progress['update']:,} of {progress['of']:,}"
    parts = [
        row["name"] or row["run"],
        f"{row['system']}, {data}, seed {row['seed']}",
        ", ".join(row["differs"]),
        f"{progress['update']:,} updates" if progress["finished"] else f"unfinished, {done}",
        "" if row["dev_nll"] is None else f"dev perplexity {math.exp(min(row['dev_nll'], 50)):.2f}",
        ", ".join(f"{split} BLEU {score:.2f}" for split, score in row["scores"].items()),
        f"{row['megabytes']:,} MB",
        row["changed"][:16].replace("T", " "),
    ]
    return "; ".join(filter(None, parts))


def rename(run: Run, name: str) -> None:
    """Give a run a name of your own; every command takes it for the folder's.

    Raises:
        InputError: another run has the name, or folders could be meant by it.
    """
    if not name.strip() or {"/", "\n", os.sep} & set(name) or name.startswith("."):
        raise InputError("--name", f"{name!r} is no name", "use letters, digits and dashes")
    for other in all_runs(run.path.parent):
        if other.path != run.path and name in (label_of(other.path), other.path.name):
            fix = f"choose another, or rename that run: repro runs {name} --name NEW"
            raise InputError("--name", f"'{name}' is {other.path.name} already", fix)
    write_atomic(run.path / LABEL, f"{name}\n".encode())


def delete(run: Run) -> None:
    """Delete a run.

    Raises:
        InputError: another run continues it.
        BusyError: it is in training.
    """
    for other in all_runs(run.path.parent):
        train = other.config.train
        if run.path.name in (train.start_from, train.cut_from) and other.path != run.path:
            fix = f"delete that one first: repro runs {other.path.name} --delete"
            raise InputError(run.path.name, f"is where {other.path.name} began", fix)
    with run.lock():
        shutil.rmtree(run.path)
