"""Contrastive evaluation: suites are read as they are written, errors are made where they are sure, and scores are cross entropies."""

import json
import math
from collections import Counter

import pytest
import torch

from repro.analysis.ablation import scaled_heads
from repro.analysis.contrastive import accuracies, check_record, cross_entropies, decisions, score_suite, token_means, wilson
from repro.data import minigerman
from repro.data.contrastive import ContrastiveItem, ContrastiveSuite, minigerman_suite, read_suite, without_overlap
from repro.data.german_errors import RULES, errors_in, generate_suite
from repro.data.minigerman import PHENOMENA, generate
from repro.data.mucow import read_mucow, substitute
from repro.data.subwords import BOS_ID, EOS_ID, PAD_ID, Subwords
from repro.data.text import read_lines
from repro.decoding import Translator
from repro.errors import DamagedFileError, InputError
from test_transformer import small

SENTENCES = ["a small house", "the old tree stands", "a tree", "the house", "the old house stands", "a small old tree"]

LINGEVAL = [
    {
        "source": "The dog with the long ears sleeps.",
        "reference": "Der Hund mit den langen Ohren schläft.",
        "origin": "own:1",
        "errors": [
            {"type": "subj_verb_agreement", "contrastive": "Der Hund mit den langen Ohren schlafen.", "distance": 5, "frequency": 3},
            {"type": "np_agreement", "contrastive": "Die Hund mit den langen Ohren schläft.", "distance": None},
        ],
    },
    {"source": "Sleep.", "reference": "Schlaf.", "errors": [{"type": "odd", "contrastive": "Schlaf."}]},
]
CONTRAWSD = [
    {
        "source": "Er saß auf der Bank am See.",
        "reference": "He sat on the bench by the lake.",
        "ambig word": "Bank",
        "original translation": "bench",
        "origin": "own",
        "sense": "bench",
        "errors": [
            {"type": "word_sense", "contrastive": "He sat on the bank by the lake.", "replacement": "bank"},
            {"type": "word_sense", "contrastive": "He sat on the shoal by the lake.", "replacement": "shoal"},
        ],
    }
]


def write(path, value):
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False), encoding="utf-8")
    return path


def suite_of(*items, **fields):
    return ContrastiveSuite(**({"name": "own", "source": "en", "target": "de", "items": items} | fields))


# Formats


def test_lingeval97_has_an_item_for_each_error(tmp_path):
    suite = read_suite(write(tmp_path / "lingeval97.json", LINGEVAL), "en", "de")
    assert (suite.name, suite.source, suite.target, len(suite)) == ("lingeval97", "en", "de", 2)
    first, second = suite.items
    assert first == ContrastiveItem(
        LINGEVAL[0]["source"], LINGEVAL[0]["reference"], ("Der Hund mit den langen Ohren schlafen.",), "subj_verb_agreement", 5, "", "own:1"
    )
    assert (second.type, second.distance) == ("np_agreement", None)
    assert suite.skipped == {"contrastive translation equals the reference": 1}


def test_contrawsd_has_one_item_for_all_wrong_senses(tmp_path):
    suite = read_suite(write(tmp_path / "contrawsd.json", json.dumps(CONTRAWSD)), "de", "en")
    (item,) = suite.items
    assert item.contrastive == ("He sat on the bank by the lake.", "He sat on the shoal by the lake.")
    assert (item.type, item.word, item.origin, item.distance) == ("word_sense", "Bank", "own", None)
    assert suite.types == {"word_sense": 1} and suite.skipped == {}


GOOD = '{"source": "a", "reference": "b", "errors": [{"type": "t", "contrastive": "c"}]}'


