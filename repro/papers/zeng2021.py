"""Zeng et al. 2021: Recurrent Attention for Neural Machine Translation.

https://aclanthology.org/2021.emnlp-main.258. The variants are `attention/recurrent.py` and
`attention/synthesizer.py`.
"""

import math
from functools import partial

import numpy as np

from repro.claims.conditions import Check, Claim, Contrast, better, loss, not_worse
from repro.claims.evidence import Evidence
from repro.claims.settings import Setting
from repro.core.config import SELF_SITES
from repro.measures.speed import BATCH, STEPS
from repro.papers import Deviation, Experiment, Paper, common_deviations
from repro.papers.figures import (
    divergence_figures,
    entropy_figure,
    gap_figure,
    histogram_figure,
    map_figures,
)
from repro.papers.heads import (
    divergence_table,
    entropy_table,
    head_numbers,
    maps_text,
    mean_over_seeds,
)
from repro.papers.printed import printed_numbers, printed_remarks
from repro.papers.speed import speed_ratio, speed_table
from repro.papers.tables import Row, length_table, printed_table, render_available, score_table
from repro.records.head_tables import sentences_measured
from repro.records.report import means_table, scores_table
from repro.records.sentences import REFERENCE_WORDS, SOURCE_WORDS
from repro.statistics.intervals import Estimate

NAME = "zeng2021"
BASE, HC_SA, SYN_R, SYN_ONES = (
    Setting("base"),
    Setting("hc-sa"),
    Setting("syn-r"),
    Setting("syn-r-ones"),
)
RAN_E, RAN_D, RAN_ALL = Setting("ran-e"), Setting("ran-d"), Setting("ran-all")
DROPOUT = Setting("base-attention-dropout")
NO_PE, RAN_E_NO_PE, RAN_D_NO_PE = Setting("base/-pe"), Setting("ran-e/-pe"), Setting("ran-d/-pe")
NO_DECODER_PE = Setting("base", ("model.decoder_positions=false",))
FROZEN = Setting("ran-all-frozen")
NO_NORM = Setting(
    "ran-all", tuple(f"model.{site}=recurrent(layer_norm=False)" for site in SELF_SITES)
)
NO_RESIDUAL = Setting(
    "ran-all", tuple(f"model.{site}=recurrent(residual=False)" for site in SELF_SITES)
)
COLUMNS = {
    BASE: "TransF",
    HC_SA: "HC-SA",
    SYN_R: "Syn-R",
    RAN_E: "RAN-E",
    RAN_D: "RAN-D",
    RAN_ALL: "RAN-ALL",
}
CONTROLS = (SYN_ONES, Setting("syn-r-low-rank"), DROPOUT)
SMALL = (Setting("base", part=0.25), Setting("ran-d", part=0.25))
LENGTHS = [0, 10, 20, 30, 40, 50, 60, math.inf]  # seven bins of words
LOOKED_AT = (BASE, SYN_R, RAN_ALL)
TASKS = {
    "summarisation": ("data.corpus=minisummary", "data.source=article", "data.target=summary"),
    "dialogue": ("data.corpus=minidialogue", "data.source=context", "data.target=reply"),
}


def _task_settings(task: str) -> list[Setting]:
    return [Setting(system, TASKS[task]) for system in ("base", "hc-sa", "syn-r", "ran-all")]


def _long(system: str, variant: str) -> str:
    """Return the command that trains a system on articles, with enough positions."""
    sites = " ".join(
        f"\"model.{site}={variant}(max_len=1024, beyond='clamp')\"" for site in SELF_SITES
    )
    return f"`repro train --scale cnndm --variant {system} {sites}`"


def _extra_parameters(evidence: Evidence) -> int:
    """Return the number of parameters of RAN-ALL minus that of base."""
    counts = [evidence.scores(setting)["training"]["parameters"] for setting in (RAN_ALL, BASE)]
    return counts[0] - counts[1]


