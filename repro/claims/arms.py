"""An arm of an experiment: a system under the conditions that it is trained in, the same for every seed."""

from dataclasses import dataclass, field
from functools import cache

from repro.core.config import RunConfig
from repro.data.sizes import corpus_statistics
from repro.presets import SCALES, resolve
from repro.runs.naming import conditions_of

# half as long, so that every experiment of the five papers fits into 40 minutes on two cores
SMOKE_REVERSE = "train.max_updates=350"


@dataclass(frozen=True)
class Arm:
    """What is trained once per seed.

    Args:
        system: one of `scales.SYSTEMS`.
        overrides: `key=value` on top of it; `{layers}` stands for the scale's number of decoder
            layers, `{narrow}` for a width of so many heads where they do not divide the model's:
            rounded down.
        part: share of the training pairs, the first ones.
        reverse: translate in the other direction.
        label: the overrides in words, for tables; it makes no other arm.
    """

    system: str
    overrides: tuple[str, ...] = ()
    part: float = 1.0
    reverse: bool = False
    label: str = field(default="", compare=False)

    def config(self, scale: str, seed: int = 1) -> RunConfig:
        """Return the run of this arm at a scale.

        Raises:
            InputError: an unknown scale or system.
        """
        return _config(self, scale, seed)

    def __str__(self) -> str:
        conditions = [self.label] if self.label else [*self.overrides]
        conditions += [f"{self.part:.0%} of the data"] if self.part < 1 else []
        conditions += ["other direction"] if self.reverse else []
        return f"{self.system} ({', '.join(conditions)})" if conditions else self.system


def is_of_the_size(config: RunConfig) -> bool:
    """Whether a run has the width, the vocabulary and the schedule of its corpus's scale, as all arms have, whatever else is varied.

    A trial that is shorter or smaller may lie beside them in the results; how much its seeds matter
    says nothing of theirs.
    """
    size = ("train.", "model.embed_dim=", "model.ffn_dim=", "data.vocab_size=")
    return not any(
        condition.startswith(size) and condition != SMOKE_REVERSE
        for condition in conditions_of(config)
    )


@cache  # claims ask for the same few thousands of times
def _config(arm: Arm, scale: str, seed: int) -> RunConfig:
    direction, overrides = None, []
    if scale in SCALES:
        data, layers, width = (
            SCALES[scale].data,
            SCALES[scale].model.decoder_layers,
            SCALES[scale].model.embed_dim,
        )
        narrow = f", head_dim={width // layers}" if width % layers else ""
        direction = f"{data.target}-{data.source}" if arm.reverse else None
        overrides = [
            override.replace("{layers}", str(layers)).replace("{narrow}", narrow)
            for override in arm.overrides
        ]
        overrides += [SMOKE_REVERSE] if arm.reverse and scale == "smoke" else []
        if arm.part < 1:
            overrides.append(
                f"data.train_pairs={int(arm.part * corpus_statistics(data.corpus, data.source, data.target).train_pairs)}"
            )
    return resolve(scale, arm.system, direction, seed, tuple(overrides))
