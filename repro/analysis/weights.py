"""Return attention weights as matrices: of a variant by itself, or of a model on a batch."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from repro.core.attention.base import Positions
from repro.core.attention.masks import causal_mask
from repro.core.attention.spec import build_weights
from repro.core.transformer import Transformer
from repro.errors import InputError, check_kind

WIDTH = 840  # per head; divisible by 1 to 8, the numbers of heads that a variant may choose


@torch.no_grad()
def weights(
    spec: str,
    length: int = 0,
    site: str = "encoder_self",
    *,
    key_len: int | None = None,
    num_heads: int = 4,
    layer: int = 1,
    words: Sequence[int] | None = None,
    blocked: Tensor | None = None,
) -> Tensor:
    """Return the weights of a variant for sentences of one length, without a model.

    Only variants that ignore the words have such weights. Parameters of an untrained variant
    (`recurrent`, `synthesizer`) are drawn from torch's generator. The future is blocked in
    `decoder_self`.

    >>> weights("gaussian(std=0.5)", length=7).shape
    torch.Size([4, 7, 7])

    Args:
        spec: a variant with its options, such as `gaussian(std=0.5)`.
        length: number of query tokens; by default as many as `words`.
        site: `encoder_self`, `decoder_self` or `cross`.
        key_len: number of key tokens, if it differs from `length`; in `cross` only.
        num_heads: of the layer; a variant may have its own number.
        layer: number of the layer, from 1; only `recurrent` depends on it.
        words: the index of the word of each key, as in `[0, 1, 1, 2]`; for patterns over words.
        blocked: bool, `(key_len,)` or `(length, key_len)`, True = may not attend, in addition.

    Returns:
        `(num_heads, length, key_len)`.

    Raises:
        InputError: an unknown variant, site or option; or a variant that depends on the words.
    """
    length = length or len(words or ())
    key_len = length if key_len is None else key_len
    for where, number in {
        "length": length,
        "key_len": key_len,
        "num_heads": num_heads,
        "layer": layer,
    }.items():
        check_kind(where, number, "give a whole number", int)
        if number < 1:
            raise InputError(where, f"must be at least 1, found {number}", "use 1 or more")
    if key_len != length and site != "cross":
        raise InputError("key_len", f"is {key_len}, but {site} has {length} keys", "leave it out")
    if words is not None and len(words) != key_len:
        raise InputError("words", f"has {len(words)} entries for {key_len} keys", "give one a key")
    if blocked is not None and blocked.shape not in {(key_len,), (length, key_len)}:
        what = f"has shape {tuple(blocked.shape)}, for {length} queries and {key_len} keys"
        raise InputError("blocked", what, "give (key_len,) or (length, key_len)")
    width = WIDTH * num_heads
    module = build_weights(spec, site, layer, width, num_heads)[-1]
    query, key = torch.zeros(1, length, width), torch.zeros(1, key_len, width)
    if module is None or module.project_key(key, torch.arange(key_len)) is not None:
        what = "has no attention" if module is None else "has heads that look at the words"
        fix = (
            "leave these out, as in fixed(learned=0, heads=7), or use "
            "repro.analysis.collect_weights"
        )
        raise InputError(f"layer {layer} of '{spec}'", what, fix if module else "name a variant")
    hidden = causal_mask(torch.arange(length), key_len)
    hidden = hidden if site == "decoder_self" else torch.zeros_like(hidden)
    hidden = hidden if blocked is None else hidden | blocked
    of_keys = None if words is None else torch.tensor([list(words)])
    return module(query, None, hidden, Positions(torch.arange(length), of_keys))[0]


class Weights(NamedTuple):
    """The weights of every layer by site, each `(batch or 1, num_heads, query_len, key_len)`.

    None where the sublayer is missing.
    """

    encoder_self: list[Tensor | None]
    decoder_self: list[Tensor | None]
    cross: list[Tensor | None]


@torch.no_grad()
def collect_weights(model: Transformer, src: Tensor, tgt_in: Tensor) -> Weights:
    """Return the attention weights of a model on a batch, by the definition of each variant.

    Faster implementations are not used.

    Args:
        model: in evaluation mode, else dropout changes the layer inputs.
        src: source ids, `(batch, src_len)`.
        tgt_in: target ids after the start mark, `(batch, tgt_len)`.

    Raises:
        InputError: unequal numbers of sources and targets.
    """
    # For some numbers, the weights would be reshaped without an error.
    if len(src) != len(tgt_in):
        raise InputError(
            "tgt_in",
            f"has {len(tgt_in)} rows, but src has {len(src)}",
            "give one target for each source",
        )
    found: dict[int, Tensor] = {}

    def note(module, inputs) -> None:
        query, memory, blocked, positions = inputs
        found[id(module)] = module.weights(query, memory.key, blocked, positions)

    sites = model.attentions()
    hooks = [
        attention.register_forward_pre_hook(note)
        for site in sites.values()
        for attention in site
        if attention is not None
    ]
    try:
        model(src, tgt_in)
    finally:
        for hook in hooks:
            hook.remove()
    return Weights(
        **{
            site: [found.get(id(attention)) for attention in layers]
            for site, layers in sites.items()
        }
    )
