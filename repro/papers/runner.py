"""Plan and carry out the missing runs and measures of experiments, which share their runs."""

import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any

import torch

from repro.claims.evidence import Evidence, Record
from repro.claims.settings import Setting
from repro.core.config import ModelConfig, RunConfig, from_dict
from repro.errors import ReproError
from repro.measures.pruning import TRAININGS
from repro.measures.registry import EVERY_SEED, JOINT_MEASURES, MEASURES
from repro.measures.scores import describe_run, train_and_evaluate
from repro.papers import Experiment
from repro.presets import resolve
from repro.records.schema import kind_of
from repro.records.stored import publish
from repro.runs.behaviour import output_of
from repro.runs.jobs import HandOut, Outcome, describe_outcome, run_all
from repro.runs.log_lines import LogLines
from repro.runs.models import is_of_other_code
from repro.runs.run import is_trained
from repro.runs.train import train

Report = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """The missing trainings and measures.

    Args:
        trainings: runs to train and score.
        further: runs to score on a further test set, and its name.
        measures: runs to measure, and the kind of record.
        sessions: kind of record and the runs that are measured in one session, all of one seed.
    """

    trainings: list[RunConfig]
    further: list[tuple[RunConfig, str]]
    measures: list[tuple[RunConfig, str]]
    sessions: list[tuple[str, list[RunConfig]]]

    def num_measurements(self) -> int:
        """Count what the plan measures besides the scores of what it trains."""
        return (
            len(self.further)
            + len(self.measures)
            + sum(len(configs) for _, configs in self.sessions)
        )

    def trained_again(self) -> list[RunConfig]:
        """Return the runs that a further test set or measure needs and this machine lacks."""
        configs = [config for config, _ in [*self.further, *self.measures]]
        configs += [config for _, together in self.sessions for config in together]
        new = {config.digest() for config in self.trainings}
        return [
            config
            for config in _each_once(configs)
            if config.digest() not in new and not is_trained(config)
        ]


def plan(
    experiments: Iterable[Experiment],
    evidence: Evidence,
    seeds: int,
    systems: Iterable[Setting] = (),
    splits: Iterable[str] = (),
) -> Plan:
    """Return what the experiments at this scale, and further systems, still need, each thing once.

    Scores and the measures of `EVERY_SEED` are for the seeds 1 to `seeds`; maps, speeds and shares
    off the diagonal are for the first. `splits` are test sets to score on besides that of the
    evidence. Settings with another corpus than the scale's, such as summaries, are left out there.
    """
    scale, systems = evidence.scale, list(systems)
    settings: dict[Setting, None] = dict.fromkeys(systems)
    kinds: dict[str, dict[Setting, None]] = {}
    for experiment in experiments:
        if experiment.runs_at(scale):
            settings |= dict.fromkeys(experiment.settings)
            for kind, measured in experiment.measures.items():
                kinds.setdefault(kind, {}).update(dict.fromkeys(measured))

    def unscored(split: str) -> list[RunConfig]:
        lacking = [
            (setting, seed)
            for seed in range(1, seeds + 1)
            for setting in settings
            if not evidence.find("scores", setting, seed, split=split)
        ]
        return _each_once(setting.config(scale, seed) for setting, seed in lacking)

    corpora = {
        resolve(scale).data.corpus,
        *(setting.config(scale).data.corpus for setting in systems),
    }
    further = [
        (config, split)
        for split in dict.fromkeys(splits)
        if split != evidence.split
        for config in unscored(split)
        if config.data.corpus in corpora
    ]
    measures, sessions = [], []
    for kind, measured in kinds.items():
        for seed in range(1, seeds + 1 if kind in EVERY_SEED else 2):
            absent = [setting for setting in measured if not evidence.find(kind, setting, seed)]
            if kind in JOINT_MEASURES:
                sessions += _missing_session(evidence, kind, list(measured), seed)
            else:
                measures += [
                    (config, kind)
                    for config in _each_once(setting.config(scale, seed) for setting in absent)
                ]
    return Plan(unscored(evidence.split), further, measures, sessions)


def of_this_code(records: Iterable[Record], models: Collection[ModelConfig]) -> list[Record]:
    """Drop records of models to be planned that this code computes differently.

    Their variant was edited since, so they are of another one.
    """
    output = cache(output_of)  # many records are of one model

    def is_kept(record: Record) -> bool:
        model = from_dict(ModelConfig, record["config"]["model"])
        return model not in models or not is_of_other_code(record["provenance"], model, output)

    return list(filter(is_kept, records))


def _missing_session(
    evidence: Evidence, kind: str, settings: list[Setting], seed: int
) -> list[tuple[str, list[RunConfig]]]:
    """Return the session of measurement that a plan lacks, with earlier sessions' runs.

    It replaces their records, since only records of one session are comparable.
    """
    records = [evidence.find(kind, setting, seed) for setting in settings]
    if (
        all(records)
        and len({tuple(record.get("sitting", ())) for found in records for record in found}) == 1
    ):
        return []
    earlier = [
        from_dict(RunConfig, record["config"])
        for record in evidence.all(kind)
        if "sitting" in record
    ]
    return [
        (
            kind,
            _each_once([*(setting.config(evidence.scale, seed) for setting in settings), *earlier]),
        )
    ]


