"""Translation on a CPU by 8-bit integers."""

import copy
import warnings

import torch
from torch.ao.quantization import per_channel_dynamic_qconfig, quantize_dynamic

from repro.core.transformer import Transformer


def quantized(model: Transformer) -> Transformer:
    """Return a copy for translation on a CPU whose projections multiply in 8-bit integers.

    It is faster for models a few hundred numbers wide and for large batches; below, rounding takes
    longer than it saves.

    Weights are rounded once, with a scale for each output. Inputs are rounded at every call, with
    one scale for the whole batch. So the translation of a sentence may depend on the others in its
    batch. Embeddings, layer norms and learned position scores are not rounded.
    """
    engines = torch.backends.quantized
    usual = engines.engine
    places = ("query_proj", "key_proj", "value_proj", "out_proj", "sublayer.0", "sublayer.2")
    chosen = {
        name: per_channel_dynamic_qconfig
        for name, _ in model.named_modules()
        if name.endswith(places)
    }
    with warnings.catch_warnings():
        # its successor is a package of its own; torch is pinned here
        warnings.simplefilter("ignore", category=DeprecationWarning)
        warnings.filterwarnings(
            "ignore", message=".*quantized tensor creation functions", category=UserWarning
        )
        rounded = quantize_dynamic(
            copy.deepcopy(model).cpu().eval(), chosen, dtype=torch.qint8, inplace=True
        )
        # a layer keeps the engine that it was made with; thousands of outputs are oneDNN's strength
        try:
            engines.engine = "onednn" if "onednn" in engines.supported_engines else usual
            return quantize_dynamic(
                rounded, {"output": per_channel_dynamic_qconfig}, dtype=torch.qint8, inplace=True
            )
        finally:
            engines.engine = usual
