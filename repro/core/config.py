"""What a run is, as frozen dataclasses that refuse what no run can use.

Nothing here imports torch, so that a mistake is answered at once. The hash of a resolved
`RunConfig` names the run's folder.
"""

import hashlib
import json
import math
import types
import typing
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any, ClassVar, Literal

from repro.errors import InputError, did_you_mean, shortened

SITES = ("encoder_self", "decoder_self", "cross")
SELF_SITES = SITES[:2]
# the sites where each side is read
READERS = {"source": ("encoder_self", "cross"), "target": ("decoder_self", "cross")}
NO_SUBLAYER = "none"  # what stands at a site without attention
SubwordForm = Literal["exact", "nfkc"]  # what subwords make of the text: see `Subwords`
# far beyond what any machine holds: a slip of the finger, answered at once
MAX_WIDTH, MAX_LAYERS = 1_000_000, 1_000


_SAME: Any = object()


def added(default: Any, older: Any = _SAME) -> Any:
    """A field that older runs did not have.

    Args:
        default: of new runs.
        older: what runs did before there was the field; by default the same. With this value it is
            left out of the digest, and a file without it means this value: older runs keep their
            names.
    """
    return field(default=default, metadata={"older": default if older is _SAME else older})


class _Checked:
    """Values have the types that are declared, however an object is made: a whole number for a fraction becomes one, a typo is refused."""

    part: ClassVar[str]

    def __post_init__(self) -> None:
        check_types(self, self.part)


@dataclass(frozen=True)
class DataConfig(_Checked):
    """Which sentence pairs, and how they are cut into subwords."""

    part = "data"
    corpus: str = "minigerman"
    source: str = "en"
    target: str = "de"
    train_pairs: int | None = None  # use only the first pairs of the training split; None = all
    vocab_size: int = 1000  # one vocabulary for both languages
    max_tokens: int = 128  # longer training pairs are left out, counted in the log
    subwords: SubwordForm = added("exact", older="nfkc")


@dataclass(frozen=True)
class ModelConfig(_Checked):
    """The Transformer. Options in which published code bases differ have one default, the same for every variant."""

    part = "model"
    encoder_self: str = "dot-product"
    decoder_self: str = "dot-product"
    cross: str = "dot-product"
    encoder_layers: int = 2
    decoder_layers: int = 2
    embed_dim: int = 64
    ffn_dim: int = 128
    num_heads: int = 4
    dropout: float = 0.1  # on embeddings and sublayer outputs
    attention_dropout: float = 0.0  # on learned attention weights
    norm: Literal["post", "pre"] = "pre"
    source_end_mark: bool = True
    tie_embeddings: bool = True  # source, target and output share one matrix
    encoder_positions: bool = added(True)  # position embeddings
    decoder_positions: bool = added(True)
    feed_forward: bool = added(True)  # False = no feed-forward sublayer anywhere
    gated_sites: tuple[str, ...] = added(())  # where heads have Hard Concrete gates
    gate_rule: Literal["sign", "soft"] = added("sign")  # what a gate is at test time
    gate_init: float | None = added(None)  # the first log_alpha of all gates; null = drawn


@dataclass(frozen=True)
class TrainConfig(_Checked):
    """The optimisation."""

    part = "train"
    seed: int = 1
    max_updates: int = 600
    batch_tokens: int = 2048  # sentences times the longest side of the batch
    learning_rate: float = 3e-3  # the peak
    schedule: Literal["inverse-sqrt", "linear"] = "linear"
    warmup: int = 100  # updates until the peak
    label_smoothing: float = 0.1
    clip_norm: float = 1.0
    adam_beta2: float = 0.98
    precision: Literal["fp32", "bf16"] = "fp32"
    eval_every: int = 200  # updates between evaluations on dev; each saves a checkpoint
    # evaluations without a better dev loss before stopping; a linear schedule goes to its end
    patience: int = 10
    average: int = 1  # the final parameters are the mean of that many last checkpoints
    gate_penalty: float = added(0.0)  # loss per expected open head, in nats per token
    # the gates' learning rate as a multiple of the others': few updates move them too little
    gate_rate: float = added(1.0)
    # folder name of a finished run beside this one whose parameters are the first ones
    start_from: str | None = added(None)
    # with its embedding and output; of tied embeddings that is the source's as well
    freeze_decoder: bool = added(False)
    # a gated run that this model was cut out of, after the training described here
    cut_from: str | None = added(None)


@dataclass(frozen=True)
class RunConfig:
    """Everything that decides the result of a training run."""

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
        return {part.name: _named_values(getattr(self, part.name)) for part in fields(self)}


def _digest(values: Any) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:12]


def _named_values(part: Any) -> dict[str, Any]:
    values = {option: getattr(part, option.name) for option in fields(part)}
    return {
        option.name: value
        for option, value in values.items()
        if not ("older" in option.metadata and value == option.metadata["older"])
    }


