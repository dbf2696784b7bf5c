"""The manifest of a folder of results: a SHA-256 of every record, table and file of verdicts in it.

It reveals damaged, edited and missing files without a corpus or a model. `repro results --update`
writes it, and `repro verify` checks it.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from repro.errors import DamagedFileError
from repro.files import write_json
from repro.reading import read_plain
from repro.records.sentences import SUFFIX, cannot_read
from repro.runs.storage import MANIFEST

FORMAT = 1
RENEW = "restore it; or, if it is meant to be so, list it anew: repro results --update"


def write_manifest(folder: Path) -> Path:
    """Write the manifest of a folder as it is now, and return its path."""
    files = {name: _file_digest(Path(folder) / name) for name in _listed_paths(Path(folder))}
    path = Path(folder) / MANIFEST
    write_json(path, {"format": FORMAT, "files": files})
    return path


def has_manifest(folder: Path) -> bool:
    """Whether a folder of results has a manifest."""
    return (Path(folder) / MANIFEST).is_file()


def read_manifest(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every listed file by its path in the folder.

    Raises:
        DamagedFileError: the manifest is not one.
        MachineError: it cannot be read.
    """
    path = Path(folder) / MANIFEST
    try:
        return _parse_manifest(read_plain(path))
    except FileNotFoundError as error:
        raise DamagedFileError(str(path), "is missing", RENEW) from error
    except OSError as error:
        raise cannot_read(path, error) from error
    except ValueError as error:
        raise DamagedFileError(str(path), "is no manifest of results", RENEW) from error


def known_files(folder: Path) -> dict[Path, str]:
    """Return the SHA-256 of the files in the manifest of a folder, or of its parent.

    Empty without a manifest.
    """
    for root in (Path(folder), Path(folder).parent):
        try:
            return {
                root.resolve() / name: digest
                for name, digest in _parse_manifest(read_plain(root / MANIFEST)).items()
            }
        # `repro verify` says what is wrong with it; here it counts as no manifest
        except (OSError, ValueError):
            continue
    return {}


def manifest_faults(folder: Path) -> Iterator[str]:
    """Yield a line for every file that is missing, not listed, or changed since it was listed.

    Raises:
        DamagedFileError: the manifest is not valid.
        MachineError: a file or folder cannot be read.
    """
    folder = Path(folder)
    listed, there = read_manifest(folder), set(_listed_paths(folder))
    for name in sorted(listed.keys() - there):
        yield f"{folder / name}: is missing. Fix: {RENEW}"
    for name in sorted(there - listed.keys()):
        yield (
            f"{folder / name}: is not listed in {MANIFEST}. Fix: delete it, or list it: repro "
            "results --update"
        )
    for name in sorted(there & listed.keys()):
        if _file_digest(folder / name) != listed[name]:
            yield f"{folder / name}: is not what {MANIFEST} lists. Fix: {RENEW}"


@lru_cache(maxsize=4)
def _parse_manifest(data: bytes) -> dict[str, str]:
    """Return the hashes in a manifest by name; raise ValueError if it is not valid."""
    try:
        values: Any = json.loads(data)
        if values["format"] != FORMAT or not all(
            isinstance(digest, str) for digest in values["files"].values()
        ):
            raise ValueError("another format")
        return values["files"]
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("no manifest") from error


def _listed_paths(folder: Path) -> list[str]:
    """Return the paths in a folder that a manifest lists.

    These are all but pages to read, other manifests, and hidden files.
    """

    def refuse(error: OSError) -> None:
        raise cannot_read(Path(error.filename), error) from error

    found = []
    for place, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        kept = (
            name
            for name in names
            if name.endswith((".json", SUFFIX)) and not name.startswith(".") and name != MANIFEST
        )
        found += [(Path(place) / name).relative_to(folder).as_posix() for name in kept]
    return sorted(found)


def _file_digest(path: Path) -> str:
    """Return the SHA-256 of a stored result; empty if the file is missing."""
    try:
        return hashlib.sha256(read_plain(path)).hexdigest()
    except FileNotFoundError:  # not a regular file
        return ""
    except OSError as error:
        raise cannot_read(path, error) from error
