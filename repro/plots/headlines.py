"""Say in a sentence what a figure shows, from its numbers; text is escaped already where it is."""

from collections.abc import Mapping, Sequence

import numpy as np

MOST = 3  # systems named


def listed(parts: Sequence[str]) -> str:
    """Return parts in a row; of many only the first."""
    more = f" and {len(parts) - MOST} more" if len(parts) > MOST else ""
    return ", ".join(parts[:MOST]) + more


def lowest_loss(ends: Mapping[str, float]) -> str:
    """Return which run ends lowest, from the last losses on dev in nats per token."""
    if not ends:
        return ""
    best = min(ends, key=ends.__getitem__)
    if len(ends) == 1:
        return f"{best} ends at {ends[best]:.2f} nats per token on dev"
    return f"{best} ends lowest on dev, at {ends[best]:.2f} nats per token"


def last_gaps(updates: int, gaps: Mapping[str, float]) -> str:
    """Return the differences after the last update; NaN was not measured."""
    known = [f"{name} {gap:+.2f}" for name, gap in gaps.items() if np.isfinite(gap)]
    return f"After {updates:,} updates: {listed(known)}" if known else ""


def sure_bins(bounds: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> str:
    """Return in how many bins each system is surely above or below 0.

    Args:
        bounds: the ends of the intervals of each bin, `(num_bins,)`, by system; NaN where nothing
            was measured.
    """
    parts = []
    for name, (low, high) in bounds.items():
        measured = int(np.isfinite(low).sum())
        found = [
            f"{word} in {count} of {measured} bins"
            for word, count in (("above 0", (low > 0).sum()), ("below 0", (high < 0).sum()))
            if count
        ]
        parts.append(f"{name} is {' and '.join(found)}" if found else f"{name} is undecided")
    return listed(parts)


def inside(published: np.ndarray, low: np.ndarray, high: np.ndarray) -> str:
    """Return how many intervals hold the published difference, of those with one."""
    given = np.isfinite(published)
    held = int((given & (low <= published) & (published <= high)).sum())
    count = int(given.sum())
    return f"{held} of {count} intervals hold{'s' * (held == 1)} the published number" * (count > 0)


def cost_of_pruning(name: str, share: float, change: float) -> str:
    """Return what is lost at the smallest share of heads kept, in percent, and BLEU."""
    return f"{name}: {change:+.2f} BLEU with {share:.0f} % of the heads"
