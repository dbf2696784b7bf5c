"""The page of results, made from the records in `benchmarks/results/` and from nothing else."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.free import MODEL, SCALE
from benchmarks.work import PEERS, SHAPES
from repro import SCALES, plots, table
from repro.papers import layer_cost

PLOT = "scaling.svg"


def write_page(results: Path, page: Path) -> None:
    """Write the tables of all measured sections, and save the plot of time by length."""
    sections = {path.stem: json.loads(path.read_bytes()) for path in sorted(results.glob("*.json"))}
    parts = [_INTRODUCTION]
    for name, make in _TABLES.items():
        if name in sections:
            origin = sections[name]["provenance"]
            threads = f"{origin['threads']} thread{'s' * (origin['threads'] > 1)}"
            made = (
                f"{origin['processor']}, {threads}, "
                f"{_versions(name, origin['versions'])}, commit {origin['commit']}"
            )
            load = f"load at the end, this work in it: {origin['load_average']:.1f}"
            parts += [
                make(sections[name]["rows"]),
                f"Measured until {origin['measured']} on {made}; {load}.",
            ]
    page.write_text("\n\n".join(parts) + "\n")
    if "scaling" in sections:
        plots.save(layer_cost(sections["scaling"]["rows"]), page.parent / PLOT)


def _versions(section: str, found: dict[str, str]) -> str:
    """Return the versions of the toolkits in a section when it was measured."""
    needed = ("torch", *PEERS.get(section, ()))
    missing = [name for name in needed if name not in found]
    said = ", ".join(f"{name} {found[name]}" for name in needed if name in found)
    return said + (f" (of {' and '.join(missing)} no version was noted)" if missing else "")


def _training(rows: list[dict]) -> str:
    return "## Training\n\n" + _by_group(rows, ("shape", "precision"), "target tokens/s")


def _decoding(rows: list[dict]) -> str:
    return "## Decoding, 25 tokens each\n\n" + _by_group(
        rows, ("shape", "beam", "processes", "threads"), "sentences/s"
    )


def _free(rows: list[dict]) -> str:
    """Return speed and quality of whole translations."""
    quality = {
        "BLEU": lambda row: f"{row['bleu']:.2f}",
        "same as our fp32": lambda row: f"{100 * row['same']:.1f} %",
    }
    title = (
        f"## Decoding real sentences, each to its own end: `gallery/{MODEL}`, "
        f"{rows[0]['sentences']:,} of Multi30k\n\n"
    )
    return (
        title
        + _by_group(rows, ("beam", "processes", "threads"), "sentences/s", quality)
        + f"\n\nBLEU: `{rows[0]['signature']}`."
    )


def _variants(rows: list[dict]) -> str:
    return "\n\n".join(["## Every system, small shape, fp32", _by_system(rows, {}), _GROUPS])


def _free_variants(rows: list[dict]) -> str:
    """Return speed, quality and length of whole translations by trained systems."""
    model, corpus = SCALES[SCALE].model, SCALES[SCALE].data.corpus
    quality = {"BLEU": lambda row: f"{row['bleu']:.2f}", "words": lambda row: f"{row['words']:.1f}"}
    title = (
        f"## Every system, trained, each sentence to its own end: {rows[0]['sentences']:,} of "
        f"{corpus}"
    )
    what = (
        f"{model.encoder_layers} + {model.decoder_layers} layers of {model.embed_dim}, the scale "
        f"`{SCALE}`. "
    )
    what += f"*Words* is the mean length of the translations.\nBLEU: `{rows[0]['signature']}`."
    return "\n\n".join([title, _by_system(rows, quality), what, _GROUPS])


def _by_system(rows: list[dict], further: dict[str, Callable[[dict], str]]) -> str:
    """Return a table with a row a system: rates of the work, ratios to base, `further` columns."""
    kinds, systems = (list(dict.fromkeys(row[key] for row in rows)) for key in ("kind", "name"))
    by_place = {(row["name"], row["kind"]): row for row in rows}
    lines = []
    for system in systems:
        found = [by_place[system, kind] for kind in kinds]
        cells = [
            cell
            for row in found
            for cell in (
                _rate(row),
                f"{row['ratio']:.2f}",
                *(show(row) for show in further.values()),
            )
        ]
        lines.append([system, *cells, f"{max(row['drift'] for row in found):.2f}"])
    units = [
        (f"{kind}, {'target tokens' if kind == 'training' else 'sentences'}/s", "to base", *further)
        for kind in kinds
    ]
    return table(
        ["system", *(name for names in units for name in names), "slowest / fastest round"], lines
    )


def _rate(row: dict) -> str:
    return f"{row['rate']:,.0f}" if row["rate"] >= 100 else f"{row['rate']:.1f}"


def _by_group(
    rows: list[dict],
    keys: tuple[str, ...],
    unit: str,
    further: dict[str, Callable[[dict], str]] | None = None,
) -> str:
    """Return a table of rates, their ratios to the first of each group, and `further` columns."""
    further, lines = further or {}, []
    for row in rows:
        cells = [_rate(row), f"{row['ratio']:.2f}", f"{row['drift']:.2f}"]
        lines.append(
            [
                row["name"],
                *(str(row[key]) for key in keys),
                *cells,
                *(show(row) for show in further.values()),
            ]
        )
    return table(
        [
            "contender",
            *keys,
            unit,
            "ratio to the group's first",
            "slowest / fastest round",
            *further,
        ],
        lines,
    )


def _memory(rows: list[dict]) -> str:
    lines = [[row["name"], f"{row['extra_mb']:,}"] for row in rows]
    return "## Memory in training, 4,000 tokens a batch\n\n" + table(
        ["system", "peak above imports, MB"], lines
    )


def _scaling(rows: list[dict]) -> str:
    """Return milliseconds by length, and the slope of their logarithms over the longer half."""
    names, lengths = (list(dict.fromkeys(row[key] for row in rows)) for key in ("name", "length"))
    by_place = {(row["name"], row["length"]): row["ms"] for row in rows}
    longer = lengths[len(lengths) // 2 :]
    lines = []
    for name in names:
        slope = np.polyfit(
            [math.log(n) for n in longer], [math.log(by_place[name, n]) for n in longer], 1
        )[0]
        lines.append([name, *(f"{by_place[name, n]:.1f}" for n in lengths), f"{slope:.2f}"])
    note = (
        "Decoder self-attention of the small shape with its projections, forward only. Tokens "
        "are constant, so a cost linear in the\n"
        "length of the sentence has slope 0 and a quadratic one slope 1, here between "
        f"{longer[0]} and {longer[-1]:,} tokens."
    )
    plot = f"![Milliseconds of one attention layer by length]({PLOT})"
    title = "## One attention layer by length, ms for 4,096 tokens"
    return "\n\n".join([title, table(["weights", *map(str, lengths), "slope"], lines), note, plot])


def _web_page(rows: list[dict]) -> str:
    """Return sizes, and times of the page as multiples of our greedy search."""
    times = {
        "first translation": "first_ms",
        "a head switched off": "switch_ms",
        "longest task": "longest_ms",
    }
    lines = [
        [row["name"], f"{row['megabytes']:.1f}", f"{row['greedy_ms']:.0f}"]
        + [
            f"{row[key]:.0f} ({row[key] / row['greedy_ms']:.2g})" if row[key] else "under 50"
            for key in times.values()
        ]
        for row in rows
    ]
    note = (
        "Milliseconds, and in brackets how many times our greedy search for the same sentence on "
        f"one thread in the same sitting; medians of {rows[0]['visits']} visits by a headless "
        "Chromium. The longest task is that of the page itself: meanwhile it draws no frame. A "
        "browser tells of tasks from 50 ms on."
    )
    header = ["page", "MB", "greedy search", *times]
    return "\n\n".join(["## The page of `repro page`", table(header, lines), note])


_TABLES = {
    "training": _training,
    "decoding": _decoding,
    "free": _free,
    "variants": _variants,
    "free-variants": _free_variants,
    "memory": _memory,
    "scaling": _scaling,
    "web-page": _web_page,
}

_GROUPS = (
    "Decoding with a process per core. Systems race a few at a time, each group with a base "
    "of its own, to which its ratios are;\n"
    "the line of base is that of the first group."
)

_INTRODUCTION = """# Speed

Generated by `make bench` from the records in `benchmarks/results/`; nothing here is typed in.

Every contender has the same shape, ids, dropout places, loss and optimiser (`work.py`, `peers.py`).
Toolkits run in processes of their own, as their users run them; within a round they take turns.
Rates are medians over rounds, ratios medians of the ratios within a round. The time of the slowest
round over that of the fastest is near 1 on an undisturbed machine; where it is not, a ratio can
contradict two rates. Only ratios within one table mean anything: the machine, not the code,
determines the rest. In decoding, one process with all threads is a translator that has the machine
to itself. A process a core, one thread and the whole work each, is the most that a machine gives.
Ours tells the C library to keep freed memory; "freed memory kept" is a peer with the same setting,
to ours in a race of its own.
CTranslate2 runs the same weights as our model. """ + " ".join(
    f"The shape *{s.name}* has {s.layers} + {s.layers} layers of {s.width}, feed-forward "
    f"{s.ffn}, {s.heads} heads."
    for s in SHAPES.values()
)
