"""Draw a plotly figure of this package with matplotlib, part by part.

It knows heat maps, lines with marks and intervals, bars at explicit places, and annotations. It
is not a general translator.
"""

import html
from typing import Any

import numpy as np
import plotly.graph_objects as go
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.transforms import (
    Bbox,
    BboxTransformTo,
    ScaledTranslation,
    blended_transform_factory,
)

from repro.plots.style import INK, WIDTH, numbers_of

DPI = 100  # a pixel of plotly is a hundredth of an inch
COLOR_BAR = 80  # pixels at the right
GRID_STEPS = 20  # colors of the many small maps of `attention_grid`: fewer make a much smaller file
SPLIT = 0.179  # the luminance with which black and white have the same contrast
_DASHES: dict[str, Any] = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-."}
_DASHES |= {"longdash": (0, (8, 3)), "longdashdot": (0, (8, 3, 1, 3))}
_BESIDE = {
    "top": (0, 5, "center", "baseline"),
    "bottom": (0, -5, "center", "top"),
    "right": (5, 0, "left", "center"),
    "left": (-5, 0, "right", "center"),
}
_MARKS = {"circle": "o", "square": "s", "diamond": "D", "x": "X", "cross": "P"}
_MARKS |= {"triangle-up": "^", "triangle-down": "v", "triangle-left": "<", "triangle-right": ">"}


def draw(figure: go.Figure | dict[str, Any]) -> Figure:
    """Return a figure of this package, or its `to_dict()`, as one of matplotlib.

    It has a pair of axes for each panel, and one for a color bar.
    """
    return _Still(figure if isinstance(figure, dict) else figure.to_dict()).figure


def _color(css: str) -> str | tuple[float, ...]:
    """Return a color of a figure as matplotlib reads it: `rgba()` becomes shares of 1."""
    if not css.startswith("rgba("):
        return css
    red, green, blue, opacity = map(float, css[5:-1].split(","))
    return red / 255, green / 255, blue / 255, opacity


def _luminance(color: tuple[float, ...]) -> float:
    """Return the relative luminance of an opaque color (WCAG 2.1), from shares of 1."""
    parts = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in color)
    return float(np.dot((0.2126, 0.7152, 0.0722), list(parts)[:3]))


def _text(escaped: str | None) -> str:
    return html.unescape((escaped or "").replace("<br>", "\n"))


