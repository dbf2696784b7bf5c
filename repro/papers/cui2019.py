"""Cui et al. 2019: Mixed Multi-Head Self-Attention for Neural Machine Translation.

https://aclanthology.org/D19-5622. The variant is `attention/mixed.py`.

The text contradicts its tables twice; the tables are followed here. Section 3.3 says that the
method adds parameters; section 4.2 and Table 1 say that it does not. Section 4.3 attributes both
gains to En-Ja, but in Table 1 +0.92 belongs to Ja-En.
"""

import math

from repro.claims.bins import equal_parts, last_minus_first
from repro.claims.conditions import Check, Claim, Contrast, better, loss, not_worse
from repro.claims.evidence import Evidence
from repro.claims.settings import Setting
from repro.core.attention.mixed import head_types
from repro.papers import Deviation, Experiment, Paper, common_deviations
from repro.papers.figures import gap_figure, map_figures
from repro.papers.heads import maps_text
from repro.papers.printed import printed_numbers
from repro.papers.tables import Row, length_table, printed_table, score_table
from repro.records.sentences import SOURCE_WORDS
from repro.statistics.intervals import Estimate

NAME = "cui2019"
BASE, MMA = Setting("base"), Setting("mma")
NO_PE, MMA_NO_PE = Setting("base/-pe"), Setting("mma/-pe")
COMPARED = {BASE: "Transformer", MMA: "Transformer MMA"}
TYPES = {
    Setting("mma-local"): "+ Local Attention",
    Setting("mma-forward"): "+ Forward Attention",
    Setting("mma-backward"): "+ Backward Attention",
}
TYPE_NAMES = {"G": "global", "L": "local", "F": "forward", "B": "backward"}
WINDOWS = {
    MMA: "MMA w=1",
    Setting("mma-w2"): "MMA w=2",
    Setting("mma-w3"): "MMA w=3",
    Setting("mma-w4"): "MMA w=4",
}
LENGTHS = [1, 11, 21, 31, 41, 51, math.inf]  # their six groups of source words, 1 to 10 and so on


def _rows(cells: dict[Setting, str]) -> list[Row]:
    return [Row(setting, {"row": row} if row else {}) for setting, row in cells.items()]


def _types_of_maps(evidence: Evidence) -> str:
    """Return the type of each head, and a description of the maps' sentence."""
    types = head_types(evidence.one("maps", MMA)["config"]["model"]["num_heads"])
    listed = ", ".join(f"head {head} {TYPE_NAMES[letter]}" for head, letter in enumerate(types))
    return f"{maps_text(evidence, MMA)} Types in every layer: {listed}."


def _extra_parameters(evidence: Evidence) -> int:
    """Return the number of parameters of MMA minus that of base."""
    counts = [evidence.scores(setting)["training"]["parameters"] for setting in (MMA, BASE)]
    return counts[0] - counts[1]


def _length_gain(evidence: Evidence) -> Estimate:
    lengths = evidence.lengths(BASE, SOURCE_WORDS)
    return evidence.trend(
        [(1, MMA), (-1, BASE)], SOURCE_WORDS, equal_parts(lengths, 3), last_minus_first
    )


EXPERIMENTS = (
    Experiment(
        "table1",
        "Table 1",
        "MMA against the Transformer, both directions",
        (BASE, MMA, Setting("base", reverse=True), Setting("mma", reverse=True)),
        lambda evidence: "\n\n".join(
            score_table(evidence, NAME, "Table 1", rows)
            for rows in (
                _rows(COMPARED),
                _rows({Setting("base", reverse=True): "", Setting("mma", reverse=True): ""}),
            )
        ),
        said=("abstract",),
    ),
    Experiment(
        "table2",
        "Table 2",
        "MMA among other models on IWSLT14; the others' scores are printed ones",
        (BASE, MMA),
        lambda evidence: "\n\n".join(
            [
                score_table(evidence, NAME, "Table 2", _rows(COMPARED)),
                printed_table(
                    [
                        cell
                        for cell in printed_numbers(NAME, "Table 2")
                        if cell.row not in COMPARED.values()
                    ]
                ),
            ]
        ),
    ),
    Experiment(
        "table3",
        "Table 3",
        "Without the encoder's position embeddings",
        (BASE, NO_PE, MMA, MMA_NO_PE),
        lambda evidence: (
            score_table(
                evidence,
                NAME,
                "Table 3",
                _rows(
                    {
                        BASE: "Transformer",
                        NO_PE: "Transformer without encoder position embedding",
                        MMA: "Transformer MMA",
                        MMA_NO_PE: "Transformer MMA without encoder position embedding",
                    }
                ),
            )
            + "\n\nΔ, as printed: MMA minus the Transformer, both with or both without the "
            "embedding. Other differences: to the first row."
        ),
        said=("text §5.1",),
    ),
    Experiment(
        "table4",
        "Table 4",
        "One type of head beside the global one",
        (BASE, *TYPES, MMA),
        lambda evidence: score_table(
            evidence, NAME, "Table 4", _rows({BASE: "Transformer", **TYPES, MMA: "+ MMA"})
        ),
    ),
    Experiment(
        "table5",
        "Table 5",
        "The window of the local heads",
        (BASE, *WINDOWS),
        lambda evidence: score_table(
            evidence, NAME, "Table 5", _rows({BASE: "Transformer", **WINDOWS})
        ),
    ),
    Experiment(
        "figure2",
        "Figure 2",
        "BLEU by source length",
        (BASE, MMA),
        lambda evidence: length_table(evidence, (BASE, MMA), SOURCE_WORDS, LENGTHS, "source words"),
        figures=lambda evidence: gap_figure(
            evidence, (BASE, MMA), SOURCE_WORDS, LENGTHS, "source words"
        ),
    ),
    Experiment(
        "figure3",
        "Figure 3",
        "What the four types of heads look at, in one sentence",
        (MMA,),
        _types_of_maps,
        measures={"maps": (MMA,)},
        figures=lambda evidence: map_figures(evidence, MMA, "encoder_self"),
    ),
)

