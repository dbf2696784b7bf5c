"""The training loop, to be read from top to bottom.

Optimiser and label smoothing as in Vaswani et al. 2017, section 5. A run that is killed at any instant and started again by the same
command ends with bit-identical parameters: the order of the data is a pure function of seed and epoch, and a checkpoint holds
parameters, optimiser, random state and counters.
"""

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from repro import stops
from repro.allocator import keep_freed_memory
from repro.checkpoints import GATE, Progress, find_start, finish, load_start, new_model, resume, save_checkpoint
from repro.config import RunConfig, TrainConfig
from repro.data.batches import Batch, EncodedPairs, cut_by_tokens
from repro.data.corpora import load_corpus
from repro.data.subwords import PAD_ID
from repro.energy import EnergyMeter
from repro.errors import BusyError, ReproError, Stopped, check_kind
from repro.files import append_line
from repro.loss import output_loss
from repro.preparation import check_finished, check_lengths, find_device, prepare, removed_if_empty, threads_of, warn_of_emulated_precision
from repro.runs import Run
from repro.transformer import Transformer

LOG_EVERY = 50  # updates between two lines of metrics


Log = Callable[[dict[str, Any]], None]


class DivergedError(ReproError):
    """Loss or gradient is no longer a finite number."""


def train(
    config: RunConfig,
    root: Path | None = None,
    device: str | None = None,
    allow_inexact: bool = False,
    quiet: bool = False,
    log: Log | None = None,
) -> Run:
    """Train the run of a configuration, or go on where it was left, and return it finished.

    Args:
        config: a `RunConfig`.
        root: folder of all runs; default `runs_root()`.
        device: "cpu", "cuda" ...; default: the GPU if there is one.
        allow_inexact: resume even on another device or torch version, or with other data; noted in the provenance for good.
        quiet: no progress bar.
        log: called with every line of metrics, such as `log_lines.LogLines`.

    Raises:
        ReproError: wrong input, a damaged or busy run, a device that is not there, or a loss that is no longer finite.
        Stopped: a signal asked for the end; everything is saved.
    """
    check_kind("config", config, "make one, as in repro.resolve('smoke')", RunConfig)
    if device is not None:
        find_device(device)  # for a finished run, too, where it would be ignored without a word
    run = Run.create(config, root)
    if run.is_finished:
        check_finished(run, allow_inexact)
        if run.checkpoint_folders():  # the process died between the last two steps, or is at them right now
            with contextlib.suppress(BusyError), run.lock():
                run.remove_checkpoints()
        return run
    with run.lock(), threads_of(run), removed_if_empty(run), stops.noted():
        if run.is_finished:  # since another process trained it before this one got the lock
            return run
        with stops.at_once(_saved(run)):
            run.remove_leftovers()
            keep_freed_memory()
            device = find_device(device)
            warn_of_emulated_precision(run, device)
            corpus = load_corpus(config.data.corpus, config.data.source, config.data.target)
            start = find_start(run, corpus.fingerprint)
            pairs = prepare(run, corpus, start, device, allow_inexact)
            torch.manual_seed(config.train.seed)
            model = new_model(run)[0].to(device)
            if start is not None:
                load_start(model, start)
            if config.train.freeze_decoder:
                freeze_decoder(model)
            check_lengths(model, pairs)
            optimizer = make_optimizer(model, config.train)
            progress = resume(run, model, optimizer)
        progress = _loop(run, model, optimizer, progress, pairs["train"], pairs["dev"], quiet, log)
        finish(run, model, progress)
    return run


def _loop(
    run: Run,
    model: Transformer,
    optimizer: torch.optim.Optimizer,
    progress: Progress,
    train_pairs: EncodedPairs,
    dev_pairs: EncodedPairs,
    quiet: bool,
    log: Log | None,
) -> Progress:
    """Update until the run is done (`Progress.is_done`); log, evaluate and save on the way."""
    config, device = run.config.train, next(model.parameters()).device
    clock, meter = time.perf_counter(), EnergyMeter(device)
    began, before = clock, progress.tokens  # of the log's interval, without the evaluation and saving before it
    with tqdm(total=config.max_updates, initial=progress.update, desc=run.path.name, unit="update", disable=quiet) as bar:
        for epoch, used, indices in _order(train_pairs, config, progress):
            if progress.is_done(config):
                break
            batch = train_pairs.batch(indices).to(device)
            lr = learning_rate(progress.update + 1, config)
            loss, nll, tokens = apply_update(model, optimizer, batch, lr, config)
            now = time.perf_counter()
            progress = progress.after(epoch, used, tokens, now - clock).with_loss(loss * tokens, nll * tokens, tokens)
            clock = now
            bar.update()
            stop = stops.asked()  # once: what is not saved below must not end the run
            is_evaluated = progress.update % config.eval_every == 0 or progress.update == config.max_updates
            is_logged = is_evaluated or progress.update % LOG_EVERY == 0
            if is_logged or stop:
                progress = progress.with_joules(meter.spent())
            if is_logged:
                line = _line(progress, lr) | {"tokens_per_second": round((progress.tokens - before) / (now - began))}
                progress = replace(progress, unlogged=Progress.unlogged)
                if is_evaluated:
                    line["dev_nll"] = evaluate_nll(model, dev_pairs, config)
                    if not math.isfinite(line["dev_nll"]):
                        raise DivergedError(
                            "training", f"dev loss {line['dev_nll']} after update {progress.update} at rate {lr:.3g}", _calmer(config)
                        )
                    progress = progress.with_dev(line["dev_nll"])
                    bar.set_postfix_str(f"dev perplexity {math.exp(min(line['dev_nll'], 50)):.2f}")
                append_line(run.metrics_path, line)
                if log:
                    log(line)
            if is_evaluated or stop:
                save_checkpoint(run, model, optimizer, progress)
            if is_logged:
                began, before = time.perf_counter(), progress.tokens
            if stop:
                raise Stopped(stop, progress.update)
    return progress


