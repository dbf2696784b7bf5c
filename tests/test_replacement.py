"""Replacement: one head gets exactly the weights it is given, its neighbours keep theirs, and
afterwards nothing has changed."""

import pytest
import torch

from repro.analysis.replacement import replaced_head
from repro.analysis.weights import collect_weights
from repro.core.attention.fixed import Fixed
from repro.core.attention.gaussian import Gaussian
from repro.core.attention.spec import build_weights
from repro.core.attention.uniform import Uniform
from repro.core.subwords import PAD_ID
from repro.errors import InputError
from test_transformer import VOCAB, small

HEAD_DIM = 6
PLACES = [("encoder_self", 1, 2), ("decoder_self", 0, 3), ("cross", 2, 1)]


def gaussian(center: float = -1.0, std: float = 1.0, gamma: float = 1.0) -> Gaussian:
    return Gaussian((center,), HEAD_DIM, std, gamma)


def batch() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    src, tgt_in = (torch.randint(4, VOCAB, (2, length), generator=generator) for length in (7, 5))
    src[1, 5:] = PAD_ID
    return src, tgt_in


def logits(model) -> torch.Tensor:
    with torch.no_grad():
        return model.eval()(*batch())


@pytest.mark.parametrize("site, layer, head", PLACES)
def test_one_head_gets_the_weights_and_its_neighbours_keep_theirs(site, layer, head):
    model = small().double().eval()
    whole, before = collect_weights(model, *batch()), logits(model)
    with replaced_head(model, site, layer, head, gaussian(0.5, 1.5)):
        changed, after = collect_weights(model, *batch()), logits(model)
    found = getattr(changed, site)[layer]
    (src, tgt_in), key_len = batch(), found.shape[-1]
    keys, queries = (
        torch.arange(key_len, dtype=torch.double),
        torch.arange(found.shape[-2], dtype=torch.double),
    )
    density = torch.exp(-((keys - queries[:, None] - 0.5) ** 2) / (2 * 1.5**2)) / (
        1.5 * (2 * torch.pi) ** 0.5
    )
    visible = (tgt_in if site == "decoder_self" else src)[:, None] != PAD_ID
    expected = (
        density
        * visible
        * (keys <= queries[:, None] if site == "decoder_self" else torch.ones_like(density))
    )
    torch.testing.assert_close(found[:, head], expected)
    others = [i for i in range(found.shape[1]) if i != head]
    torch.testing.assert_close(found[:, others], getattr(whole, site)[layer][:, others])
    assert not torch.allclose(before, after)


def test_a_whole_layer_of_gaussians_is_the_hard_coded_variant():
    model, hard_coded = small().eval(), small(encoder_self="gaussian").eval()
    expected = collect_weights(hard_coded, *batch()).encoder_self[0]
    with (
        replaced_head(model, "encoder_self", 0, 0, gaussian(-1)),
        replaced_head(model, "encoder_self", 0, 1, gaussian(1)),
        replaced_head(model, "encoder_self", 0, 2, gaussian(-1)),
        replaced_head(model, "encoder_self", 0, 3, gaussian(1)),
    ):
        found = collect_weights(model, *batch()).encoder_self[0]
    torch.testing.assert_close(found, expected.expand_as(found))


@pytest.mark.parametrize(
    "encoder", ["dot-product", "gaussian", "recurrent", "synthesizer", "mixed", "fixed", "uniform"]
)
def test_the_same_weights_again_change_nothing(encoder):
    model = small(encoder_self=encoder)
    before = logits(model)
    with replaced_head(model, "encoder_self", 0, 1):
        torch.testing.assert_close(logits(model), before)


@pytest.mark.parametrize("site, layer, head", PLACES)
@pytest.mark.parametrize("kind", ["gaussian", "fixed", "painted"])
def test_one_token_at_a_time_gives_what_all_at_once_give(site, layer, head, kind):
    model = small().double().eval()
    fixed = Fixed(("left",), None, HEAD_DIM)
    other = {
        "gaussian": gaussian(-2),
        "fixed": fixed if site != "cross" else Uniform(1, HEAD_DIM),
        "painted": None,
    }[kind]
    painted = (
        torch.rand(3, 4, generator=torch.Generator().manual_seed(2)) < 0.5
        if kind == "painted"
        else None
    )
    src, tgt_in = batch()
    with torch.no_grad(), replaced_head(model, site, layer, head, other, painted):
        whole = model(src, tgt_in)
        state, steps = model.start(src), []
        for step in range(tgt_in.shape[1]):
            hidden, state = model.decode(state, tgt_in[:, step : step + 1])
            steps.append(model.output(hidden))
    torch.testing.assert_close(torch.cat(steps, dim=1), whole)


