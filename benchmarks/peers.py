"""Other toolkits as contenders, each used through its own documented interface.

Shape, dropout places, loss and optimiser are the same. Dropout is on embeddings and sublayer
outputs only, as in ours; options of a peer that drop more are set to zero, which favours it.
"""

import math
import tempfile
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

from benchmarks.ours import model_of
from benchmarks.work import (
    BATCH_SIZE,
    DROPOUT,
    LENGTH,
    SMOOTHING,
    VOCAB,
    Contender,
    Shape,
    sources,
    training_batch,
)
from repro import Transformer, keep_freed_memory
from repro.core import sinusoids
from repro.runs.ctranslate2 import spec_of


class PlainTransformer(nn.Module):
    """`nn.Transformer` with tied embeddings and sinusoids, as a tutorial would write it."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, shape.width)
        nn.init.normal_(self.embedding.weight, std=shape.width**-0.5)
        sizes = (shape.width, shape.heads, shape.layers, shape.layers, shape.ffn, DROPOUT)
        self.core = nn.Transformer(*sizes, batch_first=True, norm_first=True)
        for module in self.core.modules():
            if isinstance(module, nn.MultiheadAttention):
                module.dropout = 0.0
            elif isinstance(module, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
                module.dropout.p = 0.0  # inside the feed-forward
        self.dropout = nn.Dropout(DROPOUT)
        self.register_buffer("positions", sinusoids(torch.arange(LENGTH), shape.width))
        self.register_buffer("future", nn.Transformer.generate_square_subsequent_mask(LENGTH))
        self.scale = math.sqrt(shape.width)

    def forward(self, src, tgt_in):
        src, tgt_in = (
            self.dropout(self.embedding(ids) * self.scale + self.positions) for ids in (src, tgt_in)
        )
        hidden = self.core(src, tgt_in, tgt_mask=self.future, tgt_is_causal=True)
        return F.linear(hidden, self.embedding.weight)


def marian(shape: Shape):
    """Return Hugging Face's Marian of a shape."""
    from transformers import MarianConfig, MarianMTModel

    sizes = {"encoder_layers": shape.layers, "decoder_layers": shape.layers, "d_model": shape.width}
    sizes |= {"encoder_ffn_dim": shape.ffn, "decoder_ffn_dim": shape.ffn}
    sizes |= {"encoder_attention_heads": shape.heads, "decoder_attention_heads": shape.heads}
    drops = {"dropout": DROPOUT, "attention_dropout": 0.0, "activation_dropout": 0.0}
    ids = {
        "pad_token_id": 0,
        "eos_token_id": 3,
        "forced_eos_token_id": None,
        "decoder_start_token_id": 2,
    }
    config = MarianConfig(
        vocab_size=VOCAB,
        activation_function="relu",
        scale_embedding=True,
        max_position_embeddings=512,
        **sizes,
        **drops,
        **ids,
    )
    return MarianMTModel(config)


def x_transformer(shape: Shape):
    """Return x-transformers' encoder-decoder of a shape."""
    from x_transformers import XTransformer

    side = {
        "num_tokens": VOCAB,
        "depth": shape.layers,
        "heads": shape.heads,
        "max_seq_len": 512,
        "emb_dropout": DROPOUT,
    }
    side |= {"attn_dim_head": shape.width // shape.heads, "ff_mult": shape.ffn / shape.width}
    # `attn_dropout`, `ff_dropout` are inside
    side |= {"attn_sublayer_dropout": DROPOUT, "ff_sublayer_dropout": DROPOUT}
    sides = {f"{part}_{option}": value for part in ("enc", "dec") for option, value in side.items()}
    return XTransformer(dim=shape.width, tie_token_emb=True, **sides)


def training(shape: Shape, name: str, precision: str, keep_memory: bool = False) -> Contender:
    """Time one update of a peer: forward, smoothed cross entropy, backward, clipping, fused Adam.

    `keep_memory` gives it the C library's setting that ours makes for itself.
    """
    if keep_memory:
        keep_freed_memory()
    torch.manual_seed(0)
    model = {
        "nn.Transformer": PlainTransformer,
        "HF Marian": marian,
        "x-transformers": x_transformer,
    }[name](shape).train()
    optimizer = torch.optim.Adam(
        model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True
    )
    src, tgt_in, tgt_out = training_batch()
    logits_of = {
        "nn.Transformer": lambda: model(src, tgt_in),
        "HF Marian": lambda: model(input_ids=src, decoder_input_ids=tgt_in, use_cache=False).logits,
        "x-transformers": lambda: model.decoder.net(
            tgt_in, context=model.encoder(src, return_embeddings=True)
        ),
    }[name]

    def run() -> None:
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
            loss = F.cross_entropy(
                logits_of().flatten(0, 1), tgt_out.flatten(), label_smoothing=SMOOTHING
            )
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return Contender(
        f"{name} {precision}{', freed memory kept' if keep_memory else ''}", run, tgt_out.numel()
    )


def marian_decoding(shape: Shape, beam: int) -> Contender:
    """Time Hugging Face's `generate` to exactly `LENGTH` tokens."""
    torch.manual_seed(0)
    model, src = marian(shape).eval(), sources()
    lengths = {
        "num_beams": beam,
        "min_new_tokens": LENGTH,
        "max_new_tokens": LENGTH,
        "do_sample": False,
    }

    @torch.inference_mode()
    def run() -> None:
        for start in range(0, len(src), BATCH_SIZE):
            model.generate(input_ids=src[start : start + BATCH_SIZE], **lengths)

    return Contender("HF Marian fp32", run, len(src))


def ctranslate2_decoding(shape: Shape, beam: int, precision: str) -> Contender:
    """Time CTranslate2 with the very weights of our model, to exactly `LENGTH` tokens."""
    translator = to_ctranslate2(model_of(shape), precision, torch.get_num_threads())
    sentences = [[str(i) for i in row] for row in sources().tolist()]
    lengths = {
        "beam_size": beam,
        "min_decoding_length": LENGTH,
        "max_decoding_length": LENGTH,
        "max_batch_size": BATCH_SIZE,
    }
    return Contender(
        f"CTranslate2 {precision}",
        lambda: translator.translate_batch(sentences, **lengths),
        len(sentences),
    )


def to_ctranslate2(model: Transformer, precision: str, threads: int):
    """Convert a model with learned attention everywhere; tokens are our ids written as text.

    Args:
        model: pre-norm, all sites `dot-product`, with the model's number of heads.
        precision: `fp32` or `int8`.
        threads: of one translation.

    Returns:
        A `ctranslate2.Translator`.
    """
    import ctranslate2

    size = len(model.source_embedding.weight)
    spec = spec_of(model, ["<pad>", "<unk>", "<s>", "</s>", *(str(i) for i in range(4, size))])
    with tempfile.TemporaryDirectory() as folder:
        spec.save(str(Path(folder)))
        kinds = {"fp32": "float32", "int8": "int8"}
        return ctranslate2.Translator(
            folder,
            device="cpu",
            compute_type=kinds[precision],
            inter_threads=1,
            intra_threads=threads,
        )
