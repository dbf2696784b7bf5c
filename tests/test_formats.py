"""Folders of parallel text in four layouts, read alike."""

import gzip
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from own_files import DE, EN, message, write, write_corpus

from repro.data.catalogue import CORPORA
from repro.data.corpora import load_corpus
from repro.errors import DamagedFileError, InputError, MachineError
from repro.presets import resolve, split_direction
from repro.runs.train import train


def test_the_fingerprint_is_of_the_text_not_of_the_format(tmp_path) -> None:
    aligned, tsv, jsonl, other = (tmp_path / name for name in ("aligned", "tsv", "jsonl", "other"))
    for folder in (aligned, tsv, jsonl, other):
        folder.mkdir()
    write_corpus(aligned)
    write_corpus(other, dev_en=[EN[20], EN[21], EN[22] + "."])
    for split, low, high in (("train", 0, 20), ("dev", 20, 23), ("test", 23, 27)):
        rows = list(zip(EN[low:high], DE[low:high], strict=True))
        write(tsv, **{f"{split}_tsv": ["en\tde", *(f"{en}\t{de}" for en, de in rows)]})
        write(
            jsonl,
            **{
                f"{split}_jsonl": [
                    json.dumps({"translation": {"en": en, "de": de}}) for en, de in rows
                ]
            },
        )
    prints = [
        load_corpus(f"local:{folder}", "en", "de").fingerprint
        for folder in (aligned, tsv, jsonl, other)
    ]
    assert prints[0] == prints[1] == prints[2] != prints[3]
    # which decides no training
    write(aligned, test2_en=["One more set."], test2_de=["Noch ein Satz."])
    assert (
        load_corpus(f"local:{aligned}")["test2"]
        and load_corpus(f"local:{aligned}").fingerprint == prints[0]
    )
    code = (
        f"from repro.data.corpora import load_corpus; print(load_corpus('local:{aligned}', 'de', "
        "'en').fingerprint)"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == prints[0]
    )


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"train_tsv": "Hello\tHallo\n"},
            "train.tsv:1: does not name the languages of the columns",
        ),
        ({"train_tsv": "en\tde\nHello Hallo\n"}, "train.tsv:2: has 1 columns, not 2"),
        (
            {"train_jsonl": '{"en": "a", "de": "b"}\n{"en": "a"}\n'},
            "train.jsonl:2: has no text in 'de'",
        ),
        (
            {"train_jsonl": '{"en": "a"}\n{"en": "x", "fr": "b"}\n'},
            "train.jsonl:1: has a text in en only. Fix: give a string for each",
        ),
        (
            {"train_jsonl": '\n{"number": 3}\n'},
            "train.jsonl:2: has no text in any language. Fix: give a string for each language",
        ),
        (
            {"train_jsonl": '{"en": "a", "de": "b"}\n{"en": "a", "de": "q", "en": "z"}\n'},
            "train.jsonl:2: names 'en' more than once. Fix: ",
        ),
        (
            {"train_jsonl": '{"translation": {"en": "a", "de": "q", "de": "z"}}\n'},
            "train.jsonl:1: names 'de' more than once. Fix: ",
        ),
        ({"train_jsonl": '{"en": "a", "de": "b"}\n[1]\n'}, "train.jsonl:2: is not a JSON object"),
        ({"train_jsonl": "{" * 50_000}, "train.jsonl:1: is not a JSON object"),
        ({"train_tsv": "en\tde\ten\na\tb\tc\n"}, "train.tsv:1: names 'en' more than once"),
    ],
)
def test_damaged_tables_name_the_line(tmp_path, files, expected) -> None:
    assert message(InputError, write(tmp_path, **files)).startswith(expected)


def test_columns_that_are_no_languages_are_passed_over(tmp_path) -> None:
    name = write(
        tmp_path,
        train_tsv="number\ten\tscore_1\tde\n1\tA dog.\t0.5\tEin Hund.\n2\tYes.\t0.7\tJa.\n",
    )
    corpus = load_corpus(name)
    assert corpus.languages == ("de", "en") and corpus.pairs("train", "en", "de") == (
        ["A dog.", "Yes."],
        ["Ein Hund.", "Ja."],
    )


