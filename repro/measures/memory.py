"""Count the bytes that the forward pass of an update keeps for its backward pass.

You et al. 2020, Tables 3 and 7, give the largest batch that fits on their GPU. It depends on what
autograd keeps for every token. That is counted here: it needs no trained model and depends on the
version of PyTorch, not on the machine.
"""

from functools import cache

import torch
from torch import Tensor

from repro.core.batches import EncodedPairs
from repro.core.config import RunConfig
from repro.core.subwords import EOS_ID, PAD_ID
from repro.core.training import batch_loss
from repro.core.transformer import Transformer
from repro.measures.speed import STEPS

# Any number gives the same bytes a token; the graph of 64 pairs alone would take 0.8 GB at the
# scale of Multi30k.
PAIRS = 4


@cache
def bytes_per_token(config: RunConfig) -> float:
    """Measure the bytes that an update keeps for each further target token of its batch.

    Memory that does not depend on the batch cancels: parameters, or the gradient of the loss. Pairs
    have `STEPS` tokens per side; the choice of tokens does not matter.
    """
    with torch.random.fork_rng(devices=[]):
        model = Transformer(config.model, config.data.vocab_size, PAD_ID, length_ratio=1.0).train()
        (less, few), (more, many) = (
            _kept_bytes(model, config, num_pairs) for num_pairs in (PAIRS, 2 * PAIRS)
        )
    return (more - less) / (many - few)


def _kept_bytes(model: Transformer, config: RunConfig, num_pairs: int) -> tuple[int, int]:
    """Measure (bytes kept, target tokens) of an update on a number of pairs."""
    ids = [[EOS_ID] * (STEPS - 1)] * num_pairs  # and an end mark
    batch = EncodedPairs(ids, ids, config.model.source_end_mark).batch(range(num_pairs))
    kept: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()  # several tensors may be views of one
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        loss, _, tokens = batch_loss(model, batch, config.train)
    # The graph keeps its tensors alive until here, so no address in memory served two of them.
    assert loss.requires_grad
    return sum(kept.values()), tokens
