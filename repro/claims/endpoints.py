"""What systems are compared by: BLEU, the likelihood of references, a part of BLEU.

BLEU is what the papers speak of, and it decides their claims. Likelihood is the second endpoint: it
has no search and no smoothing in it, and seeds move it less. On Multi30k the standard deviation
between systems is 2.6 times that of a seed in BLEU, and 7.5 times in dev likelihood. It is taken
per token of the same references, so systems with the same subwords alone can be compared by it.

Margins are stated in BLEU. One conversion, fixed before any claim was judged by likelihood, gives
them in nats: 0.042 nats per token = 0.5 BLEU. This is the slope over the systems of Multi30k,
which is 9 to 14 BLEU a nat. It holds where BLEU is between 30 and 50, not on the generated corpus.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from repro.records.likelihood import reference_sums
from repro.records.schema import kind_of
from repro.records.translations import statistics_of
from repro.statistics.resampling import Score, bleu_of_sums, brevity_of_sums

NATS_PER_BLEU = 0.042 / 0.5
NATS = "nats"
"""The unit of a difference in log-likelihood per token; more is better, as of BLEU."""


@dataclass(frozen=True)
class Endpoint:
    """A score of records that follows from sums over sentences.

    Args:
        unit: of the score.
        over: what a record's statistics are of, for the reader.
        score: of added-up statistics.
        sums: record and masked head -> its statistics, `(num_sentences, num_statistics)`, or None
            where it has none.
        by_sentence: whether they are of single sentences of the test set.
    """

    unit: str
    over: str
    score: Score
    sums: Callable[[dict[str, Any], int], np.ndarray | None]
    by_sentence: bool = True

    def of(self, sums: np.ndarray) -> float:
        """Return the endpoint's score of a text, from the statistics of its sentences."""
        return float(self.score(sums.sum(axis=0)[None])[0])


def _bleu_sums(record: dict[str, Any], mask: int) -> np.ndarray:
    """Return the statistics of BLEU of a setting's record, for the endpoint BLEU."""
    return statistics_of(record, "BLEU", mask)


def _reference_sums(record: dict[str, Any], _mask: int) -> np.ndarray | None:
    """Return nats and tokens of a setting's references, for the endpoint likelihood."""
    return reference_sums(record) if kind_of(record) == "scores" else None


def _dev_sums(record: dict[str, Any], _mask: int) -> np.ndarray | None:
    """Return the best dev loss of a setting as that of a single token, as an endpoint."""
    found = record["training"].get("best_dev_nll") if kind_of(record) == "scores" else None
    return None if found is None else np.array([[found, 1.0]])


def _log_likelihood(sums: np.ndarray) -> np.ndarray:
    """Return an endpoint from rows of nats and tokens: log-likelihood per token, `(num_rows,)`."""
    return -sums[:, 0] / sums[:, 1]


BLEU = Endpoint("BLEU", "test sentences", bleu_of_sums, _bleu_sums)
TEST_LIKELIHOOD = Endpoint(NATS, "test references", _log_likelihood, _reference_sums)
DEV_LIKELIHOOD = Endpoint(NATS, "dev", _log_likelihood, _dev_sums, by_sentence=False)
LIKELIHOODS = (TEST_LIKELIHOOD, DEV_LIKELIHOOD)
"""In the order of preference: the second serves where a record is older than the first."""


def in_nats(bound: float | None) -> float | None:
    """Return the bound of a condition in BLEU as one in nats per token."""
    return None if bound is None else bound * NATS_PER_BLEU


@cache
def brevity_in(level: float) -> Endpoint:
    """Return the endpoint brevity near a level of BLEU: `level` times log brevity penalty.

    BLEU is brevity penalty times precision, so log BLEU is a sum of two parts. A difference of BLEU
    is this sum times the logarithmic mean of both scores, which is the level to give.
    """
    return Endpoint("BLEU", "test sentences", partial(_brevity, level), _bleu_sums)


@cache
def precision_in(level: float) -> Endpoint:
    """Return the endpoint precision: BLEU without what brevity does to it."""
    return Endpoint("BLEU", "test sentences", partial(_precision, level), _bleu_sums)


def _brevity(level: float, sums: np.ndarray) -> np.ndarray:
    """Return the endpoint brevity of rows of statistics of BLEU."""
    return level * np.log(brevity_of_sums(sums))


def _precision(level: float, sums: np.ndarray) -> np.ndarray:
    """Return the endpoint precision of rows of statistics: BLEU less its brevity."""
    return bleu_of_sums(sums) - _brevity(level, sums)


@cache
def beyond(likelihood: Endpoint) -> Endpoint:
    """Return the endpoint BLEU without what a likelihood is worth, at `NATS_PER_BLEU`."""
    sums = partial(_joined_sums, likelihood)
    return Endpoint("BLEU", f"test sentences, likelihood of {likelihood.over}", _beyond, sums)


def _joined_sums(likelihood: Endpoint, record: dict[str, Any], mask: int) -> np.ndarray | None:
    """Return a setting's statistics of BLEU, then those of likelihood, as one endpoint."""
    found, of_bleu = likelihood.sums(record, mask), _bleu_sums(record, mask)
    if found is None:
        return None
    return np.hstack([of_bleu, np.broadcast_to(found, (len(of_bleu), found.shape[1]))])


def _beyond(sums: np.ndarray) -> np.ndarray:
    """Return the endpoint BLEU less what the likelihood in the same rows is worth."""
    return bleu_of_sums(sums[:, :-2]) - _log_likelihood(sums[:, -2:]) / NATS_PER_BLEU