CLAIMS = (
    Claim("M-01", "MMA beats the baseline", "+0.81, +0.92, +0.95", (better(MMA, BASE),)),
    Claim(
        "M-02",
        "MMA has no more parameters than the baseline",
        "+0",
        (
            Check(
                "parameters of mma minus those of base",
                _extra_parameters,
                (MMA, BASE),
                at_least=0,
                at_most=0,
            ),
        ),
    ),
    Claim(
        "M-03",
        "MMA carries the order of words without encoder positions, the baseline does not",
        "losses 17.91 and 0.75",
        (loss(BASE, NO_PE, at_least=5.0), loss(MMA, MMA_NO_PE, at_most=2.0)),
    ),
    Claim(
        "M-04",
        "no added type of head hurts, and all together are no worse than any one of them",
        "+0.59, +0.37, +0.67, +0.95",
        (
            *(not_worse(setting, BASE, 0.2) for setting in TYPES),
            *(not_worse(MMA, setting, 0.2) for setting in TYPES),
        ),
    ),
    Claim(
        "M-05",
        "no window hurts, and the smallest is no worse than the largest",
        "35.41, 35.31, 35.35, 35.22 for windows of 1 to 4; 34.46 without",
        (
            *(not_worse(setting, BASE, 0.2) for setting in WINDOWS),
            Contrast(((1, MMA), (-1, Setting("mma-w4"))), at_least=-0.2),
        ),
    ),
    Claim(
        "M-06",
        "the gain of MMA grows with the length of the source",
        "said in section 5.2, on Figure 2",
        (
            Check(
                "gain on the longest third of the sources minus gain on the shortest",
                _length_gain,
                (BASE, MMA),
                at_least=0,
            ),
        ),
    ),
)

PAPER = Paper(
    NAME,
    "Cui, Iida, Hung, Utsuro, Nagata: Mixed Multi-Head Self-Attention for Neural Machine "
    "Translation, WNGT 2019",
    "https://aclanthology.org/D19-5622",
    EXPERIMENTS,
    CLAIMS,
    (
        Deviation(
            "scaling of the products",
            "root of the hidden size, as written",
            "root of the head's width, as in fairseq",
        ),
        Deviation(
            "norm",
            "after the residual (equations 1 and 2)",
            "before the sublayer, for all systems alike",
        ),
        Deviation(
            "one type of head",
            "the other heads are replaced; how many is not said",
            "one global head, all others of the type",
        ),
        Deviation(
            "Figure 1",
            "a diagram of mixed heads",
            "notebook 04 builds it in code; there is nothing to measure",
        ),
        Deviation("data", "WAT17 En-Ja, IWSLT14 De-En", "the corpus of the scale"),
        Deviation(
            "test set (scale `iwslt14`)",
            "tst2010 to tst2013 and dev2010, as written",
            "that of most papers, 6,750 pairs: dev2010, dev2012, tst2010 to tst2012",
        ),
        *common_deviations(
            "6+6 layers, 512 wide; 8 heads, for De-En 4 and half the feed-forward width; biases "
            "and embeddings not said",
            "a warm-up of 4,000 updates, then the inverse square root; choice of checkpoint not "
            "said",
            "5; penalty not said",
            "BLEU; by which tool and of which tokens is not said; the text of De-En is in lower "
            "case",
        ),
    ),
)
