"""What a model and its training compute, as a few numbers. Code that finds others computes something else.

Text cannot tell: an annotation changes a file and no result, a bias in a shared projection changes
    every
result. So fixed parameters meet fixed text, in double precision on the CPU, and the numbers are
compared with a tolerance. Other machines and versions of torch round differently and agree all the
same.

What is here decides stored numbers: a change of a probe makes all of them look changed.

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
TOLERANCE = {"update": 1e-4}  # Adam divides small gradients by their size, and rounding with them
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
    """Return the numbers of a run: those of its model and those of its training."""
    return of_model(config.model) | of_training(config.train)


def of_model(config: ModelConfig) -> Behaviour:
    """Return numbers that a change of what a model computes would change.

    Returns:
        `initial`: of the parameters as they are drawn. `output`: of the scores of the next token.
        `loss`: smoothed, and plain, per token. `gradient`: of the loss and the penalty on gates.
        All but the first with parameters that are a function of their names.
    """
    with torch.random.fork_rng(devices=[]), torch.inference_mode(False), torch.enable_grad():
        torch.manual_seed(0)
        model = _model(config)
        drawn = _numbers(
            [value for _, value in sorted(model.state_dict().items()) if value.is_floating_point()]
        )
        _set_parameters(model)
        batches = _batches(model)
        with torch.no_grad():
            output = _numbers([model.eval()(batch.src, batch.tgt_in) for batch in batches])
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
            "gradient": _numbers(gradients),
        }


def output_of(config: ModelConfig) -> Behaviour:
    """Return the `output` of `of_model` alone, which is what a trained model is read and scored by."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        model = _model(config).eval()
        _set_parameters(model)
        return {"output": _numbers([model(batch.src, batch.tgt_in) for batch in _batches(model)])}


def of_training(config: TrainConfig) -> Behaviour:
    """Return numbers that a change of the training loop would change.

    Returns:
        `order`: of pairs in two epochs. `rate`: at five updates. `update`: what two of them change
        in a tiny model, divided by the rate.
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
        model = _model(TINY)
        _set_parameters(model)
        before = [parameter.detach().clone() for _, parameter in sorted(model.named_parameters())]
        optimizer = make_optimizer(model, config)
        for batch in _batches(model):
            apply_update(model, optimizer, batch, 1e-3, config)
        after = [parameter.detach() for _, parameter in sorted(model.named_parameters())]
    moved = [(new - old) / 1e-3 for new, old in zip(after, before, strict=True)]
    return {"order": _numbers([order]), "rate": _rounded(rates), "update": _numbers(moved)}


def changes(noted: Behaviour, found: Behaviour) -> list[str]:
    """Return in words what differs, of what both have."""
    return [
        WORDS.get(name, name)
        for name in found
        if name in noted and _differ(noted[name], found[name], name)
    ]


def _differ(noted: list[float], found: list[float], name: str) -> bool:
    try:
        largest = max(map(abs, [*noted, *found]), default=0.0)
        apart = [abs(a - b) for a, b in zip(noted, found, strict=True)]
    except (TypeError, ValueError):  # numbers that are missing, or were edited
        return noted != found
    return any(not distance <= TOLERANCE.get(name, USUAL_TOLERANCE) * largest for distance in apart)


def _model(config: ModelConfig) -> Transformer:
    config = replace(config, dropout=0.0, attention_dropout=0.0)
    starts_word = [i % 3 != 0 for i in range(VOCAB)]
    return Transformer(config, VOCAB, PAD_ID, starts_word, length_ratio=1.25).double()


def _set_parameters(model: nn.Module) -> None:
    """Overwrite parameters by a function of their names, so that the order in which they are made does not matter."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            width = parameter.shape[-1] if parameter.dim() > 1 else 3
            values = _spread(parameter.numel(), zlib.crc32(name.encode())) * math.sqrt(3 / width)
            parameter.copy_(values.view_as(parameter))


def _spread(count: int, start: int) -> Tensor:
    """Return numbers from -1 to 1 without any order, the same on every machine: whole numbers make them."""
    k = torch.arange(count, dtype=torch.int64)
    return ((k * k * 40_503 + k * 1_103_515_245 + start) & 0x7FFFFFFF).double() / 2**30 - 1


def _batches(model: Transformer) -> list[Batch]:
    """Return two padded pairs, and a long one, cut to what the attention is defined for."""
    source, target = (model.max_len(*READERS[side]) or LONG for side in ("source", "target"))
    mark = model.config.source_end_mark
    tokens = [4 + i * i % 37 for i in range(LONG)]
    pairs = EncodedPairs(
        [ids[: source - mark] for ids in (*SHORT[0], tokens)],
        [ids[: target - 1] for ids in (*SHORT[1], tokens[::-1])],
        mark,
    )
    return [pairs.batch([0, 1]), pairs.batch([2])]


def _numbers(tensors: list[Tensor]) -> list[float]:
    """Return two numbers for the values of tensors: their mean product with fixed ones, and their size."""
    flat = torch.cat([tensor.detach().double().flatten() for tensor in tensors])
    rows = F.pad(flat, (0, -len(flat) % 1024)).view(-1, 1024)
    projected = _spread(len(rows), 1) @ (rows @ _spread(1024, 2))
    return _rounded(
        [float(projected) / math.sqrt(len(flat)), float(flat @ flat / len(flat)) ** 0.5]
    )


def _rounded(numbers: list[float]) -> list[float]:
    return [float(f"{number:.10g}") for number in numbers]
