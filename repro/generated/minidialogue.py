"""Generate the English corpus ``minidialogue``: a persona, a question to it, and the reply.

    I live in Oslo. I own a black dog. I am a baker. My sister is called Anna. | Hello, I am Paul.
    Do you live in Berlin? -> Hello Paul. No, I live in Oslo.

The persona before the bar has four facts in any order. The question after it is about one topic,
which need not be one of the four. It is open ("Where do you live?"), closed ("Do you live in
Berlin?"), or a statement that asks back ("I live in Berlin. And you?"). So the reply depends on the
fact of that topic, if there is one, and on whether its value is the same. It also depends on the
name in the greeting. No persona occurs twice with the same question, but short replies recur, as
they do among people.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from repro.generated.minigerman import english
from repro.generated.minigerman.lexicon import ADJECTIVES, CITIES, FIRST_NAMES, NOUNS
from repro.generated.minigerman.meaning import NounPhrase
from repro.generated.minigerman.phrases import toss_coin
from repro.generated.splits import SEPARATOR, Pair, draw_splits

NUM_FACTS = 4
SECRET = "I would rather not say."
JOBS = (
    "author",
    "baker",
    "cook",
    "doctor",
    "farmer",
    "judge",
    "painter",
    "policeman",
    "singer",
    "soldier",
    "teacher",
    "thief",
)
NUM_ADJECTIVES = 8  # the most common adjectives of a noun class


@dataclass(frozen=True)
class Topic:
    """A topic of facts and questions; ``{}`` in its sentences is replaced by a value.

    Args:
        fact: statement of the fact.
        open_question: question for the value.
        closed_question: question whether the value is a given one.
        draw: draws a value.
    """

    fact: str
    open_question: str
    closed_question: str
    draw: Callable[[Random], str]


def _draw_job(rng: Random) -> str:
    """Draw a job with its article."""
    job = rng.choice(JOBS)
    return f"an {job}" if job == "author" else f"a {job}"


def _draw_singular(rng: Random, noun_class: str) -> str:
    """Draw a singular noun phrase with an adjective."""
    adjective = rng.choice(ADJECTIVES[noun_class][:NUM_ADJECTIVES])
    words = english.noun_phrase(
        NounPhrase(rng.choice(NOUNS[noun_class]), "a", adjective=adjective), "dobj", None
    )
    return " ".join(word.form for word in words)


def _draw_plural(rng: Random, noun_class: str) -> str:
    """Draw a plural noun."""
    return rng.choice([noun for noun in NOUNS[noun_class] if not noun.is_mass]).english_plural


TOPICS = (
    Topic(
        "I live in {}.", "Where do you live?", "Do you live in {}?", lambda rng: rng.choice(CITIES)
    ),
    Topic("I am {}.", "What is your job?", "Are you {}?", _draw_job),
    Topic(
        "I own {}.",
        "Which animal do you own?",
        "Do you own {}?",
        lambda rng: _draw_singular(rng, "animal"),
    ),
    Topic(
        "I want {}.",
        "Which gift do you want?",
        "Do you want {}?",
        lambda rng: _draw_singular(rng, "thing"),
    ),
    Topic(
        "I like {}.", "What do you eat?", "Do you like {}?", lambda rng: _draw_plural(rng, "food")
    ),
    Topic(
        "I collect {}.",
        "Which collection do you have?",
        "Do you collect {}?",
        lambda rng: _draw_plural(rng, "thing"),
    ),
    Topic(
        "My sister is called {}.",
        "Who is your sister?",
        "Is your sister called {}?",
        lambda rng: rng.choice(FIRST_NAMES["f"]),
    ),
    Topic(
        "My brother is called {}.",
        "Who is your brother?",
        "Is your brother called {}?",
        lambda rng: rng.choice(FIRST_NAMES["m"]),
    ),
)


def splits(sizes: dict[str, int] | None = None, seed: int = 0) -> dict[str, list[Pair]]:
    """Draw train, dev and test of ``minidialogue``; see ``draw_splits``."""
    return draw_splits(sample_pair, sizes, seed, targets_recur=True)


def sample_pair(rng: Random) -> Pair:
    """Draw a persona with a question, and the reply."""
    facts = {topic: topic.draw(rng) for topic in rng.sample(TOPICS, NUM_FACTS)}
    asked = (
        rng.choice(list(facts))
        if toss_coin(rng, 0.85)
        else rng.choice([topic for topic in TOPICS if topic not in facts])
    )
    own = facts.get(asked)
    named = own if own and toss_coin(rng, 0.5) else asked.draw(rng)
    question, reply = _ask_and_reply(rng, asked, own, named)
    if toss_coin(rng, 0.5):
        partner = rng.choice(FIRST_NAMES[rng.choice("fm")])
        question, reply = f"Hello, I am {partner}. {question}", f"Hello {partner}. {reply}"
    persona = " ".join(topic.fact.format(value) for topic, value in facts.items())
    return Pair(persona + SEPARATOR + question, reply)


def _ask_and_reply(rng: Random, topic: Topic, own: str | None, named: str) -> tuple[str, str]:
    """Return a question about a topic, in one of three ways, and the reply.

    Args:
        rng: draws the way.
        topic: of the question.
        own: the value of the persona; None without such a fact.
        named: the value in a closed question or statement.
    """
    kind = rng.choice(("open", "closed", "back"))
    question = {
        "open": topic.open_question,
        "closed": topic.closed_question.format(named),
        "back": f"{topic.fact.format(named)} And you?",
    }
    if own is None:
        return question[kind], SECRET
    fact = topic.fact.format(own)
    if kind == "closed":
        return question[kind], f"{'Yes' if own == named else 'No'}, {fact.replace('My', 'my')}"
    if kind == "back" and own == named:
        return question[kind], f"{fact.removesuffix('.')} too."
    return question[kind], fact
