"""Further claims of the paper, of other methods and of its analyses, with reasons for margins."""

from functools import partial

import numpy as np

from repro.claims.bins import MIN_SENTENCES
from repro.claims.conditions import Check, Claim, better, loss
from repro.claims.evidence import Evidence
from repro.claims.settings import Setting
from repro.papers.heads import head_numbers, map_weights, mean_over_seeds
from repro.papers.printed import quoted_changes
from repro.papers.zeng2021.experiments import (
    BASE,
    HC_SA,
    NAME,
    NO_DECODER_PE,
    NO_NORM,
    NO_RESIDUAL,
    RAN_ALL,
    RAN_D_NO_PE,
    RAN_E,
    SYN_R,
)
from repro.records.sentences import SOURCE_WORDS
from repro.statistics.intervals import Estimate, Undefined

FIXED = "2026-11-29"
LONG = 40  # source words from which a sentence is long
NEAR = 1  # tokens from the query, or fewer
DIRECTION = "the paper gives a direction and no bound, so any difference counts that is sure"


def _entropies(evidence: Evidence, setting: Setting, site: str, seed: int) -> np.ndarray:
    """Return the entropy of each layer's heads, for the claims of Zeng et al. 2021, in nats."""
    return np.nanmean(head_numbers(evidence, setting, site, "entropy", seed), axis=1)


def _entropy_difference(evidence: Evidence, of: Setting, against: Setting, site: str) -> Estimate:
    """Compute for Zeng et al. 2021: entropy of a setting minus another's."""

    def of_seed(seed: int) -> Estimate:
        first, second = (_entropies(evidence, one, site, seed) for one in (of, against))
        return Estimate(float(first.mean() - second.mean()), over=f"{len(first)} layers")

    return mean_over_seeds(evidence, (of, against), of_seed)


def _largest_entropy_difference(
    evidence: Evidence, of: Setting, against: Setting, site: str
) -> Estimate:
    """Compute for Zeng et al. 2021: a layer's largest such difference."""

    def of_seed(seed: int) -> Estimate:
        first, second = (_entropies(evidence, one, site, seed) for one in (of, against))
        return Estimate(float((first - second).max()), over=f"{len(first)} layers")

    return mean_over_seeds(evidence, (of, against), of_seed)


def _entropy_fall(evidence: Evidence, of: Setting, site: str) -> Estimate:
    """Compute for Zeng et al. 2021: entropy of the first layer minus the last's."""

    def of_seed(seed: int) -> Estimate:
        layers = _entropies(evidence, of, site, seed)
        return Estimate(float(layers[0] - layers[-1]), over=f"{len(layers)} layers")

    return mean_over_seeds(evidence, (of,), of_seed)


def _lead_of_first_token(evidence: Evidence) -> Estimate:
    """Compute for Zeng et al. 2021: the extra weight of the first token.

    It is the mean over the decoder's heads and over queries with other tokens there. The weights of
    RAN do not depend on words, so one sentence shows them up to its length.
    """

    def of_seed(seed: int) -> Estimate:
        layers = map_weights(evidence, RAN_ALL, "decoder_self", seed)
        leads = [
            layer[:, query, 0] - layer[:, query, 1 : query - NEAR].mean(axis=-1)
            for layer in layers
            for query in range(NEAR + 2, layer.shape[1])
        ]
        return Estimate(float(np.mean(leads)), over=f"{np.size(leads)} rows of weights")

    return mean_over_seeds(evidence, (RAN_ALL,), of_seed, kinds=("maps",))


def _gain_on_long_sources(evidence: Evidence) -> Estimate:
    """Compute for Zeng et al. 2021: the gain of RAN-E on long sources.

    Raises:
        Undefined: too few sentences are long.
    """
    lengths = evidence.lengths(BASE, SOURCE_WORDS)
    long = [place for place, length in enumerate(lengths) if length >= LONG]
    if len(long) < MIN_SENTENCES:
        raise Undefined(f"{len(long)} sentences of {LONG} words or more are too few")
    return evidence.contrast([(1, RAN_E), (-1, BASE)], long)


