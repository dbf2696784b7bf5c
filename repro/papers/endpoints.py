"""Show a difference by both endpoints: BLEU, its parts, and likelihood."""

from collections.abc import Iterable
from typing import NamedTuple

from repro.claims.conditions import Contrast
from repro.claims.endpoints import NATS_PER_BLEU
from repro.claims.evidence import Evidence, NotMeasured
from repro.claims.likelihood import by_likelihood
from repro.claims.parts import beyond_likelihood, brevity_part, precision_part
from repro.claims.settings import Setting
from repro.markdown import table
from repro.papers.tables import explained
from repro.statistics.intervals import Estimate


class Apart(NamedTuple):
    """A difference to a baseline in one direction, taken apart; all but `likelihood` in BLEU."""

    corpus: str
    bleu: Estimate
    brevity: Estimate
    precision: Estimate
    likelihood: Estimate  # nats per token; more is better
    beyond: Estimate


def apart(evidences: Iterable[Evidence], of: Setting, against: Setting) -> list[Apart]:
    """Return the parts of a paper's difference in BLEU, for each direction and scale."""
    found = []
    for evidence in evidences:
        for reverse in (False, True):
            pair = [Setting(s.system, s.overrides, s.part, reverse) for s in (of, against)]
            terms = ((1.0, pair[0]), (-1.0, pair[1]))
            try:
                bleu, beyond = evidence.contrast(terms), beyond_likelihood(evidence, *pair)
            except NotMeasured:
                continue
            likelihood = by_likelihood(Contrast(terms).number, pair, evidence)
            parts = brevity_part(evidence, *pair), precision_part(evidence, *pair)
            if likelihood:
                data = pair[0].config(evidence.scale).data
                corpus = f"{data.corpus} {data.source}-{data.target}"
                found.append(Apart(corpus, bleu, *parts, likelihood, beyond))
    return found


def apart_table(found: Iterable[Apart]) -> str:
    """Return the table of a paper's differences taken apart, a row a direction."""
    header = [
        "direction",
        "seeds",
        "BLEU",
        "of it brevity",
        "of it precision",
        "nats per token (more is better)",
        "worth in BLEU",
        "BLEU beyond that",
    ]
    rows = [
        [
            one.corpus,
            one.bleu.seeds_said(),
            one.bleu.cell(),
            f"{one.brevity.value:+.2f}",
            f"{one.precision.value:+.2f}",
            one.likelihood.cell(),
            f"{one.likelihood.value / NATS_PER_BLEU:+.2f}",
            one.beyond.cell(),
        ]
        for one in found
    ]
    return explained(table(header, rows))


def disagreement(found: Iterable[Apart], name: str, base: str) -> str:
    """Say whether BLEU and likelihood agree on a paper's difference in all directions."""
    found = list(found)
    up = sum(one.bleu.value > 0 for one in found)
    worth = [one.likelihood.value / NATS_PER_BLEU for one in found]
    beyond = [one.beyond.value for one in found]
    sure = sum(one.beyond.counts_seeds and one.beyond.ends[0] > 0 for one in found)
    return (
        f"{name} has more BLEU than {base} in {up} of {len(found)} directions, with likelihoods "
        f"worth {min(worth):+.2f} to {max(worth):+.2f} BLEU. What is beyond that, "
        f"{min(beyond):+.2f} to {max(beyond):+.2f}, is above 0 with its whole interval in {sure}."
    )