@pytest.mark.parametrize(
    "text, message",
    [
        (f"[{GOOD},\n{GOOD}\n{GOOD}]", "own.json:3: has '{' where ',' belongs"),
        (f"\n{GOOD}", r"own.json:2: has '\{' where '\[' belongs"),
        (f"[\n{GOOD},\n\n", "own.json:4: is not JSON"),
        (f"[\n{GOOD}\n", "own.json:3: has the end of the file where ',' belongs"),
        (f"[\n{GOOD}]\n\nmore", "own.json:4: has text after the end of the list"),
        ('[\n{"source": "a",\n "reference": }]', "own.json:3: is not JSON .*column 15"),
        (f"[\n{GOOD},\n\n7]", "own.json:4: is not an object"),
        ("[" * 100_000, "own.json:1: is nested too deeply"),
        (f"[{GOOD},\n{'1' * 5000}]", "own.json:2: has a number of too many digits"),
        ("[]", "own.json:1: is not JSON"),
        (f"[{GOOD},\n" + GOOD.replace('"b"', '" "') + "]", "own.json:2: has no text as reference"),
        (f"[{GOOD},\n" + GOOD.replace('"a"', "3") + "]", "own.json:2: has no text as source"),
        (f"[{GOOD},\n" + GOOD.replace('"c"', '"c\\u0007"') + "]", "own.json:2: contrastive has U.0007 .control character. at character 2"),
        (f"[{GOOD},\n" + GOOD.replace("errors", "error") + "]", "own.json:2: has no list 'errors'"),
        (f"[{GOOD},\n" + GOOD.replace('"t"', "null") + "]", "own.json:2: has an error of type None"),
        (f"[{GOOD},\n" + GOOD.replace('"t"', '"t", "distance": "far"') + "]", "own.json:2: has the distance 'far'"),
        (f"[{GOOD},\n" + GOOD.replace('"t"', '"t", "distance": true') + "]", "own.json:2: has the distance True"),
        ("[" + GOOD.replace('"c"', '"b"') + "]", "own.json: holds no contrastive pair"),
    ],
)
def test_a_bad_file_is_one_clear_line(tmp_path, text, message):
    with pytest.raises(InputError, match=message) as error:
        read_suite(write(tmp_path / "own.json", text), "en", "de")
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_text_or_not_there(tmp_path):
    (tmp_path / "latin.json").write_bytes(b"[\n\n{'source': 'Stra\xdfe'}]")
    with pytest.raises(InputError, match="latin.json:3: byte 0xDF is not UTF-8"):
        read_suite(tmp_path / "latin.json", "en", "de")
    with pytest.raises(InputError, match="cannot be read .No such file"):
        read_suite(tmp_path / "none.json", "en", "de")


# MuCoW as text


def mucow(folder, key, text="Er sitzt auf der Bank.", ref="He sits on the bench."):
    for name, lines in {"key": key, "text": text, "ref": ref}.items():
        write(folder / f"de-en.{name}.txt", lines + "\n")
    return folder


def test_mucow_puts_wrong_senses_in_the_place_of_the_right_one(tmp_path):
    suite = read_mucow(mucow(tmp_path, "7\tted\tbank\tbench\tbank shoal"))
    expected = ("He sits on the bank.", "He sits on the shoal.")
    assert suite.items == (ContrastiveItem("Er sitzt auf der Bank.", "He sits on the bench.", expected, "word_sense", None, "bank", "ted"),)
    assert (suite.name, suite.source, suite.target) == ("mucow", "de", "en")


@pytest.mark.parametrize(
    "reference, right, wrong, expected",
    [
        ("The Bench is old.", "bench", "bank", ("The Bank is old.",)),
        ("THE BENCH IS OLD.", "bench", "bank", ("THE BANK IS OLD.",)),
        ("Two benches are free.", "bench", "bank banks city", ("Two banks are free.", "Two cities are free.")),
        ("A bench is an idea.", "bench", "office", ("An office is an idea.",)),
        ("He is an heir.", "heir", "son", ("He is a son.",)),
        ("He has a son.", "son", "heir uncle", ("He has an heir.",)),  # "uncle" could be a "user"
        ("They explained it.", "explained", "declare declared", ("They declared it.",)),
        ("An explanation helps.", "explanation", "declare declared declaration", ("A declaration helps.",)),  # no verb for a noun
        ("A bench and a bench.", "bench", "bank", "several right translations in the reference"),
        ("A workbench and a bench-press.", "bench", "bank", "no right translation in the reference"),
        ("The bench is old.", "bench", "banks", "no wrong translation in that form"),
        ("The bench is old.", "bench", "bench", "no wrong translation in that form"),
    ],
)
def test_a_wrong_sense_keeps_number_case_and_article(reference, right, wrong, expected):
    assert substitute(reference, right.split(), wrong.split()) == expected


def test_mucow_counts_what_it_leaves_out(tmp_path):
    suite = read_mucow(mucow(tmp_path, "7\tted\tbank\tshoal\tbank"))
    assert len(suite) == 0 and suite.skipped == {"no right translation in the reference": 1}


