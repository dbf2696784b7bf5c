"""Save and load checkpoints, and make the final parameters.

A checkpoint holds everything a run needs to continue as if it had never stopped.
"""

import json
import math
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from repro.core.config import TrainConfig
from repro.core.transformer import Transformer
from repro.errors import DamagedFileError, MachineError
from repro.files import write_atomic
from repro.runs.checkpoint_folders import (
    all_checkpoints,
    remove_checkpoints,
    set_aside,
    sound_checkpoints,
)
from repro.runs.energy import Joules, add_joules
from repro.runs.models import load_parameters, tensors_of
from repro.runs.run import Run
from repro.runs.storage import load_state
from repro.runs.tensors import load_tensors, save_final, save_tensors


@dataclass(frozen=True)
class Progress:
    """The counters and sums of a run, saved with every checkpoint."""

    update: int = 0
    epoch: int = 0
    batch: int = 0  # batches of this epoch already used
    tokens: int = 0  # target tokens seen
    # spent training, saving and evaluating but for the last evaluation, over all restarts
    seconds: float = 0.0
    # spent likewise, by counter; None: not, or not all, measured
    joules: Joules | None = field(default_factory=dict)
    best_dev_nll: float = math.inf
    evals_since_best: int = 0
    # sums of loss and of nll, tokens, since the last line of the log
    unlogged: tuple[float, ...] = (0.0, 0.0, 0)

    def after(self, epoch: int, batch: int, tokens: int, seconds: float) -> "Progress":
        """Return the progress of training one update later."""
        return replace(
            self,
            update=self.update + 1,
            epoch=epoch,
            batch=batch,
            tokens=self.tokens + tokens,
            seconds=self.seconds + seconds,
        )

    def with_loss(self, loss: float, nll: float, tokens: int) -> "Progress":
        """Return the progress of training with the sums of an update, for the log."""
        return replace(
            self,
            unlogged=tuple(a + b for a, b in zip(self.unlogged, (loss, nll, tokens), strict=True)),
        )

    def with_dev(self, dev_nll: float) -> "Progress":
        """Return the progress of training with an evaluation on dev."""
        waited = 0 if dev_nll < self.best_dev_nll else self.evals_since_best + 1
        return replace(self, best_dev_nll=min(dev_nll, self.best_dev_nll), evals_since_best=waited)

    def with_joules(self, spent: Joules) -> "Progress":
        """Return the progress of training with the joules spent since the last reading."""
        return replace(self, joules=add_joules(self.joules, spent))

    def is_evaluated(self, config: TrainConfig) -> bool:
        """Whether an evaluation on dev follows the last update."""
        return self.update % config.eval_every == 0 or self.update == config.max_updates

    def awaits_dev(self, config: TrainConfig) -> bool:
        """Whether a stop interrupted the evaluation after the last update before it was logged."""
        return self.is_evaluated(config) and self.has_unlogged

    @property
    def has_unlogged(self) -> bool:
        """Whether the last update has no line in the log."""
        return self.unlogged[2] > 0

    def is_done(self, config: TrainConfig) -> bool:
        """Whether the schedule has ended, or dev has not improved for too long.

        A linear schedule always runs to its end.
        """
        if self.awaits_dev(config):
            return False
        # Its rate has to come down: a model that is stopped at a high rate cannot be compared with
        # one that was not.
        can_end_early = config.schedule == "inverse-sqrt"
        return self.update >= config.max_updates or (
            can_end_early and self.evals_since_best >= config.patience
        )


def save_checkpoint(run: Run, model: Transformer, optimizer: Optimizer, progress: Progress) -> None:
    """Save parameters, optimiser, random state and counters; drop checkpoints no longer needed.

    A resume and the mean at the end need some of them.
    """
    random, device = {"cpu": torch.get_rng_state()}, next(model.parameters()).device
    if device.type == "cuda":
        random["cuda"] = torch.cuda.get_rng_state(device)  # that of the GPU which draws, of several
    moments = {
        f"{index}.{name}": value
        for index, state in optimizer.state_dict()["state"].items()
        for name, value in state.items()
    }
    tensors = {"model": tensors_of(model), "optimizer": moments, "random": random}
    path = run.path / "checkpoints" / f"{progress.update:07d}"
    save_tensors(path, tensors, _state_as_json(progress))
    remove_checkpoints(
        run.path,
        keep={
            progress.update,
            *_scheduled_updates(run.config.train, progress.update)[-_num_kept(run) :],
        },
    )


def check_room(run: Run, model: Transformer) -> None:
    """Refuse to start an update if the disk is too full for what will be saved.

    That is the checkpoints to keep, one more, and the final parameters.

    Raises:
        MachineError: it says how much room they need and how much is free.
    """
    parameters = sum(tensor.numel() * tensor.element_size() for tensor in model.parameters())
    checkpoint = 3 * parameters  # Adam keeps two numbers of each
    # a new one is written before an old one goes
    missing = max(1, _num_kept(run) + 1 - len(all_checkpoints(run.path)))
    needed, free = missing * checkpoint + parameters, shutil.disk_usage(run.path).free
    if free < needed:
        what = f"its checkpoints need {needed / 1e6:,.1f} MB, and {free / 1e6:,.1f} MB are free"
        raise MachineError(
            str(run.path), what, "free some space, or set REPRO_RUNS to a folder on another disk"
        )


