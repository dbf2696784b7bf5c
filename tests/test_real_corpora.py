"""What the real corpora hold; one file, which reads each of them once, since that takes seconds."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import astuple, replace
from functools import cache

import pytest
from own_files import message, write, write_corpus

from repro.core.subwords import Subwords
from repro.data import corpora
from repro.data.catalogue import CORPORA
from repro.data.characters import find_faults, normalise
from repro.data.corpora import load_corpus
from repro.data.parallel import ParallelCorpus
from repro.data.sizes import corpus_statistics, stored_sizes
from repro.errors import InputError


@pytest.fixture(scope="module")
def load() -> Iterator[Callable[..., ParallelCorpus]]:
    """Return what loads a corpus in two languages, or in all that it has.

    What is a part of `general`, too, is read once.
    """
    loaded, assemble, assembled = cache(load_corpus), corpora._assemble, {}

    def assemble_once(name, record, languages, *rest) -> ParallelCorpus:
        of = name, languages or record.languages
        if of not in assembled:
            assembled[of] = assemble(name, record, languages, *rest)
        return replace(assembled[of], notes=[*assembled[of].notes])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpora, "_assemble", assemble_once)
        yield lambda name, *languages: loaded(
            name, *(() if languages == CORPORA[name].languages else languages)
        )


@pytest.mark.real_data
def test_lower_case_is_the_same_sentences(real_data, load) -> None:
    mixed, lower = (load(name, "en", "de") for name in ("multi30k", "multi30k-lc"))
    for split in mixed.splits:
        for ours, theirs in zip(
            mixed.pairs(split, "en", "de"), lower.pairs(split, "en", "de"), strict=True
        ):
            assert theirs == [line.lower() for line in ours] != ours
    assert mixed.fingerprint != lower.fingerprint


REAL_SIZES = {
    "multi30k": {
        "train": 29_000,
        "dev": 1_014,
        "test": 1_000,
        "test_2017_flickr": 1_000,
        "test_2017_mscoco": 461,
    },
    "tatoeba": {"train": 166_801, "dev": 1_001, "test": 2_000},
    "bible": {"train": 139_665, "dev": 2_533, "test": 2_377},
    "docs": {"train": 82_027, "dev": 1_837, "test": 2_213},
    "tatoeba-test": {"test": 11_470},
    "enja": {"train": 50_000, "dev": 500, "test": 500},
    "general": {
        **{"train": 417_537, "dev": 1_999, "test": 2_000},
        **{"test_tatoeba": 2_000, "test_multi30k": 1_000, "test_docs": 2_213, "test_bible": 2_377},
        **{"test_2017_flickr": 1_000, "test_2017_mscoco": 461},
    },
    "iwslt16": {
        **{
            "dev": 1_700,
            "test": 993,
            "dev2010": 887,
            "tst2010": 1_565,
            "tst2011": 1_433,
            "tst2014": 1_305,
        },
        **{"tedx_dev2012": 1_165, "tedx_tst2013": 1_363, "tedx_tst2014": 1_414},
    },
}
LEFT_OUT = {
    "tatoeba": {"invisible character": 11},
    "bible": {"leak": 567, "blank": 6},
    "docs": {"leak": 2},
    "general": {"invisible character": 11, "blank": 6, "leak": 514},
}


@pytest.mark.real_data
@pytest.mark.parametrize("name", REAL_SIZES)
def test_real_corpora(real_data, load, name) -> None:
    corpus = load(name)
    assert {split: len(corpus[split]) for split in corpus.splits} == REAL_SIZES[name]
    assert corpus.dropped == LEFT_OUT.get(name, {})


@pytest.mark.real_data
@pytest.mark.parametrize("name", ["bible", "general"])
def test_no_held_out_sentence_is_in_train(real_data, load, name) -> None:
    corpus = load(name)
    for language in corpus.languages:
        train = {normalise(text) for text in corpus["train"].columns[language]}
        for split in corpus.splits.keys() - {"train"}:
            assert train.isdisjoint(map(normalise, corpus[split].columns[language])), split


@pytest.mark.real_data
def test_the_bible_has_neither_verse_numbers_nor_notes(real_data, load) -> None:
    columns = [split.columns for split in load("bible").splits.values()]
    assert not [
        text
        for column in columns
        for texts in column.values()
        for text in texts
        if re.search(r"\([GH]?\d+[:)]| vgl\. Anm", text)
    ]


@pytest.mark.real_data
def test_tatoeba_is_leak_free_and_not_trivial(real_data, load) -> None:
    corpus = load("tatoeba")
    assert (
        len(corpus["train"])
        + len(corpus["dev"])
        + len(corpus["test"])
        + corpus.dropped["invisible character"]
        == 169_813
    )
    texts = {
        name: [{normalise(text) for text in split.columns[language]} for language in ("en", "de")]
        for name, split in corpus.splits.items()
    }
    for one, other in (("train", "dev"), ("train", "test"), ("dev", "test")):
        assert all(a.isdisjoint(b) for a, b in zip(texts[one], texts[other], strict=True))
    lengths = {
        name: [len(text.split()) for text in split.columns["en"]]
        for name, split in corpus.splits.items()
    }
    means = {name: sum(numbers) / len(numbers) for name, numbers in lengths.items()}
    for name in ("dev", "test"):
        assert abs(means[name] - means["train"]) < 0.5
        assert sum(number <= 2 for number in lengths[name]) < 0.05 * len(lengths[name])
        assert len(texts[name][0]) > 0.8 * len(lengths[name])
    # The file is sorted by length; the first pairs of train are a fair sample all the same.
    assert abs(sum(lengths["train"][:2_000]) / 2_000 - means["train"]) < 0.5


@pytest.mark.real_data
def test_overlaps_of_published_splits_are_recorded(real_data, load) -> None:
    found = {leak.held_out: leak for leak in load("enja").leaks if leak.other == "train"}
    assert {
        name: (leak.exact, leak.normalised, dict(leak.one_side)) for name, leak in found.items()
    } == {
        "dev": (0, 0, {"en": 78}),
        "test": (0, 0, {"en": 61}),
    }
    leaks = load("multi30k").leaks
    assert sum(leak.exact + leak.normalised for leak in leaks) == 0


@pytest.mark.real_data
def test_a_shift_in_an_official_set_is_noted(real_data, load) -> None:
    notes = load("iwslt16").notes
    assert (
        sum("lines fit" in note for note in notes)
        == sum("tedx_dev2012" in note or "TEDX.dev2012" in note for note in notes) - 1
        == 1
    )


@pytest.mark.real_data
def test_a_line_lost_from_a_real_corpus_is_found(real_data, load, tmp_path) -> None:
    english, german = load("multi30k").pairs("train", "en", "de")
    name = write(
        tmp_path, train_en=english, train_de=german[:14_000] + german[14_001:] + ["Ein Hund ."]
    )
    assert abs(int(message(InputError, name).split(":")[1]) - 14_000) < 10


@pytest.mark.real_data
def test_published_test_sets_are_scored_as_published(real_data, tmp_path) -> None:
    """Half of these hold characters that no model should see."""
    name = write_corpus(tmp_path)
    for path in (real_data / "wmt-news-de-en").iterdir():
        (tmp_path / path.name).symlink_to(path)
    for path in (real_data / "tatoeba-test-de-en").iterdir():
        (tmp_path / f"test_tatoeba{path.suffix}").symlink_to(path)
    corpus = load_corpus(name.replace("local:", "local-allow-leaks:"))
    sets = [split for split in corpus.splits if split not in ("train", "dev", "test")]
    assert len(sets) == len(list((real_data / "wmt-news-de-en").iterdir())) // 2 + 1
    told = {
        note.partition(":")[0]: note.split(": ")[1]
        for note in corpus.notes
        if "no model should see" in note
    }
    assert told
    for split in sets:
        for source, target in (("de", "en"), ("en", "de")):
            published = (
                (tmp_path / f"{split}.{target}")
                .read_bytes()
                .decode()
                .removesuffix("\n")
                .split("\n")
            )
            assert corpus.pairs(split, source, target)[1] == [
                unicodedata.normalize("NFC", line).strip() for line in published
            ]
            assert not any(map(find_faults, corpus.pairs(split, target, source)[0]))
            touched = sum(bool(find_faults(line)) for line in published)
            assert told.get(f"{split}.{target}", "0 lines").startswith(f"{touched:,} line")


@pytest.mark.real_data
@pytest.mark.parametrize("name", stored_sizes())
def test_known_sizes_are_those_of_the_corpus(real_data, load, name) -> None:
    corpus, _, direction = name.partition(" ")
    source, target = direction.split("-")
    # Their splits do not depend on the direction, and loading them takes seconds.
    languages = () if corpus in ("bible", "docs") else (source, target)
    counted = load(corpus, *languages).statistics(source, target)
    assert astuple(corpus_statistics(corpus, source, target)) == pytest.approx(astuple(counted))


@pytest.mark.real_data
@pytest.mark.parametrize("name", ["multi30k", "tatoeba", "bible", "enja"])
def test_every_training_line_comes_back_from_subwords(real_data, load, name) -> None:
    train = load(name)["train"].columns
    lines = [line for language in CORPORA[name].languages for line in train[language]]
    subwords = Subwords.fit(lines, 8000)
    assert subwords.decode(subwords.encode(lines)) == [
        unicodedata.normalize("NFC", line) for line in lines
    ]
