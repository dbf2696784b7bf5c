"""Find the seeds of two systems, among the runs on this machine and the records of others."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from repro.core.config import DataConfig, ModelConfig, RunConfig, from_dict
from repro.core.decoding import SearchConfig
from repro.core.settings import USUAL_ALPHA
from repro.errors import InputError
from repro.measures.scores import describe_run, evaluate_run
from repro.presets import SCALES, STRUCTURE
from repro.records.stored import load_records, of_this_text, plain_name
from repro.runs import gallery
from repro.runs.models import is_of_other_code
from repro.runs.naming import differences, fitting, told_apart
from repro.runs.own_code import AbsentFileError
from repro.runs.run import Run

Record = dict[str, Any]
Search = Callable[[float], SearchConfig]
"""The search to use, given the length penalty of a run."""


@dataclass(frozen=True)
class Seed:
    """One training of a setting: a run that is here, the stored record of one, or both."""

    config: RunConfig
    run: Run | None = None
    record: Record | None = None

    @property
    def here(self) -> Run | None:
        """The run that `repro compare` evaluates; None where its record is used."""
        return self.run if self.run and (self.run.is_finished or not self.record) else None

    @property
    def name(self) -> str:
        """Its name in the lines of `repro compare`."""
        return self.run.path.name if self.run else (self.record or {})["run"]

    def described(self) -> Record:
        """Return what `repro compare` needs of a run's record: all fields but scores."""
        return describe_run(self.here) if self.here else self.record or {}

    def evaluated(self, split: str, search: Search, quiet: bool) -> Record:
        """Return the record that `repro compare` reads; a run of this machine is scored."""
        if not self.here:
            return self.record or {}
        return evaluate_run(self.here, split, search(self.here.alpha), quiet=quiet)


Settings = dict[RunConfig, dict[int, Seed]]
"""Configuration but for the seed -> its seeds."""


def find_systems(
    names: tuple[str, str], scale: RunConfig | None, results: Path, split: str, search: Search
) -> list[list[Seed]]:
    """Return the seeds of the two systems of `repro compare`, in their order.

    Records of the corpora of runs with these names are searched, or those of the scale; if nothing
    is trained, those of the scale `smoke`. If several pairs of settings fit, one of the scale is
    preferred, then one on this machine, and then one that differs only in its attention.

    Args:
        names: of systems, runs or run folders, or the beginnings of their names.
        scale: the only corpus and direction to search, with its settings; None = any.
        results: the folder of records; it need not be there.
        split, search: of the records.

    Raises:
        InputError: nothing fits a name, more than one pair does, or both names mean the same.
    """
    data = scale.data if scale else None
    here = [
        [
            run
            for run in _runs_named(name)
            if data is None or _text_of(run.config.data) == _text_of(data)
        ]
        for name in names
    ]
    texts = {_text_of(run.config.data): run.config.data for runs in here for run in runs}
    chosen = [data] if data else list(texts.values()) or [SCALES["smoke"].data]
    known = _records_of(chosen, results, split, search)
    found = [_settings_named(name, runs, known) for name, runs in zip(names, here, strict=True)]
    for name, settings in zip(names, found, strict=True):
        if not settings:
            raise _no_such_system(name, results)
    pairs = [
        pair
        for pair in product(*found)
        if pair[0] != pair[1] and _text_of(pair[0].data) == _text_of(pair[1].data)
    ]
    if not pairs:
        both = " and ".join(names)
        if set(found[0]) & set(found[1]):
            raise InputError(both, "are the same training settings", "name two systems that differ")
        raise InputError(
            both, "are of different corpora or directions", "compare runs of one corpus"
        )
    if scale:
        of_scale = [
            pair for pair in pairs if not any(differences(config, scale) for config in pair)
        ]
        pairs = of_scale or pairs
    ranks = [
        sum(any(seed.run for seed in of[one].values()) for of, one in zip(found, pair, strict=True))
        for pair in pairs
    ]
    pairs = [pair for pair, rank in zip(pairs, ranks, strict=True) if rank == max(ranks)]
    pairs = [pair for pair in pairs if _are_alike(*pair)] or pairs
    if len(pairs) > 1:
        place = next(place for place in (0, 1) if len({pair[place] for pair in pairs}) > 1)
        # of each setting the first run
        fits = {next(iter(found[place][of].values())).name: of for of in (p[place] for p in pairs)}
        what = f"fits {len(fits)} settings: {'; '.join(told_apart(fits)[:3])}"
        fix = "name one run" if scale else "name their scale with --scale, or one run"
        raise InputError(names[place], what, fix)
    return [
        _of_this_code([seeds for _, seeds in sorted(of[one].items())], results)
        for of, one in zip(found, pairs[0], strict=True)
    ]


