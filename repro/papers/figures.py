"""Draw the figures of experiments from evidence; each function returns figures by title."""

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from plotly.graph_objects import Figure

from repro import plots
from repro.analysis.weights import weights
from repro.claims.curves import dev_gaps
from repro.claims.evidence import Evidence, NotMeasured, Record
from repro.claims.settings import Setting
from repro.core.attention.fixed import PATTERNS
from repro.core.config import SELF_SITES, SITES
from repro.papers.heads import head_numbers
from repro.papers.suites import distances_by_system
from repro.plots import Measured
from repro.statistics.intervals import Estimate

Figures = dict[str, Figure]

# The word that each token of the drawn patterns belongs to.
EXAMPLE_WORDS = (0, 1, 1, 2, 3, 4, 4, 4, 5)
PATTERNS_EXPLAINED = (
    f"The weights that need no training, in a sentence of {len(EXAMPLE_WORDS)} tokens and "
    f"{EXAMPLE_WORDS[-1] + 1} words: a row a query, a "
    "column a key."
)


def gap_figure(
    evidence: Evidence, settings: Sequence[Setting], column: str, edges: Sequence[float], what: str
) -> Figures:
    """Draw a paper's figure of differences to the first setting, by bins of the test set."""
    first, others = settings[0], evidence.scored(settings[1:])
    found = {
        str(setting): evidence.gap_by([(1, setting), (-1, first)], column, edges)
        for setting in others
    }
    gaps = {name: [gap for _, _, gap in bins] for name, bins in found.items()}
    systems = {name: _measured(of) for name, of in gaps.items()}
    labels, counts, _ = zip(*next(iter(found.values())), strict=True)
    title = (
        f"BLEU against {first} by {what}{_interval_note(gap for of in gaps.values() for gap in of)}"
    )
    return {
        title: plots.differences_by_length(
            labels, systems, counts, what, f"BLEU minus that of {first}"
        )
    }


def gap_curve_figure(evidence: Evidence, settings: Sequence[Setting]) -> Figures:
    """Draw a paper's figure of the gap in dev likelihood, over the updates of training.

    Settings whose records have no curve are left out. Without any, the figure is not there.
    """
    first, found = settings[0], {}
    for setting in settings[1:]:
        try:
            found[setting] = dev_gaps(evidence, setting, first)
        except NotMeasured as missing:
            absent = missing
    if not found:
        raise absent
    title = f"Gap to {first} against updates, {evidence.scale}: below zero is better"
    systems = {
        str(setting): (list(gaps), _band(list(gaps.values()))) for setting, gaps in found.items()
    }
    return {title: plots.gaps_over_updates(systems, f"dev nats per token minus {first}")}


def _band(gaps: Sequence[Estimate]) -> Measured:
    """Return the gaps of a paper's figure with the ends of their intervals."""
    ends = [gap.ends if gap.counts_seeds else (math.nan, math.nan) for gap in gaps]
    return Measured([gap.value for gap in gaps], *zip(*ends, strict=True))


def masked_length_figure(
    evidence: Evidence, setting: Setting, head: str, column: str, edges: Sequence[float], what: str
) -> Figures:
    """Draw a paper's figure of the change in BLEU from masking a head, by bins."""
    bins = evidence.bins(setting, column, edges)
    losses = [evidence.masked(setting, head, inside) for _, _, inside in bins]
    measured = _measured(losses, sign=-1)
    labels, counts = [name for name, _, _ in bins], [len(inside) for _, _, inside in bins]
    title = f"Change in BLEU with head {head} masked, by {what}{_interval_note(losses)}"
    return {
        title: plots.differences_by_length(
            labels, {str(setting): measured}, counts, what, "change in BLEU"
        )
    }


def _measured(estimates: Sequence[Estimate], sign: int = 1) -> Measured:
    """Return the numbers of a paper's figure, or their negatives, with their intervals."""
    ends = [sorted(sign * end for end in estimate.ends) for estimate in estimates]
    values = [sign * estimate.value for estimate in estimates]
    return Measured(values, [low for low, _ in ends], [high for _, high in ends])


def _interval_note(estimates: Iterable[Estimate]) -> str:
    """Return the note in a paper's figure that its intervals exclude seeds."""
    return (
        ""
        if all(estimate.counts_seeds for estimate in estimates)
        else ", intervals over test sentences alone"
    )


def map_figures(evidence: Evidence, setting: Setting, site: str) -> Figures:
    """Draw a paper's figure of attention maps: all heads of a site, on the record's sentence."""
    record = evidence.one("maps", setting)
    queries = record["source"] if site == "encoder_self" else record["target"]
    keys = record["target"] if site == "decoder_self" else record["source"]
    layers = [None if layer is None else np.array(layer) for layer in record["weights"][site]]
    return {f"{setting}, {site}": plots.attention_grid(layers, queries, keys)}


def offset_gallery(_evidence: Evidence) -> Figures:
    """Draw the hard-coded heads of encoder and decoder (You et al. 2020, Figure 1)."""
    return {
        f"Hard-coded heads, {site}": plots.pattern_gallery(
            _patterns("gaussian", site, 2, ("first head", "second head"))
        )
        for site in SELF_SITES
    }


def pattern_figure(_evidence: Evidence) -> Figures:
    """Draw the seven fixed patterns by token and by word (Raganato et al. 2020, Figure 1)."""
    names = [f"{number} {name}" for number, name in enumerate(PATTERNS, start=1)]
    return {
        f"The seven patterns, by {unit}": plots.pattern_gallery(
            _patterns(f"fixed(learned=0, heads=7, unit='{unit}')", "encoder_self", 7, names)
        )
        for unit in ("token", "word")
    }


