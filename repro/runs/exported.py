"""What other programs hold of the models that are trained here."""

from collections.abc import Mapping
from typing import Any

from repro.core.settings import NO_SUBLAYER, SITES, ModelConfig
from repro.errors import InputError

LONGEST = 1024  # tokens of a sentence, for the table of positions
PLAIN = "dot-product"


def check_fits(config: ModelConfig, where: str, program: str, more: Mapping[str, Any]) -> None:
    """Refuse a model that another program cannot hold.

    Args:
        config: of the model.
        where: the run, for the message.
        program: its name.
        more: settings that it needs, apart from those that every program needs.

    Raises:
        InputError: it names the setting.
    """
    wanted: dict[str, Any] = dict.fromkeys(SITES, PLAIN)
    wanted |= {"gated_sites": (), "feed_forward": True}
    wanted |= {"encoder_positions": True, "decoder_positions": True}
    for name, value in {**wanted, **more}.items():
        if (found := getattr(config, name)) != value:
            what = f"has model.{name}={found}, and {program} holds {value} alone"
            fix = f"export a run with model.{name}={value}, such as base"
            if found == NO_SUBLAYER:
                fix = "keep attention at every site"
            raise InputError(where, what, fix)
