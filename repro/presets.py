"""The named systems of the papers, the named scales, and overrides of them."""

import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from repro.core.config import SITES, RunConfig, from_dict
from repro.data.own_text import with_resolved_folder
from repro.errors import InputError, check_kind, did_you_mean
from repro.scales import SCALES, STRUCTURE, load_scale, split_direction, usual_subwords

__all__ = ["SCALES", "STRUCTURE", "SYSTEMS", "resolve", "split_direction", "trained_on"]


def _systems() -> dict[str, dict[str, Any]]:
    """Read the systems; lists become tuples, as in a configuration."""
    path = Path(__file__).with_name("systems.toml")
    found = tomllib.loads(path.read_text("utf-8"))
    return {
        name: {key: tuple(of) if isinstance(of, list) else of for key, of in changed.items()}
        for name, changed in found.items()
    }


SYSTEMS: dict[str, dict[str, Any]] = _systems()
"""A paper's name for a model -> its differences from the baseline."""

EMPTY_BRACKETS = re.compile(r"(?<=[\w-])\(\s*\)")  # after the name of a variant

GATE_INIT, GATE_RATE = 2.0, 10.0  # of gates laid on a trained model; `pruning.py` says why


def trained_on(config: RunConfig, start: str, sites: Sequence[str], **train: Any) -> RunConfig:
    """Return the configuration of a run that continues a finished one.

    It has half of its updates, and a tenth of those to warm up.

    Args:
        config: of the finished run.
        start: the folder of the finished run.
        sites: where heads may be pruned; with the encoder's alone, the decoder is frozen (Voita et
            al. 2019, section 6.2).
        train: options of `TrainConfig` that differ, `max_updates` among them.
    """
    updates = train.get("max_updates", (config.train.max_updates + 1) // 2)
    schedule = {"max_updates": updates, "warmup": max(1, updates // 10)}
    begin = {
        "start_from": start,
        "cut_from": None,
        "freeze_decoder": set(sites) == {"encoder_self"},
    }
    return replace(config, train=replace(config.train, **(schedule | begin | train)))


def resolve(
    scale: str,
    system: str = "base",
    direction: str | None = None,
    seed: int = 1,
    overrides: tuple[str, ...] = (),
) -> RunConfig:
    """Return a scale changed by a system, a direction like `"de-en"`, a seed and overrides.

    On another corpus than the scale's, subwords are those of that corpus's scale, or `exact` if it
    has none: the older form is only for corpora with stored results.

    >>> resolve("smoke", "hc-sa", overrides=("train.max_updates=5",)).train.max_updates
    5

    Raises:
        InputError: an unknown name, or a value of the wrong type or out of range.
    """
    for option, name in {"--scale": scale, "--system": system}.items():
        check_kind(option, name, "give one name, as in resolve('smoke', 'base')", str)
    check_kind("overrides", overrides, "give a list, as in overrides=['train.seed=2']", list, tuple)
    for text in overrides:
        check_kind("overrides", text, "write each as text, as in overrides=['train.seed=2']", str)
    config = SCALES[load_scale(scale)]
    if system not in SYSTEMS:
        raise InputError("--system", f"unknown system '{system}'", did_you_mean(system, SYSTEMS))
    config = replace(
        config,
        model=replace(config.model, **SYSTEMS[system]),
        train=replace(config.train, seed=seed),
    )
    if direction is not None:
        source, target = split_direction(direction)
        config = replace(config, data=replace(config.data, source=source, target=target))
    scaled, config = config.data.corpus, _overridden(config, overrides)
    if config.data.corpus != scaled and not any(
        text.startswith("data.subwords=") for text in overrides
    ):
        config = replace(
            config, data=replace(config.data, subwords=usual_subwords(config.data.corpus))
        )
    return replace(
        config, data=replace(config.data, corpus=with_resolved_folder(config.data.corpus))
    )


def _overridden(config: RunConfig, overrides: Sequence[str]) -> RunConfig:
    """Apply overrides to a configuration, later ones last.

    It is checked at the end, since two overrides may need each other.
    """
    options = {
        f"{part.name}.{option.name}"
        for part in fields(config)
        for option in fields(getattr(config, part.name))
    }
    values = asdict(config)
    for text in overrides:
        key, equals, raw = text.partition("=")
        if key not in options:
            same = [
                option for option in sorted(options) if option.split(".")[1] == key.split(".")[-1]
            ]
            part = key.partition(".")[0] + "."
            near = [option for option in sorted(options) if option.startswith(part)]
            fix = f"did you mean '{same[0]}'?" if same else did_you_mean(key, near or options)
            fix += "; `repro settings` lists them"
            raise InputError(text, f"unknown option '{key}'" if equals else "is not key=value", fix)
        if not equals:
            raise InputError(text, "has no value", f"write {key}=VALUE")
        part, name = key.split(".")
        if name in SITES:
            raw = EMPTY_BRACKETS.sub("", raw)  # or one model would be two runs
        try:
            values[part][name] = json.loads(raw)
        except (ValueError, RecursionError):
            values[part][name] = raw
    return replace(
        config,
        **{
            part.name: from_dict(type(getattr(config, part.name)), values[part.name], part.name)
            for part in fields(config)
        },
    )
