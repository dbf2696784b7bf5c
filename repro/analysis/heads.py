r"""Measure what the heads of a model do over a corpus: direction, confidence, entropy, divergence.

- Voita et al.: Analyzing Multi-Head Self-Attention, ACL 2019, sections 4 (confidence), 5.1
  (positional heads), 5.3 (rare words). https://arxiv.org/abs/1905.09418
- You, Sun, Iyyer: Hard-Coded Gaussian Attention for Neural Machine Translation, ACL 2020, Figure 2
  (distance). https://arxiv.org/abs/2005.00742
- Zeng et al.: Recurrent Attention for Neural Machine Translation, EMNLP 2021, equation 5 and
  Figures 4, 5, 7 (entropy, histogram, divergence of layers).

    confidence = mean_i max_j w[i, j]
    distance = mean_i |argmax_j w[i, j] - i|
    entropy = mean_i -sum_j w[i, j] ln w[i, j]

A head points from a query to the key of its largest weight, or to the first of several equal ones.
`offset` is key minus query position, in tokens. In cross attention too, the query at 0 is the start
mark. The logarithm is natural.

Choices where the papers are silent:

1. The end mark is dropped as key, without renormalising, and as query, wherever a head points.
   Entropy, histogram and divergence keep it.
2. A row that is zero on every key points nowhere. It is a miss in every share, and is left out of
   mean offset and distance, of entropy and divergence. Its largest weight, 0, counts in the
   confidence.
3. Rows that do not sum to one (Gaussian densities, zero rows) are normalized for entropy and
   divergence only. Confidence and histogram take the raw weights.
4. A share at a relative position counts only the queries that have a visible token there.
5. The rarest tokens of a sentence are types, ranked by their count on that side of the training
   data. At equal counts, a higher id is rarer. (Here both languages share one vocabulary, in the
   paper each has its own.) All places of a type count. The start mark occurs in no text and is
   never rare. A subword is a token: a rare word may consist of frequent ones.
6. The divergence of two layers is that of their weights averaged over heads, query by query,
   because heads of different layers have no natural pairs.
7. A token is off-diagonal (`off_diagonal` of `rows.py`) by its weights averaged over all heads and
   layers of the site.
8. The start mark counts as a query of the decoder, also in self-attention, where it can only look
   at itself. So every system has a distance and an entropy of 0 and a weight of 1 per sentence.
9. A row with a weight below zero (a `signed` variant) is left out of entropy and divergence; in the
   histogram such a weight counts in the first bin.
10. A head is a rare-word head if more than half of the queries point to one of the two rarest
   tokens, as in the paper (section 5.3).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from repro.analysis.reading import require_batches
from repro.analysis.rows import (
    entropy,
    is_token,
    jensen_shannon,
    mean_over_heads,
    offsets,
    strongest_keys,
    visible_pairs,
)
from repro.analysis.weights import collect_weights
from repro.core.subwords import BOS_ID
from repro.core.transformer import Transformer
from repro.errors import InputError

RADIUS = 10  # tokens; larger offsets count in the means only
NUM_BINS = 20  # bins of weights, equally wide from 0 to 1; a density above 1 counts in the last
POSITIONAL_SHARE = 0.9  # Voita et al. 2019, section 5.1
RARE_SHARE = 0.5
MOST_FREQUENT = 500  # this many tokens are never rare; section 5.3


@dataclass(frozen=True)
class HeadStatistics:
    """Statistics of the heads of one site.

    Arrays are `(num_layers, num_heads)` unless stated, as wide as the layer with most heads. For
    missing sublayers and heads, means and shares are NaN and counts are 0.

    Args:
        num_queries: number of queries, without end marks; means and shares of pointing are over
            these.
        confidence: mean of the largest weight.
        offset, distance: mean of the signed and of the absolute offset, in tokens.
        offsets: number of queries that point to each offset from -RADIUS to RADIUS, `(num_layers,
            num_heads, 2 * RADIUS + 1)`.
        available: number of queries with a visible token at each offset, `(2 * RADIUS + 1,)`.
        rarest, two_rarest: share of queries that point to the rarest, or to one of the two rarest,
            tokens of their sentence; NaN without token counts, or if no sentence has a rare token.
        rare_queries: number of queries in these two shares.
        entropy: mean, in nats.
        histogram: number of weights in each bin, `(num_layers, num_heads, NUM_BINS)`.
        divergence: mean Jensen-Shannon divergence between layers, in nats, at most ln 2,
            `(num_layers, num_layers)`.
    """

    num_queries: int
    confidence: np.ndarray
    offset: np.ndarray
    distance: np.ndarray
    offsets: np.ndarray
    available: np.ndarray
    rarest: np.ndarray
    two_rarest: np.ndarray
    rare_queries: int
    entropy: np.ndarray
    histogram: np.ndarray
    divergence: np.ndarray

    @property
    def main_offset(self) -> np.ndarray:
        """The most frequent offset within RADIUS, the nearest of equal ones; NaN without any."""
        return np.where(self.offsets.any(axis=-1), self._main_place() - RADIUS, np.nan)

    @property
    def positional(self) -> np.ndarray:
        """Share of queries that point to the main offset, of those with a token there; or NaN."""
        place = self._main_place()
        hits = np.take_along_axis(self.offsets, place[..., None], axis=-1)[..., 0]
        return np.where(hits > 0, _mean_or_nan(hits, self.available[place]), np.nan)

    def _main_place(self) -> np.ndarray:
        """Return the index of the offset to which most queries of each head point."""
        # A head on the first token points to every offset once per sentence. The farthest offsets
        # have no other queries, so its share would be highest there.
        nearest_first = np.array(
            sorted(range(2 * RADIUS + 1), key=lambda place: abs(place - RADIUS))
        )
        return nearest_first[self.offsets[..., nearest_first].argmax(axis=-1)]


class HeadSums:
    """Sums over sentences for `HeadStatistics`, of a size independent of the number of sentences.

    Args:
        site: `encoder_self`, `decoder_self` or `cross`.
        num_heads: of each layer, 0 where the sublayer is missing.
        token_counts: count of each id in the training data, on the side of the keys, `(vocab,)`;
            only the shares of rare words need it.
        most_frequent: this many ids are too frequent to be the rarest token of a sentence.
    """

    def __init__(
        self,
        site: str,
        num_heads: Sequence[int],
        token_counts: Sequence[int] | np.ndarray | None = None,
        most_frequent: int = MOST_FREQUENT,
    ) -> None:
        self.site, self.most_frequent = site, most_frequent
        self.ranks = None if token_counts is None else frequency_ranks(token_counts)
        shape = (len(num_heads), max(num_heads, default=0))
        names = (
            "queries",
            "largest",
            "points",
            "offset",
            "distance",
            "rarest",
            "two_rarest",
            "rows",
            "entropy",
        )
        self.sums = {name: np.zeros(shape) for name in names}
        self.offsets, self.available = np.zeros((*shape, 2 * RADIUS + 1)), np.zeros(2 * RADIUS + 1)
        self.histogram = np.zeros((*shape, NUM_BINS))
        self.divergence, self.compared = (
            np.zeros((shape[0], shape[0])),
            np.zeros((shape[0], shape[0])),
        )
        self.rare_queries = 0

    def update(self, layers: Sequence[Tensor | None], query_ids: Tensor, key_ids: Tensor) -> None:
        """Add a batch of attention weights.

        Args:
            layers: the weights of every layer, `(batch or 1, num_heads, query_len, key_len)`; None
                where the sublayer is missing.
            query_ids, key_ids: the tokens, `(batch, query_len)` and `(batch, key_len)`.
        """
        pairs = visible_pairs(self.site, query_ids, key_ids, end_mark=False)
        visible = visible_pairs(self.site, query_ids, key_ids, end_mark=True)
        rare = None if self.ranks is None else self._rare_tokens(key_ids, pairs)
        distances = offsets(pairs)[pairs]
        self.available += _bin_counts(distances[distances.abs() <= RADIUS] + RADIUS, 2 * RADIUS + 1)
        # A variant that ignores the words returns one matrix for the whole batch.
        present = {
            i: weights.double().expand(len(query_ids), -1, -1, -1)
            for i, weights in enumerate(layers)
            if weights is not None
        }
        for layer, weights in present.items():
            self._add_pointing(layer, weights, pairs, rare)
            self._add_entropy_and_histogram(layer, weights, visible)
        self._add_divergence(
            {layer: mean_over_heads(weights, visible) for layer, weights in present.items()}
        )

    def statistics(self) -> HeadStatistics:
        """Return the statistics of heads over all batches added so far."""
        sums = self.sums
        shares = {
            name: _mean_or_nan(np.where(sums["queries"] > 0, sums[name], np.nan), self.rare_queries)
            for name in ("rarest", "two_rarest")
        }
        return HeadStatistics(
            num_queries=int(sums["queries"].max(initial=0)),
            confidence=_mean_or_nan(sums["largest"], sums["queries"]),
            offset=_mean_or_nan(sums["offset"], sums["points"]),
            distance=_mean_or_nan(sums["distance"], sums["points"]),
            offsets=self.offsets.copy(),
            available=self.available.copy(),
            rare_queries=self.rare_queries,
            entropy=_mean_or_nan(sums["entropy"], sums["rows"]),
            histogram=self.histogram.copy(),
            divergence=_mean_or_nan(self.divergence, self.compared),
            **shares,
        )

    def _add(self, name: str, layer: int, values: Tensor) -> None:
        """Add values `(batch, num_heads, query_len)` to the sums of a layer."""
        self.sums[name][layer, : values.shape[1]] += values.sum(dim=(0, 2)).cpu().numpy()

    def _add_pointing(
        self, layer: int, weights: Tensor, pairs: Tensor, rare: tuple[Tensor, Tensor, Tensor] | None
    ) -> None:
        """Add where the heads of a layer point: offsets, distances, rare tokens."""
        keys, largest = strongest_keys(weights, pairs)  # (batch, num_heads, query_len)
        points = largest > 0
        moves = (keys - torch.arange(keys.shape[2], device=keys.device)).where(points, 0)
        self._add("queries", layer, pairs.any(dim=2)[:, None].expand_as(keys))
        self._add("largest", layer, largest)
        self._add("points", layer, points)
        self._add("offset", layer, moves)
        self._add("distance", layer, moves.abs())
        for head in range(keys.shape[1]):
            near = moves[:, head][points[:, head] & (moves[:, head].abs() <= RADIUS)]
            self.offsets[layer, head] += _bin_counts(near + RADIUS, 2 * RADIUS + 1)
        if rare is not None:
            rarest, two_rarest, queries = rare
            for name, tokens in (("rarest", rarest), ("two_rarest", two_rarest)):
                hits = tokens[:, None].expand(-1, keys.shape[1], -1).gather(2, keys)
                self._add(name, layer, hits & points & queries[:, None])

    def _rare_tokens(self, key_ids: Tensor, pairs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Find the rare keys of each sentence.

        Returns:
            Which keys are the rarest token, which are one of the two rarest, `(batch, key_len)`,
            and which queries see a rarest token, `(batch, query_len)`.
        """
        assert self.ranks is not None
        ranks = self.ranks.to(key_ids.device)[key_ids].where(is_token(key_ids), -1)
        highest = ranks.amax(dim=1, keepdim=True)
        second = ranks.where(ranks < highest, -1).amax(dim=1, keepdim=True).clamp_min(0)
        rarest = (ranks == highest) & (highest >= self.most_frequent)
        queries = (pairs & rarest[:, None]).any(dim=2)
        self.rare_queries += int(queries.sum())
        return rarest, ranks >= second, queries

    def _add_entropy_and_histogram(self, layer: int, weights: Tensor, visible: Tensor) -> None:
        """Add the entropies and the histogram of the weights of a layer."""
        entropies = entropy(weights.where(visible[:, None], 0.0))
        self._add("rows", layer, entropies.isfinite())
        self._add("entropy", layer, entropies.nan_to_num())
        bins = (weights * NUM_BINS).long().clamp(0, NUM_BINS - 1)
        for head in range(weights.shape[1]):
            self.histogram[layer, head] += _bin_counts(bins[:, head][visible], NUM_BINS)

    def _add_divergence(self, layers: dict[int, Tensor]) -> None:
        """Add the divergence of every pair of layers."""
        for a, first in layers.items():
            for b, second in layers.items():
                divergences = jensen_shannon(first, second)
                self.compared[a, b] += int(divergences.isfinite().sum())
                self.divergence[a, b] += float(divergences.nansum())


