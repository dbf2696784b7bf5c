"""Subwords and batches."""

from itertools import pairwise

import numpy as np
import pytest
from expected_errors import refuses
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.core.batches import EncodedPairs, cut_by_tokens, pad
from repro.core.subwords import BOS_ID, EOS_ID, PAD_ID, Subwords
from repro.errors import DamagedFileError, InputError
from repro.runs.models import load_subwords

TEXTS = [
    "the unhappy dog sleeps",
    "der unglückliche Hund schläft",
    "dogs and houses",
    "Hunde und Häuser",
] * 10


@pytest.fixture(scope="module")
def subwords() -> Subwords:
    return Subwords.fit(TEXTS, 60)


def encoded(num_pairs: int = 200) -> EncodedPairs:
    random = np.random.default_rng(0)
    rows = [
        random.integers(4, 50, size=random.integers(1, 30)).tolist() for _ in range(2 * num_pairs)
    ]
    return EncodedPairs(rows[:num_pairs], rows[num_pairs:], True)


def test_sentences_come_back_from_their_ids(subwords):
    assert subwords.decode(subwords.encode(TEXTS)) == TEXTS


@pytest.mark.parametrize("unknown", [-1, 60, 10**6])
def test_an_id_of_no_subword_is_refused(subwords, unknown):
    with refuses(InputError, "ids", unknown, "0", "59"):
        subwords.decode([[5, 6], [5, unknown]])


def test_what_is_no_text_is_not_cut_into_subwords(subwords):
    with pytest.raises(
        InputError, match=r"sentences\[0\]: is of the type int, not a text. Fix: give a list of str"
    ):
        subwords.encode([3])


def test_the_same_text_gives_the_same_model(subwords):
    assert Subwords.fit(TEXTS, 60).model == subwords.model


def test_an_empty_model_is_refused_without_lines_of_the_library(tmp_path, capfd):
    (tmp_path / "subwords.model").touch()
    with pytest.raises(
        DamagedFileError,
        match="subwords.model: is missing or is not a sentencepiece model. Fix: restore it",
    ):
        load_subwords(tmp_path / "subwords.model")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("end_mark", [True, False])
def test_equal_sides_have_equally_many_tokens(end_mark):
    rows = [[5, 6, 7], [8]]
    assert EncodedPairs(rows, rows, end_mark).num_tokens() == {
        "source_tokens": 4,
        "target_tokens": 4,
    }


def test_typed_marks_are_never_control_ids(subwords):
    for ids in subwords.encode(["<s> </s> <pad>", "</s>", "<unk>"]):
        assert not {PAD_ID, BOS_ID, EOS_ID} & set(ids)


def test_every_piece_knows_its_word(subwords):
    sentence = "the unhappy dogs"
    pieces, words = subwords.pieces(sentence), subwords.word_indices(sentence)
    rebuilt = [
        "".join(p for p, w in zip(pieces, words, strict=True) if w == word).lstrip("▁")
        for word in range(3)
    ]
    assert rebuilt == sentence.split()


def test_the_end_mark_is_a_word_of_its_own(subwords):
    sentence = "the unhappy dogs"
    starts = subwords.starts_word()
    words = np.cumsum([starts[i] for i in [*subwords.encode([sentence])[0], EOS_ID]]) - 1
    assert words.tolist() == [*subwords.word_indices(sentence), 3]


def test_a_sign_without_a_piece_is_shown_as_unknown(subwords):
    assert subwords.decode(subwords.encode(["the ♠ sleeps"]))[0].split() == [
        "the",
        "\N{DOUBLE QUESTION MARK}",
        "sleeps",
    ]


def test_a_budget_may_be_met_exactly():
    assert cut_by_tokens([0, 1, 2], [4, 5, 5], 10) == [[0, 1], [2]]


def test_a_batch_shifts_the_target_by_the_start_mark():
    batch = EncodedPairs([[5, 6], [7]], [[8], [9, 10]], True).batch([1, 0])
    assert batch.src.tolist() == [[7, EOS_ID, PAD_ID], [5, 6, EOS_ID]]
    assert batch.tgt_in.tolist() == [[BOS_ID, 9, 10], [BOS_ID, 8, PAD_ID]]
    assert batch.tgt_out.tolist() == [[9, 10, EOS_ID], [8, EOS_ID, PAD_ID]]
    assert batch.num_target_tokens == 5


def test_the_source_end_mark_is_an_option():
    assert EncodedPairs([[5, 6]], [[8]], False).batch([0]).src.tolist() == [[5, 6]]


def test_an_epoch_uses_every_pair_once_within_the_budget():
    pairs = encoded()
    batches = pairs.epoch(150, seed=1, epoch=0)
    assert sorted(i for batch in batches for i in batch) == list(range(len(pairs)))
    for batch in batches:
        assert len(batch) * max(pairs.lengths[i] for i in batch) <= 150


def test_a_batch_with_its_marks_and_padding_is_within_the_budget():
    pairs = encoded()
    batches = [pairs.batch(indices) for indices in pairs.epoch(150, seed=1, epoch=0)]
    assert max(side.numel() for batch in batches for side in (batch.src, batch.tgt_in)) <= 150


def test_batches_do_not_come_by_their_length():
    pairs = encoded()
    longest = [max(pairs.lengths[indices]) for indices in pairs.epoch(150, seed=1, epoch=0)]
    assert sum(a > b for a, b in pairwise(longest)) > len(longest) / 4


def test_the_order_is_a_pure_function_of_seed_and_epoch():
    pairs = encoded()
    assert pairs.epoch(150, 1, 0) == encoded().epoch(150, 1, 0)
    assert pairs.epoch(150, 1, 0) != pairs.epoch(150, 1, 1)
    assert pairs.epoch(150, 1, 0) != pairs.epoch(150, 2, 0)


def test_pairs_of_one_length_meet_others_in_every_epoch():
    pairs = encoded()
    first, second = ({frozenset(batch) for batch in pairs.epoch(150, 1, epoch)} for epoch in (0, 1))
    assert len(first & second) < len(first) / 4


def test_pairs_of_one_length_stay_in_the_order_that_they_were_drawn_in():
    """On every processor: what sorts fastest there may exchange equals, and another order is
    another training."""
    pairs = EncodedPairs([[5], [5, 6]] * 500, [[]] * 1000, True)
    drawn = np.random.default_rng([1, 2]).permutation(1000).tolist()
    assert pairs.epoch(10_000, 1, 2) == [sorted(drawn, key=lambda i: pairs.lengths[i])]


def test_little_is_padding():
    pairs = encoded(2000)
    real = sum(pairs.lengths)
    padded = sum(
        len(batch) * max(pairs.lengths[i] for i in batch) for batch in pairs.epoch(600, 1, 0)
    )
    assert real / padded > 0.9


@settings(deadline=None, derandomize=True)
@given(st.lists(st.integers(1, 40), max_size=60), st.integers(1, 200))
def test_cutting_keeps_order_and_budget(lengths, budget):
    ordered = sorted(range(len(lengths)), key=lambda i: lengths[i])
    batches = cut_by_tokens(ordered, lengths, budget)
    assert [i for batch in batches for i in batch] == ordered
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= budget


def test_rows_without_a_token_have_a_place_to_look_at():
    assert pad([[], []]).tolist() == [[PAD_ID], [PAD_ID]]


def test_padding_is_on_the_right():
    assert pad([[1], [2, 3]]).tolist() == [[1, PAD_ID], [2, 3]]
