"""Measure the decoding speed of trained models side by side, one after the other in each round.

All models translate the same sentences for the same number of steps. A ratio is the median over
rounds of speeds from the same round: a machine that slows down slows both. Its interval is over the
rounds.
"""

import time
from collections.abc import Sequence
from typing import Any

import torch

from repro import stops
from repro.core.batches import mark_source, pad
from repro.core.decoding import Translator
from repro.core.subwords import BOS_ID
from repro.data.corpora import load_once
from repro.runs.models import load_translator
from repro.runs.provenance import describe_processor
from repro.runs.run import Run

STEPS = 25  # target tokens of every sentence, whatever the model predicts
SENTENCES, BATCH, ROUNDS = 256, 64, 5


def measure_speed(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return the speed record of each run, in order: sentences per second by round, and conditions.

    Every model continues every sentence greedily for the same number of steps, with its cache, in
    fp32 on this machine's CPU.
    """
    data = runs[0].config.data
    sources = load_once(data.corpus, data.source, data.target).pairs(
        "test", data.source, data.target
    )[0][:SENTENCES]
    translators = [load_translator(run, "cpu") for run in runs]
    speeds: list[list[float]] = [[] for _ in runs]
    for number in range(ROUNDS + 1):  # the first round warms up
        for place, translator in enumerate(translators):
            speed = _sentences_per_second(translator, sources)
            if number:
                speeds[place].append(round(speed, 2))
    return [
        {
            "sitting": [other.name for other in runs],
            "sentences": len(sources),
            "batch_size": BATCH,
            "steps": STEPS,
            "threads": torch.get_num_threads(),
            "processor": describe_processor(torch.device("cpu")),
            "sentences_per_second": speed,
        }
        for run, speed in zip(runs, speeds, strict=True)
    ]


@torch.no_grad()
def _sentences_per_second(translator: Translator, sources: list[str]) -> float:
    """Measure how many sentences a model decodes a second, in batches of fixed length."""
    model = translator.model
    encoded = [
        mark_source(ids, model.config.source_end_mark)
        for ids in translator.subwords.encode(sources)
    ]
    encoded.sort(key=len)
    start = time.perf_counter()
    for first in range(0, len(encoded), BATCH):
        stops.raise_if_stopping()
        state = model.start(pad(encoded[first : first + BATCH]))
        tokens = torch.full((len(state.source_blocked), 1), BOS_ID)
        for _ in range(STEPS):
            hidden, state = model.decode(state, tokens)
            tokens = model.output(hidden[:, -1]).argmax(dim=-1, keepdim=True)
    return len(encoded) / (time.perf_counter() - start)
