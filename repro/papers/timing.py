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

    One run of each shape is timed. What evaluations, translations and measures take is apart.

    Raises:
        ReproError: a corpus is not at hand, or the device refuses.
    """
    configs, per_update = list(configs), dict[tuple, float]()
    for config in configs:
        if shape_of(config) not in per_update:
            per_update[shape_of(config)] = seconds_of_update(config)
    return sum(per_update[shape_of(of)] * of.train.max_updates for of in configs) / 3600


def seconds_of_update(config: RunConfig) -> float:
    """Return the seconds of one of the first updates of a run, on its own text."""
    short = replace(
        config.train,
        max_updates=UPDATES,
        eval_every=UPDATES,
        average=1,
        length_penalty="fixed",
        start_from=None,
        cut_from=None,
        freeze_decoder=False,
    )
    with TemporaryDirectory(prefix="repro-timed-") as root:
        run = train(replace(config, train=short), Path(root), quiet=True)
        return run.state()["seconds"] / UPDATES
