"""Names of runs and of their folders, and the words for what differs from a scale."""

from dataclasses import fields, replace

from repro.core.config import ModelConfig, RunConfig
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
    """Return the scale of a run: of those of its corpus the one from which least differs, or None."""
    names = [name for name, scale in SCALES.items() if scale.data.corpus == config.data.corpus]
    return min(names, key=lambda name: len(_differences(config, SCALES[name])), default=None)


def conditions_of(config: RunConfig) -> list[str]:
    """Return what differs from the run's scale besides system, direction and seed, as `key=value`s.

    A corpus without a scale is compared with `smoke`. Where a corpus has several scales, all but
    the first are named: `scale=NAME`. Of a run that goes on from another one: what differs from
    going on as `trained_on` says, with gates as they usually are. Of a model that was cut out: the
    run that it was cut from, which says the rest.
    """
    smoke = SCALES["smoke"]
    own = replace(smoke.data, corpus=config.data.corpus, subwords="exact")
    scale = scale_of(config)
    first = next((name for name in SCALES if SCALES[name].data.corpus == config.data.corpus), scale)
    if config.train.cut_from:
        return [f"train.cut_from={config.train.cut_from}"]
    named = [f"scale={scale}"] if scale != first else []
    return named + _differences(config, SCALES[scale] if scale else replace(smoke, data=own))


def _differences(config: RunConfig, usual: RunConfig) -> list[str]:
    """Return what differs from a scale besides system, direction and seed, as `key=value`s."""
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
    """Return the folder name of a run: the system, the seed, the digest of the whole configuration."""
    return f"{name_of_seeds(system_of(config.model))}{config.train.seed}-{config.digest()}"


def name_of_seeds(system: str) -> str:
    """Return what the folder names of all runs of a system begin with, up to the number of the seed."""
    return f"{file_name(system)[:80]}-seed"


def file_name(name: str) -> str:
    """Return the name of a system, or the beginning of that of a run, as it stands in the names of folders: `base_-sa` for `base/-sa`."""
    return "".join(c if c.isalnum() or c in "-+.=" else "_" for c in name)
