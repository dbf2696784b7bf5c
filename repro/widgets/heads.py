"""Draw a square for each head of a model: how much of it is left."""

from collections.abc import Sequence

import anywidget
import torch
import traitlets

from repro.core.config import SITES
from repro.core.numbering import FIRST
from repro.core.transformer import Transformer
from repro.widgets.parts import TITLES, module, style
from repro.widgets.stills import LEFT

Factors = list[list[list[float]]]
"""A factor per head, by site in the order of `SITES` and by layer; a layer may have none."""


class HeadGrid(anywidget.AnyWidget):
    """Draw a square for each head, by its factor: `factors` by site, layer and head."""

    _esm, _css = module("heads"), style("heads")
    titles = traitlets.List(list(TITLES.values())).tag(sync=True)
    factors = traitlets.List().tag(sync=True)


@torch.no_grad()
def factors_at_test_time(model: Transformer) -> Factors:
    """Return the factor of each head at test time: its gate times the factor put on it."""

    def factors(attention) -> list[float]:
        if attention is None:
            return []
        found = torch.ones(attention.weights.num_heads)
        for laid in attention.factors():
            found = found * laid.float().cpu()
        return found.tolist()

    return [[factors(attention) for attention in model.attentions()[site]] for site in SITES]


def static_heads(factors: Sequence[Sequence[Sequence[float]]]) -> str:
    """Return the squares of a `HeadGrid` as text: full for an unchanged head, empty for one off."""

    def square(factor: float) -> str:
        return {0.0: "□", 1.0: "■"}.get(float(factor), f"{factor:g}")

    def layer_text(layer: int, heads: Sequence[float]) -> str:
        return f"L{layer + FIRST} {' '.join(map(square, heads)) or 'no attention'}"

    cells = []
    for title, layers in zip(TITLES.values(), factors, strict=True):
        lines = "<br>".join(layer_text(number, heads) for number, heads in enumerate(layers))
        cells.append(f"<td {LEFT}>{title}<br>{lines}</td>")
    return f"<table><tr>{''.join(cells)}</tr></table>"
