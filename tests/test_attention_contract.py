"""The promises of `AttentionWeights`, for every variant at every site where it is defined.

Sizes differ pairwise: equal ones hide transposes.
"""

import math

import pytest
import torch

from repro.attention import VARIANTS, build_weights, layers_of
from repro.attention.base import Positions
from repro.attention.gates import HardConcrete
from repro.attention.masks import causal_mask
from repro.attention.multihead import MultiHeadAttention
from repro.config import SITES, ModelConfig
from repro.errors import InputError

BATCH, QUERY_LEN, KEY_LEN, NUM_HEADS, HEAD_DIM = 2, 5, 7, 4, 6
EMBED_DIM = NUM_HEADS * HEAD_DIM
WORDS = torch.tensor([[0, 0, 1, 2, 2], [0, 1, 1, 1, 2]])

OPTIONS = [
    "dot-product(heads=1)",
    "dot-product(heads=3, head_dim=5)",
    "gaussian(kernel='window')",
    "gaussian(kernel='index')",
    "gaussian(renormalize=True)",
    "gaussian(kernel='window', renormalize=True)",
    "gaussian(gamma=1.0, centers=[-1, 1], floor=False)",
    "fixed(patterns=[])",
    "fixed(learned=0)",
    "fixed(unit='word')",
    "fixed(unit='word', spread='copy', right_context='mirrored')",
    "fixed(empty='self')",
    "fixed(empty='wrap')",
    "mixed(types='GL', repeat='last', scale='model')",
    "mixed(types='FB', window=2)",
    "recurrent(axis='query')",
    "recurrent(transition='code-0')",
    "recurrent(transition='code-1')",
    "recurrent(transition='code-2')",
    "recurrent(transition='code-3')",
    "recurrent(layer_norm=False, residual=False)",
    "recurrent(max_len=3, beyond='clamp')",
    "synthesizer(init='ones')",
    "synthesizer(rank=2)",
    "synthesizer(max_len=3, beyond='clamp')",
]
SMALL_TABLES = {"recurrent": "max_len=9", "synthesizer": "max_len=9"}  # the default of 256 is slow to differentiate


def build_one(spec: str, site: str, dropout: float = 0.0):
    name, _, options = spec.removesuffix(")").partition("(")
    if name in SMALL_TABLES and "max_len" not in options:
        spec = f"{name}({', '.join(part for part in (SMALL_TABLES[name], options) if part)})"
    return build_weights(spec, site, 2, EMBED_DIM, NUM_HEADS, dropout, 1.3)[1]  # the second layer: RAN has taken two steps


def defined(spec: str, site: str) -> bool:
    try:
        build_one(spec, site)
    except InputError:
        return False
    return True


PLACES = [(spec, site) for spec in (*VARIANTS, *OPTIONS) for site in SITES if defined(spec, site)]
every_place = pytest.mark.parametrize("variant, site", PLACES)
every_precision = pytest.mark.parametrize("dtype, tolerance", [(torch.float64, 1e-12), (torch.float32, 1e-6), (torch.bfloat16, 2e-2)])


def make(variant, site, dtype=torch.float64, dropout=0.0):
    """Return a layer, its inputs, and a mask with padding (and, in the decoder, the future) blocked."""
    weights = build_one(variant, site, dropout)
    key_len = KEY_LEN if site == "cross" else QUERY_LEN
    query = torch.randn(BATCH, QUERY_LEN, EMBED_DIM, dtype=dtype)
    key = torch.randn(BATCH, key_len, EMBED_DIM, dtype=dtype) if site == "cross" else query
    positions = Positions(torch.arange(QUERY_LEN), WORDS if site == "encoder_self" else None)
    padded = torch.zeros(BATCH, 1, 1, key_len, dtype=torch.bool)
    padded[1, ..., -2:] = True
    blocked = padded | causal_mask(positions.query, key_len) if site == "decoder_self" else padded
    return weights.to(dtype), query, key, blocked, positions


