"""Render what heads do, from records of the kind `heads`; several models side by side."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from repro.claims.evidence import Evidence, NotMeasured
from repro.claims.settings import Setting
from repro.core.config import SELF_SITES
from repro.core.numbering import head_number, layer_name
from repro.markdown import table
from repro.papers.printed import printed_numbers
from repro.papers.tables import render_available
from repro.records.head_tables import (
    columns_explained,
    heads_table,
    sentences_measured,
    syntax_table,
)
from repro.statistics.intervals import Estimate, Undefined, over_seeds

# Offset 0 would relate a word to itself.
OFFSETS = ("-6 or less", *(f"{offset:+d}" for offset in range(-5, 6) if offset), "+6 or more")


def head_numbers(
    evidence: Evidence, setting: Setting, site: str, name: str, seed: int = 1
) -> np.ndarray:
    """Return a number of each head for a paper's claims, `(layers, heads, ...)`; NaN = no head."""
    return np.array(evidence.one("heads", setting, seed)["sites"][site][name], dtype=float)


def map_weights(evidence: Evidence, setting: Setting, site: str, seed: int = 1) -> list[np.ndarray]:
    """Return the attention maps that a paper's claims look at: `(num_heads, n, m)` a layer.

    Layers without attention at the site are left out.
    """
    layers = evidence.one("maps", setting, seed)["weights"][site]
    return [np.array(layer) for layer in layers if layer is not None]


def mean_over_seeds(
    evidence: Evidence,
    settings: Sequence[Setting],
    number: Callable[[int], Estimate],
    least: float = -math.inf,
    most: float = math.inf,
    kinds: Sequence[str] = ("heads",),
) -> Estimate:
    """Average a number that a paper claims of heads, over the seeds of all settings.

    Args:
        evidence, settings: the models.
        number: seed -> the number of that seed's models.
        least, most: see `over_seeds`.
        kinds: of the records that the number is taken from.

    Raises:
        Undefined: no seed has such a number. A seed without one is left out otherwise.
    """
    found, reasons = [], []
    for seed in evidence.shared_seeds(kinds, settings):
        try:
            found.append(number(seed))
        except Undefined as reason:
            reasons.append(reason)
    if not found:
        raise reasons[0]
    return over_seeds(found, least, most)


# The digest of a claim includes the names of these arguments: `arm` is older than `Setting`.
def local_share(evidence: Evidence, arm: Setting) -> Estimate:
    """Return the share of local heads that a paper claims: a mean distance of three at most."""

    def of_seed(seed: int) -> Estimate:
        distances = np.concatenate(
            [head_numbers(evidence, arm, site, "distance", seed).ravel() for site in SELF_SITES]
        )
        known = distances[np.isfinite(distances)]
        return Estimate(float((known <= 3).mean()), over=f"{len(known)} heads", step=1 / len(known))

    return mean_over_seeds(evidence, (arm,), of_seed, 0.0, 1.0)


def all_heads_table(evidence: Evidence, setting: Setting) -> str:
    """Return the table of all encoder heads below a paper's figures.

    Source: Voita et al. 2019, Figures 1 and 2.
    """
    record = evidence.one("heads", setting)
    return "\n\n".join([sentences_measured(record), heads_table(record), columns_explained(record)])


def maps_text(evidence: Evidence, setting: Setting) -> str:
    """Describe the sentence of the attention maps in a paper's figure."""
    record = evidence.one("maps", setting)
    source, target = (
        " ".join(f"`{token}`" for token in record[side]) for side in ("source", "target")
    )
    return f"One map a head and layer. Source: {source}. Translation by {record['run']}: {target}."


def entropy_table(evidence: Evidence, settings: Sequence[Setting]) -> str:
    """Return a paper's table of the entropy of heads by site and layer, in nats.

    Source: Zeng et al. 2021, equation 5 and Figure 4.
    """
    settings, rows = evidence.having("heads", settings), []
    for site in SELF_SITES:
        entropies = [
            np.nanmean(head_numbers(evidence, setting, site, "entropy"), axis=1)
            for setting in settings
        ]
        rows += [
            [f"{site}, {layer_name(layer)}", *(f"{values[layer]:.3f}" for values in entropies)]
            for layer in range(len(entropies[0]))
        ]
    return _of_sentences(
        evidence,
        settings[0],
        table(["mean entropy, nats", *(str(setting) for setting in settings)], rows),
    )


