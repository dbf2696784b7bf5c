"""The layers of encoder and decoder: sublayers with residuals, their cache, and dropout.

Vaswani et al. 2017, section 3.

A sublayer whose variant is `none` is missing altogether, with its residual and its layer norm.
"""

from typing import Generic, NamedTuple, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from repro.core.attention.base import AttentionWeights, Positions
from repro.core.attention.gates import HardConcrete
from repro.core.attention.multihead import MultiHeadAttention, Store
from repro.core.settings import ModelConfig

Sublayer = TypeVar("Sublayer", bound=nn.Module)


class Dropout(nn.Module):
    """Drop elements with probability `rate` in training and scale up the others.

    As `nn.Dropout` does, but cheaper on a CPU. Drawing the mask is the slowest element-wise step of
    training a small model there, and a random byte is several times cheaper than a random float.
    The rate is therefore rounded to 1/256, and the scale is that of the rounded rate. In bf16 the
    scale is rounded too, by less than half a percent.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate
        self.threshold = min(round(rate * 256), 255)

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.threshold == 0:
            return x
        if x.device.type != "cpu":
            return F.dropout(x, self.rate)
        words = torch.empty((x.numel() + 7) // 8, dtype=torch.int64).random_(-(2**63), None)
        kept = words.view(torch.uint8)[: x.numel()].view(x.shape) >= self.threshold
        return x * kept.to(x.dtype).mul_(256 / (256 - self.threshold))

    def extra_repr(self) -> str:
        return f"rate={self.rate}"


def cast_once(x: Tensor) -> Tensor:
    """Return `x` in the precision of autocast, so that it is not cast again for every product."""
    device = x.device.type
    return x.to(torch.get_autocast_dtype(device)) if torch.is_autocast_enabled(device) else x


class Residual(nn.Module, Generic[Sublayer]):
    """The dropout, residual connection and layer norm around a sublayer.

    Post-norm (Vaswani et al. 2017): `norm(x + dropout(sublayer(x)))`. Pre-norm: `x +
    dropout(sublayer(norm(x)))`.
    """

    def __init__(self, sublayer: Sublayer, config: ModelConfig) -> None:
        super().__init__()
        self.sublayer, self.pre = sublayer, config.norm == "pre"
        self.norm, self.dropout = nn.LayerNorm(config.embed_dim), Dropout(config.dropout)

    def enter(self, x: Tensor) -> Tensor:
        """Return what the sublayer reads."""
        return cast_once(self.norm(x) if self.pre else x)

    def leave(self, x: Tensor, output: Tensor) -> Tensor:
        """Add the sublayer's output to the stream."""
        x = x + self.dropout(output)
        return x if self.pre else self.norm(x)


class FeedForward(nn.Sequential):
    """Two linear layers with a ReLU between, at each position separately (section 3.3)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(
            nn.Linear(config.embed_dim, config.ffn_dim),
            nn.ReLU(),
            nn.Linear(config.ffn_dim, config.embed_dim),
        )


class Cache(NamedTuple):
    """What one decoder layer keeps of a sentence: its own past and the encoded source.

    None where the sublayer is missing.
    """

    past: Store | None  # a row per hypothesis
    source: Store | None  # a row per sentence, whose hypotheses all look at it


class EncoderLayer(nn.Module):
    """Self-attention and feed-forward; either may be missing."""

    def __init__(self, config: ModelConfig, self_weights: AttentionWeights | None) -> None:
        super().__init__()
        self.self_attention = _attention_sublayer(self_weights, "encoder_self", config)
        self.feed_forward = Residual(FeedForward(config), config) if config.feed_forward else None

    def forward(self, x: Tensor, blocked: Tensor, positions: Positions) -> Tensor:
        """Shape: `x` is `(batch, src_len, embed_dim)` in and out."""
        if self.self_attention is not None:
            entered = self.self_attention.enter(x)
            attention = self.self_attention.sublayer
            attended = attention.project(entered, positions.query)
            x = self.self_attention.leave(x, attention(entered, attended, blocked, positions))
        return _through_feed_forward(self.feed_forward, x)


class DecoderLayer(nn.Module):
    """Self-attention over the past, cross attention, feed-forward; any may be missing."""

    def __init__(
        self,
        config: ModelConfig,
        self_weights: AttentionWeights | None,
        cross_weights: AttentionWeights | None,
    ) -> None:
        super().__init__()
        self.self_attention = _attention_sublayer(self_weights, "decoder_self", config)
        self.cross_attention = _attention_sublayer(cross_weights, "cross", config)
        self.feed_forward = Residual(FeedForward(config), config) if config.feed_forward else None

    def start(self, encoded: Tensor) -> Cache:
        """Project the encoded source, once for the sentence, and begin with an empty past."""
        if self.cross_attention is None:
            return Cache(None, None)
        return Cache(None, Store(self.cross_attention.sublayer.project(encoded)))

    def forward(
        self, x: Tensor, cache: Cache, future: Tensor, source_blocked: Tensor, positions: Positions
    ) -> tuple[Tensor, Cache]:
        """Continue hypotheses by the tokens `x`, `(batch, tgt_len, embed_dim)`, at `positions`.

        The batch is that of the sources, or a multiple of it: several hypotheses of each sentence,
        next to each other. `future` is blocked in self-attention, `source_blocked` in cross
        attention.
        """
        if self.self_attention is not None:
            entered = self.self_attention.enter(x)
            attention = self.self_attention.sublayer
            new = attention.project(entered, positions.query)
            past = Store(new) if cache.past is None else cache.past.append(new)
            x = self.self_attention.leave(x, attention(entered, past.attended, future, positions))
            cache = cache._replace(past=past)
        if self.cross_attention is not None:
            assert cache.source is not None  # `start` has seen to that
            # the hypotheses of a sentence are further queries on its source
            num_hypotheses = len(x) // len(source_blocked)
            entered = self.cross_attention.enter(x).reshape(len(source_blocked), -1, x.shape[-1])
            repeated = Positions(positions.query.expand(num_hypotheses, -1).flatten())
            output = self.cross_attention.sublayer(
                entered, cache.source.attended, source_blocked, repeated
            )
            x = self.cross_attention.leave(x, output.reshape(x.shape))
        return _through_feed_forward(self.feed_forward, x), cache


def _attention_sublayer(
    weights: AttentionWeights | None, site: str, config: ModelConfig
) -> Residual[MultiHeadAttention] | None:
    """Build an attention sublayer with residual and gates, or None without weights."""
    if weights is None:
        return None
    gate = None
    if site in config.gated_sites:
        gate = HardConcrete(weights.num_heads, config.gate_rule, config.gate_init)
    return Residual(MultiHeadAttention(weights, config.embed_dim, gate), config)


def _through_feed_forward(place: Residual[FeedForward] | None, x: Tensor) -> Tensor:
    """Apply a feed-forward sublayer; return `x` where it is missing."""
    return x if place is None else place.leave(x, place.sublayer(place.enter(x)))
