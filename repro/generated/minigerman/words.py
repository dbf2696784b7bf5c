"""Define the word classes of the lexicon, and the regular inflection of English and German.

German genders are ``m``, ``f``, ``n``; where a table is indexed by gender, ``p`` stands for the
plural of all three. Cases are ``nom``, ``acc``, ``dat``.
"""

from dataclasses import dataclass
from typing import ClassVar

# Participles of verbs with these prefixes take no ge-.
INSEPARABLE_PREFIXES = ("be", "ver", "er", "ent", "zer", "gehör", "über")


@dataclass(frozen=True, eq=False, slots=True)
class Noun:
    """A noun, name or compound with its translation.

    ``oblique`` is the singular outside the nominative, which differs for weak nouns only (der
    Junge, den Jungen). ``english_parts`` are the leading words of an English compound ("house",
    "door" before "key"). ``bare`` nouns take no article: names in both languages, days in English
    only. ``place_preposition`` makes the noun a place. Without ``can_be_owned``, the noun takes no
    possessive: no "my forest".
    """

    english: str
    english_plural: str
    german: str
    german_plural: str
    gender: str
    noun_class: str
    oblique: str
    is_mass: bool = False
    bare: bool = False
    place_preposition: "Preposition | None" = None
    can_be_owned: bool = True
    english_parts: tuple[str, ...] = ()
    german_parts: tuple[str, ...] = ()

    def german_form(self, case: str, plural: bool) -> str:
        """Inflect the German noun; the dative plural adds -n unless the plural ends in -n or -s."""
        if not plural:
            return self.german if case == "nom" else self.oblique
        return (
            self.german_plural + "n"
            if case == "dat" and self.german_plural[-1] not in "ns"
            else self.german_plural
        )


@dataclass(frozen=True, eq=False, slots=True)
class Pronoun:
    """A personal pronoun for people, third person or "we"; ``german`` maps a case to its form."""

    english_subject: str
    english_object: str
    german: dict[str, str]
    plural: bool
    noun_class: ClassVar[str] = "person"


@dataclass(frozen=True, eq=False, slots=True)
class Verb:
    """A verb with its translation, its arguments and its possible modifiers.

    Args:
        english: base, third person singular, past and participle.
        english_particle: the particle of a phrasal verb ("up" in "pick up"), or "".
        german: infinitive, third person singular, past singular and participle, all without the
            separable particle.
        german_particle: the separable particle, or "".
        auxiliary: ``haben`` or ``sein``, for the perfect.
        subjects, objects: noun classes; no objects for an intransitive verb.
        case: case of the German object.
        preposition: a preposition before the object on one side or both, or None.
        manner: name of a group of manner adverbs, or "".
        features: ``stative`` (no place), ``benefit`` (takes a beneficiary: "for the child"),
            ``iobj`` (takes a recipient), ``motion`` (has a direction), ``that`` (takes a
            that-clause), ``once`` (is not repeated).
    """

    english: tuple[str, ...]
    english_particle: str
    german: tuple[str, ...]
    german_particle: str
    auxiliary: str
    subjects: tuple[str, ...]
    objects: tuple[str, ...]
    case: str = "acc"
    preposition: "Preposition | None" = None
    manner: str = ""
    features: frozenset[str] = frozenset()

    def german_finite(self, tense: str, plural: bool) -> str:
        """Inflect the German verb for ``present`` or ``past``, third person, without particle."""
        infinitive, singular, past, _ = self.german
        if tense == "present":
            return infinitive if plural else singular
        return past + ("n" if past.endswith("e") else "en") if plural else past

    @property
    def is_separable(self) -> bool:
        """Whether the German verb has a particle, which is separate in main clauses."""
        return bool(self.german_particle)


@dataclass(frozen=True, eq=False, slots=True)
class Adjective:
    """An adjective; ``stem`` takes the German endings.

    ``opposite`` is the same adjective with or without the negative prefix, if any.
    """

    english: str
    german: str
    stem: str
    opposite: tuple[str, str] = ("", "")
    is_negative: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Adverb:
    """An adverb with the tenses that it goes with."""

    english: str
    german: str
    tenses: tuple[str, ...] = ("present", "past", "perfect", "modal")


@dataclass(frozen=True, eq=False, slots=True)
class Preposition:
    """A preposition with its German case; "" in a language means an object without preposition."""

    english: str
    german: str
    case: str


def english_plural(noun: str) -> str:
    """Form the regular English plural."""
    return third_person(noun)


def third_person(verb: str) -> str:
    """Form the regular English third person singular of the present."""
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "o")) else "s")


def regular_past(verb: str) -> str:
    """Form the regular English past, which is also the participle."""
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + ("d" if verb.endswith("e") else "ed")


def weak_conjugation(infinitive: str) -> tuple[str, str, str, str]:
    """Conjugate a regular German verb.

    Returns:
        Infinitive, third person singular, past singular, participle.
    """
    stem = infinitive[:-2] if infinitive.endswith("en") else infinitive[:-1]
    ending = "et" if stem.endswith(("t", "d", "chn")) else "t"
    has_prefix = infinitive.startswith(INSEPARABLE_PREFIXES) or infinitive.endswith("ieren")
    return (
        infinitive,
        stem + ending,
        stem + ending + "e",
        ("" if has_prefix else "ge") + stem + ending,
    )
