"""Search for penalties that leave wanted numbers of heads: a grid first, then bisection.

Voita et al. 2019, section 6.1, vary lambda and give no values. A larger penalty mostly leaves fewer
heads. The count also depends on the number of updates and on the draws of the gates; it jumps and
need not fall with every step. So a wanted number may be missed: the search returns the nearest of a
bounded number of runs.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

from repro.core.config import SITES
from repro.data.corpora import task_of
from repro.errors import InputError, ReproError
from repro.measures.heads import encoder_roles
from repro.measures.scores import evaluate_run, train_and_evaluate
from repro.pruning.cutting import from_scratch_config, save_pruned
from repro.pruning.gates import (
    almost_binary_share,
    continued_config,
    count_undecided_gates,
    gate_table,
    kept_heads,
    pruning_config,
)
from repro.records.stored import score_of
from repro.runs.jobs import describe_outcome, run_all
from repro.runs.models import load_model
from repro.runs.run import Run, runs_root

PENALTIES = (0.01, 0.03, 0.1)
MAX_RUNS = 6
NARROW = 1.05  # counts of penalties with a smaller ratio differ by chance


class PruningPoint(NamedTuple):
    """A pruned model as a point of Figures 7, 9 and 10: heads left, and BLEU.

    `heads` counts the open gates. `kept` is the number of heads of every layer by site, including
    sites without gates. `undecided` and `almost_binary`: see `pruning/gates.py`.
    """

    run: Run
    penalty: float
    heads: int
    kept: dict[str, list[int]]
    undecided: int
    almost_binary: float
    bleu: float


def sweep(
    base: Run,
    wanted: Sequence[int],
    sites: Sequence[str] = SITES,
    penalties: Sequence[float] = PENALTIES,
    max_runs: int = MAX_RUNS,
    jobs: int = 2,
    split: str = "test",
    report: Callable[[str], None] = print,
    **options: Any,
) -> list[PruningPoint]:
    """Prune a run to several sizes, to be measured; finished prunings are reused.

    Args:
        base: a finished run in the folder of runs.
        wanted: numbers of open gates to approach.
        sites, options: see `pruning_config`.
        penalties: tried first.
        max_runs: the most runs to make, the first penalties included.
        jobs: runs at a time.
        split: test set for BLEU.
        report: called with a line on the work ahead, and with one as each run ends.

    Returns:
        A point per run, most heads first; see `nearest_point`.

    Raises:
        InputError: no penalty to begin with, or a base outside the folder of runs.
        ReproError: the error of the first run that failed.
        Stopped: a stop was asked for.
    """
    if base.path.resolve().parent != runs_root().resolve():
        raise InputError(
            str(base.path),
            f"is not in the folder of runs, {runs_root()}",
            "set REPRO_RUNS to the folder that it is in",
        )
    if task_of(base.config.data.corpus) == "summarisation":
        raise InputError(
            base.path.name,
            "is scored by ROUGE, and what pruning costs is counted in BLEU",
            "prune a run of translation",
        )
    if not penalties:
        raise InputError("penalties", "there is none to begin with", "give at least one")
    if min(penalties) <= 0:
        raise InputError(
            "penalties",
            f"must be above 0, found {min(penalties):g}: they are halved and doubled",
            "leave it out",
        )
    points: dict[float, PruningPoint] = {}
    while queue := penalties_to_try(
        {penalty: point.heads for penalty, point in points.items()}, wanted, penalties, max_runs
    ):
        configs = [pruning_config(base, penalty, sites, **options) for penalty in queue]
        if not points:
            updates = configs[0].train.max_updates
            report(
                f"trains {len(configs)} to {max_runs} gated models of {updates:,} updates each; "
                "those that are there are used"
            )
        outcomes = run_all(
            [(config, split) for config in configs],
            train_and_evaluate,
            jobs,
            lambda ended, of, outcome: report(f"[{ended}/{of}] {describe_outcome(outcome)}"),
        )
        for outcome, config in zip(outcomes, configs, strict=True):
            if isinstance(outcome, ReproError):
                raise outcome
            points[config.train.gate_penalty] = pruning_point(
                Run(base.path.parent / outcome["run"]), split
            )
    return sorted(points.values(), key=lambda point: (-point.heads, point.penalty))


def penalties_to_try(
    counts: Mapping[float, int],
    wanted: Iterable[int],
    penalties: Iterable[float] = PENALTIES,
    max_runs: int = MAX_RUNS,
) -> list[float]:
    """Return the penalties to try next, at the same time; none when the search has ended.

    The tried penalties follow from the counts found, so `repro verify` notices a point that was
    left out of a record.

    Args:
        counts: heads left by penalty, of the runs so far.
        wanted, penalties, max_runs: see `sweep`.
    """
    proposed = [next_penalty(counts, number) for number in wanted] if counts else penalties
    return [penalty for penalty in dict.fromkeys(proposed) if penalty is not None][
        : max_runs - len(counts)
    ]


def next_penalty(counts: Mapping[float, int], wanted: int) -> float | None:
    """Return the penalty to try next for a wanted number of heads; None when the search has ended.

    It ends when the number is met, or when the remaining penalties differ by chance only.

    Args:
        counts: heads left by penalty, of the runs so far.
        wanted: number of heads.
    """
    if wanted in counts.values():
        return None
    penalties = sorted(counts)
    if counts[penalties[0]] < wanted:
        return _rounded_penalty(penalties[0] / 2)
    if counts[penalties[-1]] > wanted:
        return _rounded_penalty(penalties[-1] * 2)
    low, high = next(
        (low, high) for low, high in pairwise(penalties) if counts[low] > wanted > counts[high]
    )
    return _rounded_penalty(math.sqrt(low * high)) if high / low > NARROW else None


def _rounded_penalty(penalty: float) -> float:
    """Round a penalty for pruning to three significant digits."""
    return float(f"{penalty:.3g}")


def nearest_point(points: Iterable[PruningPoint], wanted: int) -> PruningPoint:
    """Return the measured pruning whose number of heads is nearest to the wanted one.

    Of several, it is the one with most heads, then with the lowest penalty. Scores do not count:
    they are of a test set.

    Raises:
        InputError: no point.
    """
    points = list(points)
    if not points:
        raise InputError("points", "there is none", "give what `sweep` returned")
    return min(points, key=lambda point: (abs(point.heads - wanted), -point.heads, point.penalty))


def pruning_point(run: Run, split: str = "test") -> PruningPoint:
    """Measure a finished pruning run: heads left, and the BLEU of its gated model.

    Raises:
        InputError: not finished, or a model without gates.
    """
    model = load_model(run)
    rows = gate_table(model)
    share = almost_binary_share(rows)
    kept = {site: [len(heads) for heads in layers] for site, layers in kept_heads(model).items()}
    heads = sum(row.gate != 0 for row in rows)
    bleu = score_of(evaluate_run(run, split), "BLEU")["value"]
    return PruningPoint(
        run, run.config.train.gate_penalty, heads, kept, count_undecided_gates(rows), share, bleu
    )


SERIES = {"encoder": ("encoder_self",), "all": SITES}


# Claims ask about these shares of heads kept: at most so many, but at least one.
SHARES = {"encoder": (0.3, 0.25, 0.1), "all": (0.5, 0.25)}


SERIES_MAX_RUNS = {"encoder": 6, "all": 5}


# Counted in trainings of half the length for one model: sweeps, controls and a shape from scratch.
TRAININGS = sum(SERIES_MAX_RUNS.values()) + len(SERIES) + 2


def measure_pruning(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Prune each run to several sizes, beside the same training without pruning.

    One series prunes encoder heads alone, another the heads of all sites. One shape of the latter
    is trained from scratch: the one nearest to a quarter of all heads, which need not be the
    sparsest.

    Returns:
        For each run its series of pruned models, each with its control, and under `records` all
        score records.
    """
    return [_measure_one(run) for run in runs]


