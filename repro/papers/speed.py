"""Decoding speed of trained models, side by side: the same sentences, the same number of steps, one model after the other, in rounds.

A ratio is the median over rounds of speeds measured within the same round, so that a machine that slows down slows both; its interval is
over the rounds.
"""

import statistics
import time
from collections.abc import Sequence
from typing import Any

import torch

from repro import stops
from repro.data.batches import mark_source, pad
from repro.data.corpora import load_corpus
from repro.data.subwords import BOS_ID
from repro.decoding import Translator
from repro.markdown import table
from repro.papers.arms import Arm
from repro.papers.evidence import Evidence, NotMeasured
from repro.provenance import describe_processor
from repro.runs import Run
from repro.statistics import Estimate, median

STEPS = 25  # target tokens of every sentence, whatever the model would say
SENTENCES, BATCH, ROUNDS = 256, 64, 5
TOGETHER = "`repro run` measures them together"


def measure_speed(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return for each run, in order, what a record holds of it: sentences per second in every round, and how they were taken.

    Every model continues every sentence greedily for the same number of steps, over its cache, in fp32 on this machine's CPU.
    """
    data = runs[0].config.data
    sources = load_corpus(data.corpus, data.source, data.target).pairs("test", data.source, data.target)[0][:SENTENCES]
    translators = [Translator.from_run(run, "cpu") for run in runs]
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
    model = translator.model
    encoded = [mark_source(ids, model.config.source_end_mark) for ids in translator.subwords.encode(sources)]
    encoded.sort(key=len)
    start = time.perf_counter()
    for first in range(0, len(encoded), BATCH):
        stops.heed()
        state = model.start(pad(encoded[first : first + BATCH]))
        tokens = torch.full((len(state.source_blocked), 1), BOS_ID)
        for _ in range(STEPS):
            hidden, state = model.decode(state, tokens)
            tokens = model.output(hidden[:, -1]).argmax(dim=-1, keepdim=True)
    return len(encoded) / (time.perf_counter() - start)


def speed_ratio(evidence: Evidence, arm: Arm, base: Arm) -> Estimate:
    """Return how many times as fast as another an arm decodes: the median over the rounds of their sitting.

    Raises:
        NotMeasured: one of them was not measured, or they were not measured in one sitting.
    """
    second, _ = evidence.one("speed", base), evidence.one("speed", arm)
    if not (together := evidence.find("speed", arm, sitting=second["sitting"])):
        raise NotMeasured(f"speed of {arm}", f"measured in another sitting than {base}", TOGETHER)
    ratios = [a / b for a, b in zip(together[0]["sentences_per_second"], second["sentences_per_second"], strict=True)]
    return median(ratios, f"{len(ratios)} rounds")


def speed_table(evidence: Evidence, arms: Sequence[Arm]) -> str:
    """Return sentences per second of the arms that were measured, and the ratio to the first of them.

    Those of another sitting than the first are left out, and named.
    """
    arms = evidence.having("speed", arms)
    base, first, body = arms[0], evidence.one("speed", arms[0]), []
    together = {arm: found[0] for arm in arms if (found := evidence.find("speed", arm, sitting=first["sitting"]))}
    for arm, record in together.items():
        ratio = speed_ratio(evidence, arm, base)
        times = f"{ratio.value:.2f}" if arm == base else f"{ratio.value:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"
        body.append([str(arm), f"{statistics.median(record['sentences_per_second']):,.0f}", times])
    note = f"{first['sentences']} sentences, batches of {first['batch_size']}, {first['steps']} steps each, greedy, "
    machine = f" of {first['processor']}" if "processor" in first else ""
    note += f"{first['threads']} threads{machine}; speeds are medians of {len(first['sentences_per_second'])} rounds in one "
    note += "sitting, ratios medians of the ratios within each round."
    if apart := [str(arm) for arm in arms if arm not in together]:
        note += f" Measured in another sitting than {base}, and so not compared: {', '.join(apart)}; {TOGETHER}."
    return f"{table(['system', 'sentences/s', f'times {base}'], body)}\n\n{note}"
