"""Describe by a few numbers what a model and its training compute.

If the numbers change, the code computes something else. The text of the code cannot say that: an
annotation changes a file and no result, a bias in a shared projection changes every result. So
fixed parameters meet fixed text, in double precision on the CPU, and the numbers are compared with
a tolerance. Other machines and versions of torch round differently and still agree.

The probes here determine stored numbers: after a change of a probe, all of them look changed.

Not seen: dropout, bf16, and search. A stored mean over masks would depend on how a machine draws
them.
"""

import math
import zlib
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from repro.core.batches import Batch, EncodedPairs
from repro.core.config import ModelConfig, RunConfig, TrainConfig
from repro.core.optimizer import make_optimizer
from repro.core.settings import READERS
from repro.core.subwords import PAD_ID
from repro.core.training import apply_update, batch_loss, learning_rate
from repro.core.transformer import Transformer

Behaviour = dict[str, list[float]]

WORDS = {
    "initial": "other first parameters",
    "output": "other scores of the next token",
    "loss": "another loss",
    "gradient": "another gradient",
    "order": "another order of the training pairs",
    "rate": "other learning rates",
    "update": "another update",
}
TOLERANCE = {"update": 1e-4}  # Adam divides small gradients, and their rounding, by their size
USUAL_TOLERANCE = 1e-6  # relative; some parts round to single precision
VOCAB = 41
LONG = 67  # tokens; beyond the usual borders of blocks and windows
SHORT = ([[5, 9, 12, 7, 30], [8, 8, 3]], [[4, 11, 6], [17, 20, 21, 9]])  # padded on both sides
TINY = ModelConfig(
    embed_dim=8,
    ffn_dim=16,
    num_heads=2,
    encoder_layers=1,
    decoder_layers=1,
    dropout=0.0,
    gated_sites=("encoder_self",),
)


def behaviour(config: RunConfig) -> Behaviour:
    """Return the numbers of a run's model and of its training."""
    return of_model(config.model) | of_training(config.train)


def of_model(config: ModelConfig) -> Behaviour:
    """Return the numbers by which runs are known to compute the same, for a model.

    Returns:
        `initial`: of the parameters as they are drawn. `output`: of the scores of the next token.
        `loss`: smoothed, and plain, per token. `gradient`: of the loss and the penalty on gates.
        For all but the first, parameters are a function of their names.
    """
    with torch.random.fork_rng(devices=[]), torch.inference_mode(False), torch.enable_grad():
        torch.manual_seed(0)
        model = _probed_model(config)
        drawn = _numbers_of(
            [value for _, value in sorted(model.state_dict().items()) if value.is_floating_point()]
        )
        _set_parameters(model)
        batches = _probe_batches(model)
        with torch.no_grad():
            output = _numbers_of([model.eval()(batch.src, batch.tgt_in) for batch in batches])
        torch.manual_seed(0)  # gates are drawn
        losses = [
            batch_loss(model.train(), batch, TrainConfig(label_smoothing=0.1)) for batch in batches
        ]
        per_token = [part.item() / tokens for loss, nll, tokens in losses for part in (loss, nll)]
        total = (
            torch.stack([loss / tokens for loss, _, tokens in losses]).sum()
            + 0.1 * model.gate_penalty()
        )
        total.backward()
        gradients = [
            parameter.grad
            for _, parameter in sorted(model.named_parameters())
            if parameter.grad is not None
        ]
        return {
            "initial": drawn,
            "output": output,
            "loss": _rounded(per_token),
            "gradient": _numbers_of(gradients),
        }