@pytest.mark.parametrize(
    "files, message",
    [
        ({"key": "7\tted\tbank\tbench"}, "de-en.key.txt:1: has 4 filled columns, not 5"),
        ({"key": "7\tted\t\tbench\tbank"}, "de-en.key.txt:1: has 4 filled columns, not 5"),
        ({"key": "7\tted\tbank\tbench\tbank", "ref": "He sits.\nHe stands."}, "de-en.ref.txt: has 2 lines, de-en.key.txt 1"),
        ({"key": "7\tted\tbank\tbench\tbank", "text": " "}, "de-en.text.txt:1: has no text as sentence"),
    ],
)
def test_bad_mucow_files_name_file_and_line(tmp_path, files, message):
    with pytest.raises(InputError, match=message):
        read_mucow(mucow(tmp_path, **files))


def test_a_folder_without_one_whole_mucow_is_refused(tmp_path):
    with pytest.raises(InputError, match="holds 0 files named PAIR.key.txt"):
        read_mucow(tmp_path)
    write(tmp_path / "german.key.txt", "")
    with pytest.raises(InputError, match="'german' is not a pair of languages"):
        read_mucow(tmp_path)
    (tmp_path / "german.key.txt").rename(tmp_path / "de-en.key.txt")
    with pytest.raises(InputError, match="de-en.text.txt: cannot be read"):
        read_mucow(tmp_path)


def test_items_in_the_training_data_are_left_out_and_counted():
    items = [ContrastiveItem(f"Source {i}.", f"Reference {i}.", ("x",), "t") for i in range(5)]
    suite = without_overlap(
        suite_of(*items, skipped=Counter(before=2)), ["source 0", "SOURCE 1!", "other"], ["Reference 1.", "Reference 2"]
    )
    assert suite.items == tuple(items[3:])
    assert suite.skipped == {
        "before": 2,
        "source in the training data": 1,
        "source and reference in the training data": 1,
        "reference in the training data": 1,
    }
    assert suite.fingerprint != suite_of(*items).fingerprint == suite_of(*items, name="other").fingerprint


@pytest.mark.real_data
def test_the_real_mucow(real_data):
    suite = read_mucow(real_data / "mucow-de-en")
    assert len(suite) + sum(suite.skipped.values()) == 4_268
    assert len(suite) == 3_924
    assert Counter(item.origin for item in suite.items) == {"opensubs": 1636, "eubooks": 796, "ted": 710, "tatoeba": 406, "books": 376}
    for item in suite.items:
        assert all(wrong.count(" ") == item.reference.count(" ") for wrong in item.contrastive)
    english, german = zip(*(line.split("\t") for line in read_lines(real_data / "tatoeba-deu-eng/deu.txt").lines), strict=True)
    kept = without_overlap(suite, german, english)
    assert Counter(item.origin for item in suite.items) - Counter(item.origin for item in kept.items) == {"tatoeba": 165}


# minigerman


def test_minigerman_pairs_are_exact_and_new_to_a_model_trained_on_minigerman(monkeypatch):
    train, excluded = generate(50, seed=5), []
    draw = minigerman.contrastive_pairs
    monkeypatch.setattr("repro.data.contrastive.minigerman_splits", lambda: {"train": train, "test": None})
    monkeypatch.setattr(minigerman, "contrastive_pairs", lambda *args, exclude: excluded.append(exclude) or draw(*args, exclude=exclude))
    suite = minigerman_suite.__wrapped__(4, seed=3)
    assert excluded == [train]
    assert list(suite.types.items()) == [(kind, 4) for kind in PHENOMENA["de"]]
    pairs = draw(4, 3, exclude=train)
    assert [(*item.contrastive, item.distance) for item in suite.items] == [(pair.contrastive, pair.distance) for pair in pairs]
    into_english = minigerman_suite.__wrapped__(2, seed=3, target="en")
    assert (into_english.source, into_english.target) == ("de", "en")


# Errors in any German text

