"""Make errors of polarity in German: delete or insert nicht, kein and un-.

Every rule yields (contrastive text, distance) for each place in a sentence that leaves no doubt,
from left to right; for polarity the distance is None.
"""

from collections.abc import Iterator

from repro.contrastive.german_errors.agreement import Error
from repro.contrastive.german_errors.sentence import Sentence
from repro.contrastive.german_errors.words import (
    ADJECTIVE_ENDINGS,
    DETERMINERS,
    FOCUS,
    FULL_VERBS,
    NEGATABLE,
    NEGATIVE,
    PREPOSITIONS,
    PRONOUNS,
    UN_STEMS,
)

ENDINGS = ("e", "en", "em", "er", "es", "")
BEFORE_NICHT = {
    "oder",
    "ob",
    "wenn",
    "warum",
    "gar",
    "überhaupt",
    "auch",
    "noch",
    "bestimmt",
    "kaum",
    ",",
    "wieso",
}
AFTER_NICHT = {
    "nur",
    "wahr",
    "zuletzt",
    "mehr",
    "einmal",
    "bloß",
    "mal",
    "so",
    "sonderlich",
    "länger",
}
FIXED = {
    ("danke", "schön"),
    ("bitte", "schön"),
    ("als", "möglich"),
    ("aber", "sicher"),
    ("für", "gewöhnlich"),
}
BEFORE_EIN = {
    "so",
    "für",
    "wie",
    "als",
    "noch",
    "nur",
    "solch",
    "manch",
    "welch",
    "um",
    "was",
    "etwa",
    "fast",
    "mindestens",
}


def delete_nicht(sentence: Sentence) -> Iterator[Error]:
    """Delete the only negation of a statement, unless it is part of an expression ("nicht nur")."""
    negations = [i for i, word in enumerate(sentence.lower) if word in NEGATIVE]
    if (
        len(negations) != 1
        or sentence.word(negations[0]) != "nicht"
        or not sentence.is_plain
        or "sondern" in sentence.lower
    ):
        return
    index = negations[0]
    if (
        index
        and sentence.word(index - 1) not in BEFORE_NICHT
        and sentence.word(index + 1) not in AFTER_NICHT
    ):
        yield sentence.deleted(index), None


def insert_nicht(sentence: Sentence) -> Iterator[Error]:
    """Insert "nicht" after the verb of a main clause, before a preposition or the last word.

    The statement must have no negation yet.
    """
    opening = sentence.opening
    if opening is None or _is_negative(sentence):
        return
    index = opening.verb + 1
    word = sentence.word(index)
    is_last = (
        index == len(sentence.tokens) - 2
        and sentence.tokens[-1] in ".!"
        and sentence.tokens[index].islower()
    )
    stands_alone = is_last and word not in PRONOUNS | FOCUS
    if (word in NEGATABLE and not is_last) or stands_alone:
        yield sentence.inserted(index, "nicht"), None


def delete_kein(sentence: Sentence) -> Iterator[Error]:
    """Replace "kein" by "ein" before a noun that is not a plural, by its form or that of "kein"."""
    for index, word in enumerate(sentence.lower):
        if not word.startswith("kein") or word.removeprefix("kein") not in ENDINGS:
            continue
        noun = sentence.noun_after(index)
        may_be_plural = (
            word in ("keine", "keinen", "keiner")
            and noun
            and sentence.tokens[noun].endswith(("e", "n", "r", "s", "l"))
        )
        # In "ein keiner Hund", "keiner" is a misspelling of "kleiner".
        is_article = noun is not None and sentence.word(index - 1) not in DETERMINERS
        if is_article and not may_be_plural and sentence.tokens[-1] != "?":
            yield sentence.replaced(index, word.removeprefix("k")), None


def insert_kein(sentence: Sentence) -> Iterator[Error]:
    """Replace "ein" by "kein" in a statement without negation, not after a preposition."""
    if _is_negative(sentence) or not sentence.is_plain:
        return
    for index, word in enumerate(sentence.lower):
        is_article = (
            word.startswith("ein")
            and word.removeprefix("ein") in ENDINGS
            and word not in ("eines", "einer")
        )
        before = sentence.word(index - 1)
        if (
            is_article
            and before not in BEFORE_EIN | PREPOSITIONS
            and sentence.noun_after(index) is not None
        ):
            yield sentence.replaced(index, f"k{word}"), None


def delete_un(sentence: Sentence) -> Iterator[Error]:
    """Make an error of polarity: delete "un" of an adjective with an opposite, not after "ob"."""
    if "ob" in sentence.lower:
        return
    for index, word in enumerate(sentence.lower):
        if (
            word.startswith("un")
            and is_gradable(word.removeprefix("un"))
            and sentence.tokens[index].islower()
        ):
            yield sentence.replaced(index, word.removeprefix("un")), None


def insert_un(sentence: Sentence) -> Iterator[Error]:
    """Make an error of polarity: insert "un" before an adjective, unless in doubt.

    Skipped are set phrases, adjectives after "zu", and sentences with a negation or "ob".
    """
    if _is_negative(sentence) or "ob" in sentence.lower:
        return
    for index, word in enumerate(sentence.lower):
        before = sentence.word(index - 1)
        is_set = before in ("wie", "zu") or (before, word) in FIXED
        if is_gradable(word) and sentence.tokens[index].islower() and not is_set:
            yield sentence.replaced(index, f"un{word}"), None


def is_gradable(word: str) -> bool:
    """Return whether a German word is a form of an adjective with an opposite in un-."""
    return (
        any(
            word.endswith(ending) and word.removesuffix(ending) in UN_STEMS
            for ending in ADJECTIVE_ENDINGS
        )
        and word not in FULL_VERBS
    )


def _is_negative(sentence: Sentence) -> bool:
    """Return whether a German sentence has a negation, so that no other is inserted."""
    return any(word in NEGATIVE for word in sentence.lower)
