"""The parts of a model, for those who take one apart or write a variant.

    settings    ModelConfig, TrainConfig, SITES
    batches     EncodedPairs, Batch, cut_by_tokens, PAD_ID, EOS_ID
    the seam    AttentionWeights, Stack, Positions, MultiHeadAttention
    masks       causal_mask, masked_softmax
    patterns    PATTERNS, pattern, gaussian_density, within, not_after, not_before, sinusoids
    gates       HardConcrete, EPSILON, MARGIN, TEMPERATURE
    training    make_optimizer, learning_rate, apply_update, evaluate_nll, freeze_decoder
    search      beam_search, quantized
    metrics     CorpusMetric, Rouge

Each name is imported when it is first used.
"""

from typing import TYPE_CHECKING

from repro.lazy import attach

if TYPE_CHECKING:
    from repro.attention.base import AttentionWeights, Positions, Stack
    from repro.attention.fixed import PATTERNS, pattern
    from repro.attention.gates import EPSILON, MARGIN, TEMPERATURE, HardConcrete
    from repro.attention.masks import causal_mask, masked_softmax
    from repro.attention.multihead import MultiHeadAttention
    from repro.attention.patterns import gaussian_density, not_after, not_before, within
    from repro.config import SITES, ModelConfig, TrainConfig
    from repro.data.batches import Batch, EncodedPairs, cut_by_tokens
    from repro.data.subwords import EOS_ID, PAD_ID
    from repro.decoding import beam_search, quantized
    from repro.metrics import CorpusMetric, Rouge
    from repro.training import apply_update, evaluate_nll, freeze_decoder, learning_rate, make_optimizer
    from repro.transformer import sinusoids

__getattr__, __dir__, __all__ = attach(__name__, __file__)
