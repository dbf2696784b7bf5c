"""Voita et al. 2019: Analyzing Multi-Head Self-Attention, the roles of heads and their pruning.

https://arxiv.org/abs/1905.09418. The parts are `attention/gates.py`, `analysis/` and `pruning/`.
"""

from functools import partial

from repro.claims.conditions import POSITIVE, Check, Claim
from repro.claims.settings import Setting
from repro.papers import Deviation, Experiment, Paper, common_deviations
from repro.papers import pruned as p
from repro.papers import pruning_tables as t
from repro.papers import specialised as s
from repro.papers.figures import rare_words_figure, relevance_figures
from repro.papers.heads import all_heads_table, rare_table, relations_table
from repro.papers.pruned import PRUNED
from repro.presets import GATE_INIT, GATE_RATE

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
    ),
    Experiment(
        "table1",
        "Table 1 and Figure 3",
        "Heads that follow a grammatical relation, and how far the related words are apart",
        (PRUNED,),
        lambda e: relations_table(e, NAME, "Table 1", PRUNED),
        measures=HEADS,
        said=("text §5.2.1",),
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
        said=("abstract", "text §6.1 note"),
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
    ),
    Experiment(
        "table2",
        "Table 2",
        "Heads of all three sites pruned, and the same shape from scratch",
        (PRUNED,),
        t.all_sites_table,
        measures=PRUNING,
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

CLAIMS = (
    Claim(
        "V-01",
        "most encoder heads can go",
        "-0.15 at 10 of 48",
        (
            Check(
                "BLEU after pruning to at most a quarter of the encoder's heads, minus all heads "
                "trained on as long",
                partial(p.change_at, share=0.25),
                (PRUNED,),
                ("pruning",),
                at_least=-0.5,
            ),
        ),
    ),
    Claim(
        "V-02",
        "very few encoder heads still work",
        "-0.25 at 4 of 48; on other data about -0.5 at 5 and -1.1 at 3",
        (
            Check(
                "BLEU after pruning to at most a tenth, minus all heads trained on as long",
                partial(p.change_at, share=0.10),
                (PRUNED,),
                ("pruning",),
                at_least=-1.0,
            ),
        ),
    ),
    Claim(
        "V-03",
        "a pruned model beats the same shape from scratch",
        "+0.01 to +0.5",
        (
            Check(
                "BLEU of the model pruned to nearest a quarter of all heads minus its shape from "
                "scratch",
                p.pruned_minus_scratch,
                (PRUNED,),
                ("pruning",),
                at_least=0.0,
            ),
        ),
    ),
    Claim(
        "V-04",
        "encoder heads go first, cross heads last",
        "14/31/30 and 8/13/15 heads of encoder, decoder, cross",
        (
            Check(
                "at half of all heads: fewer of decoder and cross minus encoder, heads kept",
                p.encoder_goes_first,
                (PRUNED,),
                ("pruning",),
                at_least=1,
            ),
            Check(
                "at a quarter of all heads: cross minus decoder, heads kept",
                p.cross_goes_last,
                (PRUNED,),
                ("pruning",),
                at_least=0,
            ),
        ),
    ),
    Claim(
        "V-05",
        "in the decoder, self-attention survives in low layers, cross attention in high ones",
        "shown in Figure 10",
        (
            Check(
                "decoder self-attention: heads kept in the lower half minus the upper",
                partial(p.low_minus_high, site="decoder_self"),
                (PRUNED,),
                ("pruning",),
                at_least=1,
            ),
            Check(
                "cross attention: heads kept in the lower half minus the upper",
                partial(p.low_minus_high, site="cross"),
                (PRUNED,),
                ("pruning",),
                at_most=0,
            ),
        ),
    ),
    Claim(
        "V-06",
        "gates end nearly open or shut",
        "an observation",
        (
            Check(
                "share of gates that are open or shut with a probability above 0.9, in models with "
                "a head left",
                p.binary_share,
                (PRUNED,),
                ("pruning",),
                at_least=0.9,
            ),
        ),
    ),
    Claim(
        "V-07",
        "there are positional heads, and they are confident",
        "mean largest weight above 0.8 for all of them",
        (
            Check(
                "encoder heads that point to the previous or next token",
                s.count_of_positional,
                (PRUNED,),
                ("heads",),
                at_least=2,
            ),
            Check(
                "lowest confidence of such a head",
                s.confidence_of_positional,
                (PRUNED,),
                ("heads",),
                at_least=0.7,
            ),
        ),
    ),
    Claim(
        "V-08",
        "relevance agrees with confidence",
        "reasonably",
        (
            Check(
                "rank correlation over the encoder's heads of all layers but the first",
                s.relevance_with_confidence,
                (PRUNED,),
                ("heads",),
                at_least=0.3,
            ),
        ),
    ),
    Claim(
        "V-09",
        "positional heads survive",
        "shown in Figure 8",
        (
            Check(
                "at three tenths of the encoder's heads: share of positional heads kept minus "
                "share of the others",
                p.survival_difference,
                (PRUNED,),
                ("pruning", "heads"),
                at_least=POSITIVE,
            ),
        ),
    ),
    Claim(
        "V-10",
        "the most relevant head of the first layer finds rare words, and no other as many",
        "83 % and more than 50 %",
        (
            Check(
                "share of rare words of the most relevant first-layer head minus 40 % or the next "
                "head's, points",
                s.rare_head,
                (PRUNED,),
                ("heads",),
                at_least=0.0,
            ),
        ),
    ),
    Claim(
        "V-11",
        "some heads follow subject and object",
        "+10 to +38 points",
        tuple(
            Check(
                f"best head minus baseline for {relation}, points",
                partial(s.best_margin, relation=relation),
                (PRUNED,),
                ("heads",),
                at_least=10.0,
            )
            for relation in ("nsubj", "dobj")
        ),
    ),
)

PAPER = Paper(
    NAME,
    "Voita, Talbot, Moiseev, Sennrich, Titov: Analyzing Multi-Head Self-Attention: Specialized "
    "Heads Do the Heavy Lifting, the Rest Can "
    "Be Pruned, ACL 2019",
    "https://arxiv.org/abs/1905.09418",
    EXPERIMENTS,
    CLAIMS,
    (
        Deviation(
            "gates at test time",
            "open or shut, whichever is likelier; the code leaves them between",
            "the paper's rule; the code's is an option",
        ),
        Deviation(
            "gates at the start of pruning",
            "not said; the code draws them near half shut",
            f"nearly open: log alpha is {GATE_INIT:g}",
        ),
        Deviation(
            "length of pruning, learning rate of gates",
            "stopped by hand in the code; that of all parameters",
            f"half of the updates that the base took; {GATE_RATE:g} times that of the other "
            "parameters",
        ),
        Deviation("penalty", "sum over heads; the code takes the mean over modules", "the sum"),
        Deviation("heads", "8 in each of 6 layers", "8 in each of the scale's layers"),
        Deviation(
            "relevance",
            "no stabiliser; sign of the sum not said",
            "see `analysis/relevance.py`: two rules",
        ),
        Deviation(
            "relevance (claims V-08 and V-10)",
            "a mean over a development set",
            "over the first 100 sentences of dev",
        ),
        Deviation(
            "embeddings while the decoder is frozen",
            "source embedding trained, not tied",
            "one tied matrix, frozen with the decoder",
        ),
        Deviation(
            "what claims V-01 and V-02 compare with",
            "the converged model that pruning starts from",
            "that model trained on as long as the pruned ones, without gates: ours need not have "
            "converged",
        ),
        Deviation(
            "very few heads (claim V-02)",
            "4 of 48 on OpenSubtitles, -0.25; on WMT, read off Figure 7, -0.5 at 5 of 48, which is "
            "more than a tenth, and -1.1 at 3",
            "at most a tenth, with a loss of up to 1",
        ),
        Deviation(
            "heads that survive (claim V-09)",
            "positional, syntactic and rare-word heads outlast the rest (Figure 8)",
            "positional heads against all others, syntactic ones among them",
        ),
        Deviation(
            "which pruned model is trained from scratch (claim V-03)",
            "each",
            "the one nearest to a quarter of all heads",
        ),
        Deviation(
            "training from scratch (claim V-03)",
            "all heads are there, those that were pruned masked",
            "they are absent; one schedule, as long as training and pruning together",
        ),
        Deviation(
            "roles of heads (Figure 8)",
            "those that they have in the pruned model",
            "those that they had before pruning",
        ),
        Deviation(
            "head for rare words (Figure 5)",
            "maps of it, in one sentence",
            "shares over all of dev; maps of any sentence are drawn by the explorer of notebook 06",
        ),
        Deviation(
            "best head of a relation (claim V-11)",
            "the best of all heads",
            "likewise, of the sentences that it is measured on; its interval does not count the "
            "search, which favours the claim",
        ),
        *common_deviations(
            "6+6 layers, 8 heads, 512 wide; in the code with biases in attention, and embeddings "
            "not tied",
            "a warm-up of 16,000 updates, then the inverse square root; the code also drops "
            "attention weights and what feed-forward "
            "layers hold, at 0.1, and has a beta2 of 0.998",
            "not said; 4 and the length to the 0.6 in the code",
            "not said",
        ),
        Deviation(
            "data",
            "WMT from English to Russian, German and French, and OpenSubtitles to Russian",
            "the corpus of the scale; a second target language for Figure 4 alone, where a corpus "
            "has one, so not for Figure 2",
        ),
        Deviation(
            "parses", "CoreNLP", "gold trees of the generated corpus; a spaCy model for English"
        ),
    ),
)
