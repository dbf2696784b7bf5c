"""Raganato, Scherrer, Tiedemann 2020: Fixed Encoder Self-Attention Patterns.

https://arxiv.org/abs/2002.10260. The variant is `attention/fixed.py`. Heads are numbered from 1
here, as in the paper. The values of its tables are not at hand: tables have no printed numbers, and
claims use what the text says.
"""

import math
from dataclasses import replace

import numpy as np

from repro.claims.bins import equal_parts
from repro.claims.conditions import Check, Claim, Contrast, better, not_worse
from repro.claims.evidence import Evidence
from repro.claims.settings import Setting
from repro.papers import Deviation, Experiment, Paper, common_deviations
from repro.papers.figures import (
    PATTERNS_EXPLAINED,
    Figures,
    accuracy_figure,
    masked_length_figure,
    pattern_figure,
)
from repro.papers.suites import (
    ELSEWHERE,
    SCALES_WITH_SUITES,
    accuracy_by_distance_table,
    accuracy_by_type_table,
    accuracy_difference,
    setting_with_pairs,
)
from repro.papers.tables import Row, choice_table, mask_table, masked_length_table, score_table
from repro.records.sentences import REFERENCE_WORDS
from repro.statistics.intervals import Estimate

NAME = "raganato2020"
LEARNED, TOKEN, WORD, ONE, ALL_FIXED = (
    Setting("8L"),
    Setting("7Ftoken+1L"),
    Setting("7Fword+1L"),
    Setting("1L"),
    Setting("8Ftoken"),
)
EIGHT = (LEARNED, TOKEN, ALL_FIXED)
SHALLOW = ("model.decoder_layers=1",)
SHALLOW_ENCODER = ("model.encoder_layers=1", "model.decoder_layers=1")
FOUR = ("8L", "7Ftoken+1L", "7Fword+1L", "1L")
QUARTER = 0.25
WORD_SENSE, AGREEMENT = "word_sense", "subj_verb_agreement"
LENGTHS = [0, 10, 20, 30, 40, 50, math.inf]  # bins of reference words
MASKED = (TOKEN, WORD, Setting(TOKEN.system, SHALLOW), Setting(WORD.system, SHALLOW))
# Open points of section 3, read otherwise -> the reading of all other experiments.
CHOICES = {
    Setting(
        TOKEN.system,
        ("model.encoder_self=fixed(right_context='absolute')",),
        label="right context: (j+1)^3",
    ): TOKEN,
    Setting(
        TOKEN.system,
        ("model.encoder_self=fixed(right_context='mirrored')",),
        label="right context falls",
    ): TOKEN,
    Setting(
        TOKEN.system, ("model.encoder_self=fixed(empty='self')",), label="no target: itself"
    ): TOKEN,
    Setting(
        WORD.system,
        ("model.encoder_self=fixed(unit='word', spread='copy')",),
        label="rows not divided",
    ): WORD,
    Setting(ONE.system, ("model.encoder_self=dot-product(heads=1)",), label="of full width"): ONE,
}
MASKS, HEAD_8 = tuple("12345678"), "8"  # the eighth is the learned head of 7F+1L
LEARNED_BACK, TOKEN_BACK = (
    Setting(LEARNED.system, reverse=True),
    Setting(TOKEN.system, reverse=True),
)
BOTH_WAYS = (LEARNED, TOKEN, LEARNED_BACK, TOKEN_BACK)
BOTH_DEPTHS = (*BOTH_WAYS, *(replace(setting, overrides=SHALLOW) for setting in BOTH_WAYS))


def _rows(*settings: Setting) -> list[Row]:
    return [Row(setting, {}) for setting in settings]


def _settings(
    overrides: tuple[str, ...] = (), part: float = 1.0, reverse: bool = False
) -> list[Setting]:
    return [Setting(system, overrides, part, reverse) for system in FOUR]


