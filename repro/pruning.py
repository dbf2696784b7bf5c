r"""Pruning heads: gates on a trained model that may shut, and the smaller model that is left when the shut heads are cut out.

Voita, Talbot, Moiseev, Sennrich, Titov: Analyzing Multi-Head Self-Attention: Specialized Heads Do the Heavy Lifting, the Rest Can Be
Pruned, ACL 2019, section 6. https://arxiv.org/abs/1905.09418

    loss = cross entropy per token + lambda * sum over gated heads of P(g != 0)          (section 6.1; the gates: attention/gates.py)

Paper -> here: lambda -> `penalty`; encoder heads only, decoder frozen (6.2) -> `sites=("encoder_self",)`; all three types of attention
(6.3) -> `sites=SITES`; retained heads -> `kept_heads`; "from scratch" (Table 2) -> `from_scratch_config`. No name there: the same training
without pruning, `continued_config`.

A pruning run is an ordinary run: `pruning_config` names the converged run that it starts from (`train.start_from`), with a new optimiser
and schedule. `save_pruned` cuts the shut heads out of a finished one and keeps the result as a run of its own.

Differs from the paper:
1. Its runs are long. Adam moves a number by about its learning rate an update, so in a short run no gate could get far from where it
   began: gates have a learning rate of their own (`train.gate_rate`; 1 is the paper's).
2. Gates begin open (`gate_init`), so that pruning begins with nearly the model that was trained; the code's begin half shut (None).
3. Tied embeddings are one matrix with the output, so freezing the decoder freezes the source embedding, which the paper trains.
4. From scratch, the heads of Table 2 are masked in the paper and absent here, so first weights are drawn for the smaller matrices.
"""

import copy
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from repro.attention import NO_SUBLAYER, parse_layers
from repro.attention.dot_product import DotProduct
from repro.attention.gates import EPSILON, TEMPERATURE, HardConcrete
from repro.attention.multihead import MultiHeadAttention
from repro.config import SITES, ModelConfig, RunConfig
from repro.decoding import Translator
from repro.errors import InputError, did_you_mean
from repro.files import write_atomic
from repro.runs import Run, load_state, save_tensors
from repro.scales import GATE_INIT, GATE_RATE, trained_on
from repro.transformer import Transformer, count_parameters

GATE_RULES = ("sign", "soft")
UNDECIDED = math.log((1 + EPSILON) / EPSILON)  # the soft gate at test time is exactly 0 or 1 from this |log_alpha| on: 2.398
PLACES = {
    "encoder_self": ("encoder", "self_attention"),
    "decoder_self": ("decoder", "self_attention"),
    "cross": ("decoder", "cross_attention"),
}
"""Where a site's attention stands in a model: the stack and the name in its layers."""


class GateState(NamedTuple):
    """A gate after training: its parameter, P(g = 0), P(g = 1), and what it is at test time. Layer and head are counted from 0."""

    site: str
    layer: int
    head: int
    log_alpha: float
    shut: float
    open: float
    gate: float


def pruning_config(
    base: Run,
    penalty: float,
    sites: Sequence[str] = SITES,
    gate_rule: str = "sign",
    gate_init: float | None = GATE_INIT,
    **train: Any,
) -> RunConfig:
    """Return the configuration of a run that prunes heads of a finished run.

    With the encoder's heads alone, the decoder is frozen (section 6.2); otherwise nothing is (section 6.3). The schedule is half as
    long as that of the base, with a tenth of it as warm-up.

    Args:
        base: a finished run; the pruning run will lie beside it.
        penalty: nats per token for every head that is expected to be open. Which one leaves how many heads open is found by trying:
            `pruning_sweep.sweep`.
        sites: where heads have gates.
        gate_rule: `sign` or `soft`; see `attention/gates.py`. It decides nothing in training but the dev loss.
        gate_init: the first log_alpha; None = drawn as in the authors' code.
        train: further options of `TrainConfig`, such as `max_updates`.

    Raises:
        InputError: a value that no run can use.
    """
    model = replace(base.config.model, gated_sites=tuple(sites), gate_rule=gate_rule, gate_init=gate_init)
    train = {"gate_penalty": penalty, "gate_rate": GATE_RATE} | train
    return trained_on(replace(base.config, model=model), base.path.name, sites, **train)


def continued_config(base: Run, sites: Sequence[str] = SITES) -> RunConfig:
    """Return the configuration of the control of pruning runs: trained on as they are, and as long, with all heads and no gates.

    A base that has not converged gains by training on alone; what pruning costs is the difference to this run.

    Args:
        base: a finished run.
        sites: where the pruning runs have gates; with the encoder's alone, the decoder is frozen here too.
    """
    return trained_on(base.config, base.path.name, sites)


