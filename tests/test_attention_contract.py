"""The promises of `AttentionWeights`, for every variant at every site where it is defined, with
every option at a second value.

A new variant is one file and one line: what it refuses, and whether its rows sum to one, it says
    itself.
"""

import inspect
import math

import pytest
import torch

from repro.core.attention.base import Positions, SiteError
from repro.core.attention.gates import HardConcrete
from repro.core.attention.masks import causal_mask
from repro.core.attention.multihead import MultiHeadAttention
from repro.core.attention.spec import build_weights, layers_of, parse_variant
from repro.core.attention.variants import VARIANTS, options_of
from repro.core.config import SITES, ModelConfig
from repro.core.contract import (
    BATCH,
    EMBED_DIM,
    NUM_HEADS,
    build_one,
    check_calls_do_not_meet,
    check_nothing_later_counts,
    check_padding_and_batch,
    check_rows_on_their_own,
    check_rows_without_keys,
    check_saved,
    check_step_by_step,
    check_weights,
    lengths_of,
    make,
)
from repro.core.contract_cases import is_defined, specs_of
from repro.errors import InputError

QUERY_LEN = 5
# the size of a table of positions where gradients are checked: those of all of 256 by 256 take long
SMALL = 9

PLACES = [
    (spec, site)
    for name in VARIANTS
    for spec in specs_of(name)
    for site in SITES
    if is_defined(spec, site)
]
every_place = pytest.mark.parametrize("variant, site", PLACES)
every_decoder = pytest.mark.parametrize(
    "variant", [variant for variant, site in PLACES if site == "decoder_self"]
)
every_precision = pytest.mark.parametrize(
    "dtype, tolerance", [(torch.float64, 1e-12), (torch.float32, 1e-6), (torch.bfloat16, 2e-2)]
)


def weigh(weights, query, key, blocked, positions):
    projected = weights.project_key(key, torch.arange(key.shape[1]))
    return weights(query, projected, blocked, positions)


@every_place
def test_weights_have_the_shape_are_zero_exactly_where_blocked_and_sum_to_one(variant, site):
    for length in lengths_of(variant, site):
        check_weights(variant, site, length)


@every_place
def test_a_row_with_every_key_blocked_is_zero_with_finite_gradients(variant, site):
    check_rows_without_keys(variant, site)
    weights, query, key, blocked, positions = make(variant, site)
    blocked = blocked.expand(BATCH, 1, QUERY_LEN, -1).clone()
    blocked[0, :, 1] = True
    query.requires_grad_()
    result = weigh(weights, query, key, blocked, positions)
    if result.requires_grad:
        result.sum().backward()
        gradients = [
            tensor.grad for tensor in (query, *weights.parameters()) if tensor.grad is not None
        ]
        assert gradients and all(gradient.isfinite().all() for gradient in gradients)


@every_place
@every_precision
def test_attend_is_forward_times_value(variant, site, dtype, tolerance):
    weights, query, key, blocked, positions = make(variant, site, dtype=dtype)
    value = torch.randn(BATCH, weights.num_heads, key.shape[1], weights.head_dim, dtype=dtype)
    projected = weights.project_key(key, torch.arange(key.shape[1]))
    expected = weights(query, projected, blocked, positions) @ value
    torch.testing.assert_close(
        weights.attend(query, projected, value, blocked, positions),
        expected,
        rtol=tolerance,
        atol=tolerance,
    )


@every_place
def test_the_heads_that_are_learned_are_dropped_in_training(variant, site):
    weights, query, key, blocked, positions = make(variant, site, dropout=0.5)
    # value d is 1 at key d alone: it shows that key's weight
    readable = min(key.shape[1], weights.head_dim)
    value = torch.eye(key.shape[1], weights.head_dim, dtype=torch.float64).expand(
        BATCH, weights.num_heads, -1, -1
    )
    for parameter in weights.parameters():
        parameter.requires_grad_()
    projected = weights.project_key(key, torch.arange(key.shape[1]))
    whole = weights(query, projected, blocked, positions).expand(BATCH, -1, -1, -1)[..., :readable]
    dropped = weights.train().attend(query, projected, value, blocked, positions)[..., :readable]
    is_learned = [_is_learned(whole[:, head], weights) for head in range(weights.num_heads)]
    for head, of_head in enumerate(is_learned):
        found, expected = dropped[:, head], whole[:, head]
        is_dropped = bool(((found == 0) & (expected != 0)).any())
        assert is_dropped or not of_head, (
            f"{variant} at {site}: head {head} is learned, and none of its weights is dropped"
        )
        assert not is_dropped or any(is_learned), (
            f"{variant} at {site}: nothing is learned, but weights of head {head} are dropped"
        )
        torch.testing.assert_close(
            found, torch.where(found == 0, 0, 2 * expected) if is_dropped else expected
        )