def _average_change(column: str) -> str:
    """Return what the paper prints for a method minus the Transformer, on average."""
    return quoted_changes(NAME, "Table 1", {"column": column}, {"column": "TransF"}, row="Average")


FURTHER = (
    Claim(
        "Z-11",
        "hard-coded attention and the Random Synthesizer lose against the baseline",
        "; ".join(
            f"{column} {_average_change(column)} on average" for column in ("HC-SA", "Syn-R")
        ),
        (better(BASE, HC_SA), better(BASE, SYN_R)),
        place="Table 1",
        fixed=FIXED,
        why="significantly, says the text, which is any difference that is sure; You et al. say "
        "the opposite (Y-01)",
        seeds=5,
    ),
    Claim(
        "Z-12",
        "in the encoder learned attention is the most concentrated, and RAN concentrates from "
        "layer to layer",
        "drawn",
        (
            *(
                Check(
                    f"entropy of {name} minus that of base, encoder, nats",
                    partial(_entropy_difference, of=setting, against=BASE, site="encoder_self"),
                    (setting, BASE),
                    ("heads",),
                    at_least=0.0,
                )
                for name, setting in (("RAN-ALL", RAN_ALL), ("Syn-R", SYN_R))
            ),
            Check(
                "entropy of RAN-ALL in the first encoder layer minus that in the last, nats",
                partial(_entropy_fall, of=RAN_ALL, site="encoder_self"),
                (RAN_ALL,),
                ("heads",),
                at_least=0.0,
            ),
        ),
        place="Figure 4",
        fixed=FIXED,
        why=DIRECTION,
    ),
    Claim(
        "Z-13",
        "in the decoder RAN is more concentrated than the Random Synthesizer, in every layer",
        "drawn",
        (
            Check(
                "largest entropy of RAN-ALL minus that of Syn-R, of all decoder layers, nats",
                partial(
                    _largest_entropy_difference, of=RAN_ALL, against=SYN_R, site="decoder_self"
                ),
                (RAN_ALL, SYN_R),
                ("heads",),
                at_most=0.0,
            ),
        ),
        place="Figure 4",
        fixed=FIXED,
        why=DIRECTION,
    ),
    Claim(
        "Z-14",
        "beyond its neighbours, a query of RAN in the decoder looks at the first token",
        "seen in maps",
        (
            Check(
                "weight of the first token minus the mean of others beyond the neighbours",
                _lead_of_first_token,
                (RAN_ALL,),
                ("maps",),
                at_least=0.0,
            ),
        ),
        place="Figure 6",
        fixed=FIXED,
        why=DIRECTION,
    ),
    Claim(
        "Z-15",
        "RAN needs its norm and its residual connection",
        "a drop",
        tuple(better(RAN_ALL, setting) for setting in (NO_NORM, NO_RESIDUAL)),
        place="Table 3",
        fixed=FIXED,
        why=DIRECTION,
    ),
    Claim(
        "Z-16",
        "RAN in the encoder loses on long sentences",
        "drawn, up to more than 60 words",
        (
            Check(
                f"RAN-E minus base on source sentences of {LONG} words or more, BLEU",
                _gain_on_long_sources,
                (RAN_E, BASE),
                at_most=0.0,
            ),
        ),
        place="Figure 8",
        fixed=FIXED,
        why=DIRECTION,
    ),
    Claim(
        "Z-17",
        "the baseline hardly needs decoder positions, and RAN without them beats it",
        "marginally; even better",
        (loss(BASE, NO_DECODER_PE, at_most=0.5), better(RAN_D_NO_PE, BASE)),
        place="Table 2",
        fixed=FIXED,
        why="marginal is half a BLEU, as in Z-07; better is any gain that is sure",
    ),
)
