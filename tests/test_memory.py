"""What an update keeps in memory for its backward pass."""

import pytest
import torch

from repro.claims.settings import Setting
from repro.measures import memory
from repro.measures.memory import bytes_per_token
from repro.papers.memory import memory_table
from repro.presets import resolve


def kept(*overrides: str, variant: str = "base") -> float:
    """Return the bytes a target token of a small model without dropout."""
    return bytes_per_token(resolve("smoke", variant, overrides=("model.dropout=0", *overrides)))


def test_a_wider_feed_forward_layer_keeps_its_activations_once():
    """What comes out of the ReLU is what the second product reads: a number of four bytes for each
    token, source and target."""
    model = resolve("smoke", "base").model
    layers = model.encoder_layers + model.decoder_layers
    assert kept("model.ffn_dim=300") - kept("model.ffn_dim=200") == 4 * 100 * layers


def test_what_is_there_whatever_the_batch_does_not_count():
    """Parameters, and their gradients, of which the loss holds one from the forward pass on, that
    of the output matrix."""
    assert kept("data.vocab_size=900") == kept("data.vocab_size=800")


def test_attention_that_is_not_learned_keeps_less():
    assert kept() > kept(variant="hc-sa") > kept(variant="base/-sa")


def test_counting_draws_nothing_from_the_random_numbers_of_others():
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    kept("model.dropout=0.25")
    assert torch.rand(1) == expected


@pytest.mark.parametrize("variant", ["base", "hc-sa", "sh-x"])
def test_counting_keeps_little_itself_and_more_pairs_give_the_same_number(variant, monkeypatch):
    """At the scale of Multi30k a graph of 128 pairs takes 1.2 GB of a notebook that may have 2."""
    config, count, seen = resolve("multi30k", variant), memory._kept_bytes, []
    monkeypatch.setattr(
        memory, "_kept_bytes", lambda *arguments: seen.append(count(*arguments)) or seen[-1]
    )
    few = memory.bytes_per_token.__wrapped__(config)
    assert len(seen) == 2 and max(kept for kept, _ in seen) < 50_000_000
    monkeypatch.setattr(memory, "PAIRS", 12)
    assert memory.bytes_per_token.__wrapped__(config) == few


def test_a_table_says_how_many_times_the_tokens_of_the_first_fit():
    base, less = (
        bytes_per_token(Setting(system).config("smoke")) for system in ("base", "base/-sa")
    )
    text = memory_table("smoke", (Setting("base"), Setting("base/-sa")))
    assert f"| base | {base / 1000:.1f} | 1.00 |" in text
    assert f"| base/-sa | {less / 1000:.1f} | {base / less:.2f} |" in text and base > less