def adjacent_divergence(evidence: Evidence, setting: Setting, seed: int = 1) -> float:
    """Return the mean Jensen-Shannon divergence of neighbouring decoder layers, in nats."""
    return float(
        np.diagonal(
            head_numbers(evidence, setting, "decoder_self", "divergence", seed), offset=1
        ).mean()
    )


# The digest of a claim includes the names of these arguments: `arm` is older than `Setting`.
def _divergence_difference(evidence: Evidence, arm: Setting, other: Setting) -> Estimate:
    """Return the divergence of neighbouring decoder layers of a setting minus another's."""

    def of_seed(seed: int) -> Estimate:
        first, second = (adjacent_divergence(evidence, one, seed) for one in (arm, other))
        return Estimate(first - second, over="means over pairs of layers")

    return mean_over_seeds(evidence, (arm, other), of_seed)


def _more_alike_than(other: Setting, name: str) -> Check:
    """Check that neighbouring decoder layers of RAN-ALL attend more alike than another's."""
    what = f"divergence of neighbouring decoder layers, RAN-ALL minus {name}, nats"
    return Check(
        what,
        partial(_divergence_difference, arm=RAN_ALL, other=other),
        (RAN_ALL, other),
        ("heads",),
        at_most=0.0,
    )


EXPERIMENTS = (
    Experiment(
        "table1",
        "Table 1",
        "RAN in encoder, decoder or both, beside the Transformer, hard-coded attention and the "
        "Random Synthesizer",
        (*COLUMNS, *CONTROLS, *SMALL),
        lambda e: "\n\n".join(
            [
                score_table(
                    e,
                    NAME,
                    "Table 1",
                    [Row(setting, {"column": column}) for setting, column in COLUMNS.items()]
                    + [Row(setting, {}) for setting in CONTROLS],
                ),
                "A quarter of the data, where the paper has small pairs:",
                score_table(e, NAME, "Table 1", [Row(setting, {}) for setting in SMALL]),
            ]
        ),
        said=("text, settings", "text, main results"),
    ),
    Experiment(
        "figure3",
        "Figure 3",
        "Decoding speed",
        (BASE, RAN_ALL),
        lambda e: render_available(
            lambda: speed_table(e, (BASE, RAN_ALL)),
            lambda: printed_table(
                [
                    cell
                    for side in ("left", "right")
                    for cell in printed_numbers(NAME, f"Figure 3 {side}")
                ]
            ),
            lambda: printed_table(printed_remarks(NAME, "Figure 3")),
        ),
        measures={"speed": (BASE, RAN_ALL)},
    ),
    Experiment(
        "figure4",
        "Figure 4",
        "Entropy of the weights by layer",
        LOOKED_AT,
        lambda e: entropy_table(e, LOOKED_AT),
        measures={"heads": LOOKED_AT},
        figures=lambda e: entropy_figure(e, LOOKED_AT),
    ),
    Experiment(
        "figure5",
        "Figure 5",
        "Histograms of the weights",
        LOOKED_AT,
        lambda e: (
            f"How many weights are how large, by layer. {sentences_measured(e.one('heads', BASE))}"
        ),
        measures={"heads": LOOKED_AT},
        figures=lambda e: histogram_figure(e, LOOKED_AT),
    ),
    Experiment(
        "figure6",
        "Figure 6",
        "What RAN looks at, in one sentence",
        (RAN_ALL,),
        lambda e: maps_text(e, RAN_ALL),
        measures={"maps": (RAN_ALL,)},
        figures=lambda e: (
            map_figures(e, RAN_ALL, "encoder_self") | map_figures(e, RAN_ALL, "decoder_self")
        ),
    ),
    Experiment(
        "figure7",
        "Figure 7",
        "How alike layers are",
        LOOKED_AT,
        lambda e: render_available(
            lambda: divergence_table(e, LOOKED_AT),
            lambda: printed_table(printed_remarks(NAME, "Figure 7")),
        ),
        measures={"heads": LOOKED_AT},
        figures=lambda e: divergence_figures(e, LOOKED_AT),
    ),
    Experiment(
        "table2",
        "Table 2",
        "Without position embeddings",
        (BASE, NO_PE, RAN_E_NO_PE, NO_DECODER_PE, RAN_D_NO_PE, RAN_E, RAN_D),
        lambda e: score_table(
            e,
            NAME,
            "Table 2",
            [
                Row(setting, {})
                for setting in (BASE, NO_PE, RAN_E, RAN_E_NO_PE, NO_DECODER_PE, RAN_D, RAN_D_NO_PE)
            ],
        ),
    ),
    Experiment(
        "table3",
        "Table 3",
        "Parts of RAN taken away",
        (RAN_ALL, FROZEN, NO_NORM, NO_RESIDUAL),
        lambda e: score_table(
            e,
            NAME,
            "Table 3",
            [Row(setting, {}) for setting in (RAN_ALL, FROZEN, NO_NORM, NO_RESIDUAL)],
        ),
    ),
    Experiment(
        "figure8",
        "Figure 8",
        "BLEU by source and by target length",
        (BASE, RAN_E, RAN_D, RAN_ALL),
        lambda e: "\n\n".join(
            length_table(e, (BASE, RAN_E, RAN_D, RAN_ALL), column, LENGTHS, what)
            for column, what in (
                (SOURCE_WORDS, "source words"),
                (REFERENCE_WORDS, "reference words"),
            )
        ),
        figures=lambda e: (
            gap_figure(e, (BASE, RAN_E, RAN_D, RAN_ALL), SOURCE_WORDS, LENGTHS, "source words")
            | gap_figure(
                e, (BASE, RAN_E, RAN_D, RAN_ALL), REFERENCE_WORDS, LENGTHS, "reference words"
            )
        ),
    ),
    Experiment(
        "table4",
        "Table 4",
        "Summarisation and dialogue",
        tuple(setting for task in TASKS for setting in _task_settings(task)),
        lambda e: "\n\n".join(f"{task.capitalize()}:\n\n{_task_tables(e, task)}" for task in TASKS),
        scales=("smoke",),
        elsewhere="it has its own corpora: `repro run base hc-sa syn-r ran-all --scale "
        "personachat`; `repro run base hc-sa --scale cnndm` "
        "and, as articles are longer than the usual tables of positions, "
        f"{_long('syn-r', 'synthesizer')} and {_long('ran-all', 'recurrent')}; `repro report` puts "
        "runs side by side",
    ),
)


