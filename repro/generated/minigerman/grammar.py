"""Draw the meaning of a sentence by a probabilistic grammar.

Verbs choose nouns by class (people read texts, animals bite people). A relative clause is followed
by nothing that could also belong to it, so that the mapping between the languages is exact.
"""

from random import Random

from repro.generated.minigerman.lexicon import (
    ADJECTIVES,
    BE,
    CITIES,
    DEGREE_ADVERBS,
    FREQUENCY_ADVERBS,
    MANNER_ADVERBS,
    NOUNS,
    PLACE_ADVERBS,
    PREPOSITIONS,
    PRONOUNS,
    TIME_ADVERBS,
    VERBS,
    proper_name,
)
from repro.generated.minigerman.meaning import Clause, NounPhrase, PrepositionalPhrase, Sentence
from repro.generated.minigerman.phrases import (
    VERBS_BY_KIND,
    draw_by_rank,
    draw_by_weight,
    sample_location,
    sample_name,
    sample_noun_phrase,
    sample_other_noun_phrase,
    sample_plain_noun_phrase,
    sample_subject,
    sample_tense,
    toss_coin,
    with_place_preposition,
)
from repro.generated.minigerman.senses import SENSES
from repro.generated.minigerman.words import Adverb, Verb

DEFINITE = ("the", "this", "my", "his", "her", "our")
PASSING_STATES = {
    "happy",
    "unhappy",
    "tired",
    "sad",
    "sick",
    "angry",
    "hungry",
    "nervous",
    "thirsty",
    "patient",
    "impatient",
    "empty",
}
# These take no adverb of degree: no "very broken".
ABSOLUTE = {
    "black",
    "white",
    "brown",
    "red",
    "blue",
    "green",
    "yellow",
    "broken",
    "empty",
    "secret",
    "unknown",
}
FLEETING = {"soon", "again", "then"}
COMPANY_VERBS = {
    "work",
    "sing",
    "dance",
    "play",
    "eat",
    "drink",
    "laugh",
    "wait",
    "travel",
    "read",
    "cook",
    "visit",
    "buy",
}
NEUTRAL_VERBS = [
    verb
    for verb in VERBS
    if verb.english[0] in ("see", "find", "draw", "photograph", "describe") and verb.objects
]


def sample_sentence(rng: Random) -> Sentence:
    """Draw the meaning of a sentence."""
    kind = draw_by_weight(
        rng, {"simple": 62, "subordinate": 11, "that": 8, "coordinate": 7, "ambiguous": 12}
    )
    if kind == "ambiguous":
        return sample_ambiguous(rng)
    if kind == "that":
        main = sample_clause(rng, "that")
        main.complement = sample_matching(rng, main, embedded=True)
        return Sentence(main)
    main = sample_clause(rng, is_short=kind != "simple")
    if kind == "subordinate":
        main.subordinator = draw_by_weight(
            rng, {"because": 5, "although": 3, "if": 2, "while": 2, "before": 1}
        )
        main.subordinate = sample_matching(rng, main, embedded=True, is_short=True)
        if toss_coin(rng, 0.35):
            main.front = "subordinate"
    elif kind == "coordinate":
        main.coordinator = draw_by_weight(rng, {"and": 2, "but": 1})
        main.coordinate = sample_matching(rng, main, is_short=True)
    elif not main.front and toss_coin(rng, 0.06) and not main.negated:
        main.is_question = True
    return Sentence(main)


def sample_matching(
    rng: Random, main: Clause, embedded: bool = False, is_short: bool = False
) -> Clause:
    """Draw a clause in the same time as the main clause."""
    while True:
        node = sample_clause(rng, embedded=embedded, is_short=is_short)
        if (node.tense in ("past", "perfect")) == (main.tense in ("past", "perfect")):
            return node


def sample_clause(
    rng: Random, kind: str = "", embedded: bool = False, is_short: bool = False
) -> Clause:
    """Draw the meaning of a clause.

    Args:
        rng: draws.
        kind: kind of the verb; drawn if "".
        embedded: whether it is verb-final in German, so that nothing is fronted.
        is_short: whether its noun phrases have no further parts.
    """
    kind = kind or draw_by_weight(rng, {"plain": 74, "be": 12, "iobj": 7, "motion": 7})
    if kind == "be":
        node = sample_description(rng, is_short)
    else:
        verb = draw_by_rank(rng, VERBS_BY_KIND[kind])
        subject = sample_subject(rng, verb.subjects, is_short)
        node = Clause(subject, verb)
        sample_tense(rng, node)
        if verb.objects:
            sample_objects(rng, node, is_short or subject.relative is not None)
    node.negated = toss_coin(rng, 0.16) and not cannot_take_nicht(node)
    if node.modal == "must" and (node.negated or has_determiner_no(node)):
        # "must not" is "darf nicht", not "muss nicht".
        node.modal = "should"
    if node.negated and node.degree:
        node.degree = DEGREE_ADVERBS[0]
    if node.negated and node.object:
        # German would place "nicht" before or after the modifier, English has one place for both.
        node.object.modifier = None
    sample_adverbials(rng, node, kind)
    if not embedded:
        sample_front(rng, node)
    return node