def _is_learned(of_head, weights) -> bool:
    """Whether the weights of a head depend on a parameter; their sum is one anyhow."""
    total = (of_head * torch.rand_like(of_head)).sum()
    if not total.requires_grad:
        return False
    gradients = torch.autograd.grad(
        total, list(weights.parameters()), retain_graph=True, allow_unused=True
    )
    return any(gradient is not None and bool((gradient != 0).any()) for gradient in gradients)


@every_place
def test_one_query_at_a_time_gives_the_same_rows(variant, site):
    for length in lengths_of(variant, site):
        check_rows_on_their_own(variant, site, length)


@every_decoder
def test_a_changed_future_token_changes_nothing_earlier(variant):
    for length in lengths_of(variant, "decoder_self"):
        check_nothing_later_counts(variant, length)


@pytest.mark.parametrize("variant, site", [place for place in PLACES if place[1] != "encoder_self"])
def test_one_token_at_a_time_through_the_cache_gives_what_all_at_once_give(variant, site):
    check_step_by_step(variant, site)


@every_place
def test_padding_and_batch_order_change_nothing(variant, site):
    for length in lengths_of(variant, site):
        check_padding_and_batch(variant, site, length)


@every_place
def test_a_call_leaves_nothing_for_the_next(variant, site):
    check_calls_do_not_meet(variant, site)


@every_place
def test_gradients_are_those_of_finite_differences(variant, site):
    weights, query, key, blocked, positions = make(variant, site, max_len=SMALL)
    layer = MultiHeadAttention(weights, EMBED_DIM).double()
    query.requires_grad_()
    names = [name for name, _ in layer.named_parameters()]

    def run(query, *parameters):
        attended = query if site != "cross" else key
        arguments = (query, _memory(layer, attended, parameters), blocked, positions)
        return torch.func.functional_call(
            layer, dict(zip(names, parameters, strict=True)), arguments
        )

    def _memory(layer, attended, parameters):
        with torch.nn.utils.stateless._reparametrize_module(
            layer, dict(zip(names, parameters, strict=True))
        ):
            return layer.project(attended)

    parameters = [parameter.detach().clone().requires_grad_() for parameter in layer.parameters()]
    assert torch.autograd.gradcheck(run, (query, *parameters), fast_mode=True)


@every_place
def test_save_and_load_give_the_same_weights(variant, site):
    check_saved(variant, site)


@every_place
def test_gates_and_masks_act_on_the_heads_before_the_output_projection(variant, site):
    weights, query, key, blocked, positions = make(variant, site)
    layer = (
        MultiHeadAttention(weights, EMBED_DIM, HardConcrete(weights.num_heads, init=9.0))
        .double()
        .eval()
    )
    memory = layer.project(key)
    # (batch, num_heads, query_len, head_dim)
    heads = weights.attend(query, memory.key, memory.value, blocked, positions)
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


@pytest.mark.parametrize("variant", [spec for name in VARIANTS for spec in specs_of(name)])
def test_a_variant_is_built_or_says_why_it_makes_no_sense_at_a_site(variant):
    refused = {}
    for site in SITES:
        try:
            build_one(variant, site)
        except SiteError as error:  # anything else is a fault of the variant
            refused[site] = str(error)
    assert len(refused) < len(SITES), (
        f"{variant} is refused at every site: {'; '.join(refused.values())}"
    )
    for site, reason in refused.items():
        is_clear = (
            reason.startswith(f"model.{site}: ") and ". Fix: " in reason and "\n" not in reason
        )
        assert is_clear, (
            f"{variant} is refused at {site}, but not by one line 'model.{site}: REASON. Fix: "
            f"...': {reason}"
        )


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_option_is_tried_at_a_second_value(variant):
    tried = [
        parse_variant(spec)[1]
        for spec in specs_of(variant)
        if any(spec == place[0] for place in PLACES)
    ]
    for option in options_of(variant).values():
        values = [given[option.name] for given in tried if option.name in given]
        is_tried = any(value != option.default for value in values)
        hint = inspect.formatannotation(option.annotation)
        fix = f"name some in EXAMPLES of its file, as in EXAMPLES = ('{option.name}=...',)"
        assert is_tried, (
            f"{variant}: its option '{option.name}' ({hint}) has no second value to be tried "
            f"at. Fix: {fix}"
        )


@pytest.mark.parametrize("variant, site", REFUSED)
def test_a_site_without_sense_is_refused_with_its_reason(variant, site):
    with pytest.raises(SiteError, match=REFUSED[variant, site]) as caught:
        build_one(variant, site)
    assert str(caught.value).startswith(f"model.{site}: ") and "\n" not in str(caught.value)


