"""Recurrent attention and the Random Synthesizer against Zeng et al. 2021, section 2, and what
their code computes."""

import pytest
import torch
from torch.nn import functional as F

from repro.core.attention.base import Positions
from repro.core.attention.masks import causal_mask
from repro.core.attention.recurrent import Recurrence
from repro.core.attention.spec import build_weights
from repro.core.decoding import SearchConfig, beam_search
from repro.core.subwords import EOS_ID
from repro.core.transformer import count_parameters
from repro.errors import InputError
from test_transformer import VOCAB, small

MAX_LEN, WIDTH, HEADS, LAYERS = 6, 8, 2, 3
FREE = torch.zeros(1, 1, 1, 1, dtype=torch.bool)


def stack(
    options: str = "",
    site: str = "encoder_self",
    max_len: int = MAX_LEN,
    variant: str = "recurrent",
):
    return build_weights(
        f"{variant}(max_len={max_len}{', ' if options else ''}{options})",
        site,
        LAYERS,
        WIDTH,
        HEADS,
    )


def weigh(weights, length: int) -> torch.Tensor:
    """Return the weights of all heads over a sentence without padding, `(num_heads, length,
    length)`."""
    return weights(
        torch.zeros(1, length, WIDTH),
        None,
        FREE.expand(1, 1, 1, length),
        Positions(torch.arange(length)),
    )[0]


@pytest.mark.parametrize("axis", ["key", "query"])
def test_the_transition_is_the_papers_formula_layer_by_layer(axis):
    """A_l = LN(tanh(W A_{l-1} + b)) + A_{l-1}; W mixes the key columns by default and the query
    rows as the formula is written."""
    layers = stack(f"axis='{axis}'")
    recurrence = layers[0].recurrence
    linear, norm = recurrence.mix[0], recurrence.norm
    with torch.no_grad():
        recurrence.first_scores.normal_()
        linear.bias.normal_()
        norm.weight.normal_()
    scores = recurrence.first_scores
    for layer in layers:
        if axis == "key":
            mixed = torch.einsum("hik,jk->hij", scores, linear.weight) + linear.bias
        else:
            mixed = torch.einsum("ik,hkj->hij", linear.weight, scores) + linear.bias[:, None]
        scores = F.layer_norm(torch.tanh(mixed), (MAX_LEN,), norm.weight, norm.bias) + scores
        torch.testing.assert_close(weigh(layer, 4), scores[:, :4, :4].softmax(-1))


def test_two_by_two_by_hand():
    """One head, M = 2, W = identity, b = 0, LN off: A_1 = tanh(A_0) + A_0."""
    (layer,) = build_weights("recurrent(max_len=2, layer_norm=False)", "encoder_self", 1, 4, 1)
    with torch.no_grad():
        layer.recurrence.first_scores.copy_(torch.tensor([[[0.0, 1.0], [-1.0, 0.5]]]))
        layer.recurrence.mix[0].weight.copy_(torch.eye(2))
        layer.recurrence.mix[0].bias.zero_()
    found = layer(torch.zeros(1, 2, 4), None, FREE.expand(1, 1, 1, 2), Positions(torch.arange(2)))[
        0, 0
    ]
    # tanh(1) = 0.76159, tanh(0.5) = 0.46212: A_1 = [[0, 1.76159], [-1.76159, 0.96212]]
    torch.testing.assert_close(
        found, torch.tensor([[0.1466, 0.8534], [0.0616, 0.9384]]), rtol=0, atol=5e-5
    )


def test_the_codes_transitions():
    first = torch.randn(HEADS, MAX_LEN, MAX_LEN)
    for name in ("code-0", "code-1", "code-2", "code-3"):
        recurrence = stack(f"transition='{name}'")[0].recurrence
        linears = [module for module in recurrence.mix if isinstance(module, torch.nn.Linear)]
        x = F.layer_norm(first, (MAX_LEN,)) if name == "code-3" else first
        activation = torch.tanh if name == "code-1" else torch.relu
        x = activation(x @ linears[0].weight.T + linears[0].bias)
        if name in ("code-0", "code-3"):
            assert linears[0].weight.shape == (4 * MAX_LEN, MAX_LEN)
            x = x @ linears[1].weight.T + linears[1].bias
        torch.testing.assert_close(recurrence.step(first), x + first)


