"""Sentences of the generated corpus that a teacher has read: what the grammar must write for a
meaning, tree and alignment included."""

import pytest

from repro.generated.minigerman.contrastive import errors_in_example
from repro.generated.minigerman.corpus import example_of
from repro.generated.minigerman.lexicon import (
    ADJECTIVES,
    BE,
    FREQUENCY_ADVERBS,
    LONG_COMPOUNDS,
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


def phrase(english_word, determiner="the", adjective="", **parts):
    nouns = [noun for table in NOUNS.values() for noun in table if noun.english == english_word]
    adjectives = [
        word for table in ADJECTIVES.values() for word in table if word.english == adjective
    ]
    return NounPhrase(nouns[0], determiner, adjective=adjectives[0] if adjective else None, **parts)


def verb(infinitive, particle=""):
    return next(
        verb for verb in VERBS if verb.german[0] == infinitive and verb.german_particle == particle
    )


def adverb(english_word):
    tables = [TIME_ADVERBS, FREQUENCY_ADVERBS, PLACE_ADVERBS, *MANNER_ADVERBS.values()]
    return next(word for table in tables for word in table if word.english == english_word)


def place(preposition, noun_phrase):
    return PrepositionalPhrase(PREPOSITIONS[preposition], noun_phrase)


def pronoun(english_word):
    return NounPhrase(PRONOUNS[english_word], plural=PRONOUNS[english_word].plural)


GOLDEN = [
    (
        Clause(
            phrase("woman", adjective="old"),
            verb("lesen"),
            object=phrase("book", "a", "new"),
            time=adverb("today"),
            front="time",
        ),
        "Today the old woman reads a new book.",
        "Heute liest die alte Frau ein neues Buch.",
    ),
    (
        Clause(
            phrase("man"), verb("machen", "auf"), negated=True, object=phrase("door"), tense="past"
        ),
        "The man did not open the door.",
        "Der Mann machte die Tür nicht auf.",
    ),
    (
        Clause(
            pronoun("she"),
            verb("rufen", "an"),
            object=phrase("boy"),
            tense="perfect",
            time=adverb("today"),
        ),
        "She has called the boy today.",
        "Sie hat heute den Jungen angerufen.",
    ),
    (
        Clause(
            phrase("man"),
            verb("lachen"),
            subordinator="because",
            subordinate=Clause(
                phrase("child", plural=True), verb("machen", "zu"), object=phrase("window")
            ),
            front="subordinate",
        ),
        "Because the children close the window, the man laughs.",
        "Weil die Kinder das Fenster zumachen, lacht der Mann.",
    ),
    (
        Clause(
            phrase("guest", modifier=place("with", phrase("dog", plural=True))),
            verb("helfen"),
            object=phrase("neighbour", "my"),
        ),
        "The guest with the dogs helps my neighbour.",
        "Der Gast mit den Hunden hilft meinem Nachbarn.",
    ),
    (
        Clause(
            phrase("girl"),
            verb("gehen"),
            tense="perfect",
            place=place("into", phrase("garden", adjective="small")),
        ),
        "The girl has gone into the small garden.",
        "Das Mädchen ist in den kleinen Garten gegangen.",
    ),
    (
        Clause(
            phrase("aunt"),
            verb("geben"),
            tense="modal",
            modal="can",
            recipient=phrase("student", "this"),
            object=phrase("gift", "no"),
        ),
        "The aunt can give this student no gift.",
        "Die Tante kann diesem Studenten kein Geschenk geben.",
    ),
    (
        Clause(
            phrase("woman", relative=Clause(phrase("man"), verb("besuchen"), gap="object")),
            BE,
            predicate=ADJECTIVES["person"][3],
            negated=True,
        ),
        "The woman whom the man visits is not unhappy.",
        "Die Frau, die der Mann besucht, ist nicht unglücklich.",
    ),
    (
        Clause(
            phrase("teacher"),
            verb("sagen"),
            tense="past",
            complement=Clause(
                pronoun("they"),
                verb("warten"),
                object=pronoun("he"),
                tense="past",
                place=adverb("here"),
            ),
        ),
        "The teacher said that they waited for him here.",
        "Der Lehrer sagte, dass sie hier auf ihn warteten.",
    ),
    (
        Clause(
            phrase("man", conjunct=phrase("child", "a")),
            verb("schlafen"),
            place=place("in", phrase("city")),
            front="place",
        ),
        "In the city the man and a child sleep.",
        "In der Stadt schlafen der Mann und ein Kind.",
    ),
    (
        Clause(
            NounPhrase(proper_name("Kalmann", "m"), "Mr"),
            verb("trinken"),
            object=phrase("water", "", "cold"),
            is_question=True,
        ),
        "Does Mr Kalmann drink cold water?",
        "Trinkt Herr Kalmann kaltes Wasser?",
    ),
    (
        Clause(
            pronoun("they"),
            verb("hören", "zu"),
            tense="past",
            object=NounPhrase(proper_name("Berski", "m"), "Mr"),
            manner=adverb("patiently"),
        ),
        "They listened to Mr Berski patiently.",
        "Sie hörten Herrn Berski geduldig zu.",
    ),
    (
        Clause(pronoun("we"), verb("suchen"), object=NounPhrase(LONG_COMPOUNDS[0], "the")),
        "We look for the house door key.",
        "Wir suchen den Haustürschlüssel.",
    ),
    (
        Clause(
            phrase("dog", "two", "big", plural=True),
            verb("beißen"),
            tense="past",
            object=phrase("friend", "many", "nice", plural=True),
        ),
        "Two big dogs bit many nice friends.",
        "Zwei große Hunde bissen viele nette Freunde.",
    ),
]


@pytest.mark.parametrize(
    ("clause", "expected_english", "expected_german"), GOLDEN, ids=[golden[2] for golden in GOLDEN]
)
def test_golden_sentences_are_as_a_teacher_would_write_them(
    clause, expected_english, expected_german
):
    example = example_of(Sentence(clause))
    assert (example.english, example.german) == (expected_english, expected_german)


def test_golden_tree_and_alignment():
    example = example_of(Sentence(GOLDEN[1][0]))
    assert example.english_tokens == (
        ("The", 1, "det"), ("man", 4, "nsubj"), ("did", 4, "aux"), ("not", 4, "neg"),
        ("open", -1, "root"), ("the", 6, "det"), ("door", 4, "dobj"), (".", 4, "punct"),
    )  # fmt: skip
    assert example.german_tokens == (
        ("Der", 1, "det"), ("Mann", 2, "nsubj"), ("machte", -1, "root"), ("die", 4, "det"),
        ("Tür", 2, "dobj"), ("nicht", 2, "neg"), ("auf", 2, "prt"), (".", 2, "punct"),
    )  # fmt: skip
    assert example.alignment == (
        (0, 0),
        (1, 1),
        (2, 2),
        (2, 6),
        (3, 5),
        (4, 2),
        (4, 6),
        (5, 3),
        (6, 4),
        (7, 7),
    )


def test_the_distance_of_a_contracted_article_is_that_of_its_noun():
    city = PrepositionalPhrase(PREPOSITIONS["to"], phrase("station", adjective="old"))
    node = Clause(NounPhrase(PRONOUNS["he"]), verb("gehen"), place=city)
    (pair,) = errors_in_example(example_of(Sentence(node)), "de", ["np_agreement"])
    assert (pair.reference, pair.contrastive, pair.distance) == (
        "Er geht zum alten Bahnhof.",
        "Er geht zur alten Bahnhof.",
        2,
    )