def test_cross_attention_has_the_layers_of_the_decoder():
    found = layers_of(ModelConfig(encoder_layers=2, decoder_layers=3, cross="none; last: uniform"))
    assert found["cross"] == ["none", "none", "uniform"]
    assert {site: len(layers) for site, layers in found.items()} == {
        "encoder_self": 2,
        "decoder_self": 3,
        "cross": 3,
    }


@pytest.mark.parametrize(
    "spec, site, message",
    [
        (
            "gausian",
            "cross",
            r"model.cross: unknown attention 'gausian'. Fix: did you mean 'gaussian'\?",
        ),
        ("gaussian(sigma=1)", "encoder_self", "model.encoder_self: gaussian has no option 'sigma'"),
        (
            "gaussian(std='a')",
            "encoder_self",
            r"model.encoder_self: gaussian\(std\): wants float, found 'a'",
        ),
        (
            "gaussian(kernel='windw')",
            "encoder_self",
            r"unknown value 'windw'. Fix: did you mean 'window'\?",
        ),
        ("gaussian(std=open('x'))", "encoder_self", "cannot read the options"),
        ("gaussian(std=0)", "encoder_self", "std is 0"),
        ("gaussian(std=1e-200)", "encoder_self", r"std is 1e-200 .* Fix: give a std from 0\.001"),
        ("gaussian(std=1e200)", "encoder_self", r"std is 1e\+200 .* Fix: give a std from 0\.001"),
        (
            f"gaussian(std=1{'0' * 400})",
            "encoder_self",
            r"gaussian\(std\): is a number of 401 digits",
        ),
        (
            "gaussian(gamma=[1])",
            "cross",
            r"gaussian\(gamma\): wants 'data' or float or null, found \[1\]",
        ),
        (
            "gaussian(kernel='index', centers=[0.5])",
            "encoder_self",
            "needs whole positions, .* Fix: use whole centers",
        ),
        ("uniform(x=1)", "encoder_self", "uniform has no option 'x'. Fix: write uniform alone"),
        # it would be a second name of the same model
        ("none(x=1)", "encoder_self", "none has no option 'x'. Fix: write none alone"),
        (
            "fixed(spread='copy')",
            "encoder_self",
            r"fixed\(spread\): does nothing without unit='word'",
        ),
        (
            "fixed(patterns=[], unit='word')",
            "encoder_self",
            r"\(unit\): does nothing without a pat",
        ),
        ("fixed(patterns=[], drop_fixed=True)", "encoder_self", r"\(drop_fixed\): does nothing"),
        ("fixed(patterns=['current'], empty='self')", "encoder_self", r"\(empty\): does nothing"),
        (
            "fixed(patterns=['left'], right_context='mirrored')",
            "encoder_self",
            r"fixed\(right_context\): does nothing without the pattern right. Fix: leave it out",
        ),
        ("gaussian(kernel='index', std=2.0)", "encoder_self", "std and renormalize do nothing"),
        ("gaussian(kernel='index', renormalize=True)", "decoder_self", "renormalize do nothing"),
        ("mixed(types='GB', window=2)", "encoder_self", "does nothing without local heads"),
        (
            "recurrent(transition='code-0', layer_norm=False)",
            "encoder_self",
            r"recurrent\(layer_norm\): does nothing for a network of the code, code-0",
        ),
        ("fixed(heads=0)", "encoder_self", "7 patterns and 1 learned heads in 0 heads"),
        ("gaussian(gamma=2.0)", "encoder_self", "gamma and floor belong to cross attention"),
        ("gaussian(kernel='index', floor=False, centers=[0.5])", "cross", "needs whole positions"),
        (
            "gaussian(kernel='window', floor=False, gamma=1.5, centers=[0])",
            "cross",
            "needs whole positions",
        ),
        ("gaussian", "cross", "gamma is None"),
        ("gaussian(gamma=0.0)", "cross", r"gamma is 0\.0"),
        (
            "dot-product(heads=5)",
            "cross",
            "5 heads of width embed_dim / heads do not fit embed_dim 24",
        ),
        (
            "dot-product(head_dim=0)",
            "encoder_self",
            r"model\.encoder_self: head_dim is 0\. Fix: use a width of 1 or more",
        ),
        ("fixed(patterns=['midle'])", "encoder_self", "unknown pattern 'midle'"),
        ("fixed(learned=2)", "encoder_self", "7 patterns and 2 learned heads in 8 heads"),
        ("fixed(learned=-1)", "encoder_self", "7 patterns and -1 learned heads in 8 heads"),
        (
            "fixed(patterns=[], learned=0)",
            "encoder_self",
            "0 patterns and 0 learned heads in 8 heads",
        ),
        ("mixed(types='GX')", "encoder_self", "types 'GX'"),
        ("mixed(window=-1)", "encoder_self", "types 'GLFB' with window -1"),
        ("recurrent(max_len=0)", "decoder_self", "max_len is 0"),
        ("synthesizer(rank=0)", "decoder_self", "rank is 0"),
        ("synthesizer(rank=257)", "cross", "rank is 257, but that of scores for 256 tokens is 256"),
        (
            "synthesizer(init='ones', rank=4)",
            "encoder_self",
            "columns of factors start equal and learn alike: rank 4 stays 1",
        ),
        (
            "none; 3: dot-product",
            "cross",
            "'3: dot-product' names no layer. Fix: write first:, last: or a number from 1 to 2",
        ),
        # more digits than Python reads
        (f"none; {'1' * 5_000}: dot-product", "cross", r"'1+ \.\.\. names no layer"),
        ("none; dot-product", "cross", "'dot-product' names no layer"),
        (
            "none; last: uniform; 2: gaussian",
            "cross",
            "layer 2 has two variants: uniform and gaussian. Fix: give it one",
        ),
    ],
)
def test_mistakes_are_one_clear_line(spec, site, message):
    with pytest.raises(InputError, match=message) as caught:
        build_weights(
            spec, site, 2, EMBED_DIM, NUM_HEADS, length_ratio=None if spec == "gaussian" else 1.0
        )
    assert "\n" not in str(caught.value) and ". Fix: " in str(caught.value)


