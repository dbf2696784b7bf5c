"""Head statistics: closed forms, heads with a role by construction, sums that do not grow."""

import math
import pickle
import weakref

import numpy as np
import pytest
import scipy.stats
import torch
from expected_errors import refuses
from heads_by_hand import COUNTS, one_site, pointing_at
from scipy.spatial.distance import jensenshannon
from torch import Tensor

from repro.analysis.heads import NUM_BINS, RADIUS, HeadSums, head_roles, measure_heads
from repro.analysis.rows import entropy, jensen_shannon, mean_over_heads, off_diagonal
from repro.analysis.weights import collect_weights
from repro.core.batches import pad
from repro.core.subwords import BOS_ID, EOS_ID, PAD_ID
from repro.errors import InputError
from test_transformer import SMALL, VOCAB, small

LN2 = math.log(2)


def random_weights(batch: int, num_heads: int, query_len: int, key_len: int) -> Tensor:
    return torch.rand(batch, num_heads, query_len, key_len).softmax(dim=-1)


def test_entropy_in_closed_form():
    rows = torch.tensor(
        [
            [0.25, 0.25, 0.25, 0.25],
            [0.5, 0.25, 0.25, 0],
            [0, 1, 0, 0],
            [0.2, 0.1, 0.1, 0],
            [0, 0, 0, 0],
        ]
    ).double()
    # the fourth is the second, unnormalized
    expected = torch.tensor([2 * LN2, 1.5 * LN2, 0, 1.5 * LN2, math.nan]).double()
    torch.testing.assert_close(entropy(rows), expected, equal_nan=True)


def test_divergence_in_closed_form():
    first = torch.tensor([[1.0, 0, 0], [1, 0, 0], [0.2, 0.3, 0.5]]).double()
    second = torch.tensor([[0.0, 0.5, 0.5], [0.5, 0.5, 0], [0.2, 0.3, 0.5]]).double()
    mixed = -0.75 * math.log(0.75) - 0.25 * math.log(0.25) - LN2 / 2
    torch.testing.assert_close(
        jensen_shannon(first, second), torch.tensor([LN2, mixed, 0]).double()
    )
    torch.testing.assert_close(jensen_shannon(first, second), jensen_shannon(second, first))


def test_rows_that_are_nearly_equal_have_no_divergence_below_zero():
    rows = torch.rand(200, 9).double().softmax(dim=-1)
    assert (jensen_shannon(rows, rows * (1 + 1e-9 * torch.randn_like(rows))) >= 0).all()


def test_entropy_and_divergence_are_scipys():
    first, second = (20 * torch.rand(2, 5, 7).double()).softmax(dim=-1)
    first[:, 0] = second[:, 1] = second[:, 2] = 0  # where 0 log 0 counts as 0
    np.testing.assert_allclose(entropy(first), scipy.stats.entropy(first, axis=-1))
    first, second = (rows / rows.sum(dim=-1, keepdim=True) for rows in (first, second))
    np.testing.assert_allclose(
        jensen_shannon(first, second), jensenshannon(first, second, axis=-1) ** 2
    )


def test_confidence_drops_the_end_mark_as_key_and_as_query():
    weights = torch.tensor([[0.1, 0.3, 0.6], [0.5, 0.4, 0.1], [0.9, 0.0, 0.1]])[None, None]
    found = one_site([weights], torch.tensor([[5, 6, EOS_ID]]))
    assert found.num_queries == 2
    np.testing.assert_allclose(found.confidence, [[(0.3 + 0.5) / 2]])
    np.testing.assert_allclose(found.offset, [[(1 - 1) / 2]])
    np.testing.assert_allclose(found.distance, [[1]])


