"""The model: parity with PyTorch's attention, parameter counts from arithmetic, causality, missing
sublayers."""

import pytest
import torch
from torch import nn

from repro.core.attention.base import Positions
from repro.core.attention.multihead import MultiHeadAttention
from repro.core.attention.spec import build_weights
from repro.core.batches import pad
from repro.core.config import ModelConfig
from repro.core.layers import Dropout, Residual
from repro.core.subwords import BOS_ID, PAD_ID
from repro.core.transformer import Transformer, count_parameters, sinusoids
from repro.errors import InputError
from repro.presets import SCALES, resolve
from repro.presets import SYSTEMS as ALL_SYSTEMS

VOCAB = 19
SMALL = {"embed_dim": 24, "num_heads": 4, "ffn_dim": 20, "encoder_layers": 2, "decoder_layers": 3}
SYSTEMS = ["base", "hc-sa"]
MIXTURES = [
    {"encoder_self": encoder, "decoder_self": decoder, "cross": cross}
    for encoder, decoder, cross in [
        ("gaussian", "recurrent", "dot-product"),
        ("mixed", "gaussian", "none; last: dot-product(heads=1)"),
        ("fixed(unit='word')", "synthesizer", "uniform"),
        ("recurrent", "fixed", "gaussian(kernel='window')"),
        ("synthesizer", "mixed", "dot-product(heads=2)"),
        ("uniform", "uniform", "synthesizer"),
    ]
]
every_model = pytest.mark.parametrize("variant", [*ALL_SYSTEMS, *MIXTURES], ids=str)


def small(variant: str | dict = "base", **options) -> Transformer:
    """Build a small model of a system, or of the attention at each site, for a vocabulary where two
    in three pieces start a word."""
    changed = ALL_SYSTEMS[variant] if isinstance(variant, str) else variant
    starts_word = [i % 3 != 0 for i in range(VOCAB)]
    return Transformer(
        ModelConfig(**(SMALL | changed | options)), VOCAB, PAD_ID, starts_word, length_ratio=1.2
    ).eval()


def test_dot_product_attention_is_pytorchs():
    batch, query_len, key_len, embed_dim, num_heads = 2, 5, 7, 12, 4
    (weights,) = build_weights("dot-product", "cross", 1, embed_dim, num_heads)
    ours = MultiHeadAttention(weights, embed_dim)
    theirs = nn.MultiheadAttention(embed_dim, num_heads, bias=False, batch_first=True)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(
            torch.cat([weights.query_proj.weight, weights.key_proj.weight, ours.value_proj.weight])
        )
        theirs.out_proj.weight.copy_(ours.out_proj.weight)
    query, key = torch.randn(batch, query_len, embed_dim), torch.randn(batch, key_len, embed_dim)
    padded = torch.zeros(batch, key_len, dtype=torch.bool)
    padded[1, 4:] = True
    expected, expected_weights = theirs(
        query, key, key, key_padding_mask=padded, average_attn_weights=False
    )
    blocked = padded[:, None, None, :]
    torch.testing.assert_close(
        ours(query, ours.project(key), blocked, Positions(torch.arange(query_len))), expected
    )
    torch.testing.assert_close(
        weights(
            query,
            weights.project_key(key, torch.arange(key.shape[1])),
            blocked,
            Positions(torch.arange(query_len)),
        ),
        expected_weights,
    )


@pytest.mark.parametrize(
    "variant, learned_sites",
    [("base", {"encoder": 1, "decoder": 2}), ("hc-sa", {"encoder": 0, "decoder": 1})],
)
@pytest.mark.parametrize("scale, vocab", [("smoke", 1000), ("multi30k", 4000), ("iwslt16", 32000)])
def test_parameters_are_counted_by_arithmetic(variant, learned_sites, scale, vocab):
    config = resolve(scale, variant).model
    d, ffn = config.embed_dim, config.ffn_dim
    feed_forward, norm, value_and_output, query_and_key = (
        d * ffn + ffn + ffn * d + d,
        2 * d,
        2 * d * d,
        2 * d * d,
    )
    encoder_layer = (
        value_and_output + learned_sites["encoder"] * query_and_key + feed_forward + 2 * norm
    )
    decoder_layer = (
        2 * value_and_output + learned_sites["decoder"] * query_and_key + feed_forward + 3 * norm
    )
    final_norms = 2 * norm  # pre-norm leaves the streams of encoder and decoder unnormalised
    expected = (
        vocab * d
        + config.encoder_layers * encoder_layer
        + config.decoder_layers * decoder_layer
        + final_norms
    )
    assert count_parameters(Transformer(config, vocab, PAD_ID)) == expected