def _saved(run: Run) -> int:
    """Return the number of updates that a run goes on from."""
    return max((int(path.name) for path in run.checkpoint_folders()), default=0)


def _order(pairs: EncodedPairs, config: TrainConfig, progress: Progress) -> Iterator[tuple[int, int, list[int]]]:
    """Yield without end, from where a run stands: the epoch, how many of its batches are used then, and the pairs of the next batch."""
    epoch, used = progress.epoch, progress.batch
    while True:
        for number, indices in enumerate(pairs.epoch(config.batch_tokens, config.seed, epoch), start=1):
            if number > used:
                yield epoch, number, indices
        epoch, used = epoch + 1, 0


def freeze_decoder(model: Transformer) -> None:
    """Take the decoder, its embedding and the output matrix out of training, bit for bit (Voita et al. 2019, section 6.2).

    Its dropout stays on. Tied embeddings are one matrix, which cannot move for the source alone: it stays as well.
    """
    for part in (model.decoder, model.decoder_norm, model.target_embedding, model.output):
        part.requires_grad_(False)


def make_optimizer(model: Transformer, config: TrainConfig) -> torch.optim.Adam:
    """Return Adam with the constants of Vaswani et al. 2017, section 5.3, but for beta2; `apply_update` sets its rates."""
    gates = {name: parameter for name, parameter in model.named_parameters() if name.endswith(GATE)}
    others = [parameter for name, parameter in model.named_parameters() if name not in gates]
    groups: list[dict[str, Any]] = [{"params": others}, {"params": list(gates.values()), "rate": config.gate_rate}]
    return torch.optim.Adam(groups, lr=0.0, betas=(0.9, config.adam_beta2), eps=1e-9, fused=True)


def apply_update(
    model: Transformer, optimizer: torch.optim.Optimizer, batch: Batch, lr: float, config: TrainConfig
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
        raise DivergedError("training", what, _calmer(config) if optimizer.state else "look at its attention: no step was taken yet")
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
        loss, nll = output_loss(hidden.flatten(0, 1).index_select(0, real), model.output.weight, targets[real], smoothing)
    return loss, nll, len(real)


@torch.no_grad()
def evaluate_nll(model: Transformer, pairs: EncodedPairs, config: TrainConfig) -> float:
    """Return the mean negative log-likelihood of the target tokens, in nats."""
    model.eval()
    device = next(model.parameters()).device
    total, tokens = 0.0, 0
    ordered = sorted(range(len(pairs)), key=lambda i: pairs.lengths[i])
    for indices in cut_by_tokens(ordered, pairs.lengths, config.batch_tokens):
        _, nll, count = batch_loss(model, pairs.batch(indices).to(device), config)
        total, tokens = total + nll.item(), tokens + count
    return total / tokens


def learning_rate(update: int, config: TrainConfig) -> float:
    """Return the rate of the given update, counted from 1: a linear warm-up to the peak, then the schedule's decay.

    `inverse-sqrt` falls with the square root of the update (Vaswani et al. 2017, equation 3, with the peak as the scale);
    `linear` falls in a straight line and reaches zero after the last update.
    """
    if update <= config.warmup:
        return config.learning_rate * update / config.warmup
    if config.schedule == "inverse-sqrt":
        return config.learning_rate * math.sqrt(config.warmup / update)
    return config.learning_rate * (config.max_updates + 1 - update) / (config.max_updates + 1 - config.warmup)


def _line(progress: Progress, lr: float) -> dict[str, Any]:
    """Return a line of metrics: means since the last one, and where the run stands."""
    loss, nll, tokens = progress.unlogged
    line = {"update": progress.update, "epoch": progress.epoch, "loss": loss / tokens, "nll": nll / tokens, "learning_rate": lr}
    return line | {"seconds": round(progress.seconds, 1)}


def _calmer(config: TrainConfig) -> str:
    mends = ["lower train.learning_rate", "raise train.warmup"] + ["use train.precision=fp32"] * (config.precision != "fp32")
    return " or ".join(mends)
