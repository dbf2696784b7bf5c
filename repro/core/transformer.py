"""The encoder-decoder of all five papers, with an attention variant named per site.

Vaswani et al. 2017.

Of the files that make a model, only this one looks a variant up by name. A sublayer whose variant
is `none` is missing altogether, with its residual and its layer norm.
"""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from repro.core.attention.base import Positions
from repro.core.attention.gates import HardConcrete
from repro.core.attention.masks import causal_mask, padding_mask
from repro.core.attention.multihead import Moves, MultiHeadAttention
from repro.core.attention.spec import build_weights
from repro.core.layers import Cache, DecoderLayer, Dropout, EncoderLayer, cast_once
from repro.core.settings import ModelConfig


class DecoderState(NamedTuple):
    """The state of sentences under translation.

    It holds the cache of every layer, the blocked source positions, and the number of target tokens
    so far. A state is used once, by `select` or by `Transformer.decode`: the state that they return
    takes over its keys and values.
    """

    caches: list[Cache]
    source_blocked: Tensor  # (num_sentences, 1, 1, src_len)
    length: int

    def select(self, rows: Tensor, sentences: Tensor) -> "DecoderState":
        """Keep some hypotheses and sentences; those that stay in their place cost nothing.

        Args:
            rows: hypotheses, in their new order; some may repeat.
            sentences: indices in their new order; each keeps as many hypotheses as before.
        """
        moves = (Moves.of(rows), Moves.of(sentences))
        caches = [
            Cache(*(store and store.move(to) for store, to in zip(cache, moves, strict=True)))
            for cache in self.caches
        ]
        return DecoderState(caches, self.source_blocked[sentences], self.length)


