"""The claims of the paper, each with its test and the reason for its margin."""

from dataclasses import replace

from repro.claims.bins import equal_parts
from repro.claims.composed import InBins
from repro.claims.conditions import POSITIVE, Check, Claim, Contrast, better, not_worse
from repro.claims.evidence import Evidence
from repro.claims.settings import Setting
from repro.papers.raganato2020.experiments import (
    AGREEMENT,
    ALL_FIXED,
    BOTH_WAYS,
    DEPTHS,
    HEAD_8,
    LEARNED,
    ONE,
    QUARTER,
    SHALLOW,
    TOKEN,
    TOKEN_BACK,
    WORD,
    WORD_SENSE,
    two_with,
)
from repro.papers.suites import (
    ELSEWHERE,
    SCALES_WITH_SUITES,
    accuracy_difference,
    setting_with_pairs,
)
from repro.records.sentences import REFERENCE_WORDS
from repro.statistics.intervals import Estimate


def _local_minus_far(evidence: Evidence) -> Estimate:
    """Compute for Raganato et al. 2020: least loss of heads 2-4 less most of 5-7.

    The pair is chosen on the same sentences. So the interval combines those of all nine
    differences, which are wider (Bonferroni): the smallest of nine is between the lowest of their
    low ends and the lowest of their high ends. `detectable` belongs to the pair with the smallest
    difference alone. For all nine to be above 0 as often, the true differences must be larger.
    """
    pairs = [(near, far) for near in "234" for far in "567"]
    found = [
        evidence.masked_difference((TOKEN, near), (TOKEN, far), comparisons=len(pairs))
        for near, far in pairs
    ]
    least = min(found, key=lambda difference: difference.value)
    low, high = (min(one.ends[end] for one in found) for end in (0, 1))
    return replace(least, low=low, high=high)


def _depth_difference(evidence: Evidence) -> Estimate:
    """Compute for Raganato et al.: cost of masking head 8 at depth 1 less at all."""
    return evidence.masked_difference((Setting(TOKEN.system, SHALLOW), HEAD_8), (TOKEN, HEAD_8))


def _sense_drop(evidence: Evidence) -> Estimate:
    """Return the accuracy on word senses lost with head 8 (Raganato et al. 2020)."""
    token = setting_with_pairs(evidence, WORD_SENSE, TOKEN)
    return accuracy_difference(evidence, WORD_SENSE, token, token, masked=HEAD_8)


def _agreement_difference(evidence: Evidence) -> Estimate:
    """Return the accuracy on agreement gained by fixing (Raganato et al. 2020)."""
    learned, token = two_with(evidence, AGREEMENT)
    return accuracy_difference(evidence, AGREEMENT, token, learned)


def _losses_without(evidence: Evidence, comparisons: int) -> list[Estimate]:
    """Return what head 8 is worth by sentence length (Raganato et al. 2020), in BLEU.

    Lengths are those of references; equal lengths stay together.
    """
    (first, *_) = evidence.shared_seeds(["masks"], [TOKEN], split=evidence.split)
    # If this record is missing, the error must name it.
    evidence.one("masks", TOKEN, first, split=evidence.split)
    edges = equal_parts(evidence.lengths(TOKEN, REFERENCE_WORDS), 5)
    return [
        evidence.masked(TOKEN, HEAD_8, inside, comparisons)
        for _, _, inside in evidence.bins(TOKEN, REFERENCE_WORDS, edges)
    ]


CLAIMS = (
    Claim(
        "R-01",
        "seven fixed token heads do not hurt",
        "nearly equal",
        (not_worse(TOKEN, LEARNED, 0.5),),
        place="Table 1",
        fixed="2026-11-21",
        seeds=5,
    ),
    Claim(
        "R-02",
        "seven fixed heads by words do not hurt either",
        "nearly equal",
        (not_worse(WORD, LEARNED, 0.5),),
        place="Table 1",
        fixed="2026-11-21",
    ),
    Claim(
        "R-03",
        "fixed heads add something over one learned head, however deep encoder and decoder are",
        "always higher",
        tuple(
            better(replace(fixed, overrides=depth), replace(ONE, overrides=depth))
            for depth in DEPTHS
            for fixed in (TOKEN, WORD)
        ),
        place="Table 1",
        fixed="2026-11-29",
        why="always means at each depth, for both kinds of patterns; by how much is not said",
    ),
    Claim(
        "R-04",
        "fixed heads gain when data are scarce, and more than with all data",
        "up to +3",
        (
            better(Setting(TOKEN.system, part=QUARTER), Setting(LEARNED.system, part=QUARTER)),
            Contrast(
                (
                    (1, Setting(TOKEN.system, part=QUARTER)),
                    (-1, Setting(LEARNED.system, part=QUARTER)),
                    (-1, TOKEN),
                    (1, LEARNED),
                ),
                at_least=0.0,
            ),
        ),
        place="Table 2",
        fixed="2026-11-21",
    ),
    Claim(
        "R-05",
        "the heads for previous token, next token and left context matter more than those for "
        "right context, end and start",
        "heads 2, 3, 4",
        (
            Check(
                "smallest loss from masking heads 2-4 minus largest from 5-7, BLEU",
                _local_minus_far,
                (TOKEN,),
                ("masks",),
                at_least=0.0,
            ),
        ),
        place="Table 4",
        fixed="2026-11-21",
    ),
    Claim(
        "R-06",
        "a deep decoder makes the learned head less needed",
        "much smaller loss at 6+6 than at 6+1",
        (
            Check(
                "BLEU lost by masking head 8 with one decoder layer minus with all",
                _depth_difference,
                (TOKEN, Setting(TOKEN.system, SHALLOW)),
                ("masks",),
                at_least=0.0,
            ),
        ),
        place="Table 4",
        fixed="2026-11-21",
    ),
    Claim(
        "R-07",
        "the last learned head can be fixed too",
        "dispensable with a deep decoder",
        (not_worse(ALL_FIXED, TOKEN, 0.5),),
        place="Table 5",
        fixed="2026-11-21",
    ),
    Claim(
        "R-08",
        "the learned head carries word sense",
        "a consistent drop",
        (
            Check(
                "accuracy on word sense (of MuCoW the parts that the paper reports) minus that "
                "with head 8 masked, same pairs, points",
                _sense_drop,
                (TOKEN, TOKEN_BACK),
                ("contrastive",),
                at_least=1.0,
            ),
        ),
        scales=SCALES_WITH_SUITES,
        elsewhere=ELSEWHERE,
        place="Table 6",
        fixed="2026-11-21",
    ),
    Claim(
        "R-09",
        "agreement does not suffer",
        "no difference",
        (
            Check(
                "accuracy on agreement of 7F+1L minus that of 8L, on the same pairs, points",
                _agreement_difference,
                BOTH_WAYS,
                ("contrastive",),
                at_least=-2.0,
                at_most=2.0,
                null=0.0,
            ),
        ),
        scales=SCALES_WITH_SUITES,
        elsewhere=ELSEWHERE,
        place="Figure 3",
        fixed="2026-11-21",
    ),
    Claim(
        "R-10",
        "sentences of nearly all lengths need the learned head",
        "lower in almost all bins",
        (
            InBins(
                "BLEU lost by masking head 8",
                _losses_without,
                0.8,
                at_least=POSITIVE,
                settings=(TOKEN,),
                measures=("masks",),
            ),
        ),
        place="Figure 2",
        fixed="2026-11-29",
        why="almost all bins are four of five, as on 2026-11-21, now judged by one joint interval",
    ),
)