def cannot_take_nicht(node: Clause) -> bool:
    """Return whether a clause cannot take "nicht", because of "no" or an indefinite object.

    German negates indefinite objects by "kein".
    """
    objects = [
        phrase for phrase in (node.object, node.recipient) if phrase and not phrase.is_pronoun
    ]
    is_definite = all(
        phrase.determiner in DEFINITE or phrase.noun.noun_class == "name" for phrase in objects
    )
    assert node.subject is not None
    return node.subject.determiner in ("no", "every", "many") or not is_definite


def has_determiner_no(node: Clause) -> bool:
    """Return whether the determiner of subject, object or recipient is "no"."""
    return any(
        phrase is not None and phrase.determiner == "no"
        for phrase in (node.subject, node.object, node.recipient)
    )


def sample_description(rng: Random, is_short: bool) -> Clause:
    """Draw a clause of the form "subject is (very) adjective"."""
    noun_class = draw_by_weight(
        rng,
        {
            "person": 6,
            "animal": 2,
            "thing": 2,
            "text": 2,
            "place": 2,
            "garment": 1,
            "device": 1,
            "vehicle": 1,
            "food": 1,
        },
    )
    subject = sample_subject(rng, (noun_class,), is_short)
    node = Clause(subject, BE, tense=draw_by_weight(rng, {"present": 3, "past": 2}))
    node.predicate = draw_by_rank(rng, ADJECTIVES[noun_class])
    is_gradable = node.predicate.english not in ABSOLUTE
    node.degree = (
        draw_by_rank(rng, DEGREE_ADVERBS) if is_gradable and toss_coin(rng, 0.35) else None
    )
    if subject.adjective is node.predicate:
        subject.adjective = None
    return node


def sample_objects(rng: Random, node: Clause, is_short: bool) -> None:
    """Draw object and recipient of a clause.

    A person may be "him" or "us", whose German forms are never those of a subject.
    """
    assert node.subject is not None
    noun_class = draw_by_rank(rng, node.verb.objects)
    if noun_class == "person" and toss_coin(rng, 0.12):
        pronoun = PRONOUNS[rng.choice(["he", "we"])]
        node.object = NounPhrase(pronoun, plural=pronoun.plural)
    elif noun_class == "person" and toss_coin(rng, 0.12):
        node.object = sample_name(rng)
    else:
        node.object = sample_other_noun_phrase(rng, noun_class, node.subject, rich=not is_short)
    if "iobj" in node.verb.features:
        node.recipient = sample_other_noun_phrase(rng, "person", node.subject)
    if node.subject.determiner == "no" and node.object.determiner == "no":
        node.object.determiner = "the"
    if node.recipient and node.recipient.determiner == "no":
        node.recipient.determiner = "the"


def sample_adverbials(rng: Random, node: Clause, kind: str) -> None:
    """Draw adverbs and prepositional phrases of a clause.

    There are none after a final relative clause, to which they would seem to belong.
    """
    assert node.subject is not None
    if kind == "motion":
        node.place = sample_direction(rng, node.verb, node.subject.noun.noun_class)
    if node.predicate and node.predicate.english not in PASSING_STATES:
        return
    is_negative = node.negated or has_determiner_no(node)
    fitting = [adverb for adverb in FREQUENCY_ADVERBS if node.tense in adverb.tenses]
    if not is_negative and fitting and "once" not in node.verb.features and toss_coin(rng, 0.16):
        node.frequency = draw_by_rank(rng, fitting)
    if kind == "that" or (node.object and node.object.relative):
        return
    if not node.frequency and toss_coin(rng, 0.22):
        node.time = sample_time(rng, node.tense, is_negative)
    is_placed = kind in ("plain", "iobj") and "stative" not in node.verb.features
    if is_placed and toss_coin(rng, 0.26):
        node.place = sample_place(rng, node)
    elif node.verb.manner and not has_determiner_no(node) and toss_coin(rng, 0.2):
        node.manner = draw_by_rank(rng, MANNER_ADVERBS[node.verb.manner])