def adjacent_divergence(evidence: Evidence, setting: Setting, site: str, seed: int = 1) -> float:
    """Compute for Zeng et al. 2021: mean divergence of neighbouring layers, in nats.

    Raises:
        Undefined: there is a single layer.
    """
    found = np.diagonal(head_numbers(evidence, setting, site, "divergence", seed), offset=1)
    if not found.size:
        raise Undefined("a single layer has no neighbour")
    return float(found.mean())


def divergence_table(evidence: Evidence, settings: Sequence[Setting]) -> str:
    """Return the mean divergence of neighbouring layers, in nats (Zeng et al. 2021, Figure 7)."""
    settings, rows = evidence.having("heads", settings), []
    for site in SELF_SITES:
        cells = []
        for setting in settings:
            try:
                cells.append(f"{adjacent_divergence(evidence, setting, site):.3f}")
            except Undefined:
                cells.append("-")
        rows.append([site, *cells])
    return _of_sentences(
        evidence,
        settings[0],
        table(
            ["divergence of neighbouring layers, nats", *(str(setting) for setting in settings)],
            rows,
        ),
    )


def _of_sentences(evidence: Evidence, setting: Setting, text: str) -> str:
    """Put the sentences that a paper's heads were measured on above a table."""
    return f"{sentences_measured(evidence.one('heads', setting))}\n\n{text}"


def relations_table(evidence: Evidence, paper: str, place: str, setting: Setting) -> str:
    """Return the best encoder head for each relation, its offsets, and the printed numbers.

    Source: Voita et al. 2019, Table 1.
    """
    cells = printed_numbers(paper, place)
    columns = list(dict.fromkeys(cell.column for cell in cells))
    found = {(cell.row, cell.dataset, cell.column): f"{cell.value:g}" for cell in cells}
    pairs = dict.fromkeys((relation, corpus) for relation, corpus, _ in found)
    theirs = [[*pair, *(found.get((*pair, column), "-") for column in columns)] for pair in pairs]
    printed_cells = (
        [lambda: table(["printed", "corpus", *(f"{column}, %" for column in columns)], theirs)]
        if cells
        else []
    )
    return render_available(lambda: _our_relations(evidence, setting), *printed_cells)


def syntax_of(evidence: Evidence, setting: Setting, seed: int = 1) -> dict[str, Any]:
    """Return what a record says of grammatical relations, for Voita et al.'s table and claims.

    Raises:
        NotMeasured: there were no parses in the source language.
    """
    record = evidence.one("heads", setting, seed)
    if record["syntax"] is None:
        source = record["config"]["data"]["source"]
        raise NotMeasured(
            f"relations of {setting}",
            f"no parses of '{source}' are at hand",
            "get the parser (docs/installing.md), delete its record below heads/ and run it again"
            if source == "en"
            else "use a scale whose source is English",
        )
    return record["syntax"]


def _our_relations(evidence: Evidence, setting: Setting) -> str:
    """Return our rows of a paper's table of relations: the best head of each."""
    record = evidence.one("heads", setting)
    syntax = syntax_of(evidence, setting)
    positions = []
    for relation, counts in syntax["positions"].items():
        totals: Counter[str] = Counter()
        for offset, count in counts.items():
            totals[
                "-6 or less"
                if int(offset) < -5
                else "+6 or more"
                if int(offset) > 5
                else f"{int(offset):+d}"
            ] += count
        positions.append([relation, *(str(totals[name]) for name in OFFSETS)])
    counted = table(["dependent after head, words", *OFFSETS], positions)
    return "\n\n".join(
        [
            f"{sentences_measured(record)} Parses: {record['measured']['parses']}.",
            syntax_table(record),
            counted,
        ]
    )


def rare_table(evidence: Evidence, setting: Setting) -> str:
    """Return a paper's table of how often first-layer heads point to the rarest tokens.

    Source: Voita et al. 2019, section 5.3.
    """
    columns = {"relevance": ".3f", "rarest": ".0%", "two_rarest": ".0%"}
    by_head = np.stack(
        [head_numbers(evidence, setting, "encoder_self", name)[0] for name in columns], axis=1
    )
    rows = [
        [head_number(0, head), *map(_written, values, columns.values())]
        for head, values in enumerate(by_head)
    ]
    return _of_sentences(
        evidence, setting, table(["layer.head", "relevance", "rarest", "two rarest"], rows)
    )


def _written(value: float, form: str) -> str:
    """Write a number in a paper's table of heads; empty for NaN."""
    return "" if np.isnan(value) else format(value, form)
