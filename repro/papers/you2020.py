"""You, Sun, Iyyer 2020: Hard-Coded Gaussian Attention for Neural Machine Translation.

https://arxiv.org/abs/2005.00742. The variant is `attention/gaussian.py`.

Scores on IWSLT16 are of its dev set (their footnote), which is tst2013 in their code and `test` of
the scale `iwslt16`. Some printed numbers differ from table to table, and each is kept where it is
printed. sh-x has 28.2 and 30.4 in Table 2, but 28.1 (IWSLT16 En-De) and 30.3 (WMT16 En-Ro) in
Tables 7 and 3. hc-sa has 32.9 on WMT16 En-Ro, but 32.4 in Table 5.
"""

import math
from functools import partial

import torch

from repro.claims.bins import equal_parts, slope_weights
from repro.claims.conditions import Check, Claim, Contrast, better, loss, not_worse
from repro.claims.evidence import Evidence
from repro.claims.settings import Setting
from repro.core.attention.patterns import gaussian_density
from repro.core.config import SELF_SITES
from repro.markdown import table
from repro.measures.speed import BATCH, ROUNDS, STEPS
from repro.papers import Deviation, Experiment, Paper, common_deviations
from repro.papers.figures import (
    PATTERNS_EXPLAINED,
    accuracy_figure,
    distance_figure,
    gap_figure,
    length_cost_figure,
    offset_gallery,
)
from repro.papers.heads import local_share
from repro.papers.memory import memory_table
from repro.papers.speed import speed_ratio, speed_table
from repro.papers.suites import (
    accuracy_by_distance_table,
    accuracy_by_type_table,
    published_pairs_table,
)
from repro.papers.tables import (
    Row,
    corpus_table,
    length_table,
    off_diagonal_table,
    render_available,
    score_table,
)
from repro.presets import SCALES
from repro.records.head_tables import sentences_measured
from repro.records.sentences import REFERENCE_WORDS
from repro.statistics.intervals import Estimate, Undefined

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
CONTROLS = (Setting("hc-all-code"), Setting("hc-sa-renormalized"), Setting("uniform-encoder"))
LENGTHS = [0, 10, 20, 30, 40, math.inf]  # five bins of reference words
FAST = (BASE, HC_SA, SH_X, NO_SELF, SH_X_NO_SELF)
INTO_GERMAN = ("smoke", "multi30k", "iwslt16")
WITH_MIDDLE = tuple(name for name, scale in SCALES.items() if scale.model.encoder_layers > 2)
NO_MIDDLE = (
    "there is no layer between the lowest and the highest, which would keep its neighbours on both "
    "sides"
)
NOT_INTO_GERMAN = "contrastive pairs of every type are translations into cased German text"
# At the other scales, even a head that points at random averages few tokens of distance.
LONG_ENOUGH = ("smoke", "multi30k", "multi30k-lc", "iwslt16")
TOO_SHORT = (
    "its sentences are so short that a head of the encoder or the decoder that points anywhere is "
    "near the bound, or within it"
)
MAIN = (BASE, HC_SA, HC_ALL, SH_X)
MAIN_BACK = tuple(Setting(setting.system, reverse=True) for setting in MAIN)


def _columns(settings: tuple[Setting, ...]) -> list[Row]:
    return [Row(setting, {"column": setting.system}) for setting in settings]


def _rows(settings: tuple[Setting, ...]) -> list[Row]:
    return [Row(setting, {"row": setting.system}) for setting in settings]


def _density_table() -> str:
    """Return the weights around the mean of a head; a window of three has the middle three."""
    weights = gaussian_density(torch.arange(-2, 3, dtype=torch.float64), std=1.0).tolist()
    return table(
        ["tokens from the mean", "-2", "-1", "0", "1", "2"],
        [["weight", *(f"{weight:.3f}" for weight in weights)]],
    )


def _growth(evidence: Evidence, of: Setting, against: Setting) -> Estimate:
    """Return the slope of a loss in BLEU per reference word, over fifths of the sentences.

    The loss is that of `of` against `against`; equal lengths stay together.
    """
    edges = equal_parts(evidence.lengths(BASE, REFERENCE_WORDS), 5)
    return evidence.trend([(1, against), (-1, of)], REFERENCE_WORDS, edges, slope_weights)


