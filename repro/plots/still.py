"""The still picture of a figure, for pages and files that do not run plotly: GitHub, nbviewer, PNG, SVG, PDF.

matplotlib draws the numbers that the figure holds, without a browser. It knows what the figures of
    this package are made of: heat maps,
lines with marks and intervals, bars at explicit places, annotations. It is not a general
translator.
"""

import base64
import functools
import html
import io
import warnings
from typing import Any

import matplotlib
import numpy as np
import plotly.graph_objects as go
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.transforms import (
    Bbox,
    BboxTransformTo,
    ScaledTranslation,
    blended_transform_factory,
)
from PIL import Image

from repro.plots.style import INK, WIDTH

DPI = 100  # a pixel of plotly is a hundredth of an inch
SHARPNESS = 2  # pixels of a PNG to one of plotly: screens of phones and new laptops show them all
COLOR_BAR = 80  # pixels at the right
GRID_STEPS = 20  # colors of the many small maps of `attention_grid`: fewer make a much smaller file
_DASHES: dict[str, Any] = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-."}
_DASHES |= {"longdash": (0, (8, 3)), "longdashdot": (0, (8, 3, 1, 3))}
_BESIDE = {
    "top": (0, 5, "center", "baseline"),
    "bottom": (0, -5, "center", "top"),
    "right": (5, 0, "left", "center"),
}
_BESIDE |= {"left": (-5, 0, "right", "center")}
_MARKS = {"circle": "o", "square": "s", "diamond": "D", "triangle-up": "^", "x": "X", "cross": "P"}
_EAST_ASIAN = (
    "Noto Sans CJK JP",
    "IPAGothic",
    "TakaoPGothic",
    "Hiragino Sans",
    "Yu Gothic",
    "MS Gothic",
)
_UNDATED = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None},
}


def picture(figure: go.Figure | dict[str, Any], file_format: str = "png") -> bytes:
    """Return the still picture of a figure on a transparent background. The same figure gives the same bytes.

    Args:
        figure: of this package, or its `to_dict()`.
        file_format: png, svg or pdf.
    """
    settings: Any = {
        "text.parse_math": False,
        "text.color": INK,
        "font.family": _fonts(),
        "svg.hashsalt": "",
        "svg.fonttype": "none",
    }
    buffer = io.BytesIO()
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        # drawn as a box where no font has it
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        drawn = draw(figure)
        look: Any = {"transparent": True, "bbox_inches": "tight", "dpi": SHARPNESS * DPI}
        drawn.savefig(buffer, format=file_format, metadata=_UNDATED[file_format], **look)
    return _with_palette(buffer) if file_format == "png" else buffer.getvalue()


def draw(figure: go.Figure | dict[str, Any]) -> Figure:
    """Return a figure of this package, or its `to_dict()`, as one of matplotlib: a pair of axes a panel, and one of a color bar."""
    return _Still(figure if isinstance(figure, dict) else figure.to_dict()).figure


def _with_palette(png: io.BytesIO) -> bytes:
    """Return a picture with the 256 most frequent of its colors, half the size or less; the others are edges of letters and lines."""
    pixels = np.array(Image.open(png).convert("RGBA"))  # (height, width, 4)
    # of red, green and blue too small to see; fewer of opacity
    for channel, step in enumerate((5, 5, 5, 51)):
        rounded = np.rint(np.arange(256) / step) * step
        pixels[..., channel] = rounded.astype(np.uint8)[pixels[..., channel]]
    pixels[pixels[..., 3] == 0] = 0
    numbers = pixels.view(np.uint32)[..., 0]
    packed, counts = np.unique(numbers, return_counts=True)
    colors = packed.view(np.uint8).reshape(-1, 4).astype(np.int16)
    palette = colors[np.argsort(-counts, kind="stable")[:256]]
    distances = np.abs(colors[:, None] - palette).sum(axis=2, dtype=np.int16)
    nearest = distances.argmin(axis=1).astype(np.uint8)
    # one by one: a large picture has millions of pixels
    rows = [nearest[np.searchsorted(packed, row)] for row in numbers]
    indexed = Image.fromarray(np.stack(rows)).convert("P")
    indexed.putpalette(palette[:, :3].astype(np.uint8).tobytes())
    smaller = io.BytesIO()
    indexed.save(
        smaller, format="png", optimize=True, transparency=palette[:, 3].astype(np.uint8).tobytes()
    )
    return smaller.getvalue()


@functools.cache
def _fonts() -> list[str]:
    installed = set(font_manager.get_font_names())
    return ["DejaVu Sans", *(name for name in _EAST_ASIAN if name in installed)]