@pytest.mark.parametrize("kind", ["tsv", "jsonl"])
def test_a_field_id_is_indonesian_if_it_holds_sentences_or_is_asked_for(tmp_path, kind) -> None:
    def rows(*cells: str) -> str:
        if kind == "tsv":
            return "id\ten\tde\n" + "".join(
                f"{cell}\tDog {cell}.\tHund {cell}.\n" for cell in cells
            )
        return "".join(
            json.dumps({"id": cell, "en": f"Dog {cell}.", "de": f"Hund {cell}."}) + "\n"
            for cell in cells
        )

    name = write(tmp_path, **{f"train_{kind}": rows("a1", "a2"), f"dev_{kind}": rows("a3")})
    assert load_corpus(name).languages == ("de", "en")
    assert load_corpus(name, "id", "en").pairs("dev", "id", "en") == (["a3"], ["Dog a3."])
    write(tmp_path, **{f"dev_{kind}": rows("Seekor anjing")})
    assert load_corpus(name).languages == ("de", "en", "id")


@pytest.mark.parametrize("kind", ["tsv", "jsonl"])
def test_tables_of_one_corpus_have_the_same_languages(tmp_path, kind) -> None:
    text = {"tsv": "en\tde\tfr\na\tb\tc\n", "jsonl": '{"en": "a", "de": "b", "fr": "c"}\n'}[kind]
    fewer = {"tsv": "en\tde\nd\te\n", "jsonl": '{"en": "d", "de": "e"}\n'}[kind]
    name = write(tmp_path, **{f"train_{kind}": text, f"dev_{kind}": fewer})
    assert (
        f": train.{kind} has de, en, fr, but dev.{kind} has de, en. Fix: give all files the same"
        in message(InputError, name)
    )
    assert load_corpus(name, "en", "de").pairs("dev", "en", "de") == (["d"], ["e"])


def test_two_files_for_one_thing_are_refused(tmp_path) -> None:
    write(tmp_path, valid_en="x\n", valid_de="x\n")
    assert (
        message(InputError, write_corpus(tmp_path))
        == f"{tmp_path}: has both dev.de and valid.de. Fix: take one of them away"
    )
    tables = tmp_path / "tables"
    tables.mkdir()
    (tables / "train.tsv").write_text("en\tde\na\tb\n")
    (tables / "train.tsv.gz").write_bytes(gzip.compress(b"en\tde\na\tb\n"))
    assert (
        message(InputError, f"local:{tables}")
        == f"{tables}: has both train.tsv and train.tsv.gz. Fix: take one of them away"
    )


# one would be read and the other passed over in silence
def test_two_layouts_in_one_folder_are_refused(tmp_path) -> None:
    name = write_corpus(tmp_path)
    (tmp_path / "train.tsv").write_text("en\tde\na\tb\n")
    expected = (
        f"{tmp_path}: has dev.de and train.tsv, which are of two layouts. Fix: keep one layout, "
        "and move the others elsewhere"
    )
    assert message(InputError, name) == expected


def test_an_overlong_cell_is_skipped(tmp_path) -> None:
    corpus = load_corpus(
        write(tmp_path, train_tsv=["en\tde", "a\tb", "a\t" + "x" * 10_001, "c\td"])
    )
    assert (corpus.pairs("train", "en", "de")[0], corpus.dropped, corpus.skipped[0].line) == (
        ["a", "c"],
        {"too long": 1},
        3,
    )


def test_files_with_unknown_names_are_named(tmp_path) -> None:
    name = write_corpus(tmp_path)
    strange = [
        "Train2.en",
        "dev2.de",
        "dev_lc.en",
        "eval.de",
        "heldout.en",
        "readme.md",
        "test.en.txt",
        "train.csv",
        "train.en.bz2",
        "train.log",
    ]
    strange += ["train.tok.de", "train2.en", "validation.extra.en"]
    for file in [*strange, ".train.en.swp"]:
        (tmp_path / file).write_text("x\n")
    (tmp_path / "old").mkdir()
    corpus = load_corpus(name)
    assert corpus.notes == [f"not read: {', '.join([*strange[:5], 'old/', *strange[5:]])}"]
    assert list(corpus.splits) == ["train", "dev", "test"] and corpus.languages == ("de", "en")
    assert (
        load_corpus(
            write_corpus(tmp_path, train_fr=DE[:20], dev_fr=DE[20:23], test_fr=DE[23:27]),
            "en",
            "de",
        ).notes
        == corpus.notes
    )


