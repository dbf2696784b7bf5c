"""Greedy and beam search for the best translation, with cached keys and values."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Literal, NamedTuple

import torch
from msgspec import Meta
from torch import Tensor
from tqdm import tqdm

from repro.core.batches import MAX_SENTENCE, cut_by_tokens, mark_source, pad
from repro.core.settings import READERS, USUAL_ALPHA, Checked
from repro.core.subwords import BOS_ID, EOS_ID, PAD_ID, UNK_ID, Subwords
from repro.core.transformer import Transformer
from repro.errors import InputError, check_kind, shortened, texts_in

MAX_TOKENS = 100_000  # no translation is longer, whatever its source
# a larger beam would take all memory
Beam = Annotated[int, Meta(ge=1, le=1_000, description="use the usual 5, or 1 for greedy search")]
NEVER_GENERATED = [PAD_ID, UNK_ID, BOS_ID]


@dataclass(frozen=True)
class SearchConfig(Checked):
    """How to search.

    A hypothesis of `length` tokens, end mark included, is ranked by log-probability /
    penalty(length). `penalty="wu"` is ((5 + length) / 6)^alpha (Wu et al. 2016, equation 14; used
    by You et al.). `penalty="length"` is length^alpha, the other form in the code of Zeng et al.:
    with alpha 1, hypotheses are ranked by their mean log-probability.
    """

    part = "search"
    beam: Beam = 5
    alpha: Annotated[float, Meta(ge=0, lt=100, description="use about 1, or 0 for no penalty")] = (
        USUAL_ALPHA
    )
    penalty: Literal["wu", "length"] = "length"
    # a translation has at most this many tokens more than its source
    extra_tokens: Annotated[int, Meta(ge=0, description="use the usual 50")] = 50
    batch_size: Annotated[int, Meta(ge=1, description="use the usual 64")] = 64

    def conditions(self, usual: "SearchConfig") -> list[str]:
        """Return what differs from the usual search, as `name=value`."""
        return [
            f"{part.name}={value}"
            for part in fields(self)
            if (value := getattr(self, part.name)) != getattr(usual, part.name)
        ]

    def rank(self, log_prob: Tensor, length: int) -> Tensor:
        """Return the rank scores of hypotheses of that length."""
        return log_prob / (((5 + length) / 6) if self.penalty == "wu" else length) ** self.alpha


class Hypothesis(NamedTuple):
    """A finished translation: ids without marks, rank score, whether the length limit cut it."""

    ids: list[int]
    score: float
    cut: bool


@torch.inference_mode()
def beam_search(model: Transformer, src: Tensor, search: SearchConfig) -> list[Hypothesis]:
    """Translate a batch of padded source ids `(batch, src_len)`.

    Each step extends the `beam` best prefixes of every sentence by every token. A prefix that ends
    ranks as a finished hypothesis if the end mark is among its own `beam` best tokens.

    A sentence is done when `beam` of its best extensions so far were ends and no living prefix
    outranks its best hypothesis. It is also done at its length limit, where every prefix is ended.
    Done sentences leave the batch. With a beam of one this is greedy search.
    """
    beam, device = search.beam, src.device
    limits = ((src != PAD_ID).sum(dim=1) + search.extra_tokens).clamp_max(
        model.max_len(*READERS["target"]) or MAX_TOKENS
    )
    best = [Hypothesis([], float("-inf"), False) for _ in src]
    best_rank = torch.full((len(src),), float("-inf"), device=device)
    alive = torch.arange(len(src), device=device)  # which sentence each block of rows belongs to
    ended = torch.zeros(len(src), dtype=torch.long, device=device)
    state = model.start(src)
    prefixes = torch.full((len(src) * beam, 1), BOS_ID, device=device)
    scores = torch.full((len(src), beam), float("-inf"), device=device)
    scores[:, 0] = 0.0  # the rows of a sentence start equal: let only one of them branch
    length = 0
    while len(alive):
        length += 1
        hidden, state = model.decode(state, prefixes[:, -1:])
        ends, log_probs, tokens = _candidates(model.output(hidden[:, -1]), beam)
        at_limit = limits[alive] <= length

        wants_end = ends >= log_probs[:, :, :beam].amin(dim=-1)
        may_end = wants_end | at_limit[:, None]
        rank = search.rank(scores + ends, length).masked_fill(~may_end, float("-inf"))
        rank, row = rank.max(dim=1)
        better = rank > best_rank[alive]
        best_rank[alive[better]] = rank[better]
        for block in better.nonzero()[:, 0].tolist():
            ids = prefixes[block * beam + row[block], 1:].tolist()
            best[alive[block]] = Hypothesis(
                ids, float(rank[block]), not wants_end[block, row[block]]
            )

        total = scores[:, :, None] + log_probs  # (alive, beam, candidates)
        ended += (tokens.flatten(1).gather(1, total.flatten(1).topk(beam).indices) == EOS_ID).sum(
            dim=1
        )
        # (alive, beam)
        scores, choice = total.masked_fill(tokens == EOS_ID, float("-inf")).flatten(1).topk(beam)
        outranked = search.rank(scores[:, 0], length) <= best_rank[alive]
        # the end of a sentence's search: its limit, or enough ends and nothing better alive
        kept = _close_gaps(~at_limit & ((ended < beam) | ~outranked))
        origin, token = choice // total.shape[-1], tokens.flatten(1).gather(1, choice)
        order = _keep_places(origin)
        scores, origin, token = (part.gather(1, order)[kept] for part in (scores, origin, token))
        rows = (origin + kept[:, None] * beam).flatten()
        prefixes = torch.cat([prefixes[rows], token.view(-1, 1)], dim=1)
        state = state.select(rows, kept)
        alive, ended = alive[kept], ended[kept]
    return best


def _close_gaps(going: Tensor) -> Tensor:
    """Return the unfinished sentences; the last ones move into the places of finished ones."""
    count = int(going.sum())
    kept = torch.arange(count, device=going.device)
    kept[~going[:count]] = going[count:].nonzero()[:, 0] + count
    return kept


def _keep_places(origin: Tensor) -> Tensor:
    """Return an order of new prefixes in which each row that is continued keeps one in its place.

    Args:
        origin: the row of its sentence that each prefix continues, `(sentences, beam)`.
    """
    same = origin[:, :, None] == origin[:, None, :]
    # The first prefix that continues a row keeps its place; the others take those of dropped rows.
    is_first = ~same.tril(-1).any(dim=-1)
    lives = torch.zeros_like(origin).scatter_(1, origin, 1)
    # of dropped rows, then of continued ones, both from first to last
    places = lives.argsort(dim=1, stable=True)
    # the others, then the first of each continued row
    prefixes = torch.where(is_first, origin, -1).argsort(dim=1, stable=True)
    return torch.empty_like(origin).scatter_(1, places, prefixes)


def _candidates(logits: Tensor, beam: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the end mark and the best next tokens of each prefix, with their log-probabilities.

    Only the few best tokens of a row can be among the best of its sentence.

    Args:
        logits: of the next token, `(sentences * beam, vocab)`.
        beam: rows of a sentence.

    Returns:
        The log-probability of the end mark `(sentences, beam)`; those of the best tokens, highest
        first, and the tokens, both `(sentences, beam, beam + 1)`: one more than the beam, because
        one of them may be the end mark.
    """
    logits = logits.float()
    logits[:, NEVER_GENERATED] = float("-inf")
    log_probs = logits.log_softmax(dim=-1)
    best, tokens = _best_tokens(log_probs, min(beam + 1, logits.shape[-1]))
    return (
        log_probs[:, EOS_ID].view(-1, beam),
        best.unflatten(0, (-1, beam)),
        tokens.unflatten(0, (-1, beam)),
    )


