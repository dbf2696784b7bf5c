"""Cut pruned heads out of a model, and configure the controls of Voita et al. 2019, Table 2.

https://arxiv.org/abs/1905.09418. `save_pruned` stores the smaller model as a separate run, which
translates and is evaluated like any other.

Differs from the paper: when training from scratch, the paper masks the pruned heads of Table 2.
Here they are absent, so initial weights are drawn for smaller matrices.
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
from repro.core.numbering import layer_name
from repro.core.transformer import Transformer, count_parameters
from repro.errors import InputError
from repro.files import write_atomic, write_json
from repro.pruning.gates import GateRule, gates_at_test_time
from repro.runs.behaviour import behaviour
from repro.runs.checkpoint_folders import remove_leftovers
from repro.runs.models import load_model, tensors_of
from repro.runs.run import Run
from repro.runs.tensors import save_final

ATTENTION_PLACES = {
    "encoder_self": ("encoder", "self_attention"),
    "decoder_self": ("decoder", "self_attention"),
    "cross": ("decoder", "cross_attention"),
}
"""Site -> the stack of layers in a model, and the name of the attention in a layer."""


@torch.no_grad()
def drop_heads(model: Transformer, rule: str | None = None) -> Transformer:
    """Return a copy without gates and shut heads, with the output of the gated model at test time.

    A shut head loses its rows of the query, key and value projections and its columns of the output
    projection. A gate between 0 and 1 (rule `soft`) becomes a factor of those columns. A layer
    without heads loses the sublayer. The `config` of the new model describes each layer, so that
    `Transformer(config, ...)` has its shape.

    Args:
        model: with gates; it is not changed.
        rule: `sign` or `soft`; None = that of the gates.

    Raises:
        InputError: no gates; shut heads of a variant other than dot-product; a post-norm layer
            without an open head; or masked heads.
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
        stack, name = ATTENTION_PLACES[site]
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
                place.sublayer = _keep_heads(place.sublayer, kept, gates[kept])
            else:
                setattr(layer, name, None)
        specs[site] = _join_layer_specs(getattr(config, site), spec)
    smaller.config = replace(config, gated_sites=(), **specs)
    return smaller


def check_prunable(model: Transformer, sites: Sequence[str]) -> None:
    """Refuse sites whose heads cannot be cut out, before time is spent on pruning.

    Raises:
        InputError: a variant other than dot-product.
    """
    for site in sites:
        for layer, attention in enumerate(model.attentions()[site]):
            if attention is not None:
                _check_is_dot_product(
                    site,
                    layer,
                    model.config,
                    attention.weights,
                    "prune a run whose attention is dot-product there",
                )


def _check_is_dot_product(
    site: str, layer: int, config: ModelConfig, weights: nn.Module, fix: str
) -> None:
    """Refuse to drop some heads of another variant than dot-product attention."""
    if type(weights) is not DotProduct:
        what = f"'{getattr(config, site)}' is not defined for some of its heads alone"
        raise InputError(f"{site} {layer_name(layer)}", what, fix)


def _smaller_spec(
    site: str, layer: int, config: ModelConfig, weights: nn.Module, num_kept: int
) -> str:
    """Return the variant of a pruned layer, which keeps some of its heads."""
    where = f"{site} {layer_name(layer)}"
    _check_is_dot_product(site, layer, config, weights, "keep the gated model")
    if num_kept == 0 and config.norm == "post":
        what = (
            "keeps no head, but a post-norm layer still normalizes there, which no smaller model "
            "does"
        )
        raise InputError(
            where, what, "keep the gated model, prune with a smaller penalty, or use model.norm=pre"
        )
    return (
        f"dot-product(heads={num_kept}, head_dim={weights.head_dim})" if num_kept else NO_SUBLAYER
    )


def _join_layer_specs(before: str, layers: list[str]) -> str:
    """Write the variants of a pruned model's layers as the option of a site."""
    if layers == parse_layers(before, len(layers)):
        return before
    exceptions = [
        f"{number}: {spec}" for number, spec in enumerate(layers, start=1) if spec != layers[0]
    ]
    return "; ".join([layers[0], *exceptions])


def _keep_heads(attention: MultiHeadAttention, kept: Tensor, gates: Tensor) -> MultiHeadAttention:
    """Return an attention with the kept heads only, each multiplied by its gate.

    Args:
        attention: of a layer, with all heads.
        kept: indices of heads, ascending, `(num_kept,)`.
        gates: their gates, `(num_kept,)`.
    """
    weights, embed_dim = attention.weights, attention.out_proj.out_features
    columns = (
        kept[:, None] * weights.head_dim + torch.arange(weights.head_dim, device=kept.device)
    ).flatten()
    if len(kept) < weights.num_heads:
        assert isinstance(weights, DotProduct)  # checked by `_check_is_dot_product`
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
    """Cut the shut heads out of a finished pruning run, and store the result as a run beside it.

    The new run is finished. Its configuration has the smaller model and names its origin in
    `train.cut_from`. It translates and is evaluated like any run.

    Args:
        run: a finished run with gates.
        rule: `sign` or `soft`; None = that of the run.

    Raises:
        InputError: the run is not finished, or see `drop_heads`.
    """
    rule = rule or run.config.model.gate_rule
    smaller = drop_heads(load_model(run), rule)
    train = replace(run.config.train, cut_from=run.path.name)
    pruned = Run.create(
        replace(run.config, model=replace(smaller.config, gate_rule=rule), train=train),
        run.path.parent,
    )
    with pruned.lock():
        remove_leftovers(pruned.path)
        if not pruned.is_finished:
            for source in [run.subwords_path, run.lengths_path, run.metrics_path]:
                if source.exists():  # older runs have no lengths
                    write_atomic(pruned.path / source.name, source.read_bytes())
            # The smaller model computes something different, so it needs its own fingerprint.
            write_json(
                pruned.provenance_path, run.provenance() | {"behaviour": behaviour(pruned.config)}
            )
            state = run.state() | {"parameters": count_parameters(smaller)}
            save_final(pruned, tensors_of(smaller), state)
    return pruned


def from_scratch_config(pruned: Run) -> RunConfig:
    """Return the configuration of a run of the pruned model's shape, trained from scratch.

    This is the control of Table 2. It has the options of the base, and as many updates as training
    and pruning together. For a model that was pruned and cut several times, the base is the first
    run.

    Args:
        pruned: returned by `save_pruned`.

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
