"""Checkpoints: everything a run needs to go on as if it had never stopped, and the final parameters it ends with."""

import json
import math
import shutil
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from repro.behaviour import changes, output_of
from repro.config import TrainConfig
from repro.data.subwords import PAD_ID, Subwords
from repro.energy import Joules, add_joules
from repro.errors import DamagedFileError, InputError, MachineError, check_kind
from repro.files import write_atomic
from repro.reading import exists, is_file
from repro.runs import Run
from repro.tensors import load_state, load_tensors
from repro.transformer import Transformer, count_parameters
from repro.updates import GATE

MAY_CHANGE = ("gated_sites", "gate_rule", "gate_init", "dropout", "attention_dropout")
"""What of a model may differ from the run it starts from: gates come on top, and dropout has no parameters."""


@dataclass(frozen=True)
class Progress:
    """Where a run stands: counters and sums, saved with every checkpoint."""

    update: int = 0
    epoch: int = 0
    batch: int = 0  # batches of this epoch already used
    tokens: int = 0  # target tokens seen
    seconds: float = 0.0  # spent training, saving and evaluating but for the last evaluation, over all restarts
    joules: Joules | None = field(default_factory=dict)  # spent likewise, by counter; None: not, or not all, measured
    best_dev_nll: float = math.inf
    evals_since_best: int = 0
    unlogged: tuple[float, ...] = (0.0, 0.0, 0)  # sums of loss and of nll, tokens, since the last line of the log

    def after(self, epoch: int, batch: int, tokens: int, seconds: float) -> "Progress":
        """Return where the run stands one update later."""
        return replace(self, update=self.update + 1, epoch=epoch, batch=batch, tokens=self.tokens + tokens, seconds=self.seconds + seconds)

    def with_loss(self, loss: float, nll: float, tokens: int) -> "Progress":
        """Return where the run stands with the sums of an update; a stop may come between two lines of the log."""
        return replace(self, unlogged=tuple(a + b for a, b in zip(self.unlogged, (loss, nll, tokens), strict=True)))

    def with_dev(self, dev_nll: float) -> "Progress":
        """Return where the run stands with an evaluation on dev."""
        waited = 0 if dev_nll < self.best_dev_nll else self.evals_since_best + 1
        return replace(self, best_dev_nll=min(dev_nll, self.best_dev_nll), evals_since_best=waited)

    def with_joules(self, spent: Joules) -> "Progress":
        """Return where the run stands with what the counters of energy saw since they were last read."""
        return replace(self, joules=add_joules(self.joules, spent))

    def is_evaluated(self, config: TrainConfig) -> bool:
        """Whether an evaluation on dev follows the last update."""
        return self.update % config.eval_every == 0 or self.update == config.max_updates

    def awaits_dev(self, config: TrainConfig) -> bool:
        """Whether a stop kept the evaluation that follows the last update from its end, and its line from the log."""
        return self.is_evaluated(config) and self.has_unlogged

    @property
    def has_unlogged(self) -> bool:
        """Whether the last update has no line in the log."""
        return self.unlogged[2] > 0

    def is_done(self, config: TrainConfig) -> bool:
        """Whether the schedule has ended, or dev has not improved for too long. A linear schedule always goes to its end."""
        if self.awaits_dev(config):
            return False
        # Its rate has to come down: a model that is stopped at a high rate cannot be compared with one that was not.
        can_end_early = config.schedule == "inverse-sqrt"
        return self.update >= config.max_updates or (can_end_early and self.evals_since_best >= config.patience)


def new_model(run: Run) -> tuple[Transformer, Subwords]:
    """Build the untrained model of a run whose subwords and lengths are known, and return it with its subwords.

    Raises:
        DamagedFileError: subwords or lengths are not what was written.
    """
    run.check_files()
    warn_of_changed_code(run)
    subwords = Subwords.load(run.subwords_path)
    return Transformer(run.config.model, len(subwords), PAD_ID, subwords.starts_word(), run.length_ratio()), subwords


def load_model(run: Run) -> Transformer:
    """Return the trained model of a finished run, on the CPU and in evaluation mode.

    Args:
        run: such as `repro.gallery.load("base")` or `repro.Run.find("base")`.

    Raises:
        InputError: the run is not finished, or is no run.
        DamagedFileError: its files are not what was written.
    """
    return load_with_subwords(run)[0]


def load_with_subwords(run: Run) -> tuple[Transformer, Subwords]:
    """Return what `load_model` does, and the subwords of the model."""
    check_kind("run", run, "find it by its name, as in repro.Run.find('base')", Run)
    run.check_finished()
    model, subwords = new_model(run)
    load_parameters(model, load_tensors(run.path / "final", "model"), run.path / "final")
    return model.eval(), subwords


def warn_of_changed_code(run: Run) -> None:
    """Say on standard error that a run is not of the code that is here."""
    if changed := changed_code(run):
        print(f"{run.path}: {changed}. Delete the folder to train it again", file=sys.stderr)


