"""Contrastive suites, read as they are written: LingEval97, ContraWSD, MuCoW as text, and those of
the generated corpus."""

import json
import os
from collections import Counter
from pathlib import Path

import pytest
from expected_errors import refuses

from repro.contrastive.mucow import read_mucow, substitute_translations
from repro.contrastive.suites import (
    ContrastiveItem,
    ContrastiveSuite,
    minigerman_suite,
    read_suite,
    suite_without_overlap,
)
from repro.data.text import read_lines
from repro.errors import InputError
from repro.generated import minigerman
from repro.generated.minigerman import PHENOMENA, generate

LINGEVAL = [
    {
        "source": "The dog with the long ears sleeps.",
        "reference": "Der Hund mit den langen Ohren schläft.",
        "origin": "own:1",
        "errors": [
            {
                "type": "subj_verb_agreement",
                "contrastive": "Der Hund mit den langen Ohren schlafen.",
                "distance": 5,
                "frequency": 3,
            },
            {
                "type": "np_agreement",
                "contrastive": "Die Hund mit den langen Ohren schläft.",
                "distance": None,
            },
        ],
    },
    {
        "source": "Sleep.",
        "reference": "Schlaf.",
        "errors": [{"type": "odd", "contrastive": "Schlaf."}],
    },
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
            {
                "type": "word_sense",
                "contrastive": "He sat on the bank by the lake.",
                "replacement": "bank",
            },
            {
                "type": "word_sense",
                "contrastive": "He sat on the shoal by the lake.",
                "replacement": "shoal",
            },
        ],
    }
]


def write(path, value):
    path.write_text(
        value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False),
        encoding="utf-8",
    )
    return path


def suite_of(*items, **fields):
    return ContrastiveSuite(
        **({"name": "own", "source": "en", "target": "de", "items": items} | fields)
    )


# Formats


def test_lingeval97_has_an_item_for_each_error(tmp_path):
    suite = read_suite(write(tmp_path / "lingeval97.json", LINGEVAL), "en", "de")
    assert (suite.name, suite.source, suite.target, len(suite)) == ("lingeval97", "en", "de", 2)
    first, second = suite.items
    assert first == ContrastiveItem(
        LINGEVAL[0]["source"],
        LINGEVAL[0]["reference"],
        ("Der Hund mit den langen Ohren schlafen.",),
        "subj_verb_agreement",
        5,
        "",
        "own:1",
    )
    assert (second.type, second.distance) == ("np_agreement", None)
    assert suite.skipped == {"contrastive translation equals the reference": 1}


def test_contrawsd_has_one_item_for_all_wrong_senses(tmp_path):
    suite = read_suite(write(tmp_path / "contrawsd.json", json.dumps(CONTRAWSD)), "de", "en")
    (item,) = suite.items
    assert item.contrastive == (
        "He sat on the bank by the lake.",
        "He sat on the shoal by the lake.",
    )
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
        (f"[{GOOD},\n" + GOOD.replace('"b"', "null") + "]", "own.json:2: has no text as reference"),
        (f"[{GOOD},\n" + GOOD.replace('"a"', "3") + "]", "own.json:2: has no text as source"),
        (f"[{GOOD},\n" + GOOD.replace("errors", "error") + "]", "own.json:2: has no list 'errors'"),
        (
            f"[{GOOD},\n" + GOOD.replace('"t"', "null") + "]",
            "own.json:2: has an error of type None",
        ),
        (
            f"[{GOOD},\n" + GOOD.replace('"t"', '"t", "distance": "far"') + "]",
            "own.json:2: has the distance 'far'",
        ),
        (
            f"[{GOOD},\n" + GOOD.replace('"t"', '"t", "distance": true') + "]",
            "own.json:2: has the distance True",
        ),
        (
            f"[{GOOD},\n" + GOOD.replace('"t"', '"t", "distance": -1') + "]",
            "own.json:2: has the distance -1",
        ),
        ("[" + GOOD.replace('"c"', '"b"') + "]", "own.json: holds no contrastive pair"),
    ],
)
def test_a_bad_file_is_one_clear_line(tmp_path, text, message):
    with pytest.raises(InputError, match=message) as error:
        read_suite(write(tmp_path / "own.json", text), "en", "de")
    assert "\n" not in str(error.value)


def test_texts_of_a_suite_are_read_as_models_read_them(tmp_path):
    def entry(source, reference, kind, *wrong):
        return {
            "source": source,
            "reference": reference,
            "errors": [{"type": kind, "contrastive": text} for text in wrong],
        }

    entries = [entry("a\xadb", "\ufeffc", "t", "d\u200b", "c\xad"), entry(" ", "c", "t", "d")]
    entries += [entry("a", "\u200b", "t", "d"), entry("a", "c", "word_sense", "", "d")]
    suite = read_suite(write(tmp_path / "own.json", entries), "en", "de")
    assert [(item.source, item.reference, item.contrastive) for item in suite.items] == [
        ("ab", "c", ("d",)),
        ("a", "c", ("d",)),
    ]
    assert suite.skipped == {
        **{"contrastive translation equals the reference": 1, "blank contrastive translation": 1},
        **{"blank source": 1, "blank reference": 1},
    }


def test_a_file_that_is_not_text_or_not_there(tmp_path):
    (tmp_path / "latin.json").write_bytes(b"[\n\n{'source': 'Stra\xdfe'}]")
    with refuses(InputError, "latin.json:3", "0xDF", "UTF-8"):
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
    assert suite.items == (
        ContrastiveItem(
            "Er sitzt auf der Bank.",
            "He sits on the bench.",
            expected,
            "word_sense",
            None,
            "bank",
            "ted",
        ),
    )
    assert (suite.name, suite.source, suite.target) == ("mucow", "de", "en")


