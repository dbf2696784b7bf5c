"""Represent the meaning of a sentence as noun phrases and clauses, and its words as a tree.

``grammar`` draws a meaning, ``english`` and ``german`` realize it as words. Nodes are compared by
identity. So words of the two languages can be aligned if they come from the same part of the same
node.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from repro.generated.minigerman.words import Adjective, Adverb, Noun, Preposition, Pronoun, Verb


@dataclass(eq=False, slots=True)
class NounPhrase:
    """A noun phrase.

    ``determiner`` is an entry of the lexicon, "Mr" or "Mrs" before a name, or "" for none.
    ``article_gender`` overrides the gender of the German determiner alone, to make errors.
    """

    noun: Noun | Pronoun
    determiner: str = ""
    plural: bool = False
    adjective: Adjective | None = None
    modifier: "PrepositionalPhrase | None" = None
    relative: "Clause | None" = None
    conjunct: "NounPhrase | None" = None
    article_gender: str = ""

    @property
    def is_pronoun(self) -> bool:
        """Whether the phrase is a personal pronoun."""
        return isinstance(self.noun, Pronoun)

    @property
    def gender(self) -> str:
        """Gender of the noun; not defined for pronouns."""
        assert isinstance(self.noun, Noun)
        return self.noun.gender

    @property
    def takes_plural_verb(self) -> bool:
        """Whether a verb with this subject is plural."""
        return self.plural or self.conjunct is not None


@dataclass(eq=False, slots=True)
class PrepositionalPhrase:
    """A preposition with its noun phrase."""

    preposition: Preposition
    noun_phrase: NounPhrase


@dataclass(eq=False, slots=True)
class Clause:
    """A clause; missing parts are None or "".

    ``tense`` is ``present``, ``past``, ``perfect`` or ``modal`` (then ``modal`` names the verb).
    ``gap`` is the place of the pronoun in a relative clause, ``subject`` or ``object``. ``front``
    names the field that opens the clause: ``time``, ``place``, ``frequency`` or ``subordinate``.
    ``verb_plural`` and ``auxiliary`` override the verb's number and its German auxiliary, to make
    errors.
    """

    subject: NounPhrase | None
    verb: Verb
    tense: str = "present"
    modal: str = ""
    negated: bool = False
    object: NounPhrase | None = None
    recipient: NounPhrase | None = None
    predicate: Adjective | None = None
    degree: Adverb | None = None
    time: Adverb | PrepositionalPhrase | None = None
    frequency: Adverb | None = None
    manner: Adverb | None = None
    place: Adverb | PrepositionalPhrase | None = None
    front: str = ""
    gap: str = ""
    is_question: bool = False
    complement: "Clause | None" = None
    subordinator: str = ""
    subordinate: "Clause | None" = None
    coordinator: str = ""
    coordinate: "Clause | None" = None
    verb_plural: bool | None = None
    auxiliary: str = ""

    def finite_is_plural(self, antecedent: NounPhrase | None) -> bool:
        """Return whether the finite verb is plural; see ``who_acts``."""
        return (
            self.who_acts(antecedent).takes_plural_verb
            if self.verb_plural is None
            else self.verb_plural
        )

    def who_acts(self, antecedent: NounPhrase | None) -> NounPhrase:
        """Return the subject; ``antecedent`` is the noun phrase before a relative clause."""
        subject = antecedent if self.gap == "subject" else self.subject
        assert subject is not None
        return subject


@dataclass(eq=False, slots=True)
class Sentence:
    """The meaning of a sentence: a main clause.

    ``ambiguous`` is its ambiguous noun, ``cue`` the node and part that settle the noun's sense.
    """

    clause: Clause
    ambiguous: NounPhrase | None = None
    cue: tuple[object, str] | None = None


class Token(NamedTuple):
    """A word or punctuation mark; ``head`` is the 0-based index of its head, -1 for the root."""

    form: str
    head: int
    relation: str


@dataclass(eq=False, slots=True)
class Word:
    """A token under construction; ``keys`` name the parts of the meaning that it expresses."""

    form: str
    head: "Word | None"
    relation: str
    keys: tuple[tuple[object, str], ...] = field(default=())


def punctuation(mark: str, head: Word, node: object = None, part: str = "") -> Word:
    """Make a punctuation mark that depends on ``head`` and may express a part of the meaning."""
    return Word(mark, head, "punct", ((node, part),) if part else ())


def finish_sentence(words: list[Word], root: Word, final: str) -> list[Word]:
    """Finish a sentence: capitalise the first word, add the final mark, drop superfluous commas.

    A comma is superfluous before another mark or at the beginning.
    """
    kept: list[Word] = []
    for word in [*words, punctuation(final, root, root.keys[0][0], "final")]:
        if kept and kept[-1].form == "," and word.relation == "punct":
            kept.pop()
        if kept or word.form != ",":
            kept.append(word)
    kept[0].form = kept[0].form[0].upper() + kept[0].form[1:]
    return kept


def to_tokens(words: list[Word]) -> tuple[Token, ...]:
    """Convert words to tokens, with indices as heads."""
    index = {id(word): position for position, word in enumerate(words)}
    return tuple(
        Token(word.form, -1 if word.head is None else index[id(word.head)], word.relation)
        for word in words
    )


def align_words(english: list[Word], german: list[Word]) -> tuple[tuple[int, int], ...]:
    """Align words that express the same part of the meaning.

    Returns:
        Pairs (English index, German index), in English order.
    """
    positions: dict[tuple[int, str], list[int]] = {}
    for position, word in enumerate(german):
        for node, part in word.keys:
            positions.setdefault((id(node), part), []).append(position)
    pairs: set[tuple[int, int]] = set()
    for position, word in enumerate(english):
        for node, part in word.keys:
            pairs.update((position, other) for other in positions.get((id(node), part), ()))
    return tuple(sorted(pairs))


def detokenize(forms: list[str]) -> str:
    """Join tokens into a sentence, with punctuation attached to the word before it."""
    return " ".join(forms).replace(" ,", ",").replace(" .", ".").replace(" ?", "?")
