"""The named systems of the papers and the named scales, and how a command line is laid over them."""

import json
from dataclasses import asdict, fields, replace

from repro.config import DataConfig, ModelConfig, RunConfig, TrainConfig, from_dict
from repro.errors import InputError, did_you_mean

SITES = ("encoder_self", "decoder_self", "cross")

SYSTEMS: dict[str, dict[str, str]] = {
    "base": {},
    "hc-sa": {"encoder_self": "gaussian", "decoder_self": "gaussian"},
}
"""A paper's name for a model -> the attention variant at each site that differs from the baseline."""

SCALES: dict[str, RunConfig] = {
    "smoke": RunConfig(  # new sentences are generated without end, so there is nothing to overfit and no dropout
        model=ModelConfig(dropout=0.0), train=TrainConfig(max_updates=800)
    ),
    "multi30k": RunConfig(
        DataConfig("multi30k", "en", "de", vocab_size=4000),
        ModelConfig(encoder_layers=4, decoder_layers=4, embed_dim=128, ffn_dim=256, num_heads=4, dropout=0.15),
        TrainConfig(max_updates=5500, batch_tokens=2048, learning_rate=4e-3, warmup=500, eval_every=250, average=5),
    ),
    "tatoeba": RunConfig(
        DataConfig("tatoeba", "de", "en", vocab_size=8000),
        ModelConfig(encoder_layers=5, decoder_layers=5, embed_dim=288, ffn_dim=507, num_heads=4, dropout=0.1),
        TrainConfig(max_updates=10000, batch_tokens=4096, learning_rate=1e-3, warmup=1000, eval_every=500, average=5),
    ),
    "enja": RunConfig(
        DataConfig("enja", "en", "ja", vocab_size=8000),
        ModelConfig(encoder_layers=4, decoder_layers=4, embed_dim=128, ffn_dim=256, num_heads=4, dropout=0.3),
        TrainConfig(max_updates=5000, batch_tokens=4096, learning_rate=5e-3, warmup=500, eval_every=250, average=5),
    ),
    "iwslt16": RunConfig(
        DataConfig("iwslt16", "en", "de", vocab_size=32000),
        ModelConfig(encoder_layers=5, decoder_layers=5, embed_dim=288, ffn_dim=507, num_heads=4, dropout=0.1),
        TrainConfig(max_updates=100_000, batch_tokens=4096, learning_rate=3e-4, warmup=1, label_smoothing=0.0, eval_every=2000, average=5),
    ),
}
"""Corpus, shape and schedule that belong together; the variant and `key=value` overrides are laid over one of these."""


def system_of(model: ModelConfig) -> str:
    """Return the papers' name for a model, or its attention at each site when no paper named it."""
    sites = {site: getattr(model, site) for site in SITES}
    for name, changed in SYSTEMS.items():
        if sites == dict.fromkeys(SITES, "dot-product") | changed:
            return name
    return "+".join("".join(c if c.isalnum() or c in "-.=" else "_" for c in spec) for spec in sites.values())


def resolve(scale: str, variant: str = "base", direction: str | None = None, seed: int = 1, overrides: tuple[str, ...] = ()) -> RunConfig:
    """Lay a system, a direction such as `"de-en"`, a seed and `key=value` overrides over a scale.

    >>> resolve("smoke", "hc-sa", overrides=("train.max_updates=5",)).train.max_updates
    5

    Raises:
        InputError: an unknown name, or a value of the wrong type or out of range.
    """
    if scale not in SCALES:
        raise InputError("--scale", f"unknown scale '{scale}'", did_you_mean(scale, SCALES))
    if variant not in SYSTEMS:
        raise InputError("--variant", f"unknown variant '{variant}'", did_you_mean(variant, SYSTEMS))
    config = SCALES[scale]
    config = replace(config, model=replace(config.model, **SYSTEMS[variant]), train=replace(config.train, seed=seed))
    if direction is not None:
        source, target = split_direction(direction)
        config = replace(config, data=replace(config.data, source=source, target=target))
    for override in overrides:
        config = _override(config, override)
    return config


def split_direction(direction: str) -> tuple[str, str]:
    """Split `"de-en"` into source and target language.

    Raises:
        InputError: it is not two codes with a dash between.
    """
    source, _, target = direction.partition("-")
    if not (source and target):
        raise InputError("--direction", f"'{direction}' is not a direction", "write source-target, for example de-en")
    return source, target


def run_name(config: RunConfig) -> str:
    """Return the folder name of a run: the system, the seed, the digest of the whole configuration."""
    return f"{system_of(config.model)}-seed{config.train.seed}-{config.digest()}"


def _override(config: RunConfig, text: str) -> RunConfig:
    key, equals, raw = text.partition("=")
    options = {f"{part.name}.{option.name}" for part in fields(config) for option in fields(getattr(config, part.name))}
    if not equals or key not in options:
        raise InputError(text, f"unknown option '{key}'" if equals else "is not key=value", did_you_mean(key, sorted(options)))
    part, name = key.split(".")
    try:
        value = json.loads(raw)
    except ValueError:
        value = raw
    values = asdict(getattr(config, part)) | {name: value}
    return replace(config, **{part: from_dict(type(getattr(config, part)), values, part)})