def estimate_minutes(found: Plan, known: Iterable[Record], jobs: int) -> float | None:
    """Estimate the duration of a plan's trainings, pruning included, in minutes; None if unknown.

    It uses known runs of the same shape and length: those on a GPU if this machine has one, else
    those on a CPU.
    """
    device = "cuda" if torch.cuda.is_available() else "cpu"
    past: dict[Any, list[float]] = {}
    for record in (
        record
        for record in known
        if kind_of(record) == "scores" and record["provenance"]["device"] == device
    ):
        past.setdefault(_shape(record["config"]), []).append(
            record["training"]["seconds"] + record["decoding"]["seconds"]
        )
    workers = [0.0] * jobs
    whole = [(config, 1.0) for config in [*found.trainings, *found.trained_again()]]
    pruned = [config for kind, configs in found.sessions if kind == "pruning" for config in configs]
    for config, length in whole + [(config, 0.5) for config in pruned for _ in range(TRAININGS)]:
        if (shape := shape_of(config)) not in past:
            return None
        # The worker that is free first takes the next run.
        heapq.heapreplace(workers, workers[0] + length * mean(past[shape]))
    return max(workers) / 60


def execute_plan(
    found: Plan, folder: Path, jobs: int, report: Report, hand_out: HandOut = run_all
) -> list[ReproError]:
    """Carry out a plan, keep every record as soon as it exists, and return the errors.

    Args:
        found: the plan.
        folder: of the records.
        jobs: pieces of work at a time on a machine.
        report: called with a line about each piece as it ends.
        hand_out: gives the work to workers.

    Raises:
        Stopped: a stop was asked for.
    """
    errors: list[ReproError] = []

    def ended(number: int, total: int, outcome: Outcome) -> None:
        if not isinstance(outcome, ReproError):
            try:
                publish(outcome, folder)
            # An error such as a full disk must not keep later records from being reported and
            # stored.
            except ReproError as error:
                outcome = error
        report(f"[{number}/{total}] {describe_outcome(outcome)}")
        if isinstance(outcome, ReproError):
            errors.append(outcome)

    if found.trainings:
        hand_out([(config,) for config in found.trainings], train_and_evaluate, jobs, ended)
    for pieces in _rounds(found.further):
        hand_out(pieces, train_and_evaluate, jobs, ended)
    for pieces in _rounds(found.measures):
        hand_out(pieces, measure, jobs, ended)
    for kind, configs in found.sessions:
        outcome = hand_out([(kind, configs)], measure_together, 1, lambda *_: None)[0]
        outcomes = [outcome] if isinstance(outcome, ReproError) else outcome["records"]
        for number, one in enumerate(outcomes, start=1):
            ended(number, len(outcomes), one)
    return errors


def measure(config: RunConfig, kind: str) -> dict[str, Any]:
    """Carry out a piece of a plan: train a run, or find it, and return a record about it."""

    run = train(config, quiet=True, log=LogLines(config))
    return describe_run(run) | {"kind": kind} | MEASURES[kind](run)


def measure_together(kind: str, configs: list[RunConfig]) -> dict[str, Any]:
    """Carry out a piece of a plan: the records of one session of measurement.

    It runs in a process of its own that has all threads of the machine.
    """

    runs = [train(config, quiet=True, log=LogLines(config)) for config in configs]
    numbers = JOINT_MEASURES[kind](runs)
    scores = [record for found in numbers for record in found.pop("records", [])]
    return {
        "records": [
            *scores,
            *(
                describe_run(run) | {"kind": kind} | found
                for run, found in zip(runs, numbers, strict=True)
            ),
        ]
    }


def _rounds(pieces: Iterable[tuple[RunConfig, str]]) -> list[list[tuple[RunConfig, str]]]:
    """Arrange the work of a plan in rounds that each need a run only once.

    A run may have to be trained again first, and two workers cannot train one run.
    """
    rounds: list[list[tuple[RunConfig, str]]] = []
    had: Counter[str] = Counter()
    for config, what in pieces:
        if had[config.digest()] == len(rounds):
            rounds.append([])
        rounds[had[config.digest()]].append((config, what))
        had[config.digest()] += 1
    return rounds


def _each_once(configs: Iterable[RunConfig]) -> list[RunConfig]:
    """Return the runs of a plan without those that two settings share."""
    # Two settings may be the same model at a small scale.
    return list({config.digest(): config for config in configs}.values())


def shape_of(config: RunConfig) -> tuple:
    """Return what decides how long a run takes: its text, its size and its length."""
    return _shape(asdict(config))


def _shape(config: dict[str, Any]) -> tuple:
    """Return what decides how long a planned run takes: corpus, layers, width, updates."""
    data, model, train = config["data"], config["model"], config["train"]
    return (
        data["corpus"],
        model["encoder_layers"],
        model["decoder_layers"],
        model["embed_dim"],
        train["max_updates"],
        train["batch_tokens"],
    )