def from_dict(cls: type, values: dict[str, Any], where: str = "config") -> Any:
    """Build a dataclass from nested dictionaries, refusing unknown keys and values of another type.

    Raises:
        InputError: naming the key, the wanted type and the value found.
    """
    if not isinstance(values, dict):
        raise InputError(
            where,
            f"wants names and values, found {shortened(repr(values), 40)}",
            "restore the file, or make it again",
        )
    hints = _hints(cls)
    known = [f.name for f in fields(cls)]
    for key in values:
        if key not in known:
            raise InputError(where, f"unknown key '{key}'", did_you_mean(key, known))
    values = _older_values(cls) | values
    return cls(**{key: typed(hints[key], value, f"{where}.{key}") for key, value in values.items()})


def _older_values(cls: type) -> dict[str, Any]:
    """Return what a file from before some fields were added means by leaving them out."""
    return {f.name: f.metadata["older"] for f in fields(cls) if "older" in f.metadata}


def missing_options(cls: type, values: dict[str, Any]) -> list[str]:
    """Return which options `from_dict` would have to guess: those that are not there, but for those that older runs did not have."""
    hints, missing = _hints(cls), []
    for option in fields(cls):
        if option.name not in values:
            missing += [] if "older" in option.metadata else [option.name]
        elif is_dataclass(hints[option.name]) and isinstance(values[option.name], dict):
            missing += [
                f"{option.name}.{inner}"
                for inner in missing_options(hints[option.name], values[option.name])
            ]
    return missing


def check_types(part: Any, where: str) -> None:
    """Bring the values of a frozen dataclass to the types of its fields, as `from_dict` does, and refuse what it refuses."""
    cls: type = type(part)
    for name, hint in _hints(cls).items():
        object.__setattr__(part, name, typed(hint, getattr(part, name), f"{where}.{name}"))


@cache
def _hints(cls: type) -> dict[str, Any]:
    return {
        name: hint
        for name, hint in typing.get_type_hints(cls).items()
        if typing.get_origin(hint) is not ClassVar
    }


def typed(hint: Any, value: Any, where: str) -> Any:
    """Return the value if it has the hinted type; numbers in text, booleans as numbers and NaN are refused, not guessed.

    Raises:
        InputError: naming the wanted type or choices and the value found.
    """
    if isinstance(hint, type) and is_dataclass(hint):
        return from_dict(hint, value, where)
    allowed = (
        typing.get_args(hint)
        if typing.get_origin(hint) in (types.UnionType, typing.Union)
        else (hint,)
    )
    choices = [
        choice for t in allowed if typing.get_origin(t) is Literal for choice in typing.get_args(t)
    ]
    if any(value == choice and type(value) is type(choice) for choice in choices):
        return value
    if choices and (isinstance(value, str) or len(allowed) == 1):
        words = [choice if isinstance(choice, str) else repr(choice) for choice in choices]
        mend = (
            did_you_mean(value, words)
            if words == choices and isinstance(value, str)
            else f"use one of {', '.join(map(repr, choices))}"
        )
        raise InputError(where, f"unknown value {shortened(repr(value), 80)}", mend)
    if isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value):
        mend = "use text in UTF-8: set PYTHONUTF8=1, or rename the folder if it is one"
        raise InputError(where, f"holds what is no letter in {shortened(ascii(value), 80)}", mend)
    for row in (t for t in allowed if typing.get_origin(t) in (tuple, list)):
        if isinstance(value, (list, tuple)):
            return typing.get_origin(row)(
                typed(typing.get_args(row)[0], item, where) for item in value
            )
    if type(value) is int and abs(value) >= 2**63:
        raise InputError(
            where, f"is a number of {len(str(abs(value)))} digits", "use a smaller number"
        )
    if float in allowed and type(value) is int and abs(value) < 2**63:
        value = float(value)
    if type(value) not in allowed or (isinstance(value, float) and not math.isfinite(value)):
        wanted = " or ".join(map(_in_words, allowed))
        mend = (
            'write a list, as in ["a", "b"]'
            if any(typing.get_origin(t) in (tuple, list) for t in allowed)
            else f"give one {wanted}"
        )
        mend += " that is finite" * (type(value) in allowed)
        raise InputError(where, f"wants {wanted}, found {shortened(repr(value), 80)}", mend)
    return value


def _in_words(hint: Any) -> str:
    if typing.get_origin(hint) is Literal:
        return " or ".join(map(repr, typing.get_args(hint)))
    if typing.get_origin(hint) in (tuple, list):
        return f"list of {_in_words(typing.get_args(hint)[0])}"
    return "null" if hint is type(None) else hint.__name__