class _Still:
    """A picture in the making."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self.layout = layout = spec["layout"]
        width, height, margin = layout.get("width", WIDTH), layout["height"], layout["margin"]
        has_bar = any(t["type"] == "heatmap" and t.get("showscale", True) for t in spec["data"])
        right = margin["r"] + COLOR_BAR * has_bar
        box = (
            margin["l"] / width,
            margin["b"] / height,
            1 - (margin["l"] + right) / width,
            1 - (margin["b"] + margin["t"]) / height,
        )
        self.figure = Figure(figsize=(width / DPI, height / DPI), dpi=DPI)
        # what plotly calls paper
        self.area = BboxTransformTo(Bbox.from_bounds(*box)) + self.figure.transFigure
        self.axes: dict[str, Axes] = {}  # by the names of both their axes
        self.bar: Axes | None = None
        self.legend: dict[str, Any] = {}
        for trace in spec["data"]:
            ax = self._axes_of(trace.get("xaxis", "x"), trace.get("yaxis", "y"))
            getattr(self, f"_{trace['type']}")(
                ax, {name: numbers_of(value) for name, value in trace.items()}
            )
        for name, ax in self.axes.items():
            self._finish_axis(ax, name[0], self._axis(name))
        for note in layout.get("annotations", []):
            self._write(note)
        self._write_above(width, height)

    def _axis(self, name: str) -> dict[str, Any]:
        return self.layout.get(f"{name[0]}axis{name[1:]}", {})

    def _box(self, left: float, bottom: float, right: float, top: float) -> Any:
        """Return a part of the area of all panels in shares of the figure.

        It is a Bbox, which matplotlib accepts although its types ask for a tuple.
        """
        corners = (self.area - self.figure.transFigure).transform([(left, bottom), (right, top)])
        return Bbox(corners)

    def _axes_of(self, x_name: str, y_name: str) -> Axes:
        if x_name not in self.axes:
            x, y = self._axis(x_name), self._axis(y_name)
            (left, right), (bottom, top) = x.get("domain", (0, 1)), y.get("domain", (0, 1))
            ax = self.figure.add_axes(
                self._box(left, bottom, right, top), sharey=self.axes.get(y.get("matches", ""))
            )
            ax.set(xscale=x.get("type", "linear"), yscale=y.get("type", "linear"), axisbelow=True)
            ax.spines[:].set_visible(False)
            self.axes |= {x_name: ax, y_name: ax}
        return self.axes[x_name]

    def _heatmap(self, ax: Axes, trace: dict[str, Any]) -> None:
        scale = (
            self.layout["coloraxis"]
            if "coloraxis" in trace
            else {**trace, "cmin": trace["zmin"], "cmax": trace["zmax"]}
        )
        stops = (
            scale.get("colorscale") or self.layout["template"]["data"]["heatmap"][0]["colorscale"]
        )
        z = np.ma.masked_invalid(trace["z"])
        down, across = (
            np.arange(size + 1) - 0.5 + trace.get(first, 0)
            for size, first in zip(z.shape, ("y0", "x0"), strict=True)
        )
        stops = [(place, _color(color)) for place, color in stops]
        colors = LinearSegmentedColormap.from_list(
            "scale", stops, N=GRID_STEPS if "coloraxis" in trace else 256
        )
        mesh = ax.pcolormesh(
            across, down, z, cmap=colors, vmin=scale["cmin"], vmax=scale["cmax"], rasterized=True
        )
        if "texttemplate" in trace:
            number_format = trace["texttemplate"].removeprefix("%{z:").removesuffix("}")
            self._write_numbers(ax, z, number_format, mesh)
        # zero is the paper itself: a frame says where the matrix ends
        corner, size = (across[0], down[0]), (np.ptp(across), np.ptp(down))
        ax.add_patch(Rectangle(corner, *size, fill=False, edgecolor=INK, linewidth=0.6))
        if self.bar is None and trace.get("showscale", True):
            self.bar = self.figure.add_axes(self._box(1.02, 0, 1.04, 1))
            bar = self.figure.colorbar(mesh, cax=self.bar)
            bar.set_label(_text(scale["colorbar"]["title"]["text"]), color=INK, fontsize=9)
            bar.outline.set(edgecolor=INK, linewidth=0.6)
            bar.set_ticks(scale["colorbar"]["tickvals"], labels=scale["colorbar"]["ticktext"])
            self.bar.tick_params(colors=INK, labelsize=8, length=0)

    def _write_numbers(self, ax: Axes, z: Any, number_format: str, mesh: Any) -> None:
        """Write the numbers of a heat map into its cells, as large as fits."""
        if not z.count():
            return
        longest = max(len(format(number, number_format)) for number in z.compressed())
        points = 72 * ax.get_position().width * self.figure.get_figwidth() / z.shape[1]
        fits = 0.9 * points / (0.62 * longest)
        for row, column in np.argwhere(~np.ma.getmaskarray(z)):
            ink = "black" if _luminance(mesh.to_rgba(z[row, column])) > SPLIT else "white"
            ax.text(
                column,
                row,
                format(z[row, column], number_format),
                ha="center",
                va="center",
                fontsize=min(fits, 7.5),
                color=ink,
            )

    def _scatter(self, ax: Axes, trace: dict[str, Any]) -> None:
        if "fill" in trace:  # the band of an interval, whose outline is a line without width
            band = {"facecolor": trace["fillcolor"], "alpha": trace["opacity"], "linewidth": 0}
            outline = np.column_stack((trace["x"], trace["y"]))
            ax.add_collection(PolyCollection([outline], **band))
        line, marker, mode = trace.get("line", {}), trace.get("marker", {}), trace["mode"]
        color, symbol = line.get("color") or marker["color"], marker.get("symbol", "circle")
        look = {
            "color": color,
            "alpha": marker.get("opacity", trace.get("opacity")),
            "linewidth": 0.8 * line.get("width", 2),
        }
        look["linestyle"] = _DASHES[line.get("dash", "solid")] if "lines" in mode else "none"
        look["drawstyle"] = "steps-post" if line.get("shape") == "hv" else "default"
        if "markers" in mode:
            look |= {
                "marker": _MARKS[symbol.removesuffix("-open")],
                "markersize": 0.7 * marker["size"],
            }
            look["markerfacecolor"] = "none" if symbol.endswith("-open") else color
        self._name(trace, ax.plot(trace["x"], trace["y"], **look)[0])
        for which in "xy":
            if interval := trace.get(f"error_{which}"):
                self._intervals(ax, trace, which, interval, color)
        if "text" in mode:
            self._texts(ax, trace)

    @staticmethod
    def _intervals(
        ax: Axes, trace: dict[str, Any], which: str, interval: dict[str, Any], color: str
    ) -> None:
        ends: dict[str, Any] = {
            f"{which}err": [numbers_of(interval["arrayminus"]), numbers_of(interval["array"])]
        }
        look: Any = {"fmt": "none", "ecolor": color, "elinewidth": 1.2, "capsize": 2}
        ax.errorbar(trace["x"], trace["y"], **ends, **look)

    @staticmethod
    def _texts(ax: Axes, trace: dict[str, Any]) -> None:
        """Write the texts of a trace beside its points."""
        points = zip(trace["x"], trace["y"], trace["text"], trace["textposition"], strict=True)
        for x, y, text, position in points:
            beside = position.replace(" center", "").removeprefix("middle ")
            across, up, ha, va = _BESIDE[beside]
            ax.annotate(
                _text(text),
                (x, y),
                xytext=(across, up),
                textcoords="offset points",
                ha=ha,
                va=va,
                fontsize=8,
            )

    def _bar(self, ax: Axes, trace: dict[str, Any]) -> None:
        left = trace["x"] + trace["offset"]
        bars = ax.bar(
            left,
            trace["y"],
            trace["width"],
            bottom=trace.get("base", 0),
            align="edge",
            color=trace["marker"]["color"],
        )
        self._name(trace, bars)
        if "text" in trace:
            color = trace["textfont"]["color"]
            labels = [_text(text) for text in trace["text"]]
            ax.bar_label(bars, labels, label_type="center", color=color, fontsize=9)

    def _name(self, trace: dict[str, Any], drawn: Any) -> None:
        if trace.get("showlegend", True) and trace.get("name"):
            self.legend.setdefault(_text(trace["name"]), drawn)

    def _finish_axis(self, ax: Axes, which: str, spec: dict[str, Any]) -> None:
        axis = ax.xaxis if which == "x" else ax.yaxis
        low, high = spec.get("range") or axis.get_view_interval()
        if spec.get("type") == "log" and "range" in spec:
            low, high = 10**low, 10**high
        if spec.get("rangemode") == "tozero":
            low, high = min(low, 0), max(high, 0)
        shown = spec.get("showticklabels", True)
        if "tickvals" in spec:
            axis.set_ticks(
                numbers_of(spec["tickvals"]) if shown else [],
                [_text(label) for label in spec["ticktext"]] if shown else [],
            )
            axis.set_ticks([], minor=True)
        elif spec.get("type") == "log":
            axis.set_major_formatter("{x:g}")
        ax.set(**{f"{which}lim": (low, high)})
        if "scaleanchor" in spec:
            ax.set_aspect("equal", anchor="N")
        visible = {"labelbottom" if which == "x" else "labelleft": shown}
        axis.set_tick_params(
            which="both",
            length=0,
            colors=INK,
            labelsize=8 * spec.get("tickfont", {}).get("size", 12) / 12,
            **visible,
        )
        if spec.get("tickangle"):
            for label in axis.get_ticklabels():
                upright = spec["tickangle"] == -90
                label.set(
                    rotation=-spec["tickangle"],
                    ha="right",
                    va="center" if upright else "top",
                    rotation_mode="anchor",
                )
        axis.set_label_text(_text(spec.get("title", {}).get("text")), color=INK, fontsize=9)
        if spec.get("showgrid", True):
            axis.grid(color=INK, alpha=0.25, linewidth=0.8)
        if spec.get("zeroline"):
            (ax.axvline if which == "x" else ax.axhline)(0, color=INK, linewidth=1)

    def _write(self, note: dict[str, Any]) -> None:
        across, along = (
            self.area if note[ref] == "paper" else self.axes[note[ref]].transData
            for ref in ("xref", "yref")
        )
        up = note.get("yanchor", "center").replace("middle", "center")
        aligned = {"ha": note.get("xanchor", "center"), "va": up}
        place = blended_transform_factory(across, along)
        place += ScaledTranslation(0, note.get("yshift", 0) / DPI, self.figure.dpi_scale_trans)
        y = note["y"]
        if self._axis(note["yref"]).get("type") == "log":
            y = 10**y
        self.figure.text(
            note["x"],
            y,
            _text(note["text"]),
            transform=place,
            fontsize=9,
            color=note.get("font", {}).get("color", INK),
            fontweight=note.get("font", {}).get("weight", "normal"),
            **aligned,
        )

    def _write_above(self, width: int, height: int) -> None:
        """Write the legend, if there is something to tell apart, and the title of the figure."""
        legend = self.layout.get("legend", {})
        corner = self._box(legend.get("x", 0), legend.get("y", 1), 1, 1)
        shown = self.layout.get("showlegend", len(self.legend) > 1)
        if self.legend and shown:
            place: dict[str, Any] = {
                "loc": "lower left",
                "bbox_to_anchor": (corner.x0, corner.y0),
                "borderaxespad": 0.3,
            }
            num_columns = (
                len(self.legend) if sum(len(name) + 7 for name in self.legend) * 7 < width else 3
            )
            self.figure.legend(
                self.legend.values(),
                self.legend,
                **place,
                ncols=num_columns,
                frameon=False,
                labelcolor=INK,
                fontsize=8,
            )
        if title := self.layout.get("title", {}).get("text"):
            self.figure.text(corner.x0, 1 - 12 / height, _text(title), va="top", fontsize=11)
