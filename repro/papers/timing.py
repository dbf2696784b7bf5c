"""Time the first updates of runs on this machine, to say beforehand how long they will take."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from repro.core.config import RunConfig
from repro.papers.runner import shape_of
from repro.runs.train import train

UPDATES = 20


def hours_here(configs: Iterable[RunConfig]) -> float:
    """Return the hours of training of runs on this machine, one after the other.

    One run of each shape is timed, for all lengths of training. What evaluations, translations and
    measures take is apart.

    Raises:
        ReproError: a corpus is not at hand, or the device refuses.
    """
    per_update: dict[tuple, float] = {}
    seconds = 0.0
    for config in configs:
        short = _first_updates(config)
        if (shape := shape_of(short)) not in per_update:
            per_update[shape] = seconds_of_update(short)
        seconds += per_update[shape] * config.train.max_updates
    return seconds / 3600


def _first_updates(config: RunConfig) -> RunConfig:
    """Return the configuration of the first updates of a run, and no more."""
    first = replace(
        config.train,
        max_updates=UPDATES,
        eval_every=UPDATES,
        average=1,
        length_penalty="fixed",
        start_from=None,
        cut_from=None,
        freeze_decoder=False,
    )
    return replace(config, train=first)


def seconds_of_update(config: RunConfig) -> float:
    """Return the mean seconds of an update of a short run, on its own text."""
    with TemporaryDirectory(prefix="repro-timed-") as root:
        run = train(config, Path(root), quiet=True)
        return run.state()["seconds"] / config.train.max_updates
