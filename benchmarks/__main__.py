"""Measure everything: `python -m benchmarks [SECTION ...]`.

Records are written in `benchmarks/results/`, and the page is made from them. A section that is
measured again replaces its old figures; the others stay.
"""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click
import torch

from benchmarks import free, ours, scaling, web_page
from benchmarks.page import write_page
from benchmarks.work import EACH_WAY, PEERS, SHAPES, THREADS, Contender, apart, race, rows_of
from repro import SYSTEMS, ReproError, describe_origin, write_json

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
TRAINED = ("nn.Transformer", "HF Marian", "x-transformers")
AT_ONCE = 7  # systems that race in one group: each is held in a process for every core


def measure_training() -> list[dict]:
    """Measure target tokens/s of a training update by us and the peers, each in its own process.

    Both shapes and precisions are measured. Peers that keep freed memory race after the others,
    with ours again: all at a time would need 30 GB.
    """
    from benchmarks import peers

    rows = []
    for name, precision, rounds in (
        ("small", "fp32", 5),
        ("small", "bf16", 5),
        ("base", "fp32", 3),
        ("base", "bf16", 3),
    ):
        shape = SHAPES[name]
        for kept in (False, True):
            contenders = [
                apart(ours.training, shape, precision),
                *(apart(peers.training, shape, peer, precision, kept) for peer in TRAINED),
            ]
            found = rows_of(race(contenders, rounds), shape=name, precision=precision)
            rows += found[1:] if kept else found  # ours is listed once
    return rows


def measure_decoding() -> list[dict]:
    """Measure sentences/s of translation by us and the peers.

    Sentences are translated to exactly 25 tokens, in batches of 64, with beams of 1 and 5. Each
    toolkit has one process with all threads, as for one impatient user, and then a process for
    every core, as for a test set.
    """
    from benchmarks import peers

    rows, shape = [], SHAPES["small"]
    for processes in EACH_WAY:
        for beam, rounds in ((1, 7), (5, 5)):
            contenders = [
                apart(ours.decoding, shape, beam, precision, processes=processes)
                for precision in ("fp32", "int8")
            ]
            for precision in ("fp32", "int8"):
                contenders.append(
                    apart(peers.ctranslate2_decoding, shape, beam, precision, processes=processes)
                )
            contenders.append(apart(peers.marian_decoding, shape, beam, processes=processes))
            rows += rows_of(
                race(contenders, rounds),
                shape="small",
                beam=beam,
                processes=processes,
                threads=THREADS // processes,
            )
    return rows


def measure_variants() -> list[dict]:
    """Measure training and decoding speed of every system, in the small shape and fp32.

    Timed are a training update, and 25 tokens with beams of 1 and 5.
    """
    shape = SHAPES["small"]
    rows = _beside_base("training", lambda system: ours.training(shape, "fp32", system))
    for beam in (1, 5):
        rows += _beside_base(
            f"beam {beam}",
            lambda system, beam=beam: apart(
                ours.decoding, shape, beam, "fp32", system, processes=THREADS
            ),
        )
    return rows


def measure_free_variants() -> list[dict]:
    """Measure sentences/s, quality and length of the translations by every trained system.

    Each sentence is translated to its own end.
    """
    free.train_systems()
    rows = []
    for beam in (1, 5):
        timed = _beside_base(
            f"beam {beam}",
            lambda system, beam=beam: apart(free.system_contender, system, beam, processes=THREADS),
        )
        rows += [row | free.system_quality(row["name"], beam) for row in timed]
    return rows


def _beside_base(kind: str, make: Callable[[str], Contender]) -> list[dict]:
    """Race all systems, some at a time, each group with its own base; the first base is listed."""
    base, *others = SYSTEMS
    rows = []
    for start in range(0, len(others), AT_ONCE):
        group = [base, *others[start : start + AT_ONCE]]
        found = rows_of(race([make(system) for system in group], rounds=3), kind=kind)
        pairs = zip(group, found, strict=True)
        rows += [row | {"name": system} for system, row in pairs if system != base or not start]
    return rows


def measure_memory() -> list[dict]:
    """Measure the peak memory of a process that trains a system on batches of 4,000 tokens.

    The peak of a process that only imports is subtracted.
    """
    rows = []
    for system in ("", *SYSTEMS):
        work = f"from benchmarks.__main__ import print_peak; print_peak({system!r})"
        answer = subprocess.run(
            [sys.executable, "-c", work], cwd=ROOT, capture_output=True, text=True, check=True
        )
        rows.append({"name": system, "peak_mb": int(answer.stdout) / 1024})
    return [
        {"name": row["name"], "extra_mb": round(row["peak_mb"] - rows[0]["peak_mb"])}
        for row in rows[1:]
    ]


def print_peak(system: str) -> None:
    """Print the peak memory of this process in kB after training a system a little.

    Without a system: after the imports.
    """
    torch.set_num_threads(THREADS)
    if system:
        contender = ours.training(SHAPES["small"], "fp32", system)
        for _ in range(3):
            contender.run()
    # `getrusage` would give the peak of the parent where that is higher
    status = Path("/proc/self/status").read_text()
    print(next(line.split()[1] for line in status.split("\n") if line.startswith("VmHWM:")))


SECTIONS = {
    "training": measure_training,
    "decoding": measure_decoding,
    "free": free.measure,
    "variants": measure_variants,
    "free-variants": measure_free_variants,
    "memory": measure_memory,
    "scaling": scaling.measure,
    "web-page": web_page.measure,
}


def _versions_of_peers(sections: Iterable[str]) -> dict[str, str]:
    """Return the versions of the other toolkits that take part in these sections."""
    try:
        return {name: version(name) for section in sections for name in PEERS.get(section, ())}
    except PackageNotFoundError as error:
        sys.exit(
            f"error: {error.name} is not installed. Fix: make bench, or pip install -e "
            "'.[bench]' and the same command again"
        )


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("sections", nargs=-1, type=click.Choice(SECTIONS))
def main(sections: tuple[str, ...]) -> None:
    """Measure the named SECTIONS, or all, and write results and page."""
    torch.set_num_threads(THREADS)
    # before the first section writes into the repository
    made_by = describe_origin(torch.device("cpu"), THREADS, "generated ids")
    made_by["versions"] |= _versions_of_peers(sections or SECTIONS)
    for name in sections or SECTIONS:
        try:
            rows = SECTIONS[name]()
        except ReproError as error:
            sys.exit(f"error: {error}")
        origin = made_by | {
            "load_average": os.getloadavg()[0],
            "measured": datetime.now(UTC).isoformat(timespec="seconds"),
            "platform": platform.platform(),
        }
        write_json(RESULTS / f"{name}.json", {"section": name, "rows": rows, "provenance": origin})
        print(json.dumps(rows, indent=1), flush=True)
        write_page(RESULTS, ROOT / "benchmarks" / "RESULTS.md")


if __name__ == "__main__":
    main()