def _least_growth(evidence: Evidence, of: Setting, against: Setting) -> float:
    """Return the lower end of the interval of `_growth`."""
    growth = _growth(evidence, of, against)
    if not growth.counts_seeds:
        raise Undefined(f"{growth.value:+.2f}, and nothing tells how much seeds matter")
    return growth.ends[0]


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
        "How far from the query the learned heads look",
        (BASE,),
        lambda e: (
            "Mean distance of the largest weight, a bar a head; in cross attention from the "
            "target's place to the source's. "
            f"{sentences_measured(e.one('heads', BASE))}"
        ),
        measures={"heads": (BASE,)},
        figures=lambda e: distance_figure(e, BASE),
    ),
    Experiment(
        "table2",
        "Table 2",
        "Hard-coded self-attention, hard-coded cross attention, one cross head",
        (*MAIN, *CONTROLS, *MAIN_BACK),
        lambda e: "\n\n".join(
            [
                score_table(
                    e, NAME, "Table 2", _columns(MAIN) + [Row(setting, {}) for setting in CONTROLS]
                ),
                "The other direction:",
                score_table(e, NAME, "Table 2", [Row(setting, {}) for setting in MAIN_BACK]),
            ]
        ),
        said=("text §3.1", "text §3.2"),
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
    ),
    Experiment(
        "figure3",
        "Figure 3",
        "Without feed-forward sublayers",
        (BASE, NO_FF, HC_SA, HC_NO_FF),
        lambda e: score_table(
            e, NAME, "Figure 3", [Row(setting, {}) for setting in (BASE, NO_FF, HC_SA, HC_NO_FF)]
        ),
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
    ),
    Experiment(
        "figure7",
        "Figure 7",
        "More cross heads: spread over layers or stacked in the last",
        (SH_X, SPREAD, STACKED),
        lambda e: score_table(
            e, NAME, "Figure 7", [Row(setting, {}) for setting in (SH_X, SPREAD, STACKED)]
        ),
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
)

CLAIMS = (
    Claim(
        "Y-01",
        "hard-coded self-attention loses little to learned",
        "-1.2 to +0.4 on eight tasks",
        (not_worse(HC_SA, BASE, 1.0),),
    ),
    Claim(
        "Y-02",
        "hard-coding cross attention too is costly",
        "-4.7 to -10.3",
        (loss(BASE, HC_ALL, at_least=4.0),),
    ),
    Claim(
        "Y-03",
        "one learned cross head recovers at least half of what hard-coded cross attention costs",
        "65 to 87 % on six tasks, 32 and 35 % on WMT14",
        (Contrast(((1, SH_X), (-0.5, HC_ALL), (-0.5, BASE)), at_least=0.0),),
    ),
    Claim(
        "Y-04",
        "one learned cross head stays below the baseline, by 0.3 to 4 BLEU",
        "1.1 to 3.3 BLEU",
        (loss(BASE, SH_X, at_least=0.3, at_most=4.0),),
    ),
    Claim(
        "Y-05",
        "different offsets in a layer beat equal ones by 1 BLEU or more",
        "+2.9",
        (Contrast(((1, HC_SA), (-1, Setting("hc-sa-ll-ll"))), at_least=1.0),),
        scales=WITH_MIDDLE,
        elsewhere=NO_MIDDLE,
    ),
    Claim(
        "Y-06",
        "a window of three tokens does as well, within 0.5 BLEU",
        "-0.2, -0.1",
        (Contrast(((1, WINDOW), (-1, HC_SA)), at_least=-0.5, at_most=0.5),),
    ),
    Claim(
        "Y-07",
        "copying one neighbour nearly works: it costs 1.5 BLEU at most, and gains 0.2 at most",
        "-0.5, -1.0",
        (loss(HC_SA, INDEX, at_least=-0.2, at_most=1.5),),
    ),
    Claim(
        "Y-08",
        "some mixing over positions is needed: without any, 3 BLEU or more are lost",
        "-6.0, -7.2",
        (loss(BASE, NO_SELF, at_least=3.0),),
    ),
    Claim(
        "Y-09",
        "feed-forward layers compensate for what hard-coded attention lacks",
        "removing them costs 3.2 against 1.8",
        (Contrast(((1, HC_SA), (-1, HC_NO_FF), (-1, BASE), (1, NO_FF)), at_least=0.0),),
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
    ),
    Claim(
        "Y-11",
        "cross heads spread over the layers beat as many in the last",
        "clearly better in Figure 7",
        (better(SPREAD, STACKED),),
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
    ),
    Claim(
        "Y-13",
        "most learned self-attention heads look nearby",
        "shown in Figure 2",
        (
            Check(
                "share of heads of base with a mean distance of at most 3",
                partial(local_share, arm=BASE),
                (BASE,),
                ("heads",),
                at_least=0.6,
            ),
        ),
        scales=LONG_ENOUGH,
        elsewhere=TOO_SHORT,
    ),
)

