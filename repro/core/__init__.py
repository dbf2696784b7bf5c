"""The parts of a model, for those who take one apart or write a variant.

    settings    ModelConfig, TrainConfig, SITES
    batches     EncodedPairs, Batch, cut_by_tokens, PAD_ID, EOS_ID
    the seam    AttentionWeights, DotProduct, Stack, SiteError, Positions, MultiHeadAttention
    masks       causal_mask, masked_softmax
    patterns    PATTERNS, pattern, gaussian_density, within, not_after, not_before, sinusoids
    gates       HardConcrete, EPSILON, MARGIN, TEMPERATURE
    training    make_optimizer, learning_rate, apply_update, evaluate_nll, freeze_decoder
    search      beam_search, quantized

Each name is imported when it is first used.
"""

from typing import TYPE_CHECKING

from repro.lazy import attach

if TYPE_CHECKING:
    from repro.core.attention.base import AttentionWeights, Positions, SiteError, Stack
    from repro.core.attention.dot_product import DotProduct
    from repro.core.attention.fixed import PATTERNS, pattern
    from repro.core.attention.gates import EPSILON, MARGIN, TEMPERATURE, HardConcrete
    from repro.core.attention.masks import causal_mask, masked_softmax
    from repro.core.attention.multihead import MultiHeadAttention
    from repro.core.attention.patterns import gaussian_density, not_after, not_before, within
    from repro.core.batches import Batch, EncodedPairs, cut_by_tokens
    from repro.core.config import SITES, ModelConfig, TrainConfig
    from repro.core.decoding import beam_search
    from repro.core.int8 import quantized
    from repro.core.optimizer import make_optimizer
    from repro.core.subwords import EOS_ID, PAD_ID
    from repro.core.training import (
        apply_update,
        evaluate_nll,
        freeze_decoder,
        learning_rate,
    )
    from repro.core.transformer import sinusoids

__getattr__, __dir__, __all__ = attach(__name__, __file__)
