"""The systems and experiments of the paper."""

import math
from dataclasses import replace

from repro.claims.evidence import Evidence
from repro.claims.settings import Setting
from repro.papers import Experiment
from repro.papers.figures import (
    PATTERNS_EXPLAINED,
    Figures,
    accuracy_figure,
    masked_length_figure,
    pattern_figure,
)
from repro.papers.gaps_over_training import gaps_over_training
from repro.papers.suites import (
    ELSEWHERE,
    SCALES_WITH_SUITES,
    accuracy_by_distance_table,
    accuracy_by_type_table,
    setting_with_pairs,
)
from repro.papers.tables import Row, choice_table, mask_table, masked_length_table, score_table
from repro.records.sentences import REFERENCE_WORDS

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
DEPTHS = ((), SHALLOW, SHALLOW_ENCODER)
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
    """Return the rows of a table of Raganato et al. 2020, named as there."""
    return [Row(setting, {}) for setting in settings]


def _settings(
    overrides: tuple[str, ...] = (), part: float = 1.0, reverse: bool = False
) -> list[Setting]:
    """Return the four systems of Raganato et al. 2020, trained under some conditions."""
    return [Setting(system, overrides, part, reverse) for system in FOUR]


def two_with(evidence: Evidence, error: str) -> list[Setting]:
    """Return Raganato et al.'s 8L and 7F+1L in the direction with this error's pairs.

    On real text these are word sense into English and agreement into German.
    """
    return [setting_with_pairs(evidence, error, setting) for setting in (LEARNED, TOKEN)]


def _both_depths_with(evidence: Evidence, error: str) -> list[Setting]:
    """Return Raganato et al.'s two systems with all decoder layers, and with one."""
    two = two_with(evidence, error)
    return [*two, *(replace(setting, overrides=SHALLOW) for setting in two)]


def _agreement_figures(evidence: Evidence) -> Figures:
    """Draw Raganato et al.'s figure of agreement, one per depth of the decoder."""
    both = _both_depths_with(evidence, AGREEMENT)
    figures: Figures = {}
    for where, settings in ((", all decoder layers", both[:2]), (", one decoder layer", both[2:])):
        if any(evidence.find("contrastive", setting) for setting in settings):
            figures |= accuracy_figure(evidence, AGREEMENT, settings, HEAD_8, where)
    return figures


EXPERIMENTS = (
    Experiment(
        "table1",
        "Table 1",
        "Learned and fixed heads, by depth of encoder and decoder, both directions",
        (*_settings(), *_settings(SHALLOW), *_settings(SHALLOW_ENCODER), *_settings(reverse=True)),
        lambda e: (
            "\n\n".join(
                f"{title}:\n\n{score_table(e, NAME, 'Table 1', _rows(*settings))}"
                for title, settings in {
                    "Deep encoder, deep decoder": _settings(),
                    "Deep encoder, one decoder layer": _settings(SHALLOW),
                    "One layer each": _settings(SHALLOW_ENCODER),
                    "The other direction": _settings(reverse=True),
                }.items()
            )
            + gaps_over_training(e, (Setting("base"), *_settings()))
        ),
        said=("text §4.1",),
        reduced="2 to 5 encoder layers; shallow models in one direction",
    ),
    Experiment(
        "table2",
        "Table 2",
        "A quarter of the data",
        tuple(_settings(part=QUARTER)),
        lambda e: score_table(e, NAME, "Table 2", _rows(*_settings(part=QUARTER))),
        said=("text §4.2",),
        stand_in="a quarter of the corpus for four pairs with little data",
    ),
    Experiment(
        "table3",
        "Table 3",
        "As much data as there is",
        (LEARNED, TOKEN, WORD),
        lambda e: score_table(e, NAME, "Table 3", _rows(LEARNED, TOKEN, WORD)),
        stand_in="the scale's corpus for 11.5 million pairs",
    ),
    Experiment(
        "table4",
        "Table 4",
        "One head masked at test time, in a deep and in a one-layer decoder",
        MASKED,
        lambda e: mask_table(e, MASKED, MASKS),
        measures={"masks": MASKED},
        reduced="the low-resource direction",
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
        stand_in="a quarter of the corpus for the low-resource pair",
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
        stand_in="generated pairs for LingEval97",
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
        stand_in="MuCoW with inserted senses, no ContraWSD",
    ),
)
