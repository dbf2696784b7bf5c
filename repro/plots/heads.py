"""Draw what the heads of a model do: numbers by head, distributions, roles.

Arrays come from `analysis/` and are `(num_layers, num_heads)` unless said otherwise. A missing
head is NaN and stays empty, never 0.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from repro.core.numbering import FIRST, head_name, head_number, layer_name
from repro.plots.headlines import (
    highest_mean,
    largest_head,
    roles_found,
    sharp_weights,
    steadiest,
    widest_apart,
)
from repro.plots.line_names import name_at_ends, spacing_of
from repro.plots.maps import Matrix, heatmaps
from repro.plots.style import (
    COLORS,
    DIVERGING,
    INK,
    SYMBOLS,
    check_drawn,
    empty_figure,
    escape,
    headline,
    panel_cell,
    panel_figure,
    rounded,
    ticks,
)

ROLES = ("positional", "syntactic", "rare", "several", "unknown")
ROLE_COLORS = dict(zip(ROLES, (*COLORS[:4], INK), strict=True))
NO_ROLE = "No head meets the criterion of any role"
SHARP = 0.9  # weights from here on are counted in the headline of their histogram
MAX_LABELLED = 16  # heads; more labels would hide heads


def head_values(
    sites: Mapping[str, np.ndarray], quantity: str, limits: tuple[float, float] | None = None
) -> go.Figure:
    """Draw a number of each head, layer by layer, such as confidence, relevance or entropy.

    Args:
        sites: the numbers, a panel each; all share one colour scale.
        quantity: their name, with the unit.
        limits: the ends of the scale. Default: from 0 to the largest; around 0, in two colours, if
            any is negative.
    """
    check_drawn(sites)
    found = np.concatenate([np.ravel(values) for values in sites.values()])
    found = found[np.isfinite(found)]
    low, high = found.min(initial=0), found.max(initial=0)
    extent = max(-low, high)
    limits = limits or ((-extent, extent) if low < 0 else (0, high or 1))
    matrices = [_numbered(name, values) for name, values in sites.items()]
    digits: dict[str, Any] = {
        "value_format": "+.4~f" if low < 0 else ".4~f",
        "text_format": "+.2f" if low < 0 else ".2f",
    }
    figure = heatmaps(
        matrices,
        "layer",
        "head",
        quantity,
        limits,
        colorscale=DIVERGING if low < 0 else None,
        **digits,
    )
    return headline(figure, largest_head(sites, digits["text_format"]))


def divergence_matrix(models: Mapping[str, np.ndarray]) -> go.Figure:
    """Draw the Jensen-Shannon divergence between layers, in nats (Zeng et al. 2021, Figure 7).

    Args:
        models: `(num_layers, num_layers)`, a panel each.
    """
    check_drawn(models)
    largest = max(np.nanmax(values, initial=0) for values in models.values())
    matrices = [_numbered(name, values) for name, values in models.items()]
    figure = heatmaps(
        matrices, "layer", "layer", "divergence, nats", (0, largest or 1), text_format=".2f"
    )
    return headline(figure, widest_apart(models))


def offset_histograms(shares: np.ndarray) -> go.Figure:
    """Draw how often each head points to each offset, a row per head: layer.head.

    The scale ends at the largest share.

    Args:
        shares: of queries, `(num_layers, num_heads, 2 * radius + 1)`, offsets from -radius to
            radius.
    """
    num_layers, num_heads, num_offsets = shares.shape
    rows = [head_number(layer, head) for layer in range(num_layers) for head in range(num_heads)]
    offsets = [
        f"{offset:+d}" if offset else "0"
        for offset in range(-(num_offsets // 2), num_offsets // 2 + 1)
    ]
    shares = shares.reshape(len(rows), num_offsets)
    figure = heatmaps(
        [Matrix("", shares, rows, offsets)],
        "layer.head",
        "offset of the key from the query, tokens",
        "share of queries",
        (0, float(np.nanmax(shares, initial=0)) or 1),
    )
    return headline(figure, steadiest(shares, rows, offsets))


def head_bars(sites: Mapping[str, np.ndarray], quantity: str) -> go.Figure:
    """Draw a number of each head as bars, grouped by layer (You et al. 2020, Figure 2)."""
    figure = panel_figure(list(sites), 3, cell_height=240, shared_yaxes=True)
    for panel, values in enumerate(sites.values()):
        values = rounded(values)
        num_layers, num_heads = values.shape
        layer, head = np.indices(values.shape)
        width = 0.8 / max(1, num_heads)  # some sites have no heads
        there = np.isfinite(values)
        bars = go.Bar(
            x=rounded((layer - 0.4 + head * width)[there]),
            y=values[there],
            offset=0,
            width=round(width * 0.9, 4),
            marker_color=COLORS[0],
            showlegend=False,
            hovertext=[head_name(i, j) for i, j in np.argwhere(there)],
            hovertemplate="%{hovertext}: %{y:,.4~f}<extra></extra>",
        )
        figure.add_trace(bars, **panel_cell(panel, 3))
        for missing in np.flatnonzero(~there.any(axis=1)):
            note = {"text": "none", "showarrow": False, "yanchor": "bottom"}
            figure.add_annotation(x=int(missing), y=0, **note, **panel_cell(panel, 3))
        labels = ticks([str(i + FIRST) for i in range(num_layers)])
        figure.update_xaxes(
            **labels,
            range=[-0.6, num_layers - 0.4],
            title_text="layer",
            showgrid=False,
            **panel_cell(panel, 3),
        )
    headline(figure, largest_head(sites))
    largest = max(np.nanmax(values, initial=0) for values in sites.values())
    return figure.update_yaxes(range=[0, 1.05 * largest or 1]).update_yaxes(
        title_text=escape(quantity), col=1
    )


def entropy_by_layer(models: Mapping[str, np.ndarray], y_title: str = "entropy, nats") -> go.Figure:
    """Draw the mean over heads by layer as a line, and every head as a dot.

    Source: Zeng et al. 2021, Figure 4.
    """
    check_drawn(models)
    figure = empty_figure()
    num_layers = max(len(values) for values in models.values())
    for place, (name, values) in enumerate(models.items()):
        values = np.asarray(values, dtype=float)
        color, symbol = COLORS[place % len(COLORS)], SYMBOLS[place % len(SYMBOLS)]
        present = np.isfinite(values)
        means = np.divide(
            np.nansum(values, axis=1),
            present.sum(axis=1),
            out=np.full(len(values), np.nan),
            where=present.any(axis=1),
        )
        same = {"name": escape(name), "legendgroup": str(place)}
        line = {
            "mode": "lines+markers",
            "line": {"color": color},
            "marker": {"symbol": symbol, "size": 9},
        }
        figure.add_scatter(
            x=np.arange(len(values)),
            y=rounded(means),
            **line,
            **same,
            hovertemplate="layer %{x}, mean: %{y:.4~f}",
        )
        layer, head = np.nonzero(present)
        dots = {
            "mode": "markers",
            "marker": {"color": color, "symbol": symbol, "size": 5, "opacity": 0.6},
            "showlegend": False,
        }
        figure.add_scatter(
            x=rounded(layer + 0.08 + 0.05 * place),
            y=rounded(values[present]),
            hovertext=[head_name(int(i), int(j)) for i, j in zip(layer, head, strict=True)],
            hovertemplate="%{hovertext}: %{y:.4~f}",
            **dots,
            **same,
        )
    figure.update_xaxes(
        **ticks([str(i + FIRST) for i in range(num_layers)]),
        range=[-0.3, num_layers - 0.5],
        title_text="layer: large marks are means, small ones single heads",
    )
    figure.update_yaxes(title_text=escape(y_title), rangemode="tozero")
    return name_at_ends(headline(figure, highest_mean(models, y_title)))


def weight_histograms(models: Mapping[str, np.ndarray], layers: Sequence[int]) -> go.Figure:
    """Draw histograms of the weights of chosen layers, all heads together, on a logarithmic scale.

    Source: Zeng et al. 2021, Figure 5.

    Args:
        models: counts of weights by bin, `(num_layers, num_heads, num_bins)`; bins are equally wide
            from 0 to 1.
        layers: the layers, a panel each.
    """
    gap = spacing_of(list(models), 2)
    titles = [layer_name(layer) for layer in layers]
    figure = panel_figure(titles, 2, cell_height=240, horizontal_spacing=gap)
    sharp: dict[str, float] = {}  # of the last layer that is drawn
    for panel, layer in enumerate(layers):
        for place, (name, counts) in enumerate(models.items()):
            if not np.size(counts):
                continue  # a site without heads
            bins = np.asarray(counts)[layer].sum(axis=0)
            edges = np.linspace(0, 1, len(bins) + 1)
            # The last edge closes the last step.
            shares = np.append(bins, bins[-1]) / (bins.sum() or np.nan)
            sharp[name] = float(shares[:-1][edges[:-1] >= SHARP - 1e-9].sum())
            steps = go.Scatter(
                x=rounded(edges),
                y=np.where(shares > 0, shares, np.nan).astype(np.float32),
                mode="lines",
                line={
                    "shape": "hv",
                    "color": COLORS[place % len(COLORS)],
                    "dash": ("solid", "dash", "dot", "dashdot")[place % 4],
                },
                name=escape(name),
                hovertemplate="from %{x}: %{y:.3~%} of the weights",
            )
            figure.add_trace(steps, **panel_cell(panel, 2))
    figure.update_xaxes(title_text="weight", range=[0, 1])
    figure.update_yaxes(type="log", exponentformat="power", matches="y")
    figure.update_yaxes(title_text="share of weights", col=1)
    return name_at_ends(headline(figure, sharp_weights(sharp, SHARP, titles[-1])))


def confidence_against_relevance(
    confidence: np.ndarray,
    relevance: np.ndarray,
    roles: Sequence[Sequence[tuple[str, ...]]] | None = None,
) -> go.Figure:
    """Draw every head of a site by its confidence and relevance, coloured by role.

    In a small model every head is labelled layer.head; in a larger one, the most relevant head of
    each layer. Source: Voita et al. 2019, Figures 1 and 2.

    Args:
        confidence, relevance: as measured.
        roles: from `analysis.heads.head_roles`; None = unknown.
    """
    figure = empty_figure(height=420)
    heads = [
        (int(i), int(j)) for i, j in np.argwhere(np.isfinite(confidence) & np.isfinite(relevance))
    ]
    top = (
        {(i, j) for i, j in heads if relevance[i, j] == np.nanmax(relevance[i])}
        if len(heads) > MAX_LABELLED
        else set(heads)
    )
    beside = _label_positions(
        [(confidence[i, j], relevance[i, j]) for i, j in heads], [place in top for place in heads]
    )
    for role in ROLES:
        group = [(i, j) for i, j in heads if _role(roles, i, j) == role]
        if not group:
            continue
        figure.add_scatter(
            x=rounded(confidence[i, j] for i, j in group),
            y=rounded(relevance[i, j] for i, j in group),
            text=[head_number(i, j) if (i, j) in top else "" for i, j in group],
            hovertext=[
                f"{head_name(i, j)}, " + " and ".join(roles[i][j] if roles else ["role unknown"])
                for i, j in group
            ],
            mode="markers+text",
            textposition=[beside[heads.index(place)] for place in group],
            marker={"color": ROLE_COLORS[role], "symbol": SYMBOLS[ROLES.index(role)], "size": 9},
            name=role,
            hovertemplate="%{hovertext}<br>confidence %{x:.4~f}, "
            "relevance %{y:.4~f}<extra></extra>",
        )
    has_roles = {trace.name for trace in figure.data} != {"unknown"}
    if roles is not None and not has_roles:
        headline(figure, NO_ROLE)
    figure.update_layout(showlegend=roles is not None and has_roles)  # one role too is named
    largest = max((relevance[i, j] for i, j in heads), default=1)
    figure.update_xaxes(title_text="confidence: mean largest weight", range=[0, 1.05])
    return figure.update_yaxes(
        title_text="relevance: share of the layer", range=[-0.05 * largest, 1.15 * largest]
    )


def roles_by_layer(roles: Sequence[Sequence[tuple[str, ...]]]) -> go.Figure:
    """Draw the number of heads by role in each layer (Voita et al. 2019, Figures 1c, 2b and 2d).

    Args:
        roles: from `analysis.heads.head_roles`; () for a missing head.
    """
    places = [[(i, j) for j, found in enumerate(layer) if found] for i, layer in enumerate(roles)]
    counts = {
        str(i): Counter(_role(roles, *place) for place in layer) for i, layer in enumerate(places)
    }
    return role_counts(counts, "layer")


def role_counts(counts: Mapping[str, Mapping[str, int]], x_title: str) -> go.Figure:
    """Draw stacked bars of heads by role, a bar per layer or model (Voita et al. 2019, Figure 8).

    Args:
        counts: label of the bar -> role, one of `ROLES` -> heads.
        x_title: the meaning of the labels.
    """
    check_drawn(counts)
    figure = empty_figure()
    base = np.zeros(len(counts), dtype=int)
    for role in ROLES:
        heights = np.array([found.get(role, 0) for found in counts.values()])
        if heights.any():
            figure.add_bar(
                x=np.arange(len(counts)),
                y=heights,
                base=base,
                offset=-0.35,
                width=0.7,
                name=role,
                marker_color=ROLE_COLORS[role],
                customdata=heights,
                hovertemplate="%{x}: %{customdata} heads<extra>%{fullData.name}</extra>",
            )
        base = base + heights
    labels = ticks([escape(label) for label in counts])
    figure.update_xaxes(
        **labels, range=[-0.6, len(counts) - 0.4], title_text=escape(x_title), showgrid=False
    )
    figure.update_yaxes(title_text="heads", range=[0, 1.05 * base.max()])
    wholes = [sum(heads.values()) for heads in counts.values()]
    known = [
        whole - heads.get("unknown", 0)
        for whole, heads in zip(wholes, counts.values(), strict=True)
    ]
    text = roles_found(list(zip(known, wholes, strict=True))) if any(known) else NO_ROLE
    return name_at_ends(headline(figure, text))


def _role(roles: Sequence[Sequence[tuple[str, ...]]] | None, layer: int, head: int) -> str:
    found = roles[layer][head] if roles else ("unknown",)
    return found[0] if len(found) == 1 else "several"


def _label_positions(points: Sequence[tuple[float, float]], labelled: Sequence[bool]) -> list[str]:
    """Return the position of each point's label: above it, or where the fewest others are."""
    if not points:
        return []
    largest = max(1e-9, *(y for _, y in points))
    # About as many labels fit next to each other and on top of each other.
    places = np.array([(x * 48, y / largest * 24) for x, y in points])
    offsets = {
        "top center": (0.0, 1.0),
        "bottom center": (0.0, -1.0),
        "middle right": (1.2, 0.0),
        "middle left": (-1.2, 0.0),
    }
    taken, found = [*places], []
    for place, has_label in zip(places, labelled, strict=True):
        nearest = {
            name: min(_label_distance(place + offset, other) for other in taken)
            for name, offset in offsets.items()
        }
        best = next(
            (name for name, gap in nearest.items() if gap >= 1),
            max(nearest, key=lambda name: nearest[name]),
        )
        found.append(best)
        if has_label:
            taken.append(place + offsets[best])
    return found


def _label_distance(label: np.ndarray, other: np.ndarray) -> float:
    """Return the distance between a label and a point or label, in label sizes; 1 leaves room."""
    across, up = np.abs(label - other)
    return float(max(across / 1.2, up))


def _numbered(name: str, values: np.ndarray) -> Matrix:
    num_rows, num_columns = np.shape(values)
    return Matrix(
        name,
        values,
        [str(i + FIRST) for i in range(num_rows)],
        [str(i + FIRST) for i in range(num_columns)],
    )
