"""The smaller model that is left when the heads that pruning has shut are cut out, and the controls of Voita et al. 2019, Table 2.

https://arxiv.org/abs/1905.09418. `save_pruned` keeps the smaller model as a run of its own, which
translates and is evaluated as any other.

Differs from the paper: from scratch, the heads of Table 2 are masked there and absent here, so
    first weights are drawn for the smaller
matrices.
"""

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from repro.core.attention.dot_product import DotProduct
from repro.core.attention.multihead import MultiHeadAttention
from repro.core.attention.spec import parse_layers
from repro.core.config import NO_SUBLAYER, ModelConfig, RunConfig
from repro.core.transformer import Transformer, count_parameters
from repro.errors import InputError
from repro.files import write_atomic, write_json
from repro.pruning.gates import GateRule, gates_at_test_time
from repro.runs.behaviour import behaviour
from repro.runs.models import load_model, tensors_of
from repro.runs.run import Run
from repro.runs.tensors import save_final

PLACES = {
    "encoder_self": ("encoder", "self_attention"),
    "decoder_self": ("decoder", "self_attention"),
    "cross": ("decoder", "cross_attention"),
}
"""Where a site's attention stands in a model: the stack and the name in its layers."""


@torch.no_grad()
def drop_heads(model: Transformer, rule: str | None = None) -> Transformer:
    """Return a smaller model without gates whose output is that of the gated one at test time; the model is left as it is.

    A shut head loses its rows of the query, key and value projections and its columns of the output
    projection; where a gate is neither 0 nor 1 (`soft`), it becomes a factor of those columns. A
    layer without heads loses the sublayer. The new model's `config` says per layer what is left, so
    that `Transformer(config, ...)` has its shape.

    Args:
        model: with gates.
        rule: see `pruning.gate_table`.

    Raises:
        InputError: no gates; shut heads of another variant than dot-product; a post-norm layer
            without an open one; or heads are masked.
    """
    config = model.config
    if not config.gated_sites:
        raise InputError(
            "model.gated_sites",
            "this model has no gates to drop heads by",
            "prune it first; see `repro prune`",
        )
    if any(
        attention is not None and attention.head_scale is not None
        for layers in model.attentions().values()
        for attention in layers
    ):
        raise InputError(
            "model", "has heads that are masked for a while", "cut it outside of `scaled_heads`"
        )
    smaller = copy.deepcopy(model)
    specs: dict[str, Any] = {}
    for site in config.gated_sites:
        stack, name = PLACES[site]
        layers = getattr(smaller, stack)
        spec = parse_layers(getattr(config, site), len(layers), f"model.{site}")
        for number, layer in enumerate(layers):
            place = getattr(layer, name)
            if place is None:
                continue
            gates = gates_at_test_time(place.sublayer, rule)
            kept, weights = gates.nonzero()[:, 0], place.sublayer.weights
            if len(kept) < weights.num_heads:
                spec[number] = _smaller_spec(site, number, config, weights, len(kept))
            if len(kept):
                place.sublayer = _cut(place.sublayer, kept, gates[kept])
            else:
                setattr(layer, name, None)
        specs[site] = _join(getattr(config, site), spec)
    smaller.config = replace(config, gated_sites=(), **specs)
    return smaller


def check_prunable(model: Transformer, sites: Sequence[str]) -> None:
    """Refuse sites whose heads no smaller model could go without, before the time for pruning is spent.

    Raises:
        InputError: another variant than dot-product.
    """
    for site in sites:
        for layer, attention in enumerate(model.attentions()[site]):
            if attention is not None:
                _check_variant(
                    site,
                    layer,
                    model.config,
                    attention.weights,
                    "prune a run whose attention is dot-product there",
                )


def _check_variant(
    site: str, layer: int, config: ModelConfig, weights: nn.Module, mend: str
) -> None:
    if type(weights) is not DotProduct:
        what = f"'{getattr(config, site)}' is not defined for some of its heads alone"
        raise InputError(f"{site} layer {layer}", what, mend)


def _smaller_spec(
    site: str, layer: int, config: ModelConfig, weights: nn.Module, num_kept: int
) -> str:
    """Return the variant that stands for a layer with so many of its heads."""
    where = f"{site} layer {layer}"
    _check_variant(site, layer, config, weights, "keep the gated model")
    if num_kept == 0 and config.norm == "post":
        what = "keeps no head, but a post-norm layer still normalizes there, which no smaller model does"
        raise InputError(
            where, what, "keep the gated model, prune with a smaller penalty, or use model.norm=pre"
        )
    return (
        f"dot-product(heads={num_kept}, head_dim={weights.head_dim})" if num_kept else NO_SUBLAYER
    )


