"""The work of every contender: shapes, batches, and the timing of training and decoding.

Every contender trains the same shape on the same ids with the same losses and dropout places, and
translates the same sentences to the same lengths. Contenders take turns within a round, so that a
machine that slows down slows all of them; the median over rounds counts.
"""

import multiprocessing
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

import torch
from torch import Tensor

VOCAB, SENTENCES, LENGTH = 8000, 160, 25  # 4,000 target tokens a batch
DECODED_SENTENCES, BATCH_SIZE = 256, 64
DROPOUT, SMOOTHING = 0.1, 0.1
THREADS = torch.get_num_threads()
# processes that decode at a time: one with all threads, and one a thread
EACH_WAY = sorted({1, THREADS})
PEERS = {  # section -> packages of the other toolkits in it
    "training": ("transformers", "x-transformers"),
    "decoding": ("transformers", "ctranslate2"),
    "free": ("ctranslate2",),
}


@dataclass(frozen=True)
class Shape:
    """Sizes of a Transformer."""

    name: str
    layers: int
    width: int
    ffn: int
    heads: int


SHAPES = {
    "small": Shape("small", 5, 288, 507, 4),  # You et al. 2020
    "base": Shape("base", 6, 512, 2048, 8),  # Vaswani et al. 2017
}


def training_batch(seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Return source ids, target input and target output, each `(SENTENCES, LENGTH)`; no padding."""
    generator = torch.Generator().manual_seed(seed)
    src, tgt = (torch.randint(4, VOCAB, (SENTENCES, LENGTH), generator=generator) for _ in range(2))
    return src, torch.cat([torch.full((SENTENCES, 1), 2), tgt[:, :-1]], dim=1), tgt


def sources(seed: int = 1) -> Tensor:
    """Return the sentences to translate, `(DECODED_SENTENCES, LENGTH)`."""
    return torch.randint(
        4, VOCAB, (DECODED_SENTENCES, LENGTH), generator=torch.Generator().manual_seed(seed)
    )


@dataclass
class Contender:
    """Work to time.

    Args:
        name: as printed.
        run: does the work once.
        amount: units of work in one call (tokens or sentences).
        close: ends what the contender began.
        seconds: what the calls took, one a round.
    """

    name: str
    run: Callable[[], object]
    amount: int
    close: Callable[[], object] = lambda: None
    seconds: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Units a second, the median over rounds."""
        return self.amount / statistics.median(self.seconds)


def apart(make: Callable[..., Contender], *args, processes: int = 1) -> Contender:
    """Return the contender that `make(*args)` returns, in a process of its own.

    Two toolkits in one process would share the settings of the C library, and their two thread
    pools would slow each other down, up to twofold.

    Args:
        make: returns the contender.
        args: of `make`.
        processes: how many do the same work at the same time; they share the machine's threads
            evenly.
    """
    here = [_start(make, args, THREADS // processes) for _ in range(processes)]
    names, amounts, closes = zip(
        *((*pipe.recv(), process.terminate) for pipe, process in here), strict=True
    )

    def run() -> None:
        for pipe, _ in here:
            pipe.send("run")
        for pipe, _ in here:
            pipe.recv()

    return Contender(names[0], run, sum(amounts), close=lambda: [close() for close in closes])


def _start(
    make: Callable[..., Contender], args: tuple, threads: int
) -> tuple[Connection, BaseProcess]:
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_serve, args=(there, make, args, threads), daemon=True
    )
    process.start()
    there.close()
    return here, process


def _serve(pipe: Connection, make: Callable[..., Contender], args: tuple, threads: int) -> None:
    """Work when told to, until ended."""
    torch.set_num_threads(threads)
    contender = make(*args)
    pipe.send((contender.name, contender.amount))
    while True:
        pipe.recv()
        contender.run()
        pipe.send("done")


def race(contenders: list[Contender], rounds: int, calls: int = 1) -> list[Contender]:
    """Warm every contender up, time them in turn, `rounds` times, and close them.

    Each time is the mean of `calls` calls.
    """
    try:
        for contender in contenders:
            contender.run()
        for _ in range(rounds):
            for contender in contenders:
                start = time.perf_counter()
                for _ in range(calls):
                    contender.run()
                contender.seconds.append((time.perf_counter() - start) / calls)
    finally:
        for contender in contenders:
            contender.close()
    return contenders


def drift(contender: Contender) -> float:
    """Return the ratio of the slowest to the fastest round: how much the machine itself changed."""
    return max(contender.seconds) / min(contender.seconds)


def ratio(contender: Contender, first: Contender) -> float:
    """Return the speed of a contender divided by that of `first`: the median over rounds.

    A machine that slows down for minutes slows both, so this varies less than the ratio of two
    medians.
    """
    pairs = zip(contender.seconds, first.seconds, strict=True)
    return (
        contender.amount
        / first.amount
        * statistics.median(first_took / took for took, first_took in pairs)
    )


def rows_of(contenders: list[Contender], **columns) -> list[dict]:
    """Return a record of each contender of one race, the first of which is ours."""
    return [
        columns
        | {"name": c.name, "rate": round(c.rate, 1), "ratio": round(ratio(c, contenders[0]), 3)}
        | {"rounds": len(c.seconds), "drift": round(drift(c), 2)}
        for c in contenders
    ]
