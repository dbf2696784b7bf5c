"""The fields of a run's provenance, read without torch."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from repro.errors import DamagedFileError
from repro.reading import read_plain

IDENTITY = ("data_fingerprint", "device")
"""The parts without which a resumed run is another run.

The instructions of a processor, or the name of a GPU, which determine rounding, are compared as
well. The number of threads also counts, but training sets it to what it was.
"""
TOLD = ("processor", "commit", "started")
"""The parts that reports name for every run, and the start of its training.

By its start, one training is distinguished from another.
"""


def read_provenance(path: Path, fix: str) -> dict[str, Any]:
    """Return what `provenance` returned when the file was written, and what was added since.

    Raises:
        DamagedFileError: the file is missing, cut, or lacks a part; it names `fix`.
    """
    kinds = {"versions": dict, "files": dict, "inexact": list, "behaviour": dict, "commits": list}
    try:
        found = json.loads(read_plain(path))
        threads, versions = found["threads"], found["versions"]
        texts = [*(found[key] for key in (*IDENTITY, *TOLD)), versions["torch"], *versions.values()]
        is_whole = (
            type(threads) is int
            and 0 < threads < 10_000
            and all(isinstance(text, str) for text in texts)
            and all(isinstance(found.get(key, kind()), kind) for key, kind in kinds.items())
        )
        if not is_whole:
            raise ValueError("not a provenance")
    except (
        FileNotFoundError,
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        RecursionError,
    ) as error:
        what = "does not say from what the run was made"
        raise DamagedFileError(str(path), what, fix) from error
    return found


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
