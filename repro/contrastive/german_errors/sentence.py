"""Split a German sentence into words, and analyse its main clause without a parser."""

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from repro.contrastive.german_errors.words import (
    BARE_PLURALS,
    CONJUNCTIONS,
    CONTRACTIONS,
    DETERMINERS,
    FINITE,
    PLURAL_DETERMINERS,
    PREPOSITIONS,
    PRONOUNS,
    SINGULAR_DETERMINERS,
    SUBORDINATORS,
    TO_PLURAL,
)

_TOKEN = re.compile(r"\w+(?:[-'\u2019]\w+)*|[^\w\s]")
_ADJECTIVE = re.compile(r"[a-zäöüß-]{2,}e[rsnm]?|lila|rosa|\d+")
_PREFIXED = ("be", "er", "ver", "ent", "zer")
FUNCTION_WORDS = DETERMINERS | PREPOSITIONS | PRONOUNS | CONJUNCTIONS | SUBORDINATORS | CONTRACTIONS


@dataclass(frozen=True)
class Opening:
    """The part of a main clause before its finite verb.

    Args:
        verb: index of the finite verb.
        subject: index of the noun or pronoun that must be the subject if the verb agrees with it;
            None for other openings.
        determiner: the lower-cased first word of a noun phrase, "" for a bare plural or a pronoun.
    """

    verb: int
    subject: int | None = None
    determiner: str = ""


class Sentence:
    """A German sentence; indices count its words and punctuation marks."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._matches = list(_TOKEN.finditer(text))
        self.tokens = [match[0] for match in self._matches]
        self.lower = [token.lower() for token in self.tokens]

    def word(self, index: int) -> str:
        """Return a token of the German sentence, lower-cased; "" beyond either end."""
        return self.lower[index] if 0 <= index < len(self.lower) else ""

    def is_noun(self, index: int) -> bool:
        """Return whether a German token is a noun: capitalised, and no function word."""
        token = self.tokens[index] if 0 <= index < len(self.tokens) else ""
        return (
            token[:1].isupper()
            and any(letter.islower() for letter in token[1:])
            and token.lower() not in FUNCTION_WORDS
        )

    def noun_after(self, index: int) -> int | None:
        """Return the noun to which the word at `index` can belong, with only adjectives between."""
        place = index + 1
        while (
            place < len(self.tokens)
            and _ADJECTIVE.fullmatch(self.tokens[place])
            and self.lower[place] not in FUNCTION_WORDS | FINITE
        ):
            place += 1
        return place if self.is_noun(place) and not self.is_noun(place + 1) else None

    def replaced(self, index: int, word: str) -> str:
        """Return the text with an error: a token replaced, with the same capitals."""
        match = self._matches[index]
        cased = word[:1].upper() + word[1:] if match[0][0].isupper() else word
        return self.text[: match.start()] + cased + self.text[match.end() :]

    def inserted(self, index: int, word: str) -> str:
        """Return the text with an error: a word inserted before a token."""
        start = self._matches[index].start()
        return f"{self.text[:start]}{word} {self.text[start:]}"

    def deleted(self, index: int) -> str:
        """Return the text with an error: a token deleted, which must not be the first."""
        return self.text[: self._matches[index - 1].end()] + self.text[self._matches[index].end() :]

    def distance(self, first: int, second: int) -> int:
        """Count the words over which an error spans, adjacent = 1, without punctuation."""
        low, high = sorted((first, second))
        return sum(token[0].isalnum() for token in self.tokens[low + 1 : high + 1])

    @cached_property
    def segments(self) -> list[range]:
        """The stretches of German words between punctuation marks."""
        marks = [
            -1,
            *(i for i, token in enumerate(self.tokens) if not token[0].isalnum()),
            len(self.tokens),
        ]
        return [range(a + 1, b) for a, b in pairwise(marks) if b > a + 1]

    @cached_property
    def is_plain(self) -> bool:
        """Whether this is a single statement, without question, quotation or aside."""
        inner = [token for token in self.tokens[:-1] if not token[0].isalnum()]
        return (
            len(self.tokens) > 2
            and self.tokens[-1] != "?"
            and all(token == "," for token in inner)
            and self.text[0].isupper()
        )

    @cached_property
    def opening(self) -> Opening | None:
        """The German words before the finite verb, if its form leaves no doubt."""
        first = self.word(0)
        if not self.is_plain or first in SUBORDINATORS:
            return None
        if first in PRONOUNS and first not in DETERMINERS:
            return self._opening_at(1, 0)
        head = 0 if first in BARE_PLURALS else self.noun_after(0) if first in DETERMINERS else None
        if head is not None:
            is_nominative = head == 0 or first in SINGULAR_DETERMINERS | PLURAL_DETERMINERS
            opening = self._opening_at(
                self._after_modifiers(head + 1), head if is_nominative else None
            )
        elif first in PREPOSITIONS:
            opening = self._opening_at(self._after_modifiers(0), None)
        else:
            opening = self._opening_at(1, None)
        return opening

    def _opening_at(self, verb: int, subject: int | None) -> Opening | None:
        """Return the German opening if the word at `verb` is a finite verb.

        The participle of a caption is not ("ein Mann, beobachtet von ...").
        """
        form = self.word(verb)
        is_participle = (
            form.startswith(_PREFIXED)
            and form in TO_PLURAL
            and self.word(verb + 1) in ("von", "vom", "mit", "durch")
        )
        if form not in FINITE or is_participle or self.tokens[verb][0].isupper():
            return None
        return Opening(verb, subject, self.word(0) if subject else "")

    def _after_modifiers(self, place: int) -> int:
        """Return the place after prepositional phrases, genitives and one relative clause."""
        while True:
            word = self.word(place)
            if word in PREPOSITIONS or word in ("des", "der", "eines", "einer"):
                determiner = self.word(place + 1) if word in PREPOSITIONS else ""
                noun = self.noun_after(place + 1 if determiner in DETERMINERS else place)
                if noun is None:
                    return place
                place = noun + 1
            elif word == "," and self.word(place + 1) in ("der", "die", "das"):
                ends = [i for i in range(place + 1, len(self.tokens)) if self.tokens[i] == ","]
                return ends[0] + 1 if ends else place
            else:
                return place
