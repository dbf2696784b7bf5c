"""Settings of an experiment: a system and the conditions of its training, shared by all seeds."""

from dataclasses import dataclass, field
from functools import cache

from repro.core.config import RunConfig
from repro.data.sizes import training_pairs
from repro.presets import SCALES, resolve
from repro.runs.naming import conditions_of


@dataclass(frozen=True)
class Setting:
    """Describe what is trained once per seed.

    Args:
        system: one of `presets.SYSTEMS`.
        overrides: `key=value` on top of it. `{layers}` becomes the scale's number of decoder
            layers; `{narrow}` a rounded width of heads where that number does not divide the
            model's width.
        part: share of the training pairs, the first ones.
        reverse: translate in the other direction.
        label: the overrides in words, for tables; settings that differ only in it are equal.
    """

    system: str
    overrides: tuple[str, ...] = ()
    part: float = 1.0
    reverse: bool = False
    label: str = field(default="", compare=False)

    def config(self, scale: str, seed: int = 1) -> RunConfig:
        """Return the configuration of this setting at a scale.

        Raises:
            InputError: an unknown scale or system.
        """
        return _config(self, scale, seed)

    def __str__(self) -> str:
        conditions = [self.label] if self.label else [*self.overrides]
        conditions += [f"{self.part:.0%} of the data"] if self.part < 1 else []
        conditions += ["other direction"] if self.reverse else []
        return f"{self.system} ({', '.join(conditions)})" if conditions else self.system


def has_size_of_scale(config: RunConfig) -> bool:
    """Whether a run has the width, vocabulary and schedule of its corpus's scale.

    All settings have. Results may also hold shorter or smaller trials. How much seeds matter to
    those says nothing about the settings that claims compare.
    """
    size = ("train.", "model.embed_dim=", "model.ffn_dim=", "data.vocab_size=")
    return not any(condition.startswith(size) for condition in conditions_of(config))


# Claims ask for the same configurations thousands of times.
@cache
def _config(setting: Setting, scale: str, seed: int) -> RunConfig:
    """Return the configuration of a claim's setting at a scale, with its system's options."""
    direction, overrides = None, []
    if scale in SCALES:
        data, layers, width = (
            SCALES[scale].data,
            SCALES[scale].model.decoder_layers,
            SCALES[scale].model.embed_dim,
        )
        narrow = f", head_dim={width // layers}" if width % layers else ""
        direction = f"{data.target}-{data.source}" if setting.reverse else None
        overrides = [
            override.replace("{layers}", str(layers)).replace("{narrow}", narrow)
            for override in setting.overrides
        ]
        if setting.part < 1:
            pairs = training_pairs(data.corpus, data.source, data.target)
            overrides.append(f"data.train_pairs={int(setting.part * pairs)}")
    return resolve(scale, setting.system, direction, seed, tuple(overrides))