def _num_kept(run: Run) -> int:
    """Return the number of checkpoints to keep."""
    return max(2, run.config.train.average)


def _scheduled_updates(config: TrainConfig, update: int) -> list[int]:
    """Return the updates up to this one that the schedule saves.

    An interrupted run may have saved others, which must not be averaged.
    """
    updates = list(range(config.eval_every, update + 1, config.eval_every))
    return updates if update < config.max_updates or update in updates else [*updates, update]


def _newest_usable(run: Run) -> Path | None:
    """Return the newest sound checkpoint from which training reaches its exact end, or None.

    The mean at the end may need older checkpoints, all of them sound. If one is damaged, training
    resumes before it and makes it again.
    """
    config, sound = run.config.train, {int(path.name): path for path in sound_checkpoints(run.path)}
    if not sound:
        return None
    end = max(sound)  # the earliest that training can have
    progress = _read_progress(sound[end])
    if not progress.is_done(config) and not progress.awaits_dev(config):
        end = min((end // config.eval_every + 1) * config.eval_every, config.max_updates)
    mean = _scheduled_updates(config, end)[-config.average :]
    usable = [
        path
        for update, path in sound.items()
        if all(needed in sound for needed in mean if needed <= update)
    ]
    return usable[-1] if usable else None


def _read_progress(checkpoint: Path) -> Progress:
    """Read the progress of a run from a checkpoint."""
    state = {"joules": None} | load_state(checkpoint)  # older checkpoints do not know theirs
    if state.get("best_dev_nll") is None:
        state["best_dev_nll"] = math.inf
    try:
        return Progress(**state)
    except TypeError as error:
        fix = "upgrade repro if a newer version wrote it; "
        fix += "else delete the run's folder and train the run again"
        raise DamagedFileError(
            str(checkpoint / "state.json"), "has other counters than this version knows", fix
        ) from error


def resume(run: Run, model: Transformer, optimizer: Optimizer) -> Progress:
    """Load the newest checkpoint from which training can resume, and cut the log back to it.

    Without one, start from the beginning. Newer damaged ones are reported and set aside.

    Raises:
        MachineError: one cannot be read for now.
    """
    newest = _newest_usable(run)
    lost = [path for path in all_checkpoints(run.path) if newest is None or path > newest]
    if lost:
        place = f"after update {int(newest.name)}" if newest else "from the beginning"
        what = "is damaged, or one before it that the final mean needs"
        print(f"{lost[-1]}: {what}; training goes on {place}", file=sys.stderr)
        for path in lost:
            set_aside(path)
    if newest is None:
        write_atomic(run.metrics_path, b"")
        return Progress()
    progress = _read_progress(newest)
    load_parameters(model, load_tensors(newest, "model"), newest)
    moments: dict[int, dict[str, Tensor]] = {}
    for key, value in load_tensors(newest, "optimizer").items():
        index, name = key.split(".")
        moments.setdefault(int(index), {})[name] = value
    optimizer.load_state_dict(
        {"state": moments, "param_groups": optimizer.state_dict()["param_groups"]}
    )
    random = load_tensors(newest, "random")
    torch.set_rng_state(random["cpu"])
    device = next(model.parameters()).device
    if device.type == "cuda" and "cuda" in random:
        torch.cuda.set_rng_state(random["cuda"], device)
    last = progress.update - progress.has_unlogged
    lines = [json.dumps(line) + "\n" for line in run.metrics() if line["update"] <= last]
    write_atomic(run.metrics_path, "".join(lines).encode())
    return progress


def finish(
    run: Run,
    model: Transformer,
    parameters: int,
    progress: Progress,
    choose: Callable[[], dict[str, Any]] = dict,
) -> None:
    """Average the last checkpoints of the schedule into the final parameters, and drop them.

    Args:
        run: trained to its end.
        model: its model, which gets the final parameters.
        parameters: of the model as it was built; while training, some may have been frozen.
        progress: at the end.
        choose: called with the final parameters in the model; returns what is noted beside them.

    Raises:
        DamagedFileError: one of them is not what was written; the mean of the others would be
            another model.
    """
    sound = {int(path.name): path for path in sound_checkpoints(run.path)}
    updates = _scheduled_updates(run.config.train, progress.update)[-run.config.train.average :]
    if damaged := [update for update in updates if update not in sound]:
        where = run.path / "checkpoints" / f"{damaged[0]:07d}"
        fix = "start the same command again: it goes on from before it, and makes it again"
        raise DamagedFileError(
            str(where),
            "is missing or damaged, but belongs to the mean that is the final model",
            fix,
        )
    last = [load_tensors(sound[update], "model") for update in updates]
    moved = {name for name, parameter in model.named_parameters() if parameter.requires_grad}
    # A mean of equal numbers may round; parameters that never moved must not move here.
    mean = {
        n: torch.stack([tensors[n] for tensors in last]).mean(dim=0) if n in moved else last[-1][n]
        for n in last[-1]
    }
    model.load_state_dict(mean, strict=False)
    counts = {"parameters": parameters, "averaged": len(last)}
    summary = _state_as_json(progress) | counts | choose()
    save_final(run, mean, summary)
    remove_checkpoints(run.path)


def _state_as_json(progress: Progress) -> dict[str, Any]:
    """Return the progress of training with null for infinity, which JSON lacks."""
    return {key: None if value == math.inf else value for key, value in vars(progress).items()}
