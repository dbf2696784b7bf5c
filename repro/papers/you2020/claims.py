"""The claims of the paper, each with its test and the reason for its margin."""

from functools import partial

from repro.claims.bins import equal_parts, slope_weights
from repro.claims.conditions import Check, Claim, Contrast, better, loss, not_worse
from repro.claims.evidence import Evidence
from repro.claims.settings import Setting
from repro.papers.heads import local_share
from repro.papers.speed import speed_ratio
from repro.papers.you2020.experiments import (
    BASE,
    HC_ALL,
    HC_NO_FF,
    HC_SA,
    INDEX,
    LONG_ENOUGH,
    NO_FF,
    NO_MIDDLE,
    NO_SELF,
    SH_X,
    SPREAD,
    STACKED,
    TOO_SHORT,
    TWO_HEADS,
    WINDOW,
    WITH_MIDDLE,
)
from repro.records.sentences import REFERENCE_WORDS
from repro.statistics.intervals import Estimate, Undefined


def _growth(evidence: Evidence, of: Setting, against: Setting) -> Estimate:
    """Return a claim of You et al. 2020: how fast a loss in BLEU grows with sentence length.

    The loss is that of `of` against `against`; equal lengths stay together.
    """
    edges = equal_parts(evidence.lengths(BASE, REFERENCE_WORDS), 5)
    return evidence.trend([(1, against), (-1, of)], REFERENCE_WORDS, edges, slope_weights)


def _least_growth(evidence: Evidence, of: Setting, against: Setting) -> float:
    """Return the lower end of `_growth`, for a claim of You et al. 2020."""
    growth = _growth(evidence, of, against)
    if not growth.counts_seeds:
        raise Undefined(f"{growth.value:+.2f}, and nothing tells how much seeds matter")
    return growth.ends[0]


CLAIMS = (
    Claim(
        "Y-01",
        "hard-coded self-attention loses little to learned",
        "-1.2 to +0.4 on eight tasks",
        (not_worse(HC_SA, BASE, 1.0),),
        place="Table 2",
        fixed="2026-11-21",
        seeds=5,
    ),
    Claim(
        "Y-02",
        "hard-coding cross attention too is costly",
        "4.7 to 10.3 lost",
        (loss(BASE, HC_ALL, at_least=4.0),),
        place="Table 2",
        fixed="2026-11-21",
        seeds=5,
    ),
    Claim(
        "Y-03",
        "one learned cross head recovers at least half of what hard-coded cross attention costs",
        "65 to 87 % on six tasks, 32 and 35 % on WMT14",
        (Contrast(((1, SH_X), (-0.5, HC_ALL), (-0.5, BASE)), at_least=0.0),),
        place="Table 2",
        fixed="2026-11-21",
    ),
    Claim(
        "Y-04",
        "one learned cross head stays below the baseline, by 0.3 to 4 BLEU",
        "1.1 to 3.3 BLEU",
        (loss(BASE, SH_X, at_least=0.3, at_most=4.0),),
        place="Table 2",
        fixed="2026-11-21",
        seeds=5,
    ),
    Claim(
        "Y-05",
        "different offsets in a layer beat equal ones by 1 BLEU or more",
        "+2.9",
        (Contrast(((1, HC_SA), (-1, Setting("hc-sa-ll-ll"))), at_least=1.0),),
        scales=WITH_MIDDLE,
        elsewhere=NO_MIDDLE,
        place="Table 6",
        fixed="2026-11-21",
    ),
    Claim(
        "Y-06",
        "a window of three tokens does as well, within 0.5 BLEU",
        "-0.2, -0.1",
        (Contrast(((1, WINDOW), (-1, HC_SA)), at_least=-0.5, at_most=0.5),),
        place="Table 5",
        fixed="2026-11-21",
    ),
    Claim(
        "Y-07",
        "copying one neighbour nearly works: it costs 1.5 BLEU at most, and gains 0.2 at most",
        "0.5 and 1.0 lost",
        (loss(HC_SA, INDEX, at_least=-0.2, at_most=1.5),),
        place="Table 5",
        fixed="2026-11-21",
    ),
    Claim(
        "Y-08",
        "some mixing over positions is needed: without any, 3 BLEU or more are lost",
        "6.0 and 7.2 lost",
        (loss(BASE, NO_SELF, at_least=3.0),),
        place="Table 3",
        fixed="2026-11-21",
    ),
    Claim(
        "Y-09",
        "feed-forward layers compensate for what hard-coded attention lacks",
        "removing them costs 3.2 against 1.8",
        (Contrast(((1, HC_SA), (-1, HC_NO_FF), (-1, BASE), (1, NO_FF)), at_least=0.0),),
        place="Figure 3",
        fixed="2026-11-21",
    ),
    Claim(
        "Y-10",
        "the loss of hc-all grows faster with length than that of hc-sa, "
        "which is not shown to grow",
        "said in section 6.2, on Figure 4",
        (
            Check(
                "slope of the loss of hc-all minus that of hc-sa, per word",
                partial(_growth, of=HC_ALL, against=HC_SA),
                (HC_SA, HC_ALL),
                at_least=0,
            ),
            Check(
                "slope of the loss of hc-sa, per word: lower end of its interval",
                partial(_least_growth, of=HC_SA, against=BASE),
                (BASE, HC_SA),
                at_most=0,
            ),
        ),
        place="Figure 4",
        fixed="2026-11-21",
    ),
    Claim(
        "Y-11",
        "cross heads spread over the layers beat as many in the last",
        "clearly better in Figure 7",
        (better(SPREAD, STACKED),),
        place="Figure 7",
        fixed="2026-11-21",
    ),
    Claim(
        "Y-12",
        "fewer attention parts decode faster",
        "1.30 and 1.06 times (large), 1.16 and 1.02 (small)",
        (
            Check(
                "speed of sh-x / base, median of rounds",
                partial(speed_ratio, arm=SH_X, base=BASE),
                (SH_X, BASE),
                ("speed",),
                at_least=1.10,
            ),
            Check(
                "speed of hc-sa / base, median of rounds",
                partial(speed_ratio, arm=HC_SA, base=BASE),
                (HC_SA, BASE),
                ("speed",),
                at_least=1.00,
            ),
        ),
        place="Table 3",
        fixed="2026-11-21",
    ),
    Claim(
        "Y-13",
        "most learned self-attention heads look nearby",
        "shown in Figure 2",
        (
            Check(
                "share of heads of base, two a layer, with a mean distance of at most 3",
                partial(local_share, arm=TWO_HEADS),
                (TWO_HEADS,),
                ("heads",),
                at_least=0.5,
            ),
        ),
        scales=LONG_ENOUGH,
        elsewhere=TOO_SHORT,
        place="Figure 2",
        fixed="2026-11-29",
        why="most is more than half; a Gaussian at the next token has 95 % of its weight within "
        "three tokens",
    ),
)
