"""Errors made in any German text: only where they are sure."""

import pytest
from expected_errors import refuses

from repro.contrastive.german_errors import REACH, RULES, generate_suite, german_errors_in
from repro.contrastive.german_errors.sentence import Sentence
from repro.contrastive.suites import read_suite
from repro.errors import InputError

ERRORS = [
    ("np_agreement", "Er kommt mit dem alten Bus.", "Er kommt mit der alten Bus.", 2),
    ("np_agreement", "Wir treffen uns in der Küche.", "Wir treffen uns in dem Küche.", 1),
    ("np_agreement", "Gestern ging sie zum Arzt.", "Gestern ging sie zur Arzt.", 1),
    ("np_agreement", "Das rote Haus brennt.", "Die rote Haus brennt.", 2),
    ("np_agreement", "Er liest die neue Zeitung.", "Er liest das neue Zeitung.", 2),
    ("subj_verb_agreement", "Ein Mann schläft.", "Ein Mann schlafen.", 1),
    ("subj_verb_agreement", "Der Hund mit den langen Ohren bellte nicht, er schlief.", None, None),
    (
        "subj_verb_agreement",
        "Der Hund mit den langen Ohren schläft.",
        "Der Hund mit den langen Ohren schlafen.",
        5,
    ),
    (
        "subj_verb_agreement",
        "Die Frau des Lehrers, die in Bonn lebt, kam.",
        "Die Frau des Lehrers, die in Bonn lebt, kamen.",
        7,
    ),
    (
        "subj_verb_agreement",
        "Drei alte Frauen sitzen im Park.",
        "Drei alte Frauen sitzt im Park.",
        1,
    ),
    ("subj_verb_agreement", "Er hatte Hunger.", "Er hatten Hunger.", 1),
    ("subj_verb_agreement", "Kinder klettern auf den Baum.", "Kinder klettert auf den Baum.", 1),
    ("subj_adequacy", "Sie kann gut singen.", "Sie können gut singen.", 1),
    ("subj_adequacy", "Heute sind sie müde.", "Heute ist sie müde.", 1),
    ("polarity_particle_nicht_del", "Tom kommt heute nicht.", "Tom kommt heute.", None),
    (
        "polarity_particle_nicht_ins",
        "Ein Mann steht auf einer Leiter.",
        "Ein Mann steht nicht auf einer Leiter.",
        None,
    ),
    ("polarity_particle_nicht_ins", "Das Wasser ist kalt.", "Das Wasser ist nicht kalt.", None),
    ("polarity_particle_kein_del", "Er hat keinen roten Hut.", "Er hat einen roten Hut.", None),
    ("polarity_particle_kein_del", "Kein Vogel sang.", "Ein Vogel sang.", None),
    ("polarity_particle_kein_ins", "Eine junge Frau lacht.", "Keine junge Frau lacht.", None),
    (
        "polarity_particle_kein_ins",
        "Mit einem Stock hat er einen Ball geworfen.",
        "Mit einem Stock hat er keinen Ball geworfen.",
        None,
    ),
    (
        "polarity_affix_del",
        "Das war eine unfreundliche Antwort.",
        "Das war eine freundliche Antwort.",
        None,
    ),
    ("polarity_affix_ins", "Das ist ein sicherer Ort.", "Das ist ein unsicherer Ort.", None),
    ("auxiliary", "Er hat gestern ein Buch gelesen.", "Er ist gestern ein Buch gelesen.", 4),
    ("auxiliary", "Hast du gegessen?", "Bist du gegessen?", 2),
    (
        "auxiliary",
        "Ich weiß, dass er nach Hause gegangen ist.",
        "Ich weiß, dass er nach Hause gegangen hat.",
        1,
    ),
    ("verb_particle", "Tom ruft seinen Bruder an.", "Tom ruft seinen Bruder preis.", 3),
    (
        "transliteration",
        "Ich traf gestern Werner Ostheim.",
        "Ich traf gestern Werenr Ostheim.",
        None,
    ),
]
SOURCES = {"Ich traf gestern Werner Ostheim.": "I met Werner Ostheim yesterday."}


def made(kind, reference):
    items = {
        item.type: item
        for item in german_errors_in(reference, SOURCES.get(reference, "A sentence."))
    }
    return (*items[kind].contrastive, items[kind].distance) if kind in items else (None, None)


@pytest.mark.parametrize(
    "kind, reference, contrastive, distance", ERRORS, ids=lambda value: str(value)[:40]
)
def test_errors_are_made(kind, reference, contrastive, distance):
    assert made(kind, reference) == (contrastive, distance)


