"""Corpora that join others: what their splits hold, and that train holds no held-out sentence."""

from dataclasses import replace

import pytest
from own_files import DE, EN, write, write_corpus

from repro.data import joining
from repro.data.catalogue import CORPORA, CorpusRecord
from repro.data.corpora import load_corpus
from repro.data.parallel import ParallelCorpus

PART = CorpusRecord(("en", "de"), "about", "licence", "https://example.org", on_leak="drop")


@pytest.fixture
def joined(tmp_path, monkeypatch) -> ParallelCorpus:
    """Return a corpus of two parts; train of `two` has a test sentence of `one`, and a dev pair."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        monkeypatch.setitem(CORPORA, name, replace(PART, folder=name))
    write_corpus(tmp_path / "one", **{"test-2017_en": EN[30:32], "test-2017_de": DE[30:32]})
    write(
        tmp_path / "two",
        train_en=[*EN[100:120], EN[23], EN[20]],
        train_de=[*DE[100:120], "Neu.", DE[20]],
        dev_en=EN[120:124],
        dev_de=DE[120:124],
        test_en=EN[124:125],
        test_de=DE[124:125],
    )
    monkeypatch.setattr(joining, "SAMPLE", 2)
    monkeypatch.setitem(CORPORA, "both", replace(PART, parts=("one", "two")))
    return load_corpus("both", root=tmp_path)


def test_train_is_all_pairs_without_held_out_sentences_of_any_part(joined) -> None:
    assert joined.pairs("train", "en", "de") == (EN[:20] + EN[100:120], DE[:20] + DE[100:120])
    assert joined.pairs("train", "de", "en") == (DE[:20] + DE[100:120], EN[:20] + EN[100:120])
    assert [(skip.file, skip.line, skip.reason) for skip in joined.skipped] == [
        ("two/train.en", 21, "leak"),
        ("two/train.en", 22, "leak"),
    ]
    assert joined.leaks == []


def test_what_was_left_out_is_counted_by_held_out_set(joined) -> None:
    left_out = {note.partition(":")[0] for note in joined.notes if "left out of train" in note}
    assert left_out == {"dev in train", "test in train", "test_one in train"}


def test_mixed_sets_take_as_many_pairs_of_each_part(joined) -> None:
    assert joined.pairs("dev", "en", "de")[0] == [EN[20], EN[21], EN[120], EN[122]]
    assert joined.pairs("test", "en", "de")[0] == [EN[23], EN[25], EN[124]]


def test_test_sets_of_the_parts_are_whole(joined) -> None:
    assert joined.pairs("test_one", "en", "de") == (EN[23:27], DE[23:27])
    assert joined.pairs("test_two", "en", "de") == (EN[124:125], DE[124:125])
    assert joined.pairs("test-2017", "en", "de") == (EN[30:32], DE[30:32])
    assert list(joined.splits)[:3] == ["train", "dev", "test"]


def test_a_pair_is_named_by_the_file_of_its_part(joined) -> None:
    assert joined["train"].place(21, "de") == "two/train.de:2"