def test_files_that_are_not_read_are_named_in_training(tmp_path, capsys) -> None:
    name = write_corpus(tmp_path)
    (tmp_path / "train2.en").write_text("x\n")
    train(
        resolve(
            "smoke", overrides=(f"data.corpus={name}", "data.vocab_size=60", "train.max_updates=1")
        ),
        tmp_path / "runs",
        quiet=True,
    )
    assert ": not read: runs/, train2.en\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    "own_name",
    [
        "test1",
        "test_2016",
        "tests",
        "newstest2019-deen",
        "news-test2008",
        "newssyscomb2009",
        "devtest",
    ],
)
def test_further_test_sets_have_names_that_say_so(tmp_path, own_name) -> None:
    (tmp_path / f"{own_name}.en").write_text(EN[30])
    (tmp_path / f"{own_name}.de").write_text(DE[30])
    corpus = load_corpus(write_corpus(tmp_path))
    assert list(corpus.splits) == ["train", "dev", "test", own_name]
    assert corpus.pairs(own_name, "en", "de") == ([EN[30]], [DE[30]])


def test_devtest_is_the_test_set_where_there_is_no_other(tmp_path) -> None:  # as in FLORES
    name = write_corpus(tmp_path, devtest_en=[EN[30]], devtest_de=[DE[30]])
    for language in ("en", "de"):
        (tmp_path / f"test.{language}").unlink()
    corpus = load_corpus(name)
    assert list(corpus.splits) == ["train", "dev", "test"]
    assert (
        corpus.pairs("test", "en", "de")
        == corpus.pairs("devtest", "en", "de")
        == ([EN[30]], [DE[30]])
    )


CODES = [
    "es-419",
    "zh-Hans-CN",
    "sr-Latn-RS",
    "ca-valencia",
    "de-AT-1996",
    "pt-BR",
    "zh_Hant_TW",
    "mn-Mong-CN",
]


@pytest.mark.parametrize("code", [*CODES, "sl-rozaj-biske", "deu_Latn", "fil", "de-CH-1901"])
def test_codes_of_languages_may_have_all_their_parts(tmp_path, code) -> None:
    for split, low, high in (("train", 0, 20), ("dev", 20, 23), ("test", 23, 27)):
        for language, lines in (("en", EN), (code, DE)):
            (tmp_path / f"{split}.{language}").write_text(
                "".join(f"{line}\n" for line in lines[low:high])
            )
    corpus = load_corpus(f"local:{tmp_path}", *split_direction(f"en-{code}"))
    assert corpus.pairs("test", "en", code) == (EN[23:27], DE[23:27])
    assert split_direction(f"{code}-en") == (code, "en")


def test_files_beside_the_only_language_are_named(tmp_path) -> None:
    for file in ("train.en", "train.x-own", "train.DE"):
        (tmp_path / file).write_text("x\n")
    what = "holds one language only (en), and what has no known name: train.DE, train.x-own"
    assert (
        message(InputError, f"local:{tmp_path}")
        == f"{tmp_path}: {what}. Fix: put the translations beside it, as train.de"
    )


# a download from Tatoeba, say
def test_a_table_without_a_name_says_what_it_needs(tmp_path) -> None:
    (tmp_path / "fra.txt").write_text("Go.\tVa !\tCC-BY\n")
    text = message(InputError, f"local:{tmp_path}")
    assert text.endswith(
        "Fix: fra.txt is a table: name it train.tsv, and put a first line that names its "
        "columns, such as 'en<TAB>de'"
    )
    (tmp_path / "train.tsv").write_text("en\tfr\n" + (tmp_path / "fra.txt").read_text())
    assert load_corpus(f"local:{tmp_path}").pairs("train", "en", "fr") == (["Go."], ["Va !"])


