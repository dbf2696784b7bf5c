"""The promises of `AttentionWeights`, for every variant at every site where it is defined.

Sizes differ pairwise: equal ones hide transposes.
"""

import pytest
import torch

from repro.attention import VARIANTS, build_weights
from repro.attention.masks import causal_mask
from repro.attention.multihead import MultiHeadAttention
from repro.errors import InputError
from repro.scales import SITES

BATCH, QUERY_LEN, KEY_LEN, NUM_HEADS, HEAD_DIM = 2, 5, 7, 4, 3
EMBED_DIM = NUM_HEADS * HEAD_DIM


def defined(variant: str, site: str) -> bool:
    try:
        build_weights(variant, site, 1, EMBED_DIM, NUM_HEADS)
    except InputError:
        return False
    return True


PLACES = [(variant, site) for variant in VARIANTS for site in SITES if defined(variant, site)]
every_place = pytest.mark.parametrize("variant, site", PLACES)
every_precision = pytest.mark.parametrize("dtype, tolerance", [(torch.float64, 1e-12), (torch.float32, 1e-6), (torch.bfloat16, 2e-2)])


def make(variant, site, dtype=torch.float64):
    """Return a layer, its inputs, and a mask with padding (and, in the decoder, the future) blocked."""
    (weights,) = build_weights(variant, site, 1, EMBED_DIM, NUM_HEADS)
    key_len = KEY_LEN if site == "cross" else QUERY_LEN
    query = torch.randn(BATCH, QUERY_LEN, EMBED_DIM, dtype=dtype)
    key = torch.randn(BATCH, key_len, EMBED_DIM, dtype=dtype) if site == "cross" else query
    positions = torch.arange(QUERY_LEN)
    padded = torch.zeros(BATCH, 1, 1, key_len, dtype=torch.bool)
    padded[1, ..., -2:] = True
    blocked = padded | causal_mask(positions, key_len) if site == "decoder_self" else padded
    return weights.to(dtype), query, key, blocked, positions


def weigh(weights, query, key, blocked, positions):
    return weights(query, weights.project_key(key), blocked, positions)


@every_place
def test_weights_have_the_shape_and_are_zero_exactly_where_blocked(variant, site):
    weights, query, key, blocked, positions = make(variant, site)
    result = weigh(weights, query, key, blocked, positions)
    assert result.shape[1:] == (NUM_HEADS, QUERY_LEN, key.shape[1]) and result.shape[0] in (1, BATCH)
    result, blocked = torch.broadcast_tensors(result, blocked)
    assert (result >= 0).all()
    assert (result[blocked] == 0).all()
    assert (result[~blocked] > 0).any()


@every_place
def test_a_row_with_every_key_blocked_is_zero_with_finite_gradients(variant, site):
    weights, query, key, blocked, positions = make(variant, site)
    blocked = blocked.expand(BATCH, 1, QUERY_LEN, -1).clone()
    blocked[0, :, 1] = True
    query.requires_grad_()
    result = weigh(weights, query, key, blocked, positions)
    assert (result[0, :, 1] == 0).all()
    if result.requires_grad:
        result.sum().backward()
        assert query.grad.isfinite().all()


@every_place
@every_precision
def test_attend_is_forward_times_value(variant, site, dtype, tolerance):
    weights, query, key, blocked, positions = make(variant, site, dtype)
    value = torch.randn(BATCH, NUM_HEADS, key.shape[1], HEAD_DIM, dtype=dtype)
    projected = weights.project_key(key)
    expected = weights(query, projected, blocked, positions) @ value
    torch.testing.assert_close(weights.attend(query, projected, value, blocked, positions), expected, rtol=tolerance, atol=tolerance)


@every_place
def test_one_query_at_a_time_gives_the_same_rows(variant, site):
    weights, query, key, blocked, positions = make(variant, site)
    together = weigh(weights, query, key, blocked, positions).expand(BATCH, -1, -1, -1)
    blocked = blocked.expand(-1, -1, QUERY_LEN, -1)
    for i in range(QUERY_LEN):
        alone = weigh(weights, query[:, i : i + 1], key, blocked[:, :, i : i + 1], positions[i : i + 1])
        torch.testing.assert_close(alone.expand(BATCH, -1, -1, -1)[:, :, 0], together[:, :, i], rtol=0, atol=1e-12)