def distance_figure(evidence: Evidence, setting: Setting) -> Figures:
    """Draw the mean distance of the largest weight of every head (You et al. 2020, Figure 2)."""
    sites = {site: head_numbers(evidence, setting, site, "distance") for site in SITES}
    return {
        f"Mean distance of the largest weight, {setting}": plots.head_bars(
            sites, "distance, tokens"
        )
    }


def entropy_figure(evidence: Evidence, settings: Sequence[Setting]) -> Figures:
    """Draw the entropy of the heads by layer (Zeng et al. 2021, Figure 4)."""
    settings = evidence.having("heads", settings)
    return {
        f"Entropy, {site}": plots.entropy_by_layer(
            {str(setting): head_numbers(evidence, setting, site, "entropy") for setting in settings}
        )
        for site in SELF_SITES
    }


def histogram_figure(evidence: Evidence, settings: Sequence[Setting]) -> Figures:
    """Draw histograms of the attention weights (Zeng et al. 2021, Figure 5)."""
    settings, figures = evidence.having("heads", settings), {}
    for site in SELF_SITES:
        counts = {
            str(setting): head_numbers(evidence, setting, site, "histogram") for setting in settings
        }
        num_layers = min(map(len, counts.values()))
        # The paper shows the first, third and sixth of six layers.
        layers = sorted({0, (num_layers - 1) // 2, num_layers - 1})
        figures[f"Histogram of the weights, {site}"] = plots.weight_histograms(counts, layers)
    return figures


def divergence_figures(evidence: Evidence, settings: Sequence[Setting]) -> Figures:
    """Draw the divergence of each pair of layers (Zeng et al. 2021, Figure 7)."""
    settings = evidence.having("heads", settings)
    return {
        f"Divergence of layers, {site}": plots.divergence_matrix(
            {
                str(setting): head_numbers(evidence, setting, site, "divergence")
                for setting in settings
            }
        )
        for site in SELF_SITES
    }


def relevance_figures(evidence: Evidence, setting: Setting) -> Figures:
    """Draw the papers' figures of confidence, relevance and roles of encoder heads.

    Source: Voita et al. 2019, Figures 1 and 2.
    """
    record = evidence.one("heads", setting)
    return {name: figure for name, figure in head_figures(record).items() if name != "Distance"}


def rare_words_figure(evidence: Evidence, setting: Setting) -> Figures:
    """Draw how often each encoder head points to rare words (Voita et al. 2019, section 5.3)."""
    share = {"encoder_self": head_numbers(evidence, setting, "encoder_self", "two_rarest")}
    return {
        f"Queries that point to one of the two rarest tokens, {setting}": plots.head_values(
            share, "share of queries", (0, 1)
        )
    }


def head_figures(record: Record) -> Figures:
    """Draw the papers' figures of the heads in one record: relevance, roles, distances."""
    sites = record["sites"]
    confidence, relevance = (
        np.array(sites["encoder_self"][name], dtype=float) for name in ("confidence", "relevance")
    )
    roles = [[tuple(head) for head in layer] for layer in sites["encoder_self"]["roles"]]
    distances = {site: np.array(sites[site]["distance"], dtype=float) for site in SELF_SITES}
    return {
        "Confidence against relevance": plots.confidence_against_relevance(
            confidence, relevance, roles
        ),
        "Relevance": plots.head_values(
            {"encoder_self": relevance}, "relevance, share of the layer"
        ),
        "Confidence": plots.head_values(
            {"encoder_self": confidence}, "mean largest weight", (0, 1)
        ),
        "Roles by layer": plots.roles_by_layer(roles),
        "Distance": plots.head_bars(distances, "distance, tokens"),
    }


def length_cost_figure(_evidence: Evidence) -> Figures:
    """Draw a paper's figure of the cost of an attention layer by length, if benchmarked."""
    measured = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "scaling.json"
    # An installed package has no repository around it.
    if not measured.exists():
        return {}
    title = "Cost of one attention layer, 4,096 tokens in sentences of each length"
    return {title: layer_cost(json.loads(measured.read_bytes())["rows"])}


def layer_cost(rows: Iterable[dict[str, Any]]) -> Figure:
    """Draw a paper's figure of the time `ms` of a layer by `length`, a line per `name`."""
    lines: dict[str, tuple[list[float], list[float]]] = {}
    for row in rows:
        lengths, costs = lines.setdefault(row["name"], ([], []))
        lengths.append(row["length"])
        costs.append(row["ms"])
    return plots.speed_by_length(lines, "milliseconds")


def accuracy_figure(
    evidence: Evidence,
    error: str,
    settings: Sequence[Setting],
    masked: str | None = None,
    where: str = "",
) -> Figures:
    """Draw a paper's figure of accuracy on contrastive pairs by distance.

    Args:
        evidence, error, settings, masked: see `distances_by_system`.
        where: added to the title.
    """
    by_system = distances_by_system(evidence, error, settings, masked)
    labels = list(next(iter(by_system.values())))
    systems = {
        name: Measured(
            *(
                [100 * getattr(found[label], end) for label in labels]
                for end in ("value", "low", "high")
            )
        )
        for name, found in by_system.items()
    }
    return {f"Accuracy on {error} by distance{where}": plots.accuracy_by_distance(labels, systems)}


def _patterns(spec: str, site: str, num_heads: int, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the weights of fixed heads on `EXAMPLE_WORDS`, for a paper's first figure."""
    matrices = weights(spec, site=site, num_heads=num_heads, words=EXAMPLE_WORDS)
    return dict(zip(names, matrices.numpy(), strict=True))
