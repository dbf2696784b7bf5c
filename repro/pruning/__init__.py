"""Prune heads by L0 gates, and build the smaller model (Voita et al. 2019, section 6).

    settings    pruning_config, continued_config, GATE_RATE
    gates       gate_table, count_undecided_gates, almost_binary_share, UNDECIDED_BELOW, kept_heads

Each name is imported when it is first used.
"""

from typing import TYPE_CHECKING

from repro.lazy import attach

if TYPE_CHECKING:
    from repro.presets import GATE_RATE
    from repro.pruning.gates import (
        UNDECIDED_BELOW,
        almost_binary_share,
        continued_config,
        count_undecided_gates,
        gate_table,
        kept_heads,
        pruning_config,
    )

__getattr__, __dir__, __all__ = attach(__name__, __file__)