def _local_minus_far(evidence: Evidence) -> Estimate:
    """Return the smallest loss from masking heads 2, 3 or 4 minus the largest from 5, 6 or 7.

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
    """Return the loss from masking head 8 with one decoder layer minus that with all."""
    return evidence.masked_difference((Setting(TOKEN.system, SHALLOW), HEAD_8), (TOKEN, HEAD_8))


def _two_with(evidence: Evidence, error: str) -> list[Setting]:
    """Return 8L and 7F+1L in the direction that has pairs with this error.

    On real text these are word sense into English and agreement into German.
    """
    return [setting_with_pairs(evidence, error, setting) for setting in (LEARNED, TOKEN)]


def _both_depths_with(evidence: Evidence, error: str) -> list[Setting]:
    """Return both systems with all decoder layers and with one."""
    two = _two_with(evidence, error)
    return [*two, *(replace(setting, overrides=SHALLOW) for setting in two)]


def _agreement_figures(evidence: Evidence) -> Figures:
    """Draw one figure per measured depth of the decoder: curves of both would be unreadable."""
    both = _both_depths_with(evidence, AGREEMENT)
    figures: Figures = {}
    for where, settings in ((", all decoder layers", both[:2]), (", one decoder layer", both[2:])):
        if any(evidence.find("contrastive", setting) for setting in settings):
            figures |= accuracy_figure(evidence, AGREEMENT, settings, HEAD_8, where)
    return figures


def _sense_drop(evidence: Evidence) -> Estimate:
    token = setting_with_pairs(evidence, WORD_SENSE, TOKEN)
    return accuracy_difference(evidence, WORD_SENSE, token, token, masked=HEAD_8)


def _agreement_difference(evidence: Evidence) -> Estimate:
    learned, token = _two_with(evidence, AGREEMENT)
    return accuracy_difference(evidence, AGREEMENT, token, learned)


def _bins_lower_without(evidence: Evidence) -> Estimate:
    """Return the share of length bins in which masking head 8 lowers BLEU.

    Bins are fifths of the sentences by reference length; equal lengths stay together. The interval
    goes from the share of bins with a loss surely above 0 to the share where it may be.
    """
    (first, *_) = evidence.shared_seeds(["masks"], [TOKEN], split=evidence.split)
    # If this record is missing, the error must name it.
    evidence.one("masks", TOKEN, first, split=evidence.split)
    edges = equal_parts(evidence.lengths(TOKEN, REFERENCE_WORDS), 5)
    losses = [
        evidence.masked(TOKEN, HEAD_8, inside)
        for _, _, inside in evidence.bins(TOKEN, REFERENCE_WORDS, edges)
    ]
    lower, surely, perhaps = (
        float(np.mean([end > 0 for end in ends]))
        for ends in zip(*((x.value, *x.bounds) for x in losses), strict=True)
    )
    return Estimate(lower, surely, perhaps, over=f"{len(losses)} bins")


EXPERIMENTS = (
    Experiment(
        "table1",
        "Table 1",
        "Learned and fixed heads, by depth of encoder and decoder, both directions",
        (*_settings(), *_settings(SHALLOW), *_settings(SHALLOW_ENCODER), *_settings(reverse=True)),
        lambda e: "\n\n".join(
            f"{title}:\n\n{score_table(e, NAME, 'Table 1', _rows(*settings))}"
            for title, settings in {
                "Deep encoder, deep decoder": _settings(),
                "Deep encoder, one decoder layer": _settings(SHALLOW),
                "One layer each": _settings(SHALLOW_ENCODER),
                "The other direction": _settings(reverse=True),
            }.items()
        ),
        said=("text §4.1",),
    ),
    Experiment(
        "table2",
        "Table 2",
        "A quarter of the data",
        tuple(_settings(part=QUARTER)),
        lambda e: score_table(e, NAME, "Table 2", _rows(*_settings(part=QUARTER))),
        said=("text §4.2",),
    ),
    Experiment(
        "table3",
        "Table 3",
        "As much data as there is",
        (LEARNED, TOKEN, WORD),
        lambda e: score_table(e, NAME, "Table 3", _rows(LEARNED, TOKEN, WORD)),
    ),
    Experiment(
        "table4",
        "Table 4",
        "One head masked at test time, in a deep and in a one-layer decoder",
        MASKED,
        lambda e: mask_table(e, MASKED, MASKS),
        measures={"masks": MASKED},
    ),
    Experiment(
        "table5",
        "Table 5",
        "All eight heads fixed",
        (*EIGHT, *(replace(setting, part=QUARTER) for setting in EIGHT)),
        lambda e: "\n\n".join(
            f"{title}:\n\n"
            + score_table(
                e, NAME, "Table 5", _rows(*(replace(setting, part=part) for setting in EIGHT))
            )
            for title, part in (("All of the data", 1.0), ("A quarter of it", QUARTER))
        ),
    ),
    Experiment(
        "choices",
        "Section 3",
        "What the text leaves open, read otherwise than here",
        (LEARNED, TOKEN, WORD, ONE, *CHOICES),
        lambda e: choice_table(e, CHOICES, LEARNED),
    ),
    Experiment(
        "figure1",
        "Figure 1",
        "The seven patterns",
        (),
        lambda e: PATTERNS_EXPLAINED,
        figures=pattern_figure,
    ),
    Experiment(
        "figure2",
        "Figure 2",
        "BLEU by reference length, with the learned head masked and against eight learned ones",
        (LEARNED, TOKEN),
        lambda e: masked_length_table(
            e, TOKEN, HEAD_8, LEARNED, REFERENCE_WORDS, LENGTHS, "reference words"
        ),
        measures={"masks": (TOKEN,)},
        figures=lambda e: masked_length_figure(
            e, TOKEN, HEAD_8, REFERENCE_WORDS, LENGTHS, "reference words"
        ),
    ),
    Experiment(
        "figure3",
        "Figure 3",
        "Agreement of subject and verb by distance",
        BOTH_DEPTHS,
        lambda e: accuracy_by_distance_table(
            e, AGREEMENT, _both_depths_with(e, AGREEMENT), masked=HEAD_8
        ),
        measures={"contrastive": BOTH_DEPTHS},
        figures=_agreement_figures,
        scales=SCALES_WITH_SUITES,
        elsewhere=ELSEWHERE,
    ),
    Experiment(
        "table6",
        "Table 6",
        "Word sense, with and without the learned head",
        BOTH_DEPTHS,
        lambda e: (
            accuracy_by_type_table(
                e, NAME, "Table 6", _both_depths_with(e, WORD_SENSE), masked=HEAD_8, only=WORD_SENSE
            )
            + f"\n\nHead {HEAD_8} of {TOKEN} is its learned one; that of {LEARNED} is one of eight "
            "learned ones."
        ),
        measures={"contrastive": BOTH_DEPTHS},
        scales=SCALES_WITH_SUITES,
        elsewhere=ELSEWHERE,
    ),
)

CLAIMS = (
    Claim(
        "R-01",
        "seven fixed token heads do not hurt",
        "nearly equal",
        (not_worse(TOKEN, LEARNED, 0.5),),
    ),
    Claim(
        "R-02",
        "seven fixed heads by words do not hurt either",
        "nearly equal",
        (not_worse(WORD, LEARNED, 0.5),),
    ),
    Claim(
        "R-03",
        "fixed heads add something over one learned head",
        "always higher",
        (better(TOKEN, ONE),),
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
    ),
    Claim(
        "R-07",
        "the last learned head can be fixed too",
        "dispensable with a deep decoder",
        (not_worse(ALL_FIXED, TOKEN, 0.5),),
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
            ),
        ),
        scales=SCALES_WITH_SUITES,
        elsewhere=ELSEWHERE,
    ),
    Claim(
        "R-10",
        "sentences of nearly all lengths need the learned head",
        "lower in almost all bins",
        (
            Check(
                "share of five bins in which masking head 8 lowers BLEU, each judged by its "
                "interval",
                _bins_lower_without,
                (TOKEN,),
                ("masks",),
                at_least=0.8,
            ),
        ),
    ),
)

PAPER = Paper(
    NAME,
    "Raganato, Scherrer, Tiedemann: Fixed Encoder Self-Attention Patterns in Transformer-Based "
    "Machine Translation, Findings of EMNLP 2020",
    "https://arxiv.org/abs/2002.10260",
    EXPERIMENTS,
    CLAIMS,
    (
        Deviation(
            "right context (head 5)",
            "the function of the left context, (j+1)^3, with other start and end points",
            "cubes counted from i+2 on; experiment `choices` has two other readings",
        ),
        Deviation(
            "source end mark",
            "not said; their toolkit has none",
            "one: the last token, which patterns of the right end look at",
        ),
        Deviation(
            "empty patterns at the ends",
            "not said",
            "zero rows; experiment `choices` has a token look at itself",
        ),
        Deviation(
            "word patterns",
            "all pieces of a word get the same",
            "rows are divided by their sum; in experiment `choices` they are not",
        ),
        Deviation(
            "width of the one head of 1L",
            "not said",
            "that of one of eight heads; experiment `choices` has a wide one",
        ),
        Deviation(
            "heads of the decoder and of cross attention",
            "eight, as in the encoder",
            "those of the scale, in all systems alike",
        ),
        Deviation(
            "low-resource pairs",
            "three; small batches, dropout of 0.3",
            "a quarter, trained as all of it: 8L may overfit more",
        ),
        Deviation(
            "one head masked (Table 4)",
            "also for one low-resource direction, Vietnamese to English",
            "with all of the data only",
        ),
        Deviation("high-resource pair", "11.5 million pairs", "all pairs of the scale"),
        Deviation(
            "depth",
            "6+6, 6+1 and shallower encoders",
            "the scale's depth; in one direction also one decoder layer, and one each",
        ),
        Deviation(
            "data",
            "WMT19 German-English, 2.9 million pairs, in both directions; 35,000 merges",
            "corpus and subwords of the scale",
        ),
        *common_deviations(
            "8 heads, 512 wide; their toolkit has biases in attention; embeddings are tied with "
            "little data only",
            "updates and choice of checkpoint not said; their toolkit also drops attention "
            "weights, at 0.1",
            "not said; 5 and none in their toolkit",
            "SacreBLEU, its signature is not at hand",
        ),
        Deviation(
            "agreement pairs",
            "LingEval97",
            "generated from our corpora; the nearer to 100 %, the less R-09 tells",
        ),
        Deviation(
            "word sense",
            "ContraWSD; mean of MuCoW's TED and Tatoeba parts",
            "pairs of those two parts together, without what is in the training data; wrong senses "
            "put into the reference; generated "
            "pairs at smoke",
        ),
        Deviation(
            "word sense (claim R-08)",
            "millions of training pairs",
            "fewer pairs, which teach few senses: see its evidence",
        ),
        Deviation(
            "bins of claim R-10",
            "bins of ten words",
            "fifths of the sentences, equal lengths together; the figure has bins of ten words",
        ),
    ),
)
