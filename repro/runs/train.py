"""Train a run: the training loop, to be read from top to bottom.

Optimiser and label smoothing as in Vaswani et al. 2017, section 5. A run that is killed at any
instant and started again by the same command ends with bit-identical parameters: the order of the
data is a pure function of seed and epoch, and a checkpoint holds parameters, optimiser, random
state and counters.
"""

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from repro import stops
from repro.core.batches import EncodedPairs
from repro.core.config import RunConfig, TrainConfig
from repro.core.decoding import Translator
from repro.core.optimizer import make_optimizer
from repro.core.training import (
    DivergedError,
    apply_update,
    calmer,
    evaluate_nll,
    freeze_decoder,
    learning_rate,
)
from repro.core.transformer import Transformer, count_parameters
from repro.data.corpora import load_once
from repro.data.parallel import ParallelCorpus
from repro.errors import BusyError, Stopped, check_kind
from repro.files import append_line
from repro.runs.card import write_card
from repro.runs.checkpoint_folders import all_checkpoints, remove_checkpoints, remove_leftovers
from repro.runs.checkpoints import Progress, check_room, finish, resume, save_checkpoint
from repro.runs.energy import EnergyMeter
from repro.runs.length_penalty import fitting_alpha
from repro.runs.machine import (
    find_device,
    keep_freed_memory,
    threads_of,
    warn_of_emulated_precision,
)
from repro.runs.models import find_start, load_start, load_subwords, new_model
from repro.runs.prepare import check_finished, check_lengths, prepare, removed_if_empty
from repro.runs.run import Run

LOG_EVERY = 50  # updates between two lines of metrics


Log = Callable[[dict[str, Any]], None]


def train(
    config: RunConfig,
    root: Path | None = None,
    device: str | None = None,
    allow_inexact: bool = False,
    quiet: bool = False,
    log: Log | None = None,
) -> Run:
    """Train the run of a configuration, or resume it where it stopped, and return it finished.

    Args:
        config: a `RunConfig`.
        root: folder of all runs; default `runs_root()`.
        device: "cpu", "cuda" ...; default: the GPU if there is one.
        allow_inexact: resume even on another device or torch version, or with other data; noted in
            the provenance for good.
        quiet: no progress bar.
        log: called with every line of metrics, such as `log_lines.LogLines`.

    Raises:
        ReproError: wrong input, a damaged or busy run, a device that is not there, or a loss that
            is no longer finite.
        Stopped: a signal asked for the end; everything is saved.
    """
    check_kind("config", config, "make one, as in repro.resolve('smoke')", RunConfig)
    if device is not None:
        find_device(device)  # a wrong device is an error for a finished run, too
    run = Run.create(config, root)
    if run.is_finished:
        check_finished(run, allow_inexact)
        # the process died between the last two steps, or is at them right now
        if all_checkpoints(run.path):
            with contextlib.suppress(BusyError), run.lock():
                remove_checkpoints(run.path)
        return run
    with run.lock(), threads_of(run), removed_if_empty(run), stops.noted():
        if run.is_finished:  # since another process trained it before this one got the lock
            return run
        with stops.at_once(_saved_updates(run)):
            remove_leftovers(run.path)
            keep_freed_memory()
            device = find_device(device)
            warn_of_emulated_precision(run, device)
            corpus = load_once(config.data.corpus, config.data.source, config.data.target)
            start = find_start(run, corpus.fingerprint)
            pairs = prepare(run, corpus, start, device, allow_inexact)
            torch.manual_seed(config.train.seed)
            model = new_model(run)[0].to(device)
            parameters = count_parameters(model)
            if start is not None:
                load_start(model, start)
            if config.train.freeze_decoder:
                freeze_decoder(model)
            check_lengths(model, pairs)
            optimizer = make_optimizer(model, config.train)
            progress = resume(run, model, optimizer)
            check_room(run, model)
        progress = _loop(run, model, optimizer, progress, pairs["train"], pairs["dev"], quiet, log)
        finish(run, model, parameters, progress, partial(_own_search, run, model, corpus))
        write_card(run)
    return run