def _join(before: str, layers: list[str]) -> str:
    """Write a variant per layer as the option of a site: the first layer's, and the layers that differ."""
    if layers == parse_layers(before, len(layers)):
        return before
    exceptions = [
        f"{number}: {spec}" for number, spec in enumerate(layers, start=1) if spec != layers[0]
    ]
    return "; ".join([layers[0], *exceptions])


def _cut(attention: MultiHeadAttention, kept: Tensor, gates: Tensor) -> MultiHeadAttention:
    """Return the attention of the kept heads alone, without gates, each times its gate.

    Args:
        attention: of a layer, with all heads.
        kept: indices of heads, rising, `(num_kept,)`.
        gates: their gates, `(num_kept,)`.
    """
    weights, embed_dim = attention.weights, attention.out_proj.out_features
    columns = (
        kept[:, None] * weights.head_dim + torch.arange(weights.head_dim, device=kept.device)
    ).flatten()
    if len(kept) < weights.num_heads:
        assert isinstance(weights, DotProduct)  # as `_check_variant` has found
        fewer = DotProduct(embed_dim, len(kept), weights.head_dim, weights.dropout)
        fewer.query_proj.weight = nn.Parameter(weights.query_proj.weight[columns])
        fewer.key_proj.weight = nn.Parameter(weights.key_proj.weight[columns])
        weights = fewer
    smaller = MultiHeadAttention(weights, embed_dim)
    smaller.value_proj.weight = nn.Parameter(attention.value_proj.weight[columns])
    factors = gates.to(attention.out_proj.weight.dtype).repeat_interleave(weights.head_dim)
    smaller.out_proj.weight = nn.Parameter(attention.out_proj.weight[:, columns] * factors)
    return smaller.train(attention.training)


def save_pruned(run: Run, rule: GateRule | None = None) -> Run:
    """Cut the shut heads out of the model of a finished pruning run, and keep it as a finished run beside it.

    Its configuration has the smaller model and says by `train.cut_from` where it comes from; it
    translates and is evaluated as any run.

    Args:
        run: a finished run with gates.
        rule: see `pruning.gate_table`.

    Raises:
        InputError: not finished, or see `drop_heads`.
    """
    rule = rule or run.config.model.gate_rule
    smaller = drop_heads(load_model(run), rule)
    train = replace(run.config.train, cut_from=run.path.name)
    pruned = Run.create(
        replace(run.config, model=replace(smaller.config, gate_rule=rule), train=train),
        run.path.parent,
    )
    with pruned.lock():
        pruned.remove_leftovers()
        if not pruned.is_finished:
            for source in [run.subwords_path, run.lengths_path, run.metrics_path]:
                if source.exists():  # older runs have no lengths
                    write_atomic(pruned.path / source.name, source.read_bytes())
            # The smaller model computes something else than the one that it was cut out of.
            write_json(
                pruned.provenance_path, run.provenance() | {"behaviour": behaviour(pruned.config)}
            )
            state = run.state() | {"parameters": count_parameters(smaller)}
            save_final(pruned, tensors_of(smaller), state)
    return pruned


def from_scratch_config(pruned: Run) -> RunConfig:
    """Return the configuration of a run of the pruned model's shape that begins with random numbers (the controls of Table 2).

    It is trained as the base was, for as many updates as training and pruning had together; a model
    that was pruned, cut, and pruned again has a base at the other end of all that.

    Args:
        pruned: what `save_pruned` returned.

    Raises:
        InputError: the run was not cut out of another one.
    """
    if pruned.config.train.cut_from is None or pruned.config.train.start_from is None:
        raise InputError(
            str(pruned.path),
            "was not pruned from a trained run",
            "give a run made by `save_pruned`",
        )
    base, updates = pruned.config, pruned.config.train.max_updates
    while base.train.start_from is not None:
        base = Run(pruned.path.parent / base.train.start_from).config
        updates += base.train.max_updates
    as_built = {
        name: getattr(base.model, name) for name in ("gated_sites", "gate_rule", "gate_init")
    }
    return replace(
        base,
        model=replace(pruned.config.model, **as_built),
        train=replace(base.train, max_updates=updates),
    )
