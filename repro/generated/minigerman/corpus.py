"""Draw distinct sentence pairs of ``minigerman`` with trees and alignments, and disjoint splits."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from random import Random

from repro.errors import InputError
from repro.generated.minigerman import english, german
from repro.generated.minigerman.grammar import sample_sentence
from repro.generated.minigerman.meaning import (
    Clause,
    Sentence,
    Token,
    Word,
    align_words,
    detokenize,
    to_tokens,
)
from repro.generated.splits import DEFAULT_SIZES, MAX_FAILURES

MIN_WORDS, MAX_WORDS = 3, 25


@dataclass(frozen=True)
class Example:
    """A sentence pair with its gold analysis, which is computed on first use.

    Args:
        english, german: the sentences as text, cased, punctuation attached.
        meaning: the meaning of both sentences; ``contrastive`` makes errors with it.
    """

    english: str
    german: str
    meaning: Sentence = field(repr=False, compare=False)

    @cached_property
    def english_tokens(self) -> tuple[Token, ...]:
        """The English words and punctuation marks with the dependency tree."""
        return to_tokens(english.realize(self.meaning))

    @cached_property
    def german_tokens(self) -> tuple[Token, ...]:
        """The German words and punctuation marks with the dependency tree."""
        return to_tokens(german.realize(self.meaning))

    @cached_property
    def alignment(self) -> tuple[tuple[int, int], ...]:
        """Pairs (index into ``english_tokens``, index into ``german_tokens``), ascending.

        Particles and auxiliaries are aligned to the corresponding verb, a preposition of an English
        verb ("look for") to nothing.
        """
        return align_words(english.realize(self.meaning), german.realize(self.meaning))

    @cached_property
    def phenomena(self) -> frozenset[str]:
        """Names of the phenomena in the pair; see ``find_phenomena``."""
        return find_phenomena(self.meaning, german.realize(self.meaning))


def example_of(sentence: Sentence) -> Example:
    """Realize a meaning in both languages."""
    in_english, in_german = (
        detokenize([word.form for word in realize(sentence)])
        for realize in (english.realize, german.realize)
    )
    return Example(in_english, in_german, sentence)


def find_phenomena(sentence: Sentence, words: list[Word]) -> frozenset[str]:
    """Return the names of the phenomena in a German sentence."""
    relations = {word.relation for word in words}
    with_auxiliary = [word.keys[0][0] for word in words if word.relation == "aux"]
    auxiliaries = {node.tense for node in with_auxiliary if isinstance(node, Clause)}
    nodes = {id(node): node for word in words for node, _ in word.keys}.values()
    clauses = [node for node in nodes if isinstance(node, Clause)]
    found = {
        "inversion": bool(sentence.clause.front),
        "question": sentence.clause.is_question,
        "verb_final": bool(relations & {"mark", "relcl"}),
        "relative_clause": "relcl" in relations,
        "separable_verb": any(node.verb.is_separable for node in clauses),
        "separated_particle": "prt" in relations,
        "perfect": "perfect" in auxiliaries,
        "modal": "modal" in auxiliaries,
        "nicht": "neg" in relations,
        "kein": any(
            word.relation == "det" and word.form.lower().startswith("kein") for word in words
        ),
        "dative": "iobj" in relations,
        "coordination": "cc" in relations,
        "compound": any(getattr(getattr(node, "noun", None), "german_parts", ()) for node in nodes),
        "ambiguous_noun": sentence.ambiguous is not None,
    }
    return frozenset(name for name, occurs in found.items() if occurs)


def draw_examples(seed: int | str, exclude: Iterable[Example] = ()) -> Iterator[Example]:
    """Yield an unlimited number of pairs, without repeated sentences or sentences of ``exclude``.

    Raises:
        InputError: no new sentence is found.
    """
    rng = Random(seed)
    exclude = list(exclude)
    seen_english, seen_german = (
        {example.english for example in exclude},
        {example.german for example in exclude},
    )
    failures = 0
    while failures < MAX_FAILURES:
        example = example_of(sample_sentence(rng))
        is_known = example.english in seen_english or example.german in seen_german
        lengths = len(example.english.split()), len(example.german.split())
        if is_known or min(lengths) < MIN_WORDS or max(lengths) > MAX_WORDS:
            failures += 1
            continue
        failures = 0
        seen_english.add(example.english)
        seen_german.add(example.german)
        yield example
    raise InputError(
        "minigerman", f"no new sentence in {MAX_FAILURES:,} draws", "ask for fewer pairs"
    )


def generate(num_pairs: int, seed: int | str, exclude: Iterable[Example] = ()) -> list[Example]:
    """Draw pairs that differ from each other and from ``exclude`` on both sides.

    A larger number of pairs begins with those of a smaller one.

    Raises:
        InputError: a negative number, or more pairs than the grammar can give.
    """
    if num_pairs < 0:
        raise InputError(
            "num_pairs", f"{num_pairs} is negative", "give a number of pairs from 0 up"
        )
    stream = draw_examples(seed, exclude)
    return [next(stream) for _ in range(num_pairs)]


def splits(sizes: dict[str, int] | None = None, seed: int = 0) -> dict[str, list[Example]]:
    """Draw splits of ``minigerman`` that share no sentence on either side.

    Test is drawn first, then dev, then the others in the order given, each from its own seed. So
    test depends on no other size, dev only on that of test. Training data of different sizes are
    prefixes of each other.

    Args:
        sizes: pairs by split, ``DEFAULT_SIZES`` if None.
        seed: seed of the whole corpus.
    """
    sizes = DEFAULT_SIZES if sizes is None else sizes
    order = [name for name in ("test", "dev") if name in sizes] + [
        name for name in sizes if name not in ("test", "dev")
    ]
    drawn: dict[str, list[Example]] = {}
    for name in order:
        taken = [example for examples in drawn.values() for example in examples]
        # A string seed is hashed by SHA-512 and so the same in every process.
        drawn[name] = generate(sizes[name], f"{seed}/{name}", taken)
    return {name: drawn[name] for name in sizes}