def output_of(config: ModelConfig) -> Behaviour:
    """Return the `output` of `of_model` alone; trained models are read and scored by it."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        model = _probed_model(config).eval()
        _set_parameters(model)
        return {
            "output": _numbers_of(
                [model(batch.src, batch.tgt_in) for batch in _probe_batches(model)]
            )
        }


def of_training(config: TrainConfig) -> Behaviour:
    """Return numbers that change when the training loop computes something else.

    Returns:
        `order`: of pairs in two epochs. `rate`: at five updates. `update`: the change of a tiny
        model by two updates, divided by the rate.
    """
    config = replace(config, precision="fp32")
    lengths = [[4] * (1 + 7 * i % 11) for i in range(23)]
    pairs = EncodedPairs(lengths, lengths, True)
    order = torch.tensor(
        [i for epoch in (0, 1) for batch in pairs.epoch(40, 1, epoch) for i in batch]
    )
    end, warmup = config.max_updates, min(config.warmup, config.max_updates)
    rates = [
        learning_rate(update, config)
        for update in (1, warmup, min(warmup + 1, end), (warmup + end + 1) // 2, end)
    ]
    with torch.random.fork_rng(devices=[]), torch.inference_mode(False), torch.enable_grad():
        torch.manual_seed(0)
        model = _probed_model(TINY)
        _set_parameters(model)
        before = [parameter.detach().clone() for _, parameter in sorted(model.named_parameters())]
        optimizer = make_optimizer(model, config)
        for batch in _probe_batches(model):
            apply_update(model, optimizer, batch, 1e-3, config)
        after = [parameter.detach() for _, parameter in sorted(model.named_parameters())]
    moved = [(new - old) / 1e-3 for new, old in zip(after, before, strict=True)]
    return {"order": _numbers_of([order]), "rate": _rounded(rates), "update": _numbers_of(moved)}


def changes(noted: Behaviour, found: Behaviour) -> list[str]:
    """Say which numbers of a run's behaviour differ."""
    return [
        WORDS.get(name, name)
        for name in found
        if name in noted and _numbers_differ(noted[name], found[name], name)
    ]


def _numbers_differ(noted: list[float], found: list[float], name: str) -> bool:
    """Return whether two lists of a run's behaviour differ by more than the tolerance."""
    try:
        largest = max(map(abs, [*noted, *found]), default=0.0)
        apart = [abs(a - b) for a, b in zip(noted, found, strict=True)]
    except (TypeError, ValueError):  # numbers that are missing, or were edited
        return noted != found
    return any(not distance <= TOLERANCE.get(name, USUAL_TOLERANCE) * largest for distance in apart)


def _probed_model(config: ModelConfig) -> Transformer:
    """Build the untrained model that shows a run's behaviour, in float64, without dropout."""
    config = replace(config, dropout=0.0, attention_dropout=0.0)
    starts_word = [i % 3 != 0 for i in range(VOCAB)]
    return Transformer(config, VOCAB, PAD_ID, starts_word, length_ratio=1.25).double()


def _set_parameters(model: nn.Module) -> None:
    """Set the parameters that show a run's behaviour by their names."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            width = parameter.shape[-1] if parameter.dim() > 1 else 3
            values = _spread_numbers(parameter.numel(), zlib.crc32(name.encode())) * math.sqrt(
                3 / width
            )
            parameter.copy_(values.view_as(parameter))


def _spread_numbers(count: int, start: int) -> Tensor:
    """Return numbers from -1 to 1 in no order, made from whole numbers: equal on every machine."""
    k = torch.arange(count, dtype=torch.int64)
    return ((k * k * 40_503 + k * 1_103_515_245 + start) & 0x7FFFFFFF).double() / 2**30 - 1


def _probe_batches(model: Transformer) -> list[Batch]:
    """Return the batches that show a run's behaviour: a short one, and a long pair."""
    source, target = (model.max_len(*READERS[side]) or LONG for side in ("source", "target"))
    mark = model.config.source_end_mark
    tokens = [4 + i * i % 37 for i in range(LONG)]
    pairs = EncodedPairs(
        [ids[: source - mark] for ids in (*SHORT[0], tokens)],
        [ids[: target - 1] for ids in (*SHORT[1], tokens[::-1])],
        mark,
    )
    return [pairs.batch([0, 1]), pairs.batch([2])]


def _numbers_of(tensors: list[Tensor]) -> list[float]:
    """Return two numbers for tensors of a run's behaviour: a mean product, and a size."""
    flat = torch.cat([tensor.detach().double().flatten() for tensor in tensors])
    rows = F.pad(flat, (0, -len(flat) % 1024)).view(-1, 1024)
    projected = _spread_numbers(len(rows), 1) @ (rows @ _spread_numbers(1024, 2))
    return _rounded(
        [float(projected) / math.sqrt(len(flat)), float(flat @ flat / len(flat)) ** 0.5]
    )


def _rounded(numbers: list[float]) -> list[float]:
    """Round numbers of a run's behaviour to ten significant digits."""
    return [float(f"{number:.10g}") for number in numbers]
