"""A run is a folder named by its configuration: config, origin, checkpoints, final parameters.

    runs/base-seed1-3f2a.../
            config.json  provenance.json  subwords.model  lengths.json  metrics.jsonl
        checkpoints/0000200/{model,optimizer,random}.safetensors, state.json, MANIFEST.json
        final/model.safetensors, state.json, MANIFEST.json
        evaluations/...json

The files of a finished run are checked once, when they are first read, and then trusted: while a
`Run` is used, they must not change. Open the folder again to check them again. A run in training is
read again each time. `tensors` writes and reads the folders of tensors; this module needs no torch.
"""

import contextlib
import json
import math
import os
import re
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path
from types import NoneType
from typing import Any

from repro.core.config import RunConfig, from_dict
from repro.core.settings import USUAL_ALPHA
from repro.errors import DamagedFileError, InputError, MachineError, check_kind
from repro.files import write_json
from repro.reading import exists, is_file, is_folder, names_in, read_plain
from repro.runs.locks import owned
from repro.runs.naming import config_changes, fitting, run_name, told_apart
from repro.runs.provenance_fields import read_provenance
from repro.runs.storage import check_folder, check_hashes, hashes_beside, load_state

# the name of a run's folder ends with the digest of its configuration
NAMED = re.compile(r".+-seed\d+-([0-9a-f]{12})")
FINAL = ("config.json", "provenance.json", "subwords.model", "lengths.json", "metrics.jsonl")
"""Files of a run that do not change once it is finished; older runs have no lengths."""
MALFORMED = (ValueError, TypeError, LookupError, ArithmeticError, RecursionError)  # of JSON
LABEL = "name.txt"  # the file with the name that you gave a run
FIX = "restore it, or delete the run's folder and train the run again"


CLONE = Path(__file__).resolve().parents[2]
"""The clone that the package is used from; as installed, the folder of packages."""


def runs_root() -> Path:
    """Return the folder of all runs: $REPRO_RUNS, or `runs` in the working directory.

    In a clone it is `runs` at its top, for notebooks, tutorials and the command line alike.
    """
    if named := os.environ.get("REPRO_RUNS"):
        return Path(os.path.expanduser(named))  # no shell has expanded a ~ in a file of settings
    here = Path.cwd()
    in_clone = (CLONE / "notebooks").is_dir() and here.is_relative_to(CLONE)
    return Path(os.path.relpath(CLONE, here) if in_clone else "") / "runs"


def is_trained(config: RunConfig) -> bool:
    """Return whether a run of this configuration is below `runs_root()` and finished."""
    path = runs_root() / run_name(config)
    return is_file(path / "config.json") and Run(path).is_finished


def the_only(name: str, found: "list[Run]") -> "Run":
    """Return the run that a name fits.

    Raises:
        InputError: it fits several.
    """
    if len(found) > 1:
        listed = "; ".join(told_apart({run.path.name: run.config for run in found})[:3])
        fix = "write more of the name; `repro runs` lists them"
        raise InputError(os.fspath(name), f"fits {len(found)} runs: {listed}", fix)
    return found[0]


def label_of(path: Path) -> str | None:
    """Return the name that you gave the run in a folder; None if it is not yours to read."""
    try:
        return read_plain(path / LABEL).decode().strip() if is_file(path / LABEL) else None
    except MachineError:
        return None


