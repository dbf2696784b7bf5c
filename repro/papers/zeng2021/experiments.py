"""The systems and experiments of the paper."""

import math

from repro.claims.evidence import Evidence
from repro.claims.settings import Setting
from repro.core.config import SELF_SITES
from repro.papers import Experiment
from repro.papers.figures import (
    divergence_figures,
    entropy_figure,
    gap_figure,
    histogram_figure,
    map_figures,
)
from repro.papers.gaps_over_training import gaps_over_training
from repro.papers.heads import (
    divergence_table,
    entropy_table,
    maps_text,
)
from repro.papers.printed import printed_numbers, printed_remarks
from repro.papers.printed_tables import printed_table
from repro.papers.speed import speed_table
from repro.papers.tables import (
    Row,
    length_table,
    render_available,
    score_table,
)
from repro.presets import SCALES
from repro.records.head_tables import sentences_measured
from repro.records.report import means_table, scores_table
from repro.records.sentences import REFERENCE_WORDS, SOURCE_WORDS
from repro.runs.naming import differences

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
TASKS = {"summarisation": "minisummary", "dialogue": "minidialogue"}  # the scale of each


def _task_settings(task: str) -> list[Setting]:
    """Return the systems of Zeng et al. 2021 on another task than translation."""
    scale = SCALES[TASKS[task]]
    sides = (f"data.source={scale.data.source}", f"data.target={scale.data.target}")
    overrides = (*differences(scale, SCALES["smoke"]), *sides)
    return [
        Setting(system, overrides, label=task) for system in ("base", "hc-sa", "syn-r", "ran-all")
    ]


def _long(system: str, variant: str) -> str:
    """Return the command that trains on articles, for Zeng et al. 2021."""
    sites = " ".join(
        f"\"model.{site}={variant}(max_len=1024, beyond='clamp')\"" for site in SELF_SITES
    )
    return f"`repro train --scale cnndm --system {system} {sites}`"


EXPERIMENTS = (
    Experiment(
        "table1",
        "Table 1",
        "RAN in encoder, decoder or both, beside the Transformer, hard-coded attention and the "
        "Random Synthesizer",
        (*COLUMNS, *CONTROLS, *SMALL),
        lambda e: (
            "\n\n".join(
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
            )
            + gaps_over_training(e, (*COLUMNS, *CONTROLS))
        ),
        said=("text, settings", "text, main results"),
        reduced="one or two directions of ten",
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
        reduced="one size of batch, greedy search, a CPU",
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
        reduced="one sentence",
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
        reduced="one pair of languages of two",
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
        stand_in="generated tasks for CNN/DailyMail and Persona-Chat",
    ),
)


def _task_tables(evidence: Evidence, task: str) -> str:
    """Return the table of a task of Zeng et al. 2021: all runs, and means over seeds."""
    records = [
        evidence.scores(setting, seed)
        for setting in _task_settings(task)
        for seed in evidence.seeds(setting)
    ]
    return "\n\n".join(part for part in (scores_table(records), means_table(records)) if part)
