"""Sizes of the published corpora, so that tables need no text.

`tests/test_real_corpora.py` counts them again.
"""

import json
from functools import cache
from pathlib import Path

from repro.data.corpora import load_once, load_pairs
from repro.data.parallel import Statistics
from repro.errors import InputError, MachineError


def corpus_statistics(corpus: str, source: str, target: str) -> Statistics:
    """Return pairs and mean lengths of a corpus: stored for a published one, else counted.

    Raises:
        MachineError: they are not stored, and the corpus is not on this machine.
    """
    if known := stored_sizes().get(f"{corpus} {source}-{target}"):
        return known
    return load_once(corpus, source, target).statistics(source, target)


def training_pairs(corpus: str, source: str, target: str) -> int:
    """Return the number of pairs that a corpus has to train on.

    Raises:
        MachineError: the corpus, or its training text, is not on this machine.
    """
    if found := corpus_statistics(corpus, source, target).train_pairs:
        return found
    try:
        return len(load_pairs(corpus, source, target, "train")[0])
    except InputError as error:
        raise MachineError(error.where, error.what, error.fix) from None


@cache
def stored_sizes() -> dict[str, Statistics]:
    """Return the stored sizes by corpus and direction, as in `multi30k en-de`."""
    found = json.loads(Path(__file__).with_name("sizes.json").read_text("utf-8"))
    return {name: Statistics(**values) for name, values in found.items()}
