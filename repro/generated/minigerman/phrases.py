"""Draw noun phrases by a probabilistic grammar, with prepositional phrases and relative clauses.

An object relative clause is drawn only if its German cases or numbers show who acts on whom. So
both languages have the same meaning.
"""

from collections.abc import Mapping, Sequence
from random import Random
from typing import TypeVar

from repro.generated.minigerman.lexicon import (
    ADJECTIVES,
    COMPOUNDS,
    FIRST_NAMES,
    LONG_COMPOUNDS,
    MODALS,
    NOUNS,
    PREPOSITIONS,
    PRONOUNS,
    SURNAME_ENDS,
    SURNAME_STARTS,
    VERBS,
    proper_name,
)
from repro.generated.minigerman.meaning import Clause, NounPhrase, PrepositionalPhrase
from repro.generated.minigerman.words import Noun, Pronoun, Verb

Item = TypeVar("Item")

PARENTS = ("mother", "father", "grandmother", "grandfather")
ANIMATE = ("person", "animal")
VERBS_BY_KIND: dict[str, list[Verb]] = {
    "iobj": [verb for verb in VERBS if "iobj" in verb.features],
    "motion": [verb for verb in VERBS if "motion" in verb.features],
    "that": [verb for verb in VERBS if "that" in verb.features],
    "plain": [
        verb
        for verb in VERBS
        if not verb.features & {"iobj", "motion", "that"} and "cue" not in verb.subjects
    ],
}
RELATIVE_VERBS = [
    verb
    for verb in VERBS_BY_KIND["plain"]
    if verb.objects and verb.case == "acc" and not verb.preposition
]
MODIFIERS: dict[str, list[tuple[str, tuple[str, ...]]]] = {
    "person": [
        ("with", ("animal", "garment", "thing")),
        ("from", ("origin",)),
        ("beside", ("furniture", "vehicle")),
    ],
    "animal": [
        ("beside", ("person", "furniture")),
        ("behind", ("furniture", "vehicle")),
        ("with", ("animal",)),
    ],
    "text": [("about", ("person", "animal")), ("on", ("furniture",))],
    "thing": [("on", ("furniture",)), ("under", ("furniture",)), ("beside", ("thing",))],
    "food": [("on", ("furniture",))],
    "vehicle": [("behind", ("vehicle",)), ("beside", ("vehicle",))],
}
DETERMINER_WEIGHTS = {
    "the": 48, "a": 19, "my": 6, "his": 4, "her": 4, "our": 2, "this": 5, "no": 4, "every": 3,
    "two": 2, "three": 1, "many": 3, "": 3,
}  # fmt: skip


def draw_by_rank(rng: Random, items: Sequence[Item]) -> Item:
    """Draw an item by Zipf's law: rank r of n has probability log((r + 1) / r) / log(n + 1)."""
    return items[int((len(items) + 1) ** rng.random()) - 1]


def toss_coin(rng: Random, probability: float) -> bool:
    """Return True with a given probability."""
    return rng.random() < probability


def draw_by_weight(rng: Random, weights: Mapping[str, int]) -> str:
    """Draw a name with a probability proportional to its weight."""
    # what `rng.choices` does, in half of its time
    left = rng.random() * sum(weights.values())
    for name, weight in weights.items():
        left -= weight
        if left < 0:
            return name
    raise AssertionError("a random number is below 1")


def sample_tense(rng: Random, node: Clause) -> None:
    """Draw the tense of a clause; the perfect replaces a past that looks like the present."""
    node.tense = draw_by_weight(rng, {"present": 44, "past": 26, "perfect": 15, "modal": 15})
    if node.tense == "past" and node.verb.english[0] == node.verb.english[2]:
        node.tense = "perfect"
    if node.tense == "modal":
        node.modal = draw_by_rank(rng, list(MODALS))


def sample_subject(rng: Random, classes: tuple[str, ...], is_short: bool) -> NounPhrase:
    """Draw a subject: a pronoun, a name, or a noun phrase of one of the classes."""
    noun_class = draw_by_rank(rng, classes)
    if noun_class == "person":
        kind = draw_by_weight(rng, {"noun": 70, "pronoun": 16, "name": 14})
        if kind == "pronoun":
            pronoun = PRONOUNS[draw_by_weight(rng, {"she": 3, "he": 3, "they": 3, "we": 1})]
            return NounPhrase(pronoun, plural=pronoun.plural)
        if kind == "name":
            return sample_name(rng)
    phrase = sample_noun_phrase(rng, noun_class, rich=not is_short)
    if (
        not phrase.modifier
        and not phrase.relative
        and toss_coin(rng, 0.06)
        and phrase.determiner not in ("no", "every")
    ):
        phrase.conjunct = sample_noun_phrase(rng, noun_class)
        if phrase.conjunct.determiner in ("no", "every") or phrase.conjunct.noun is phrase.noun:
            phrase.conjunct = None
    return phrase


