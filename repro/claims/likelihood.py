"""Judge differences in BLEU by likelihood as well, with the same bounds in nats per token.

It is the likelihood of the test references if all records of a condition hold it, else that of dev.
It never changes a verdict, which is BLEU's. It stands beside it: likelihood *agrees*, *disagrees*,
*decides* what BLEU leaves undecided, or leaves it *open*, too.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Protocol

from repro.claims.endpoints import BLEU, LIKELIHOODS, in_nats
from repro.claims.evidence import Evidence, NotMeasured
from repro.claims.outcomes import Bounded, Judged, decide
from repro.claims.settings import Setting
from repro.claims.structure import POSITIVE, bounds_in_words
from repro.statistics.intervals import Estimate, Undefined

Number = Callable[[Evidence], float | Estimate]


class OnNumber(Bounded, Protocol):
    """An inequality about a number of settings."""

    @property
    def settings(self) -> tuple[Setting, ...]: ...

    @property
    def number(self) -> Number: ...


def with_likelihood(condition: OnNumber, judged: Judged, evidence: Evidence) -> Judged:
    """Return a judged condition with the same by likelihood, if it is on a difference in BLEU."""
    if judged.found is None or judged.found.unit != BLEU.unit:
        return judged
    found = by_likelihood(condition.number, condition.settings, evidence)
    if found is None:
        return judged
    least, most = map(_bound, (condition.at_least, condition.at_most))
    words = f"{bounds_in_words(least, most)} {found.unit} per token, {found.over}"
    return replace(judged, likelihood=Judged(words, decide(*found.bounds, least, most), found))


def by_likelihood(
    number: Number, settings: Iterable[Setting], evidence: Evidence
) -> Estimate | None:
    """Return the evidence by likelihood on a difference in score, in nats per token.

    There is none if its systems have other subwords, which cut references into other tokens, or
    where the number is of single sentences and records hold no likelihood of them.
    """
    if len({setting.config(evidence.scale).data for setting in settings}) != 1:
        return None
    for endpoint in LIKELIHOODS:
        try:
            found = number(evidence.by(endpoint))
        except (NotMeasured, Undefined):
            continue
        if isinstance(found, Estimate) and found.unit == endpoint.unit:
            return found
    return None


def _bound(of_bleu: float | None) -> float | None:
    """Return the bound of a condition in BLEU as it applies to likelihood."""
    return POSITIVE if of_bleu == POSITIVE else in_nats(of_bleu)
