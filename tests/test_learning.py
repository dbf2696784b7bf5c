"""Every system learns a task that needs each of its parts to be in order: copying a sentence."""

import pytest
import torch
from torch.nn import functional as F

from repro.core.subwords import BOS_ID, PAD_ID
from repro.presets import SYSTEMS
from test_transformer import VOCAB, small


def copies(num_sentences: int) -> torch.Tensor:
    """Return sentences of five tokens, `(num_sentences, 5)`: chance is one in fifteen a token."""
    return torch.randint(4, VOCAB, (num_sentences, 5))


ALIKE = (
    "hc-sa-ll-ll",
    "hc-sa-ll-cc",
    "hc-sa-ll-lc",
    "mma-local",
    "mma-forward",
    "mma-backward",
    "mma-w2",
    "mma-w3",
    "mma-w4",
    "base-attention-dropout",
    "ran-all-frozen",
)
"""Systems that differ from another in a number only, left out to save time."""

LEARNED = 0.5  # nats a token; more updates would show nothing more


@pytest.mark.parametrize("system", [system for system in SYSTEMS if system not in ALIKE])
def test_every_system_learns_to_copy_unless_it_cannot_know_the_order(system):
    model = small(system, embed_dim=32, gate_init=2.0).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(150):
        tgt = copies(64)
        loss = _loss(model, tgt)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if loss < LEARNED:
            break
    tgt = copies(200)
    with torch.no_grad():
        predicted = model.eval()(tgt, _shifted(tgt)).argmax(-1)
    accuracy = float((predicted == tgt).double().mean())
    if system == "base/-pe":
        assert accuracy < 0.7, "without positions the encoder sees a bag of words"
    else:
        assert accuracy > 0.75


def _loss(model, tgt: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(
        model(tgt, _shifted(tgt)).flatten(0, 1), tgt.flatten(), ignore_index=PAD_ID
    )


def _shifted(tgt: torch.Tensor) -> torch.Tensor:
    return torch.cat([torch.full((len(tgt), 1), BOS_ID), tgt[:, :-1]], dim=1)
