"""Make errors of agreement in German: the gender of an article, the number of a verb.

Every rule yields (contrastive text, distance) for each place in a sentence that leaves no doubt,
from left to right.
"""

from collections.abc import Iterator

from repro.contrastive.german_errors.sentence import Sentence
from repro.contrastive.german_errors.words import (
    COPULAS,
    DATIVE_PREPOSITIONS,
    LIKE_PLURALS,
    MEASURES,
    NOMINATIVE_PRONOUNS,
    NOT_FEMININE,
    PLURAL_DETERMINERS,
    PREPOSITIONS,
    QUANTITIES,
    SINGULAR_DETERMINERS,
    SINGULAR_FEMININE,
    THIRD_PERSON_PRONOUNS,
    TO_PLURAL,
    TO_SINGULAR,
    TWO_GENDERS,
)

Error = tuple[str, int | None]
OTHER_GENDER = {"dem": "der", "zum": "zur", "zur": "zum", "das": "die", "die": "das", "der": "dem"}


def np_agreement(sentence: Sentence) -> Iterator[Error]:
    """Make an error of agreement: give a definite article another gender.

    The article shows the gender of the noun if its form and a preposition leave only one. `dem` and
    `zum` are masculine or neuter; `zur`, and `der` after a preposition, are feminine. `das` is
    neuter, and `die` is feminine before a singular ending like -ung. Relative pronouns are skipped:
    they follow a comma, or a comma and a preposition.
    """
    for index, word in enumerate(sentence.lower):
        noun = sentence.noun_after(index) if word in OTHER_GENDER else None
        if noun is None or sentence.tokens[noun].lower().endswith(TWO_GENDERS):
            continue
        before = sentence.word(index - 1)
        has_preposition = before in DATIVE_PREPOSITIONS and sentence.word(index - 2) != ","
        if before != "," and _is_sure_of_gender(
            word, sentence.tokens[noun].lower(), has_preposition
        ):
            yield sentence.replaced(index, OTHER_GENDER[word]), sentence.distance(index, noun)


def _is_sure_of_gender(article: str, noun: str, has_preposition: bool) -> bool:
    """Return whether an article gives its German noun's gender without doubt."""
    if article == "die":
        return noun.endswith(SINGULAR_FEMININE) and (
            not noun.endswith(NOT_FEMININE) or len(noun) > 8
        )
    if article == "das":
        return not noun.endswith(LIKE_PLURALS)
    if article in ("zum", "zur"):
        # "zum Alten", "zur Alten" and infinitives
        return not noun.endswith("n") or noun.endswith(("in", "un"))
    return has_preposition and not noun.endswith(("en", "ern"))  # "mit dem Alten", "mit der Alten"


def subj_verb_agreement(sentence: Sentence) -> Iterator[Error]:
    """Make an error of agreement: give the finite verb the other number.

    Subjects with "und" or a noun of quantity are skipped, because they take both numbers. Nouns of
    time or measure are skipped, because they may not be the subject. So are nouns before a verb
    that is followed by a pronoun in the nominative ("das Buch hat er").
    """
    opening = sentence.opening
    if (
        opening is None
        or opening.subject is None
        or sentence.word(opening.verb + 1) in NOMINATIVE_PRONOUNS
    ):
        return
    subject, verb = opening.subject, sentence.word(opening.verb)
    noun = sentence.tokens[subject]
    if noun in MEASURES or noun.lower().endswith(QUANTITIES):
        return
    is_pronoun = subject == 0 and not sentence.is_noun(0)
    takes_singular = (
        sentence.word(0) in THIRD_PERSON_PRONOUNS
        if is_pronoun
        else opening.determiner in SINGULAR_DETERMINERS
    )
    takes_plural = not is_pronoun and (subject == 0 or opening.determiner in PLURAL_DETERMINERS)
    if takes_singular and verb in TO_PLURAL:
        yield (
            sentence.replaced(opening.verb, TO_PLURAL[verb]),
            sentence.distance(subject, opening.verb),
        )
    elif takes_plural and verb in TO_SINGULAR:
        yield (
            sentence.replaced(opening.verb, TO_SINGULAR[verb]),
            sentence.distance(subject, opening.verb),
        )


def subj_adequacy(sentence: Sentence) -> Iterator[Error]:
    """Make an error of agreement: give the verb of "sie" the other number.

    "Sie" opens the sentence, or follows a copula, where it cannot be an object. It may also mean
    you.
    """
    opening = sentence.opening
    if opening is None:
        return
    verb, after = sentence.word(opening.verb), sentence.word(opening.verb + 1)
    is_first = sentence.word(0) == "sie" and after not in NOMINATIVE_PRONOUNS
    if is_first or (after == "sie" and verb in COPULAS and sentence.word(0) not in PREPOSITIONS):
        changed = TO_PLURAL.get(verb) or TO_SINGULAR.get(verb)
        if changed:
            yield sentence.replaced(opening.verb, changed), 1
