"""What the page's engine is compared with: one head gets exactly the weights it is given, and its
neighbours keep theirs."""

import pytest
import torch
from replaced_head import replaced_head

from repro.analysis.weights import collect_weights
from repro.core.attention.gaussian import Gaussian
from repro.core.subwords import PAD_ID
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


def test_blocked_pairs_are_the_heads_own_mask():
    """A softmax divides by what is left, a density loses the mass; beyond the pairs all is as it
    was."""
    model, painted = small().double().eval(), torch.zeros(3, 4, dtype=torch.bool)
    painted[0, 1] = painted[2, 3] = painted[1, :] = True
    forbidden = painted.nonzero().tolist()
    whole = collect_weights(model, *batch()).encoder_self[0]
    with replaced_head(model, "encoder_self", 0, 1, forbidden=forbidden):
        own = collect_weights(model, *batch()).encoder_self[0]
    expected = whole[:, 1].clone()
    expected[:, :3, :4][:, painted] = 0
    torch.testing.assert_close(own[:, 1], expected / expected.sum(-1, keepdim=True))
    torch.testing.assert_close(own[:, [0, 2, 3]], whole[:, [0, 2, 3]])
    with replaced_head(model, "encoder_self", 0, 1, gaussian(), forbidden):
        density = collect_weights(model, *batch()).encoder_self[0]
    with replaced_head(model, "encoder_self", 0, 1, gaussian()):
        expected = collect_weights(model, *batch()).encoder_self[0]
    expected[:, 1, :3, :4] = expected[:, 1, :3, :4].where(~painted, 0)
    torch.testing.assert_close(density, expected)
