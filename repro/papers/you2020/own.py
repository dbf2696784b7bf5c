"""Claims of our own about what the paper compares; the X in a name marks them."""

from functools import partial

from repro.claims.conditions import POSITIVE, Check, Claim
from repro.claims.parts import beyond_likelihood
from repro.claims.settings import Setting
from repro.data.catalogue import GENERATED
from repro.papers.you2020.experiments import BASE, HC_SA
from repro.scales import SCALES, Scales

BASE_BACK, HC_SA_BACK = (Setting(of.system, reverse=True) for of in (BASE, HC_SA))
REAL_TEXT = Scales(
    tuple(name for name, scale in SCALES.items() if scale.data.corpus not in GENERATED),
    lambda scale: scale.data.corpus not in GENERATED,
)


def _beyond(of: Setting, against: Setting) -> Check:
    """Return the condition that a setting gains more BLEU than its likelihood is worth."""
    return Check(
        f"BLEU of {of} minus that of {against}, beyond what its likelihood is worth",
        partial(beyond_likelihood, of=of, against=against),
        (of, against),
        at_least=POSITIVE,
    )


OWN = (
    Claim(
        "Y-X1",
        "hard-coded self-attention gains BLEU that its likelihood does not account for",
        "not in the paper, which has no likelihoods",
        (_beyond(HC_SA, BASE), _beyond(HC_SA_BACK, BASE_BACK)),
        scales=REAL_TEXT,
        elsewhere="what a nat is worth in BLEU is known of real text alone",
        place="none",
        fixed="2026-11-29",
        why="the difference was seen in dev likelihoods first, so that this says how sure it is",
    ),
)