def _measure_one(run: Run) -> dict[str, Any]:
    """Return the pruning record of a run: several sizes by each series of sites."""
    series: dict[str, Any] = {}
    records: list[dict[str, Any]] = []
    whole = kept_heads(load_model(run))
    for name, sites in SERIES.items():
        num_heads = sum(len(layer) for site in sites for layer in whole[site])
        wanted = wanted_heads(name, num_heads)
        points = sweep(run, wanted, sites, max_runs=SERIES_MAX_RUNS[name], report=lambda *_: None)
        control = train_and_evaluate(continued_config(run, sites))
        series[name] = {
            "heads": num_heads,
            "points": [_point_fields(point) for point in points],
            "continued": control["config_digest"],
        }
        records += [*(evaluate_run(point.run) for point in points), control]
        if name == "all":
            series["scratch"], made = _against_scratch(nearest_point(points, wanted[-1]).run)
            records += made
    return {
        "series": series,
        "whole": {site: [len(layer) for layer in layers] for site, layers in whole.items()},
        "records": records,
    }


def _against_scratch(gated: Run) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Measure a pruned model against its shape trained from scratch, equally long.

    Returns:
        The digests of the three configurations, and their score records.
    """
    small = save_pruned(gated)
    further, alone = continued_config(small), from_scratch_config(small)
    updates = alone.train.max_updates + further.train.max_updates
    longer = train_and_evaluate(further)
    scratch = train_and_evaluate(replace(alone, train=replace(alone.train, max_updates=updates)))
    digests = {
        "pruned": small.config.digest(),
        "trained_on": longer["config_digest"],
        "scratch": scratch["config_digest"],
    }
    return digests, [evaluate_run(small), longer, scratch]


def wanted_heads(name: str, num_heads: int) -> list[int]:
    """Return the numbers of heads at which a pruning record measures a model."""
    return [max(1, int(share * num_heads)) for share in SHARES[name]]


def penalties_tried(name: str, num_heads: int, heads: Mapping[float, int]) -> list[float]:
    """Return the penalties that the search of a series tried, as far as their results are known.

    Args:
        name: of the series.
        num_heads: before pruning.
        heads: left, by penalty.
    """
    tried: dict[float, int] = {}
    missing: list[float] = []
    while not missing and (
        queue := penalties_to_try(
            tried, wanted_heads(name, num_heads), max_runs=SERIES_MAX_RUNS[name]
        )
    ):
        tried |= {penalty: heads[penalty] for penalty in queue if penalty in heads}
        missing = [penalty for penalty in queue if penalty not in heads]
    return sorted([*tried, *missing])


def _point_fields(point: PruningPoint) -> dict[str, Any]:
    """Return the fields of a pruning record on one pruned model."""
    model = load_model(point.run)
    return {
        "run": point.run.name,
        "config_digest": point.run.config.digest(),
        "penalty": point.penalty,
        "heads": point.heads,
        "kept_heads": kept_heads(model),
        "undecided": point.undecided,
        "almost_binary": round(point.almost_binary, 4),
        "roles": encoder_roles(point.run),
    }