def test_hard_coding_self_attention_saves_two_square_matrices_a_layer():
    config = SCALES["tatoeba"].model
    saved = 2 * config.embed_dim**2 * (config.encoder_layers + config.decoder_layers)
    counts = [
        count_parameters(Transformer(resolve("tatoeba", variant).model, VOCAB, PAD_ID))
        for variant in SYSTEMS
    ]
    assert counts[0] - counts[1] == saved


@every_model
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_a_later_target_token_changes_nothing_earlier(variant, norm):
    model = small(variant, norm=norm)
    src, tgt = torch.randint(4, VOCAB, (2, 7)), torch.randint(4, VOCAB, (2, 5))
    changed = tgt.clone()
    changed[:, 3] = 4 + (tgt[:, 3] - 3) % (VOCAB - 4)
    before, after = model(src, tgt), model(src, changed)
    torch.testing.assert_close(after[:, :3], before[:, :3], rtol=0, atol=0)
    assert not torch.allclose(after[:, 3:], before[:, 3:])


@every_model
def test_padding_and_company_change_nothing(variant):
    model = small(variant).double()
    rows = [[5, 6, 7], [8, 9, 10, 11, 12, 13]]
    tgt = pad([[BOS_ID, 5, 6], [BOS_ID, 7, 8]])
    together = model(pad(rows), tgt)
    for i, row in enumerate(rows):
        torch.testing.assert_close(
            model(pad([row]), tgt[i : i + 1]), together[i : i + 1], rtol=0, atol=1e-12
        )
    padded = model(torch.nn.functional.pad(pad(rows), (0, 9), value=PAD_ID), tgt)
    torch.testing.assert_close(padded, together, rtol=0, atol=1e-12)


@every_model
def test_one_token_at_a_time_is_the_whole_target_at_once(variant):
    model = small(variant).double()
    src, tgt = pad([[5, 6, 7], [8, 9, 10, 11, 12]]), torch.randint(4, VOCAB, (2, 6))
    whole, _ = model.decode(model.start(src), tgt)
    state = model.start(src)
    for i in range(tgt.shape[1]):
        step, state = model.decode(state, tgt[:, i : i + 1])
        torch.testing.assert_close(step[:, 0], whole[:, i], rtol=0, atol=1e-12)


def test_hard_coded_decoders_cache_no_keys():
    model = small("hc-sa")
    _, state = model.decode(
        model.start(torch.randint(4, VOCAB, (2, 7))), torch.randint(4, VOCAB, (2, 5))
    )
    assert all(
        cache.past.attended.key is None and cache.past.attended.value.shape[2] == 5
        for cache in state.caches
    )
    assert all(cache.source.attended.key is not None for cache in state.caches)


def test_none_removes_the_sublayer_with_its_residual_and_norm():
    d = SMALL["embed_dim"]
    per_layer = 4 * d * d + 2 * d  # four projections and a layer norm
    without = small(decoder_self="none")
    assert all(layer.self_attention is None for layer in without.decoder)
    assert (
        count_parameters(small()) - count_parameters(without) == SMALL["decoder_layers"] * per_layer
    )
    assert (
        without(torch.randint(4, VOCAB, (2, 7)), torch.randint(4, VOCAB, (2, 5))).isfinite().all()
    )


def test_embeddings_are_one_matrix_only_when_tied():
    tied, untied = small(), small(tie_embeddings=False)
    assert tied.output.weight is tied.source_embedding.weight is tied.target_embedding.weight
    assert count_parameters(untied) - count_parameters(tied) == 2 * VOCAB * SMALL["embed_dim"]


def test_positions_are_sines_and_cosines():
    table = sinusoids(torch.arange(3), 4)
    expected = torch.tensor(
        [[0.0, 1.0, 0.0, 1.0], [0.8415, 0.5403, 0.0100, 0.99995], [0.9093, -0.4161, 0.0200, 0.9998]]
    )
    torch.testing.assert_close(table, expected, rtol=0, atol=1e-4)


def test_a_residual_drops_elements_of_the_sublayers_output_and_nothing_of_the_stream():
    place = Residual(nn.Identity(), ModelConfig(embed_dim=8, dropout=0.25))
    stream, output = torch.full((500, 8), 10.0), torch.ones(500, 8)
    assert place.eval().leave(stream, output).unique().tolist() == [11.0]
    trained = place.train().leave(stream, output)
    assert trained.unique().tolist() == pytest.approx([10.0, 10 + 4 / 3])
    assert (trained == 10).float().mean().item() == pytest.approx(0.25, abs=0.03)


def test_a_rate_next_to_one_still_keeps_something():
    dropped = Dropout(0.999)(torch.ones(100_000))
    assert 0 < (dropped > 0).sum() < 1000 and dropped.max() == 256