class Transformer(nn.Module):
    """Compute scores of the next target token from source and target ids.

    Args:
        config: shape and variants.
        vocab_size: number of subwords, shared by both languages.
        pad_id: the id of padding.
        starts_word: for each subword whether a word begins with it; only word patterns need it.
        length_ratio: mean source length / mean target length of the training data; only Gaussian
            cross attention needs it.

    Raises:
        InputError: a variant that is unknown or not defined at its site.
    """

    encoder: Any  # ModuleList of EncoderLayer; torch has no type for the modules in such a list
    decoder: Any  # ModuleList of DecoderLayer
    starts_word: Tensor | None

    def __init__(
        self,
        config: ModelConfig,
        vocab_size: int,
        pad_id: int,
        starts_word: list[bool] | None = None,
        length_ratio: float | None = None,
    ) -> None:
        super().__init__()
        self.config, self.pad_id = config, pad_id
        self.source_embedding = nn.Embedding(vocab_size, config.embed_dim)
        self.target_embedding = (
            self.source_embedding
            if config.tie_embeddings
            else nn.Embedding(vocab_size, config.embed_dim)
        )
        self.output = nn.Linear(config.embed_dim, vocab_size, bias=False)
        if config.tie_embeddings:
            self.output.weight = self.source_embedding.weight
        self.dropout = Dropout(config.dropout)
        shape = (config.embed_dim, config.num_heads, config.attention_dropout, length_ratio)
        encoder_self = build_weights(
            config.encoder_self, "encoder_self", config.encoder_layers, *shape
        )
        decoder_self = build_weights(
            config.decoder_self, "decoder_self", config.decoder_layers, *shape
        )
        cross = build_weights(config.cross, "cross", config.decoder_layers, *shape)
        self.encoder = nn.ModuleList(EncoderLayer(config, weights) for weights in encoder_self)
        self.decoder = nn.ModuleList(
            DecoderLayer(config, *weights) for weights in zip(decoder_self, cross, strict=True)
        )
        norm = nn.LayerNorm if config.norm == "pre" else nn.Identity
        self.encoder_norm, self.decoder_norm = norm(config.embed_dim), norm(config.embed_dim)
        known = None if starts_word is None else torch.tensor(starts_word)
        self.register_buffer("starts_word", known, persistent=False)
        self._initialize()

    def _initialize(self) -> None:
        """Draw embeddings and linear layers; a variant draws its other parameters itself."""
        for module in self.modules():
            if isinstance(module, nn.Embedding) or (
                module is self.output and not self.config.tie_embeddings
            ):
                nn.init.normal_(module.weight, std=self.config.embed_dim**-0.5)
            elif isinstance(module, nn.Linear) and module is not self.output:
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def attentions(self) -> dict[str, list[MultiHeadAttention | None]]:
        """Return the attention of every layer by site; None where the sublayer is missing."""
        found = {
            "encoder_self": [layer.self_attention for layer in self.encoder],
            "decoder_self": [layer.self_attention for layer in self.decoder],
            "cross": [layer.cross_attention for layer in self.decoder],
        }
        return {
            site: [None if place is None else place.sublayer for place in places]
            for site, places in found.items()
        }

    def num_heads(self) -> dict[str, list[int]]:
        """Return the number of heads of every layer by site; 0 where the sublayer is missing."""
        return {
            site: [0 if place is None else place.weights.num_heads for place in places]
            for site, places in self.attentions().items()
        }

    def gate_penalty(self) -> Tensor | float:
        """Return the expected number of open head gates, summed over all gated attention.

        Voita et al. 2019, section 6.1.
        """
        gates = (module for module in self.modules() if isinstance(module, HardConcrete))
        return sum(gate.penalty() for gate in gates)

    def max_len(self, *sites: str) -> int | None:
        """Return the longest sentence that the attention at all these sites is defined for.

        In tokens with its mark; None = any.
        """
        places = [place for site in sites for place in self.attentions()[site] if place is not None]
        return min(
            (place.weights.max_len for place in places if place.weights.max_len is not None),
            default=None,
        )

    def encode(self, src: Tensor) -> Tensor:
        """Encode source ids. Shape: `(batch, src_len)` -> `(batch, src_len, embed_dim)`."""
        words = None
        if self.starts_word is not None:
            words = (self.starts_word[src].cumsum(dim=1) - 1).clamp_min(0)
        positions = Positions(torch.arange(src.shape[1], device=src.device), words)
        blocked = padding_mask(src, self.pad_id)
        x = self._embed(self.source_embedding, src, positions, self.config.encoder_positions)
        for layer in self.encoder:
            x = layer(x, blocked, positions)
        return self.encoder_norm(x)

    def start(self, src: Tensor) -> DecoderState:
        """Encode source ids `(batch, src_len)` and get ready to decode their translations."""
        encoded = cast_once(self.encode(src))
        return DecoderState(
            [layer.start(encoded) for layer in self.decoder], padding_mask(src, self.pad_id), 0
        )

    def decode(self, state: DecoderState, tgt_in: Tensor) -> tuple[Tensor, DecoderState]:
        """Read target ids `(batch, tgt_len)` that continue `state`.

        All of them in training, one at a time in search.

        Returns:
            The last layer's output, `(batch, tgt_len, embed_dim)`, and the state after these
            tokens.
        """
        length = state.length + tgt_in.shape[1]
        positions = Positions(torch.arange(state.length, length, device=tgt_in.device))
        future = causal_mask(positions.query, length)
        x = self._embed(self.target_embedding, tgt_in, positions, self.config.decoder_positions)
        caches = []
        for layer, cache in zip(self.decoder, state.caches, strict=True):
            x, cache = layer(x, cache, future, state.source_blocked, positions)
            caches.append(cache)
        return self.decoder_norm(x), DecoderState(caches, state.source_blocked, length)

    def forward(self, src: Tensor, tgt_in: Tensor) -> Tensor:
        """Return logits of the next token at every target position: `(batch, tgt_len, vocab)`."""
        return self.output(self.decode(self.start(src), tgt_in)[0])

    def _embed(
        self, embedding: nn.Embedding, ids: Tensor, positions: Positions, has_positions: bool
    ) -> Tensor:
        """Embed ids, scaled, with position embeddings if wanted, and dropout."""
        x = embedding(ids) * math.sqrt(self.config.embed_dim)
        if has_positions:
            x = x + sinusoids(positions.query, self.config.embed_dim).to(x.dtype)
        return self.dropout(x)


def sinusoids(positions: Tensor, embed_dim: int) -> Tensor:
    """Return the position embeddings of section 3.5: sines in even, cosines in odd columns.

    Shape: `(len,)` -> `(len, embed_dim)`.
    """
    exponents = torch.arange(0, embed_dim, 2, device=positions.device) / embed_dim
    angles = positions[:, None] / 10_000**exponents  # (len, embed_dim / 2)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


def count_parameters(module: nn.Module) -> int:
    """Count the trained numbers; a shared matrix counts once."""
    return sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad)