def test_entropy_and_histogram_keep_the_end_mark_but_no_padding():
    weights = torch.tensor([[0.5, 0.5, 0.0], [0.02, 0.98, 0.0], [0.4, 0.3, 0.3]])[None, None]
    found = one_site([weights], torch.tensor([[5, EOS_ID, PAD_ID]]))
    second = -0.02 * math.log(0.02) - 0.98 * math.log(0.98)
    np.testing.assert_allclose(found.entropy, [[(LN2 + second) / 2]], rtol=1e-6)
    expected = np.zeros(NUM_BINS)
    expected[[0, NUM_BINS // 2, NUM_BINS - 1]] = 1, 2, 1
    np.testing.assert_array_equal(found.histogram[0, 0], expected)


def test_a_density_above_one_is_in_the_last_bin():
    found = one_site([torch.tensor([[[[1.6]]]])], torch.tensor([[5]]))
    assert found.histogram[0, 0, -1] == found.histogram.sum() == 1


def test_offsets_and_how_often_they_exist():
    weights = pointing_at([1, 2, 2], [2, 2, 2], key_len=3)
    found = one_site([weights], torch.tensor([[5, 6, 7]]))
    near = slice(RADIUS - 2, RADIUS + 3)
    np.testing.assert_array_equal(found.available[near], [1, 2, 3, 2, 1])
    np.testing.assert_array_equal(found.offsets[0, :, near], [[0, 0, 1, 2, 0], [0, 0, 1, 1, 1]])
    assert found.available.sum() == 9 and found.offsets.sum() == 6
    np.testing.assert_allclose(found.offset, [[2 / 3, 1]])
    np.testing.assert_array_equal(found.main_offset, [[1, 0]])  # of equal offsets the nearest
    np.testing.assert_allclose(found.positional, [[1, 1 / 3]])


def test_an_offset_beyond_the_radius_counts_in_the_means_only():
    length = RADIUS + 2
    found = one_site(
        [pointing_at([length - 1] * length, key_len=length)], torch.full((1, length), 5)
    )
    assert found.offsets.sum() == length - 1
    np.testing.assert_allclose(found.distance, [[(length - 1) / 2]])


def test_a_head_that_looks_back_is_positional_although_the_first_token_cannot():
    src = pad([[5, 6, 7, 8, 9, EOS_ID], [5, 6, EOS_ID]])
    found = one_site([pointing_at([0, 0, 1, 2, 3, 4], key_len=6)], src)
    np.testing.assert_array_equal(found.main_offset, [[-1]])
    np.testing.assert_allclose(found.positional, [[1]])
    assert head_roles(found) == [[("positional",)]]
    # one role does not hide another
    assert head_roles(found, np.array([[True]])) == [[("positional", "syntactic")]]


def test_a_head_on_the_first_token_is_not_positional():
    src = pad([[5, 6, 7, 8, 9], [5, 6, 7], [5, 6, 7, 8]])
    # every fourth and fifth token points as far back as it can
    found = one_site([pointing_at([0] * 5, key_len=5)], src)
    np.testing.assert_allclose([found.main_offset, found.positional], [[[0]], [[3 / 12]]])


@pytest.mark.parametrize("num_hits, role", [(9, "positional"), (8, "unknown")])
def test_positional_begins_at_nine_in_ten(num_hits, role):
    keys = [i + 1 if i < num_hits else i for i in range(11)]  # ten tokens have a next one
    assert head_roles(one_site([pointing_at(keys, key_len=11)], torch.full((1, 11), 5))) == [
        [(role,)]
    ]


def test_in_the_decoder_only_the_past_exists():
    sums, tgt = HeadSums("decoder_self", [1]), torch.tensor([[BOS_ID, 5, 6]])
    sums.update([pointing_at([2, 2, 2], key_len=3).tril()], tgt, tgt)
    found = sums.statistics()
    np.testing.assert_array_equal(found.available[RADIUS:], [3] + [0] * RADIUS)
    np.testing.assert_array_equal(
        found.offsets[0, 0, RADIUS - 2 : RADIUS + 1], [0, 1, 2]
    )  # rows without the future begin with equal weights
    assert found.histogram.sum() == 6


def test_cross_attention_has_its_own_lengths():
    sums, tgt, src = (
        HeadSums("cross", [1]),
        torch.tensor([[BOS_ID, 5]]),
        torch.tensor([[7, 8, 9, EOS_ID]]),
    )
    sums.update([pointing_at([2, 0], key_len=4)], tgt, src)
    found = sums.statistics()
    np.testing.assert_allclose([found.offset, found.distance], [[[0.5]], [[1.5]]])
    np.testing.assert_array_equal(found.available[RADIUS - 2 : RADIUS + 3], [0, 1, 2, 2, 1])


def test_a_zero_row_is_a_miss_and_has_no_offset_entropy_or_divergence():
    weights = pointing_at([1, 2, 3, 3], key_len=4)
    weights[0, 0, 1] = 0
    found = one_site([weights, pointing_at([0, 0, 0, 0], key_len=4)], torch.tensor([[5, 6, 7, 8]]))
    largest = 0.7 + 0.3 / 4
    np.testing.assert_allclose(found.positional[0], [2 / 3])
    np.testing.assert_allclose(found.offset[0], [(1 + 1 + 0) / 3])
    np.testing.assert_allclose(found.confidence[0], [largest * 3 / 4])
    np.testing.assert_allclose(found.entropy[0], found.entropy[1])
    np.testing.assert_allclose(
        found.divergence[0, 1],
        jensen_shannon(*pointing_at([0, 1], key_len=4)[0, 0].double()),
        rtol=1e-6,
    )
    assert one_site([weights], torch.tensor([[5, 6, 7, 8]])).num_queries == 4


def test_a_row_with_a_weight_below_zero_points_but_has_no_entropy_and_no_divergence():
    signed = torch.tensor([[[[0.9, -0.1, 0.2], [0.2, 0.7, 0.1], [-0.5, -0.2, -0.1]]]]).double()
    assert entropy(signed)[0, 0].isnan().tolist() == [True, False, True]
    assert jensen_shannon(signed[0, 0, 0], signed[0, 0, 1]).isnan()
    found = one_site([signed], torch.tensor([[5, 6, 7]]))
    np.testing.assert_allclose(found.entropy[0], entropy(signed[0, 0, 1])[None])
    np.testing.assert_allclose(found.divergence, [[0]], atol=1e-12)
    # the last row points nowhere: no weight of it is above zero
    np.testing.assert_allclose(found.confidence, [[(0.9 + 0.7 - 0.1) / 3]])
    assert found.histogram.sum() == 9 and found.histogram[0, 0, 0] == 4


def test_divergence_compares_the_mean_heads_of_layers():
    left, right = torch.tensor([[1.0, 0], [1, 0]]), torch.tensor([[0.0, 1], [0, 1]])
    layers = [
        torch.stack([left, right])[None],
        torch.stack([right, left])[None],
        left[None, None],
        None,
        0.1 * right[None, None],
    ]
    found = one_site(layers, torch.tensor([[5, 6]])).divergence
    half = -0.75 * math.log(0.75) - 0.25 * math.log(0.25) - LN2 / 2
    nan = math.nan
    expected = [
        [0, 0, half, nan, half],
        [0, 0, half, nan, half],
        [half, half, 0, nan, LN2],
        [nan] * 5,
        [half, half, LN2, nan, 0],
    ]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_the_mean_of_a_layer_is_over_the_heads_that_have_weight():
    left, right = torch.tensor([[1.0, 0], [1, 0]]), torch.tensor([[0.0, 1], [0, 1]])
    layers = [torch.stack([left, 0 * left])[None], right[None, None]]
    np.testing.assert_allclose(one_site(layers, torch.tensor([[5, 6]])).divergence[0, 1], LN2)


def test_every_head_of_a_layer_counts_the_same_however_much_its_row_sums_to():
    weights = torch.tensor([[[[1.0, 0]], [[0, 0.1]]]])
    torch.testing.assert_close(
        mean_over_heads(weights, torch.ones(1, 1, 2, dtype=torch.bool)),
        torch.tensor([[[0.5, 0.5]]]),
    )


def test_a_missing_layer_and_a_missing_head_are_nan_and_have_no_role():
    layers = [None, random_weights(2, 3, 5, 5), random_weights(2, 1, 5, 5)]
    found = one_site(layers, torch.randint(4, 11, (2, 5)), token_counts=COUNTS, most_frequent=0)
    missing = np.array([[True] * 3, [False] * 3, [False, True, True]])
    for name in (
        "confidence",
        "offset",
        "distance",
        "entropy",
        "rarest",
        "two_rarest",
        "main_offset",
        "positional",
    ):
        np.testing.assert_array_equal(np.isnan(getattr(found, name)), missing, err_msg=name)
    roles = head_roles(found, np.array([[False] * 3, [False, True, False], [False] * 3]))
    assert roles[0] == [()] * 3 and roles[2][1:] == [()] * 2
    assert "syntactic" in roles[1][1] and "syntactic" not in roles[1][0]


def ragged(batch: int, longest: int) -> Tensor:
    return pad(
        [[*torch.randint(4, VOCAB, (longest - i % 3,)).tolist(), EOS_ID] for i in range(batch)]
    )


def assert_same(found, expected):
    for name, value in vars(expected).items():
        np.testing.assert_allclose(getattr(found, name), value, rtol=1e-10, err_msg=name)


def test_many_batches_give_what_one_gives():
    src = ragged(12, 7)
    layers = [random_weights(12, 4, 8, 8), None, random_weights(12, 2, 8, 8)]
    options = {"token_counts": range(VOCAB), "most_frequent": 3}
    sums = HeadSums("encoder_self", [4, 0, 2], **options)
    for rows in torch.arange(12).split([1, 4, 5, 2]):
        sums.update(
            [None if weights is None else weights[rows] for weights in layers], src[rows], src[rows]
        )
    assert_same(sums.statistics(), one_site(layers, src, **options))


def test_padding_and_one_matrix_for_the_whole_batch_change_nothing():
    src, weights = ragged(3, 5), random_weights(1, 4, 6, 6)
    expected = one_site([weights.expand(3, -1, -1, -1)], src)
    assert_same(one_site([weights], src), expected)
    padded = torch.nn.functional.pad(src, (0, 2), value=PAD_ID)
    assert_same(
        one_site([torch.nn.functional.pad(weights, (0, 2, 0, 2), value=0.5)], padded), expected
    )


def test_the_sums_do_not_grow_with_the_corpus():
    sums, sizes = HeadSums("encoder_self", [4, 2], range(VOCAB)), []
    for _ in range(20):
        src = ragged(3, 9)
        sums.update([random_weights(3, 4, 10, 10), random_weights(3, 2, 10, 10)], src, src)
        sizes.append(
            len(
                pickle.dumps(
                    (
                        sums.sums,
                        sums.offsets,
                        sums.histogram,
                        sums.divergence,
                        sums.available,
                        sums.ranks,
                    )
                )
            )
        )
    assert sizes[0] == sizes[-1] and set(vars(sums)) == set(vars(HeadSums("encoder_self", [4, 2])))


def test_off_diagonal_tokens_by_hand():
    src = torch.tensor([[5, 6, 7, 8, EOS_ID]])
    near, far = pointing_at([1, 1, 0, 1, 0], [0, 3, 0, 3, 0], key_len=5)[0]
    found = off_diagonal([near[None, None], None], "encoder_self", src, src)
    torch.testing.assert_close(
        found, torch.tensor([[0, 0, 1, 1, math.nan]]).double(), equal_nan=True
    )
    assert found.nanmean(dim=1).tolist() == [0.5]
    # the mean is mostly the second
    both = off_diagonal([0.4 * near[None, None], 0.6 * far[None, None]], "encoder_self", src, src)
    torch.testing.assert_close(
        both, torch.tensor([[0, 1, 1, 0, math.nan]]).double(), equal_nan=True
    )


def test_hard_coded_heads_of_a_model_have_the_role_they_were_given():
    model, src, tgt = (
        small("hc-sa"),
        ragged(3, 6),
        pad([[BOS_ID, 5, 6, 7, 8], [BOS_ID, 9], [BOS_ID, 7, 7]]),
    )
    found = measure_heads(model, [(src[:1], tgt[:1]), (src[1:], tgt[1:])])
    np.testing.assert_array_equal(
        found["encoder_self"].main_offset, [[-1, 1, -1, 1]] * SMALL["encoder_layers"]
    )
    np.testing.assert_array_equal(
        found["decoder_self"].main_offset, [[-1, 0, -1, 0]] * SMALL["decoder_layers"]
    )
    for site in ("encoder_self", "decoder_self"):
        np.testing.assert_array_equal(found[site].positional, 1)
    # A head that looks back sees its mean from every token but the first, which is one standard
    # deviation beside it.
    peak, beside, lengths = (
        1 / math.sqrt(2 * math.pi),
        math.exp(-0.5) / math.sqrt(2 * math.pi),
        (6, 5, 4),
    )
    expected = sum((length - 1) * peak + beside for length in lengths) / sum(lengths)
    np.testing.assert_allclose(found["encoder_self"].confidence[:, 0], expected, rtol=1e-6)
    np.testing.assert_allclose(found["encoder_self"].divergence, 0, atol=1e-12)
    assert found["cross"].confidence.shape == (SMALL["decoder_layers"], SMALL["num_heads"])
    assert found["cross"].num_queries == 10 and np.isfinite(found["cross"].entropy).all()


def test_a_site_without_attention_has_no_heads():
    found = measure_heads(
        small(decoder_self="none"), [(ragged(2, 5), torch.tensor([[BOS_ID, 5], [BOS_ID, 6]]))]
    )["decoder_self"]
    assert (
        found.confidence.shape == (SMALL["decoder_layers"], 0) and np.isnan(found.divergence).all()
    )
    assert head_roles(found) == [[]] * SMALL["decoder_layers"]


def test_token_counts_of_another_vocabulary_are_refused():
    with refuses(InputError, "token_counts", "4", VOCAB):
        measure_heads(small(), [], token_counts=([1, 2, 3, 4], [1] * VOCAB))


def test_heads_are_not_measured_on_nothing():
    with pytest.raises(
        InputError, match="batches: there is nothing to read. Fix: give at least one batch"
    ):
        measure_heads(small(), [])


def test_rare_is_what_is_rare_among_the_keys_of_a_site():
    """Source and target share ids, so what is rare on one side may be frequent on the other."""
    model = small("hc-all")
    src, tgt = torch.tensor([[5, 6, 7, EOS_ID]]), torch.tensor([[BOS_ID, 7, 6, 5]])
    first, last = np.zeros(VOCAB), np.zeros(VOCAB)  # 5 is the rarest, or 7 is
    first[4:], last[4:] = 9, 9
    first[[5, 6, 7]], last[[5, 6, 7]] = [1, 2, 3], [3, 2, 1]
    found = {
        counts: measure_heads(model, [(src, tgt)], given, 0)
        for counts, given in {"fl": (first, last), "ff": (first, first)}.items()
    }
    for site in ("encoder_self", "cross"):
        np.testing.assert_array_equal(found["fl"][site].rarest, found["ff"][site].rarest)
    assert (
        found["fl"]["decoder_self"].rare_queries == 3
        and found["ff"]["decoder_self"].rare_queries == 1
    )
    one = HeadSums("cross", [4] * SMALL["decoder_layers"], first, 0)
    one.update(collect_weights(model, src, tgt).cross, tgt, src)
    np.testing.assert_array_equal(found["fl"]["cross"].rarest, one.statistics().rarest)


def test_a_stream_of_batches_is_one_batch_and_no_batch_is_kept():
    model, src = small().double(), ragged(6, 7)
    tgt = torch.cat([torch.full((6, 1), BOS_ID), src[:, :5]], dim=1)
    counts = (np.arange(VOCAB), np.arange(VOCAB)[::-1])
    seen = []

    def stream():
        for rows in torch.arange(6).split([1, 3, 2]):
            assert all(batch() is None for batch in seen[:-1])
            batch = src[rows].clone()
            seen.append(weakref.ref(batch))
            yield batch, tgt[rows]

    found, expected = (
        measure_heads(model, stream(), counts, 3),
        measure_heads(model, [(src, tgt)], counts, 3),
    )
    assert len(seen) == 3
    for site in expected:
        assert_same(found[site], expected[site])
