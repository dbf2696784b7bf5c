"""Say in one sentence what was found of a paper; every number comes from verdicts."""

from collections.abc import Collection, Iterable

from repro.claims.conditions import Status
from repro.papers import PAPERS, Claim, Paper, load_paper
from repro.papers.effects import Verdicts
from repro.papers.verdicts import claims_of, verdict_on

# claim -> what its paper does, and the sign that turns its number into a gain
FINDINGS = {
    "V-01": ("prune the encoder to at most a quarter of its heads", 1),
    "R-01": ("fix all but one head of each encoder layer", 1),
    "M-01": ("let some heads look only left, only right, or only nearby", 1),
    "Z-02": ("pass one learned matrix from layer to layer, whatever the words are", 1),
    "Y-02": ("fix every head, even those that link the decoder to the source", -1),
}
UNTESTED: tuple[str, ...] = ("not run", "not testable here")


def headline(paper: Paper, verdicts: Verdicts, claims: Collection[str] | None = None) -> str:
    """Say what a paper's change does to BLEU, and how many of its claims are reproduced.

    Args:
        paper: one of the five.
        verdicts: scale -> verdicts by claim.
        claims: names of those that the sentence stands above; None = all. The change is left out
            where its own claim is not among them.
    """
    (claim,) = (claim for claim in paper.claims if claim.name in FINDINGS)
    change, sign = FINDINGS[claim.name]
    effects = []
    for scale, stored in verdicts.items():
        verdict = verdict_on(claim, stored)
        if verdict.conditions and (found := verdict.conditions[0].found):
            low, high = sorted(sign * end for end in found.ends)
            effects.append(f"{sign * found.value:+.2f} ({low:+.2f} to {high:+.2f}) on {scale}")
    counts = f"Claims reproduced: {reproduced(paper.claims, verdicts)}."
    if claims is not None and claim.name not in claims:
        return counts
    if effects:
        return f"{change.capitalize()}, and BLEU changes by {'; '.join(effects)}. {counts}"
    untested = [
        one
        for one in paper.claims
        if all(verdict_on(one, stored).status in UNTESTED for stored in verdicts.values())
    ]
    rest = f"{len(untested)} of {len(paper.claims)} were not tested."
    return f"{change.capitalize()}: how BLEU changes was not measured. {counts} {rest}"


def reproduced(claims: Iterable[Claim], verdicts: Verdicts) -> str:
    """Say how many claims are reproduced, of those that could be tested, by scale."""
    claims, counts = list(claims), []
    for scale, stored in verdicts.items():
        statuses: list[Status] = [verdict_on(claim, stored).status for claim in claims]
        tested = [status for status in statuses if status not in UNTESTED]
        if tested:
            counts.append(f"{tested.count('reproduced')} of {len(tested)} on {scale}")
    return ", ".join(counts) or "none was tested"


def cited(claim: str) -> tuple[str, Paper]:
    """Return how the paper of a claim is cited, and the paper."""
    (paper,) = (p for p in map(load_paper, PAPERS) if claims_of(claim)[0] in p.claims)
    return f"{paper.title.partition(',')[0]} et al. {paper.title[-4:]}", paper
