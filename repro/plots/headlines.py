"""Say in a sentence what a figure shows, from its numbers, in text as typed."""

from collections.abc import Mapping, Sequence

import numpy as np

from repro.core.numbering import head_name

MOST = 3  # systems named


def listed(parts: Sequence[str], most: int = MOST) -> str:
    """Return parts in a row; of many only the first."""
    more = f" and {len(parts) - most} more" if len(parts) > most else ""
    between = "; " if any("," in part for part in parts) else ", "
    return between.join(parts[:most]) + more


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


def falls(labels: Sequence[str], ends: Mapping[str, tuple[float, float]]) -> str:
    """Return how far accuracy changes from the first bin to the last, in points; NaN = unknown."""
    found = [f"{name} {last - first:+.1f}" for name, (first, last) in ends.items()]
    known = [text for text in found if "nan" not in text]
    if len(labels) < 2 or not known:
        return ""
    return f"From {labels[0]} to {labels[-1]} words, accuracy changes by: {listed(known)} points"


def at_longest(length: int, ends: Mapping[str, float], unit: str) -> str:
    """Return the smallest and the largest value at the greatest length, in tokens."""
    least, most = min(ends, key=ends.__getitem__), max(ends, key=ends.__getitem__)
    low, high = (f"{x:,.0f}" if x >= 100 else f"{x:.3g}" for x in (ends[least], ends[most]))
    if least == most:
        return f"At {length:,} tokens: {low} {unit}"
    return f"At {length:,} tokens: from {low} {unit} ({least}) to {high} ({most})"


def surely_below(highs: Sequence[float]) -> str:
    """Return how many of the intervals with these upper ends are below 0."""
    count = sum(high < 0 for high in highs)
    return f"{count} of {len(highs)} changes {'is' if count == 1 else 'are'} surely below 0"


def inside(published: np.ndarray, low: np.ndarray, high: np.ndarray) -> str:
    """Return how many intervals hold the published difference, of those with one."""
    given = np.isfinite(published)
    held = int((given & (low <= published) & (published <= high)).sum())
    count = int(given.sum())
    return f"{held} of {count} intervals hold{'s' * (held == 1)} the published number" * (count > 0)


def cost_of_pruning(name: str, share: float, change: float) -> str:
    """Return what is lost at the smallest share of heads kept, in percent, and BLEU."""
    return f"{name}: {change:+.2f} BLEU with {share:.0f} % of the heads"


def decided_gates(last: np.ndarray, decided: float) -> str:
    """Return how many gates are open and closed for certain, from their last parameters."""
    opened, closed = int((last >= decided).sum()), int((last <= -decided).sum())
    between = last.size - opened - closed
    return f"Of {last.size} gates, {opened} end open, {closed} closed and {between} in between"


def fewest_heads(series: Sequence[Mapping[str, int]]) -> str:
    """Return the site that most series of pruned models leave with the fewest heads.

    Args:
        series: heads kept by site, over all pruned models of a series.
    """
    least = [min(sites, key=sites.__getitem__) for sites in series if len(sites) > 1]
    if not least:
        return ""
    site = max(least, key=least.count)
    where = f" in {least.count(site)} of {len(least)} series" if len(least) > 1 else ""
    return f"{site} keeps fewest heads{where}"


def last_kept(kept: Mapping[str, np.ndarray], layers: Sequence[str]) -> str:
    """Return where the last model keeps most heads.

    Args:
        kept: heads by site, `(num_rows, num_models)`.
        layers: labels of the rows.
    """
    site = max(kept, key=lambda name: np.nanmax(kept[name][:, -1]))
    last = kept[site][:, -1]
    row = int(np.nanargmax(last))
    return f"In the last model, layer {layers[row]} of {site} keeps most heads: {last[row]:g}"


def largest_head(sites: Mapping[str, np.ndarray], digits: str = ".2f") -> str:
    """Return the head with the largest number, by size, of `(num_layers, num_heads)` a site."""
    known = {name: values for name, values in sites.items() if np.isfinite(values).any()}
    if not known:
        return ""
    site = max(known, key=lambda name: np.nanmax(np.abs(known[name])))
    values = known[site]
    layer, head = divmod(int(np.nanargmax(np.abs(values))), values.shape[1])
    return f"Largest in {site}, {head_name(layer, head)}: {values[layer, head]:{digits}}"


def highest_mean(models: Mapping[str, np.ndarray], quantity: str) -> str:
    """Return the models with the highest and the lowest mean of a quantity over all heads."""
    means = {n: float(np.nanmean(v)) for n, v in models.items() if np.isfinite(v).any()}
    if not means:
        return ""
    low, high = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    if low == high:
        return f"{high}: {quantity} {means[high]:.2f} on average"
    lowest = f"lowest in {low}, {means[low]:.2f}"
    return f"{quantity}: highest in {high}, {means[high]:.2f} on average; {lowest}"


def widest_apart(models: Mapping[str, np.ndarray]) -> str:
    """Return the model whose layers differ most, from divergences in nats."""
    name = max(models, key=lambda name: np.nanmax(models[name], initial=0))
    return f"Layers of {name} differ most, by up to {np.nanmax(models[name], initial=0):.2f} nats"


def steadiest(shares: np.ndarray, rows: Sequence[str], offsets: Sequence[str]) -> str:
    """Return the head that looks at one offset most often.

    Args:
        shares: of queries, `(num_heads, num_offsets)`.
        rows, offsets: the labels.
    """
    if not np.isfinite(shares).any():
        return ""
    row, column = divmod(int(np.nanargmax(shares)), shares.shape[1])
    share = 100 * shares[row, column]
    return (
        f"Head {rows[row]} is the steadiest: {share:.0f} % of its queries look at {offsets[column]}"
    )


def sharp_weights(shares: Mapping[str, float], least: float, layer: str) -> str:
    """Return the shares of weights of at least `least`, in a layer, by model."""
    found = [f"{name} {100 * share:.1f} %" for name, share in shares.items()]
    return f"Weights from {least:g} in {layer}: {listed(found)}" if found else ""


def roles_found(counts: Sequence[tuple[int, int]]) -> str:
    """Return how many heads have a role, of all, in the first bar and in the last."""
    (found, whole), (found_last, whole_last) = counts[0], counts[-1]
    text = f"{found} of {whole} heads have a role"
    if len(counts) == 1:
        return text
    return f"{text} in the first bar, {found_last} of {whole_last} in the last"
