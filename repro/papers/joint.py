"""Join the estimates of several parts of a test set into one, which a claim on all of them needs."""

from collections.abc import Sequence
from dataclasses import replace

from repro.statistics.intervals import Estimate


def least(found: Sequence[Estimate]) -> Estimate:
    """Return the smallest of several numbers.

    If its interval is above a bound, so are all of them: each is tested by itself, as in an
    intersection-union test (Berger 1982).
    """
    smallest = min(found, key=lambda one: one.value)
    low, high = (min(one.ends[end] for one in found) for end in (0, 1))
    return replace(
        smallest, low=low, high=high, over=f"the least of {len(found)} parts", detectable=None
    )