def test_blocked_pairs_are_the_heads_own_mask():
    """A softmax divides by what is left, a density loses the mass; beyond the painted pairs all is
    as it was."""
    model, painted = small().double().eval(), torch.zeros(3, 4, dtype=torch.bool)
    painted[0, 1] = painted[2, 3] = painted[1, :] = True
    whole = collect_weights(model, *batch()).encoder_self[0]
    with replaced_head(model, "encoder_self", 0, 1, also_blocked=painted):
        own = collect_weights(model, *batch()).encoder_self[0]
    expected = whole[:, 1].clone()
    expected[:, :3, :4][:, painted] = 0
    torch.testing.assert_close(own[:, 1], expected / expected.sum(-1, keepdim=True))
    torch.testing.assert_close(own[:, [0, 2, 3]], whole[:, [0, 2, 3]])
    with replaced_head(model, "encoder_self", 0, 1, gaussian(), painted):
        density = collect_weights(model, *batch()).encoder_self[0]
    with replaced_head(model, "encoder_self", 0, 1, gaussian()):
        expected = collect_weights(model, *batch()).encoder_self[0]
    expected[:, 1, :3, :4] = expected[:, 1, :3, :4].where(~painted, 0)
    torch.testing.assert_close(density, expected)


def test_a_replaced_head_leaves_the_longest_sentence_as_it_is():
    model = small(encoder_self="recurrent(max_len=9)", decoder_self="none", cross="uniform")
    with (
        replaced_head(model, "encoder_self", 0, 1, gaussian()),
        replaced_head(model, "encoder_self", 1, 1, gaussian()),
    ):
        assert model.max_len("encoder_self") == 9


@pytest.mark.parametrize("fails", [False, True])
def test_afterwards_nothing_has_changed(fails):
    model = small()
    names, before = [name for name, _ in model.named_parameters()], logits(model)
    try:
        with (
            replaced_head(model, "cross", 1, 0, gaussian()),
            replaced_head(model, "cross", 1, 2, gaussian()),
        ):
            if fails:
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert torch.equal(logits(model), before)
    assert [name for name, _ in model.named_parameters()] == names


@pytest.mark.parametrize(
    "place, arguments, message",
    [
        (("encoder", 0, 0), {}, "site: unknown site 'encoder'"),
        (("cross", 3, 0), {}, "cross layer 3: the model has 3 layers there"),
        (("decoder_self", 0, 0), {}, "decoder_self layer 0: this layer has no attention"),
        (("cross", 0, 4), {}, "cross layer 0 head 4: the layer has 4 heads. Fix: use 0 to 3"),
        (("cross", 0, -1), {}, "cross layer 0 head -1: "),
        (
            ("cross", 0, 0),
            {"weights": build_weights("uniform", "cross", 1, 24, 4)[0]},
            "weights: make 4 heads. Fix: give weights of one head",
        ),
        *(
            (
                ("cross", 0, 0),
                {"weights": build_weights(variant, "encoder_self", 1, width, 1)[0]},
                f"weights: of {name} are made from keys",
            )
            for variant, width, name in [
                ("dot-product", 24, "DotProduct"),
                ("mixed(types='G')", 24, "Mixed"),
                ("dot-product", 12, "DotProduct"),
            ]
        ),
        (
            ("cross", 0, 0),
            {"weights": build_weights("uniform", "cross", 1, 24, 1)},
            "weights: wants AttentionWeights, found \\[Uniform",
        ),
        (
            ("cross", 0, 0),
            {"also_blocked": torch.zeros(2, 2)},
            "also_blocked: is torch.float32 of 2 dimensions",
        ),
    ],
)
def test_what_cannot_be_replaced_is_refused(place, arguments, message):
    model = small(decoder_self="none; last: dot-product")
    with pytest.raises(InputError, match=message), replaced_head(model, *place, **arguments):
        pass
