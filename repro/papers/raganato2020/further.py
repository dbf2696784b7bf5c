"""Further claims of the paper, of its depths and single heads, with the reason for each margin."""

from dataclasses import replace
from functools import partial

from repro.claims.conditions import Check, Claim, Contrast, better, not_worse
from repro.claims.evidence import Evidence
from repro.claims.settings import Setting
from repro.papers.raganato2020.experiments import (
    AGREEMENT,
    BOTH_DEPTHS,
    HEAD_8,
    LEARNED,
    SHALLOW,
    SHALLOW_ENCODER,
    TOKEN,
    WORD,
    WORD_SENSE,
    two_with,
)
from repro.papers.suites import ELSEWHERE, SCALES_WITH_SUITES, accuracy_difference
from repro.statistics.intervals import Estimate

FIXED = "2026-11-29"
HEAD_1 = "1"  # the current token
DIRECTION = "the paper gives a direction and no bound, so any difference counts that is sure"


def _at(depth: tuple[str, ...], setting: Setting) -> Setting:
    """Return a setting of Raganato et al. 2020 with another depth."""
    return replace(setting, overrides=depth)


def _cost_of_current(evidence: Evidence) -> Estimate:
    """Return what Raganato et al.'s head 1 is worth with token patterns, in BLEU."""
    return evidence.masked(TOKEN, HEAD_1)


def _extra_cost_of_current(evidence: Evidence) -> Estimate:
    """Return what Raganato et al.'s head 1 is worth more with words than tokens."""
    return evidence.masked_difference((WORD, HEAD_1), (TOKEN, HEAD_1))


def _fixed_minus_learned(evidence: Evidence, error: str, depth: list[str]) -> Estimate:
    """Compute for Raganato et al.: accuracy of 7F+1L minus that of 8L."""
    learned, token = (_at(tuple(depth), setting) for setting in two_with(evidence, error))
    return accuracy_difference(evidence, error, token, learned)


def _loss_without_learned_head(evidence: Evidence, error: str, depth: list[str]) -> Estimate:
    """Compute for Raganato et al.: accuracy lost by masking head 8."""
    _, token = two_with(evidence, error)
    token = _at(tuple(depth), token)
    return accuracy_difference(evidence, error, token, token, masked=HEAD_8)


FURTHER = (
    Claim(
        "R-11",
        "with few encoder layers, translation is worse, learned or fixed",
        "significantly, with three layers and fewer",
        tuple(
            better(_at(SHALLOW, setting), _at(SHALLOW_ENCODER, setting))
            for setting in (LEARNED, TOKEN)
        ),
        place="Table 1",
        fixed=FIXED,
        why=DIRECTION,
    ),
    Claim(
        "R-12",
        "with a decoder of one layer, fixed heads lose a little at most, however deep the encoder",
        "a slight drop from German, none from English",
        tuple(
            not_worse(_at(depth, TOKEN), _at(depth, LEARNED), 1.0)
            for depth in (SHALLOW, SHALLOW_ENCODER)
        ),
        place="Table 1",
        fixed=FIXED,
        why="a slight drop may be twice what R-01 calls none",
    ),
    Claim(
        "R-13",
        "patterns by tokens beat those by words with a decoder of one layer, and equal them with a "
        "deep one",
        "seem better; statistically equivalent",
        (
            better(_at(SHALLOW, TOKEN), _at(SHALLOW, WORD)),
            Contrast(((1, TOKEN), (-1, WORD)), at_least=-0.5, at_most=0.5),
        ),
        place="Table 1",
        fixed=FIXED,
        why="equal within the margin of R-01",
    ),
    Claim(
        "R-14",
        "the head on the current token is of no use with token patterns, and of some with words",
        "not useful; slightly larger",
        (
            Check(
                "BLEU lost by masking head 1 of 7Ftoken+1L",
                _cost_of_current,
                (TOKEN,),
                ("masks",),
                at_most=0.5,
            ),
            Check(
                "BLEU lost by masking head 1 of 7Fword+1L minus that of 7Ftoken+1L",
                _extra_cost_of_current,
                (TOKEN, WORD),
                ("masks",),
                at_least=0.0,
            ),
        ),
        place="Table 4",
        fixed=FIXED,
        why="no use within the margin of R-01",
    ),
    Claim(
        "R-15",
        "fixed heads know word senses better than learned ones with a deep decoder, and worse with "
        "one layer",
        "said of both suites",
        (
            Check(
                "accuracy on word sense of 7F+1L minus that of 8L, all decoder layers, points",
                partial(_fixed_minus_learned, error=WORD_SENSE, depth=[]),
                BOTH_DEPTHS,
                ("contrastive",),
                at_least=0.0,
            ),
            Check(
                "the same with one decoder layer, points",
                partial(_fixed_minus_learned, error=WORD_SENSE, depth=list(SHALLOW)),
                BOTH_DEPTHS,
                ("contrastive",),
                at_most=0.0,
            ),
        ),
        scales=SCALES_WITH_SUITES,
        elsewhere=ELSEWHERE,
        place="Table 6",
        fixed=FIXED,
        why=DIRECTION,
    ),
    Claim(
        "R-16",
        "with a decoder of one layer, agreement does not suffer from fixed heads, but from a "
        "masked learned one",
        "not degraded; clearly lower",
        (
            Check(
                "accuracy on agreement of 7F+1L minus that of 8L, one decoder layer, points",
                partial(_fixed_minus_learned, error=AGREEMENT, depth=list(SHALLOW)),
                BOTH_DEPTHS,
                ("contrastive",),
                at_least=-2.0,
            ),
            Check(
                "accuracy on agreement of 7F+1L minus that with head 8 masked, one decoder layer, "
                "points",
                partial(_loss_without_learned_head, error=AGREEMENT, depth=list(SHALLOW)),
                BOTH_DEPTHS,
                ("contrastive",),
                at_least=0.0,
            ),
        ),
        scales=SCALES_WITH_SUITES,
        elsewhere=ELSEWHERE,
        place="Figure 3",
        fixed=FIXED,
        why="not degraded within the margin of R-09; by how much lower is not said",
    ),
)
