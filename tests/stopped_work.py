"""Work that asks for its own stop: what workers do in tests of stops."""

import os
import signal
import time
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

import torch

from repro import stops
from repro.analysis.relevance import head_relevance
from repro.contrastive.scoring import cross_entropies
from repro.core.batches import Batch
from repro.core.config import RunConfig
from repro.core.decoding import SearchConfig
from repro.measures.scores import train_and_evaluate
from repro.runs.gallery import load
from repro.runs.models import load_translator

SENTENCES = ["The dog sleeps.", "The old man sees a dog.", "A cat sees the old man in the garden."]


def ask_to_stop() -> None:
    """Let the process that handed this work out be asked to stop once, and wait for the request."""
    os.kill(parent_process().pid, signal.SIGTERM)
    while not stops.asked():
        time.sleep(0.01)


def held_before_training(config: RunConfig) -> dict[str, Any]:
    """Be stopped between the beginning of the work and that of training."""
    ask_to_stop()
    return train_and_evaluate(config)


def leave() -> dict[str, Any]:
    """Be told to end, as by a daemon that sees memory run out, though nobody else is."""
    os.kill(os.getpid(), signal.SIGTERM)
    stops.raise_if_stopping()
    return {}


def measure_three(what: str, told: Path) -> dict[str, Any]:
    """Be stopped in the first of three batches, and count in a file those that are read."""
    translator = load_translator(load("base"))

    def count(*_: Any) -> None:
        with open(told, "a") as file:
            file.write("x")
        if told.read_text() == "x":
            ask_to_stop()

    translator.model.encoder[0].register_forward_hook(count)
    if what == "translation":
        translator.translate(SENTENCES, SearchConfig(batch_size=1))
    elif what == "contrastive":
        cross_entropies(translator, SENTENCES, SENTENCES, batch_tokens=1)
    else:
        rows = [torch.tensor([ids]) for ids in translator.subwords.encode(SENTENCES)]
        head_relevance(translator.model, (Batch(row, row, row, [0]) for row in rows))
    return {}
