"""Draw scores and costs: over training, length and distance, and published beside reproduced."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from repro.plots.headlines import (
    at_longest,
    falls,
    inside,
    last_gaps,
    lowest_loss,
    sure_bins,
    surely_below,
)
from repro.plots.line_names import name_at_ends
from repro.plots.style import (
    COLORS,
    DASHES,
    INK,
    SYMBOLS,
    check_drawn,
    check_labels,
    empty_figure,
    escape,
    headline,
    panel_cell,
    panel_figure,
    rounded,
    ticks,
)

BAND_OPACITY = 0.15
Line = tuple[Sequence[float], Sequence[float]]


class Measured(NamedTuple):
    """Values with the ends of their intervals, one per bin; NaN where nothing was measured."""

    values: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


class Difference(NamedTuple):
    """A difference of scores as published and as reproduced, with the interval of the latter.

    `published` is NaN if the paper does not give it.
    """

    label: str
    published: float
    reproduced: float
    low: float
    high: float


def curves(lines: Mapping[str, Line], x_title: str, y_title: str, marks: bool = True) -> go.Figure:
    """Draw lines by name, each of x and y values.

    Args:
        lines: by name.
        x_title, y_title: the meaning of the axes, with the unit.
        marks: whether values are marked; lines without marks differ in their dashes.
    """
    return name_at_ends(_curves(lines, x_title, y_title, marks))


def _curves(lines: Mapping[str, Line], x_title: str, y_title: str, marks: bool) -> go.Figure:
    """Draw lines that are not named yet."""
    figure = empty_figure()
    for place, (name, (x, y)) in enumerate(lines.items()):
        dashed = {
            "line": {"color": COLORS[place % len(COLORS)], "dash": DASHES[place % len(DASHES)]}
        }
        look = (
            {"mode": "lines+markers", **_line_style(place)}
            if marks
            else {"mode": "lines", **dashed}
        )
        figure.add_scatter(x=rounded(x), y=rounded(y), name=escape(name), **look, hovertemplate=_XY)
    return figure.update_xaxes(title_text=escape(x_title)).update_yaxes(title_text=escape(y_title))


def training_curves(runs: Mapping[str, Iterable[Mapping[str, Any]]]) -> go.Figure:
    """Draw training: thin lines for the training data, thick ones with marks for the dev set.

    Args:
        runs: by name, the lines of `Run.metrics()`: `update`, `nll` and sometimes `dev_nll`, in
            nats per token.
    """
    figure, ends = empty_figure(height=400), {}
    for place, (name, lines) in enumerate(runs.items()):
        lines = list(lines)
        thin = {
            "mode": "lines",
            "line": {
                "color": COLORS[place % len(COLORS)],
                "width": 1,
                "dash": DASHES[1 + place % 5],
            },
        }
        thick = {"mode": "lines+markers", **_line_style(place)}
        for split, quantity, look in (("training", "nll", thin), ("dev", "dev_nll", thick)):
            measured = [(line["update"], line[quantity]) for line in lines if quantity in line]
            x, y = (
                (rounded(values) for values in zip(*measured, strict=True))
                if measured
                else ([], [])
            )
            if measured and split == "dev":
                ends[name] = measured[-1][1]
            figure.add_scatter(
                x=x,
                y=y,
                name=escape(f"{name}, {split}"),
                legendgroup=str(place),
                hovertemplate=_XY,
                **look,
            )
    figure.update_xaxes(title_text="updates").update_yaxes(
        title_text="negative log-likelihood, nats per token"
    )
    return name_at_ends(headline(figure, lowest_loss(ends)))


def gaps_over_updates(
    systems: Mapping[str, tuple[Sequence[float], Measured]], y_title: str
) -> go.Figure:
    """Draw differences to a baseline over training, each with the band of its interval.

    Args:
        systems: by name, the updates, and the difference after each.
        y_title: the difference, with its unit.

    Raises:
        InputError: no system.
    """
    check_drawn(systems)
    figure = empty_figure(height=400)
    for place, (name, (updates, measured)) in enumerate(systems.items()):
        values, low, high = (np.asarray(numbers, dtype=float) for numbers in measured)
        x, known, color = np.asarray(updates), np.isfinite(low), COLORS[place % len(COLORS)]
        figure.add_scatter(
            x=np.concatenate([x[known], x[known][::-1]]),
            y=rounded(np.concatenate([low[known], high[known][::-1]])),
            mode="lines",
            line={"width": 0, "color": color},
            fill="toself",
            fillcolor=color,
            opacity=BAND_OPACITY,
            showlegend=False,
            hovertemplate=_XY,
        )
        figure.add_scatter(
            x=x,
            y=rounded(values),
            mode="lines+markers",
            name=escape(name),
            hovertemplate=_XY,
            **_line_style(place),
        )
    figure.update_yaxes(zeroline=True, zerolinecolor=INK, zerolinewidth=1)
    figure.update_xaxes(title_text="updates").update_yaxes(title_text=escape(y_title))
    last = max(int(updates[-1]) for updates, _ in systems.values())
    gaps = {
        name: float(measured.values[-1])
        for name, (updates, measured) in systems.items()
        if updates[-1] == last
    }
    return name_at_ends(headline(figure, last_gaps(last, gaps)))


def differences_by_length(
    bins: Sequence[str],
    systems: Mapping[str, Measured],
    num_sentences: Sequence[int],
    x_title: str,
    y_title: str,
) -> go.Figure:
    """Draw differences by length with their intervals, such as those of BLEU to a baseline.

    Sources: You et al. 2020, Figure 4; Cui et al. 2019 and Raganato et al. 2020, Figure 2; Zeng et
    al. 2021, Figure 8.

    Args:
        bins: labels of the lengths, in order.
        systems: the difference of each bin by system.
        num_sentences: of each bin, written below its label.
        x_title: the length on the axis, with its unit.
        y_title: the difference, with its unit.
    """
    figure = _by_bin(
        _with_counts(bins, num_sentences), systems, f"{x_title}; number of sentences", y_title
    )
    figure.update_yaxes(zeroline=True, zerolinecolor=INK, zerolinewidth=1)
    bounds = {
        name: (np.asarray(found.low, float), np.asarray(found.high, float))
        for name, found in systems.items()
    }
    return name_at_ends(headline(figure, sure_bins(bounds)))


def accuracy_by_distance(distances: Sequence[str], systems: Mapping[str, Measured]) -> go.Figure:
    """Draw accuracy on contrastive pairs by distance, with its interval.

    Sources: You et al. 2020, Figure 5; Raganato et al. 2020, Figure 3.

    Args:
        distances: labels, in order, in words.
        systems: accuracy in percent of each distance, by system.
    """
    labels = [escape(label) for label in distances]
    figure = _by_bin(labels, systems, "distance, words", "accuracy, %")
    ends = {name: (found.values[0], found.values[-1]) for name, found in systems.items()}
    return name_at_ends(headline(figure, falls(distances, ends)))


def speed_by_length(
    systems: Mapping[str, Line], y_title: str = "target tokens per second"
) -> go.Figure:
    """Draw speed, time or memory against length on logarithmic scales: a power law is a line.

    Args:
        systems: lengths in tokens and measured values, by system.
        y_title: the measured quantity, with its unit.
    """
    check_drawn(systems)
    figure = _curves(systems, "length, tokens", y_title, marks=True)
    lengths = sorted({int(length) for line in systems.values() for length in line[0]})
    values = [value for line in systems.values() for value in line[1]]
    decades = range(int(np.floor(np.log10(min(values)))), int(np.ceil(np.log10(max(values)))) + 1)
    marks = [digit * 10.0**power for power in decades for digit in (1, 2, 5)]
    figure.update_xaxes(
        type="log", tickvals=lengths, ticktext=[f"{length:,}" for length in lengths]
    )
    figure.update_yaxes(type="log", tickvals=marks, ticktext=[f"{mark:,g}" for mark in marks])
    ends = {name: line[1][-1] for name, line in systems.items() if line[0][-1] == lengths[-1]}
    return name_at_ends(headline(figure, at_longest(lengths[-1], ends, y_title)))


def published_beside_reproduced(rows: Sequence[Difference]) -> go.Figure:
    """Draw published differences of BLEU, hollow and grey, beside reproduced ones with intervals.

    Args:
        rows: one per system or claim, the first on top.
    """
    rows = list(rows)
    check_drawn(rows)
    figure = empty_figure(height=130 + 34 * len(rows))
    lines = np.arange(len(rows))
    _, published, values, low, high = zip(*rows, strict=True)
    values, low, high = (np.asarray(numbers, dtype=float) for numbers in (values, low, high))
    told = np.asarray(published, dtype=float)
    there = np.isfinite(told)
    grey = {"color": INK, "symbol": "diamond-open", "size": 11, "line": {"width": 2}}
    figure.add_scatter(
        x=rounded(told[there]),
        y=rounded(lines[there] - 0.13),
        mode="markers",
        marker=grey,
        name="published",
        hovertemplate="%{x:+.4~f}",
    )
    figure.add_scatter(
        x=rounded(values),
        y=rounded(lines + 0.13),
        error_x={
            "type": "data",
            "array": rounded(high - values),
            "arrayminus": rounded(values - low),
            "thickness": 2,
            "width": 4,
        },
        mode="markers",
        marker={"color": COLORS[0], "symbol": "circle", "size": 9},
        name="reproduced, with 95 % interval",
        customdata=np.stack([rounded(low), rounded(high)], axis=1),
        hovertemplate="%{x:+.4~f} (from %{customdata[0]:+.4~f} to %{customdata[1]:+.4~f})",
    )
    figure.update_yaxes(**ticks([escape(row.label) for row in rows]), range=[len(rows) - 0.5, -0.5])
    figure.layout.margin.t += 20  # for the legend: these are marks, and no line leads to a name
    headline(figure, inside(told, low, high))
    return figure.update_xaxes(
        title_text="BLEU, difference to base", zeroline=True, zerolinecolor=INK, zerolinewidth=1
    )


def changes(
    groups: Mapping[str, Mapping[str, tuple[float, float, float]]], x_title: str, y_title: str
) -> go.Figure:
    """Draw changes with their intervals, a panel per group.

    Squares are changes whose whole interval is below zero, circles are the others.

    Args:
        groups: title -> label of a change -> its value and the two ends of its interval.
        x_title: the meaning of the labels.
        y_title: the changing quantity, with its unit.
    """
    figure = panel_figure(list(groups), 3, cell_height=260, shared_yaxes=True)
    for panel, group in enumerate(groups.values()):
        labels = [escape(label) for label in group]
        change, low, high = np.array(list(group.values()), dtype=float).reshape(-1, 3).T
        for place, places in ((1, np.flatnonzero(high < 0)), (0, np.flatnonzero(~(high < 0)))):
            if not len(places):
                continue
            intervals = {
                "type": "data",
                "array": rounded((high - change)[places]),
                "arrayminus": rounded((change - low)[places]),
            }
            figure.add_scatter(
                x=places,
                y=rounded(change[places]),
                error_y=intervals | {"thickness": 1.5, "width": 3},
                mode="markers",
                marker={"color": COLORS[place], "symbol": SYMBOLS[place], "size": 8},
                showlegend=False,
                hovertext=[labels[i] for i in places],
                hovertemplate="%{hovertext}: %{y:+.4~f}<extra></extra>",
                **panel_cell(panel, 3),
            )
        figure.update_xaxes(
            **ticks(labels), range=[-0.6, len(labels) - 0.4], showgrid=False, **panel_cell(panel, 3)
        )
    figure.update_xaxes(title_text=escape(x_title))
    figure.update_yaxes(zeroline=True, zerolinecolor=INK, zerolinewidth=1)
    headline(
        figure, surely_below([high for group in groups.values() for *_, high in group.values()])
    )
    return figure.update_yaxes(title_text=escape(y_title), col=1)


_XY = "%{x:,.4~f}: %{y:,.4~f}"


def _line_style(place: int) -> dict[str, Any]:
    """Return the look of the line at a place; the first twelve all differ."""
    again, place = divmod(place, len(COLORS))
    line, symbol = {"color": COLORS[place]}, SYMBOLS[place]
    if again:
        line, symbol = line | {"dash": "dash"}, f"{symbol}-open"
    return {"line": line, "marker": {"symbol": symbol, "size": 7}}


def _with_counts(bins: Sequence[str], num_sentences: Sequence[int]) -> list[str]:
    check_labels("num_sentences", num_sentences, len(bins), "bin")
    return [
        f"{escape(label)}<br>{count:,}" for label, count in zip(bins, num_sentences, strict=True)
    ]


def _by_bin(
    labels: Sequence[str], systems: Mapping[str, Measured], x_title: str, y_title: str
) -> go.Figure:
    """Draw systems side by side in each bin; labels are escaped already."""
    figure = empty_figure(height=380)
    for place, (name, measured) in enumerate(systems.items()):
        check_labels(f"'{name}'", measured.values, len(labels), "bin")
        values, low, high = (np.asarray(numbers, dtype=float) for numbers in measured)
        # Intervals are shifted so that they do not hide each other.
        shift = 0.06 * (place - (len(systems) - 1) / 2)
        intervals = {
            "type": "data",
            "array": rounded(high - values),
            "arrayminus": rounded(values - low),
            "thickness": 1.5,
            "width": 3,
        }
        figure.add_scatter(
            x=rounded(np.arange(len(labels)) + shift),
            y=rounded(values),
            error_y=intervals,
            mode="lines+markers",
            name=escape(name),
            hovertext=list(labels),
            hovertemplate="%{hovertext}: %{y:.4~f}",
            **_line_style(place),
        )
    figure.update_xaxes(
        **ticks(labels), range=[-0.5, len(labels) - 0.5], title_text=escape(x_title), showgrid=False
    )
    return figure.update_yaxes(title_text=escape(y_title))