def test_without_residual_a_step_replaces_the_scores():
    recurrence = stack("residual=False")[0].recurrence
    first = torch.randn(HEADS, MAX_LEN, MAX_LEN)
    torch.testing.assert_close(recurrence.step(first), recurrence.norm(recurrence.mix(first)))


def test_parameters_of_a_stack_are_those_of_the_papers_sizes():
    """h = 8, M = 256: A_0 524,288, linear 65,792, LN 512 (525,568 for the code's default), whatever
    the depth; the baseline has 2 L d^2."""
    count = {
        name: count_parameters(torch.nn.ModuleList(build_weights(name, "encoder_self", 6, 512, 8)))
        for name in COUNTED
    }
    assert count["recurrent"] == 524_288 + 65_792 + 512
    assert count["recurrent(transition='code-0')"] == 524_288 + 525_568
    assert count["recurrent(trainable=False)"] == 65_792 + 512
    assert count["dot-product"] == count["synthesizer"] == 3_145_728
    assert count["synthesizer(rank=8)"] == 6 * 2 * 8 * 256 * 8
    assert count["synthesizer(trainable=False)"] == 0


COUNTED = (
    *("recurrent", "recurrent(transition='code-0')", "recurrent(trainable=False)", "dot-product"),
    *("synthesizer", "synthesizer(rank=8)", "synthesizer(trainable=False)"),
)


def test_at_inference_the_recurrence_runs_once_and_again_when_a_parameter_changes():
    layers, calls = stack(), []
    layers[0].recurrence.mix.register_forward_hook(lambda *_: calls.append(1))
    with torch.no_grad():
        for length in (2, 4, 6, 3):
            for layer in layers:
                weigh(layer, length)
        assert len(calls) == LAYERS
        before = weigh(layers[2], 4)
        layers[0].recurrence.first_scores[0, 0, 0] += 5
        assert not torch.equal(weigh(layers[2], 4), before)
        assert len(calls) == 2 * LAYERS
    weigh(layers[2], 4).sum().backward()  # with gradients it is computed afresh
    assert layers[0].recurrence.first_scores.grad is not None


def test_scores_of_one_precision_do_not_serve_another():
    layer = stack()[2]
    with torch.no_grad():
        exact = weigh(layer, 4)
        with torch.autocast("cpu", torch.bfloat16):
            rounded = weigh(layer, 4)
        assert not torch.equal(rounded.float(), exact) and torch.equal(weigh(layer, 4), exact)


@pytest.mark.parametrize("variant", ["recurrent", "synthesizer"])
@pytest.mark.parametrize("has_gradient", [True, False])
def test_a_sentence_beyond_the_matrix_is_refused_or_clamped(variant, has_gradient):
    with torch.set_grad_enabled(has_gradient):
        weigh(stack(variant=variant)[0], MAX_LEN)
        message = (
            f"a sentence has 7 tokens, but {variant} has learned scores for 6. Fix: shorten or "
            "split"
        )
        with pytest.raises(InputError, match=message):
            weigh(stack(variant=variant)[0], MAX_LEN + 1)
        layer = stack("beyond='clamp'", variant=variant)[0]
        within, clamped = weigh(layer, MAX_LEN), weigh(layer, MAX_LEN + 2)
    inside = clamped[:, :MAX_LEN, :MAX_LEN]
    torch.testing.assert_close(inside / inside.sum(dim=-1, keepdim=True), within)
    torch.testing.assert_close(clamped[:, MAX_LEN + 1], clamped[:, MAX_LEN - 1])
    torch.testing.assert_close(clamped[..., MAX_LEN + 1], clamped[..., MAX_LEN - 1])
    assert (
        stack(variant=variant)[0].max_len,
        stack("beyond='clamp'", variant=variant)[0].max_len,
    ) == (MAX_LEN, None)


