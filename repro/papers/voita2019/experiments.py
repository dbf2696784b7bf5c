"""The systems and experiments of the paper."""

from repro.claims.settings import Setting
from repro.papers import Experiment
from repro.papers import pruning_tables as t
from repro.papers.figures import rare_words_figure, relevance_figures
from repro.papers.heads import all_heads_table, rare_table, relations_table
from repro.papers.pruned import PRUNED, REGULARISED

NAME = "voita2019"
HEADS = {"heads": (PRUNED,)}
PRUNING = {"pruning": (PRUNED,)}
FRENCH = Setting(PRUNED.system, (*PRUNED.overrides, "data.target=fr"))

EXPERIMENTS = (
    Experiment(
        "figure1",
        "Figure 1",
        "Relevance, confidence and roles of the encoder's heads",
        (PRUNED,),
        lambda e: all_heads_table(e, PRUNED),
        measures=HEADS,
        figures=lambda e: relevance_figures(e, PRUNED),
        said=("text §5.1",),
        reduced="one pair of languages",
    ),
    Experiment(
        "table1",
        "Table 1 and Figure 3",
        "Heads that follow a grammatical relation, and how far the related words are apart",
        (PRUNED,),
        lambda e: relations_table(e, NAME, "Table 1", PRUNED),
        measures=HEADS,
        said=("text §5.2.1",),
        reduced="one corpus of two",
    ),
    Experiment(
        "figure4",
        "Figure 4",
        "The same for another target language",
        (FRENCH,),
        lambda e: relations_table(e, NAME, "Figure 4", FRENCH),
        measures={"heads": (FRENCH,)},
        scales=("multi30k",),
        elsewhere="it wants a second language beside the same English sentences",
        reduced="one further language",
    ),
    Experiment(
        "figure5",
        "Figure 5 and section 5.3",
        "Heads that look at rare words",
        (PRUNED,),
        lambda e: rare_table(e, PRUNED),
        measures=HEADS,
        figures=lambda e: rare_words_figure(e, PRUNED),
        said=("text §5.3",),
        reduced="shares without maps",
    ),
    Experiment(
        "figure6",
        "Figure 6",
        "The Hard Concrete distribution",
        (),
        t.gate_note,
        figures=t.gate_figure,
    ),
    Experiment(
        "figure7",
        "Figure 7",
        "BLEU against encoder heads kept",
        (PRUNED,),
        t.encoder_table,
        measures=PRUNING,
        figures=t.curve_figure,
        said=("abstract",),
        reduced="one corpus of two",
    ),
    Experiment(
        "figure8",
        "Figure 8",
        "Roles of the encoder heads that are kept",
        (PRUNED,),
        t.roles_table,
        measures=PRUNING | HEADS,
        figures=t.roles_figure,
        said=("text §6.2.2",),
        reduced="roles before pruning in the table",
    ),
    Experiment(
        "table2",
        "Table 2",
        "Heads of all three sites pruned, and the same shape from scratch",
        (PRUNED,),
        t.all_sites_table,
        measures=PRUNING,
        said=("text §6.3.1",),
        reduced="one shape from scratch a seed",
    ),
    Experiment(
        "note8",
        "Note 8",
        "Gates from scratch against gates on a trained model",
        (PRUNED, REGULARISED),
        t.regularised_table,
        measures=PRUNING,
        said=("text §6.1 note",),
        reduced="one penalty",
    ),
    Experiment(
        "figure9",
        "Figure 9",
        "Heads kept by site",
        (PRUNED,),
        t.sites_table,
        measures=PRUNING,
        figures=t.sites_figure,
        said=("text §6.3.2",),
    ),
    Experiment(
        "figure10",
        "Figure 10",
        "Heads kept by decoder layer",
        (PRUNED,),
        t.layers_table,
        measures=PRUNING,
        figures=t.layers_figure,
    ),
)
