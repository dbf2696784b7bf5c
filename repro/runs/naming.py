"""Names of runs and of their folders, and the words for what differs from a scale."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any

from repro.core.config import ModelConfig, RunConfig
from repro.errors import shortened
from repro.presets import GATE_INIT, GATE_RATE, SCALES, STRUCTURE, SYSTEMS, trained_on


def system_of(model: ModelConfig) -> str:
    """Return the papers' name for a model, or its attention at each site when no paper named it."""
    base = ModelConfig()
    for name, changed in sorted(SYSTEMS.items(), key=lambda item: -len(item[1])):
        expected = {option: getattr(base, option) for option in STRUCTURE} | changed
        if all(getattr(model, option) == value for option, value in expected.items()):
            return name
    named = [
        f"{option}={getattr(model, option)}"
        for option in STRUCTURE
        if getattr(model, option) != getattr(base, option)
    ]
    return "+".join(named)


def scale_of(config: RunConfig) -> str | None:
    """Return the scale of a run: of those of its corpus the most similar one, or None.

    Of equally similar ones it is that of its direction.
    """

    def distance(name: str) -> tuple[int, bool]:
        data = SCALES[name].data
        same = (data.source, data.target) == (config.data.source, config.data.target)
        return len(differences(config, SCALES[name])), not same

    names = [name for name, scale in SCALES.items() if scale.data.corpus == config.data.corpus]
    return min(names, key=distance, default=None)


def conditions_of(config: RunConfig) -> list[str]:
    """Return the unusual settings of a run as `key=value`s, without system, direction and seed.

    The usual ones are those of its scale, or of `smoke` if its corpus has none. If a corpus has
    several scales, all but the first are named: `scale=NAME`. For a run that continues another one
    the usual settings are those of `trained_on`, with the usual gates. For a model that was cut out
    of another run, return that run, which says the rest.
    """
    smoke = SCALES["smoke"]
    own = replace(smoke.data, corpus=config.data.corpus, subwords="exact")
    scale = scale_of(config)
    first = next((name for name in SCALES if SCALES[name].data.corpus == config.data.corpus), scale)
    if config.train.cut_from:
        return [f"train.cut_from={config.train.cut_from}"]
    named = [f"scale={scale}"] if scale != first else []
    return named + differences(config, SCALES[scale] if scale else replace(smoke, data=own))


def differences(config: RunConfig, usual: RunConfig) -> list[str]:
    """Return what differs from a scale as `key=value`s, without system, direction and seed."""
    if config.train.start_from:
        sites = config.model.gated_sites
        usual = replace(
            usual,
            model=replace(usual.model, gated_sites=sites, gate_init=GATE_INIT if sites else None),
        )
        usual = trained_on(usual, "", sites, **({"gate_rate": GATE_RATE} if sites else {}))
    apart = {"source", "target", "seed", *STRUCTURE, *SYSTEMS.get(system_of(config.model), {})}
    return [
        f"{part.name}.{option.name}={value}"
        for part in fields(config)
        for option in fields(getattr(config, part.name))
        if option.name not in apart
        and (value := getattr(getattr(config, part.name), option.name))
        != getattr(getattr(usual, part.name), option.name)
    ]


def run_name(config: RunConfig) -> str:
    """Return the folder name of a run: system, seed, digest of the whole configuration."""
    return f"{name_of_seeds(system_of(config.model))}{config.train.seed}-{config.digest()}"


def name_of_seeds(system: str) -> str:
    """Return the common beginning of the folder names of a system's runs, up to the seed."""
    return f"{file_name(system)[:80]}-seed"


def file_name(name: str) -> str:
    """Return a name as it is written in the names of folders: `base_-sa` for `base/-sa`."""
    return "".join(c if c.isalnum() or c in "-+.=" else "_" for c in name)


def fitting(name: str, runs: Sequence[str]) -> list[str]:
    """Return the runs that a name means: those of the system so named, else all that begin so."""
    beginnings = (name, file_name(name), name_of_seeds(name))
    found = [run for run in runs if run.startswith(beginnings)] if name else []
    return [run for run in found if run.startswith(name_of_seeds(name))] or found


def told_apart(runs: Mapping[str, RunConfig]) -> list[str]:
    """Return the names of runs, each with the settings in which it differs from the others."""
    values = [
        {
            f"{part}.{key}": str(value)
            for part, of in asdict(run).items()
            for key, value in of.items()
        }
        for run in runs.values()
    ]
    keys = [key for key in values[0] if len({of[key] for of in values}) > 1]
    return [
        f"{name} ({shortened(', '.join(f'{key}={of[key]}' for key in keys), 70)})"
        for name, of in zip(runs, values, strict=True)
    ]


def config_changes(found: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    """List in words the differences between two runs' configurations."""
    pairs = [
        (f"{part}.{key}", found[part][key], wanted[part][key])
        for part in wanted
        for key in wanted[part]
    ]
    return [f"{key} is {is_}, was {was}" for key, is_, was in pairs if is_ != was]
