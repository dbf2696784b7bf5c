"""Corpora of test sets alone, and the test set of IWSLT14 where its training text is missing."""

from dataclasses import replace

import pytest
from own_files import DE, EN, write, write_corpus
from test_formats import SEGMENTS

from repro.data import corpora
from repro.data.catalogue import CORPORA
from repro.data.corpora import load_corpus, load_pairs
from repro.errors import InputError, MachineError

HIDDEN = "Donau\u00addampf\u00adschiff"  # as in newstest2014
IWSLT14_SETS = CORPORA["iwslt14"].test_sets[1]


@pytest.fixture
def root(tmp_path, monkeypatch):
    """Return a folder with small corpora of the published layouts, and set REPRO_DATA to it."""
    monkeypatch.setenv("REPRO_DATA", str(tmp_path))
    for name in ("wmt-news-de-en", "tatoeba-test-de-en", "ted-en-de", "tatoeba-deu-eng"):
        (tmp_path / name).mkdir()
    write(
        tmp_path / "wmt-news-de-en",
        newstest2013_de=DE[:3],
        newstest2013_en=EN[:3],
        newstest2014_de=[DE[3], HIDDEN],
        newstest2014_en=EN[3:5],
        **{"newstest2019-deen_de": DE[5:6], "newstest2019-deen_en": EN[5:6]},
    )
    for language, text in (("de", DE[6]), ("en", EN[6])):
        path = tmp_path / "tatoeba-test-de-en" / f"clean-against-2018-export.{language}"
        path.write_text(f"{text}\n")
        for number, name in enumerate(IWSLT14_SETS):
            talks = "TEDX." if name.startswith("tedx") else "TED."
            file = f"IWSLT16.{talks}{name.removeprefix('tedx_')}.de-en.{language}.xml"
            (tmp_path / "ted-en-de" / file).write_text(SEGMENTS.format(f"{language} {number}"))
    return tmp_path


def test_news_sets_keep_their_names_and_references(root) -> None:
    corpus = load_corpus("wmt-news")
    assert list(corpus.splits) == ["dev", "test", "newstest2019-deen"]
    assert corpus.pairs("newstest2014", "en", "de") == (EN[3:5], [DE[3], HIDDEN])
    assert corpus.pairs("test", "de", "en")[0] == [DE[3], "Donaudampfschiff"]


def test_a_corpus_of_test_sets_says_that_it_trains_nothing(root) -> None:
    assert load_corpus("tatoeba-test").pairs("test", "de", "en") == ([DE[6]], [EN[6]])
    with pytest.raises(InputError, match="no split 'train'. Fix: train on another corpus"):
        load_corpus("tatoeba-test").pairs("train", "de", "en")


def test_a_model_of_another_corpus_is_scored_on_news(root) -> None:
    write_corpus(root / "tatoeba-deu-eng")
    assert load_pairs("minigerman", "en", "de", "wmt-news:newstest2014") == (
        EN[3:5],
        [DE[3], HIDDEN],
    )


@pytest.fixture
def no_hub(monkeypatch) -> None:
    def refuse(name, *_arguments):
        raise MachineError(name, "is not reachable", "connect")

    monkeypatch.setattr(corpora, "load_from_hub", refuse)


def test_iwslt14_test_is_joined_in_the_usual_order(root, no_hub) -> None:
    corpus = load_corpus("iwslt14")
    parts = load_corpus("local-clean:" + str(root / "ted-en-de"), "de", "en")
    wanted = [text for name in IWSLT14_SETS for text in parts.pairs(name, "de", "en")[1]]
    assert corpus.pairs("test", "de", "en")[1] == wanted and len(wanted) == 10
    assert list(corpus.splits) == ["test"] and "tst2010" in corpus.notes[0]
    with pytest.raises(InputError, match="no split 'train'. Fix: put its training files"):
        corpus.pairs("train", "de", "en")


def test_iwslt14_itself_comes_before_the_joined_test_set(root, no_hub) -> None:
    (root / "iwslt14").mkdir()
    write_corpus(root / "iwslt14")
    assert list(load_corpus("iwslt14").splits) == ["train", "dev", "test"]


def test_without_the_sets_iwslt14_is_refused_as_before(root, no_hub, monkeypatch) -> None:
    monkeypatch.setitem(CORPORA, "iwslt16", replace(CORPORA["iwslt16"], folder="elsewhere"))
    with pytest.raises(MachineError, match="iwslt14: is not reachable"):
        load_corpus("iwslt14")


@pytest.mark.real_data
def test_the_published_sets_have_their_usual_sizes(real_data, no_hub) -> None:
    assert len(load_pairs("tatoeba", "de", "en", "iwslt14:test")[0]) == 6_750
    sources, references = load_pairs("tatoeba", "de", "en", "wmt-news:newstest2014")
    assert len(sources) == len(references) == 3_003
    german = load_pairs("tatoeba", "en", "de", "wmt-news:newstest2014")[1]
    published = (real_data / "wmt-news-de-en" / "newstest2014.de").read_text("utf-8").split("\n")
    assert german == [line.strip() for line in published[:3_003]]
    assert sum("\u00ad" in line for line in german) == 2 and "\u00ad" not in "".join(sources)
