"""Subwords leave the text as it is, in every script."""

# ruff: noqa: RUF001  (many scripts)
import gzip
import random
import re
import unicodedata
from pathlib import Path

import pytest
from expected_errors import refuses

from repro.core.subwords import UNK_ID, Subwords
from repro.errors import DamagedFileError, InputError
from repro.records.translations import writable

WORDS = {
    "Latin": "ein Größe œuvre naïve l´amour ſſ ŀl ĳs ﬁnden Kapitel Ⅳ Na …",
    "Greek": "ο άνθρωπος διαβάζει ένα βιβλίο; ναι· «όχι» ﾠ́ ΐ",
    "Cyrillic": "человек читает книгу № 5 «ёж» й ї ў",
    "Arabic": "الكتاب ﻻ كِتَابٌ ١٢٣ ؟ ، السّلام",
    "Persian": "می‌خواهم کتاب‌ها را بخوانم ۱۲۳ ؟",
    "Hebrew": "שָׁלוֹם ספר ״ציטוט״ ׳א",
    "Devanagari": "हिन्दी में क़िताब पढ़ता है । क्‍ष",
    "Sinhala": "ශ්‍රී ලංකාව පොත කියවයි",
    "Thai": "ทำงาน น้ำ ภาษาไทย ๑๒๓ ฿ ๆ",
    "Han": "他说：“好吧，走！”（真的？） １０点 ～ 、 。 ㎡",
    "Kana": "ｶﾀｶﾅ カタカナ １０時に、行く？！ ゞ 〜",
    "Hangul": "한국어 책을 읽는다 ㄱㄴ ᆞ",
    "marks": "½ m² ℃ ™ 1º −5 5″ €\u00a0! 10\u202f000 👨‍👩‍👧 ▁ a\u2009b",
}


def lines_in(script: str, number: int) -> list[str]:
    """Return sentences of words of a script in a random order, some with several blanks between."""
    draw, words = random.Random(script), WORDS[script].split(" ")
    between = [" "] * 9 + ["  "]
    lines = []
    for _ in range(number):
        chosen = draw.choices(words, k=draw.randint(1, 12))
        lines.append("".join(word + draw.choice(between) for word in chosen).strip())
    return lines


LINES = {script: lines_in(script, 160) for script in WORDS}  # 2,080 in all


def fit(lines: list[str], merged: int = 15, **form: str) -> Subwords:
    """Fit a model that has a piece for each character, and some merged ones."""
    return Subwords.fit(lines, 4 + len({*"".join(composed(lines)), "▁"} - {" "}) + merged, **form)


def composed(texts: list[str]) -> list[str]:
    return [unicodedata.normalize("NFC", text) for text in texts]


@pytest.mark.parametrize("script", WORDS)
def test_the_text_of_every_script_comes_back_as_it_was(script):
    lines = LINES[script]
    subwords = fit(lines)
    assert subwords.decode(subwords.encode(lines)) == composed(lines)
    assert not subwords.unknown_characters(lines)


def test_many_scripts_share_a_vocabulary():
    lines = [line for script in LINES.values() for line in script]
    subwords = fit(lines, 100)
    assert subwords.decode(subwords.encode(lines)) == composed(lines)


def test_rare_characters_of_a_large_script_are_spelled_in_bytes():
    frequent = [
        "".join(chr(0x4E00 + (line + place) % 60) for place in range(100)) for line in range(6500)
    ]
    rare = ["".join(chr(0x5000 + 20 * line + place) for place in range(20)) for line in range(16)]
    subwords = Subwords.fit(frequent + rare, 400)
    assert subwords.decode(subwords.encode([*rare, "龍 ▁ é"])) == [*rare, "龍 ▁ é"]
    assert set(subwords.unknown_characters([rare[0], "龍龍", frequent[0]])) == {*rare[0], "龍"}
    assert subwords.unknown_characters(["龍龍"]) == {"龍": 2}


@pytest.mark.parametrize("script", ["Han", "Thai", "Persian", "marks"])
def test_the_form_of_the_first_results_rewrites_text(script):
    lines = LINES[script]
    subwords = fit(lines, 1, form="nfkc")
    assert subwords.decode(subwords.encode(lines)) != composed(lines)