def weigh(weights, query, key, blocked, positions):
    return weights(query, weights.project_key(key), blocked, positions)


@every_place
def test_weights_have_the_shape_and_are_zero_exactly_where_blocked(variant, site):
    weights, query, key, blocked, positions = make(variant, site)
    result = weigh(weights, query, key, blocked, positions)
    assert result.shape[1:] == (weights.num_heads, QUERY_LEN, key.shape[1]) and result.shape[0] in (1, BATCH)
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
        gradients = [tensor.grad for tensor in (query, *weights.parameters()) if tensor.grad is not None]
        assert gradients and all(gradient.isfinite().all() for gradient in gradients)


@every_place
@every_precision
def test_attend_is_forward_times_value(variant, site, dtype, tolerance):
    weights, query, key, blocked, positions = make(variant, site, dtype)
    value = torch.randn(BATCH, weights.num_heads, key.shape[1], weights.head_dim, dtype=dtype)
    projected = weights.project_key(key)
    expected = weights(query, projected, blocked, positions) @ value
    torch.testing.assert_close(weights.attend(query, projected, value, blocked, positions), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("variant, site", [(variant, site) for variant, site in PLACES if not variant.startswith("fixed")])
def test_learned_weights_are_dropped_in_training_and_no_others(variant, site):
    """Fixed heads have an option, and a test of their own."""
    weights, query, key, blocked, positions = make(variant, site, dropout=0.5)
    readable = min(key.shape[1], weights.head_dim)  # value d is 1 at key d alone: it shows that key's weight
    value = torch.eye(key.shape[1], weights.head_dim, dtype=torch.float64).expand(BATCH, weights.num_heads, -1, -1)
    projected = weights.project_key(key)
    whole = weights(query, projected, blocked, positions).expand(BATCH, -1, -1, -1)[..., :readable]
    dropped = weights.train().attend(query, projected, value, blocked, positions)[..., :readable]
    is_learned = any(True for _ in weights.parameters())
    torch.testing.assert_close(dropped, torch.where(dropped == 0, 0, 2 * whole) if is_learned else whole)
    assert ((dropped == 0) & (whole > 0)).any() == is_learned


@every_place
def test_one_query_at_a_time_gives_the_same_rows(variant, site):
    weights, query, key, blocked, positions = make(variant, site)
    together = weigh(weights, query, key, blocked, positions).expand(BATCH, -1, -1, -1)
    blocked = blocked.expand(-1, -1, QUERY_LEN, -1)
    for i in range(QUERY_LEN):
        alone = weigh(weights, query[:, i : i + 1], key, blocked[:, :, i : i + 1], positions._replace(query=positions.query[i : i + 1]))
        torch.testing.assert_close(alone.expand(BATCH, -1, -1, -1)[:, :, 0], together[:, :, i], rtol=0, atol=1e-12)


@pytest.mark.parametrize("variant", [variant for variant, site in PLACES if site == "decoder_self"])
def test_a_changed_future_token_changes_nothing_earlier(variant):
    weights, query, _, blocked, positions = make(variant, "decoder_self")
    layer = MultiHeadAttention(weights, EMBED_DIM).double()
    before = layer(query, layer.project(query), blocked, positions)
    changed = query.clone()
    changed[:, 3] += 1
    after = layer(changed, layer.project(changed), blocked, positions)
    torch.testing.assert_close(after[:, :3], before[:, :3], rtol=0, atol=0)
    assert not torch.allclose(after[:, 3:], before[:, 3:])


@every_place
def test_padding_and_batch_order_change_nothing(variant, site):
    weights, query, key, blocked, positions = make(variant, site)
    layer = MultiHeadAttention(weights, EMBED_DIM).double()
    whole = layer(query, layer.project(key), blocked, positions)
    words = None if positions.words is None else positions.words.flip(0)
    arguments = (blocked.expand(BATCH, 1, -1, -1).flip(0), positions._replace(words=words))
    flipped = layer(query.flip(0), layer.project(key.flip(0)), *arguments).flip(0)
    torch.testing.assert_close(flipped, whole, rtol=0, atol=1e-12)
    num_real = key.shape[1] - 2
    words = None if positions.words is None else positions.words[1:, :num_real]
    rows = slice(None) if site == "cross" else slice(num_real)  # a padded position asks nothing
    arguments = (blocked.expand(BATCH, 1, -1, -1)[1:, ..., :num_real], Positions(positions.query[rows], words))
    if blocked.shape[2] > 1:
        arguments = (arguments[0][:, :, rows], arguments[1])
    cut = layer(query[1:, rows], layer.project(key[1:, :num_real]), *arguments)
    torch.testing.assert_close(cut, whole[1:, rows], rtol=0, atol=1e-12)


@every_place
def test_a_sentence_of_one_token(variant, site):
    weights, query, key, _, positions = make(variant, site)
    words = None if positions.words is None else positions.words[:, :1]
    result = weigh(weights, query[:, :1], key[:, :1], torch.zeros(1, 1, 1, 1, dtype=torch.bool), Positions(positions.query[:1], words))
    assert result.isfinite().all() and (result >= 0).all()


@every_place
def test_gradients_are_those_of_finite_differences(variant, site):
    weights, query, key, blocked, positions = make(variant, site)
    layer = MultiHeadAttention(weights, EMBED_DIM).double()
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
    assert torch.autograd.gradcheck(run, (query, *parameters), fast_mode=True)


@every_place
def test_save_and_load_give_the_same_weights(variant, site):
    weights, query, key, blocked, positions = make(variant, site)
    other = build_one(variant, site).double()
    other.load_state_dict(weights.state_dict())
    torch.testing.assert_close(weigh(other, query, key, blocked, positions), weigh(weights, query, key, blocked, positions), rtol=0, atol=0)


NOT_TO_ONE = {"gaussian", "fixed"}  # but for these of their options
SUM_TO_ONE = [(v, s) for v, s in PLACES if v.partition("(")[0] not in NOT_TO_ONE or "renormalize" in v or v == "fixed(patterns=[])"]


@pytest.mark.parametrize("variant, site", SUM_TO_ONE)
def test_rows_sum_to_one(variant, site):
    weights, query, key, blocked, positions = make(variant, site)
    sums = weigh(weights, query, key, blocked, positions)[0].sum(dim=-1)  # of the sentence without padding
    torch.testing.assert_close(sums, torch.ones_like(sums))


@every_place
def test_gates_and_masks_act_on_the_heads_before_the_output_projection(variant, site):
    weights, query, key, blocked, positions = make(variant, site)
    layer = MultiHeadAttention(weights, EMBED_DIM, HardConcrete(weights.num_heads, init=9.0)).double().eval()
    memory = layer.project(key)
    heads = weights.attend(query, memory.key, memory.value, blocked, positions)  # (batch, num_heads, query_len, head_dim)
    layer.gate.log_alpha.data[0] = -9.0
    layer.head_scale = torch.linspace(0.5, 2, weights.num_heads).double()
    layer.head_scale[-1] = 0.0
    expected = heads * layer.head_scale[:, None, None]
    expected[:, 0] = 0.0
    expected = expected.transpose(1, 2).flatten(2) @ layer.out_proj.weight.T
    torch.testing.assert_close(layer(query, memory, blocked, positions), expected)


REFUSED = {
    ("fixed", "cross"): "fixed patterns are places in the query's own sentence",
    ("fixed(unit='word')", "decoder_self"): "where a word ends is not known yet",
    ("mixed", "cross"): "the positions of two languages do not correspond",
    ("recurrent", "cross"): "the paper leaves it to future work",
}


def test_a_variant_is_defined_wherever_no_reason_speaks_against_it():
    for variant in VARIANTS:
        assert {site for site in SITES if not defined(variant, site)} == {site for name, site in REFUSED if name == variant}


@pytest.mark.parametrize("variant, site", REFUSED)
def test_a_site_without_sense_is_refused_with_its_reason(variant, site):
    with pytest.raises(InputError, match=REFUSED[variant, site]) as caught:
        build_one(variant, site)
    assert str(caught.value).startswith(f"model.{site}: ") and "\n" not in str(caught.value)


def test_cross_attention_has_the_layers_of_the_decoder():
    found = layers_of(ModelConfig(encoder_layers=2, decoder_layers=3, cross="none; last: uniform"))
    assert found["cross"] == ["none", "none", "uniform"]
    assert {site: len(layers) for site, layers in found.items()} == {"encoder_self": 2, "decoder_self": 3, "cross": 3}


@pytest.mark.parametrize(
    "spec, site, message",
    [
        ("gausian", "cross", r"model.cross: unknown attention 'gausian'. Fix: did you mean 'gaussian'\?"),
        ("gaussian(sigma=1)", "encoder_self", "model.encoder_self: gaussian has no option 'sigma'"),
        ("gaussian(std='a')", "encoder_self", r"model.encoder_self: gaussian\(std\): wants float, found 'a'"),
        ("gaussian(kernel='windw')", "encoder_self", r"unknown value 'windw'. Fix: did you mean 'window'\?"),
        ("gaussian(std=open('x'))", "encoder_self", "cannot read the options"),
        ("gaussian(std=0)", "encoder_self", "std is 0"),
        ("gaussian(std=1e-200)", "encoder_self", r"std is 1e-200 .* Fix: give a std from 0\.001"),
        ("gaussian(std=1e200)", "encoder_self", r"std is 1e\+200 .* Fix: give a std from 0\.001"),
        (f"gaussian(std=1{'0' * 400})", "encoder_self", r"gaussian\(std\): is a number of 401 digits"),
        ("gaussian(gamma=[1])", "cross", r"gaussian\(gamma\): wants 'data' or float or null, found \[1\]"),
        ("gaussian(kernel='index', centers=[0.5])", "encoder_self", "needs whole positions, .* Fix: use whole centers"),
        ("uniform(x=1)", "encoder_self", "uniform has no option 'x'. Fix: write uniform alone"),
        ("fixed(heads=0)", "encoder_self", "7 patterns and 1 learned heads in 0 heads"),
        ("gaussian(gamma=2.0)", "encoder_self", "gamma and floor belong to cross attention"),
        ("gaussian(kernel='index', floor=False, centers=[0.5])", "cross", "needs whole positions"),
        ("gaussian(kernel='window', floor=False, gamma=1.5, centers=[0])", "cross", "needs whole positions"),
        ("gaussian", "cross", "gamma is None"),
        ("gaussian(gamma=0.0)", "cross", r"gamma is 0\.0"),
        ("dot-product(heads=5)", "cross", "5 heads of width embed_dim / heads do not fit embed_dim 24"),
        ("fixed(patterns=['midle'])", "encoder_self", "unknown pattern 'midle'"),
        ("fixed(learned=2)", "encoder_self", "7 patterns and 2 learned heads in 8 heads"),
        ("fixed(learned=-1)", "encoder_self", "7 patterns and -1 learned heads in 8 heads"),
        ("fixed(patterns=[], learned=0)", "encoder_self", "0 patterns and 0 learned heads in 8 heads"),
        ("mixed(types='GX')", "encoder_self", "types 'GX'"),
        ("mixed(window=-1)", "encoder_self", "types 'GLFB' with window -1"),
        ("recurrent(max_len=0)", "decoder_self", "max_len is 0"),
        ("synthesizer(rank=0)", "decoder_self", "rank is 0"),
        ("synthesizer(init='ones', rank=4)", "encoder_self", "columns of factors start equal and learn alike: rank 4 stays 1"),
        ("none; 3: dot-product", "cross", "'3: dot-product' names no layer. Fix: write first:, last: or a number from 1 to 2"),
        (f"none; {'1' * 5_000}: dot-product", "cross", "'1{79} names no layer"),  # more digits than Python reads
        ("none; dot-product", "cross", "'dot-product' names no layer"),
        ("none; last: uniform; 2: gaussian", "cross", "layer 2 has two variants: uniform and gaussian. Fix: give it one"),
    ],
)
def test_mistakes_are_one_clear_line(spec, site, message):
    with pytest.raises(InputError, match=message) as caught:
        build_weights(spec, site, 2, EMBED_DIM, NUM_HEADS, length_ratio=None if spec == "gaussian" else 1.0)
    assert "\n" not in str(caught.value) and ". Fix: " in str(caught.value)


@pytest.mark.parametrize("spec", ["dot-product", "gaussian", "none"])
@pytest.mark.parametrize(
    "change, message",
    [
        ({"num_layers": 0}, "num_layers: must be at least 1, found 0"),
        ({"num_heads": 0}, "num_heads: 0 heads do not divide embed_dim 12"),
        ({"num_heads": 5}, "num_heads: 5 heads do not divide embed_dim 12"),
        ({"num_heads": 3, "embed_dim": 0}, "num_heads: 3 heads do not divide embed_dim 0"),
        ({"dropout": 1.0}, r"dropout: must be at least 0 and below 1, found 1.0. Fix: use a value in \[0, 1\)"),
        ({"dropout": -0.1}, "dropout: must be at least 0 and below 1, found -0.1"),
        ({"dropout": math.nan}, "dropout: must be at least 0 and below 1, found nan"),
        ({"length_ratio": math.nan}, "length_ratio: must be above 0 and finite, found nan"),
        ({"length_ratio": math.inf}, "length_ratio: must be above 0 and finite, found inf"),
        ({"spec": None}, "spec: wants str, found None. Fix: name a variant, as in"),
    ],
)
def test_what_no_stack_can_have_is_refused_by_the_name_of_the_argument(spec, change, message):
    with pytest.raises(InputError, match=message):
        build_weights(**({"spec": spec, "site": "cross", "num_layers": 2, "embed_dim": 12, "num_heads": 4} | change))


def test_layers_may_differ():
    layers = build_weights("none; first: uniform; last: dot-product(heads=1)", "cross", 4, EMBED_DIM, NUM_HEADS)
    assert [type(layer).__name__ for layer in layers] == ["Uniform", "NoneType", "NoneType", "DotProduct"]
    assert (layers[-1].num_heads, layers[-1].head_dim) == (1, EMBED_DIM)


@pytest.mark.parametrize("variant", ["dot-product", "mixed", "recurrent(max_len=9)", "synthesizer(max_len=9)"])
def test_learned_weights_are_dropped_in_training_where_they_attend_and_nowhere_else(variant):
    (weights,) = build_weights(variant, "decoder_self", 1, EMBED_DIM, NUM_HEADS, dropout=0.5)
    query, positions = torch.randn(BATCH, QUERY_LEN, EMBED_DIM), Positions(torch.arange(QUERY_LEN))
    blocked, key = causal_mask(positions.query, QUERY_LEN), weights.project_key(query)
    eye = torch.eye(QUERY_LEN).expand(BATCH, NUM_HEADS, -1, -1)  # as values, it shows the weights themselves
    expected = weights.eval()(query, key, blocked, positions).expand_as(eye)
    torch.testing.assert_close(weights.attend(query, key, eye, blocked, positions), expected)
    weights.train()
    torch.testing.assert_close(weights(query, key, blocked, positions).expand_as(eye), expected)
    dropped = weights.attend(query, key, eye, blocked, positions)
    kept = dropped != 0
    torch.testing.assert_close(dropped[kept], 2 * expected[kept])
    assert 0.3 < kept[expected > 0].double().mean() < 0.7
