"""Draw pruning: the paths of gates, quality against heads kept, and where heads are kept.

Source: Voita et al. 2019.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from repro.core.numbering import FIRST, head_name
from repro.plots.headlines import (
    cost_of_pruning,
    decided_gates,
    fewest_heads,
    last_kept,
    listed,
)
from repro.plots.line_names import ROW, name_at_ends, spacing_of
from repro.plots.maps import Matrix, heatmaps
from repro.plots.style import (
    COLORS,
    DASHES,
    INK,
    SYMBOLS,
    check_drawn,
    empty_figure,
    escape,
    headline,
    panel_cell,
    panel_figure,
    rounded,
)

Curve = tuple[Sequence[int], Sequence[float]]
"""Heads kept and scores, one entry per model; the one with most heads is the unpruned model."""


def gate_paths(layers: Sequence[np.ndarray], decided: float) -> go.Figure:
    """Draw the parameters of gates over training, a line per head, colour and dash by layer.

    Args:
        layers: the log alpha of the heads of each layer after each update, `(num_updates,
            num_heads)`.
        decided: the size from which the rule `soft` gives exactly 1 or 0, as `sign` always does. It
            is dotted on either side of 0.

    Raises:
        InputError: nothing to draw.
    """
    check_drawn(layers)
    num_heads = sum(np.shape(paths)[1] for paths in layers)
    figure = empty_figure(max(360, 110 + ROW * num_heads))  # a row for the name of each
    updates = np.arange(1, len(layers[0]) + 1)
    for layer, paths in enumerate(layers):
        for head, path in enumerate(np.transpose(paths)):
            figure.add_scatter(
                x=updates,
                y=rounded(path),
                mode="lines",
                name=head_name(layer, head),
                line={"color": COLORS[layer % len(COLORS)], "dash": DASHES[layer % len(DASHES)]},
                hovertemplate="%{fullData.name}<br>%{x:,}: %{y:.4~f}<extra></extra>",
            )
    for limit, meaning in ((decided, "open"), (-decided, "closed")):
        dotted = {
            "mode": "lines",
            "line": {"dash": "dot", "color": INK, "width": 1},
            "showlegend": False,
        }
        figure.add_scatter(
            x=updates[[0, -1]],
            y=rounded([limit, limit]),
            hovertemplate="%{y:.4~f}<extra></extra>",
            **dotted,
        )
        figure.add_annotation(
            text=f"{meaning} from here",
            x=0,
            xref="paper",
            xanchor="left",
            y=limit,
            yref="y",
            yanchor="bottom" if limit > 0 else "top",
            showarrow=False,
        )
    figure.update_xaxes(title_text="updates")
    figure.update_yaxes(title_text="a, the log alpha of a gate", zeroline=True, zerolinecolor=INK)
    last = np.concatenate([paths[-1] for paths in layers])
    return name_at_ends(headline(figure, decided_gates(last, decided)))


def pruning_curve(reproduced: Mapping[str, Curve], published: Mapping[str, Curve]) -> go.Figure:
    """Draw the cost of pruning against the share of heads kept (Voita et al. 2019, Figure 7).

    Scores are differences to the model with all heads, and heads are shares: corpora and shapes
    differ.

    Args:
        reproduced, published: curves by name; published ones are grey and dashed. The model with
            all heads comes first if others kept all heads too.
    """
    figure, costs = empty_figure(height=400), []
    drawn = [(name, curve, False) for name, curve in reproduced.items()] + [
        (name, curve, True) for name, curve in published.items()
    ]
    for place, (name, (kept, scores), is_published) in enumerate(drawn):
        whole = int(np.argmax(kept))  # the first of those with all heads
        order = np.argsort(kept, kind="stable")
        most, its_score = kept[whole], scores[whole]
        kept, scores = np.asarray(kept)[order], np.asarray(scores, dtype=float)[order]
        if not is_published:
            share, change = 100 * kept[0] / most, float(scores[0] - its_score)
            costs.append(cost_of_pruning(name, share, change))
        color = INK if is_published else COLORS[place % len(COLORS)]
        symbol = SYMBOLS[place % len(SYMBOLS)] + ("-open" if is_published else "")
        figure.add_scatter(
            x=rounded(100 * kept / most),
            y=rounded(scores - its_score),
            customdata=np.stack([kept, rounded(scores)], axis=1),
            mode="lines+markers",
            name=escape(name),
            line={"color": color, "dash": "dash" if is_published else "solid"},
            marker={"symbol": symbol, "size": 8},
            hovertemplate="%{customdata[0]} heads kept: BLEU %{customdata[1]:.4~f} (%{y:+.4~f})",
        )
    figure.update_xaxes(title_text="heads kept, % of all", range=[103, -3])
    figure.update_yaxes(title_text="BLEU, difference to all heads")
    return name_at_ends(headline(figure, listed(costs)))


def heads_kept_by_site(models: Mapping[str, Mapping[str, Sequence[int]]]) -> go.Figure:
    """Draw heads kept by site against all heads kept, a panel per series of models.

    Source: Voita et al. 2019, Figure 9.

    Args:
        models: title of the panel -> site -> heads kept, one number per model.
    """
    names = list(dict.fromkeys(site for sites in models.values() for site in sites))
    gap = spacing_of(names, 2)
    figure = panel_figure(list(models), 2, cell_height=260, horizontal_spacing=gap)
    for panel, sites in enumerate(models.values()):
        totals = np.sum(list(sites.values()), axis=0)
        for site, kept in sites.items():
            place = names.index(site)
            line = go.Scatter(
                x=totals,
                y=np.asarray(kept),
                mode="lines+markers",
                name=escape(site),
                line_color=COLORS[place],
                marker={"symbol": SYMBOLS[place], "size": 7},
                hovertemplate="%{x} heads kept, %{y} of them here",
            )
            figure.add_trace(line, **panel_cell(panel, 2))
        figure.update_xaxes(
            range=[1.03 * totals.max(), -0.03 * totals.max()],
            title_text="heads kept in all",
            **panel_cell(panel, 2),
        )
    figure.update_yaxes(rangemode="tozero").update_yaxes(title_text="heads kept at the site", col=1)
    kept_by_site = [{site: sum(kept) for site, kept in sites.items()} for sites in models.values()]
    return name_at_ends(headline(figure, fewest_heads(kept_by_site)))


def heads_kept_by_layer(
    sites: Mapping[str, np.ndarray],
    models: Sequence[str],
    layers: Sequence[str] | None = None,
    counted: str = "heads kept in all",
) -> go.Figure:
    """Draw heads kept by layer as pruning goes on, a panel per site.

    Source: Voita et al. 2019, Figure 10.

    Args:
        sites: heads kept, `(num_rows, num_models)`.
        models: labels of the models, for example all heads kept.
        layers: labels of the rows, each of one layer or several; default: a row is a layer.
        counted: what the labels of the models count.
    """
    check_drawn(sites)
    matrices = [
        Matrix(name, kept, layers or [str(i + FIRST) for i in range(len(kept))], models)
        for name, kept in sites.items()
    ]
    largest = max(np.nanmax(kept) for kept in sites.values())
    form: dict[str, Any] = {"value_format": ".0f", "text_format": ".0f", "num_columns": 2}
    figure = heatmaps(
        matrices,
        "layer",
        f"model: {counted}",
        "heads kept in the layer",
        (0, float(largest)),
        **form,
    )
    return headline(figure, last_kept(sites, matrices[0].row_labels))
