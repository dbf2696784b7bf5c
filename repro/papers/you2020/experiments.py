"""The systems and experiments of the paper."""

import math
from functools import cache

import torch

from repro.claims.evidence import Evidence
from repro.claims.settings import Setting
from repro.core.attention.patterns import gaussian_density
from repro.core.config import SELF_SITES, DataConfig
from repro.data.sizes import corpus_statistics
from repro.markdown import table
from repro.papers import Experiment
from repro.papers.figures import (
    PATTERNS_EXPLAINED,
    Figures,
    accuracy_figure,
    distance_figure,
    gap_curve_figure,
    gap_figure,
    length_cost_figure,
    offset_gallery,
)
from repro.papers.gaps_over_training import gaps_over_training
from repro.papers.memory import memory_table
from repro.papers.printed_tables import corpus_table
from repro.papers.speed import speed_table
from repro.papers.suites import (
    accuracy_by_distance_table,
    accuracy_by_type_table,
    has_german_pairs,
    published_pairs_table,
)
from repro.papers.tables import (
    Row,
    length_table,
    off_diagonal_table,
    render_available,
    score_table,
)
from repro.records.head_tables import sentences_measured
from repro.records.sentences import REFERENCE_WORDS
from repro.scales import SCALES, Scales

NAME = "you2020"
BASE, HC_SA, HC_ALL, SH_X = Setting("base"), Setting("hc-sa"), Setting("hc-all"), Setting("sh-x")
NO_SELF, SH_X_NO_SELF = Setting("base/-sa"), Setting("sh-x/-sa")
NO_FF, HC_NO_FF = Setting("base/-ff"), Setting("hc-sa/-ff")
WINDOW, INDEX = Setting("hc-sa-window"), Setting("hc-sa-index")
KERNELS = {HC_SA: "original (full Gaussian)", WINDOW: "conv window 3", INDEX: "indexing"}
OFFSETS = {
    Setting("hc-sa-ll-ll"): "enc (l,l) dec (l,l)",
    Setting("hc-sa-ll-cc"): "enc (l,l) dec (c,c)",
    Setting("hc-sa-ll-lc"): "enc (l,l) dec (l,c)",
    HC_SA: "enc (l,r) dec (l,c)",
}
SPREAD = Setting(
    "sh-x", ("model.cross=dot-product(heads=1)",), label="one cross head in every layer"
)
STACKED = Setting(
    "sh-x",
    ("model.cross=none; last: dot-product(heads={layers}{narrow})",),
    label="as many cross heads, all in the last layer",
)
UNIFORM = Setting("uniform-encoder")
CONTROLS = (Setting("hc-all-code"), Setting("hc-sa-renormalized"), UNIFORM)
TWO_HEADS = Setting("base", ("model.num_heads=2",))  # the model of Figure 2
# Which other widths were tried is not said.
STDS = tuple(
    Setting(
        "hc-sa",
        tuple(f"model.{site}=gaussian(std={std})" for site in SELF_SITES),
        label=f"Gaussians {std} tokens wide",
    )
    for std in (0.5, 2.0)
)
LENGTHS = [0, 10, 20, 30, 40, math.inf]  # five bins of reference words
FAST = (BASE, HC_SA, SH_X, NO_SELF, SH_X_NO_SELF)
INTO_GERMAN = Scales(
    ("smoke", "multi30k", "multi30k-long", "iwslt16"),
    lambda scale: has_german_pairs(scale) and scale.data.target == "de",
)
WITH_MIDDLE = Scales(
    tuple(name for name, scale in SCALES.items() if scale.model.encoder_layers > 2),
    lambda scale: scale.model.encoder_layers > 2,
)
NO_MIDDLE = (
    "there is no layer between the lowest and the highest, which would keep its neighbours on both "
    "sides"
)
NOT_INTO_GERMAN = "contrastive pairs of every type are translations into German"
ENOUGH_WORDS = 9  # of the mean sentence: the shortest below have some more


@cache
def _shortest_side(data: DataConfig) -> float:
    """Return the mean length in words of the side with the shorter sentences."""
    found = corpus_statistics(data.corpus, data.source, data.target)
    return min(found.source_length, found.target_length)


