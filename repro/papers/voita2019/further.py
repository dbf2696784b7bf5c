"""Further claims of the paper, with the reason for each margin."""

from functools import partial

from repro.claims.conditions import Check, Claim
from repro.papers import pruned as p
from repro.papers import pruned_roles as r
from repro.papers import specialised as s
from repro.papers.printed import quoted
from repro.papers.pruned import PENALTY, PRUNED, REGULARISED
from repro.papers.voita2019.experiments import NAME

FIXED = "2026-11-29"
NOTE = "text §6.1 note"
DIRECTION = "the paper gives a direction and no bound, so any difference counts that is sure"

FURTHER = (
    Claim(
        "V-12",
        "more than half of all heads can go",
        f"{quoted(NAME, 'text §6.3.1')} BLEU lost at most",
        (
            Check(
                "BLEU after pruning more than half of the heads of all sites, minus all heads "
                "trained on as long",
                p.change_below_half,
                (PRUNED,),
                ("pruning",),
                at_least=-0.25,
            ),
        ),
        place="section 6.3.1 and Table 2",
        fixed=FIXED,
        why="the printed bound",
        seeds=5,
    ),
    Claim(
        "V-13",
        "in a pruned encoder more heads have a role than in the whole one",
        "drawn",
        (
            Check(
                "share of heads with a role, at a third of the encoder's heads, minus that in the "
                "whole encoder",
                r.specialised_share_difference,
                (PRUNED,),
                ("pruning", "heads"),
                at_least=0.0,
            ),
        ),
        place="Figure 8",
        fixed=FIXED,
        why=DIRECTION,
    ),
    Claim(
        "V-14",
        "a third of the encoder's heads keeps every role",
        f"{quoted(NAME, 'text §6.2.2')} of 48 heads",
        (
            Check(
                "roles of the whole encoder that no kept head has, at a third of its heads",
                r.roles_lost,
                (PRUNED,),
                ("pruning", "heads"),
                at_most=0,
            ),
        ),
        place="section 6.2.2",
        fixed=FIXED,
        why="every role is all of them",
    ),
    Claim(
        "V-15",
        "while heads are pruned, roles move to heads that did not have them",
        "some",
        (
            Check(
                "kept heads with a role that they did not have before, at a third of the encoder's "
                "heads",
                r.roles_gained,
                (PRUNED,),
                ("pruning", "heads"),
                at_least=1,
            ),
        ),
        place="section 6.2.2",
        fixed=FIXED,
        why="a single head shows it",
    ),
    Claim(
        "V-16",
        "pruning a trained model is better than gates from scratch",
        f"+{quoted(NAME, NOTE, column='BLEU gain (low)')} to "
        f"+{quoted(NAME, NOTE, column='BLEU gain (high)')}",
        (
            Check(
                f"BLEU of models pruned at a penalty of {PENALTY:g} minus models gated from "
                "scratch",
                partial(p.fine_tuned_minus_regularised, penalty=PENALTY),
                (PRUNED, REGULARISED),
                ("pruning",),
                at_least=0.0,
            ),
        ),
        place="note 8",
        fixed=FIXED,
        why="slightly better is any gain that is sure",
    ),
    Claim(
        "V-17",
        "the most relevant head of the first layer is not a confident one",
        "the only clear exception",
        (
            Check(
                "confidence of the most relevant first-layer head minus the median of its layer",
                s.confidence_of_most_relevant,
                (PRUNED,),
                ("heads",),
                at_most=0.0,
            ),
        ),
        place="section 4",
        fixed=FIXED,
        why="low is below the middle of its layer",
    ),
)