def measure_heads(
    model: Transformer,
    batches: Iterable[tuple[Tensor, Tensor]],
    token_counts: tuple[np.ndarray, np.ndarray] | None = None,
    most_frequent: int = MOST_FREQUENT,
) -> dict[str, HeadStatistics]:
    """Return the statistics of all heads by site, over a corpus read once.

    Args:
        model: in evaluation mode, on the device of the batches.
        batches: source ids `(batch, src_len)` and target ids after the start mark `(batch,
            tgt_len)`.
        token_counts: count of each id in the training data, source and target, `(vocab,)` each;
            for the shares of rare words.
        most_frequent: see `HeadSums`.

    Raises:
        InputError: token counts of another vocabulary, or no batch.
    """
    vocab_size = model.source_embedding.num_embeddings
    for counts in token_counts or ():
        if len(counts) != vocab_size:
            what = f"{len(counts):,} counts for a vocabulary of {vocab_size:,}"
            raise InputError(
                "token_counts", what, "count the training split with the subwords of the model"
            )
    source_counts, target_counts = token_counts or (None, None)
    counts_of_keys = {
        "encoder_self": source_counts,
        "decoder_self": target_counts,
        "cross": source_counts,
    }
    sums = {
        site: HeadSums(site, num_heads, counts_of_keys[site], most_frequent)
        for site, num_heads in model.num_heads().items()
    }
    for src, tgt_in in require_batches(batches):
        ids = {"encoder_self": (src, src), "decoder_self": (tgt_in, tgt_in), "cross": (tgt_in, src)}
        for site, layers in collect_weights(model, src, tgt_in)._asdict().items():
            sums[site].update(layers, *ids[site])
    return {site: site_sums.statistics() for site, site_sums in sums.items()}


