"""The claims of the paper, each with its test and the reason for its margin."""

from repro.claims.bins import equal_parts, last_minus_first
from repro.claims.conditions import Check, Claim, Contrast, better, loss, not_worse
from repro.claims.evidence import Evidence
from repro.claims.settings import Setting
from repro.papers.cui2019.experiments import BASE, MMA, MMA_NO_PE, NO_PE, TYPES, WINDOWS
from repro.records.sentences import SOURCE_WORDS
from repro.statistics.intervals import Estimate


def _extra_parameters(evidence: Evidence) -> int:
    """Return the parameters that MMA has more than base (Cui et al. 2019)."""
    counts = [evidence.scores(setting)["training"]["parameters"] for setting in (MMA, BASE)]
    return counts[0] - counts[1]


def _length_gain(evidence: Evidence) -> Estimate:
    """Return the gain of MMA over base on long sources minus short (Cui et al. 2019)."""
    lengths = evidence.lengths(BASE, SOURCE_WORDS)
    return evidence.trend(
        [(1, MMA), (-1, BASE)], SOURCE_WORDS, equal_parts(lengths, 3), last_minus_first
    )


CLAIMS = (
    Claim(
        "M-01",
        "MMA beats the baseline",
        "+0.81, +0.92, +0.95",
        (better(MMA, BASE),),
        place="Tables 1 and 2",
        fixed="2026-11-21",
        seeds=5,
    ),
    Claim(
        "M-02",
        "MMA has no more parameters than the baseline",
        "+0",
        (
            Check(
                "parameters of mma minus those of base",
                _extra_parameters,
                (MMA, BASE),
                at_least=0,
                at_most=0,
            ),
        ),
        place="Table 1",
        fixed="2026-11-21",
    ),
    Claim(
        "M-03",
        "MMA carries the order of words without encoder positions, the baseline does not",
        "losses 17.91 and 0.75",
        (loss(BASE, NO_PE, at_least=5.0), loss(MMA, MMA_NO_PE, at_most=2.0)),
        place="Table 3",
        fixed="2026-11-21",
    ),
    Claim(
        "M-04",
        "no added type of head hurts, and all together are no worse than any one of them",
        "+0.59, +0.37, +0.67, +0.95",
        (
            *(not_worse(setting, BASE, 0.2) for setting in TYPES),
            *(not_worse(MMA, setting, 0.2) for setting in TYPES),
        ),
        place="Table 4",
        fixed="2026-11-21",
    ),
    Claim(
        "M-05",
        "no window hurts, and the smallest is no worse than the largest",
        "35.41, 35.31, 35.35, 35.22 for windows of 1 to 4; 34.46 without",
        (
            *(not_worse(setting, BASE, 0.2) for setting in WINDOWS),
            Contrast(((1, MMA), (-1, Setting("mma-w4"))), at_least=-0.2),
        ),
        place="Table 5",
        fixed="2026-11-21",
    ),
    Claim(
        "M-06",
        "the gain of MMA grows with the length of the source",
        "said in section 5.2, on Figure 2",
        (
            Check(
                "gain on the longest third of the sources minus gain on the shortest",
                _length_gain,
                (BASE, MMA),
                at_least=0,
            ),
        ),
        place="Figure 2",
        fixed="2026-11-21",
    ),
)