def _task_tables(evidence: Evidence, task: str) -> str:
    """Return the scores of all runs of a task, and their means over seeds."""
    records = [
        evidence.scores(setting, seed)
        for setting in _task_settings(task)
        for seed in evidence.seeds(setting)
    ]
    return "\n\n".join(part for part in (scores_table(records), means_table(records)) if part)


CLAIMS = (
    Claim(
        "Z-01",
        "RAN in the decoder does not hurt",
        "+0.48 on average",
        (not_worse(RAN_D, BASE, 0.3),),
    ),
    Claim(
        "Z-02",
        "RAN everywhere does not lose to the baseline",
        "+0.16 on average",
        (not_worse(RAN_ALL, BASE, 0.7),),
    ),
    Claim(
        "Z-03",
        "RAN beats the other methods that look at positions only",
        "+0.83 and +0.58 on average",
        (better(RAN_ALL, HC_SA), better(RAN_ALL, SYN_R), better(RAN_ALL, SYN_ONES)),
    ),
    Claim(
        "Z-04",
        "gains in encoder and decoder do not add up",
        "lower in 9 of 10 rows",
        (Contrast(((1, RAN_ALL), (-1, RAN_D)), at_most=0.2),),
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
    ),
    Claim(
        "Z-06",
        "RAN replaces the encoder's position embeddings",
        "the Transformer loses more than 14 BLEU, RAN makes up for it",
        (loss(BASE, NO_PE, at_least=5.0), loss(RAN_E, RAN_E_NO_PE, at_most=1.5)),
    ),
    Claim(
        "Z-07",
        "the first matrices need no training",
        "-0.1 to -0.2",
        (Contrast(((1, FROZEN), (-1, RAN_ALL)), at_least=-0.5, at_most=0.5),),
    ),
    Claim(
        "Z-08",
        "RAN has fewer parameters, and is faster",
        "1.14 to 1.24 times",
        (
            Check(
                "parameters of RAN-ALL minus those of base",
                _extra_parameters,
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
    ),
    Claim(
        "Z-09",
        "neighbouring decoder layers attend more alike than in the baseline and in Syn-R",
        "0.08 to 0.2 between layers of the decoder",
        (_more_alike_than(BASE, "base"), _more_alike_than(SYN_R, "Syn-R")),
    ),
    Claim(
        "Z-10",
        "attention dropout does not give the baseline what RAN-D gains (our control)",
        "not reported",
        (better(RAN_D, BASE), Contrast(((1, RAN_D), (-1, DROPOUT)), at_least=0.1)),
    ),
)

PAPER = Paper(
    NAME,
    "Zeng, Wu, Yin, Jiang, Li: Recurrent Attention for Neural Machine Translation, EMNLP 2021",
    "https://aclanthology.org/2021.emnlp-main.258",
    EXPERIMENTS,
    CLAIMS,
    (
        Deviation(
            "transition",
            "linear, tanh, norm, residual; the released code has four others, none of them this",
            "the paper's; the code's are options",
        ),
        Deviation(
            "axis of W",
            "a left product in the paper, the key axis in the code",
            "the key axis; `axis='query'` is an option",
        ),
        Deviation(
            "attention dropout",
            "0.2 for RAN except on En-Fr; not said for the baseline",
            "none for any system, so no gain of RAN here is that of dropout; what 0.2 does to the "
            "baseline is a control (claim Z-10)",
        ),
        Deviation(
            "speed (Figure 3, claim Z-08)",
            "by size of batch and of beam; 100 in a batch",
            f"on the CPU, greedy, {STEPS} steps for every sentence, {BATCH} in a batch",
        ),
        Deviation(
            "little data (claim Z-05)",
            "small pairs gain much, +0.97 and +0.77 on Tr-En and En-Tr (210,000), but so does "
            "En-Fi (2.63 million), +0.93",
            "a quarter of the scale's corpus, trained as all of it",
        ),
        Deviation(
            "divergence of layers (Figure 7, claim Z-09)",
            "of all pairs of layers; of which weights is not said",
            "of neighbouring layers, of the mean over heads, by which layers of unrelated heads "
            "look alike, too: so Z-09 asks for less "
            "than in Syn-R as well",
        ),
        Deviation(
            "parts taken away (Table 3)",
            "on En-De and En-Fr; from which RAN, and whether norm and residual go together, is not "
            "known: the table is not at hand",
            "from RAN-ALL, norm and residual each by itself",
        ),
        Deviation("Syn-R", "random matrices in the text, all ones in the code", "both are rows"),
        Deviation(
            "norm",
            "not said; after the residual in the code",
            "before the sublayer, for all systems alike",
        ),
        Deviation(
            "position embeddings",
            "not said; the code skips the first two positions",
            "counted from 0",
        ),
        *common_deviations(
            "6+6 layers, 8 heads, 512 wide; in the code with biases in attention, and embeddings "
            "tied",
            "inverse square root in the code; the best checkpoint on dev",
            "4; 0.6, for Zh-En 1.0",
            "multi-bleu, cased, and SacreBLEU",
        ),
        Deviation(
            "parameters (claim Z-08)",
            "fewer with RAN, at a width of 512",
            "more at widths of 128 and below, where its matrices over positions are larger than "
            "the queries and keys that they replace",
        ),
        Deviation(
            "summarisation, dialogue",
            "CNN/DailyMail, Persona-Chat",
            "generated tasks at smoke; the corpora have scales of their own",
        ),
        Deviation(
            "Figures 1 and 2",
            "diagrams of self-attention and of RAN",
            "notebooks 01 and 05 build them in code; nothing to measure",
        ),
        Deviation(
            "data",
            "ten directions, with many and with few pairs",
            "the corpus of the scale, and a quarter of it for few pairs",
        ),
    ),
)
