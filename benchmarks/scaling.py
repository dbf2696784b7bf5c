"""Measure how the cost of one attention layer grows with the length of the sentence.

The number of tokens in the batch is constant.
"""

import torch

from benchmarks.work import SHAPES, Contender, race
from repro import build_weights
from repro.core import MultiHeadAttention, Positions, causal_mask

LENGTHS = (32, 64, 128, 256, 512, 1024, 2048)
TOKENS = 4096
SPECS = {
    "dot-product": "dot-product",
    "gaussian, density": "gaussian",
    "gaussian, window": "gaussian(kernel='window')",
    "gaussian, index": "gaussian(kernel='index')",
    "fixed": "fixed",
    "mixed": "mixed",
    "recurrent": "recurrent(max_len=2048)",
    "synthesizer": "synthesizer(max_len=2048)",
    "uniform": "uniform",
}


def measure() -> list[dict]:
    """Measure the milliseconds of a decoder self-attention layer, forward, by sentence length.

    A batch has 4,096 tokens.
    """
    rows, shape = [], SHAPES["small"]
    for length in LENGTHS:
        contenders = race(
            [_layer(name, spec, shape, length) for name, spec in SPECS.items()], rounds=3, calls=3
        )
        rows += [
            {"name": c.name, "length": length, "ms": round(1000 * TOKENS / c.rate, 2)}
            for c in contenders
        ]
    return rows


def _layer(name: str, spec: str, shape, length: int) -> Contender:
    torch.manual_seed(0)
    (weights,) = build_weights(spec, "decoder_self", 1, shape.width, shape.heads)
    attention = MultiHeadAttention(weights, shape.width).eval()
    x = torch.randn(TOKENS // length, length, shape.width)
    positions = Positions(torch.arange(length))
    blocked = causal_mask(positions.query, length)

    @torch.no_grad()
    def run() -> None:
        attention(x, attention.project(x), blocked, positions)

    return Contender(name, run, TOKENS)