@pytest.mark.parametrize(
    "reference, right, wrong, expected",
    [
        ("The Bench is old.", "bench", "bank", ("The Bank is old.",)),
        ("THE BENCH IS OLD.", "bench", "bank", ("THE BANK IS OLD.",)),
        (
            "Two benches are free.",
            "bench",
            "bank banks city",
            ("Two banks are free.", "Two cities are free."),
        ),
        ("A bench is an idea.", "bench", "office", ("An office is an idea.",)),
        ("He is an heir.", "heir", "son", ("He is a son.",)),
        ("He has a son.", "son", "heir uncle", ("He has an heir.",)),  # "uncle" could be a "user"
        ("They explained it.", "explained", "declare declared", ("They declared it.",)),
        # no verb for a noun
        (
            "An explanation helps.",
            "explanation",
            "declare declared declaration",
            ("A declaration helps.",),
        ),
        ("A bench and a bench.", "bench", "bank", "several right translations in the reference"),
        (
            "A workbench and a bench-press.",
            "bench",
            "bank",
            "no right translation in the reference",
        ),
        ("The bench is old.", "bench", "banks", "no wrong translation in that form"),
        ("The boss is old.", "boss", "knob", ("The knob is old.",)),
        # "an one", "an ewe"?
        ("A bench is old.", "bench", "one ewe", "no wrong translation in that form"),
        ("The bench is old.", "bench", "bench", "no wrong translation in that form"),
    ],
)
def test_a_wrong_sense_keeps_number_case_and_article(reference, right, wrong, expected):
    assert substitute_translations(reference, right.split(), wrong.split()) == expected


def test_mucow_counts_what_it_leaves_out(tmp_path):
    suite = read_mucow(mucow(tmp_path, "7\tted\tbank\tshoal\tbank"))
    assert len(suite) == 0 and suite.skipped == {"no right translation in the reference": 1}
    suite = read_mucow(mucow(tmp_path, "7\tted\tbank\tbench\tbank", text="\xad"))
    assert len(suite) == 0 and suite.skipped == {"blank sentence": 1}


@pytest.mark.parametrize(
    "files, message",
    [
        ({"key": "7\tted\tbank\tbench"}, "de-en.key.txt:1: has 4 filled columns, not 5"),
        ({"key": "7\tted\t\tbench\tbank"}, "de-en.key.txt:1: has 4 filled columns, not 5"),
        (
            {"key": "7\tted\tbank\tbench\tbank", "ref": "He sits.\nHe stands."},
            "de-en.ref.txt: has 2 lines, de-en.key.txt 1",
        ),
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
    suite = suite_without_overlap(
        suite_of(*items, skipped=Counter(before=2)),
        ["source 0", "SOURCE 1!", "other"],
        ["Reference 1.", "Reference 2"],
    )
    assert suite.items == tuple(items[3:])
    assert suite.skipped == {
        "before": 2,
        "source in the training data": 1,
        "source and reference in the training data": 1,
        "reference in the training data": 1,
    }
    assert (
        suite.fingerprint
        != suite_of(*items).fingerprint
        == suite_of(*items, name="other").fingerprint
    )


@pytest.mark.real_data
def test_the_real_mucow(real_data):
    suite = read_mucow(real_data / "mucow-de-en")
    assert len(suite) + sum(suite.skipped.values()) == 4_268
    assert len(suite) == 3_924
    assert Counter(item.origin for item in suite.items) == {
        "opensubs": 1636,
        "eubooks": 796,
        "ted": 710,
        "tatoeba": 406,
        "books": 376,
    }
    for item in suite.items:
        assert all(wrong.count(" ") == item.reference.count(" ") for wrong in item.contrastive)
    english, german = zip(
        *(line.split("\t") for line in read_lines(real_data / "tatoeba-deu-eng/deu.txt").lines),
        strict=True,
    )
    kept = suite_without_overlap(suite, german, english)
    assert Counter(item.origin for item in suite.items) - Counter(
        item.origin for item in kept.items
    ) == {"tatoeba": 165}


# minigerman


def test_minigerman_pairs_are_exact_and_new_to_a_model_trained_on_minigerman(monkeypatch):
    train, excluded = generate(50, seed=5), []
    draw = minigerman.contrastive_pairs
    monkeypatch.setattr(
        "repro.contrastive.suites.minigerman_splits", lambda: {"train": train, "test": None}
    )
    monkeypatch.setattr(
        minigerman,
        "contrastive_pairs",
        lambda *args, exclude: excluded.append(exclude) or draw(*args, exclude=exclude),
    )
    suite = minigerman_suite.__wrapped__(4, seed=3)
    assert excluded == [train]
    assert list(suite.types.items()) == [(kind, 4) for kind in PHENOMENA["de"]]
    pairs = draw(4, 3, exclude=train)
    assert [(*item.contrastive, item.distance) for item in suite.items] == [
        (pair.contrastive, pair.distance) for pair in pairs
    ]
    into_english = minigerman_suite.__wrapped__(2, seed=3, target="en")
    assert (into_english.source, into_english.target) == ("de", "en")


def test_a_pipe_or_a_device_is_no_suite(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")  # which nobody fills
    for path in (tmp_path / "pipe.json", Path("/dev/zero"), tmp_path):
        with pytest.raises(InputError, match=r"is not a regular file\. Fix: name a file of JSON"):
            read_suite(path, "en", "de")