ERRORS = [
    ("np_agreement", "Er kommt mit dem alten Bus.", "Er kommt mit der alten Bus.", 2),
    ("np_agreement", "Wir treffen uns in der Küche.", "Wir treffen uns in dem Küche.", 1),
    ("np_agreement", "Gestern ging sie zum Arzt.", "Gestern ging sie zur Arzt.", 1),
    ("np_agreement", "Das rote Haus brennt.", "Die rote Haus brennt.", 2),
    ("np_agreement", "Er liest die neue Zeitung.", "Er liest das neue Zeitung.", 2),
    ("subj_verb_agreement", "Ein Mann schläft.", "Ein Mann schlafen.", 1),
    ("subj_verb_agreement", "Der Hund mit den langen Ohren bellte nicht, er schlief.", None, None),
    ("subj_verb_agreement", "Der Hund mit den langen Ohren schläft.", "Der Hund mit den langen Ohren schlafen.", 5),
    (
        "subj_verb_agreement",
        "Die Frau des Lehrers, die in Bonn lebt, kam.",
        "Die Frau des Lehrers, die in Bonn lebt, kamen.",
        7,
    ),
    ("subj_verb_agreement", "Drei alte Frauen sitzen im Park.", "Drei alte Frauen sitzt im Park.", 1),
    ("subj_verb_agreement", "Er hatte Hunger.", "Er hatten Hunger.", 1),
    ("subj_verb_agreement", "Kinder klettern auf den Baum.", "Kinder klettert auf den Baum.", 1),
    ("subj_adequacy", "Sie kann gut singen.", "Sie können gut singen.", 1),
    ("subj_adequacy", "Heute sind sie müde.", "Heute ist sie müde.", 1),
    ("polarity_particle_nicht_del", "Tom kommt heute nicht.", "Tom kommt heute.", None),
    ("polarity_particle_nicht_ins", "Ein Mann steht auf einer Leiter.", "Ein Mann steht nicht auf einer Leiter.", None),
    ("polarity_particle_nicht_ins", "Das Wasser ist kalt.", "Das Wasser ist nicht kalt.", None),
    ("polarity_particle_kein_del", "Er hat keinen roten Hut.", "Er hat einen roten Hut.", None),
    ("polarity_particle_kein_del", "Kein Vogel sang.", "Ein Vogel sang.", None),
    ("polarity_particle_kein_ins", "Eine junge Frau lacht.", "Keine junge Frau lacht.", None),
    ("polarity_particle_kein_ins", "Mit einem Stock hat er einen Ball geworfen.", "Mit einem Stock hat er keinen Ball geworfen.", None),
    ("polarity_affix_del", "Das war eine unfreundliche Antwort.", "Das war eine freundliche Antwort.", None),
    ("polarity_affix_ins", "Das ist ein sicherer Ort.", "Das ist ein unsicherer Ort.", None),
    ("auxiliary", "Er hat gestern ein Buch gelesen.", "Er ist gestern ein Buch gelesen.", 4),
    ("auxiliary", "Hast du gegessen?", "Bist du gegessen?", 2),
    ("auxiliary", "Ich weiß, dass er nach Hause gegangen ist.", "Ich weiß, dass er nach Hause gegangen hat.", 1),
    ("verb_particle", "Tom ruft seinen Bruder an.", "Tom ruft seinen Bruder preis.", 3),
    ("transliteration", "Ich traf gestern Werner Ostheim.", "Ich traf gestern Werenr Ostheim.", None),
]
SOURCES = {"Ich traf gestern Werner Ostheim.": "I met Werner Ostheim yesterday."}


def made(kind, reference):
    items = {item.type: item for item in errors_in(reference, SOURCES.get(reference, "A sentence."))}
    return (*items[kind].contrastive, items[kind].distance) if kind in items else (None, None)


@pytest.mark.parametrize("kind, reference, contrastive, distance", ERRORS, ids=lambda value: str(value)[:40])
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
    items = [item for item in errors_in(reference, SOURCES[reference], {"Werner"}) if item.type == "transliteration"]
    assert [item.contrastive for item in items] == [("Ich traf gestern Werner Ostehim.",)]


def test_a_generated_suite_is_the_same_each_time_and_in_the_order_of_the_lines():
    references = [reference for _, reference, *_ in ERRORS]
    sources = [SOURCES.get(reference, "A sentence.") for reference in references]
    suite = generate_suite("own", sources, references)
    assert suite.fingerprint == generate_suite("own", sources, references).fingerprint
    assert set(suite.types) == {*RULES, "transliteration"}
    assert [item.reference for item in suite.items] == sorted((item.reference for item in suite.items), key=references.index)
    assert all(item.contrastive[0] != item.reference for item in suite.items)
    with pytest.raises(InputError, match="own: has 2 sources and 1 references"):
        generate_suite("own", ["a", "b"], ["c"])


# Scores


@pytest.fixture(scope="module")
def translator():
    torch.manual_seed(4)
    subwords = Subwords.fit(SENTENCES * 5, 40)
    model = small()
    return Translator(type(model)(model.config, len(subwords), PAD_ID), subwords)


