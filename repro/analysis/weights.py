"""Collect the attention weights of a model: the matrices that maps, statistics and ablations start from."""

from typing import NamedTuple

import torch
from torch import Tensor

from repro.errors import InputError
from repro.transformer import Transformer


class Weights(NamedTuple):
    """The weights of every layer by site, each `(batch or 1, num_heads, query_len, key_len)`; None where the sublayer is missing."""

    encoder_self: list[Tensor | None]
    decoder_self: list[Tensor | None]
    cross: list[Tensor | None]


@torch.no_grad()
def collect_weights(model: Transformer, src: Tensor, tgt_in: Tensor) -> Weights:
    """Return the weights with which a model reads a batch, from the definition of each variant (not from a faster path).

    Args:
        model: in evaluation mode, else dropout changes the layer inputs.
        src: source ids, `(batch, src_len)`.
        tgt_in: target ids after the start mark, `(batch, tgt_len)`.

    Raises:
        InputError: sources and targets are not of one number.
    """
    if len(src) != len(tgt_in):  # for some numbers the weights would be folded together without a word
        raise InputError("tgt_in", f"has {len(tgt_in)} rows, but src has {len(src)}", "give one target for each source")
    found: dict[int, Tensor] = {}

    def note(module, inputs) -> None:
        query, memory, blocked, positions = inputs
        found[id(module)] = module.weights(query, memory.key, blocked, positions)

    sites = model.attentions()
    hooks = [attention.register_forward_pre_hook(note) for site in sites.values() for attention in site if attention is not None]
    try:
        model(src, tgt_in)
    finally:
        for hook in hooks:
            hook.remove()
    return Weights(**{site: [found.get(id(attention)) for attention in layers] for site, layers in sites.items()})