@torch.no_grad()
def gate_table(model: Transformer, rule: str | None = None) -> list[GateState]:
    """Return a row per gate, in the order of sites, layers and heads.

    P(g = 0) and P(g = 1) are the closed forms sigmoid(-a - c) and sigmoid(a - c), a = log_alpha, c = 0.33 log 11 = 0.791.

    Args:
        model: with or without gates.
        rule: of the gates at test time; default: the model's.
    """
    shift = TEMPERATURE * math.log((1 + EPSILON) / EPSILON)
    rows = []
    for site, layers in model.attentions().items():
        for layer, attention in enumerate(layers):
            if attention is not None and attention.gate is not None:
                a = attention.gate.log_alpha.double()
                columns = (a, torch.sigmoid(-a - shift), torch.sigmoid(a - shift), _test_gates(attention, rule))
                values = zip(*(column.tolist() for column in columns), strict=True)
                rows += [GateState(site, layer, head, *row) for head, row in enumerate(values)]
    return rows


def undecided(rows: Sequence[GateState]) -> int:
    """Count the gates that the soft rule leaves between 0 and 1, |log_alpha| < 2.398: on them, the two rules disagree in size."""
    return sum(abs(row.log_alpha) < UNDECIDED for row in rows)


def almost_binary(rows: Sequence[GateState]) -> float:
    """Return the share of gates with P(g = 0) > 0.9 or P(g = 1) > 0.9; the paper observes that nearly all are (section 6.1)."""
    if not rows:
        raise InputError("gates", "this model has none", "give the gates of a model with model.gated_sites")
    return sum(max(row.shut, row.open) > 0.9 for row in rows) / len(rows)


def kept_heads(model: Transformer, rule: str | None = None) -> dict[str, list[list[int]]]:
    """Return by site, for every layer, the heads whose gate is not 0 at test time; without gates, all heads of the layer.

    Args:
        model: with or without gates.
        rule: see `gate_table`.
    """

    def kept(attention: MultiHeadAttention | None) -> list[int]:
        return [] if attention is None else _test_gates(attention, rule).nonzero()[:, 0].tolist()

    return {site: [kept(attention) for attention in layers] for site, layers in model.attentions().items()}


def _test_gates(attention: MultiHeadAttention, rule: str | None) -> Tensor:
    """Return the gates of a layer at test time under a rule (None = its own), `(num_heads,)`; 1 where it has none."""
    if rule not in (None, *GATE_RULES):
        raise InputError("rule", f"unknown rule '{rule}'", did_you_mean(str(rule), GATE_RULES))
    if attention.gate is None:
        return attention.out_proj.weight.new_ones(attention.weights.num_heads)
    judge = HardConcrete(attention.weights.num_heads, rule or attention.gate.rule, init=0.0).eval()
    judge.log_alpha = attention.gate.log_alpha
    return judge().detach()


@torch.no_grad()
def drop_heads(model: Transformer, rule: str | None = None) -> Transformer:
    """Return a smaller model without gates whose output is that of the gated one at test time; the model is left as it is.

    A shut head loses its rows of the query, key and value projections and its columns of the output projection; where a gate is
    neither 0 nor 1 (`soft`), it becomes a factor of those columns. A layer without heads loses the sublayer. The new model's `config`
    says per layer what is left, so that `Transformer(config, ...)` has its shape.

    Args:
        model: with gates.
        rule: see `gate_table`.

    Raises:
        InputError: no gates; shut heads of another variant than dot-product; or a post-norm layer without an open one.
    """
    config = model.config
    if not config.gated_sites:
        raise InputError("model.gated_sites", "this model has no gates to drop heads by", "prune it first; see `pruning_config`")
    smaller, specs = copy.deepcopy(model), {}
    for site in config.gated_sites:
        stack, name = PLACES[site]
        layers = getattr(smaller, stack)
        spec = parse_layers(getattr(config, site), len(layers), f"model.{site}")
        for number, layer in enumerate(layers):
            place = getattr(layer, name)
            if place is None:
                continue
            gates = _test_gates(place.sublayer, rule)
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
                _check_variant(site, layer, model.config, attention.weights)


def _check_variant(site: str, layer: int, config: ModelConfig, weights: nn.Module) -> None:
    if type(weights) is not DotProduct:
        what = f"'{getattr(config, site)}' is not defined for some of its heads alone"
        raise InputError(f"{site} layer {layer}", what, "keep the gated model, or prune dot-product attention")