@pytest.mark.parametrize("spec", ["dot-product", "gaussian", "none"])
@pytest.mark.parametrize(
    "change, message",
    [
        ({"num_layers": 0}, "num_layers: must be at least 1, found 0"),
        ({"num_heads": 0}, "num_heads: 0 heads do not divide embed_dim 12"),
        ({"num_heads": 5}, "num_heads: 5 heads do not divide embed_dim 12"),
        ({"num_heads": 3, "embed_dim": 0}, "embed_dim: must be at least 1, found 0"),
        (
            {"dropout": 1.0},
            r"dropout: must be at least 0 and below 1, found 1.0. Fix: use a value in \[0, 1\)",
        ),
        ({"dropout": -0.1}, "dropout: must be at least 0 and below 1, found -0.1"),
        (
            {"dropout": math.nan},
            "dropout: wants float, found nan. Fix: give one float that is finite",
        ),
        ({"length_ratio": math.nan}, "length_ratio: wants float, found nan"),
        ({"length_ratio": math.inf}, "length_ratio: wants float, found inf"),
        ({"length_ratio": 0}, "length_ratio: must be above 0, found 0. Fix: divide mean source"),
        ({"spec": None}, "spec: wants str, found None. Fix: name a variant, as in"),
    ],
)
def test_what_no_stack_can_have_is_refused_by_the_name_of_the_argument(spec, change, message):
    with pytest.raises(InputError, match=message):
        build_weights(
            **(
                {"spec": spec, "site": "cross", "num_layers": 2, "embed_dim": 12, "num_heads": 4}
                | change
            )
        )


def test_layers_may_differ():
    layers = build_weights(
        "none; first: uniform; last: dot-product(heads=1)", "cross", 4, EMBED_DIM, NUM_HEADS
    )
    assert [type(layer).__name__ for layer in layers] == [
        "Uniform",
        "NoneType",
        "NoneType",
        "DotProduct",
    ]
    assert (layers[-1].num_heads, layers[-1].head_dim) == (1, EMBED_DIM)


@pytest.mark.parametrize(
    "variant", ["dot-product", "mixed", "recurrent(max_len=9)", "synthesizer(max_len=9)"]
)
def test_learned_weights_are_dropped_in_training_where_they_attend_and_nowhere_else(variant):
    (weights,) = build_weights(variant, "decoder_self", 1, EMBED_DIM, NUM_HEADS, dropout=0.5)
    query, positions = torch.randn(BATCH, QUERY_LEN, EMBED_DIM), Positions(torch.arange(QUERY_LEN))
    blocked = causal_mask(positions.query, QUERY_LEN)
    key = weights.project_key(query, positions.query)
    # as values, it shows the weights themselves
    eye = torch.eye(QUERY_LEN).expand(BATCH, NUM_HEADS, -1, -1)
    expected = weights.eval()(query, key, blocked, positions).expand_as(eye)
    torch.testing.assert_close(weights.attend(query, key, eye, blocked, positions), expected)
    weights.train()
    torch.testing.assert_close(weights(query, key, blocked, positions).expand_as(eye), expected)
    dropped = weights.attend(query, key, eye, blocked, positions)
    kept = dropped != 0
    torch.testing.assert_close(dropped[kept], 2 * expected[kept])
    assert 0.3 < kept[expected > 0].double().mean() < 0.7