def _best_tokens(log_probs: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return the highest log-probabilities of each row, in order, and their tokens.

    This is `topk`, made faster: the best tokens are in the blocks with the best maxima, and maxima
    are several times cheaper than a selection among all tokens.
    """
    vocab, width = log_probs.shape[-1], 64
    num_blocks = vocab // width
    if num_blocks <= count:
        return log_probs.topk(count, dim=-1)
    peaks = log_probs[:, : num_blocks * width].unflatten(1, (num_blocks, width)).amax(dim=-1)
    chosen = peaks.topk(count, dim=-1).indices[:, :, None] * width + torch.arange(
        width, device=log_probs.device
    )
    # after the last whole block
    rest = torch.arange(num_blocks * width, vocab, device=log_probs.device).expand(
        len(log_probs), -1
    )
    tokens = torch.cat([chosen.flatten(1), rest], dim=1)
    best, places = log_probs.gather(1, tokens).topk(count, dim=-1)
    return best, tokens.gather(1, places)


class Translator:
    """A trained model with its subwords: sentences in, sentences out.

    Args:
        model: put into evaluation mode.
        subwords: the model's own.
        prepare: reads typed text as the lines of the training corpus were read.
        between_batches: called before each batch of a search, for example to stop when asked.
        usual: the search options where none are given.
    """

    def __init__(
        self,
        model: Transformer,
        subwords: Subwords,
        prepare: Callable[[list[str]], list[str]] = list,
        between_batches: Callable[[], None] = lambda: None,
        usual: SearchConfig = SearchConfig(),
    ) -> None:
        self.model, self.subwords, self.usual = model.eval(), subwords, usual
        self.prepare, self.between_batches = prepare, between_batches

    def with_model(self, model: Transformer) -> "Translator":
        """Return a translator with another model that has the same subwords."""
        return Translator(model, self.subwords, self.prepare, self.between_batches, self.usual)

    def translate(
        self, sentences: Iterable[str], search: SearchConfig | None = None, quiet: bool = True
    ) -> list[str]:
        """Translate sentences; an empty or blank one stays empty. The order is kept.

        Raises:
            InputError: not texts, a sentence is longer than the model's attention is defined for,
                or `search` is something else.
        """
        return self.texts(self.search(sentences, search, quiet))

    def texts(self, hypotheses: Sequence[Hypothesis]) -> list[str]:
        """Return the sentence of each hypothesis."""
        return self.subwords.decode([hypothesis.ids for hypothesis in hypotheses])

    def encode(self, sentences: list[str]) -> list[list[int]]:
        """Return the ids of each sentence as the model reads it, with its end mark if any."""
        ids = self.subwords.encode(self.prepare(sentences))
        return [mark_source(row, self.model.config.source_end_mark) for row in ids]

    def check_tokens(self, count: int, where: str) -> None:
        """Refuse a sentence of too many tokens, naming its place.

        Raises:
            InputError: the model's attention is not defined for it, or it would take all memory.
        """
        defined = self.model.max_len(*READERS["source"])
        if defined is not None and count > defined:
            what = f"has {count} tokens, but this model's attention is defined for {defined}"
            raise InputError(where, what, "split the sentence")
        if count > MAX_SENTENCE:
            what = f"has {count:,} tokens, and attention takes memory with their square"
            what += f": the limit is {MAX_SENTENCE:,}"
            raise InputError(where, what, "split the sentence")

    def search(
        self, sentences: Iterable[str], search: SearchConfig | None = None, quiet: bool = True
    ) -> list[Hypothesis]:
        """Return what `translate` finds, with scores; an empty hypothesis for an empty sentence.

        Raises:
            InputError: not texts, a sentence is longer than the model's attention is defined for,
                or `search` is something else.
        """
        if search is not None:
            check_kind("search", search, "write it as in repro.SearchConfig(beam=1)", SearchConfig)
        sentences = texts_in("sentences", sentences)
        src = self.encode(sentences)
        for sentence, ids in zip(sentences, src, strict=True):
            self.check_tokens(len(ids), f"the sentence '{shortened(sentence, 44)}'")
        return self.search_ids(src, search or self.usual, quiet)

    def search_ids(
        self, src: list[list[int]], search: SearchConfig, quiet: bool = True
    ) -> list[Hypothesis]:
        """Search translations of encoded sentences, all of them short enough for `check_tokens`."""
        mark = self.model.config.source_end_mark
        has_subwords = [i for i, ids in enumerate(src) if len(ids) > mark]
        by_length = sorted(has_subwords, key=lambda i: len(src[i]))
        device = next(self.model.parameters()).device
        found = [Hypothesis([], 0.0, False)] * len(src)
        # each sentence counts as one token: batches of `batch_size` sentences
        batches = cut_by_tokens(by_length, [1] * len(src), search.batch_size)
        with tqdm(batches, desc="translating", unit="batch", disable=quiet) as bar:
            for indices in bar:
                self.between_batches()
                batch = pad([src[i] for i in indices]).to(device)
                hypotheses = beam_search(self.model, batch, search)
                for index, best in zip(indices, hypotheses, strict=True):
                    found[index] = best
        return found
