"""Write a run for CTranslate2, which translates without this package.

What it can hold is the usual Transformer: dot-product attention with the model's heads everywhere,
layer norms before the sublayers. CTranslate2 is not installed with this package (the extra
`export`).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sentencepiece import SentencePieceProcessor

from repro.core.transformer import Transformer, sinusoids
from repro.errors import MachineError
from repro.files import write_atomic
from repro.runs.exported import LONGEST, check_fits
from repro.runs.models import load_with_subwords
from repro.runs.run import Run

README = """A Transformer for CTranslate2, with its subwords.

    import ctranslate2, sentencepiece

    subwords = sentencepiece.SentencePieceProcessor("subwords.model")
    model = ctranslate2.Translator(".")
    (found,) = model.translate_batch([subwords.encode("...", out_type=str)], length_penalty={alpha})
    print(subwords.decode(found.hypotheses[0]))
"""


def save_ctranslate2(run: Run, folder: Path) -> None:
    """Write a finished run as a folder of CTranslate2, with subwords and a README.

    Raises:
        InputError: the run is not finished, or its model is not one that CTranslate2 holds.
        MachineError: CTranslate2 is not installed, or the disk refuses.
    """
    run.check_finished()
    check_fits(run.config.model, str(run.path), "CTranslate2", {"norm": "pre"})
    model, subwords = load_with_subwords(run)
    pieces = SentencePieceProcessor(model_proto=subwords.model)
    vocabulary = pieces.id_to_piece(list(range(len(subwords))))
    spec = spec_of(model, vocabulary)
    folder.mkdir(parents=True, exist_ok=True)
    spec.save(str(folder))
    write_atomic(folder / "subwords.model", subwords.model)
    write_atomic(folder / "README.txt", README.replace("{alpha}", f"{run.alpha:g}").encode())


def spec_of(model: Transformer, vocabulary: Sequence[str]) -> Any:
    """Return a model as a `ctranslate2.specs.TransformerSpec`.

    Args:
        model: one that `check_fits` lets pass.
        vocabulary: the token of each id, of both languages.

    Raises:
        MachineError: CTranslate2 is not installed.
    """
    try:
        from ctranslate2.specs import TransformerSpec
    except ImportError as error:
        fix = "pip install ctranslate2"
        raise MachineError("ctranslate2", "is not installed", fix) from error
    config = model.config
    spec = TransformerSpec.from_config(
        (config.encoder_layers, config.decoder_layers), config.num_heads, pre_norm=True
    )
    table = sinusoids(torch.arange(LONGEST), config.embed_dim).numpy()
    spec.encoder.embeddings[0].weight = _array(model.source_embedding.weight)
    spec.decoder.embeddings.weight = _array(model.target_embedding.weight)
    spec.decoder.projection.weight = _array(model.output.weight)
    for side, ours, norm in (
        (spec.encoder, model.encoder, model.encoder_norm),
        (spec.decoder, model.decoder, model.decoder_norm),
    ):
        side.position_encodings.encodings = table
        _set_norm(side.layer_norm, norm)
        for theirs, layer in zip(side.layer, ours, strict=True):
            _set_attention(theirs.self_attention, layer.self_attention, joined=(3,))
            if side is spec.decoder:
                _set_attention(theirs.attention, layer.cross_attention, joined=(1, 2))
            _set_feed_forward(theirs.ffn, layer.feed_forward)
    spec.register_source_vocabulary(list(vocabulary))
    spec.register_target_vocabulary(list(vocabulary))
    spec.config.add_source_eos = config.source_end_mark
    spec.validate()
    return spec


def _array(parameter: torch.Tensor) -> np.ndarray:
    return parameter.detach().numpy()


def _set_norm(theirs: Any, norm: Any) -> None:
    theirs.gamma, theirs.beta = _array(norm.weight), _array(norm.bias)


def _set_feed_forward(theirs: Any, place: Any) -> None:
    _set_norm(theirs.layer_norm, place.norm)
    for linear, module in (
        (theirs.linear_0, place.sublayer[0]),
        (theirs.linear_1, place.sublayer[2]),
    ):
        linear.weight, linear.bias = _array(module.weight), _array(module.bias)


def _set_attention(theirs: Any, place: Any, joined: tuple[int, ...]) -> None:
    """Give CTranslate2's attention our projections.

    Args:
        theirs: their layer.
        place: our sublayer.
        joined: how many of query, key and value each of their matrices holds.
    """
    attention = place.sublayer
    _set_norm(theirs.layer_norm, place.norm)
    projections = (attention.weights.query_proj, attention.weights.key_proj, attention.value_proj)
    matrices = [_array(projection.weight) for projection in projections]
    for linear, count in zip(theirs.linear, joined, strict=False):
        linear.weight, matrices = np.concatenate(matrices[:count]), matrices[count:]
    theirs.linear[-1].weight = _array(attention.out_proj.weight)