@pytest.fixture
def suite():
    pairs = [(a, b) for a in SENTENCES for b in SENTENCES if a != b]
    items = [
        ContrastiveItem(a, b, (b + " tree", "old " + b)[: 1 + i % 2], "even" if i % 2 else "odd", i % 20 or None, origin=a[0])
        for i, (a, b) in enumerate(pairs)
    ]
    return suite_of(*items, skipped=Counter(why=1))


def test_the_mean_is_over_tokens_and_padding_is_none():
    """Two words of a vocabulary of five, and one: probabilities 1/2, 1/4 and 1/8 by hand."""
    probabilities = torch.tensor([[[0.125, 0.125, 0.125, 0.5, 0.125], [0.25, 0.25, 0.25, 0.125, 0.125]]]).repeat(2, 1, 1)
    tgt_out = torch.tensor([[3, 1], [4, PAD_ID]])
    expected = [(math.log(2) + math.log(4)) / 2, math.log(8)]
    assert token_means(probabilities.log() + 7, tgt_out).tolist() == pytest.approx(expected, abs=1e-6)


def test_cross_entropies_are_those_of_each_pair_alone_token_by_token(translator):
    sources, targets = ["a tree", "the old house stands", "a tree"], ["the house", "a small house", "the old tree stands"]
    found = cross_entropies(translator, sources, targets)
    for source, target, value in zip(sources, targets, found, strict=True):
        src, tgt = translator.subwords.encode([source, target])
        if translator.model.config.source_end_mark:
            src = [*src, EOS_ID]
        losses = []
        for place, token in enumerate([*tgt, EOS_ID]):
            with torch.no_grad():
                logits = translator.model(torch.tensor([src]), torch.tensor([[BOS_ID, *tgt[:place]]]))[0, -1]
            losses.append(-float(logits.log_softmax(dim=-1)[token]))
        assert value == pytest.approx(sum(losses) / len(losses), abs=1e-5)


def test_order_and_batches_change_nothing(translator, suite):
    record = score_suite(translator, suite)
    backwards = score_suite(translator, suite_of(*suite.items[::-1]))
    assert backwards["items"]["reference"] == pytest.approx(record["items"]["reference"][::-1], abs=2e-5)
    assert decisions(backwards)[::-1] == decisions(record)
    texts = [item.reference for item in suite.items]
    sources = [item.source for item in suite.items]
    whole, single = (cross_entropies(translator, sources, texts, batch_tokens=size) for size in (100_000, 1))
    assert whole == pytest.approx(single, abs=1e-5)


def test_a_tie_is_wrong_and_all_contrastive_translations_count(translator):
    low, high = sorted(SENTENCES[:2], key=lambda text: cross_entropies(translator, ["a tree"], [text])[0])
    items = [
        ContrastiveItem("a tree", "a house ♠", ("a house ♣",), "tie"),  # both signs are unknown, so the ids are equal
        ContrastiveItem("a tree", low, (high,), "right"),
        ContrastiveItem("a tree", high, (low,), "wrong"),
        ContrastiveItem("a tree", low, (high, low + ""), "one equal"),
    ]
    record = score_suite(translator, suite_of(*items))
    assert decisions(record) == [False, True, False, False]
    assert {found.group: found.right for found in accuracies(record)} == {"tie": 0, "right": 1, "wrong": 0, "one equal": 0}


def test_what_differs_by_less_than_is_stored_is_a_tie(translator, monkeypatch):
    monkeypatch.setattr("repro.analysis.contrastive.cross_entropies", lambda *_, **__: [1.000001, 1.000002, 1.00001, 1.00002])
    items = [ContrastiveItem("a tree", "a house", ("the house",), kind) for kind in ("tie", "right")]
    record = score_suite(translator, suite_of(*items))
    assert (record["items"]["reference"], record["items"]["contrastive"]) == ([1.0, 1.00001], [[1.0], [1.00002]])
    assert decisions(record) == [False, True]


def test_a_record_is_json_and_says_how_it_was_made(translator, suite):
    record = score_suite(translator, suite)
    again = json.loads(json.dumps(record, allow_nan=False))
    assert again == record and record["kind"] == "contrastive"
    assert record["suite"] == {
        "name": "own", "source": "en", "target": "de", "items": 30, "skipped": {"why": 1}, "sha256": suite.fingerprint,
    }  # fmt: skip
    check_record(again)
    with pytest.raises(InputError, match="own: has no items"):
        score_suite(translator, suite_of())