@pytest.mark.parametrize("query_len, key_len", [(MAX_LEN + 1, 2), (2, MAX_LEN + 1)])
def test_in_cross_attention_either_sentence_may_be_beyond_the_matrix(query_len, key_len):
    arguments = (
        torch.zeros(1, query_len, WIDTH),
        None,
        FREE.expand(1, 1, 1, key_len),
        Positions(torch.arange(query_len)),
    )
    with pytest.raises(
        InputError, match="a sentence has 7 tokens, but synthesizer has learned scores for 6"
    ):
        stack(site="cross", variant="synthesizer")[0](*arguments)
    clamped = stack("beyond='clamp'", site="cross", variant="synthesizer")[0](*arguments)
    assert clamped.shape == (1, HEADS, query_len, key_len)


def test_a_decoder_row_is_a_softmax_over_its_lower_triangle():
    (layer, *_) = stack(site="decoder_self")
    with torch.no_grad():
        layer.recurrence.first_scores.normal_()
        scores = layer.recurrence.scores(1, MAX_LEN)
    positions = Positions(torch.arange(4))
    found = layer(torch.zeros(1, 4, WIDTH), None, causal_mask(positions.query, 4), positions)[0]
    for i in range(4):
        torch.testing.assert_close(found[:, i, : i + 1], scores[:, i, : i + 1].softmax(-1))


def test_initial_scores():
    """The code's Xavier of [8, 256, 256] is U(-0.0094, 0.0094); ones start exactly uniform; the
    others nearly so."""
    first = build_weights("recurrent", "encoder_self", 1, 16, 8)[0].recurrence.first_scores
    assert 0.0093 < first.abs().max() < 0.00945
    torch.testing.assert_close(
        weigh(stack("init='ones'", variant="synthesizer")[0], 4), torch.full((HEADS, 4, 4), 0.25)
    )
    for options in ("init='normal'", "init='normal', rank=8"):
        (layer,) = build_weights(f"synthesizer({options})", "encoder_self", 1, 16, 8)
        scores = layer.scores if layer.rank is None else layer.left @ layer.right.mT
        assert abs(scores.std() * 16 - 1) < 0.05, "variance 1 / 256"


def test_a_model_keeps_the_values_that_a_variant_starts_from():
    from test_transformer import small

    model = small("syn-r-ones")
    assert all((layer.self_attention.sublayer.weights.scores == 1).all() for layer in model.encoder)


def test_scores_are_made_anew_after_an_update_by_a_fused_optimiser():
    core = Recurrence(2, 5)
    optimizer = torch.optim.Adam(core.parameters(), lr=0.1, fused=True)
    with torch.no_grad():
        before = core.scores(2, 5).clone()
    core.scores(2, 5).square().sum().backward()
    optimizer.step()
    with torch.no_grad():
        after = core.scores(2, 5)
    assert not torch.equal(before, after)
    torch.testing.assert_close(after, core.scores(2, 5).detach())


@pytest.mark.parametrize("options", ["", ", rank=2"])
def test_random_synthesizer_is_the_softmax_of_its_scores(options):
    (layer,) = build_weights(
        f"synthesizer(max_len={MAX_LEN}{options})", "encoder_self", 1, WIDTH, HEADS
    )
    scores = layer.scores if layer.rank is None else layer.left @ layer.right.mT
    found = layer(
        torch.zeros(1, 4, WIDTH), None, FREE.expand(1, 1, 1, 4), Positions(torch.arange(4))
    )
    torch.testing.assert_close(found[0], scores[:, :4, :4].softmax(-1))


@pytest.mark.parametrize("site", ["decoder_self", "cross"])
def test_a_translation_ends_where_the_decoders_positions_do(site):
    model = small(**{site: "synthesizer(max_len=6)"})
    with torch.no_grad():
        model.output.bias = torch.nn.Parameter(torch.zeros(VOCAB))
        model.output.bias[EOS_ID] = -1e4  # it would go on for ever
    (found,) = beam_search(model, torch.tensor([[5, 6]]), SearchConfig(beam=2, extra_tokens=50))
    assert found.cut and len(found.ids) == 5  # and the start mark
