r"""Configure runs that prune heads of a trained model by gates, and read the gates after training.

`cutting.py` makes the smaller model without the shut heads.

Voita, Talbot, Moiseev, Sennrich, Titov: Analyzing Multi-Head Self-Attention: Specialized Heads Do
the Heavy Lifting, the Rest Can Be Pruned, ACL 2019, section 6. https://arxiv.org/abs/1905.09418

    loss = cross entropy per token + lambda * sum over gated heads of P(g != 0)

(section 6.1; for the gates see `core/attention/gates.py`)

Paper -> here: lambda -> `penalty`; encoder heads only, decoder frozen (6.2) ->
`sites=("encoder_self",)`; all three types of attention (6.3) -> `sites=SITES`; retained heads ->
`kept_heads`; "from scratch" (Table 2) -> `cutting.from_scratch_config`. The paper has no name for
the same training without pruning, `continued_config`.

A pruning run is an ordinary run with a new optimiser and schedule. `pruning_config` names the
converged run that it starts from (`train.start_from`).

Differs from the paper:
1. The paper's runs are long. Adam moves a number by about its learning rate per update, so in a
   short run gates could not move far. Here gates have their own learning rate (`train.gate_rate`; 1
   is the paper's).
2. Gates begin open (`gate_init`), so that pruning begins with nearly the trained model; in the
   authors' code they begin half shut (None).
3. Tied embeddings share one matrix with the output, so freezing the decoder also freezes the source
   embedding, which the paper trains.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

from repro.core.attention.gates import EPSILON, TEMPERATURE, HardConcrete
from repro.core.attention.multihead import MultiHeadAttention
from repro.core.config import SITES, ModelConfig, RunConfig, TrainConfig
from repro.core.transformer import Transformer
from repro.errors import InputError, did_you_mean
from repro.presets import GATE_INIT, GATE_RATE, trained_on
from repro.runs.run import Run

GateRule = Literal["sign", "soft"]
GATE_RULES: tuple[GateRule, ...] = ("sign", "soft")
# From this |log_alpha| on (2.398), the soft gate at test time is exactly 0 or 1.
UNDECIDED_BELOW = math.log((1 + EPSILON) / EPSILON)


class GateState(NamedTuple):
    """A gate after training: its parameter, P(g = 0), P(g = 1), and its value at test time.

    Layer and head are counted from 0.
    """

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
    gate_rule: GateRule = "sign",
    gate_init: float | None = GATE_INIT,
    **train: Any,
) -> RunConfig:
    """Return the configuration of a run that prunes heads of a finished run.

    If only the encoder's heads have gates, the decoder is frozen (section 6.2); otherwise nothing
    is (section 6.3). The schedule is half as long as that of the base; a tenth of it is warm-up.

    Args:
        base: a finished run; the pruning run will be stored beside it.
        penalty: nats per token for every head that is expected to be open. A sweep over penalties,
            `measures.pruning.sweep`, finds one for a number of open heads.
        sites: sites whose heads have gates.
        gate_rule: `sign` or `soft`; see `core/attention/gates.py`. In training, it affects only
            the dev loss.
        gate_init: the initial log_alpha; None = drawn as in the authors' code.
        train: further options of `TrainConfig`, such as `max_updates`.

    Raises:
        InputError: an invalid value.
    """
    model = replace(
        base.config.model, gated_sites=tuple(sites), gate_rule=gate_rule, gate_init=gate_init
    )
    train = {"gate_penalty": penalty, "gate_rate": GATE_RATE} | train
    return trained_on(replace(base.config, model=model), base.path.name, sites, **train)


def continued_config(base: Run, sites: Sequence[str] = SITES) -> RunConfig:
    """Return the configuration of the control of pruning runs: the same training without gates.

    A base that has not converged improves by further training alone. So the cost of pruning is the
    difference from this run.

    Args:
        base: a finished run without gates; a run that was cut out has none.
        sites: sites with gates in the pruning runs; for the encoder alone, the decoder is frozen
            here too.

    Raises:
        InputError: the run has gates, which would shut further heads; or an unknown site, for
            which nothing would be frozen.
    """
    if unknown := [site for site in sites if site not in SITES]:
        raise InputError("sites", f"unknown site '{unknown[0]}'", did_you_mean(unknown[0], SITES))
    if base.config.model.gated_sites:
        raise InputError(
            base.path.name,
            "has gates, which would go on shutting heads",
            "give the run that `save_pruned` cuts out of it",
        )
    without = {name: getattr(ModelConfig, name) for name in ("gate_rule", "gate_init")}
    train = {name: getattr(TrainConfig, name) for name in ("gate_penalty", "gate_rate")}
    return trained_on(
        replace(base.config, model=replace(base.config.model, **without)),
        base.path.name,
        sites,
        **train,
    )


@torch.no_grad()
def gate_table(model: Transformer) -> list[GateState]:
    """Return one row per gate, in the order of sites, layers and heads.

    P(g = 0) and P(g = 1) are the closed forms sigmoid(-a - c) and sigmoid(a - c), with a =
    log_alpha and c = 0.33 log 11 = 0.791.

    Args:
        model: with or without gates.
    """
    shift = TEMPERATURE * math.log((1 + EPSILON) / EPSILON)
    rows = []
    for site, layers in model.attentions().items():
        for layer, attention in enumerate(layers):
            if attention is not None and attention.gate is not None:
                a = attention.gate.log_alpha.double()
                columns = (
                    a,
                    torch.sigmoid(-a - shift),
                    torch.sigmoid(a - shift),
                    gates_at_test_time(attention, None),
                )
                values = zip(*(column.tolist() for column in columns), strict=True)
                rows += [GateState(site, layer, head, *row) for head, row in enumerate(values)]
    return rows


def count_undecided_gates(rows: Sequence[GateState]) -> int:
    """Count the gates that the soft rule leaves between 0 and 1, with |log_alpha| < 2.398.

    On these gates, the two rules give different values.
    """
    return sum(abs(row.log_alpha) < UNDECIDED_BELOW for row in rows)


def almost_binary_share(rows: Sequence[GateState]) -> float:
    """Return the share of gates with P(g = 0) > 0.9 or P(g = 1) > 0.9.

    The paper observes that nearly all gates are of this kind (section 6.1).
    """
    if not rows:
        raise InputError(
            "gates", "this model has none", "give the gates of a model with model.gated_sites"
        )
    return sum(max(row.shut, row.open) > 0.9 for row in rows) / len(rows)


def kept_heads(model: Transformer, rule: str | None = None) -> dict[str, list[list[int]]]:
    """Return the heads whose gate is not 0 at test time, by site and layer.

    In a layer without gates, these are all heads.

    Args:
        model: with or without gates.
        rule: `sign` or `soft`; None = that of the gates.
    """

    def kept(attention: MultiHeadAttention | None) -> list[int]:
        return (
            []
            if attention is None
            else gates_at_test_time(attention, rule).nonzero()[:, 0].tolist()
        )

    return {
        site: [kept(attention) for attention in layers]
        for site, layers in model.attentions().items()
    }


def gates_at_test_time(attention: MultiHeadAttention, rule: str | None) -> Tensor:
    """Return the gates of a layer at test time, `(num_heads,)`; 1 for a layer without gates.

    Args:
        attention: of the layer.
        rule: `sign` or `soft`; None = that of the gates.
    """
    if rule not in (None, *GATE_RULES):
        raise InputError("rule", f"unknown rule '{rule}'", did_you_mean(str(rule), GATE_RULES))
    if attention.gate is None:
        return attention.out_proj.weight.new_ones(attention.weights.num_heads)
    judge = HardConcrete(attention.weights.num_heads, rule or attention.gate.rule, init=0.0).eval()
    judge.log_alpha = attention.gate.log_alpha
    return judge().detach()