def test_every_character_of_the_training_text_has_a_piece():
    lines = ["a dog"] * 20_000 + ["number 9 (of 10): 50 % & Öl/x!?"]
    exact, nfkc = fit(lines), fit(lines, 0, form="nfkc")
    assert not exact.unknown_characters(lines)
    assert nfkc.unknown_characters(lines)
    assert exact.unknown_characters(["7 dogs, 7 cats"]) == {"7": 2, ",": 1, "c": 1, "s": 2, "t": 1}


def test_a_letter_and_its_accent_are_read_as_one():
    subwords = Subwords.fit(["ein Tür und Öl"] * 9, 20)
    apart = unicodedata.normalize("NFD", "ein Tür und Öl")
    assert subwords.encode([apart]) == subwords.encode(["ein Tür und Öl"])
    assert "".join(subwords.pieces(apart)) == "▁ein▁Tür▁und▁Öl"


def test_a_blank_text_has_no_pieces():
    assert Subwords.fit(["a b c"] * 9, 9).encode(["", "   ", "\u3000", "\u00a0 \t"]) == [
        [],
        [],
        [],
        [],
    ]


@pytest.mark.parametrize("word, times", [("tapir", 900), ("тапир", 400)])  # 5,399 and 4,399 bytes
def test_long_lines_are_read_too(word, times):
    """Sentencepiece leaves out what is longer than 4,192 bytes, unless it is told otherwise."""
    long = " ".join([word] * times)
    assert UNK_ID not in Subwords.fit(["a house"] * 9 + [long], 20).encode([word])[0]


def test_an_impossible_size_is_one_line_with_the_bound():
    for size, fix in {
        5000: "use at most 13",
        5: "use at least 9: every",
        6: "use at least 9: every",
    }.items():
        what = f"data.vocab_size: cannot make {size} pieces from 2 sentences. Fix: {fix}"
        with pytest.raises(InputError, match=re.escape(what)):
            Subwords.fit(["a b", "c d"], size)
    assert len(Subwords.fit(["a b", "c d"], 13)) == 13 and len(Subwords.fit(["a b", "c d"], 9)) == 9
    with refuses(InputError, "data.vocab_size", "10000000000"):
        Subwords.fit(["a b", "c d"], 10**10)
    with pytest.raises(DamagedFileError, match="is not a sentencepiece model"):
        Subwords(b"not a model")


def test_what_subwords_cost_a_model_is_told_beside_its_scores():
    refs = ["他说：“好吧，走！”他看书", "他 看 书 。"]
    subwords = fit([*refs, *LINES["Han"]], 2, form="nfkc")
    found = writable(subwords, ["他说:“好吧,走!”他看书", "他 看 书 。"], refs, "zh", "translation")[
        "writable"
    ]
    assert found["changed"] == 1 and found["best"]["BLEU"] < 100 == round(
        found["scores"]["BLEU"], 9
    )
    assert writable(fit([*refs, *LINES["Han"]]), refs, refs, "zh", "translation") == {}


FOLDERS = ("docs-de-en", "bible-de-en", "wmt-news-de-en", "ted-en-de")
# one line in so many, which takes seconds; all lines take minutes and come back as well
SAMPLE = 50


def lines_of(folder: Path) -> list[str]:
    """Return all texts in a folder of parallel text in English and German, as its files have
    them."""
    lines: list[str] = []
    for path in sorted(folder.iterdir()):
        if path.name.endswith(".tsv.gz"):
            rows = [
                row.split("\t")[:2]
                for row in gzip.decompress(path.read_bytes()).decode().split("\n")[1:]
            ]
            lines += [text for row in rows for text in row]
        elif path.suffix in (".de", ".en"):
            lines += path.read_bytes().decode().split("\n")
        elif path.suffix == ".xml":
            lines += re.findall(r"<seg[^>]*>(.*)</seg>", path.read_bytes().decode())
    # no reader of ours keeps blanks around a text
    return [line.strip() for line in lines if line.strip()]


@pytest.mark.real_data
@pytest.mark.parametrize("name", FOLDERS)
def test_lines_of_published_text_come_back(real_data, name):
    lines = lines_of(real_data / name)[::SAMPLE]
    subwords = Subwords.fit(lines, 4000)
    assert len(lines) > 400 and subwords.decode(subwords.encode(lines)) == composed(lines)