@pytest.mark.parametrize("variant", [variant for variant, site in PLACES if site == "decoder_self"])
def test_a_changed_future_token_changes_nothing_earlier(variant):
    weights, query, _, blocked, positions = make(variant, "decoder_self")
    layer = MultiHeadAttention(weights, EMBED_DIM, NUM_HEADS).double()
    before = layer(query, layer.project(query), blocked, positions)
    changed = query.clone()
    changed[:, 3] += 1
    after = layer(changed, layer.project(changed), blocked, positions)
    torch.testing.assert_close(after[:, :3], before[:, :3], rtol=0, atol=0)
    assert not torch.allclose(after[:, 3:], before[:, 3:])


@every_place
def test_padding_and_batch_order_change_nothing(variant, site):
    weights, query, key, blocked, positions = make(variant, site)
    layer = MultiHeadAttention(weights, EMBED_DIM, NUM_HEADS).double()
    whole = layer(query, layer.project(key), blocked, positions)
    flipped = layer(query.flip(0), layer.project(key.flip(0)), blocked.expand(BATCH, 1, -1, -1).flip(0), positions).flip(0)
    torch.testing.assert_close(flipped, whole, rtol=0, atol=1e-12)
    num_real = key.shape[1] - 2
    cut = layer(query[1:], layer.project(key[1:, :num_real]), blocked.expand(BATCH, 1, -1, -1)[1:, ..., :num_real], positions)
    torch.testing.assert_close(cut, whole[1:], rtol=0, atol=1e-12)


@every_place
def test_a_sentence_of_one_token(variant, site):
    weights, query, key, _, positions = make(variant, site)
    result = weigh(weights, query[:, :1], key[:, :1], torch.zeros(1, 1, 1, 1, dtype=torch.bool), positions[:1])
    assert result.isfinite().all() and (result > 0).any()


@every_place
def test_gradients_are_those_of_finite_differences(variant, site):
    weights, query, key, blocked, positions = make(variant, site)
    layer = MultiHeadAttention(weights, EMBED_DIM, NUM_HEADS).double()
    query.requires_grad_()
    names = [name for name, _ in layer.named_parameters()]

    def run(query, *parameters):
        attended = query if site != "cross" else key
        arguments = (query, _memory(layer, attended, parameters), blocked, positions)
        return torch.func.functional_call(layer, dict(zip(names, parameters, strict=True)), arguments)

    def _memory(layer, attended, parameters):
        with torch.nn.utils.stateless._reparametrize_module(layer, dict(zip(names, parameters, strict=True))):
            return layer.project(attended)

    parameters = [parameter.detach().clone().requires_grad_() for parameter in layer.parameters()]
    assert torch.autograd.gradcheck(run, (query, *parameters))


@every_place
def test_save_and_load_give_the_same_weights(variant, site):
    weights, query, key, blocked, positions = make(variant, site)
    (other,) = build_weights(variant, site, 1, EMBED_DIM, NUM_HEADS)
    other = other.double()
    other.load_state_dict(weights.state_dict())
    torch.testing.assert_close(weigh(other, query, key, blocked, positions), weigh(weights, query, key, blocked, positions), rtol=0, atol=0)


@pytest.mark.parametrize("variant, site", [place for place in PLACES if place[0] != "gaussian"])
def test_rows_sum_to_one(variant, site):
    weights, query, key, blocked, positions = make(variant, site)
    sums = weigh(weights, query, key, blocked, positions).sum(dim=-1)
    torch.testing.assert_close(sums, torch.ones_like(sums))


def test_unknown_names_options_and_sites_are_one_clear_line():
    with pytest.raises(InputError, match=r"model.cross: unknown attention 'gausian'. Fix: did you mean 'gaussian'\?"):
        build_weights("gausian", "cross", 1, EMBED_DIM, NUM_HEADS)
    with pytest.raises(InputError, match="model.cross: gaussian is defined for self-attention only"):
        build_weights("gaussian", "cross", 1, EMBED_DIM, NUM_HEADS)
    with pytest.raises(InputError, match="'gaussian\\(sigma=1\\)' does not fit gaussian"):
        build_weights("gaussian(sigma=1)", "encoder_self", 1, EMBED_DIM, NUM_HEADS)
    with pytest.raises(InputError, match="cannot read the options"):
        build_weights("gaussian(std=open('x'))", "encoder_self", 1, EMBED_DIM, NUM_HEADS)
    with pytest.raises(InputError, match="std is 0"):
        build_weights("gaussian(std=0)", "encoder_self", 1, EMBED_DIM, NUM_HEADS)