def head_roles(
    statistics: HeadStatistics, syntactic: np.ndarray | None = None
) -> list[list[tuple[str, ...]]]:
    """Return the roles of each head by layer: `positional`, `syntactic` and `rare`, or `unknown`.

    Missing heads have no role, ().

    Args:
        statistics: of the site.
        syntactic: bool, `(num_layers, num_heads)`, from `analysis.syntax`; None = not measured.
    """
    syntactic = np.zeros_like(statistics.confidence) if syntactic is None else syntactic
    found = {
        "positional": statistics.positional >= POSITIONAL_SHARE,
        "syntactic": syntactic.astype(bool),
        "rare": statistics.two_rarest > RARE_SHARE,
    }

    def roles_of(layer: int, head: int) -> tuple[str, ...]:
        if np.isnan(statistics.confidence[layer, head]):
            return ()
        return tuple(role for role, holds in found.items() if holds[layer, head]) or ("unknown",)

    num_layers, num_heads = statistics.confidence.shape
    return [[roles_of(layer, head) for head in range(num_heads)] for layer in range(num_layers)]


def frequency_ranks(token_counts: Sequence[int] | np.ndarray) -> Tensor:
    """Return the rank of each token id by count, to find heads of rare ones, `(vocab,)`."""
    order = np.argsort(-np.asarray(token_counts), kind="stable")
    ranks = torch.empty(len(order), dtype=torch.long)
    ranks[torch.from_numpy(order)] = torch.arange(len(order))
    ranks[BOS_ID] = -1
    return ranks


def _bin_counts(values: Tensor, num_values: int) -> np.ndarray:
    """Return how often each value from 0 occurs."""
    return torch.bincount(values, minlength=num_values).cpu().numpy()


def _mean_or_nan(sums: np.ndarray, counts: np.ndarray | int) -> np.ndarray:
    """Return sums divided by counts; NaN where there is nothing."""
    with np.errstate(invalid="ignore"):
        return np.divide(sums, counts)  # 0 / 0, nothing to average, is NaN
