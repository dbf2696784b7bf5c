"""Take a difference in BLEU apart: brevity, precision, and what likelihood does not account for.

BLEU is a brevity penalty times the precision of n-grams, so its logarithm is a sum of two parts. A
difference is the difference of logarithms times the logarithmic mean of both scores. Times the same
mean, the difference of log brevity penalties is the part of brevity. The rest is that of precision.

A model that knows the text better has a better likelihood, too. BLEU beyond what the likelihood is
worth comes from elsewhere: from search, from length, or from what a model makes of its own output.
"""

import math
from collections.abc import Callable

from repro.claims.endpoints import (
    DEV_LIKELIHOOD,
    TEST_LIKELIHOOD,
    Endpoint,
    beyond,
    brevity_in,
    precision_in,
)
from repro.claims.evidence import Evidence, NotMeasured
from repro.claims.settings import Setting
from repro.statistics.intervals import Estimate, Undefined


def brevity_part(evidence: Evidence, of: Setting, against: Setting) -> Estimate:
    """Return how much of BLEU of one setting minus another is brevity, in BLEU.

    Raises:
        NotMeasured: one has no scores.
        Undefined: a score of 0 has no logarithm.
    """
    return _part(evidence, of, against, brevity_in)


def precision_part(evidence: Evidence, of: Setting, against: Setting) -> Estimate:
    """Return how much of BLEU of one setting minus another is precision; see `brevity_part`."""
    return _part(evidence, of, against, precision_in)


def beyond_likelihood(evidence: Evidence, of: Setting, against: Setting) -> Estimate:
    """Return BLEU of one setting minus another, less what its likelihood is worth, in BLEU.

    The likelihood is that of the test references if all records hold it, else that of dev.

    Raises:
        NotMeasured: one has no scores.
    """
    terms = [(1.0, of), (-1.0, against)]
    try:
        return evidence.by(beyond(TEST_LIKELIHOOD)).contrast(terms)
    except NotMeasured:
        return evidence.by(beyond(DEV_LIKELIHOOD)).contrast(terms)


def _part(
    evidence: Evidence, of: Setting, against: Setting, part: Callable[[float], Endpoint]
) -> Estimate:
    """Return a part of the difference in BLEU of two settings, such as brevity."""
    scores = [evidence.contrast([(1.0, setting)]).value for setting in (of, against)]
    if min(scores) <= 0:
        raise Undefined("a BLEU of 0 has no parts")
    return evidence.by(part(logarithmic_mean(*scores))).contrast([(1.0, of), (-1.0, against)])


def logarithmic_mean(first: float, second: float) -> float:
    """Return the logarithmic mean of two scores: it makes the parts of their difference add up."""
    if math.isclose(first, second):
        return (first + second) / 2
    return (first - second) / math.log(first / second)
