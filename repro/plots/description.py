"""Describe a figure in words, for readers who cannot see it and for search."""

import html
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from repro.plots.headlines import listed
from repro.plots.style import numbers_of

MOST = 8  # names written out
_DRAWN = {
    "heatmap": "heat map",
    "bar": "bars",
    "lines": "lines",
    "markers": "points",
    "lines+markers": "lines with points",
}


def describe(spec: dict[str, Any]) -> str:
    """Return one paragraph: kind of figure, title, panels, axes with their ranges, and names.

    A figure that has its own words in `meta` is described by those.

    Args:
        spec: `to_dict()` of a figure of this package.

    Raises:
        LookupError, ValueError: the figure holds something that this package does not draw.
    """
    layout, traces = spec["layout"], spec["data"]
    if words := layout.get("meta", {}).get("words"):
        return plain_text(words)
    kinds = dict.fromkeys(
        _DRAWN[trace.get("mode", "").replace("+text", "") or trace["type"]] for trace in traces
    )
    title, names = (
        plain_text(layout.get("title", {}).get("text")),
        _names(trace.get("name") for trace in traces),
    )
    parts = [" and ".join(kinds).capitalize() + (f": {title}" if title else "")]
    is_map = "heatmap" in {trace["type"] for trace in traces}
    if names:
        parts.append(f"{'Panels' if is_map else 'Of'}: {names}")
    for what, which in (("Across", "x"), ("Up", "y")):
        axes = [value for name, value in layout.items() if name.startswith(f"{which}axis")]
        if titles := _names(axis.get("title", {}).get("text") for axis in axes):
            parts.append(f"{what}: {titles}{'' if is_map else _range(traces, which, axes)}")
    if is_map:
        scale = layout.get("coloraxis") or traces[0]
        limits = (scale.get(f"{letter}{end}") for end in ("min", "max") for letter in ("c", "z"))
        low, high = (limit for limit in limits if limit is not None)
        has_own = not any(trace.get("showscale", True) for trace in traces)
        end = "the largest of each panel" if has_own else f"{high:.4g}"
        name = plain_text(scale["colorbar"]["title"]["text"])
        parts.append(f"Colour: {name}, from {low:.4g} to {end}")
    return ". ".join(parts) + "."


def plain_text(escaped: str | None) -> str:
    """Return text of a figure as it was typed, on one line."""
    return html.unescape((escaped or "").replace("<br>", " "))


def _names(texts: Iterable[str | None]) -> str:
    return listed(list(dict.fromkeys(filter(None, map(plain_text, texts)))), MOST)


def _range(traces: Sequence[dict[str, Any]], which: str, axes: Sequence[dict[str, Any]]) -> str:
    """Return the range of the numbers on an axis; empty for an axis of labels."""
    if any("ticktext" in axis for axis in axes):
        return ""
    found = np.concatenate([np.ravel(numbers_of(trace[which])).astype(float) for trace in traces])
    found = found[np.isfinite(found)]
    return f", from {found.min():.4g} to {found.max():.4g}" if len(found) else ""
