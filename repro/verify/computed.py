"""Compare what this code computes with what it computed when the stored results were written.

A file beside the results has a row for each model and each way of training among them. A row is
written once and compared from then on. So an edit of the code that changes results is noticed
without any training.
"""

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from repro.core import transformer
from repro.core.config import ModelConfig, TrainConfig, from_dict
from repro.errors import DamagedFileError, InputError
from repro.files import write_atomic
from repro.reading import read_plain
from repro.records.stored import BEHAVIOUR, read_records
from repro.runs.behaviour import Behaviour, changes, of_model, of_training
from repro.runs.naming import system_of
from repro.runs.own_code import AbsentFileError
from repro.runs.provenance import commit_of

DECISIVE = (
    "max_updates",
    "learning_rate",
    "schedule",
    "warmup",
    "label_smoothing",
    "clip_norm",
    "optimizer",
    "matrix_rate",
    "adam_beta2",
    "gate_penalty",
    "gate_rate",
)
"""The options of training that decide the numbers of `of_training`."""


@dataclass(frozen=True)
class Row:
    """A model or a way of training, its computed numbers, and the commit of the code."""

    config: ModelConfig | TrainConfig
    commit: str
    numbers: Behaviour

    @property
    def name(self) -> str:
        """Name a row of behaviour.json in messages."""
        if isinstance(self.config, ModelConfig):
            return system_of(self.config)
        usual = TrainConfig()
        changed = [
            f"{name}={value}"
            for name in DECISIVE
            if (value := getattr(self.config, name)) != getattr(usual, name)
        ]
        return " ".join(["training", *changed])

    def changes(self) -> list[str]:
        """Describe the numbers of behaviour.json that this code computes differently."""
        return changes(self.numbers, _computed(self.config))


def verify_behaviour(folder: Path) -> tuple[list[str], str]:
    """Compute every row beside the results again.

    Returns:
        A line for each difference between this code and the code of the results. Then a line on
        what was compared, empty if no row is stored.

    Raises:
        DamagedFileError: the file of rows is damaged.
    """
    rows = _load(folder)
    if not rows:
        return [], ""
    found: dict[str, list[str]] = defaultdict(list)
    absent = 0
    for row in rows:
        try:
            if other := row.changes():
                found[", ".join(other)].append(f"{row.name} (row of commit {row.commit})")
        except AbsentFileError:
            absent += 1
    problems = [
        f"{folder / BEHAVIOUR}: this code computes {what} than when the results were written; "
        f"rows: {len(names)} of {len(rows)}, first {names[0]}"
        for what, names in found.items()
    ]
    stored = {row.config for row in rows}
    missing = [config for config in _configs(folder) if config not in stored]
    elsewhere = f"; of a file that is not here: {absent}" if absent else ""
    rest = f"; without a row: {len(missing)}, which repro results --update adds" if missing else ""
    return (
        problems,
        "this code computes what it computed when the results were written: rows compared: "
        f"{len(rows) - absent}{elsewhere}{rest}",
    )


def update_behaviour(folder: Path) -> Path:
    """Add rows for models and ways of training that have none; keep the other rows as they are.

    Raises:
        InputError: this code contradicts a stored row, which a new row would hide.
        DamagedFileError: the file of rows is damaged.
    """
    path, rows = folder / BEHAVIOUR, _load(folder)
    stored = {row.config: row for row in rows}
    commit = commit_of(Path(str(transformer.__file__)).resolve())
    added = [
        Row(config, commit, _computed(config))
        for config in _configs(folder)
        if config not in stored
    ]
    if added and (problems := verify_behaviour(folder)[0]):
        raise InputError(
            str(path),
            problems[0].partition(": ")[2],
            "restore the code, or delete the file: then all rows are new",
        )
    lines = sorted(json.dumps(_as_dict(row)) for row in [*rows, *added])
    if added:
        write_atomic(path, ("[\n " + ",\n ".join(lines) + "\n]\n").encode())
    return path


def _computed(config: ModelConfig | TrainConfig) -> Behaviour:
    """Compute the numbers of a row of behaviour.json again."""
    return of_model(config) if isinstance(config, ModelConfig) else of_training(config)


def _configs(folder: Path) -> Iterable[ModelConfig | TrainConfig]:
    """Return the distinct models and ways of training in the readable records of a folder."""
    found: dict[ModelConfig | TrainConfig, None] = {}
    for record in read_records(folder)[0].values():
        train = {
            name: value for name, value in record["config"]["train"].items() if name in DECISIVE
        }
        found[from_dict(ModelConfig, record["config"]["model"])] = None
        found[from_dict(TrainConfig, train)] = None
    return found


def _as_dict(row: Row) -> dict[str, Any]:
    """Return a row of behaviour.json to be written."""
    part, names = (
        row.config.part,
        DECISIVE
        if isinstance(row.config, TrainConfig)
        else [option.name for option in fields(row.config)],
    )
    return {
        part: {name: asdict(row.config)[name] for name in names},
        "commit": row.commit,
    } | row.numbers


def _load(folder: Path) -> list[Row]:
    """Read the rows of behaviour.json that the code is compared with; none without the file."""
    path = folder / BEHAVIOUR
    if not path.exists():
        return []
    try:
        return [_as_row(values) for values in json.loads(read_plain(path))]
    except (
        OSError,
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        RecursionError,
        InputError,
    ) as error:
        fix = (
            "restore it; deleted, it is made again by repro results --update, of the code that is "
            "here"
        )
        raise DamagedFileError(
            str(path), f"does not say what the code computed ({error})", fix
        ) from error


def _as_row(values: dict[str, Any]) -> Row:
    """Read a row of behaviour.json from JSON."""
    part, cls = ("model", ModelConfig) if "model" in values else ("train", TrainConfig)
    numbers = {name: value for name, value in values.items() if name not in (part, "commit")}
    if not numbers or not all(
        isinstance(number, float | int) for of_name in numbers.values() for number in of_name
    ):
        raise ValueError("a row without numbers")
    return Row(from_dict(cls, values[part]), values["commit"], numbers)
