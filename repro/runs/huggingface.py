"""Write a run for the library `transformers` of Hugging Face, which need not be installed.

Two of its classes have the layers of Vaswani et al. 2017: Pegasus normalises before each sublayer,
as every scale here does, and Marian after it. Both add biases to the projections of attention,
which are zeros here, and put the sines of positions before the cosines. So the columns of the
embeddings, and all that reads or writes them, are put into that order.
"""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save
from sentencepiece import SentencePieceProcessor
from torch import Tensor

from repro.core.settings import ModelConfig
from repro.core.subwords import BOS_ID, EOS_ID, PAD_ID, UNK_ID
from repro.core.transformer import Transformer, sinusoids
from repro.files import write_atomic
from repro.runs.exported import LONGEST, check_fits
from repro.runs.models import load_with_subwords
from repro.runs.run import Run

README = """A Transformer for `transformers`, with its subwords.

    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(".")
    model = AutoModelForSeq2SeqLM.from_pretrained(".")
    ids = model.generate(**tokenizer(["..."], return_tensors="pt", padding=True))
    print(tokenizer.batch_decode(ids, skip_special_tokens=True))
"""


def save_huggingface(run: Run, folder: Path) -> None:
    """Write a finished run as a folder of `transformers`, with subwords and a README.

    Raises:
        InputError: the run is not finished, or no class of `transformers` holds its model.
        MachineError: the disk refuses.
    """
    run.check_finished()
    config = run.config.model
    check_fits(
        config, str(run.path), "transformers", {"source_end_mark": True, "tie_embeddings": True}
    )
    model, subwords = load_with_subwords(run)
    pieces = SentencePieceProcessor(model_proto=subwords.model)
    names = pieces.id_to_piece(list(range(len(subwords))))
    data = run.config.data
    special = {"pad": PAD_ID, "unk": UNK_ID, "eos": EOS_ID}
    tokenizer = {f"{kind}_token": names[i] for kind, i in special.items()} | {
        "tokenizer_class": "MarianTokenizer",  # reads any model of sentencepiece
        "source_lang": data.source,
        "target_lang": data.target,
        "model_max_length": LONGEST,
    }
    search = {
        "num_beams": 5,
        "length_penalty": run.alpha,
        "max_new_tokens": LONGEST // 2,
        "suppress_tokens": [PAD_ID, UNK_ID, BOS_ID],
        **_marks(),
    }
    tables = {
        "config.json": config_of(config, len(subwords)),
        "generation_config.json": search,
        "tokenizer_config.json": tokenizer,
        "vocab.json": {name: i for i, name in enumerate(names)},
    }
    folder.mkdir(parents=True, exist_ok=True)
    for file, table in tables.items():
        write_atomic(folder / file, json.dumps(table, indent=1, ensure_ascii=False).encode())
    for side in ("source", "target"):
        write_atomic(folder / f"{side}.spm", subwords.model)
    parameters = {name: value.contiguous() for name, value in parameters_of(model).items()}
    write_atomic(folder / "model.safetensors", save(parameters, {"format": "pt"}))
    write_atomic(folder / "README.md", README.encode())


def config_of(config: ModelConfig, vocab_size: int) -> dict[str, Any]:
    """Return the `config.json` of a model that `check_fits` lets pass."""
    kind, name = (
        ("pegasus", "PegasusForConditionalGeneration")
        if config.norm == "pre"
        else ("marian", "MarianMTModel")
    )
    both = {
        f"{side}_{key}": value
        for side in ("encoder", "decoder")
        for key, value in (("ffn_dim", config.ffn_dim), ("attention_heads", config.num_heads))
    }
    return {
        "model_type": kind,
        "architectures": [name],
        "vocab_size": vocab_size,
        "d_model": config.embed_dim,
        "encoder_layers": config.encoder_layers,
        "decoder_layers": config.decoder_layers,
        **both,
        "activation_function": "relu",
        "dropout": config.dropout,
        "attention_dropout": config.attention_dropout,
        "max_position_embeddings": LONGEST,
        "scale_embedding": True,
        **_marks(),
    }


def _marks() -> dict[str, Any]:
    """Return the ids of special tokens, and that no end is forced on a translation cut short."""
    return {
        "pad_token_id": PAD_ID,
        "bos_token_id": BOS_ID,
        "eos_token_id": EOS_ID,
        "decoder_start_token_id": BOS_ID,
        "forced_eos_token_id": None,
    }


def parameters_of(model: Transformer) -> dict[str, Tensor]:
    """Return the parameters by their names in `transformers`."""
    width = model.config.embed_dim
    order = torch.cat([torch.arange(0, width, 2), torch.arange(1, width, 2)])
    found = {"model.shared.weight": model.source_embedding.weight[:, order]}
    positions = sinusoids(torch.arange(LONGEST), width)[:, order]
    for side, layers, last in (
        ("encoder", model.encoder, model.encoder_norm),
        ("decoder", model.decoder, model.decoder_norm),
    ):
        found[f"model.{side}.embed_positions.weight"] = positions.clone()
        if model.config.norm == "pre":
            found |= _norm(f"model.{side}.layer_norm", last, order)
        for number, layer in enumerate(layers):
            at = f"model.{side}.layers.{number}"
            found |= _attention(f"{at}.self_attn", layer.self_attention, order)
            if side == "decoder":
                found |= _attention(f"{at}.encoder_attn", layer.cross_attention, order)
            found |= _feed_forward(at, layer.feed_forward, order)
    return {name: value.detach() for name, value in found.items()}


def _norm(name: str, norm: Any, order: Tensor) -> dict[str, Tensor]:
    return {f"{name}.weight": norm.weight[order], f"{name}.bias": norm.bias[order]}


def _attention(name: str, place: Any, order: Tensor) -> dict[str, Tensor]:
    """Return a sublayer of attention, whose projections have no bias here."""
    attention = place.sublayer
    inner = attention.weights
    found = _norm(f"{name}_layer_norm", place.norm, order)
    readers = {"q": inner.query_proj, "k": inner.key_proj, "v": attention.value_proj}
    for key, projection in readers.items():
        found[f"{name}.{key}_proj.weight"] = projection.weight[:, order]
    found[f"{name}.out_proj.weight"] = attention.out_proj.weight[order]
    for key in (*readers, "out"):
        found[f"{name}.{key}_proj.bias"] = torch.zeros(len(order))
    return found


def _feed_forward(name: str, place: Any, order: Tensor) -> dict[str, Tensor]:
    wide, narrow = place.sublayer[0], place.sublayer[2]
    return _norm(f"{name}.final_layer_norm", place.norm, order) | {
        f"{name}.fc1.weight": wide.weight[:, order],
        f"{name}.fc1.bias": wide.bias,
        f"{name}.fc2.weight": narrow.weight[order],
        f"{name}.fc2.bias": narrow.bias[order],
    }