@pytest.mark.parametrize(
    "kind, reference",
    [
        ("np_agreement", "Er kennt Männer, mit dem Peter spricht."),  # a relative pronoun
        ("np_agreement", "Er lehnt an der Leiter."),  # also "der Leiter", a man
        ("np_agreement", "Er sprach mit dem Alten."),
        ("np_agreement", "Das Messer ist scharf."),  # "die Messer" exist
        ("np_agreement", "Die Autos hupen."),
        ("np_agreement", "Er kennt die Mutter."),  # one or many, who knows
        ("subj_verb_agreement", "Eine Reihe von Leuten steht dort."),
        ("subj_verb_agreement", "Eine Gruppe Kinder spielt."),
        ("subj_verb_agreement", "Ein Mann und eine Frau tanzen."),
        ("subj_verb_agreement", "Diese Woche kommt Tom."),
        ("subj_verb_agreement", "Das Buch hat er gelesen."),
        ("subj_verb_agreement", "Weil der Mann schläft, ist es still."),
        ("subj_verb_agreement", "Ich hatte Hunger."),
        ("subj_verb_agreement", "Sie spielt Klavier."),  # adequacy
        ("subj_verb_agreement", "Ein Mann der einen Hut trägt schläft."),  # without its commas
        ("subj_adequacy", "Er sieht sie."),
        ("subj_adequacy", "Gestern sah sie Tom."),  # who saw whom?
        ("polarity_particle_nicht_del", "Er ist nicht nur klug, sondern auch schön."),
        ("polarity_particle_nicht_del", "Ist das nicht schön?"),
        ("polarity_particle_nicht_del", "Er hat nie gesagt, dass er nicht kommt."),
        ("polarity_particle_nicht_del", "Das ist gar nicht leicht."),
        ("polarity_particle_nicht_ins", "Niemand steht auf der Leiter."),
        ("polarity_particle_nicht_ins", "Steht er auf der Leiter?"),
        ("polarity_particle_nicht_ins", "Das ist es."),
        ("polarity_particle_kein_del", "Es gibt keine Hunde."),  # "eine Hunde" is a second error
        ("polarity_particle_kein_del", "Keiner der Männer lacht."),
        ("polarity_particle_kein_ins", "Ein paar Leute lachen."),
        ("polarity_particle_kein_ins", "Er steigt mit einem Freund ein."),
        ("polarity_particle_kein_ins", "Was für ein Tag!"),
        ("polarity_affix_del", "Die Hunde sind unter dem Tisch."),
        ("polarity_affix_ins", "Komm so schnell wie möglich."),
        ("polarity_affix_ins", "Langsam aber sicher."),
        ("polarity_affix_ins", "Die Ruhe tut gut."),
        ("polarity_affix_ins", "Wer weiß, ob das wahr ist oder nicht."),
        ("polarity_particle_kein_del", "Ein keiner Hund bellt."),  # misspelt
        ("auxiliary", "Sie sagt, er habe das Buch gelesen."),
        ("auxiliary", "Er hat das Auto gefahren."),  # "ist gefahren" exists
        ("auxiliary", "Das Haus ist verkauft worden."),
        ("auxiliary", "Die Tür ist geschlossen."),  # "hat geschlossen" exists
        ("auxiliary", "Er hat viel zu verkaufen."),
        ("auxiliary", "Er muss gegangen sein."),
        ("verb_particle", "Das Fest findet am Samstag mit allen statt."),
        ("verb_particle", "Von nun an wohnt er dort."),
        ("verb_particle", "Er nimmt den Zug und kommt an."),
        ("transliteration", "Ich traf gestern einen Freund."),
    ],
)
def test_errors_are_not_made_where_the_rule_is_not_sure(kind, reference):
    assert made(kind, reference) == (None, None)


def test_names_that_training_has_seen_are_no_test_of_spelling():
    reference = "Ich traf gestern Werner Ostheim."
    items = [
        item
        for item in german_errors_in(reference, SOURCES[reference], {"Werner"})
        if item.type == "transliteration"
    ]
    assert [item.contrastive for item in items] == [("Ich traf gestern Werner Ostehim.",)]


def test_a_generated_suite_is_the_same_each_time_and_in_the_order_of_the_lines():
    references = [reference for _, reference, *_ in ERRORS]
    sources = [SOURCES.get(reference, "A sentence.") for reference in references]
    suite = generate_suite("own", sources, references)
    assert suite.fingerprint == generate_suite("own", sources, references).fingerprint
    assert set(suite.types) == {*RULES, "transliteration"}
    assert [item.reference for item in suite.items] == sorted(
        (item.reference for item in suite.items), key=references.index
    )
    assert all(item.contrastive[0] != item.reference for item in suite.items)
    with refuses(InputError, "own", "2", "1"):
        generate_suite("own", ["a", "b"], ["c"])


@pytest.mark.real_data
@pytest.mark.parametrize("kind", REACH)
def test_how_far_the_rules_reach_on_published_pairs(real_data, kind):
    part, fires, agrees = REACH[kind]
    suite = read_suite(
        real_data / "distil-lingeval-en-de" / f"distil-lingeval-clean.{part}.json", "en", "de"
    )
    published = [(item.reference, item.contrastive[0]) for item in suite.items if item.type == kind]
    made = [
        ([text for text, _ in RULES[kind](Sentence(reference))], wrong)
        for reference, wrong in published
    ]
    fired = [(texts, wrong) for texts, wrong in made if texts]
    assert len(fired) / len(made) * 100 == pytest.approx(fires, abs=0.05)
    assert sum(wrong in texts for texts, wrong in fired) / len(fired) * 100 == pytest.approx(
        agrees, abs=0.05
    )
    assert agrees >= 96 or not kind.startswith("polarity"), "a rule that fires is sure"
