"""A square for each head of a model: to choose it, to switch it off, to show what is left of it."""

from collections.abc import Sequence

import anywidget
import torch
import traitlets

from repro.config import SITES
from repro.errors import InputError
from repro.transformer import Transformer
from repro.widgets.parts import TITLES, module, style

Factors = list[list[list[float]]]
"""A factor a head by site, in the order of `SITES`, and layer; a layer without attention has none."""


class HeadGrid(anywidget.AnyWidget):
    """A square for each head.

    Traits: `factors` by site, layer and head; `chosen` and `marked` as [site, layer, head]; `mode`: a click can `toggle` a head between
    off and on, or only `choose` it; `show` takes no clicks.
    """

    _esm, _css = module("heads"), style("heads")
    titles = traitlets.List(list(TITLES.values())).tag(sync=True)
    factors = traitlets.List().tag(sync=True)
    chosen = traitlets.List().tag(sync=True)
    marked = traitlets.List().tag(sync=True)
    mode = traitlets.Unicode("toggle").tag(sync=True)


@torch.no_grad()
def factors_at_test_time(model: Transformer) -> Factors:
    """Return what each head of a model is multiplied by at test time: its gate, and the factor laid over it."""

    def factors(attention) -> list[float]:
        if attention is None:
            return []
        found = torch.ones(attention.weights.num_heads)
        for laid in attention.factors():
            found = found * laid.float().cpu()
        return found.tolist()

    return [[factors(attention) for attention in model.attentions()[site]] for site in SITES]


def ones(model: Transformer) -> Factors:
    return [[[1.0] * len(heads) for heads in layers] for layers in factors_at_test_time(model)]


def first_head(model: Transformer) -> list[int]:
    """Return [site, layer, head] of the first head there is."""
    for site, layers in enumerate(factors_at_test_time(model)):
        for layer, heads in enumerate(layers):
            if heads:
                return [site, layer, 0]
    raise InputError("model", "has no attention head", "use a model with attention")


def static_heads(factors: Sequence[Sequence[Sequence[float]]]) -> str:
    """Return the squares of a `HeadGrid` as text: a full one for a head as it is, an empty one for a head that is off."""

    def square(factor: float) -> str:
        return {0.0: "□", 1.0: "■"}.get(float(factor), f"{factor:g}")

    def layer_text(layer: int, heads: Sequence[float]) -> str:
        return f"L{layer} {' '.join(map(square, heads)) or 'no attention'}"

    cells = []
    for title, layers in zip(TITLES.values(), factors, strict=True):
        cells.append(f"<td>{title}<br>{'<br>'.join(layer_text(number, heads) for number, heads in enumerate(layers))}</td>")
    return f"<table><tr>{''.join(cells)}</tr></table>"
