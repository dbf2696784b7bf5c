"""Write a trained model as one file that the engine in JavaScript reads.

`engine/model_file.js` says what is in the file. Parameters are stored in half precision; everything
that the engine would have to find out by itself is in the header: the variant of each layer with
all its options, and the rules by which a line of text is cleaned.
"""

import json
from typing import Any

import numpy as np
from torch import Tensor

from repro.core.attention.gaussian import CENTERS
from repro.core.attention.spec import layers_of, parse_variant
from repro.core.attention.variants import options_of
from repro.core.config import DataConfig
from repro.core.settings import NO_SUBLAYER, READERS, SITES, ModelConfig
from repro.core.subwords import Subwords
from repro.core.transformer import Transformer
from repro.data.characters import cleaning_rules
from repro.data.corpora import prepare_lines
from repro.errors import InputError
from repro.runs.models import load_with_subwords
from repro.runs.run import Run

MAGIC = b"RPR2"
IN_PAGE = ("dot-product", "uniform", "gaussian", "fixed", "mixed", "recurrent", "synthesizer")
"""The variants that `engine/attention/registry.js` knows."""
READ_BY_ENGINE = (
    "encoder_layers",
    "decoder_layers",
    "embed_dim",
    "num_heads",
    "norm",
    "tie_embeddings",
    "encoder_positions",
    "decoder_positions",
    "feed_forward",
    "gated_sites",
    "gate_rule",
)
"""What the engine reads of a model's configuration."""


def model_file(run: Run, name: str) -> bytes:
    """Return the file of a finished run.

    Args:
        run: such as `repro.gallery.load("base")`.
        name: of the model, as the page shows it.

    Raises:
        InputError: the run is not finished, or its model has something that the engine lacks.
        DamagedFileError: its files are not what was written.
    """
    model, subwords = load_with_subwords(run)
    return file_of(model, subwords, run.config.data, run.length_ratio(), name)


def file_of(
    model: Transformer, subwords: Subwords, data: DataConfig, length_ratio: float | None, name: str
) -> bytes:
    """Return the file of a model.

    Args:
        model, subwords: that belong together.
        data: the corpus, its languages, and the preparation of its lines.
        length_ratio: of the training data; only Gaussian cross attention needs it.
        name: see `model_file`.

    Raises:
        InputError: the model has something that the engine lacks.
    """
    index, numbers = half_precision(model)
    header = {
        "name": name,
        "corpus": data.corpus,
        "source": data.source,
        "target": data.target,
        "model": {setting: getattr(model.config, setting) for setting in READ_BY_ENGINE},
        "attention": attention_of(model.config, length_ratio),
        "source_end_mark": model.config.source_end_mark,
        "max_source": model.max_len(*READERS["source"]),
        "max_target": model.max_len(*READERS["target"]),
        "cleaning": cleaning_rules() | {"lowercase": prepare_lines(data.corpus, ["A"]) == ["a"]},
        "tensors": index,
        "numNumbers": len(numbers),
        "subwordBytes": len(subwords.model),
    }
    return pack(header, numbers, subwords.model)


def pack(header: dict[str, Any], numbers: np.ndarray, subword_model: bytes) -> bytes:
    """Put the parts of a file together."""
    text = json.dumps(header, separators=(",", ":")).encode()
    by_place = numbers.view(np.uint8).reshape(-1, 2).T  # all lower bytes, then all upper ones
    return MAGIC + len(text).to_bytes(4, "little") + text + by_place.tobytes() + subword_model


def attention_of(
    config: ModelConfig, length_ratio: float | None
) -> dict[str, list[dict[str, Any] | None]]:
    """Return the variant of every layer by site with all its options; None without attention.

    Raises:
        InputError: a variant that the engine does not have.
    """
    layers = layers_of(config)
    return {site: [_attention(spec, site, length_ratio) for spec in layers[site]] for site in SITES}


def _attention(spec: str, site: str, length_ratio: float | None) -> dict[str, Any] | None:
    name, given = parse_variant(spec)
    if name == NO_SUBLAYER:
        return None
    if name not in IN_PAGE:
        what = f"'{name}' is not in the page's engine, which knows {', '.join(IN_PAGE)}"
        fix = "write its counterpart in repro/page/engine/attention, and a line in registry.js"
        raise InputError(f"model.{site}", what, fix)
    options = {option: parameter.default for option, parameter in options_of(name).items()} | given
    if name == "gaussian":
        options |= _gaussian(options, site, length_ratio)
    return {"variant": name, "options": options}


def _gaussian(options: dict[str, Any], site: str, length_ratio: float | None) -> dict[str, Any]:
    """Return the options of a Gaussian that have other defaults at each site."""
    is_cross, centers = site == "cross", options["centers"]
    gamma = options["gamma"]
    if gamma is None or gamma == "data":
        gamma = length_ratio if is_cross else 1.0
    floor = is_cross if options["floor"] is None else options["floor"]
    return {
        "centers": CENTERS[site] if centers is None else centers,
        "gamma": gamma,
        "floor": floor,
    }


def half_precision(model: Transformer) -> tuple[dict[str, Any], np.ndarray]:
    """Return an index of all parameters, and their numbers one after another in half precision.

    Names that share a matrix point to the same numbers.

    Returns:
        name -> {"start", "shape"}, and float16, `(numbers,)`.

    Raises:
        InputError: a number too large for half precision.
    """
    index: dict[str, Any] = {}
    parts: list[np.ndarray] = []
    starts: dict[int, int] = {}  # by address
    length = 0
    for name, tensor in tensors_by_name(model).items():
        if tensor.data_ptr() not in starts:
            starts[tensor.data_ptr()] = length
            parts.append(_halved(name, tensor))
            length += tensor.numel()
        index[name] = {"start": starts[tensor.data_ptr()], "shape": list(tensor.shape)}
    return index, np.concatenate(parts)


def tensors_by_name(model: Transformer) -> dict[str, Tensor]:
    """Return what the engine finds by name: a shared matrix once for each of its names."""
    return {name: tensor.detach() for name, tensor in model.state_dict(keep_vars=True).items()}


def _halved(name: str, tensor: Tensor) -> np.ndarray:
    with np.errstate(over="ignore"):
        half = tensor.float().numpy().astype("<f2").ravel()
    if not np.isfinite(half).all():
        what = f"'{name}' has a number that half precision cannot hold"
        raise InputError("page", what, "train the run with a smaller learning rate")
    return half