def test_a_column_is_named_in_the_notes_of_a_table(tmp_path) -> None:
    rows = {"train_tsv": ["en\tde", "a\tb", "c\xad\td"], "test_tsv": ["en\tde", "e\tf\u200e", "\t"]}
    assert load_corpus(write(tmp_path, **rows)).notes == [
        (
            "test.tsv, de: 1 line with characters that no model should see (U+200E), read without "
            "them; kept in references"
        ),
        "test.tsv, de: 1 line blank, kept as published",
        "test.tsv, en: 1 line blank, kept as published",
        (
            "train.tsv, en: 1 line with characters that no model should see (U+00AD), read "
            "without them"
        ),
    ]


SEGMENTS = (
    '<?xml version="1.0"?>\n<mteval>\n<doc docid="1">\n<title>{0}</title>\n'
    '<seg id="1"> {0} &amp; co </seg>\n<seg id="2"> b &amp;lt; </seg>\n</doc>\n'
)


def write_wit3(root: Path) -> Path:
    folder = root / "ted-en-de"
    folder.mkdir(parents=True)
    for language, url in (
        ("de", "<url>u</url>\n<reviewer>r</reviewer>\n"),
        ("en", "<url>u</url>\n"),
    ):
        (folder / f"train.tags.de-en.{language}").write_text(
            f"{url}<title>t</title>\n {language} 1 \n{language} 2\n<url>v</url>\n{language} 3\n"
        )
        for talks, name in (
            ("TED", "tst2010"),
            ("TED", "tst2012"),
            ("TED", "tst2013"),
            ("TEDX", "tst2013"),
        ):
            path = folder / f"IWSLT16.{talks}.{name}.de-en.{language}.xml"
            path.write_text(SEGMENTS.format(f"{talks} {name} {language}"))
    return folder


def test_wit3_archives_are_read(tmp_path, monkeypatch) -> None:
    folder = write_wit3(tmp_path)
    corpus = load_corpus(f"local-allow-leaks:{folder}", "de", "en")
    assert corpus.pairs("train", "de", "en") == (["de 1", "de 2", "de 3"], ["en 1", "en 2", "en 3"])
    assert list(corpus.splits) == ["train", "dev", "test", "tst2010", "tedx_tst2013"]
    assert (
        corpus.pairs("test", "de", "en")[0]
        == corpus.pairs("tst2013", "de", "en")[0]
        == ["TED tst2013 de & co", "b &lt;"]
    )
    assert corpus["train"].place(2, "de") == "train.tags.de-en.de:7"
    assert corpus["train"].place(2, "en") == "train.tags.de-en.en:6"


def test_two_editions_of_a_set_of_talks_are_not_mixed(tmp_path) -> None:
    folder = write_wit3(tmp_path)
    (folder / "IWSLT17.TED.tst2013.de-en.en.xml").write_text(SEGMENTS.format("another edition"))
    with pytest.raises(
        InputError,
        match=(
            r"has both IWSLT1.*tst2013\.de-en\.en\.xml and IWSLT1.*tst2013\.de-en\.en\.xml. Fix: "
            r"take one"
        ),
    ):
        load_corpus(f"local-allow-leaks:{folder}", "de", "en")


def test_facts_about_a_talk_may_be_longer_than_a_sentence(tmp_path) -> None:
    folder = write_wit3(tmp_path)
    for path in folder.iterdir():
        path.write_text(
            path.read_text().replace("<url>", f"<description>{'x' * 300}</description>\n<url>")
        )
    (folder / "IWSLT16.TED.tst2012.de-en.de.xml").write_text(
        SEGMENTS.format("Hund") + f"<description>{'y' * 300}</description>\n"
    )
    (folder / "train.tags.de-en.de").write_text(
        (folder / "train.tags.de-en.de").read_text().replace("de 2", "Wort " * 60)
    )
    corpus = load_corpus(f"local-allow-leaks:{folder}", "de", "en", max_chars=200)
    assert corpus.pairs("train", "de", "en") == (["de 1", "de 3"], ["en 1", "en 3"])
    assert corpus.dropped == {"too long": 1} and len(corpus.pairs("tst2012", "de", "en")[0]) == 2


