"""The systems and experiments of the paper."""

import math

from repro.claims.evidence import Evidence
from repro.claims.settings import Setting
from repro.core.attention.mixed import head_types
from repro.core.numbering import FIRST
from repro.papers import Experiment
from repro.papers.figures import gap_figure, map_figures
from repro.papers.gaps_over_training import gaps_over_training
from repro.papers.heads import maps_text
from repro.papers.printed import printed_numbers
from repro.papers.printed_tables import printed_table
from repro.papers.tables import Row, length_table, score_table
from repro.records.sentences import SOURCE_WORDS

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
    """Return the rows of a table of Cui et al. 2019: a setting, and its name there."""
    return [Row(setting, {"row": row} if row else {}) for setting, row in cells.items()]


def _types_of_maps(evidence: Evidence) -> str:
    """Return the types of MMA's heads, above the attention maps of Cui et al. 2019."""
    types = head_types(evidence.one("maps", MMA)["config"]["model"]["num_heads"])
    named = enumerate(types, start=FIRST)
    listed = ", ".join(f"head {head} {TYPE_NAMES[letter]}" for head, letter in named)
    return f"{maps_text(evidence, MMA)} Types in every layer: {listed}."


EXPERIMENTS = (
    Experiment(
        "table1",
        "Table 1",
        "MMA against the Transformer, both directions",
        (BASE, MMA, Setting("base", reverse=True), Setting("mma", reverse=True)),
        lambda evidence: (
            "\n\n".join(
                score_table(evidence, NAME, "Table 1", rows)
                for rows in (
                    _rows(COMPARED),
                    _rows({Setting("base", reverse=True): "", Setting("mma", reverse=True): ""}),
                )
            )
            + gaps_over_training(evidence, (*COMPARED, *TYPES))
        ),
        said=("abstract",),
        reduced="one pair of languages",
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
        reduced="one direction of two",
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
