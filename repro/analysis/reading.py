"""Read one sentence with a trained model: tokens, attention weights, probability of each word."""

import difflib
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from repro import stops
from repro.core.batches import pad
from repro.core.decoding import SearchConfig, Translator, beam_search
from repro.core.subwords import BOS_ID, Subwords
from repro.errors import InputError, check_kind, texts_in

START_MARK, END_MARK = "(start)", "(end)"


class Word(NamedTuple):
    """A word of a translation and its probability, given the source and all words before it.

    It is the product of the probabilities of its subwords.
    """

    text: str
    probability: float


class Reading(NamedTuple):
    """A sentence and its translation.

    `source` holds the tokens that the encoder reads. `target` holds those that the decoder reads,
    with the start mark first: target token t is the query that predicts token t + 1. `src` and
    `tgt_in` are their ids, `(1, len)`. `unknown` counts the characters of the sentence that the
    model has never seen.
    """

    source: list[str]
    target: list[str]
    words: list[Word]
    src: Tensor
    tgt_in: Tensor
    unknown: Counter[str]

    @property
    def translation(self) -> str:
        """The words, joined by blanks."""
        return " ".join(word.text for word in self.words)


@torch.no_grad()
def read(translator: Translator, sentence: str, search: SearchConfig | None = None) -> Reading:
    """Translate one sentence and return the probability of each word of the translation.

    Args:
        translator: a trained model.
        sentence: one line of text, prepared in the same way as the corpus.
        search: options of the search.

    Raises:
        InputError: an empty sentence, one longer than the model's attention allows, or a value
            that is not a text.
    """
    check_kind("sentence", sentence, "give one sentence, as in read(translator, 'a dog')", str)
    model, subwords = translator.model, translator.subwords
    device = next(model.parameters()).device
    (sentence,) = translator.prepare(texts_in("sentence", [sentence]))
    pieces = subwords.pieces(sentence)
    if not pieces:
        raise InputError("sentence", "is empty", "type some words")
    (ids,) = translator.encode([sentence])
    translator.check_tokens(len(ids), "sentence")
    src = pad([ids]).to(device)
    (found,) = beam_search(model, src, search or SearchConfig())
    tgt_in = pad([[BOS_ID, *found.ids]]).to(device)
    log_probs = model(src, tgt_in)[0, : len(found.ids)].log_softmax(dim=-1)
    chosen = log_probs.gather(-1, tgt_in[0, 1:, None])[:, 0].exp().tolist()
    source = [*pieces, *[END_MARK] * (len(ids) - len(pieces))]
    target = [START_MARK, *_subword_texts(subwords, found.ids)]
    words, unknown = (
        _join_subwords(subwords, found.ids, chosen),
        subwords.unknown_characters([sentence]),
    )
    return Reading(source, target, words, src, tgt_in, unknown)


def changed_words(before: Sequence[str], after: Sequence[str]) -> list[bool]:
    """Mark the words of `after` that have no match, in the same order, in `before`."""
    changed = [True] * len(after)
    for block in difflib.SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks():
        changed[block.b : block.b + block.size] = [False] * block.size
    return changed


def _subword_texts(subwords: Subwords, ids: list[int]) -> list[str]:
    """Return each subword as text; `▁` marks the start of a word."""
    starts = subwords.starts_word()
    texts = subwords.decode([[i] for i in ids])
    return [("▁" if starts[i] else "") + text for i, text in zip(ids, texts, strict=True)]


def _join_subwords(subwords: Subwords, ids: list[int], probabilities: list[float]) -> list[Word]:
    """Join subwords into words, as `Subwords.decode` does; a translation may be empty."""
    starts = subwords.starts_word()
    first = [place for place, i in enumerate(ids) if starts[i] or place == 0]
    words = []
    for start, end in itertools.pairwise([*first, len(ids)]):
        (text,) = subwords.decode([ids[start:end]])
        words.append(Word(text.strip(), float(torch.tensor(probabilities[start:end]).prod())))
    return [word for word in words if word.text]


def require_batches(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the batches whose attention is averaged, and refuse none at all.

    Raises:
        InputError: there was no batch.
        Stopped: a stop was requested.
    """
    is_read = False
    for batch in batches:
        stops.raise_if_stopping()
        is_read = True
        yield batch
    if not is_read:
        raise InputError("batches", "there is nothing to read", "give at least one batch")
