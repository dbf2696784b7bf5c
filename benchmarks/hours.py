"""Time a few updates of base at scales of the suite: `python -m benchmarks.hours [SCALE ...]`.

A run is so many updates on batches of one size, so a few of them tell its hours. Sentences are
random: no corpus is needed. `repro results --update` writes the hours into `docs/corpora.md`.
Leave the machine alone meanwhile.
"""

import json
import statistics
import time
from pathlib import Path

import click
import torch

from repro import (
    SCALES,
    Transformer,
    describe_origin,
    keep_freed_memory,
    resolve,
    write_json,
)
from repro.core import EOS_ID, PAD_ID, Batch, apply_update, make_optimizer

RESULTS = Path(__file__).resolve().parent / "results" / "hours.json"
UNTIMED, TIMED = 1, 3  # updates
LENGTHS = {"article": (400, 60), "context": (60, 15)}  # of source and target, by source language
SENTENCES = (25, 25)  # the lengths of others
MOST_ON_A_CPU = 4096  # tokens of a batch: what a larger one takes grows with its tokens


def seconds_of_update(scale: str, device: torch.device) -> float:
    """Return the seconds of an update of base at a scale, the median of some."""
    config = resolve(scale)
    whole, vocab_size = config.train.batch_tokens, config.data.vocab_size
    tokens = min(whole, MOST_ON_A_CPU) if device.type == "cpu" else whole
    source, target = LENGTHS.get(config.data.source, SENTENCES)
    torch.manual_seed(0)
    src, tgt_in, tgt_out = (
        torch.randint(EOS_ID + 1, vocab_size, (tokens // max(source, target), length))
        for length in (source, target, target)
    )
    batch = Batch(src, tgt_in, tgt_out, list(range(len(src)))).to(device)
    keep_freed_memory()  # as `train` does
    model = Transformer(config.model, vocab_size, PAD_ID).to(device)
    optimizer = make_optimizer(model, config.train)
    seconds = []
    for _ in range(UNTIMED + TIMED):
        start = time.perf_counter()
        apply_update(model, optimizer, batch, 1e-4, config.train)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds[UNTIMED:]) * whole / tokens


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1, type=click.Choice(list(SCALES)), metavar="[SCALE ...]")
def main(names: tuple[str, ...]) -> None:
    """Time the named scales, or all. What other machines took is kept."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    origin = describe_origin(device, torch.get_num_threads(), "random ids")
    machine = {"processor": origin["processor"], "threads": origin["threads"]}
    rows = json.loads(RESULTS.read_bytes())["rows"] if RESULTS.exists() else []
    for name in names or SCALES:
        seconds = round(seconds_of_update(name, device), 4)
        others = [
            row
            for row in rows
            if row["scale"] != name or not machine.items() <= row["provenance"].items()
        ]
        rows = [*others, {"scale": name, "seconds_of_update": seconds, "provenance": origin}]
        write_json(RESULTS, {"rows": rows})
        click.echo(f"{name}: {seconds} s an update")


if __name__ == "__main__":
    main()
