"""Generate the English corpus ``minisummary``: short articles with one event, and its headline.

    Many pupils sing here. Mr Kalberg arrived. He stole the old ring. Anna dreamed that Paul sold a
    car. It happened in Oslo. -> Mr Kalberg steals old ring in Oslo

The event is an action (one of ``EVENT_VERBS`` in a main clause in the past). A claimed or dreamed
action is not an event. No sentence contains the headline: its verb is in the present, it has no
article, and another sentence than that of the event names its place. If the event says "he" or
"she", the name is the subject of the sentence before. The position of the event in the article is
random, so that no fixed sentence gives the headline. Words and grammar are those of ``minigerman``.
"""

from random import Random

from repro.generated.minigerman import english
from repro.generated.minigerman.corpus import detokenize
from repro.generated.minigerman.grammar import sample_clause
from repro.generated.minigerman.lexicon import (
    ADJECTIVES,
    CITIES,
    NOUNS,
    PREPOSITIONS,
    PRONOUNS,
    VERBS,
    proper_name,
)
from repro.generated.minigerman.meaning import Clause, NounPhrase, PrepositionalPhrase, Sentence
from repro.generated.minigerman.phrases import draw_by_rank, sample_name, sample_tense, toss_coin
from repro.generated.minigerman.words import Noun, Verb
from repro.generated.splits import Pair, draw_splits

EVENT_VERBS = ("buy", "find", "hide", "lose", "repair", "sell", "steal", "throw")
RUMOUR_VERBS = ("believe", "claim", "dream", "say")
THING_CLASSES = ("thing", "text", "garment", "vehicle", "device", "food", "animal")
MAX_WORDS = 9  # of a sentence in the background


def _verbs_with_base(bases: tuple[str, ...]) -> list[Verb]:
    """Return the verbs with these English base forms."""
    return [verb for verb in VERBS if verb.english[0] in bases]


THINGS = {
    noun_class: [noun for noun in NOUNS[noun_class] if not noun.is_mass]
    for noun_class in THING_CLASSES
}
EVENTS, RUMOURS = _verbs_with_base(EVENT_VERBS), _verbs_with_base(RUMOUR_VERBS)
INTRODUCTIONS = [
    verb for verb in VERBS if "person" in verb.subjects and not verb.objects and not verb.features
]


def splits(sizes: dict[str, int] | None = None, seed: int = 0) -> dict[str, list[Pair]]:
    """Draw train, dev and test of ``minisummary``; see ``draw_splits``."""
    return draw_splits(sample_pair, sizes, seed)


def sample_pair(rng: Random) -> Pair:
    """Draw an article and its headline."""
    event, actor = sample_event(rng), sample_name(rng)
    sentences = [_write_sentence(Clause(actor, event.verb, "past", object=event.object))]
    if toss_coin(rng, 0.5):
        pronoun = PRONOUNS["she" if actor.gender == "f" else "he"]
        sentences = [
            _introduce_actor(rng, actor),
            _write_sentence(Clause(NounPhrase(pronoun), event.verb, "past", object=event.object)),
        ]
    city, other_city = rng.sample(CITIES, 2)
    others = [sample_background(rng) for _ in range(rng.randint(1, 2))]
    if toss_coin(rng, 0.5):
        others.append(sample_rumour(rng))
    if toss_coin(rng, 0.5):
        others.append(f"{_name_of(sample_name(rng))} came from {other_city}.")
    rng.shuffle(others)
    start = rng.randint(0, len(others))
    before, after = others[:start], others[start:]
    after.insert(rng.randint(0, len(after)), f"It happened in {city}.")
    return Pair(" ".join([*before, *sentences, *after]), write_headline(actor, event, city))


def sample_event(rng: Random) -> Clause:
    """Draw an event, a verb in the past with its object, without a subject."""
    verb = rng.choice(EVENTS)
    noun_class = rng.choice([noun_class for noun_class in verb.objects if noun_class in THINGS])
    noun = draw_by_rank(rng, THINGS[noun_class])
    adjective = draw_by_rank(rng, ADJECTIVES[noun_class]) if toss_coin(rng, 0.5) else None
    return Clause(
        None, verb, "past", object=NounPhrase(noun, rng.choice(["the", "a"]), adjective=adjective)
    )


def sample_background(rng: Random) -> str:
    """Draw a short sentence without an event."""
    while True:
        clause = sample_clause(rng, is_short=True)
        text = _write_sentence(clause)
        if clause.verb not in EVENTS and len(text.split()) <= MAX_WORDS:
            return text


def sample_rumour(rng: Random) -> str:
    """Draw a sentence that reports an event as a claim or a dream."""
    event = sample_event(rng)
    event.subject = sample_name(rng)
    return _write_sentence(Clause(sample_name(rng), rng.choice(RUMOURS), "past", complement=event))


def write_headline(actor: NounPhrase, event: Clause, city: str) -> str:
    """Write an event as a headline: present tense, no article, no full stop."""
    assert event.object is not None
    thing = NounPhrase(event.object.noun, adjective=event.object.adjective)
    place = PrepositionalPhrase(PREPOSITIONS["in"], NounPhrase(proper_name(city, "n")))
    return _write_sentence(
        Clause(actor, event.verb, "present", object=thing, place=place)
    ).removesuffix(".")


def _introduce_actor(rng: Random, actor: NounPhrase) -> str:
    """Draw a sentence with the actor as subject, to which a pronoun can refer."""
    clause = Clause(actor, draw_by_rank(rng, INTRODUCTIONS))
    sample_tense(rng, clause)
    return _write_sentence(clause)


def _name_of(person: NounPhrase) -> str:
    """Return the English name of a person."""
    assert isinstance(person.noun, Noun)
    return f"{person.determiner} {person.noun.english}".strip()


def _write_sentence(clause: Clause) -> str:
    """Return a clause as an English sentence."""
    return detokenize([word.form for word in english.realize(Sentence(clause))])
