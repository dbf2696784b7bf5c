"""Corpora by name: what they are, what is missing, and test sets of one for models of another."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest
from own_files import DE, message, write, write_corpus

from repro.data.catalogue import CORPORA
from repro.data.corpora import count_pairs_in_train, load_corpus, load_pairs
from repro.errors import InputError


def test_missing_things_name_what_exists(tmp_path) -> None:  # case D8
    name = write_corpus(tmp_path)
    corpus = load_corpus(name)
    expected = f"{name}: has no split 'tset'. Fix: did you mean 'test'? Known: train, dev, test"
    with pytest.raises(InputError) as caught:
        corpus.pairs("tset", "en", "de")
    assert str(caught.value) == expected
    assert (
        message(InputError, name, "en", "du")
        == f"{tmp_path}: has no language 'du'. Fix: use one of de, en"
    )
    assert (
        message(InputError, "multi30k", "en", "es")
        == "multi30k: has no language 'es'. Fix: use one of en, de, fr"
    )
    assert message(InputError, "multi30").startswith(
        "data.corpus: unknown corpus 'multi30'. Fix: did you mean 'multi30k'?"
    )
    for one in (("en",), (None, "en"), ("en", "en")):
        for corpus_name in (name, "minigerman"):
            expected = f"{corpus_name}: was asked for en alone. Fix: name two languages, or none for all that there are"
            assert message(InputError, corpus_name, *one) == expected
    (tmp_path / "dev.de").unlink()
    assert message(InputError, name).startswith(
        f"{tmp_path}: has dev.en but no dev.de. Fix: add dev.de"
    )


def test_a_folder_without_text_says_what_it_holds(tmp_path) -> None:
    write(tmp_path, notes_docx="x")
    assert message(InputError, f"local:{tmp_path}").startswith(
        f"{tmp_path}: holds no parallel text known here, but notes.docx. Fix: "
    )
    assert message(InputError, f"local:{tmp_path}/no").startswith(
        f"{tmp_path}/no: is not a folder. Fix: "
    )
    expected = "data.corpus: 'local:' names no folder. Fix: write it after the colon, as in local:my/folder"
    assert message(InputError, "local:") == expected
    expected = "data.corpus: is empty. Fix: name a corpus, such as minigerman, or your own files as local:my/folder"
    assert message(InputError, "") == expected


def test_a_split_of_another_corpus_reads_as_the_own_text(tmp_path, monkeypatch) -> None:
    name = write_corpus(
        tmp_path, test_en=["The Dog.", "A cat!"], test_de=["Der Hund.", "Eine Katze!"]
    )
    assert load_pairs("minigerman", "de", "en", f"{name}:test") == (
        ["Der Hund.", "Eine Katze!"],
        ["The Dog.", "A cat!"],
    )
    monkeypatch.setitem(CORPORA, "minigerman", replace(CORPORA["minigerman"], prepare=str.lower))
    assert load_pairs("minigerman", "de", "en", f"{name}:test") == (
        ["der hund.", "eine katze!"],
        ["the dog.", "a cat!"],
    )


def test_letters_and_accents_of_own_files_are_composed_as_models_write_them(tmp_path) -> None:
    apart, composed = "Scho\u0308ne Gru\u0308\u00dfe.", "Sch\u00f6ne Gr\u00fc\u00dfe."
    name = write_corpus(tmp_path, test_en=["Kind regards.", "Yes."], test_de=[apart, "Ja."])
    corpus = load_corpus(name)
    assert corpus.pairs("test", "en", "de")[1] == [composed, "Ja."]
    assert corpus.notes == ["test.de: letters and their accents composed (NFC) in 1 line"]
    assert load_pairs("minigerman", "en", "de", f"{name}:test")[1] == [composed, "Ja."]
    write_corpus(tmp_path, test_en=["Kind regards.", "Yes."], test_de=[composed, "Ja."])
    assert load_corpus(name).notes == [] and load_corpus(name).fingerprint == corpus.fingerprint


@pytest.mark.parametrize(
    ("split", "expected"),
    [
        (
            "minigerman:test",
            "minigerman:test: is a split of the corpus of the run itself. Fix: write test",
        ),
        (
            "minisummary:test",
            "minisummary:test: is for summarisation, minigerman is for translation. Fix: ",
        ),
        (
            "local:my/folder",
            "local:my/folder: names a folder, but no split of it. Fix: write local:my/folder:test",
        ),
        ("enja:test", "enja: has no language 'de'. Fix: "),
        ("iwslt:test", "data.corpus: unknown corpus 'iwslt'. Fix: did you mean 'iwslt1"),
    ],
)
def test_what_is_no_test_set_for_a_run_is_refused(split, expected) -> None:
    with pytest.raises(InputError) as caught:
        load_pairs("minigerman", "en", "de", split)
    assert str(caught.value).startswith(expected)


def test_what_a_model_may_know_of_another_corpus_is_counted(tmp_path) -> None:
    (tmp_path / "own").mkdir()
    own = write_corpus(
        tmp_path / "own",
        train_en=["A dog.", "Thank you.", "Go on."],
        train_de=["Ein Hund.", "Danke.", "Weiter."],
    )
    other = write(
        tmp_path,
        # known; its English known; known; its German known; new
        test_en=["a dog", "Thank you!", "Go on!", "Walk on.", "It rains."],
        test_de=["Ein Hund!", "Vielen Dank.", "Weiter", "Weiter.", "Es regnet."],
    )
    assert count_pairs_in_train(own, "en", "de", f"{other}:test") == {"pairs": 2, "en": 1, "de": 1}
    assert count_pairs_in_train(own, "en", "de", "dev") == {"pairs": 0, "en": 0, "de": 0}
    write(tmp_path / "own", train_en=["It rains.", "Thank you.", "Go on."])
    assert count_pairs_in_train(own, "en", "de", f"{other}:test") == {
        "pairs": 1,
        "en": 2,
        "de": 2,
    }, "the text as it is now"


def test_it_is_a_dataset_with_a_column_per_language(tmp_path) -> None:
    dataset = load_corpus(write_corpus(tmp_path), "en", "de").dataset
    assert dataset["train"].column_names == ["en", "de"]
    assert list(dataset["test"]["de"]) == DE[23:27]


def test_statistics_are_those_of_you2020_table_1(tmp_path) -> None:
    """Of train and test: dev, which is longer here, does not count."""
    dev = {"dev_en": ["g " * 9], "dev_de": ["q " * 9]}
    name = write(
        tmp_path,
        train_en=["a b", "c"],
        train_de=["x y z", "u v w"],
        test_en=["d e f"],
        test_de=["p"],
        **dev,
    )
    statistics = load_corpus(name).statistics("en", "de")
    assert (statistics.train_pairs, statistics.test_pairs) == (2, 1)
    assert (statistics.source_length, statistics.target_length) == (2.0, 7 / 3)


def test_importing_is_cheap() -> None:
    code = "import sys, repro.data.corpora; print(sorted({'torch', 'datasets', 'numpy'} & set(sys.modules)))"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "[]"
    )


def test_records_are_complete() -> None:
    for name, record in CORPORA.items():
        assert record.about and record.licence and record.citation, name
        assert (record.folder or record.parts or name.startswith("mini")) and len(
            record.languages
        ) >= 2, name


def test_a_folder_that_cannot_be_named_in_the_encoding_of_file_names_is_not_said_to_be_missing(
    tmp_path,
):
    (tmp_path / "é").mkdir()
    code = (
        "import sys; from repro.data.formats import read_folder; from pathlib import Path; "
        "read_folder(Path(sys.argv[1], chr(233)), [], 9)"
    )
    ascii_only = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    answer = subprocess.run(
        [sys.executable, "-c", code, tmp_path], capture_output=True, text=True, env=ascii_only
    )
    assert (
        "cannot be looked for where names of files are in ascii. Fix: set PYTHONUTF8=1"
        in answer.stderr
    )
