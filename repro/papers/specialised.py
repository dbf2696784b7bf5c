"""Compute the numbers that claims on specialised heads need (Voita et al. 2019, section 5)."""

from typing import Any

import numpy as np

from repro.analysis.heads import POSITIONAL_SHARE
from repro.claims.evidence import Evidence
from repro.papers.heads import head_numbers, mean_over_seeds, syntax_of
from repro.papers.pruned import PRUNED
from repro.statistics.intervals import Estimate, Undefined, paired_difference, rank_correlation


def positional_heads(evidence: Evidence, seed: int = 1) -> np.ndarray:
    """Return which encoder heads are positional by Voita et al.: 90 % of queries.

    Shape: `(num_layers, num_heads)`.
    """
    offset = head_numbers(evidence, PRUNED, "encoder_self", "main_offset", seed)
    return (
        head_numbers(evidence, PRUNED, "encoder_self", "positional", seed) >= POSITIONAL_SHARE
    ) & (np.abs(offset) == 1)


def count_of_positional(evidence: Evidence) -> Estimate:
    """Compute for Voita et al.: how many encoder heads are positional."""

    def of_seed(seed: int) -> Estimate:
        found = positional_heads(evidence, seed)
        return Estimate(float(found.sum()), over=f"of {found.size} heads", step=1)

    return mean_over_seeds(evidence, (PRUNED,), of_seed, least=0.0)


def confidence_of_positional(evidence: Evidence) -> Estimate:
    """Compute for Voita et al.: the lowest confidence of a positional head.

    Raises:
        Undefined: no head is positional.
    """

    def of_seed(seed: int) -> Estimate:
        found = head_numbers(evidence, PRUNED, "encoder_self", "confidence", seed)[
            positional_heads(evidence, seed)
        ]
        if not len(found):
            raise Undefined("no head is positional")
        return Estimate(float(found.min()), over=f"{len(found)} heads")

    return mean_over_seeds(evidence, (PRUNED,), of_seed, 0.0, 1.0)


def relevance_with_confidence(evidence: Evidence) -> Estimate:
    """Compute for Voita et al.: correlation of relevance and confidence.

    The first layer is left out. The interval of a single model is over its heads. Several models
    have different heads, so an interval over seeds covers both.
    """
    several = len(evidence.shared_seeds(["heads"], (PRUNED,))) > 1

    def of_seed(seed: int) -> Estimate:
        relevance, confidence = (
            head_numbers(evidence, PRUNED, "encoder_self", name, seed)[1:].ravel()
            for name in ("relevance", "confidence")
        )
        found = rank_correlation(relevance, confidence, "heads")
        return Estimate(found.value, over=found.over) if several else found

    return mean_over_seeds(evidence, (PRUNED,), of_seed, -1.0, 1.0)


def confidence_of_most_relevant(evidence: Evidence) -> Estimate:
    """Compute for Voita et al.: most relevant head's extra confidence.

    Raises:
        Undefined: the layer has fewer than two heads.
    """

    def of_seed(seed: int) -> Estimate:
        relevance, confidence = (
            head_numbers(evidence, PRUNED, "encoder_self", name, seed)[0]
            for name in ("relevance", "confidence")
        )
        if np.isfinite(relevance).sum() < 2:
            raise Undefined("the first layer has no two heads to compare")
        best = confidence[int(np.nanargmax(relevance))]
        return Estimate(float(best - np.nanmedian(confidence)), over=f"{len(confidence)} heads")

    return mean_over_seeds(evidence, (PRUNED,), of_seed, -1.0, 1.0)


def rare_head(evidence: Evidence) -> Estimate:
    """Compute for Voita et al.: rare-word margin of the most relevant first-layer head.

    It is that head's share of queries to the two rarest tokens minus 40 % or the next head's share,
    whichever is larger. At least 0 means: the head points to them in 40 % of the cases or more, and
    most often in its layer.

    Raises:
        Undefined: the layer has fewer than two heads, or no sentence had a rare token.
    """

    def of_seed(seed: int) -> Estimate:
        relevance, share = (
            head_numbers(evidence, PRUNED, "encoder_self", name, seed)[0]
            for name in ("relevance", "two_rarest")
        )
        if np.isfinite(relevance).sum() < 2 or np.isnan(share).all():
            raise Undefined("the first layer has no two heads to compare on rare tokens")
        best = int(np.nanargmax(relevance))
        return Estimate(
            100 * float(share[best] - max(0.4, np.nanmax(np.delete(share, best)))),
            over=f"{len(share)} heads",
        )

    return mean_over_seeds(evidence, (PRUNED,), of_seed)


def best_margin(evidence: Evidence, relation: str) -> Estimate:
    """Compute for Voita et al.: best margin over position in a relation, in points.

    The better direction counts. Records say how often the head and the baseline found each pair of
    words, not how often both did. The interval assumes the smallest possible overlap, so it is the
    widest. It ignores that the head was chosen on these sentences.

    Raises:
        NotMeasured: there are no parses in the source language.
        Undefined: the relation does not occur in the sentences.
    """

    def of_seed(seed: int) -> Estimate:
        return _margin(syntax_of(evidence, PRUNED, seed), relation)

    return mean_over_seeds(evidence, (PRUNED,), of_seed)


def _margin(syntax: dict[str, Any], relation: str) -> Estimate:
    """Return by how much the best head beats the positional baseline (Voita et al. 2019)."""
    count = sum(syntax["positions"][relation].values())
    if not count:
        raise Undefined(f"{relation} does not occur in the parsed sentences")
    best = max(
        np.nanmax(np.array(shares, dtype=float)) for shares in syntax["accuracy"][relation].values()
    )
    by_head, by_baseline = round(best * count), round(syntax["baseline"][relation] * count)
    found = [place < by_head for place in range(count)]
    return paired_difference(
        found, [place >= count - by_baseline for place in range(count)], f"{count} pairs of words"
    )