def sample_name(rng: Random) -> NounPhrase:
    """Draw a first name, or Mr or Mrs with a surname of two parts."""
    gender = rng.choice("fm")
    if toss_coin(rng, 0.5):
        return NounPhrase(proper_name(draw_by_rank(rng, FIRST_NAMES[gender]), gender))
    return NounPhrase(
        proper_name(rng.choice(SURNAME_STARTS) + rng.choice(SURNAME_ENDS), gender),
        {"f": "Mrs", "m": "Mr"}[gender],
    )


def sample_noun_phrase(rng: Random, noun_class: str, rich: bool = False) -> NounPhrase:
    """Draw a noun phrase of a class; a rich one may have a modifier or a relative clause."""
    noun = draw_by_rank(rng, NOUNS[noun_class])
    if noun_class in ("opening", "thing") and toss_coin(
        rng, 0.6 if noun_class == "opening" else 0.15
    ):
        noun = (
            draw_by_rank(rng, COMPOUNDS) if noun_class == "opening" else rng.choice(LONG_COMPOUNDS)
        )
    phrase = NounPhrase(noun)
    if noun.is_mass:
        phrase.determiner = rng.choice(["the", "the", "no", "this", "my", "", ""])
    else:
        phrase.determiner = draw_by_weight(rng, DETERMINER_WEIGHTS)
        if not noun.can_be_owned and phrase.determiner in ("my", "his", "her", "our"):
            phrase.determiner = "the"
        is_plural = phrase.determiner in ("", "two", "three", "many")
        phrase.plural = is_plural or (
            phrase.determiner not in ("a", "no", "every") and toss_coin(rng, 0.35)
        )
        if noun.english in PARENTS and phrase.determiner in ("my", "his", "her", "our"):
            phrase.plural = False
    if noun_class in ADJECTIVES and toss_coin(rng, 0.3):
        phrase.adjective = draw_by_rank(rng, ADJECTIVES[noun_class])
    if rich and noun_class in MODIFIERS:
        extra = draw_by_weight(rng, {"none": 68, "modifier": 20, "relative": 12})
        if extra == "modifier":
            preposition, classes = draw_by_rank(rng, MODIFIERS[noun_class])
            other = (
                sample_location(rng, "origin")
                if preposition == "from"
                else sample_plain_noun_phrase(rng, draw_by_rank(rng, classes), noun)
            )
            phrase.modifier = PrepositionalPhrase(PREPOSITIONS[preposition], other)
        elif extra == "relative" and phrase.determiner != "no":
            phrase.relative = sample_relative_clause(rng, phrase)
    return phrase


def sample_plain_noun_phrase(
    rng: Random, noun_class: str, other: Noun | Pronoun | None = None
) -> NounPhrase:
    """Draw a noun phrase without "no" and further parts, with another noun than ``other``."""
    while True:
        phrase = sample_noun_phrase(rng, noun_class)
        if phrase.noun is not other and phrase.determiner not in ("no", "every", "many"):
            return phrase


def sample_location(rng: Random, noun_class: str) -> NounPhrase:
    """Draw a noun phrase for a place, in the singular."""
    phrase = sample_plain_noun_phrase(rng, noun_class)
    if phrase.plural:
        phrase.plural = False
        phrase.determiner = "the"
    return phrase


def with_place_preposition(phrase: NounPhrase) -> PrepositionalPhrase:
    """Return a place or time with the preposition of its noun."""
    assert isinstance(phrase.noun, Noun) and phrase.noun.place_preposition is not None
    return PrepositionalPhrase(phrase.noun.place_preposition, phrase)


def sample_relative_clause(rng: Random, antecedent: NounPhrase) -> Clause | None:
    """Draw a relative clause about the antecedent, or None if the German one would be ambiguous."""
    noun_class = antecedent.noun.noun_class
    if noun_class in ANIMATE and toss_coin(rng, 0.6):
        verb = draw_by_rank(
            rng, [verb for verb in VERBS_BY_KIND["plain"] if noun_class in verb.subjects]
        )
        node = Clause(None, verb, gap="subject")
        if verb.objects:
            node.object = sample_plain_noun_phrase(
                rng, draw_by_rank(rng, verb.objects), antecedent.noun
            )
    else:
        verb = draw_by_rank(rng, [verb for verb in RELATIVE_VERBS if noun_class in verb.objects])
        subject = sample_plain_noun_phrase(rng, "person", antecedent.noun)
        if not shows_who_acts_in_german(antecedent, subject):
            return None
        node = Clause(subject, verb, gap="object")
    sample_tense(rng, node)
    return node


def shows_who_acts_in_german(antecedent: NounPhrase, subject: NounPhrase) -> bool:
    """Return whether sense, case or number shows the antecedent to be the object of the clause."""
    if antecedent.noun.noun_class not in ANIMATE or antecedent.plural != subject.plural:
        return True
    return not antecedent.plural and "m" in (antecedent.gender, subject.gender)


def sample_other_noun_phrase(
    rng: Random, noun_class: str, subject: NounPhrase, rich: bool = False
) -> NounPhrase:
    """Draw a noun phrase with another noun than the subject."""
    while True:
        phrase = sample_noun_phrase(rng, noun_class, rich)
        if phrase.noun is not subject.noun:
            return phrase
