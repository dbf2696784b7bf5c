"""The claims of the paper, each with its test and the reason for its margin."""

from functools import partial

from repro.claims.composed import Given
from repro.claims.conditions import Check, Claim, Contrast, better, loss, not_worse
from repro.claims.evidence import Evidence
from repro.claims.settings import Setting
from repro.core.config import SELF_SITES
from repro.core.transformer import Transformer, count_parameters
from repro.papers.heads import adjacent_divergence, mean_over_seeds
from repro.papers.printed import quoted
from repro.papers.speed import speed_ratio
from repro.papers.zeng2021.experiments import (
    BASE,
    DROPOUT,
    FROZEN,
    HC_SA,
    NAME,
    NO_PE,
    RAN_ALL,
    RAN_D,
    RAN_E,
    RAN_E_NO_PE,
    SMALL,
    SYN_ONES,
    SYN_R,
)
from repro.statistics.intervals import Estimate

FIXED = "2026-11-29"  # of what was restated


def _extra_parameters_for_the_text(evidence: Evidence) -> int:
    """Return the parameters that RAN-ALL has more than base (Zeng et al. 2021).

    The matrices of RAN-ALL are as large as the longest training sentence wants (`data.max_tokens`),
    like those of the paper, not as large as our default.
    """
    limit = BASE.config(evidence.scale).data.max_tokens
    sites = tuple(f"model.{site}=recurrent(max_len={limit})" for site in SELF_SITES)
    counts = [
        count_parameters(Transformer(setting.config(evidence.scale).model, vocab_size=1, pad_id=0))
        for setting in (Setting("base", sites), BASE)
    ]
    return counts[0] - counts[1]


# The digest of a claim includes the names of these arguments: `arm` is older than `Setting`.
def _divergence_difference(evidence: Evidence, arm: Setting, other: Setting) -> Estimate:
    """Compute for Zeng et al. 2021: divergence of layers less another's."""

    def of_seed(seed: int) -> Estimate:
        first, second = (
            adjacent_divergence(evidence, one, "decoder_self", seed) for one in (arm, other)
        )
        return Estimate(first - second, over="means over pairs of layers")

    return mean_over_seeds(evidence, (arm, other), of_seed)


def _more_alike_than(other: Setting, name: str) -> Check:
    """Return the condition of Zeng et al. 2021 that layers of RAN-ALL are more alike."""
    what = f"divergence of neighbouring decoder layers, RAN-ALL minus {name}, nats"
    return Check(
        what,
        partial(_divergence_difference, arm=RAN_ALL, other=other),
        (RAN_ALL, other),
        ("heads",),
        at_most=0.0,
    )


CLAIMS = (
    Claim(
        "Z-01",
        "RAN in the decoder does not hurt, but gains",
        f"{quoted(NAME, 'text, main results', '+', row='RAN-D', column='average gain')} on average "
        "(BLEU, SacreBLEU)",
        (not_worse(RAN_D, BASE, 0.3), better(RAN_D, BASE)),
        place="Table 1",
        fixed=FIXED,
        why="the margin of 2026-11-21, and any gain that is sure: gains on single pairs differ too "
        "much for a bound",
    ),
    Claim(
        "Z-02",
        "RAN everywhere does not lose to the baseline",
        "+0.16 on average",
        (not_worse(RAN_ALL, BASE, 0.7),),
        place="Table 1",
        fixed="2026-11-21",
        seeds=5,
    ),
    Claim(
        "Z-03",
        "RAN beats the other methods that look at positions only",
        "+0.83 and +0.58 on average",
        (better(RAN_ALL, HC_SA), better(RAN_ALL, SYN_R), better(RAN_ALL, SYN_ONES)),
        place="Table 1",
        fixed="2026-11-21",
    ),
    Claim(
        "Z-04",
        "RAN gains in the encoder and in the decoder, and both together gain less than the sum",
        "; ".join(
            f"{row} {quoted(NAME, 'text, main results', '+', row=row, column='average gain')}"
            for row in ("RAN-E", "RAN-D", "RAN-ALL")
        )
        + " on average (BLEU, SacreBLEU)",
        (
            better(RAN_E, BASE),
            better(RAN_D, BASE),
            Contrast(((1, RAN_ALL), (-1, RAN_E), (-1, RAN_D), (1, BASE)), at_most=0.0),
        ),
        place="Table 1",
        fixed=FIXED,
        why="gains that add up leave a difference of 0; by how much they fall short is not said",
    ),
    Claim(
        "Z-05",
        "the gain of RAN is larger with little data",
        "+0.97 on Tr-En (210,000 pairs), -0.02 on De-En (4.5 million), "
        "+0.93 on En-Fi (2.6 million)",
        (
            Contrast(
                ((1, SMALL[1]), (-1, SMALL[0]), (-1, RAN_D), (1, BASE)),
                at_least=0.0,
            ),
        ),
        place="Table 1",
        fixed="2026-11-21",
    ),
    Claim(
        "Z-06",
        "RAN replaces the encoder's position embeddings",
        "the Transformer loses more than 14 BLEU, RAN makes up for it",
        (loss(BASE, NO_PE, at_least=5.0), loss(RAN_E, RAN_E_NO_PE, at_most=1.5)),
        place="Table 2",
        fixed="2026-11-21",
    ),
    Claim(
        "Z-07",
        "the first matrices need no training",
        "-0.1 to -0.2",
        (Contrast(((1, FROZEN), (-1, RAN_ALL)), at_least=-0.5, at_most=0.5),),
        place="Table 3",
        fixed="2026-11-21",
    ),
    Claim(
        "Z-08",
        "RAN has fewer parameters, and is faster",
        "1.14 to 1.24 times",
        (
            Check(
                "parameters of RAN-ALL, with matrices for the longest training sentence, minus "
                "those of base",
                _extra_parameters_for_the_text,
                (RAN_ALL, BASE),
                at_most=-1,
            ),
            Check(
                "speed of RAN-ALL / base, median of rounds",
                partial(speed_ratio, arm=RAN_ALL, base=BASE),
                (RAN_ALL, BASE),
                ("speed",),
                at_least=1.05,
            ),
        ),
        place="Figure 3",
        fixed=FIXED,
        why="the margins of 2026-11-21: fewer is one less, and a third of the least printed "
        "speed-up",
    ),
    Claim(
        "Z-09",
        "neighbouring decoder layers attend more alike than in the baseline and in Syn-R",
        "0.08 to 0.2 between layers of the decoder",
        (_more_alike_than(BASE, "base"), _more_alike_than(SYN_R, "Syn-R")),
        place="Figure 7",
        fixed="2026-11-27",
    ),
    Claim(
        "Z-10",
        "attention dropout does not give the baseline what RAN-D gains (our control)",
        "not reported",
        (Given(better(RAN_D, BASE), Contrast(((1, RAN_D), (-1, DROPOUT)), at_least=0.1)),),
        place="our control",
        fixed=FIXED,
        why="the margin of 2026-11-21",
    ),
)
