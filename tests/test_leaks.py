"""Held-out sentences in train are found, and splits are drawn that share none."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from own_files import DE, EN, message, write_corpus

from repro.data.catalogue import CORPORA
from repro.data.characters import normalise
from repro.data.corpora import check_leaks, load_corpus, survey_corpus
from repro.data.leaks import leak_free_split
from repro.errors import InputError


def leaking(folder: Path, en: str, de: str) -> str:
    return write_corpus(folder, test_en=[EN[23], en], test_de=[DE[23], de])


@pytest.mark.parametrize(
    ("en", "de", "expected"),
    [
        (
            EN[4],
            DE[4],
            (
                "this pair is also train.en:5 (exact); test in train: 1 exact, 0 normalised, one "
                "side 0."
            ),
        ),
        (
            EN[4].upper() + " !",
            DE[4],
            (
                "this pair is also train.en:5 (normalised); test in train: 0 exact, 1 normalised, "
                "one side 0."
            ),
        ),
        (
            "New.",
            DE[4],
            (
                "this sentence is also train.de:5; test in train: 0 exact, 0 normalised, one side "
                "1 de."
            ),
        ),
        (
            "New.",
            DE[4].replace(" ", "\u202f"),
            "this sentence is also train.de:5, but for case, punctuation, spacing or "
            "invisible characters; "
            "test in train: 0 exact, 0 normalised, one side 1 de.",
        ),
    ],
)
def test_leaks_are_errors_with_both_lines(tmp_path, en, de, expected) -> None:  # case D7
    side = "de" if en == "New." else "en"
    fix = (
        " Fix: leave the sentences of test out of train, or name the corpus "
        "local-drop-leaks:FOLDER, or local-allow-leaks:FOLDER"
    )
    assert (
        message(InputError, leaking(tmp_path, en, de), "en", "de")
        == f"test.{side}:2: {expected}{fix}"
    )


def test_the_first_of_several_leaks_is_named_with_its_first_place(tmp_path) -> None:
    name = write_corpus(tmp_path, test_en=[EN[23], EN[4], EN[6]], test_de=[DE[23], DE[4], DE[6]])
    expected = (
        "test.en:2: this pair is also train.en:5 (exact); test in train: 2 exact, 0 normalised, "
        "one side 0."
    )
    assert message(InputError, name, "en", "de").startswith(expected)


def test_the_worst_of_the_leaks_is_told_first_and_all_are_counted(tmp_path) -> None:
    dev = {"dev_en": [EN[20], "New."], "dev_de": [DE[20], DE[4]]}
    name = write_corpus(tmp_path, **dev, test_en=EN[5:9], test_de=DE[5:9])
    expected = (
        "test.de:1: this pair is also train.de:6 (exact); test in train: 4 exact, 0 "
        "normalised, one side 0; "
        "dev in train: 0 exact, 0 normalised, one side 1 de. Fix: leave the sentences of test "
        "out of train, or name"
    )
    assert message(InputError, name).startswith(expected)
    corpus = survey_corpus(name)
    assert [(leak.held_out, leak.exact) for leak in corpus.leaks] == [("test", 4), ("dev", 0)]
    with pytest.raises(InputError, match="test.de:1: this pair"):
        check_leaks(corpus)


@pytest.mark.parametrize("prefix", ["local-allow-leaks:", "local-clean:", "local-drop-leaks:"])
def test_leaks_that_the_name_allows_are_no_error(tmp_path, prefix) -> None:
    check_leaks(survey_corpus(leaking(tmp_path, EN[4], DE[4]).replace("local:", prefix)))


def test_leaks_can_be_dropped_from_train(tmp_path) -> None:  # case D7
    name = write_corpus(tmp_path, test_en=[EN[23], "New."], test_de=[DE[23], DE[4] + "!"])
    corpus = load_corpus(name.replace("local:", "local-drop-leaks:"), "en", "de")
    assert corpus.pairs("train", "en", "de")[0] == EN[:4] + EN[5:20]
    assert (corpus.dropped, corpus.leaks, len(corpus["test"])) == ({"leak": 1}, [], 2)
    assert (corpus.skipped[0].file, corpus.skipped[0].line) == ("train.en", 5)


def test_what_is_dropped_from_dev_need_not_be_dropped_from_train(tmp_path) -> None:
    """The second pair of dev shares a side with test and the other with train."""
    dev = {"dev_en": EN[20:23], "dev_de": [DE[20], DE[4], DE[22]]}
    name = write_corpus(tmp_path, **dev, test_en=[EN[23], EN[21]], test_de=[DE[23], DE[24]])
    corpus = load_corpus(name.replace("local:", "local-drop-leaks:"), "en", "de")
    assert (corpus.pairs("dev", "en", "de")[0], corpus.pairs("train", "en", "de")[0]) == (
        [EN[20], EN[22]],
        EN[:20],
    )


def test_leaks_can_be_allowed_and_are_recorded(tmp_path) -> None:  # case D7
    (leak,) = load_corpus(
        leaking(tmp_path, EN[4], DE[4]).replace("local:", "local-allow-leaks:"), "en", "de"
    ).leaks
    assert (leak.held_out, leak.other, leak.exact, leak.first) == ("test", "train", 1, (1, 4))


def test_dev_in_test_is_a_leak_too(tmp_path) -> None:  # case D7
    assert message(InputError, leaking(tmp_path, EN[21], DE[21])).startswith(
        "test.de:2: this pair is also dev.de:2 (exact)"
    )


def test_normalising_keeps_what_differs() -> None:
    assert normalise("“Run!” he said .") == normalise("run he said")
    assert normalise("?") != normalise("!")
    assert {normalise(f"so gibt{mark}s das") for mark in "'`\u2019\xb4\xa8\xb8\xaf"} == {
        "so gibt s das"
    }
    assert normalise("schon") != normalise("schön")


def test_leak_free_split_keeps_connected_pairs_together() -> None:
    # a-A, a-B, b-B hang together through "a" and "B"; every other pair stands alone.
    en = ["a", "A!", "b", *(f"sentence {i}" for i in range(50))]
    de = ["x", "y", "Y", *(f"Satz {i}" for i in range(50))]
    columns = {"en": en, "de": de}
    for num_test in range(1, 30):
        split = leak_free_split(columns, 5, num_test)
        assert sorted(place for places in split.values() for place in places) == list(range(53))
        assert len({name for name, places in split.items() for place in places if place < 3}) == 1


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=40),
    st.integers(0, 10),
    st.integers(0, 10),
)
def test_no_sentence_is_in_two_splits(pairs, num_dev, num_test) -> None:
    split = leak_free_split(
        {"en": [f"e {en}" for en, _ in pairs], "de": [f"d {de}" for _, de in pairs]},
        num_dev,
        num_test,
    )
    assert sorted(place for places in split.values() for place in places) == list(range(len(pairs)))
    for side in (0, 1):
        held = [{pairs[place][side] for place in places} for places in split.values()]
        assert len(set().union(*held)) == sum(map(len, held))


def test_a_stock_phrase_stays_in_train() -> None:
    en, de = ["Come on!"] * 5 + [f"e {i}" for i in range(20)], [f"d {i}" for i in range(25)]
    for wanted in range(10):
        assert set(range(5)) <= set(leak_free_split({"en": en, "de": de}, wanted, wanted)["train"])


@pytest.mark.parametrize(("size", "held_out"), [(4, True), (5, False)])
def test_a_group_of_four_may_be_held_out_and_one_of_five_may_not(size, held_out) -> None:
    split = leak_free_split(
        {"en": ["Come on!"] * size, "de": [f"d {i}" for i in range(size)]}, 0, 1
    )
    assert (len(split["test"]), len(split["train"])) == ((size, 0) if held_out else (0, size))


# `repro data tatoeba` says so: records of both directions rest on it
def test_each_direction_is_cut_by_itself() -> None:
    en, de = [f"e {i}" for i in range(60)], [f"d {i}" for i in range(60)]
    assert (
        leak_free_split({"en": en, "de": de}, 7, 11)["test"]
        != leak_free_split({"de": de, "en": en}, 7, 11)["test"]
    )
    assert "Each direction is cut by itself" in CORPORA["tatoeba"].about


def test_leak_free_split_does_not_depend_on_order() -> None:
    en, de = [f"e {i // 2}" for i in range(60)], [f"d {i}" for i in range(60)]
    forward = leak_free_split({"en": en, "de": de}, 7, 11)
    backward = leak_free_split({"en": en[::-1], "de": de[::-1]}, 7, 11)
    assert {name: [de[i] for i in places] for name, places in forward.items()} == {
        name: [de[::-1][i] for i in places] for name, places in backward.items()
    }