# At the other scales, even a head that points at random averages few tokens of distance.
LONG_ENOUGH = Scales(
    ("smoke", "multi30k", "multi30k-lc", "multi30k-long", "iwslt16"),
    lambda scale: _shortest_side(scale.data) >= ENOUGH_WORDS,
)
TOO_SHORT = (
    "its sentences are so short that a head of the encoder or the decoder that points anywhere is "
    "near the bound, or within it"
)
MAIN = (BASE, HC_SA, HC_ALL, SH_X)
MAIN_BACK = tuple(Setting(setting.system, reverse=True) for setting in MAIN)


def _columns(settings: tuple[Setting, ...]) -> list[Row]:
    """Return settings as columns of a table of You et al. 2020."""
    return [Row(setting, {"column": setting.system}) for setting in settings]


def _rows(settings: tuple[Setting, ...]) -> list[Row]:
    """Return settings as rows of a table of You et al. 2020."""
    return [Row(setting, {"row": setting.system}) for setting in settings]


def _density_table() -> str:
    """Return the weights of the Gaussian heads of You et al. 2020 around their mean."""
    weights = gaussian_density(torch.arange(-2, 3, dtype=torch.float64), std=1.0).tolist()
    return table(
        ["tokens from the mean", "-2", "-1", "0", "1", "2"],
        [["weight", *(f"{weight:.3f}" for weight in weights)]],
    )


def _contrastive_tables(evidence: Evidence, settings: tuple[Setting, ...]) -> str:
    """Return Table 4 on pairs of our own and, where they were scored, on published ones."""
    ours = accuracy_by_type_table(evidence, NAME, "Table 4", settings)
    if not any(evidence.find("published_pairs", setting) for setting in settings):
        return ours
    published = published_pairs_table(evidence, settings)
    return f"{ours}\n\nPublished pairs, DistilLingEval:\n\n{published}"


def _off_diagonal_tables(evidence: Evidence) -> str:
    """Return the measured panels of Figures 6 and 8."""
    measured = evidence.having("off_diagonal", (BASE, MAIN_BACK[0]))
    parts = []
    for settings in (settings for settings in (MAIN, MAIN_BACK) if settings[0] in measured):
        data = settings[0].config(evidence.scale).data
        for site in SELF_SITES:
            parts.append(
                f"{data.source} to {data.target}:\n\n{off_diagonal_table(evidence, settings, site)}"
            )
    return "\n\n".join(parts)


def _distances_explained(evidence: Evidence) -> str:
    """Explain the bars of Figure 2 of You et al. 2020."""
    measured = evidence.having("heads", (BASE, TWO_HEADS))
    return (
        "Mean distance of the largest weight, a bar a head; in cross attention from the target's "
        f"place to the source's. {sentences_measured(evidence.one('heads', measured[0]))}"
    )


def _distance_figures(evidence: Evidence) -> Figures:
    """Draw Figure 2 of You et al. 2020 for the settings that were measured."""
    figures: Figures = {}
    for setting in evidence.having("heads", (BASE, TWO_HEADS)):
        figures |= distance_figure(evidence, setting)
    return figures