class Run:
    """A run folder.

    Args:
        path: the folder; it must hold a `config.json`.

    Raises:
        InputError: the folder is not a run, or no folder is given.
        DamagedFileError: the folder's name is that of another configuration.
    """

    def __init__(self, path: Path) -> None:
        check_kind(
            "path", path, "give a folder, as in repro.Run('runs/base-seed1-...')", str, os.PathLike
        )
        self.path = Path(path)
        self.config = _read_config(self.path)
        self._checked: set[Path] = set()  # folders whose files are as they were written
        named = NAMED.fullmatch(self.path.resolve().name)
        if named and named[1] != self.config.digest():
            what = (
                f"was changed: the folder is named by a configuration of digest {named[1]}, "
                f"this one has {self.config.digest()}"
            )
            raise DamagedFileError(str(self.path / "config.json"), what, FIX)

    @classmethod
    def create(cls, config: RunConfig, root: Path | None = None) -> "Run":
        """Return the run of this configuration, making its folder when it is not there yet.

        Raises:
            DamagedFileError: its folder is there with another configuration in it.
        """
        check_kind(
            "root", root, "give the folder of all runs, or leave it out", str, os.PathLike, NoneType
        )
        path = Path(root or runs_root()) / run_name(config)
        if not exists(path / "config.json"):
            write_json(path / "config.json", asdict(config))
        if changes := config_changes(asdict(_read_config(path)), asdict(config)):
            what = f"was changed: {'; '.join(changes)}"
            raise DamagedFileError(str(path / "config.json"), what, FIX)
        return cls(path)

    @classmethod
    def find(cls, name: str) -> "Run":
        """Return a run by its folder, its name below `runs_root()`, or the beginning of its name.

        A name that you gave a run goes before all others (`overview.rename`).
        The name of a system means that system, and no other whose name begins so. A run made from
        another one, for example by pruning, may have the same name up to the digest. If a run that
        fits was trained from the beginning, it is the one returned.

        Raises:
            InputError: nothing or more than one fits, or the name is no text.
        """
        return the_only(name, cls.find_all(name))

    @classmethod
    def find_all(cls, name: str) -> "list[Run]":
        """Return the runs that `find` chooses from, at least one.

        Raises:
            InputError: nothing fits.
        """
        check_kind(
            "name", name, "give the name of a run, as in repro.Run.find('base')", str, os.PathLike
        )
        name = os.fspath(name)
        if is_file(Path(name) / "config.json"):
            return [cls(Path(name))]
        folders = [runs_root() / folder for folder in names_in(runs_root())]
        fits = fitting(name, [path.name for path in folders])
        fits = [path.name for path in folders if name and label_of(path) == name] or fits
        found = [path for path in folders if path.name in fits and exists(path / "config.json")]
        if len(found) > 1:
            found = [path for path in found if _read_config(path).train.start_from is None] or found
        if found:
            return [cls(path) for path in found]
        known = [path.name for path in folders if os.path.exists(path / "config.json")]
        listed = f"known runs: {', '.join(known[:6])}" if known else "train one with `repro train`"
        raise InputError(name or "RUN", f"no such run in {runs_root()}", listed)

    @property
    def name(self) -> str:
        """The name of the run in records, made from its configuration, not from its folder."""
        return run_name(self.config)

    @property
    def is_finished(self) -> bool:
        """Whether training ended and the final parameters are there."""
        return is_folder(self.path / "final")

    def check_finished(self) -> None:
        """Refuse a run without final parameters.

        Raises:
            InputError: training has not ended.
        """
        if not self.is_finished:
            fix = "start its `repro train` command again; it resumes"
            raise InputError(str(self.path), "is not finished", fix)

    @property
    def subwords_path(self) -> Path:
        """Path of the subword model."""
        return self.path / "subwords.model"

    @property
    def lengths_path(self) -> Path:
        """Path of the numbers of source and target tokens in the training data."""
        return self.path / "lengths.json"

    def length_ratio(self) -> float | None:
        """Return mean source length / mean target length of the training data.

        In tokens without marks; None if it was not noted.

        Raises:
            DamagedFileError: the file is not what was written.
        """
        if not exists(self.lengths_path):
            return None
        try:
            lengths = json.loads(read_plain(self.lengths_path))
            ratio = lengths["source_tokens"] / lengths["target_tokens"]
            if not 0 < ratio < math.inf:  # NaN is neither
                raise ValueError("no ratio of numbers of tokens")
        except (FileNotFoundError, *MALFORMED) as error:
            what = "holds no two numbers of tokens"
            raise DamagedFileError(str(self.lengths_path), what, FIX) from error
        return ratio

    @property
    def metrics_path(self) -> Path:
        """Path of the log: training appends a JSON line per log interval."""
        return self.path / "metrics.jsonl"

    def metrics(self) -> list[dict[str, Any]]:
        """Return the logged lines, in order; a last line that a crash cut is left out.

        Raises:
            DamagedFileError: another line is not JSON, or not of an update; or the log is no longer
                that of the finished run.
        """
        if not is_file(self.metrics_path):
            return []
        if self.is_finished:
            self._check_beside_final()
        lines = [line for line in read_plain(self.metrics_path).split(b"\n") if line]
        values = []
        for number, line in enumerate(lines, start=1):
            try:
                value = json.loads(line)
                if not isinstance(value["update"], int):
                    raise TypeError("no number of an update")
                values.append(value)
            except MALFORMED as error:
                if number < len(lines):
                    what = "is not JSON of an update"
                    raise DamagedFileError(
                        f"{self.metrics_path}:{number}", what, "restore it, or delete that line"
                    ) from error
        return values

    @property
    def provenance_path(self) -> Path:
        """Path of provenance.json: where, when and from what the run was made."""
        return self.path / "provenance.json"

    def provenance(self) -> dict[str, Any]:
        """Return where, when and from what the run was made; see `provenance.py`.

        Raises:
            DamagedFileError: the file is missing or cut, or is no longer that of the finished run.
        """
        if self.is_finished:
            self._check_beside_final()
        return read_provenance(self.provenance_path, FIX)

    def state(self) -> dict[str, Any]:
        """Return the counters of the final parameters, such as `update` and `seconds`.

        Raises:
            DamagedFileError: the final parameters are not what was written.
        """
        self._check_final()
        return load_state(self.path / "final")

    @property
    def alpha(self) -> float:
        """The length penalty of its translations unless another one is asked for.

        Raises:
            InputError: training has not ended.
            DamagedFileError: the final parameters are not what was written.
        """
        self.check_finished()
        return self.state().get("alpha", USUAL_ALPHA)

    def check_files(self) -> None:
        """Check the final parameters, and all other files with a noted hash.

        In training, these are the subwords and lengths. Files of older runs without a noted hash
        are believed.

        Raises:
            DamagedFileError: a file is missing or changed.
        """
        if self.is_finished:
            self._check_beside_final()
            self._check_final()
        else:
            self._check_noted_in_provenance()

    def _check_beside_final(self) -> None:
        """Check the files next to the final parameters; see `check_files`."""
        if self.path not in self._checked:
            noted = hashes_beside(self.path / "final")
            check_hashes(self.path, noted, "final/MANIFEST.json", FIX)
            self._check_noted_in_provenance(known=noted)
            self._checked.add(self.path)

    def _check_final(self) -> None:
        """Check the folder of the final parameters; see `check_files`."""
        if self.path / "final" not in self._checked:
            check_folder(self.path / "final")
            self._checked.add(self.path / "final")

    def _check_noted_in_provenance(self, known: Collection[str] = ()) -> None:
        """Check the files with a hash in the provenance, except those checked already."""
        if exists(self.provenance_path):
            noted = read_provenance(self.provenance_path, FIX).get("files", {})
            others = {name: digest for name, digest in noted.items() if name not in known}
            check_hashes(self.path, others, "provenance.json", FIX)

    def lock(self) -> contextlib.AbstractContextManager[None]:
        """Own the run while the block lasts; see `locks.owned`."""
        return owned(self.path)


def _read_config(path: Path) -> RunConfig:
    """Read the configuration of a run folder."""
    try:
        values = json.loads(read_plain(path / "config.json"))
    except FileNotFoundError as error:
        what = "is not a run folder (no readable config.json)"
        raise InputError(str(path), what, "name a folder made by `repro train`") from error
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(str(path / "config.json"), "is not JSON", FIX) from error
    return from_dict(RunConfig, values, str(path / "config.json"))
