"""Draw splits of generated pairs of texts, equal for equal seeds and without repeated sources."""

from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

from repro.errors import InputError

DEFAULT_SIZES = {"train": 20_000, "dev": 500, "test": 1_000}
# After this many draws in a row without a new pair, the generator counts as exhausted.
MAX_FAILURES = 100_000


class Pair(NamedTuple):
    """A source text and the target text to be written from it."""

    source: str
    target: str


def draw_splits(
    sample: Callable[[Random], Pair],
    sizes: dict[str, int] | None = None,
    seed: int = 0,
    targets_recur: bool = False,
) -> dict[str, list[Pair]]:
    """Draw splits that share no source and, unless ``targets_recur``, no target.

    Test is drawn first, then dev, then the rest, each from its own seed. So test depends on no
    other size, dev only on that of test. Training data of different sizes are prefixes of each
    other.

    Args:
        sample: draws a pair.
        sizes: number of pairs by split, ``DEFAULT_SIZES`` if None.
        seed: seed of the whole corpus.
        targets_recur: whether different sources may have the same target, such as questions with
            the same answer.

    Raises:
        InputError: a negative size, or more pairs than the generator can draw.
    """
    sizes = DEFAULT_SIZES if sizes is None else sizes
    seen: set[str] = set()
    drawn: dict[str, list[Pair]] = {}
    for split in sorted(sizes, key=lambda name: {"test": 0, "dev": 1}.get(name, 2)):
        if sizes[split] < 0:
            raise InputError(
                split, f"{sizes[split]} pairs is negative", "give a number of pairs from 0 up"
            )
        # Unlike other hashes, that of a string seed is the same in every process.
        stream = _new_pairs(sample, Random(f"{seed}/{split}"), seen, targets_recur)
        drawn[split] = [next(stream) for _ in range(sizes[split])]
    return {split: drawn[split] for split in sizes}


def _new_pairs(
    sample: Callable[[Random], Pair], rng: Random, seen: set[str], targets_recur: bool
) -> Iterator[Pair]:
    """Yield pairs with unseen texts, and add these to the seen ones."""
    failures = 0
    while failures < MAX_FAILURES:
        pair = sample(rng)
        texts = {pair.source} if targets_recur else set(pair)
        if texts & seen:
            failures += 1
            continue
        failures = 0
        seen |= texts
        yield pair
    raise InputError(
        "generated corpus", f"no new pair in {MAX_FAILURES:,} draws", "ask for fewer pairs"
    )


SEPARATOR = " | "  # between persona and turns
