"""Batches of pairs of similar length, in an order that depends only on seed and epoch."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from repro.core.subwords import BOS_ID, EOS_ID, PAD_ID

# Tokens, several times the longest sentence of any corpus here. A book on one line would fill the
# memory.
MAX_SENTENCE = 2_000


@dataclass(frozen=True)
class Batch:
    """Padded ids of some pairs, `(batch, len)` each, and where the pairs came from."""

    src: Tensor
    tgt_in: Tensor  # start mark, then the target
    tgt_out: Tensor  # the target, then the end mark: what tgt_in is to predict
    indices: list[int]

    @property
    def num_target_tokens(self) -> int:
        """The number of real tokens to predict, end marks included."""
        return int((self.tgt_out != PAD_ID).sum())

    def to(self, device: torch.device) -> "Batch":
        """Return the batch on a device."""
        src, tgt_in, tgt_out = (ids.to(device) for ids in (self.src, self.tgt_in, self.tgt_out))
        return Batch(src, tgt_in, tgt_out, self.indices)


class EncodedPairs:
    """The pairs of a split as ids.

    Args:
        src: ids per source sentence; the end mark is added here if `source_end_mark`.
        tgt: ids per target sentence, without marks.
        source_end_mark: whether the encoder sees an end mark.
    """

    def __init__(
        self, src: Sequence[list[int]], tgt: Sequence[list[int]], source_end_mark: bool
    ) -> None:
        self.src = [mark_source(ids, source_end_mark) for ids in src]
        self.tgt = list(tgt)
        self._source_marks = len(self.src) if source_end_mark else 0
        pairs = zip(self.src, self.tgt, strict=True)
        self.lengths = np.array([max(len(s), len(t) + 1) for s, t in pairs])

    def __len__(self) -> int:
        return len(self.src)

    def num_tokens(self) -> dict[str, int]:
        """Return the number of tokens of each side, without marks."""
        return {
            "source_tokens": sum(map(len, self.src)) - self._source_marks,
            "target_tokens": sum(map(len, self.tgt)),
        }

    def batch(self, indices: Sequence[int]) -> Batch:
        """Put the pairs at `indices` into one padded batch."""
        return Batch(
            pad([self.src[i] for i in indices]),
            pad([[BOS_ID, *self.tgt[i]] for i in indices]),
            pad([[*self.tgt[i], EOS_ID] for i in indices]),
            list(indices),
        )

    def epoch(self, batch_tokens: int, seed: int, epoch: int) -> list[list[int]]:
        """Return the index lists of all batches of one epoch, shuffled.

        A batch holds as many pairs as fit into `batch_tokens` when each counts as long as the
        longest side of the longest pair. The order depends on nothing but the arguments, so a run
        resumes by counting.
        """
        random = np.random.default_rng([seed, epoch])
        shuffled = random.permutation(len(self))
        by_length = shuffled[np.argsort(self.lengths[shuffled], kind="stable")]
        batches = cut_by_tokens(by_length.tolist(), self.lengths, batch_tokens)
        return [batches[i] for i in random.permutation(len(batches))]


def mark_source(ids: list[int], end_mark: bool) -> list[int]:
    """Add the end mark to source ids if wanted."""
    return [*ids, EOS_ID] if end_mark else list(ids)


def cut_by_tokens(
    ordered: Sequence[int], lengths: Sequence[int] | np.ndarray, batch_tokens: int
) -> list[list[int]]:
    """Cut indices, by rising length, into batches whose padded size is within `batch_tokens`."""
    batches: list[list[int]] = []
    for index in ordered:
        if not batches or (len(batches[-1]) + 1) * lengths[index] > batch_tokens:
            batches.append([])
        batches[-1].append(index)
    return batches


def pad(rows: Sequence[list[int]]) -> Tensor:
    """Pad rows of ids on the right to one length: `(batch, max_len)`."""
    width = max(1, *map(len, rows))  # rows may be empty, and attention needs a key
    return torch.tensor([row + [PAD_ID] * (width - len(row)) for row in rows], dtype=torch.long)
