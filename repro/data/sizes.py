"""Sizes of the published corpora, so that tables need no text for them; `tests/test_real_corpora.py` counts them again."""

import json
from functools import cache
from pathlib import Path

from repro.data.corpora import load_once
from repro.data.parallel import Statistics


def statistics_of(corpus: str, source: str, target: str) -> Statistics:
    """Return pairs and mean lengths of a corpus: the known ones of a published corpus, else those of the corpus at hand.

    Raises:
        MachineError: they are not known, and the corpus is not at hand.
    """
    if known := known_sizes().get(f"{corpus} {source}-{target}"):
        return known
    return load_once(corpus, source, target).statistics(source, target)


@cache
def known_sizes() -> dict[str, Statistics]:
    """Return the known sizes by corpus and direction."""
    found = json.loads(Path(__file__).with_name("sizes.json").read_text("utf-8"))
    return {name: Statistics(**values) for name, values in found.items()}
