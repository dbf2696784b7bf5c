r"""Ablation: measure what a trained model loses when some of its heads are masked or scaled.

Michel, Levy, Neubig: Are Sixteen Heads Really Better than One?, NeurIPS 2019, sections 2.3 (masks)
and 3.2 (one head at a time). https://arxiv.org/abs/1905.10650

    MHAtt(x, q) = sum_h xi_h Att_h(x, q),    xi_h = 0 masks head h, 1 leaves it alone

Paper -> here: xi -> `factors`, which become `head_scale` of `core/attention/multihead.py`; the BLEU
of Table 1 -> `HeadEffect`, with the first metric of the task: BLEU of translations and replies,
ROUGE-1 of summaries. Layers and heads are counted from 0 (the papers count from 1).

Differs from the paper: a factor may be any number, such as 0.5 for a rescaled head. The p-value is
that of `comparing.paired_bootstrap`. It is valid for one head by itself: among 100 heads that do
nothing, about five have p < 0.05.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor
from tqdm import tqdm

from repro.core.attention.multihead import MultiHeadAttention
from repro.core.config import SITES
from repro.core.decoding import SearchConfig, Translator
from repro.core.transformer import Transformer
from repro.data.corpora import Task
from repro.errors import InputError, check_kind, did_you_mean, shortened
from repro.statistics.comparing import Comparison, paired_bootstrap

HEADS_FIX = "give a list of (site, layer, head), as in [('cross', 0, 1)]"


class Head(NamedTuple):
    """One head of a model; layer and head are counted from 0."""

    site: str
    layer: int
    head: int


class HeadEffect(NamedTuple):
    """Effect of a change to one head on a metric.

    `score` is that of the changed model, `difference` is it minus that of the whole model. `low`,
    `high` (95 % interval) and `p` belong to the difference.
    """

    site: str
    layer: int
    head: int
    metric: str
    score: float
    difference: float
    low: float
    high: float
    p: float | None
    signature: str


@contextmanager
def scaled_heads(
    model: Transformer, factors: Mapping[tuple[str, int], Sequence[float] | Tensor]
) -> Iterator[None]:
    """Multiply the outputs of heads by factors within a block, then restore the former factors.

    Existing factors are multiplied; they are restored after an error too.

    Args:
        model: changed in place.
        factors: one factor per head, `(num_heads,)`, by (site, layer). A tensor may require
            gradients.

    Raises:
        InputError: an unknown site or layer, a wrong number of factors, or a factor that is not
            finite.
    """
    # An 8-bit projection has no weights with a data type and device, so ask the model.
    laid, like = [], next(model.parameters())
    for (site, layer), row in factors.items():
        attention = attention_at(model, site, layer)
        row = torch.as_tensor(row, dtype=like.dtype, device=like.device)
        if row.shape != (attention.weights.num_heads,) or not row.isfinite().all():
            num_heads = attention.weights.num_heads
            what = f"{row.tolist()} is not one finite factor for each of {num_heads} heads"
            raise InputError(
                f"{site} layer {layer}", what, "give 0 to mask a head, 1 to leave it alone"
            )
        # A view, because a Parameter itself would become a parameter of the model.
        laid.append(
            (
                attention,
                row.view_as(row) if attention.head_scale is None else row * attention.head_scale,
            )
        )
    before = [attention.head_scale for attention, _ in laid]
    try:
        for attention, row in laid:
            attention.head_scale = row
        yield
    finally:
        for (attention, _), scale in zip(laid, before, strict=True):
            attention.head_scale = scale


def ablate(
    translator: Translator,
    sources: list[str],
    refs: list[str],
    target: str,
    heads: Iterable[tuple[str, int, int]],
    factor: float = 0.0,
    search: SearchConfig | None = None,
    hyps: list[str] | None = None,
    task: Task = "translation",
) -> list[Comparison]:
    """Translate with some heads scaled, and compare the scores with those of the whole model.

    Args:
        translator: a trained model.
        sources, refs: the test set, detokenised.
        target: language code of the references.
        heads: (site, layer, head) of each, counted from 0, at any site.
        factor: for all these heads; 0 masks them.
        search: options of the search.
        hyps: the outputs of the whole model for `sources` with the same search; by default they
            are translated here.
        task: what `refs` are to `sources`; it decides the metrics, see `metrics.METRICS`.

    Returns:
        A `Comparison` for every metric of the task; the whole model is `first`, the changed one
        `second`.

    Raises:
        InputError: an unknown head, a factor that is not finite, unequal numbers of lines, or an
            unknown task.
    """
    check_kind("translator", translator, "load one, as in repro.load_translator(run)", Translator)
    with scaled_heads(translator.model, _factors_by_layer(translator.model, heads, factor)):
        changed = translator.translate(sources, search)
    hyps = translator.translate(sources, search) if hyps is None else hyps
    return paired_bootstrap(hyps, changed, refs, target, task=task)


def leave_one_out(
    translator: Translator,
    sources: list[str],
    refs: list[str],
    target: str,
    sites: Iterable[str] = SITES,
    factor: float = 0.0,
    search: SearchConfig | None = None,
    quiet: bool = False,
    task: Task = "translation",
) -> list[HeadEffect]:
    """Scale every head of some sites, one at a time, and compare the task's first metric.

    Args:
        translator, sources, refs, target, factor, search, task: see `ablate`.
        sites: which sites; layers without attention are skipped.
        quiet: no progress bar.

    Returns:
        One row per head, in the order of sites, layers and heads.

    Raises:
        InputError: an unknown site or task, or unequal numbers of lines.
    """
    heads = [head for site in sites for head in heads_of(translator.model, site)]
    hyps = translator.translate(sources, search)
    rows = []
    with tqdm(heads, desc="leaving heads out", unit="head", disable=quiet) as bar:
        for head in bar:
            found, *_ = ablate(
                translator, sources, refs, target, [head], factor, search, hyps, task
            )
            effect = (
                found.metric,
                found.second,
                found.difference,
                found.low,
                found.high,
                found.p,
                found.signature,
            )
            rows.append(HeadEffect(head.site, head.layer, head.head, *effect))
    return rows


def heads_of(model: Transformer, site: str) -> list[Head]:
    """Return all heads of a site, first layer first.

    Raises:
        InputError: an unknown site.
    """
    layers = enumerate(_site_layers(model, site))
    return [
        Head(site, i, head)
        for i, found in layers
        if found is not None
        for head in range(found.weights.num_heads)
    ]


def without_in_every_layer(
    heads: Sequence[Head], number: int
) -> dict[tuple[str, int], list[float]]:
    """Return the factors for `scaled_heads` that mask one head number in all layers.

    Raganato et al. 2020 leave out a fixed pattern in this way: it is the same head of every layer
    (Tables 4 and 6).

    Args:
        heads: all heads of these layers.
        number: the head to mask in each of them, counted from 0.
    """
    factors: dict[tuple[str, int], list[float]] = {}
    for head in heads:
        factors.setdefault((head.site, head.layer), []).append(0.0 if head.head == number else 1.0)
    return factors


def attention_at(model: Transformer, site: str, layer: int) -> MultiHeadAttention:
    """Return the attention of a layer, counted from 0.

    Raises:
        InputError: the model has none there.
    """
    layers = _site_layers(model, site)
    if layer not in range(len(layers)):
        raise InputError(
            f"{site} layer {layer}",
            f"the model has {len(layers)} layers there",
            f"use 0 to {len(layers) - 1}",
        )
    attention = layers[layer]
    if attention is None:
        known = (
            ", ".join(str(i) for i, found in enumerate(layers) if found is not None)
            or "none: choose another site"
        )
        raise InputError(
            f"{site} layer {layer}", "this layer has no attention", f"layers with heads are {known}"
        )
    return attention


def attention_with(model: Transformer, site: str, layer: int, head: int) -> MultiHeadAttention:
    """Return the attention that has a head of a layer, both counted from 0.

    Raises:
        InputError: the model has no such head.
    """
    attention = attention_at(model, site, layer)
    num_heads = attention.weights.num_heads
    if head not in range(num_heads):
        raise InputError(
            f"{site} layer {layer} head {head}",
            f"the layer has {num_heads} heads",
            f"use 0 to {num_heads - 1}",
        )
    return attention


def _site_layers(model: Transformer, site: str) -> list[MultiHeadAttention | None]:
    """Return the attention of every layer at a site, and refuse an unknown site."""
    sites = model.attentions()
    if site not in sites:
        raise InputError("site", f"unknown site '{site}'", did_you_mean(site, sites))
    return sites[site]


def _factors_by_layer(
    model: Transformer, heads: Iterable[tuple[str, int, int]], factor: float
) -> dict[tuple[str, int], list[float]]:
    """Return one factor per head by (site, layer): `factor` for the given heads, else 1."""
    if not math.isfinite(factor):
        raise InputError("factor", f"found {factor}", "give a finite number: 0 masks a head")
    factors: dict[tuple[str, int], list[float]] = {}
    check_kind("heads", heads, HEADS_FIX, Iterable)
    for place in heads:
        if not isinstance(place, tuple | list) or len(place) != 3:
            raise InputError("heads", f"found {shortened(repr(place), 60)} for a head", HEADS_FIX)
        site, layer, head = place
        num_heads = attention_with(model, site, layer, head).weights.num_heads
        factors.setdefault((site, layer), [1.0] * num_heads)[head] = factor
    return factors
