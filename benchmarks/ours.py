"""This suite as a contender."""

import torch

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
from repro import SYSTEMS, SearchConfig, Transformer, keep_freed_memory
from repro.core import (
    EOS_ID,
    PAD_ID,
    Batch,
    ModelConfig,
    TrainConfig,
    apply_update,
    beam_search,
    make_optimizer,
    quantized,
)


def model_of(shape: Shape, system: str = "base") -> Transformer:
    """Build an untrained model of a system in a shape."""
    torch.manual_seed(0)
    sizes = {
        "encoder_layers": shape.layers,
        "decoder_layers": shape.layers,
        "embed_dim": shape.width,
    }
    sizes |= {"ffn_dim": shape.ffn, "num_heads": shape.heads, "dropout": DROPOUT}
    return Transformer(
        ModelConfig(**(sizes | SYSTEMS[system])), VOCAB, PAD_ID, [True] * VOCAB, length_ratio=1.0
    )


def training(shape: Shape, precision: str, system: str = "base") -> Contender:
    """Time one update."""
    keep_freed_memory()  # as `train` does
    config = TrainConfig(label_smoothing=SMOOTHING, precision=precision)
    model = model_of(shape, system)
    optimizer = make_optimizer(model, config)
    src, tgt_in, tgt_out = training_batch()
    batch = Batch(src, tgt_in, tgt_out, list(range(len(src))))
    return Contender(
        f"repro {system} {precision}",
        lambda: apply_update(model, optimizer, batch, 1e-4, config),
        batch.num_target_tokens,
    )


def decoding(shape: Shape, beam: int, precision: str = "fp32", system: str = "base") -> Contender:
    """Time the translation of all sentences to exactly `LENGTH` tokens."""
    keep_freed_memory()  # as `Translator` does
    model = model_of(shape, system).eval()
    model = quantized(model) if precision == "int8" else model
    model.output.register_forward_hook(_never_end)
    src = sources()
    search = SearchConfig(beam=beam, extra_tokens=0)

    def run() -> None:
        for start in range(0, len(src), BATCH_SIZE):
            found = beam_search(model, src[start : start + BATCH_SIZE], search)
            assert all(len(hypothesis.ids) == LENGTH - 1 for hypothesis in found)

    return Contender(f"repro {system} {precision}", run, len(src))


def _never_end(_module, _inputs, logits: torch.Tensor) -> torch.Tensor:
    """Forbid the end mark, so that every sentence is translated to the length limit."""
    logits[..., EOS_ID] = -1e9
    return logits