def changed_code(run: Run) -> str | None:
    """Return in words that a run's model is now read otherwise than when the run began, or None.

    Only what the model computes from its parameters counts: the rest shaped them, and is over. A run that
    noted nothing is believed.
    """
    noted = run.provenance().get("behaviour", {}) if exists(run.provenance_path) else {}
    if "output" in noted and changes(noted, output_of(run.config.model)):
        return "this code computes other scores of the next token than when the run began: old parameters, new code"
    return None


def find_start(run: Run, data_fingerprint: str) -> Run | None:
    """Return the finished run that a run starts from, its neighbour in the folder of runs; None when it starts from random numbers.

    Args:
        run: the one to be trained.
        data_fingerprint: of the corpus at hand.

    Raises:
        InputError: no such run there, not finished, or trained on other data or with another model; or the run is not made by training.
    """
    name, where = run.config.train.start_from, "train.start_from"
    if run.config.train.cut_from is not None:
        mend = f"prune {run.config.train.cut_from} again; see repro/cutting.py"
        raise InputError(str(run.path), "is not trained, but cut out of another run", mend)
    if name is None:
        return None
    if Path(name).name != name or not is_file(run.path.parent / name / "config.json"):
        raise InputError(where, f"there is no run '{name}' in {run.path.parent}", "give the whole folder name of a finished run there")
    start = Run(run.path.parent / name)
    if not start.is_finished:
        raise InputError(where, f"{name} is not finished", "start its `repro train` command again; it resumes")
    changes = []
    for part in ("data", "model"):
        wanted, found = vars(getattr(run.config, part)), vars(getattr(start.config, part))
        changed = [key for key in wanted if wanted[key] != found[key] and key not in MAY_CHANGE]
        changes += [f"{part}.{key} is {found[key]} there, {wanted[key]} here" for key in changed]
    if changes:
        raise InputError(where, f"{name} does not fit: {'; '.join(changes)}", "start from a run of the same data and model")
    if start.provenance()["data_fingerprint"] != data_fingerprint:
        what = f"{name} was trained on another version of {run.config.data.corpus}"
        raise InputError(where, what, "use the same version of the corpus, or train it again")
    return start


def load_start(model: Transformer, start: Run) -> None:
    """Copy the final parameters of a run into a model of the same shape; gates that the run did not have keep their first values."""
    gates = {name: value for name, value in tensors_of(model).items() if name.endswith(GATE)}
    load_parameters(model, gates | load_tensors(start.path / "final", "model"), start.path / "final")


def save_checkpoint(run: Run, model: Transformer, optimizer: Optimizer, progress: Progress) -> None:
    """Save parameters, optimiser, random state and counters, then drop the checkpoints that neither a resume nor the mean needs."""
    random, device = {"cpu": torch.get_rng_state()}, next(model.parameters()).device
    if device.type == "cuda":
        random["cuda"] = torch.cuda.get_rng_state(device)  # that of the GPU which draws, of several
    moments = {f"{index}.{name}": value for index, state in optimizer.state_dict()["state"].items() for name, value in state.items()}
    tensors = {"model": tensors_of(model), "optimizer": moments, "random": random}
    run.save_checkpoint(progress.update, tensors, _finite(progress))
    run.remove_checkpoints(keep={progress.update, *_scheduled(run.config.train, progress.update)[-_num_kept(run) :]})


def check_room(run: Run, model: Transformer) -> None:
    """Refuse to start an update if the disk has no room for the checkpoints that will be kept, another one, and the final parameters.

    Raises:
        MachineError: with what they need and what is free.
    """
    parameters = sum(tensor.numel() * tensor.element_size() for tensor in model.parameters())
    checkpoint = 3 * parameters  # Adam keeps two numbers of each
    missing = max(1, _num_kept(run) + 1 - len(run.checkpoint_folders()))  # a new one is written before an old one goes
    needed, free = missing * checkpoint + parameters, shutil.disk_usage(run.path).free
    if free < needed:
        what = f"its checkpoints need {needed / 1e6:,.1f} MB, and {free / 1e6:,.1f} MB are free"
        raise MachineError(str(run.path), what, "free some space, or set REPRO_RUNS to a folder on another disk")


def _num_kept(run: Run) -> int:
    return max(2, run.config.train.average)


def _scheduled(config: TrainConfig, update: int) -> list[int]:
    """Return the updates up to this one that the schedule saves; a polite stop may have left others, which no mean may hold."""
    updates = list(range(config.eval_every, update + 1, config.eval_every))
    return updates if update < config.max_updates or update in updates else [*updates, update]


