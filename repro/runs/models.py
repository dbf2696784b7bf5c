"""Build the model of a run, and load its parameters."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from repro import stops
from repro.core.config import ModelConfig
from repro.core.decoding import SearchConfig, Translator
from repro.core.optimizer import GATE
from repro.core.subwords import PAD_ID, Subwords
from repro.core.transformer import Transformer
from repro.data.corpora import prepare_lines
from repro.errors import DamagedFileError, InputError, check_kind
from repro.reading import exists, is_file, read_plain
from repro.runs.behaviour import Behaviour, changes, output_of
from repro.runs.machine import find_device, keep_freed_memory
from repro.runs.run import Run
from repro.runs.tensors import load_final

MAY_CHANGE = ("gated_sites", "gate_rule", "gate_init", "dropout", "attention_dropout")
"""Settings in which a model may differ from the run that it starts from.

Gates are added on top, and dropout has no parameters.
"""


def load_subwords(path: Path) -> Subwords:
    """Read the subwords of a run.

    Raises:
        DamagedFileError: the file is missing, empty, or cut.
    """
    try:
        if model := read_plain(path):
            return Subwords(model)
        raise EOFError  # of an empty file, the library would print lines of its own
    except (OSError, EOFError, DamagedFileError) as error:
        fix = "restore it, or delete the run's folder and train the run again"
        raise DamagedFileError(
            str(path), "is missing or is not a sentencepiece model", fix
        ) from error


def new_model(run: Run) -> tuple[Transformer, Subwords]:
    """Build the untrained model of a run with known subwords and lengths; return both.

    Raises:
        DamagedFileError: subwords or lengths are not what was written.
    """
    run.check_files()
    warn_of_changed_code(run)
    subwords = load_subwords(run.subwords_path)
    return Transformer(
        run.config.model, len(subwords), PAD_ID, subwords.starts_word(), run.length_ratio()
    ), subwords


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
    """Return the trained model of a finished run, as `load_model` does, and its subwords."""
    check_kind("run", run, "find it by its name, as in repro.Run.find('base')", Run)
    run.check_finished()
    model, subwords = new_model(run)
    load_parameters(model, load_final(run), run.path / "final")
    return model.eval(), subwords


def warn_of_changed_code(run: Run) -> None:
    """Say on standard error that a run was trained with other code than this."""
    if changed := changed_code(run):
        print(f"{run.path}: {changed}. Delete the folder to train it again", file=sys.stderr)


def changed_code(run: Run) -> str | None:
    """Say that a run's model now computes other scores than when the run began, or return None."""
    noted = run.provenance() if exists(run.provenance_path) else {}
    if is_of_other_code(noted, run.config.model):
        return (
            "this code computes other scores of the next token than when the run began: "
            "old parameters, new code"
        )
    return None


def is_of_other_code(
    provenance: dict[str, Any],
    model: ModelConfig,
    output: Callable[[ModelConfig], Behaviour] = output_of,
) -> bool:
    """Return whether a model now computes other scores than at the start of a run or record of it.

    Only the output of the model counts: the rest of the code had its effect in training. A run that
    noted nothing is believed.

    Args:
        provenance: of the run or record.
        model: the configuration of its model.
        output: computes what this code does; for many records of a model, once.
    """
    noted = provenance.get("behaviour", {})
    return "output" in noted and bool(changes(noted, output(model)))


def find_start(run: Run, data_fingerprint: str) -> Run | None:
    """Return the finished run that a run starts from, in the same folder of runs.

    None if it starts from random numbers.

    Args:
        run: the one to be trained.
        data_fingerprint: of the corpus in use.

    Raises:
        InputError: no such run there, not finished, or trained on other data or with another model;
            or the run is not made by training.
    """
    name, where = run.config.train.start_from, "train.start_from"
    if run.config.train.cut_from is not None:
        fix = f"prune {run.config.train.cut_from} again; see repro/pruning/cutting.py"
        raise InputError(str(run.path), "is not trained, but cut out of another run", fix)
    if name is None:
        return None
    if Path(name).name != name or not is_file(run.path.parent / name / "config.json"):
        raise InputError(
            where,
            f"there is no run '{name}' in {run.path.parent}",
            "give the whole folder name of a finished run there",
        )
    start = Run(run.path.parent / name)
    if not start.is_finished:
        raise InputError(
            where, f"{name} is not finished", "start its `repro train` command again; it resumes"
        )
    changes = []
    for part in ("data", "model"):
        wanted, found = vars(getattr(run.config, part)), vars(getattr(start.config, part))
        changed = [key for key in wanted if wanted[key] != found[key] and key not in MAY_CHANGE]
        changes += [f"{part}.{key} is {found[key]} there, {wanted[key]} here" for key in changed]
    if changes:
        raise InputError(
            where,
            f"{name} does not fit: {'; '.join(changes)}",
            "start from a run of the same data and model",
        )
    if start.provenance()["data_fingerprint"] != data_fingerprint:
        what = f"{name} was trained on another version of {run.config.data.corpus}"
        raise InputError(where, what, "use the same version of the corpus, or train it again")
    return start


def load_start(model: Transformer, start: Run) -> None:
    """Copy the final parameters of a run into a model of the same shape.

    Gates that the run did not have keep their initial values.
    """
    gates = {name: value for name, value in tensors_of(model).items() if name.endswith(GATE)}
    load_parameters(model, gates | load_final(start), start.path / "final")


def tensors_of(model: Transformer) -> dict[str, Tensor]:
    """Return the tensors that are saved of a model, by name; a shared one only once.

    They are its parameters, and the buffers that a variant asks to keep.
    """
    saved = model.state_dict().keys()
    # without those that are not persistent
    buffers = {name: buffer for name, buffer in model.named_buffers() if name in saved}
    return {name: parameter.detach() for name, parameter in model.named_parameters()} | buffers


def load_parameters(model: Transformer, tensors: dict[str, Tensor], where: Path) -> None:
    """Copy tensors into a model that has exactly these; on a mismatch, change nothing.

    Raises:
        InputError: naming the first tensors that are missing, unknown or of another shape.
    """
    own = tensors_of(model)
    wrong = [f"{name} is unknown" for name in tensors.keys() - own.keys()] + [
        f"{name} is missing" for name in own.keys() - tensors.keys()
    ]
    for name in own.keys() & tensors.keys():
        if own[name].shape != tensors[name].shape:
            wrong.append(f"{name} is {tuple(tensors[name].shape)}, wanted {tuple(own[name].shape)}")
    if wrong:
        raise InputError(
            str(where),
            f"does not fit the model: {'; '.join(sorted(wrong)[:5])}",
            "use the config.json it was trained with",
        )
    with torch.no_grad():
        for name, tensor in own.items():
            tensor.copy_(tensors[name])


def load_translator(run: Run, device: str | None = None) -> Translator:
    """Load the final model of a run with its subwords.

    Args:
        run: finished.
        device: "cpu", "cuda" ...; default: the GPU if there is one.

    Raises:
        InputError: the run is not finished, or is not a run, or there is no such kind of device.
        DamagedFileError: its files are not what was written.
        MachineError: the device is not there.
    """
    model, subwords = load_with_subwords(run)
    keep_freed_memory()
    prepare = partial(prepare_lines, run.config.data.corpus)
    return Translator(
        model.to(find_device(device)),
        subwords,
        prepare,
        stops.raise_if_stopping,
        SearchConfig(alpha=run.alpha),
    )
