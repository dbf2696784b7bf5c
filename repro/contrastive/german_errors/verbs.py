"""Make errors in German verbs (auxiliary, separable particle) and in the spelling of names.

Every rule yields (contrastive text, distance) for each place in a sentence that leaves no doubt,
from left to right.
"""

import re
from collections.abc import Collection, Iterator

from repro.contrastive.german_errors.agreement import Error
from repro.contrastive.german_errors.sentence import Sentence
from repro.contrastive.german_errors.words import (
    BOTH_PARTICIPLES,
    FOREIGN_PARTICLES,
    FOREIGN_VERBS,
    FULL_VERBS,
    HABEN_SEIN,
    MODALS,
    PARTICLES,
    PERFECT,
    SEIN_PARTICIPLES,
)
from repro.generated.minigerman.contrastive import misspelled

SEIN_HABEN = {sein: haben for haben, sein in HABEN_SEIN.items()}
MIN_NAME = 4  # letters
_PARTICIPLE = re.compile(
    r"(?:[a-zäöü]{2,6})?ge[a-zäöüß]{2,}(?:t|en)|[a-zäöüß]{2,}iert|"
    r"(?:be|ver|er|ent|zer|emp|miss)[a-zäöüß]{3,}(?:t|en)"
)


def swap_auxiliary(sentence: Sentence) -> Iterator[Error]:
    """Make an error in a German perfect: exchange haben and sein.

    The participle ends a stretch of words without punctuation, or precedes the finite verb there.
    Sein is exchanged only with verbs that always take it; haben with all but those that take both.
    """
    if '"' in sentence.text:
        return
    for segment in sentence.segments:
        words = [sentence.word(i) for i in segment]
        finite = [i for i in segment if sentence.word(i) in PERFECT]
        if len(finite) != 1 or any(
            word in MODALS or word in FULL_VERBS or word == "worden" for word in words
        ):
            continue
        verb = finite[0]
        participle = segment[-2] if verb == segment[-1] and len(segment) > 1 else segment[-1]
        changed = _other_auxiliary(sentence.word(verb), sentence.tokens[participle])
        # "er habe" is reported speech, not a perfect.
        is_first_person = sentence.word(verb) != "habe" or "ich" in words
        if (
            changed
            and is_first_person
            and verb != participle
            and sentence.word(participle - 1) != "zu"
        ):
            yield sentence.replaced(verb, changed), sentence.distance(verb, participle)


def _other_auxiliary(verb: str, participle: str) -> str:
    """Return the wrong German auxiliary, "" if it could be right too."""
    if participle.endswith(SEIN_PARTICIPLES):
        return SEIN_HABEN.get(verb, "")
    is_sure = _PARTICIPLE.fullmatch(participle) and not participle.endswith(BOTH_PARTICIPLES)
    return HABEN_SEIN.get(verb, "") if is_sure else ""


def swap_particle(sentence: Sentence) -> Iterator[Error]:
    """Make an error in a German verb: replace its particle by one that it never has.

    The number of words chooses among several such particles.
    """
    opening = sentence.opening
    if (
        opening is None
        or sentence.word(opening.verb) not in FULL_VERBS.keys() | FULL_VERBS.values()
    ):
        return
    verb = opening.verb
    segment = next(segment for segment in sentence.segments if verb in segment)
    last = segment[-1]
    inner = [sentence.word(i) for i in range(verb + 1, last)]
    if (
        last == verb
        or sentence.tokens[last] not in PARTICLES
        or "und" in inner
        or "von" in inner
        or "vom" in inner
    ):
        return
    if not sentence.word(verb).startswith(FOREIGN_VERBS):
        foreign = FOREIGN_PARTICLES[len(sentence.tokens) % len(FOREIGN_PARTICLES)]
        yield sentence.replaced(last, foreign), sentence.distance(verb, last)


def misspell_name(
    sentence: Sentence, source: Sentence, known_words: Collection[str]
) -> Iterator[Error]:
    """Make an error in a name: swap two letters in its second half.

    A name is capitalised inside the English sentence, and spelled alike in the German one.

    Args:
        sentence, source: the German reference and its English source.
        known_words: words of the training data; names among them are skipped, because they do not
            test spelling.
    """
    inner = {
        token for i, token in enumerate(source.tokens) if i and source.tokens[i - 1][0].isalnum()
    }
    for index, token in enumerate(sentence.tokens):
        is_name = token in inner and token.istitle() and token.isalpha() and len(token) >= MIN_NAME
        if is_name and token not in known_words and (wrong := misspelled(token)) != token:
            yield sentence.replaced(index, wrong), None
