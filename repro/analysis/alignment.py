r"""Score cross attention as a word aligner, head by head, against gold alignments.

- Och, Ney: A Systematic Comparison of Various Statistical Alignment Models, CL 2003: the error
  rate. https://aclanthology.org/J03-1002
- Kobayashi, Kuribayashi, Yokoi, Inui: Attention is Not Only a Weight, EMNLP 2020, section 5: which
  query stands for a target word. https://arxiv.org/abs/2004.10102

    A = {(s, t): s the most attended source word of target word t}
    AER = 1 - (|A & sure| + |A & possible|) / (|A| + |sure|)
    met = share of target words with a gold link whose most attended word is linked to them

Choices where the sources are silent:

1. A target word is queried where its pieces are predicted (`predicting`), or one step later, where
   they are read (`reading`); both are measured.
2. Weights are added over the pieces of a source word and averaged over those of a target word, as
   for syntax. The end mark belongs to no word. A row of zeros points nowhere and gives no link.
3. Of several equal weights, the first counts. Each target word gives at most one link, so words
   with several gold links, or none, bound the error rate from below.
4. The mean of a layer is over its heads, and the mean of all over the layers that have any.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from repro import stops
from repro.analysis.syntax import has_same_words, merge_subwords
from repro.analysis.weights import collect_weights
from repro.core.batches import EncodedPairs
from repro.core.subwords import Subwords
from repro.core.transformer import Transformer
from repro.data.alignments import AlignedPair

QUERIES = ("predicting", "reading")
MEAN = -1  # in place of the index of a layer or head
BATCH = 32  # sentences


class LinkCounts(NamedTuple):
    """What the links of one sentence, query, layer and head meet.

    Args:
        sentence: its index.
        query: one of `QUERIES`.
        layer, head: indices from 0; `MEAN` is the mean over all.
        links: number of links, |A|.
        sure, possible: how many of them are in the gold; each target word has at most one link, so
            `possible` is also the number of words that meet a gold link.
    """

    sentence: int
    query: str
    layer: int
    head: int
    links: int
    sure: int
    possible: int


def align_with_heads(
    model: Transformer, subwords: Subwords, pairs: Sequence[AlignedPair]
) -> Iterator[LinkCounts]:
    """Yield the counts of every cross-attention head and mean on every sentence pair.

    A pair whose words the subwords do not keep apart by blanks is left out.

    Args:
        model: in evaluation mode.
        subwords: those of the model.
        pairs: with gold links.
    """
    kept = [
        number
        for number, pair in enumerate(pairs)
        if has_same_words(subwords, pair.source) and has_same_words(subwords, pair.target)
    ]
    encoded = EncodedPairs(
        subwords.encode([pairs[number].source for number in kept]),
        subwords.encode([pairs[number].target for number in kept]),
        model.config.source_end_mark,
    )
    device = model.source_embedding.weight.device
    for start in range(0, len(kept), BATCH):
        stops.raise_if_stopping()
        numbers = kept[start : start + BATCH]
        batch = encoded.batch(range(start, start + len(numbers))).to(device)
        layers = collect_weights(model, batch.src, batch.tgt_in).cross
        for row, number in enumerate(numbers):
            of_sentence = [
                None if layer is None else layer.double().expand(len(numbers), -1, -1, -1)[row]
                for layer in layers
            ]
            yield from _count_sentence(number, of_sentence, subwords, pairs[number])


def _count_sentence(
    number: int, layers: Sequence[Tensor | None], subwords: Subwords, pair: AlignedPair
) -> Iterator[LinkCounts]:
    """Yield the links that each cross-attention head gives between the words of a sentence."""
    sources, targets = (subwords.word_indices(text) for text in (pair.source, pair.target))
    for step, query in enumerate(QUERIES):
        means = []
        for layer, weights in enumerate(layers):
            if weights is None:
                continue
            # Position 0 is the start mark: it predicts the first piece, and position 1 reads it.
            rows = weights[:, step : step + len(targets)]
            words = merge_subwords(rows, targets, sources)  # (num_heads, num_targets, num_sources)
            means.append(words.mean(dim=0))
            for head, of_head in enumerate(words):
                yield LinkCounts(number, query, layer, head, *count_links(of_head, pair))
            yield LinkCounts(number, query, layer, MEAN, *count_links(means[-1], pair))
        if means:
            mean = torch.stack(means).mean(dim=0)
            yield LinkCounts(number, query, MEAN, MEAN, *count_links(mean, pair))


def count_links(weights: Tensor, pair: AlignedPair) -> tuple[int, int, int]:
    """Return how many links weights `(num_targets, num_sources)` give: all, sure, possible ones."""
    largest, strongest = weights.max(dim=-1)
    pointing = enumerate(zip(strongest.tolist(), largest.tolist(), strict=True))
    return _in_gold({(source, target) for target, (source, weight) in pointing if weight > 0}, pair)


def count_diagonal(pair: AlignedPair) -> tuple[int, int, int]:
    """Count the links, as `count_links` does, of an aligner that follows the diagonal."""
    num_sources, num_targets = len(pair.source.split()), len(pair.target.split())
    return _in_gold({(t * num_sources // num_targets, t) for t in range(num_targets)}, pair)


def _in_gold(links: set[tuple[int, int]], pair: AlignedPair) -> tuple[int, int, int]:
    """Count the links of a head: all, and those in the sure and the possible gold links."""
    return len(links), len(links & pair.sure), len(links & pair.possible)


def error_rate(links: int, sure: int, possible: int, gold_sure: int) -> float:
    """Return the alignment error rate of a head from its links; `gold_sure` are sure in gold."""
    return 1 - (sure + possible) / (links + gold_sure)