def _check(config: RunConfig) -> None:
    """Refuse values that no run can use, before anything slow starts."""
    data, model, train = config.data, config.model, config.train
    if data.source == data.target:
        raise InputError(
            "data", f"source and target are both '{data.source}'", "choose two languages"
        )
    if model.embed_dim < 2:
        raise InputError(
            "model.embed_dim", f"must be at least 2, found {model.embed_dim}", "use an even width"
        )
    for name, most in {
        "embed_dim": MAX_WIDTH,
        "encoder_layers": MAX_LAYERS,
        "decoder_layers": MAX_LAYERS,
    }.items():
        if getattr(model, name) > most:
            raise InputError(
                f"model.{name}",
                f"must be at most {most:,}, found {getattr(model, name):,}",
                "use a smaller number",
            )
    if model.num_heads < 1 or model.embed_dim % model.num_heads:
        legal = [h for h in range(1, model.embed_dim + 1) if model.embed_dim % h == 0]
        near = sorted(sorted(legal, key=lambda h: abs(h - model.num_heads))[:2])
        what = f"{model.num_heads} heads do not divide embed_dim {model.embed_dim}"
        raise InputError("model.num_heads", what, f"use {' or '.join(map(str, near))}")
    if model.embed_dim % 2:
        raise InputError(
            "model.embed_dim",
            f"{model.embed_dim} is odd, but positions need sine and cosine pairs",
            "use an even width",
        )
    at_least_one = {
        "data": ("vocab_size", "max_tokens"),
        "model": ("encoder_layers", "decoder_layers", "ffn_dim"),
    }
    at_least_one["train"] = (
        "max_updates",
        "batch_tokens",
        "warmup",
        "eval_every",
        "patience",
        "average",
    )
    for part, names in at_least_one.items():
        for name in names:
            if getattr(getattr(config, part), name) < 1:
                raise InputError(
                    f"{part}.{name}",
                    f"must be at least 1, found {getattr(getattr(config, part), name)}",
                    "use 1 or more",
                )
    if data.train_pairs is not None and data.train_pairs < 1:
        raise InputError(
            "data.train_pairs",
            f"must be at least 1, found {data.train_pairs}",
            "use 1 or more, or null for all",
        )
    rates = {"model.dropout": model.dropout, "model.attention_dropout": model.attention_dropout}
    for where, rate in (
        rates
        | {"train.label_smoothing": train.label_smoothing, "train.adam_beta2": train.adam_beta2}
    ).items():
        if not 0 <= rate < 1:
            raise InputError(
                where, f"must be at least 0 and below 1, found {rate}", "use a value in [0, 1)"
            )
    for site in model.gated_sites:
        if site not in SITES:
            raise InputError(
                "model.gated_sites", f"unknown site '{site}'", did_you_mean(site, SITES)
            )
    if len(set(model.gated_sites)) < len(model.gated_sites):
        raise InputError(
            "model.gated_sites",
            f"names a site twice: {', '.join(model.gated_sites)}",
            "name each once",
        )
    if not 0 <= train.seed < 2**63:
        raise InputError(
            "train.seed",
            f"must be at least 0 and below 2^63, found {train.seed}",
            "use a small number, such as 1",
        )
    if model.gate_init is not None and not abs(model.gate_init) <= 100:
        raise InputError(
            "model.gate_init",
            f"must be from -100 to 100, found {model.gate_init}",
            "use about 2: a gate that is open",
        )
    if not 0 <= train.gate_penalty < 1e6:
        raise InputError(
            "train.gate_penalty",
            f"must be at least 0 and below 1,000,000, found {train.gate_penalty}",
            "use a number of nats per head",
        )
    if train.freeze_decoder and set(model.gated_sites) - {"encoder_self"}:
        what = (
            f"is on, but gates at {', '.join(model.gated_sites)} would have to move in the decoder"
        )
        raise InputError("train.freeze_decoder", what, "gate encoder_self only, or freeze nothing")
    _check_effect(model, train)
    for name in ("learning_rate", "clip_norm", "gate_rate"):
        if not 0 < getattr(train, name) < 1e6:
            what = f"must be above 0 and below 1,000,000, found {getattr(train, name)}"
            raise InputError(f"train.{name}", what, "use a positive number")


def _check_effect(model: ModelConfig, train: TrainConfig) -> None:
    """Refuse options that would do nothing, and yet name another run. A model that was cut out keeps those of its training."""
    if train.cut_from is not None:
        return
    usual = {
        f"model.{name}": (getattr(model, name), getattr(ModelConfig, name))
        for name in ("gate_init", "gate_rule")
    }
    usual |= {
        f"train.{name}": (getattr(train, name), getattr(TrainConfig, name))
        for name in ("gate_penalty", "gate_rate")
    }
    for option, (value, default) in usual.items():
        if value != default and not model.gated_sites:
            raise InputError(
                option, "does nothing without gates", "set model.gated_sites, or leave it out"
            )
    # a model that was cut out may have lost a site, and may be pruned again
    for site in model.gated_sites:
        if getattr(model, site) == NO_SUBLAYER and train.start_from is None:
            raise InputError(
                "model.gated_sites",
                f"there is no attention at {site} to gate",
                "name sites that have some",
            )
    if train.freeze_decoder and train.start_from is None:
        raise InputError(
            "train.freeze_decoder",
            "would leave the decoder at random",
            "set train.start_from, or freeze nothing",
        )
