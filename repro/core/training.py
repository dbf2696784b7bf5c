"""One update: the loss of a batch, its gradient, the step of the optimiser, and the rate of that step.

Schedule and label smoothing as in Vaswani et al. 2017, section 5; the optimiser: `optimizer.py`.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from repro.core.batches import Batch, EncodedPairs, cut_by_tokens
from repro.core.config import TrainConfig
from repro.core.loss import output_loss
from repro.core.subwords import PAD_ID
from repro.core.transformer import Transformer
from repro.errors import ReproError


class DivergedError(ReproError):
    """Loss or gradient is no longer a finite number."""


def apply_update(
    model: Transformer,
    optimizer: torch.optim.Optimizer,
    batch: Batch,
    lr: float,
    config: TrainConfig,
) -> tuple[float, float, int]:
    """Do one update; return the loss and negative log-likelihood per token, in nats, and the number of tokens.

    Raises:
        DivergedError: loss or gradient is no number any more.
    """
    model.train()
    for group in optimizer.param_groups:
        group["lr"] = lr * group.get("rate", 1.0)
    total, total_nll, tokens = batch_loss(model, batch, config)
    (total / tokens + config.gate_penalty * model.gate_penalty()).backward()
    loss, nll = total.item() / tokens, total_nll.item() / tokens
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), config.clip_norm)
    if not math.isfinite(norm) or not math.isfinite(loss):
        what = f"loss {loss:.3g}, gradient norm {float(norm):.3g} at rate {lr:.3g}, training pairs {batch.indices[:5]} ..."
        raise DivergedError(
            "training",
            what,
            calmer(config) if optimizer.state else "look at its attention: no step was taken yet",
        )
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return loss, nll, tokens


def batch_loss(model: Transformer, batch: Batch, config: TrainConfig) -> tuple[Tensor, Tensor, int]:
    """Return the summed smoothed loss, the summed negative log-likelihood (nats) and the number of target tokens of a batch."""
    with torch.autocast(batch.src.device.type, torch.bfloat16, enabled=config.precision == "bf16"):
        hidden, _ = model.decode(model.start(batch.src), batch.tgt_in)
        targets = batch.tgt_out.flatten()
        real = (targets != PAD_ID).nonzero()[:, 0]
        smoothing = config.label_smoothing if model.training else 0.0
        loss, nll = output_loss(
            hidden.flatten(0, 1).index_select(0, real),
            model.output.weight,
            targets[real],
            smoothing,
        )
    return loss, nll, len(real)


@torch.no_grad()
def evaluate_nll(
    model: Transformer,
    pairs: EncodedPairs,
    config: TrainConfig,
    between_batches: Callable[[], None] = lambda: None,
) -> float:
    """Return the mean negative log-likelihood of the target tokens, in nats.

    Args:
        model: put into evaluation mode.
        pairs: all of them are read.
        config: the number of tokens in a batch, and the precision.
        between_batches: called before each batch, for example to heed a request to stop.
    """
    model.eval()
    device = next(model.parameters()).device
    total, tokens = 0.0, 0
    ordered = sorted(range(len(pairs)), key=lambda i: pairs.lengths[i])
    for indices in cut_by_tokens(ordered, pairs.lengths, config.batch_tokens):
        between_batches()
        _, nll, count = batch_loss(model, pairs.batch(indices).to(device), config)
        total, tokens = total + nll.item(), tokens + count
    return total / tokens


def learning_rate(update: int, config: TrainConfig) -> float:
    """Return the rate of the given update, counted from 1: a linear warm-up to the peak, then the schedule's decay.

    `inverse-sqrt` falls with the square root of the update (Vaswani et al. 2017, equation 3, with
    the peak as the scale); `linear` falls in a straight line and reaches zero after the last
    update.
    """
    if update <= config.warmup:
        return config.learning_rate * update / config.warmup
    if config.schedule == "inverse-sqrt":
        return config.learning_rate * math.sqrt(config.warmup / update)
    return (
        config.learning_rate
        * (config.max_updates + 1 - update)
        / (config.max_updates + 1 - config.warmup)
    )


def calmer(config: TrainConfig) -> str:
    """Return what may keep a training from diverging, in words."""
    mends = ["lower train.learning_rate", "raise train.warmup"] + ["use train.precision=fp32"] * (
        config.precision != "fp32"
    )
    return " or ".join(mends)


def freeze_decoder(model: Transformer) -> None:
    """Take the decoder, its embedding and the output matrix out of training, bit for bit (Voita et al. 2019, section 6.2).

    Its dropout stays on. Tied embeddings are one matrix, which cannot move for the source alone: it
        stays as well.
    """
    for part in (model.decoder, model.decoder_norm, model.target_embedding, model.output):
        part.requires_grad_(False)
