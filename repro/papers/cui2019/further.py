"""Further claims of the paper, of its figures, with the reason for each margin."""

import numpy as np

from repro.claims.composed import InBins
from repro.claims.conditions import Check, Claim
from repro.claims.evidence import Evidence
from repro.core.attention.mixed import head_types
from repro.papers.cui2019.experiments import BASE, LENGTHS, MMA
from repro.papers.heads import map_weights, mean_over_seeds
from repro.records.sentences import SOURCE_WORDS
from repro.statistics.intervals import Estimate, Undefined

FIXED = "2026-11-29"
DIRECTION = "the paper gives a direction and no bound, so any difference counts that is sure"


def _gains(evidence: Evidence, comparisons: int) -> list[Estimate]:
    """Return the gain of MMA by group of source lengths (Cui et al. 2019), in BLEU."""
    terms = [(1.0, MMA), (-1.0, BASE)]
    groups = evidence.bins(BASE, SOURCE_WORDS, LENGTHS)
    return [evidence.contrast(terms, inside, comparisons) for _, _, inside in groups]


def _own_weight_above_chance(evidence: Evidence) -> Estimate:
    """Compute for Cui et al. 2019: a token's weight on itself in global heads."""

    def of_seed(seed: int) -> Estimate:
        weights = _heads_of_type(evidence, seed, "G")[0]  # (num_heads, num_tokens, num_tokens)
        own = np.diagonal(weights, axis1=1, axis2=2)
        return Estimate(float(own.mean() - 1 / weights.shape[-1]), over=f"{own.size} tokens")

    return mean_over_seeds(evidence, (MMA,), of_seed, kinds=("maps",))


def _reach_of_upper_layers(evidence: Evidence) -> Estimate:
    """Return how much farther upper directed heads look (Cui et al. 2019), in tokens.

    How far a head looks is the mean distance of its weights. Tokens that see only themselves count
    as 0 in every layer.
    """

    def of_seed(seed: int) -> Estimate:
        layers = _heads_of_type(evidence, seed, "FB")
        places = np.arange(layers[0].shape[-1])
        distances = np.abs(places[:, None] - places)
        reach = [float((weights * distances).sum(axis=-1).mean()) for weights in layers]
        if not (half := len(reach) // 2):
            raise Undefined("a single layer has no halves")
        found = np.mean(reach[-half:]) - np.mean(reach[:half])
        return Estimate(float(found), over=f"{len(reach)} layers")

    return mean_over_seeds(evidence, (MMA,), of_seed, kinds=("maps",))


def _heads_of_type(evidence: Evidence, seed: int, letters: str) -> list[np.ndarray]:
    """Return the weights of MMA's heads of some types (Cui et al. 2019), one array a layer."""
    layers = map_weights(evidence, MMA, "encoder_self", seed)
    types = head_types(len(layers[0]))
    inside = [place for place, letter in enumerate(types) if letter in letters]
    return [layer[inside] for layer in layers]


FURTHER = (
    Claim(
        "M-07",
        "MMA is better at all lengths of the source",
        "in all six groups",
        (
            InBins(
                "gain of MMA by source length, BLEU",
                _gains,
                1.0,
                at_least=0.0,
                settings=(MMA, BASE),
            ),
        ),
        place="Figure 2",
        fixed=FIXED,
        why=DIRECTION,
    ),
    Claim(
        "M-08",
        "the global head of the first layer overlooks the word itself",
        "seen in maps",
        (
            Check(
                "weight of a token on itself in global heads of layer 1, minus uniform weight",
                _own_weight_above_chance,
                (MMA,),
                ("maps",),
                at_most=0.0,
            ),
        ),
        place="Figure 3",
        fixed=FIXED,
        why="a word is overlooked that gets less than an equal share",
    ),
    Claim(
        "M-09",
        "forward and backward heads look farther in upper layers",
        "seen in maps",
        (
            Check(
                "mean distance of their weights in the upper half of the layers minus the lower, "
                "tokens",
                _reach_of_upper_layers,
                (MMA,),
                ("maps",),
                at_least=0.0,
            ),
        ),
        place="Figure 3",
        fixed=FIXED,
        why=DIRECTION,
    ),
)