def sample_time(rng: Random, tense: str, is_negative: bool = False) -> Adverb | PrepositionalPhrase:
    """Draw a time that fits the tense.

    A negation excludes "soon" and "again", the English perfect excludes days and seasons.
    """
    if tense != "perfect" and toss_coin(rng, 0.35):
        return with_place_preposition(NounPhrase(draw_by_rank(rng, NOUNS["time"]), "the"))
    return draw_by_rank(
        rng,
        [
            adverb
            for adverb in TIME_ADVERBS
            if tense in adverb.tenses and not (is_negative and adverb.english in FLEETING)
        ],
    )


def sample_place(rng: Random, node: Clause) -> Adverb | PrepositionalPhrase:
    """Draw a place, a companion or a beneficiary of an action."""
    kind = draw_by_weight(
        rng,
        {
            "place": 50,
            "adverb": 14,
            "city": 8,
            "company": 12 if node.verb.english[0] in COMPANY_VERBS else 0,
            "benefit": 18 if "benefit" in node.verb.features else 0,
        },
    )
    if kind == "adverb":
        return draw_by_rank(rng, PLACE_ADVERBS)
    if kind == "city":
        return PrepositionalPhrase(
            PREPOSITIONS["in"], NounPhrase(proper_name(draw_by_rank(rng, CITIES), "n"))
        )
    if kind == "place" or "person" not in node.verb.subjects:
        return with_place_preposition(sample_location(rng, "place"))
    preposition = "for" if kind == "benefit" else draw_by_rank(rng, ["with", "without"])
    return PrepositionalPhrase(PREPOSITIONS[preposition], sample_plain_noun_phrase(rng, "person"))


def sample_direction(rng: Random, verb: Verb, noun_class: str) -> PrepositionalPhrase:
    """Draw the goal of a motion: a place, a person or a city."""
    kind = draw_by_weight(
        rng,
        {
            "place": 6,
            "person": 2 if verb.english[0] in ("go", "come") else 0,
            "city": 0 if noun_class == "animal" else 2,
        },
    )
    if kind == "city":
        return PrepositionalPhrase(
            PREPOSITIONS["to_nach"], NounPhrase(proper_name(draw_by_rank(rng, CITIES), "n"))
        )
    if kind == "person":
        return PrepositionalPhrase(PREPOSITIONS["to"], sample_plain_noun_phrase(rng, "person"))
    place = with_place_preposition(
        sample_location(rng, "place" if verb.english[0] in ("go", "come") else "destination")
    )
    is_inside = place.preposition is PREPOSITIONS["in"]
    return PrepositionalPhrase(PREPOSITIONS["into" if is_inside else "to"], place.noun_phrase)


def sample_front(rng: Random, node: Clause) -> None:
    """Front the time, the place or "sometimes" of a clause with some probability."""
    slots = ["time"] if node.time else []
    is_free = "motion" not in node.verb.features
    if (
        is_free
        and isinstance(node.place, PrepositionalPhrase)
        and node.place.noun_phrase.noun.noun_class == "place"
    ):
        slots.append("place")
    if node.frequency and node.frequency.english in ("sometimes", "usually"):
        slots.append("frequency")
    if slots and toss_coin(rng, 0.4):
        node.front = rng.choice(slots)


def sample_ambiguous(rng: Random) -> Sentence:
    """Draw a sentence with an ambiguous noun and a cue.

    The cue is before the noun (a fronted place) or after it, often after a relative clause.
    """
    sense = rng.choice(SENSES)
    phrase = NounPhrase(sense.noun, rng.choice(["the", "the", "the", "this"]))
    if toss_coin(rng, 0.4):
        place = rng.choice(sense.places)
        node = Clause(
            sample_subject(rng, ("person",), is_short=False),
            draw_by_rank(rng, NEUTRAL_VERBS),
            object=phrase,
            front="place",
        )
        sample_tense(rng, node)
        node.place = with_place_preposition(NounPhrase(place, "the"))
        return Sentence(node, phrase, (node.place.noun_phrase, "noun"))
    if toss_coin(rng, 0.7):
        subject = sample_noun_phrase(rng, "person") if toss_coin(rng, 0.6) else sample_name(rng)
        phrase.relative = Clause(subject, draw_by_rank(rng, NEUTRAL_VERBS), gap="object")
        sample_tense(rng, phrase.relative)
        if toss_coin(rng, 0.3):
            phrase.relative.time = sample_time(rng, phrase.relative.tense)
    if sense.verbs and toss_coin(rng, 0.5):
        node = Clause(phrase, rng.choice(sense.verbs))
        sample_tense(rng, node)
        return Sentence(node, phrase, (node, "verb"))
    node = Clause(
        phrase,
        BE,
        tense=draw_by_weight(rng, {"present": 3, "past": 2}),
        predicate=rng.choice(sense.adjectives),
    )
    node.negated = toss_coin(rng, 0.15)
    return Sentence(node, phrase, (node, "predicate"))