def test_dropout_drops_its_share_keeps_the_mean_and_is_off_in_evaluation():
    # the nearest of 256
    assert [Dropout(rate).threshold for rate in (0.0, 0.1, 0.2, 0.3)] == [0, 26, 51, 77]
    dropout, ones = Dropout(0.3), torch.ones(1000, 1001)
    dropped = dropout(ones)
    assert abs((dropped == 0).float().mean() - 0.3) < 0.005
    assert abs(dropped.mean() - 1) < 0.005
    assert not torch.equal(dropped[0], dropped[1])
    assert torch.equal(dropout.eval()(ones), ones)


@pytest.mark.parametrize(
    "options, rate", [({"dropout": 0.3}, 0.0), ({"attention_dropout": 0.3, "dropout": 0.0}, 0.3)]
)
def test_attention_weights_have_a_dropout_of_their_own(options, rate):
    assert {
        place.weights.dropout
        for places in small(**options).attentions().values()
        for place in places
    } == {rate}


def test_embeddings_are_dropped_in_training_on_both_sides():
    model, seen = small(dropout=0.5, norm="pre"), []
    for stack in (model.encoder, model.decoder):
        stack[0].register_forward_pre_hook(
            lambda _, inputs: seen.append((inputs[0] == 0).double().mean().item())
        )
    src, tgt = torch.randint(4, VOCAB, (8, 9)), torch.randint(4, VOCAB, (8, 9))
    model(src, tgt)
    model.train()(src, tgt)
    assert seen == [0, 0, pytest.approx(0.5, abs=0.1), pytest.approx(0.5, abs=0.1)]


@pytest.mark.parametrize("encoder, decoder", [(True, False), (False, True)])
def test_each_side_has_positions_by_its_own_option(encoder, decoder):
    model, seen = small(encoder_positions=encoder, decoder_positions=decoder), []
    for stack in (model.encoder, model.decoder):
        stack[0].register_forward_pre_hook(
            lambda _, inputs: seen.append(not torch.equal(inputs[0][0, 0], inputs[0][0, 1]))
        )
    model(torch.full((1, 2), 5), torch.full((1, 2), 5))  # the same token twice
    assert seen == [encoder, decoder]


def test_linear_layers_begin_with_glorots_uniform_numbers_and_without_a_bias():
    first, _, second = small().encoder[0].feed_forward.sublayer
    bound = (6 / (SMALL["embed_dim"] + SMALL["ffn_dim"])) ** 0.5
    for layer in (first, second):
        assert 0.98 * bound < layer.weight.abs().max() <= bound
        assert not layer.bias.any()


def test_a_piece_before_any_word_is_of_the_first_word():
    model, seen = small(), []
    model.encoder[0].register_forward_pre_hook(
        lambda _, inputs: seen.extend(inputs[2].words.tolist())
    )
    model.encode(torch.tensor([[6, 7, 9, 8], [7, 6, 8, 10]]))  # 6 and 9 begin no word
    assert seen == [[0, 0, 0, 1], [0, 0, 1, 2]]


def test_embeddings_enter_with_variance_one():
    for tied in (True, False):
        model = Transformer(ModelConfig(**SMALL, tie_embeddings=tied), 2000, PAD_ID)
        for matrix in (
            model.source_embedding.weight,
            model.target_embedding.weight,
            model.output.weight,
        ):
            assert matrix.std().item() * SMALL["embed_dim"] ** 0.5 == pytest.approx(1, abs=0.02)
    model, seen = (
        Transformer(ModelConfig(**SMALL, encoder_positions=False), 2000, PAD_ID).eval(),
        [],
    )
    model.encoder[0].register_forward_pre_hook(
        lambda _, inputs: seen.append(inputs[0].std().item())
    )
    model.encode(torch.randint(4, 2000, (50, 20)))
    assert seen == [pytest.approx(1, abs=0.03)]


def test_the_longest_sentence_is_that_of_the_shortest_table_at_the_sites():
    tables = {"encoder_self": "recurrent(max_len=12)", "decoder_self": "recurrent(max_len=30)"}
    model = small(tables, cross="synthesizer(max_len=20); last: uniform")
    assert [
        model.max_len(*sites)
        for sites in (("encoder_self", "cross"), ("decoder_self", "cross"), ("decoder_self",))
    ] == [12, 20, 30]
    assert small().max_len("encoder_self", "decoder_self", "cross") is None


def test_a_variant_at_a_site_where_it_is_not_defined_is_refused():
    with pytest.raises(
        InputError,
        match=(
            r"model\.cross: mixed heads are near, before or after the query, but .* Fix: use "
            r"mixed at"
        ),
    ):
        small(cross="mixed")