def numbers_of(value: Any) -> Any:
    """Return what plotly packed for JSON as the array it was."""
    if not isinstance(value, dict) or "bdata" not in value:
        return value
    numbers = np.frombuffer(base64.b64decode(value["bdata"]), dtype=value["dtype"])
    return (
        numbers.reshape([int(size) for size in value["shape"].split(",")])
        if "shape" in value
        else numbers
    )


def _text(escaped: str | None) -> str:
    return html.unescape((escaped or "").replace("<br>", "\n"))


class _Still:
    """A picture in the making."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self.layout = layout = spec["layout"]
        width, height, margin = layout.get("width", WIDTH), layout["height"], layout["margin"]
        right = margin["r"] + COLOR_BAR * any(trace["type"] == "heatmap" for trace in spec["data"])
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
        """Return a part of the area of all panels in shares of the figure, as a Bbox: matplotlib takes it where its types want a tuple."""
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
        colors = LinearSegmentedColormap.from_list(
            "scale", stops, N=GRID_STEPS if "coloraxis" in trace else 256
        )
        mesh = ax.pcolormesh(
            across, down, z, cmap=colors, vmin=scale["cmin"], vmax=scale["cmax"], rasterized=True
        )
        if "texttemplate" in trace:
            number_format = trace["texttemplate"].removeprefix("%{z:").removesuffix("}")
            longest = (
                max(len(format(number, number_format)) for number in z.compressed())
                if z.count()
                else 1
            )
            # points
            fits = (
                0.9
                * 72
                * ax.get_position().width
                * self.figure.get_figwidth()
                / z.shape[1]
                / (0.62 * longest)
            )
            for row, column in np.argwhere(~np.ma.getmaskarray(z)):
                ink = "black" if np.mean(mesh.to_rgba(z[row, column])[:3]) > 0.5 else "white"
                ax.text(
                    column,
                    row,
                    format(z[row, column], number_format),
                    ha="center",
                    va="center",
                    fontsize=min(fits, 7.5),
                    color=ink,
                )
        if self.bar is None:
            self.bar = self.figure.add_axes(self._box(1.02, 0, 1.04, 1))
            bar = self.figure.colorbar(mesh, cax=self.bar)
            bar.set_label(_text(scale["colorbar"]["title"]["text"]), color=INK, fontsize=9)
            bar.outline.set_visible(False)
            self.bar.tick_params(colors=INK, labelsize=8, length=0)

    def _scatter(self, ax: Axes, trace: dict[str, Any]) -> None:
        if "fill" in trace:  # the band of an interval, whose outline is a line without width
            band = {"facecolor": trace["fillcolor"], "alpha": trace["opacity"], "linewidth": 0}
            outline = np.column_stack((trace["x"], trace["y"]))
            ax.add_collection(PolyCollection([outline], **band))
        line, marker, mode = trace.get("line", {}), trace.get("marker", {}), trace["mode"]
        color, symbol = line.get("color") or marker["color"], marker.get("symbol", "circle")
        look = {
            "color": color,
            "alpha": marker.get("opacity"),
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
                ends: dict[str, Any] = {
                    f"{which}err": [
                        numbers_of(interval["arrayminus"]),
                        numbers_of(interval["array"]),
                    ]
                }
                ax.errorbar(
                    trace["x"],
                    trace["y"],
                    **ends,
                    fmt="none",
                    ecolor=color,
                    elinewidth=1.2,
                    capsize=2,
                )
        if "text" in mode:
            for x, y, text, position in zip(
                trace["x"], trace["y"], trace["text"], trace["textposition"], strict=True
            ):
                across, up, ha, va = _BESIDE[
                    position.replace(" center", "").removeprefix("middle ")
                ]
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

    def _name(self, trace: dict[str, Any], drawn: Any) -> None:
        if trace.get("showlegend", True) and trace.get("name"):
            self.legend.setdefault(_text(trace["name"]), drawn)

    def _finish_axis(self, ax: Axes, which: str, spec: dict[str, Any]) -> None:
        axis = ax.xaxis if which == "x" else ax.yaxis
        low, high = spec.get("range") or axis.get_view_interval()
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
        aligned = {"ha": note.get("xanchor", "center"), "va": note.get("yanchor", "center")}
        place = blended_transform_factory(across, along)
        place += ScaledTranslation(0, note.get("yshift", 0) / DPI, self.figure.dpi_scale_trans)
        self.figure.text(
            note["x"],
            note["y"],
            _text(note["text"]),
            transform=place,
            fontsize=9,
            color=note.get("font", {}).get("color", INK),
            **aligned,
        )

    def _write_above(self, width: int, height: int) -> None:
        """Write the legend, if there is something to tell apart, and the title of the figure."""
        corner = self._box(0, self.layout.get("legend", {}).get("y", 1), 1, 1)
        if len(self.legend) > 1 or (self.legend and self.layout.get("showlegend")):
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
