"""Heads on the rarest word of a sentence, by hand-made weights and counts (Voita et al. 2019,
section 5.3)."""

import numpy as np
import pytest
import torch
from heads_by_hand import COUNTS, one_site, pointing_at

from repro.analysis.heads import HeadSums, frequency_ranks, head_roles, measure_heads
from repro.core.config import ModelConfig
from repro.core.subwords import BOS_ID, EOS_ID, PAD_ID
from repro.core.transformer import Transformer
from test_transformer import SMALL


def test_ranks_by_count_then_id_with_the_start_mark_before_all():
    ranks = frequency_ranks(COUNTS)
    assert ranks[4:].tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert ranks[BOS_ID] == -1


def test_a_rare_word_head_among_sentences_with_a_rare_word():
    src = torch.tensor([[4, 9, 5, 8, EOS_ID], [4, 5, 6, 7, EOS_ID]])
    rarest, second, neither = pointing_at([1] * 5, [3] * 5, [0] * 5, key_len=5)[0]
    found = one_site(
        [torch.stack([rarest, second, neither])[None]], src, token_counts=COUNTS, most_frequent=4
    )
    np.testing.assert_allclose(found.rarest, [[1, 0, 0]])
    np.testing.assert_allclose(found.two_rarest, [[1, 1, 0]])
    assert head_roles(found) == [[("rare",), ("rare",), ("unknown",)]] and found.rare_queries == 4
    assert np.isnan(
        one_site([rarest[None, None]], src[1:], token_counts=COUNTS, most_frequent=4).rarest
    ).all()
    assert np.isnan(one_site([rarest[None, None]], src).two_rarest).all()


@pytest.mark.parametrize("num_hits, role", [(3, "rare"), (2, "unknown")])
def test_rare_begins_above_one_half(num_hits, role):
    # of four queries; the two rarest stand last
    keys = [3 if i < num_hits else 0 for i in range(4)]
    found = one_site(
        [pointing_at(keys, key_len=4)],
        torch.tensor([[4, 5, 9, 8]]),
        token_counts=COUNTS,
        most_frequent=4,
    )
    assert head_roles(found) == [[(role,)]]


def test_a_rare_word_counts_wherever_it_stands():
    src = torch.tensor([[9, 4, 9, 8]])
    found = one_site(
        [pointing_at([0, 2, 3, 1], key_len=4)], src, token_counts=COUNTS, most_frequent=4
    )
    np.testing.assert_allclose([found.rarest, found.two_rarest], [[[0.5]], [[0.75]]])


def test_the_first_id_after_the_most_frequent_is_rare_and_a_zero_row_misses_it():
    weights = pointing_at([0, 0, 0], key_len=3)
    weights[0, 0, 1] = 0
    src = torch.tensor([[8, 4, 5]])  # id 8 has rank 4
    found = one_site([weights], src, token_counts=COUNTS, most_frequent=4)
    np.testing.assert_allclose([found.rarest, found.two_rarest], [[[2 / 3]]] * 2)
    assert np.isnan(one_site([weights], src, token_counts=COUNTS, most_frequent=5).rarest).all()


@pytest.mark.parametrize("rank, rare_queries", [(499, 0), (500, 1)])
def test_of_a_large_vocabulary_the_five_hundred_most_frequent_tokens_are_not_rare(
    rank, rare_queries
):
    counts, src = np.arange(600, 0, -1), torch.tensor([[rank]])  # every id is its own rank
    assert (
        one_site([pointing_at([0], key_len=1)], src, token_counts=counts).rare_queries
        == rare_queries
    )
    model = Transformer(ModelConfig(**SMALL), len(counts), PAD_ID).eval()
    assert (
        measure_heads(model, [(src, src)], (counts, counts))["encoder_self"].rare_queries
        == rare_queries
    )


def test_a_single_rare_word_after_the_start_mark_leaves_no_second():
    sums, tgt = (
        HeadSums("decoder_self", [2], token_counts=COUNTS, most_frequent=4),
        torch.tensor([[BOS_ID, 9, 9]]),
    )
    sums.update([pointing_at([0, 0, 0], [0, 1, 1], key_len=3)], tgt, tgt)
    np.testing.assert_allclose(sums.statistics().two_rarest, [[0, 1]])


def test_a_decoder_query_counts_once_it_sees_the_rare_word_and_the_start_mark_is_none():
    sums, tgt = (
        HeadSums("decoder_self", [2], token_counts=COUNTS, most_frequent=4),
        torch.tensor([[BOS_ID, 4, 9, 5]]),
    )
    sums.update([pointing_at([0, 0, 2, 2], [0, 0, 0, 2], key_len=4)], tgt, tgt)
    np.testing.assert_allclose(sums.statistics().rarest, [[1, 0.5]])