def _smaller_spec(site: str, layer: int, config: ModelConfig, weights: nn.Module, num_kept: int) -> str:
    """Return the variant that stands for a layer with so many of its heads."""
    where = f"{site} layer {layer}"
    _check_variant(site, layer, config, weights)
    if num_kept == 0 and config.norm == "post":
        what = "keeps no head, but a post-norm layer still normalizes there, which no smaller model does"
        raise InputError(where, what, "keep the gated model, prune with a smaller penalty, or use model.norm=pre")
    return f"dot-product(heads={num_kept}, head_dim={weights.head_dim})" if num_kept else NO_SUBLAYER


def _join(before: str, layers: list[str]) -> str:
    """Write a variant per layer as the option of a site: the first layer's, and the layers that differ."""
    if layers == parse_layers(before, len(layers)):
        return before
    exceptions = [f"{number}: {spec}" for number, spec in enumerate(layers, start=1) if spec != layers[0]]
    return "; ".join([layers[0], *exceptions])


def _cut(attention: MultiHeadAttention, kept: Tensor, gates: Tensor) -> MultiHeadAttention:
    """Return the attention of the kept heads alone, without gates, each times its gate.

    Args:
        attention: of a layer, with all heads.
        kept: indices of heads, rising, `(num_kept,)`.
        gates: their gates, `(num_kept,)`.
    """
    weights, embed_dim = attention.weights, attention.out_proj.out_features
    columns = (kept[:, None] * weights.head_dim + torch.arange(weights.head_dim, device=kept.device)).flatten()
    if len(kept) < weights.num_heads:
        fewer = DotProduct(embed_dim, len(kept), weights.head_dim, weights.dropout)
        fewer.query_proj.weight = nn.Parameter(weights.query_proj.weight[columns])
        fewer.key_proj.weight = nn.Parameter(weights.key_proj.weight[columns])
        weights = fewer
    smaller = MultiHeadAttention(weights, embed_dim)
    smaller.value_proj.weight = nn.Parameter(attention.value_proj.weight[columns])
    factors = gates.to(attention.out_proj.weight.dtype).repeat_interleave(weights.head_dim)
    smaller.out_proj.weight = nn.Parameter(attention.out_proj.weight[:, columns] * factors)
    return smaller.train(attention.training)


def save_pruned(run: Run, rule: str | None = None) -> Run:
    """Cut the shut heads out of the model of a finished pruning run, and keep it as a finished run beside it.

    Its configuration has the smaller model and says by `train.cut_from` where it comes from; it translates and is evaluated as any run.

    Args:
        run: a finished run with gates.
        rule: see `gate_table`.

    Raises:
        InputError: not finished, or see `drop_heads`.
    """
    rule = rule or run.config.model.gate_rule
    smaller = drop_heads(Translator.from_run(run, "cpu").model, rule)
    train = replace(run.config.train, cut_from=run.path.name)
    pruned = Run.create(replace(run.config, model=replace(smaller.config, gate_rule=rule), train=train), run.path.parent)
    with pruned.lock():
        pruned.remove_leftovers()
        if not pruned.is_finished:
            for name in ("subwords.model", "lengths.json", "provenance.json", "metrics.jsonl"):
                write_atomic(pruned.path / name, (run.path / name).read_bytes())
            state = load_state(run.path / "final") | {"parameters": count_parameters(smaller)}
            save_tensors(pruned.path / "final", {"model": {n: p.detach() for n, p in smaller.named_parameters()}}, state)
    return pruned


def from_scratch_config(pruned: Run) -> RunConfig:
    """Return the configuration of a run of the pruned model's shape that begins with random numbers (the controls of Table 2).

    It is trained as the base was, for as many updates as training and pruning had together.

    Args:
        pruned: what `save_pruned` returned.

    Raises:
        InputError: the run was not cut out of another one.
    """
    if pruned.config.train.cut_from is None or pruned.config.train.start_from is None:
        raise InputError(str(pruned.path), "was not pruned from a trained run", "give a run made by `save_pruned`")
    base = Run(pruned.path.parent / pruned.config.train.start_from).config
    as_built = {name: getattr(base.model, name) for name in ("gated_sites", "gate_rule", "gate_init")}
    updates = base.train.max_updates + pruned.config.train.max_updates
    return replace(base, model=replace(pruned.config.model, **as_built), train=replace(base.train, max_updates=updates))