def _newest(run: Run) -> Path | None:
    """Return the newest sound checkpoint from which training reaches the end that it would have reached, if there is one.

    The mean at the end may need older ones, of which none may be damaged; from before a damaged one, training makes it again.
    """
    config, sound = run.config.train, {int(path.name): path for path in run.checkpoints()}
    if not sound:
        return None
    end = max(sound)  # the earliest that training can have
    progress = _read_progress(sound[end])
    if not progress.is_done(config) and not progress.awaits_dev(config):
        end = min((end // config.eval_every + 1) * config.eval_every, config.max_updates)
    mean = _scheduled(config, end)[-config.average :]
    usable = [path for update, path in sound.items() if all(needed in sound for needed in mean if needed <= update)]
    return usable[-1] if usable else None


def _read_progress(checkpoint: Path) -> Progress:
    state = {"joules": None} | load_state(checkpoint)  # older checkpoints do not know theirs
    if state.get("best_dev_nll") is None:
        state["best_dev_nll"] = math.inf
    try:
        return Progress(**state)
    except TypeError as error:
        mend = "upgrade repro if a newer version wrote it; else delete the run's folder and train the run again"
        raise DamagedFileError(str(checkpoint / "state.json"), "has other counters than this version knows", mend) from error


def resume(run: Run, model: Transformer, optimizer: Optimizer) -> Progress:
    """Load the newest checkpoint that training can go on from, if there is one, and cut the log back to it.

    If newer ones are lost, that is said, and they are set aside.

    Raises:
        MachineError: one cannot be read, which may pass.
    """
    newest = _newest(run)
    lost = [path for path in run.checkpoint_folders() if newest is None or path > newest]
    if lost:
        place = f"after update {int(newest.name)}" if newest else "from the beginning"
        what = "is damaged, or one before it that the final mean needs"
        print(f"{lost[-1]}: {what}; training goes on {place}", file=sys.stderr)
        for path in lost:
            run.set_aside(path)
    if newest is None:
        write_atomic(run.metrics_path, b"")
        return Progress()
    progress = _read_progress(newest)
    load_parameters(model, load_tensors(newest, "model"), newest)
    moments: dict[int, dict[str, Tensor]] = {}
    for key, value in load_tensors(newest, "optimizer").items():
        index, name = key.split(".")
        moments.setdefault(int(index), {})[name] = value
    optimizer.load_state_dict({"state": moments, "param_groups": optimizer.state_dict()["param_groups"]})
    random = load_tensors(newest, "random")
    torch.set_rng_state(random["cpu"])
    device = next(model.parameters()).device
    if device.type == "cuda" and "cuda" in random:
        torch.cuda.set_rng_state(random["cuda"], device)
    last = progress.update - progress.has_unlogged
    lines = [json.dumps(line) + "\n" for line in run.metrics() if line["update"] <= last]
    write_atomic(run.metrics_path, "".join(lines).encode())
    return progress


def finish(run: Run, model: Transformer, progress: Progress) -> None:
    """Average the last checkpoints of the schedule into the final parameters, then drop the checkpoints.

    Raises:
        DamagedFileError: one of them is not what was written; the mean of the others would be another model.
    """
    sound = {int(path.name): path for path in run.checkpoints()}
    updates = _scheduled(run.config.train, progress.update)[-run.config.train.average :]
    if damaged := [update for update in updates if update not in sound]:
        where = run.path / "checkpoints" / f"{damaged[0]:07d}"
        mend = "start the same command again: it goes on from before it, and makes it again"
        raise DamagedFileError(str(where), "is missing or damaged, but belongs to the mean that is the final model", mend)
    last = [load_tensors(sound[update], "model") for update in updates]
    moved = {name for name, parameter in model.named_parameters() if parameter.requires_grad}
    # A mean of equal numbers may round; what never moved must not begin to here.
    mean = {n: torch.stack([tensors[n] for tensors in last]).mean(dim=0) if n in moved else last[-1][n] for n in last[-1]}
    parameters = count_parameters(new_model(run)[0])  # of a model as it is built: while training, some of it may have been frozen
    summary = _finite(progress) | {"parameters": parameters, "averaged": len(last)}
    run.save_final(mean, summary)
    run.remove_checkpoints()


def tensors_of(model: Transformer) -> dict[str, Tensor]:
    """Return by name what a model is saved as, a shared tensor once: its parameters, and the buffers that a variant asks to keep."""
    saved = model.state_dict().keys()
    buffers = {name: buffer for name, buffer in model.named_buffers() if name in saved}  # without those that are not persistent
    return {name: parameter.detach() for name, parameter in model.named_parameters()} | buffers


def load_parameters(model: Transformer, tensors: dict[str, Tensor], where: Path) -> None:
    """Copy tensors into a model of exactly those (`tensors_of`); a mismatch leaves the model untouched.

    Raises:
        InputError: naming the first tensors that are missing, unknown or of another shape.
    """
    own = tensors_of(model)
    wrong = [f"{name} is unknown" for name in tensors.keys() - own.keys()] + [f"{name} is missing" for name in own.keys() - tensors.keys()]
    for name in own.keys() & tensors.keys():
        if own[name].shape != tensors[name].shape:
            wrong.append(f"{name} is {tuple(tensors[name].shape)}, wanted {tuple(own[name].shape)}")
    if wrong:
        raise InputError(str(where), f"does not fit the model: {'; '.join(sorted(wrong)[:5])}", "use the config.json it was trained with")
    with torch.no_grad():
        for name, tensor in own.items():
            tensor.copy_(tensors[name])


def _finite(progress: Progress) -> dict[str, Any]:
    return {key: None if value == math.inf else value for key, value in vars(progress).items()}
