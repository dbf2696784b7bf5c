"""Tables on what heads do, from records of the kind `heads`; several models side by side."""

import math
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from repro.claims.arms import Arm
from repro.claims.evidence import Evidence, NotMeasured
from repro.core.config import SELF_SITES
from repro.core.numbering import head_number, layer_name
from repro.markdown import table
from repro.papers.printed import printed
from repro.papers.tables import what_there_is
from repro.records.head_tables import (
    columns_explained,
    heads_table,
    sentences_measured,
    syntax_table,
)
from repro.statistics.intervals import Estimate, Undefined, over_seeds

# 0 would relate a word to itself
OFFSETS = ("-6 or less", *(f"{offset:+d}" for offset in range(-5, 6) if offset), "+6 or more")


def numbers(evidence: Evidence, arm: Arm, site: str, name: str, seed: int = 1) -> np.ndarray:
    """Return a statistic of every head, `(num_layers, num_heads, ...)`; NaN for a missing head."""
    return np.array(evidence.one("heads", arm, seed)["sites"][site][name], dtype=float)


def over_models(
    evidence: Evidence,
    arms: Sequence[Arm],
    number: Callable[[int], Estimate],
    least: float = -math.inf,
    most: float = math.inf,
    kinds: Sequence[str] = ("heads",),
) -> Estimate:
    """Return a number of the heads of some arms, over the seeds that all of them were measured for.

    Args:
        evidence, arms: whose.
        number: seed -> the number of that seed's models.
        least, most: see `over_seeds`.
        kinds: of the records that the number is taken from.

    Raises:
        Undefined: no seed has such a number; those that have none are left out otherwise.
    """
    found, reasons = [], []
    for seed in evidence.shared_seeds(kinds, arms):
        try:
            found.append(number(seed))
        except Undefined as reason:
            reasons.append(reason)
    if not found:
        raise reasons[0]
    return over_seeds(found, least, most)


def local_share(evidence: Evidence, arm: Arm) -> Estimate:
    """Return the share of the self-attention heads of an arm whose largest weight lies within three tokens on average."""

    def of_seed(seed: int) -> Estimate:
        distances = np.concatenate(
            [numbers(evidence, arm, site, "distance", seed).ravel() for site in SELF_SITES]
        )
        known = distances[np.isfinite(distances)]
        return Estimate(float((known <= 3).mean()), over=f"{len(known)} heads", step=1 / len(known))

    return over_models(evidence, (arm,), of_seed, 0.0, 1.0)


def all_heads_table(evidence: Evidence, arm: Arm) -> str:
    """Return what every encoder head of an arm does, and what the columns are (Voita et al. 2019, Figures 1 and 2)."""
    record = evidence.one("heads", arm)
    return "\n\n".join([sentences_measured(record), heads_table(record), columns_explained(record)])


def maps_text(evidence: Evidence, arm: Arm) -> str:
    """Say of which sentence the maps of an arm are, and how its model translated it."""
    record = evidence.one("maps", arm)
    source, target = (
        " ".join(f"`{token}`" for token in record[side]) for side in ("source", "target")
    )
    return f"One map a head and layer. Source: {source}. Translation by {record['run']}: {target}."


def entropy_table(evidence: Evidence, arms: Sequence[Arm]) -> str:
    """Return the mean entropy of the heads by site and layer, in nats (Zeng et al. 2021, equation 5 and Figure 4)."""
    arms, rows = evidence.having("heads", arms), []
    for site in SELF_SITES:
        entropies = [np.nanmean(numbers(evidence, arm, site, "entropy"), axis=1) for arm in arms]
        rows += [
            [f"{site}, {layer_name(layer)}", *(f"{values[layer]:.3f}" for values in entropies)]
            for layer in range(len(entropies[0]))
        ]
    return _of_sentences(
        evidence, arms[0], table(["mean entropy, nats", *(str(arm) for arm in arms)], rows)
    )


def divergence_table(evidence: Evidence, arms: Sequence[Arm]) -> str:
    """Return the mean divergence of neighbouring layers, in nats (Zeng et al. 2021, Figure 7)."""
    arms, rows = evidence.having("heads", arms), []
    for site in SELF_SITES:
        means = [
            np.diagonal(numbers(evidence, arm, site, "divergence"), offset=1).mean() for arm in arms
        ]
        rows.append([site, *(f"{mean:.3f}" for mean in means)])
    return _of_sentences(
        evidence,
        arms[0],
        table(["divergence of neighbouring layers, nats", *(str(arm) for arm in arms)], rows),
    )


def _of_sentences(evidence: Evidence, arm: Arm, text: str) -> str:
    """Return a text below what says on which sentences an arm was measured, and so the others beside it."""
    return f"{sentences_measured(evidence.one('heads', arm))}\n\n{text}"


def relations_table(evidence: Evidence, paper: str, place: str, arm: Arm) -> str:
    """Return the best encoder head for each relation, how far the related words are apart, and the printed numbers (their Table 1)."""
    cells = printed(paper, place)
    columns = list(dict.fromkeys(cell.column for cell in cells))
    found = {(cell.row, cell.dataset, cell.column): f"{cell.value:g}" for cell in cells}
    pairs = dict.fromkeys((relation, corpus) for relation, corpus, _ in found)
    theirs = [[*pair, *(found.get((*pair, column), "-") for column in columns)] for pair in pairs]
    printed_cells = (
        [lambda: table(["printed", "corpus", *(f"{column}, %" for column in columns)], theirs)]
        if cells
        else []
    )
    return what_there_is(lambda: _our_relations(evidence, arm), *printed_cells)


def _our_relations(evidence: Evidence, arm: Arm) -> str:
    record = evidence.one("heads", arm)
    if record["syntax"] is None:
        what = f"no parses of '{record['config']['data']['source']}' were at hand"
        raise NotMeasured(f"relations of {arm}", what, "use a scale whose source is English")
    positions = []
    for relation, counts in record["syntax"]["positions"].items():
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


def rare_table(evidence: Evidence, arm: Arm) -> str:
    """Return the share of queries that point to the rarest tokens, for the heads of the first encoder layer (Voita et al. 2019, 5.3)."""
    columns = {"relevance": ".3f", "rarest": ".0%", "two_rarest": ".0%"}
    by_head = np.stack(
        [numbers(evidence, arm, "encoder_self", name)[0] for name in columns], axis=1
    )
    rows = [
        [head_number(0, head), *map(_written, values, columns.values())]
        for head, values in enumerate(by_head)
    ]
    return _of_sentences(
        evidence, arm, table(["layer.head", "relevance", "rarest", "two rarest"], rows)
    )


def _written(value: float, form: str) -> str:
    return "" if np.isnan(value) else format(value, form)
