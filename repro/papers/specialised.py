"""Specialised heads (Voita et al. 2019, section 5): the numbers that claims ask for, from records of the kind `heads`."""

from typing import Any

import numpy as np

from repro.analysis.heads import POSITIONAL_SHARE
from repro.claims.evidence import Evidence, NotMeasured
from repro.papers.heads import numbers, over_models
from repro.papers.pruned import PRUNED
from repro.statistics.intervals import Estimate, Undefined, paired_difference, rank_correlation


def positional(evidence: Evidence, seed: int = 1) -> np.ndarray:
    """Return which encoder heads point to the previous or next token nine times out of ten, `(num_layers, num_heads)`."""
    offset = numbers(evidence, PRUNED, "encoder_self", "main_offset", seed)
    return (numbers(evidence, PRUNED, "encoder_self", "positional", seed) >= POSITIONAL_SHARE) & (
        np.abs(offset) == 1
    )


def count_of_positional(evidence: Evidence) -> Estimate:
    """Return how many encoder heads are positional."""

    def of_seed(seed: int) -> Estimate:
        found = positional(evidence, seed)
        return Estimate(float(found.sum()), over=f"of {found.size} heads", step=1)

    return over_models(evidence, (PRUNED,), of_seed, least=0.0)


def confidence_of_positional(evidence: Evidence) -> Estimate:
    """Return the lowest confidence, that is the mean largest weight, of the positional heads of the encoder.

    Raises:
        Undefined: no head is positional.
    """

    def of_seed(seed: int) -> Estimate:
        found = numbers(evidence, PRUNED, "encoder_self", "confidence", seed)[
            positional(evidence, seed)
        ]
        if not len(found):
            raise Undefined("no head is positional")
        return Estimate(float(found.min()), over=f"{len(found)} heads")

    return over_models(evidence, (PRUNED,), of_seed, 0.0, 1.0)


def relevance_with_confidence(evidence: Evidence) -> Estimate:
    """Return Spearman's correlation of relevance and confidence over all encoder heads but those of the first layer.

    The interval of a single model is over its heads. Those of several models are not the same
    heads, so that their seeds tell of both.
    """
    several = len(evidence.shared_seeds(["heads"], (PRUNED,))) > 1

    def of_seed(seed: int) -> Estimate:
        relevance, confidence = (
            numbers(evidence, PRUNED, "encoder_self", name, seed)[1:].ravel()
            for name in ("relevance", "confidence")
        )
        found = rank_correlation(relevance, confidence, "heads")
        return Estimate(found.value, over=found.over) if several else found

    return over_models(evidence, (PRUNED,), of_seed, -1.0, 1.0)


def rare_head(evidence: Evidence) -> Estimate:
    """Return the share of the two rarest tokens for the most relevant head of the first encoder layer, minus 40 % or the next head's share.

    In points. At least 0 means: this head points to them in 40 % of the cases or more, and more
        often than every other head of the layer.

    Raises:
        Undefined: the layer has fewer than two heads, or no sentence had a rare token.
    """

    def of_seed(seed: int) -> Estimate:
        relevance, share = (
            numbers(evidence, PRUNED, "encoder_self", name, seed)[0]
            for name in ("relevance", "two_rarest")
        )
        if np.isfinite(relevance).sum() < 2 or np.isnan(share).all():
            raise Undefined("the first layer has no two heads to compare on rare tokens")
        best = int(np.nanargmax(relevance))
        return Estimate(
            100 * float(share[best] - max(0.4, np.nanmax(np.delete(share, best)))),
            over=f"{len(share)} heads",
        )

    return over_models(evidence, (PRUNED,), of_seed)


def best_margin(evidence: Evidence, relation: str) -> Estimate:
    """Return by how many points the best head beats the positional baseline for a relation, in its better direction.

    Of each pair of words it is known how often the head found it and how often the baseline did,
        not how often both: the interval is for
    as seldom as it can be, the widest. It does not know either that the head is the best of many on
    these very sentences.

    Raises:
        NotMeasured: there are no parses in the language of the source.
        Undefined: the relation does not occur in the sentences.
    """

    def of_seed(seed: int) -> Estimate:
        syntax = evidence.one("heads", PRUNED, seed)["syntax"]
        if syntax is None:
            language = PRUNED.config(evidence.scale).data.source
            raise NotMeasured(
                f"relations of {PRUNED}",
                f"no parses of '{language}' are at hand",
                "use a scale whose source is English",
            )
        return _margin(syntax, relation)

    return over_models(evidence, (PRUNED,), of_seed)


def _margin(syntax: dict[str, Any], relation: str) -> Estimate:
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
