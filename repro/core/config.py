"""The configuration of a run, as frozen dataclasses that refuse unusable values.

The hash of a resolved `RunConfig` names the run's folder. The settings of the model, and the checks
of all settings, are in `settings.py`.
"""

import hashlib
import json
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Annotated, Any, Literal

from msgspec import Meta

from repro.core.settings import (
    ALWAYS,
    NO_SUBLAYER,
    SITES,
    Checked,
    Count,
    ModelConfig,
    Rate,
    Share,
    SubwordForm,
    check_heads,
    hints_of,
    setting,
    typed,
)
from repro.errors import InputError, did_you_mean, shortened

SELF_SITES = SITES[:2]


@dataclass(frozen=True)
class DataConfig(Checked):
    """The sentence pairs, and how they are cut into subwords."""

    part = "data"
    corpus: str = setting("minigerman", "a corpus of `repro data`, or your own text: local:FOLDER")
    source: str = setting("en", "the language that is read")
    target: str = setting("de", "the language that is written")
    train_pairs: Annotated[int, Meta(ge=1, description="use 1 or more, or null for all")] | None = (
        setting(None, "use only the first pairs of the training split; null is all")
    )
    vocab_size: Count = setting(1000, "subwords in the vocabulary that both languages share")
    max_tokens: Count = setting(128, "subwords of the longest training pairs; longer ones stay out")
    subwords: SubwordForm = setting(
        "exact", "whether subwords keep the text as it is, or normalise it", older="nfkc"
    )


@dataclass(frozen=True)
class TrainConfig(Checked):
    """The optimisation."""

    part = "train"
    seed: Annotated[int, Meta(ge=0, description="use a small number, such as 1")] = setting(
        1, "seed of the first parameters, of dropout and of the order of batches"
    )
    max_updates: Count = setting(600, "updates of the parameters")
    batch_tokens: Count = setting(2048, "size of a batch: sentences times its longest side")
    learning_rate: Rate = setting(3e-3, "the peak of the learning rate")
    schedule: Literal["inverse-sqrt", "linear"] = setting("linear", "how the learning rate falls")
    warmup: Count = setting(100, "updates until the learning rate is at its peak")
    label_smoothing: Share = setting(0.1, "share of probability spread over all subwords")
    optimizer: Literal["adam", "muon"] = setting(
        "adam",
        "Adam for all; or Muon for the matrices inside layers, and Adam for the rest",
        older="adam",
    )
    matrix_rate: Rate = setting(
        0.02, "the peak of Muon's rate, on the schedule of the other", older=0.02
    )
    clip_norm: Rate = setting(1.0, "longest gradient; a longer one is scaled down")
    adam_beta2: Share = setting(0.98, "decay of Adam's mean of squared gradients")
    precision: Literal["fp32", "bf16"] = setting("fp32", "numbers that products are computed in")
    eval_every: Count = setting(200, "updates between evaluations on dev; each saves a checkpoint")
    patience: Count = setting(10, "evaluations without gain on dev until a stop; not if linear")
    average: Count = setting(1, "last checkpoints whose mean is the final model")
    length_penalty: Literal["fixed", "dev"] = setting(
        "fixed", "the length penalty of the run's own search: 1, or chosen on dev", older="fixed"
    )
    gate_penalty: Annotated[
        float, Meta(ge=0, lt=1_000_000, description="use a number of nats per head")
    ] = setting(0.0, "loss per head expected to be open, in nats per token", older=0.0)
    # few updates move the gates too little at the others' rate
    gate_rate: Rate = setting(
        1.0, "learning rate of gates, as a multiple of the others'", older=1.0
    )
    start_from: str | None = setting(
        None, "finished run next to this one, with the first parameters", older=None
    )
    freeze_decoder: bool = setting(
        False,
        "whether the decoder stays as it is, with its embeddings (the source's if tied)",
        older=False,
    )
    cut_from: str | None = setting(
        None, "set by `repro prune`: the gated run it was cut out of", older=None
    )