def _own_search(run: Run, model: Transformer, corpus: ParallelCorpus) -> dict[str, float]:
    """Return the search settings that the run chooses on dev; none if they are fixed."""
    data = run.config.data
    if run.config.train.length_penalty == "fixed":
        return {}
    translator = Translator(
        model, load_subwords(run.subwords_path), between_batches=stops.raise_if_stopping
    )
    return {"alpha": fitting_alpha(translator, *corpus.pairs("dev", data.source, data.target))}


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
    now, meter = time.perf_counter(), EnergyMeter(device)
    # the last two of the log's interval, without the evaluation and saving before it
    clock, began, before = now, now, progress.tokens
    if progress.awaits_dev(config):  # what is known of its speed is that of the whole run
        began, before = now - progress.seconds, 0
    order = _batches_from(train_pairs, config, progress)
    with tqdm(
        total=config.max_updates,
        initial=progress.update,
        desc=run.path.name,
        unit="update",
        disable=quiet,
    ) as bar:
        while not progress.is_done(config):
            if not progress.awaits_dev(config):
                epoch, used, indices = next(order)
                lr = learning_rate(progress.update + 1, config)
                loss, nll, tokens = apply_update(
                    model, optimizer, train_pairs.batch(indices).to(device), lr, config
                )
                now = time.perf_counter()
                progress = progress.after(epoch, used, tokens, now - clock).with_loss(
                    loss * tokens, nll * tokens, tokens
                )
                clock = now
                bar.update()
            # once, and in an evaluation: nothing that is not saved below may end the run
            stop = stops.asked()
            is_evaluated = progress.is_evaluated(config)
            is_logged = is_evaluated or progress.update % LOG_EVERY == 0
            if is_logged or stop:
                progress = progress.with_joules(meter.spent())
            if is_logged:
                line = _metrics_line(progress, config) | {
                    "tokens_per_second": round((progress.tokens - before) / (now - began))
                }
                try:
                    if is_evaluated:
                        line["dev_nll"] = _dev_nll(model, dev_pairs, progress, config)
                        progress = progress.with_dev(line["dev_nll"])
                        bar.set_postfix_str(
                            f"dev perplexity {math.exp(min(line['dev_nll'], 50)):.2f}"
                        )
                    append_line(run.metrics_path, line)
                    if log:
                        log(line)
                    progress = replace(progress, unlogged=Progress.unlogged)
                except Stopped as stopped:  # the run resumes with this evaluation
                    stop = stopped.exit_code
            if is_evaluated or stop:
                save_checkpoint(run, model, optimizer, progress)
            if is_logged:
                began, before = time.perf_counter(), progress.tokens
            if stop:
                raise Stopped(stop, progress.update)
    return progress


def _dev_nll(
    model: Transformer, pairs: EncodedPairs, progress: Progress, config: TrainConfig
) -> float:
    """Return the loss on dev during training.

    Raises:
        DivergedError: it is not finite.
    """
    found = evaluate_nll(model, pairs, config, stops.raise_if_stopping)
    if not math.isfinite(found):
        where = f"update {progress.update} at rate {learning_rate(progress.update, config):.3g}"
        raise DivergedError("training", f"dev loss {found} after {where}", calmer(config))
    return found


def _saved_updates(run: Run) -> int:
    """Return the number of updates after which a run resumes."""
    return max((int(path.name) for path in all_checkpoints(run.path)), default=0)


def _batches_from(
    pairs: EncodedPairs, config: TrainConfig, progress: Progress
) -> Iterator[tuple[int, int, list[int]]]:
    """Yield the batches of training that follow, without end.

    Each is an epoch, the number of its batches that are used then, and the pairs of the batch.
    """
    epoch, used = progress.epoch, progress.batch
    while True:
        for number, indices in enumerate(
            pairs.epoch(config.batch_tokens, config.seed, epoch), start=1
        ):
            if number > used:
                yield epoch, number, indices
        epoch, used = epoch + 1, 0


def _metrics_line(progress: Progress, config: TrainConfig) -> dict[str, Any]:
    """Return a line of metrics: means since the last one, and the counters of the run."""
    loss, nll, tokens = progress.unlogged
    line = {
        "update": progress.update,
        "epoch": progress.epoch,
        "loss": loss / tokens,
        "nll": nll / tokens,
    }
    return line | {
        "learning_rate": learning_rate(progress.update, config),
        "seconds": round(progress.seconds, 1),
    }