def _of_this_code(seeds: list[Seed], results: Path) -> list[Seed]:
    """Drop the records of a system that were made before its variant was edited.

    Raises:
        InputError: nothing is left.
    """
    kept = [
        replace(seed, record=None) if seed.record and _is_of_other_code(seed.record) else seed
        for seed in seeds
    ]
    if left := [seed for seed in kept if seed.run or seed.record]:
        return left
    what = f"its record in {results} is of other code than this: its variant was edited since"
    raise InputError(seeds[0].name, what, "restore the code, or train it again by `repro run`")


def _is_of_other_code(record: Record) -> bool:
    """Return whether a record to be compared was made before its variant was edited."""
    try:
        return is_of_other_code(record["provenance"], from_dict(RunConfig, record["config"]).model)
    except AbsentFileError:  # where only records are, there is no other code
        return False


def _runs_named(name: str) -> list[Run]:
    """Return the runs on this machine that a NAME of `repro compare` means."""
    try:
        return gallery.find_all(name)
    except InputError:  # there may be records of it
        return []


def _records_of(
    texts: Iterable[DataConfig], results: Path, split: str, search: Search
) -> list[Record]:
    """Return the records that `repro compare` may use beside the runs of this machine."""
    found = []
    for data in texts:
        folder = results / f"{plain_name(data.corpus)}.{data.source}-{data.target}"
        for record in of_this_text(load_records(folder), data) if folder.is_dir() else ():
            usual_alpha = record["training"].get("alpha", USUAL_ALPHA)
            if record["split"] == split and record["search"] == asdict(search(usual_alpha)):
                found.append(record)
    return found


def _settings_named(name: str, runs: list[Run], records: list[Record]) -> Settings:
    """Return the settings that a NAME of `repro compare` means.

    Trained models and models that were cut out of them are not mixed.
    """
    fits = set(fitting(name, [record["run"] for record in records]))
    stored = {record["run"]: record for record in records if record["run"] in fits}
    seeds = [Seed(run.config, run, stored.pop(run.name, None)) for run in runs]
    seeds += [
        Seed(from_dict(RunConfig, record["config"]), None, record) for record in stored.values()
    ]
    seeds = [seed for seed in seeds if seed.config.train.start_from is None] or seeds
    settings: Settings = {}
    for seed in seeds:
        train = seed.config.train
        settings.setdefault(replace(seed.config, train=replace(train, seed=0)), {})[train.seed] = (
            seed
        )
    return settings


def _text_of(data: DataConfig) -> tuple[str, str, str]:
    """Return what identifies the training text for `repro compare`."""
    return data.corpus, data.source, data.target


def _are_alike(first: RunConfig, second: RunConfig) -> bool:
    """Return whether `repro compare` may pair two settings: only attention differs."""
    usual = {option: getattr(ModelConfig(), option) for option in STRUCTURE}
    one, other = (
        replace(config, model=replace(config.model, **usual)) for config in (first, second)
    )
    return one == other


def _no_such_system(name: str, results: Path) -> InputError:
    """Return the error of `repro compare` for a name without a run and a record."""
    try:
        gallery.find_all(name)
    except InputError as error:
        return InputError(error.where, f"{error.what}, and no such record in {results}", error.fix)
    return InputError(name, "is not of that scale", "leave --scale out, or choose another")
