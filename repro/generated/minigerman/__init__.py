"""Generate the English-German corpus ``minigerman`` with trees, alignments and contrastive pairs.

>>> from repro.generated.minigerman import contrastive_pairs, generate, splits
>>> corpus = splits({"train": 100, "dev": 10, "test": 10}, seed=0)
>>> sorted((name, len(examples)) for name, examples in corpus.items())
[('dev', 10), ('test', 10), ('train', 100)]
"""

from repro.generated.minigerman.contrastive import PHENOMENA, ContrastivePair, contrastive_pairs
from repro.generated.minigerman.corpus import Example, generate, splits
from repro.generated.minigerman.meaning import Token, detokenize
from repro.generated.splits import DEFAULT_SIZES

__all__ = [
    "DEFAULT_SIZES",
    "PHENOMENA",
    "ContrastivePair",
    "Example",
    "Token",
    "contrastive_pairs",
    "detokenize",
    "generate",
    "splits",
]