EXPERIMENTS = (
    Experiment(
        "table1",
        "Table 1",
        "The corpora",
        (BASE,),
        lambda e: corpus_table(e, NAME, "Table 1", BASE),
    ),
    Experiment(
        "figure1",
        "Figure 1",
        "The hard-coded heads",
        (),
        lambda e: f"{PATTERNS_EXPLAINED}\n\n{_density_table()}",
        figures=offset_gallery,
        said=("Figure 1 note", "text §6.3"),
    ),
    Experiment(
        "figure2",
        "Figure 2",
        "How far from the query the learned heads look, with two heads a layer as in the paper",
        (BASE, TWO_HEADS),
        _distances_explained,
        measures={"heads": (BASE, TWO_HEADS)},
        figures=_distance_figures,
    ),
    Experiment(
        "table2",
        "Table 2",
        "Hard-coded self-attention, hard-coded cross attention, one cross head",
        (*MAIN, *CONTROLS, *MAIN_BACK),
        lambda e: (
            "\n\n".join(
                [
                    score_table(
                        e,
                        NAME,
                        "Table 2",
                        _columns(MAIN) + [Row(setting, {}) for setting in CONTROLS],
                    ),
                    "The other direction:",
                    score_table(e, NAME, "Table 2", [Row(setting, {}) for setting in MAIN_BACK]),
                ]
            )
            + gaps_over_training(e, (*MAIN, *CONTROLS))
        ),
        figures=lambda e: gap_curve_figure(e, (*MAIN, *CONTROLS)),
        said=("text §3.1", "text §3.2"),
        reduced="one pair of languages of five",
    ),
    Experiment(
        "table3",
        "Tables 3 and 7",
        "Speed and memory",
        FAST,
        lambda e: render_available(
            *(
                lambda place=place: f"{place}:\n\n{score_table(e, NAME, place, _rows(FAST))}"
                for place in ("Table 3", "Table 7")
            ),
            lambda: f"Speed here:\n\n{speed_table(e, FAST)}",
            lambda: f"Memory here:\n\n{memory_table(e.scale, FAST)}",
        ),
        measures={"speed": FAST},
        figures=length_cost_figure,
        said=("text §5",),
        reduced="a CPU for a GPU, one size of model, greedy search",
    ),
    Experiment(
        "figure3",
        "Figure 3",
        "Without feed-forward sublayers",
        (BASE, NO_FF, HC_SA, HC_NO_FF),
        lambda e: score_table(
            e, NAME, "Figure 3", [Row(setting, {}) for setting in (BASE, NO_FF, HC_SA, HC_NO_FF)]
        ),
        reduced="one depth",
    ),
    Experiment(
        "figure4",
        "Figure 4",
        "BLEU against the baseline by reference length",
        (BASE, HC_SA, HC_ALL),
        lambda e: length_table(
            e, (BASE, HC_SA, HC_ALL), REFERENCE_WORDS, LENGTHS, "reference words"
        ),
        figures=lambda e: gap_figure(
            e, (BASE, HC_SA, HC_ALL), REFERENCE_WORDS, LENGTHS, "reference words"
        ),
    ),
    Experiment(
        "table4",
        "Table 4",
        "Contrastive accuracy by type of error",
        (BASE, HC_SA, HC_ALL),
        lambda e: _contrastive_tables(e, (BASE, HC_SA, HC_ALL)),
        measures={"contrastive": (BASE, HC_SA, HC_ALL)},
        scales=INTO_GERMAN,
        elsewhere=NOT_INTO_GERMAN,
        stand_in="generated pairs for LingEval97",
    ),
    Experiment(
        "figure5",
        "Figure 5",
        "Agreement of subject and verb by their distance",
        (BASE, HC_SA, HC_ALL),
        lambda e: accuracy_by_distance_table(e, "subj_verb_agreement", (BASE, HC_SA, HC_ALL)),
        measures={"contrastive": (BASE, HC_SA, HC_ALL)},
        figures=lambda e: accuracy_figure(e, "subj_verb_agreement", (BASE, HC_SA, HC_ALL)),
        scales=INTO_GERMAN,
        elsewhere=NOT_INTO_GERMAN,
        stand_in="generated pairs for LingEval97",
    ),
    Experiment(
        "figure6",
        "Figures 6 and 8",
        "BLEU on sentences by how often learned self-attention is off the diagonal, "
        "both directions",
        (*MAIN, *MAIN_BACK),
        _off_diagonal_tables,
        measures={"off_diagonal": (BASE, MAIN_BACK[0])},
    ),
    Experiment(
        "table5",
        "Table 5",
        "The full Gaussian, a window of three, copying one neighbour",
        tuple(KERNELS),
        lambda e: score_table(
            e,
            NAME,
            "Table 5",
            [Row(setting, {"column": column}) for setting, column in KERNELS.items()],
        ),
        reduced="one pair of languages of two",
    ),
    Experiment(
        "figure7",
        "Figure 7",
        "More cross heads: spread over layers or stacked in the last",
        (SH_X, SPREAD, STACKED),
        lambda e: score_table(
            e, NAME, "Figure 7", [Row(setting, {}) for setting in (SH_X, SPREAD, STACKED)]
        ),
        reduced="one number of heads",
    ),
    Experiment(
        "table6",
        "Table 6",
        "Which neighbours the lowest and highest layer look at",
        tuple(OFFSETS),
        lambda e: score_table(
            e, NAME, "Table 6", [Row(setting, {"row": row}) for setting, row in OFFSETS.items()]
        ),
        scales=WITH_MIDDLE,
        elsewhere=NO_MIDDLE,
    ),
    Experiment(
        "note4",
        "Note 4",
        "Gaussians of other widths",
        (HC_SA, *STDS),
        lambda e: score_table(e, NAME, "note 4", [Row(setting, {}) for setting in (HC_SA, *STDS)]),
        reduced="two widths; how many were tried is not said",
    ),
)