@dataclass(frozen=True)
class RunConfig:
    """Everything that determines the result of a training run."""

    data: DataConfig = field(default_factory=DataConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    train: TrainConfig = field(default_factory=TrainConfig)

    def __post_init__(self) -> None:
        _check(self)

    def digest(self) -> str:
        """Return twelve hex digits that name this configuration."""
        return _digest(self._values())

    def group_key(self) -> str:
        """Return twelve hex digits that name this configuration without its seed."""
        values = self._values()
        del values["train"]["seed"]
        return _digest(values)

    def _values(self) -> dict[str, dict[str, Any]]:
        """Return the values that name a run: all but those that equal the older default."""
        parts = {part.name: getattr(self, part.name) for part in fields(self)}
        return {
            name: {
                option.name: getattr(part, option.name)
                for option in fields(part)
                if getattr(part, option.name) != option.metadata.get("older", ALWAYS)
            }
            for name, part in parts.items()
        }


def _digest(values: Any) -> str:
    """Return the first twelve hex digits of the SHA-256 of a configuration's values."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:12]


def from_dict(cls: type, values: dict[str, Any], where: str = "config") -> Any:
    """Build a dataclass from nested dictionaries, refusing unknown keys and values of another type.

    Raises:
        InputError: naming the key, the wanted type and the value found.
    """
    if not isinstance(values, dict):
        what = f"wants names and values, found {shortened(repr(values), 40)}"
        raise InputError(where, what, "restore the file, or make it again")
    hints = hints_of(cls)
    for key in values:
        if key not in hints:
            raise InputError(where, f"unknown key '{key}'", did_you_mean(key, hints))
    older = {f.name: f.metadata["older"] for f in fields(cls) if "older" in f.metadata}
    values = older | values
    read = {}
    for key, value in values.items():
        build = from_dict if is_dataclass(hints[key]) else typed
        read[key] = build(hints[key], value, f"{where}.{key}")
    return cls(**read)


def _check(config: RunConfig) -> None:
    """Refuse settings that no run can use together, before anything slow starts."""
    data, model, train = config.data, config.model, config.train
    if data.source == data.target:
        what = f"source and target are both '{data.source}'"
        raise InputError("data", what, "choose two languages")
    check_heads(model.num_heads, model.embed_dim, "model.num_heads")
    for site in set(model.gated_sites).difference(SITES):
        fix = did_you_mean(site, SITES)
        raise InputError("model.gated_sites", f"unknown site '{site}'", fix)
    gated = ", ".join(model.gated_sites)
    if len(set(model.gated_sites)) < len(model.gated_sites):
        raise InputError("model.gated_sites", f"names a site twice: {gated}", "name each once")
    if train.freeze_decoder and set(model.gated_sites) - {"encoder_self"}:
        what = f"is on, but gates at {gated} would have to move in the decoder"
        raise InputError("train.freeze_decoder", what, "gate encoder_self only, or freeze nothing")
    _check_effect(model, train)


def _check_effect(model: ModelConfig, train: TrainConfig) -> None:
    """Refuse options without effect, which would still give the run another name.

    A model that was cut out keeps those of its training.
    """
    if train.cut_from is not None:
        return
    for part, names in (
        (model, ("gate_init", "gate_rule")),
        (train, ("gate_penalty", "gate_rate")),
    ):
        for name in names:
            if getattr(part, name) != getattr(type(part), name) and not model.gated_sites:
                fix = "set model.gated_sites, or leave it out"
                raise InputError(f"{part.part}.{name}", "does nothing without gates", fix)
    if train.optimizer != "muon" and train.matrix_rate != TrainConfig.matrix_rate:
        fix = "set train.optimizer=muon, or leave it out"
        raise InputError("train.matrix_rate", "does nothing without Muon", fix)
    # a model that was cut out may have lost a site, and may be pruned again
    for site in model.gated_sites:
        if getattr(model, site) == NO_SUBLAYER and train.start_from is None:
            what = f"there is no attention at {site} to gate"
            raise InputError("model.gated_sites", what, "name sites that have some")
    if train.freeze_decoder and train.start_from is None:
        what = "would leave the decoder at random"
        raise InputError("train.freeze_decoder", what, "set train.start_from, or freeze nothing")