def test_accuracies_by_type_distance_and_origin(translator, suite):
    record = score_suite(translator, suite)
    right = decisions(record)
    assert {True, False} == set(right)
    for by, group_of in {"type": lambda item: item.type, "origin": lambda item: item.origin}.items():
        expected = {}
        for item, is_right in zip(suite.items, right, strict=True):
            expected.setdefault(group_of(item), []).append(is_right)
        found = accuracies(record, by=by)
        assert [(a.group, a.right, a.total) for a in found] == [(group, sum(all_), len(all_)) for group, all_ in expected.items()]
    near = accuracies(record, by="distance")
    assert [a.group for a in near] == ["1", "2", "3", "4", "5", "6-7", "8-10", "11-15", "16+"]
    assert [a.total for a in near] == [2, 2, 2, 2, 2, 4, 5, 5, 4]
    assert [a.total for a in accuracies(record, by="distance", only="odd")] == [2, 2, 2, 3, 2, 2]
    with pytest.raises(InputError, match="cannot group by 'word'"):
        accuracies(record, by="word")


def test_wilson_interval_by_its_formula():
    found, z, p, n = wilson("x", 8, 10), 1.959964, 0.8, 10
    center, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    assert (found.low, found.high) == pytest.approx([(center + sign * half) / (1 + z * z / n) for sign in (-1, 1)], abs=1e-6)
    assert wilson("x", 0, 5).low == 0 and wilson("x", 5, 5).high == 1


@pytest.mark.parametrize("fault", ["score", "accuracy", "lost item", "lost key"])
def test_a_record_edited_by_hand_is_found(translator, suite, fault):
    record = json.loads(json.dumps(score_suite(translator, suite)))
    if fault == "score":
        record["items"]["reference"][decisions(record).index(True)] += 9
    elif fault == "accuracy":
        record["accuracy"][0]["right"] += 1
    elif fault == "lost item":
        record["items"]["reference"].pop()
    else:
        del record["items"]["type"]
    with pytest.raises(DamagedFileError, match="score the suite again"):
        check_record(record)


def test_head_masks_compose(translator, suite):
    """Claim R-08: accuracy with and without a head, by laying a mask around the call."""
    whole = score_suite(translator, suite)
    with scaled_heads(translator.model, {("encoder_self", 0): [1.0, 1.0, 1.0, 0.0]}):
        masked = score_suite(translator, suite)
    assert masked["items"]["reference"] != whole["items"]["reference"]
    assert score_suite(translator, suite)["items"] == whole["items"]


def test_sentences_beyond_the_attention_are_refused():
    subwords = Subwords.fit(SENTENCES * 5, 40)
    model = small(encoder_self="recurrent(max_len=12)", decoder_self="recurrent(max_len=12)")
    bounded = Translator(type(model)(model.config, len(subwords), PAD_ID), subwords)
    long = "a small old tree " * 5
    with pytest.raises(InputError, match=r"the source 'a small old tree .*': has \d+ tokens with its mark, but .* defined for 12"):
        cross_entropies(bounded, [long], ["a tree"])
    with pytest.raises(InputError, match="the target 'a small old tree"):
        cross_entropies(bounded, ["a tree"], [long])
    with pytest.raises(InputError, match="targets: 1 targets for 2 sources"):
        cross_entropies(bounded, ["a tree", "the house"], ["a tree"])


@pytest.mark.parametrize("site, side", [("encoder_self", "source"), ("decoder_self", "target"), ("cross", "source"), ("cross", "target")])
def test_the_longest_sentence_with_its_mark_is_the_last_that_is_read(site, side):
    subwords = Subwords.fit(SENTENCES * 5, 40)
    model = small(**{site: "synthesizer(max_len=12)"})
    bounded = Translator(type(model)(model.config, len(subwords), PAD_ID), subwords)
    for length in (11, 12):
        pair = {"source": "a", "target": "a"} | {side: " ".join(["a"] * length)}
        assert len(subwords.encode([pair[side]])[0]) == length
        if length == 11:
            assert cross_entropies(bounded, [pair["source"]], [pair["target"]])
        else:
            with pytest.raises(InputError, match=rf"the {side} 'a a .*': has 13 tokens with its mark, but .* defined for 12"):
                cross_entropies(bounded, [pair["source"]], [pair["target"]])