PAPER = Paper(
    NAME,
    "You, Sun, Iyyer: Hard-Coded Gaussian Attention for Neural Machine Translation, ACL 2020",
    "https://arxiv.org/abs/2005.00742",
    EXPERIMENTS,
    CLAIMS,
    (
        Deviation(
            "norm",
            "after the sublayer; in the code, after the residual",
            "before the sublayer, for all systems alike",
        ),
        Deviation("source end mark", "not said; their code has none", "one, for all systems alike"),
        Deviation(
            "hc-all",
            "length ratio and floor in the text; neither in effect in the released code",
            "the text; `hc-all-code` is the code's",
        ),
        Deviation(
            "as many cross heads in one layer as there are layers",
            "several in one of five layers; how many, only the figure says",
            "as many as the scale has decoder layers, their width rounded down",
        ),
        Deviation(
            "subwords",
            "not said; their code fits them on training, dev and test text together",
            "fitted on training text",
        ),
        Deviation(
            "data",
            "eight directions of WMT and IWSLT",
            "the corpus of the scale, in the scale's direction",
        ),
        Deviation("subword count, updates", "32,000; not said", "those of the scale"),
        *common_deviations(
            "5+5 layers, 4 heads, 288 wide for IWSLT; 6+6, 8 and 512 for WMT; biases and "
            "embeddings in their code as here",
            "IWSLT: a rate of 3e-4 that falls in a line, in the code without warm-up and label "
            "smoothing; WMT: a warm-up of 4,000 updates, "
            "in the code with label smoothing",
            "not said; their code: 4, (5+len)/6 to the 0.6",
            "cased BLEU of SacreBLEU, tokeniser `intl`",
        ),
        Deviation(
            "contrastive pairs",
            "LingEval97",
            "generated from our corpora, with the same kinds of error; some need other words or "
            "texts than these corpora have",
        ),
        Deviation(
            "off the diagonal (Figures 6 and 8)",
            "by the strongest weight of a token, of which heads is not said",
            "by that of the mean over all heads and layers",
        ),
        Deviation(
            "depth (Figure 3)",
            "several depths (how many, only the figure says), with and without feed-forward "
            "sublayers",
            "the depth of the scale",
        ),
        Deviation(
            "speed (claim Y-12, Tables 3 and 7)",
            "on one GPU, sentences as long as they are, 256 in a batch, mean of five runs; CPUs "
            "may gain more, says the paper",
            f"on the CPU, greedy, {STEPS} steps for every sentence, {BATCH} in a batch, median of "
            f"{ROUNDS} rounds",
        ),
        Deviation(
            "nearby (claim Y-13)", "shown", "up to 3 tokens away, where chance points farther"
        ),
        Deviation(
            "growth with length (claim Y-10)",
            "none for hc-sa, as section 6.2 has it",
            "none is shown, which is no proof of none",
        ),
        Deviation(
            "memory (Tables 3 and 7)",
            "the largest batch that fits on a GPU, in tokens",
            "bytes that an update keeps for each token, so that what does not grow with the batch "
            "is left out; peaks of whole processes: "
            "`benchmarks/RESULTS.md`",
        ),
    ),
)