@pytest.mark.parametrize("pair", ["en-pt-br", "pt-br-en"])
def test_the_languages_of_a_wit3_archive_may_have_regions(tmp_path, pair) -> None:
    for language in ("en", "pt-br"):
        (tmp_path / f"train.tags.{pair}.{language}").write_text(f"<url>u</url>\n{language} 1\n")
    corpus = load_corpus(f"local:{tmp_path}")
    assert corpus.languages == ("en", "pt-br") and corpus.pairs("train", "pt-br", "en") == (
        ["pt-br 1"],
        ["en 1"],
    )


def test_a_missing_train_split_says_where_to_put_it(tmp_path, monkeypatch) -> None:
    for path in write_wit3(tmp_path).glob("train.*"):
        path.unlink()
    monkeypatch.setitem(CORPORA, "iwslt16", replace(CORPORA["iwslt16"], checksums={}))
    corpus = load_corpus("iwslt16", root=tmp_path)
    with pytest.raises(InputError) as caught:
        corpus.pairs("train", "de", "en")
    fix = (
        "put train.tags.de-en.de and train.tags.de-en.en into REPRO_DATA/ted-en-de/ (from "
        "https://wit3.fbk.eu)"
    )
    assert str(caught.value) == f"iwslt16: has no split 'train'. Fix: {fix}"


def test_a_changed_published_file_is_refused(tmp_path) -> None:  # case D9
    write_wit3(tmp_path)
    expected = "iwslt16/IWSLT16.TED.tst2012.de-en.de.xml: SHA-256 of its text is "
    assert message(DamagedFileError, "iwslt16", root=tmp_path).startswith(expected)


def test_the_cut_of_fairseq_is_read_with_its_words_put_together(tmp_path) -> None:
    """Its script leaves merges of subword-nmt, and files beside the splits."""
    folder = tmp_path / "iwslt14.tokenized.de-en"
    folder.mkdir()
    cut = [f"die Zei@@ le {n} , Wor@@ t@@ ende ." for n in range(27)]
    english = [f"the li@@ ne {n} , end of wor@@ d ." for n in range(27)]
    for split, part in (("train", slice(20)), ("valid", slice(20, 23)), ("test", slice(23, 27))):
        write(folder, **{f"{split}_de": cut[part], f"{split}_en": english[part]})
    (folder / "code").write_text("#version: 0.2\n")
    (folder / "tmp").mkdir()
    corpus = load_corpus("iwslt14-fairseq", "de", "en", root=tmp_path)
    assert corpus.pairs("dev", "de", "en") == (
        [f"die Zeile {n} , Wortende ." for n in (20, 21, 22)],
        [f"the line {n} , end of word ." for n in (20, 21, 22)],
    )
    assert len(corpus.splits["train"]) == 20 and len(corpus.splits["test"]) == 4


def test_a_corpus_of_opus_is_cut_without_leaks(tmp_path, monkeypatch) -> None:
    name = "opensubtitles-en-ru"
    monkeypatch.setitem(CORPORA, name, replace(CORPORA[name], held_out=(5, 7)))
    folder = tmp_path / "opensubtitles-en-ru"
    folder.mkdir()
    lines = {"en": [f"Take number {n}." for n in range(60)]}
    lines["ru"] = [f"Дубль {n // 2}." for n in range(60)]  # two English lines share a Russian one
    for language, text in lines.items():
        path = folder / f"OpenSubtitles.en-ru.{language}"
        path.write_text("".join(f"{line}\n" for line in text), "utf-8")
    corpus = load_corpus("opensubtitles-en-ru", "en", "ru", root=tmp_path)
    sides = {split: set(corpus.pairs(split, "en", "ru")[1]) for split in corpus.splits}
    assert len(corpus.splits["dev"]) >= 5 and len(corpus.splits["test"]) >= 7
    assert not sides["train"] & (sides["dev"] | sides["test"]) and not sides["dev"] & sides["test"]
    assert sum(map(len, corpus.splits.values())) == 60
    assert "https://opus.nlpl.eu" in message(MachineError, "opensubtitles-en-ru", root=folder)
