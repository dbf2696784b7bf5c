"""The claims of the paper, each with its test and the reason for its margin."""

from functools import partial

from repro.claims.conditions import POSITIVE, Check, Claim
from repro.papers import pruned as p
from repro.papers import pruned_roles as r
from repro.papers import specialised as s
from repro.papers.pruned import PRUNED

FIXED = "2026-11-29"  # of what was restated

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
                null=0.0,
            ),
        ),
        place="Figure 7",
        fixed="2026-11-21",
        seeds=5,
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
                null=0.0,
            ),
        ),
        place="Figure 7",
        fixed="2026-11-21",
    ),
    Claim(
        "V-03",
        "a pruned model, trained on, beats the same shape from scratch",
        "+0.01 to +0.5",
        (
            Check(
                "BLEU of the model pruned to nearest a quarter of all heads and trained on, minus "
                "its shape from scratch with as many updates",
                p.pruned_minus_scratch,
                (PRUNED,),
                ("pruning",),
                at_least=0.0,
            ),
        ),
        place="Table 2",
        fixed=FIXED,
        why="the margin of 2026-11-21: the least printed gain is near 0",
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
        place="Table 2",
        fixed="2026-11-21",
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
        place="Figure 10",
        fixed="2026-11-21",
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
        place="section 6.1",
        fixed="2026-11-21",
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
                at_least=0.8,
            ),
        ),
        place="section 5.1",
        fixed=FIXED,
        why="two make the plural; the confidence is the printed one",
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
        place="Figure 1",
        fixed="2026-11-21",
    ),
    Claim(
        "V-09",
        "heads with a role outlast the others",
        "said of positional, syntactic and rare-word heads; drawn in Figure 8",
        (
            Check(
                "at three tenths of the encoder's heads: share of heads with a role kept minus "
                "share of the others",
                r.survival_difference,
                (PRUNED,),
                ("pruning", "heads"),
                at_least=POSITIVE,
            ),
        ),
        place="section 1 and Figure 8",
        fixed=FIXED,
        why="pruned last means kept more often; how much more is not said",
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
        place="section 5.3",
        fixed="2026-11-21",
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
        place="Table 1",
        fixed="2026-11-21",
    ),
)
