"""Raganato, Scherrer, Tiedemann 2020: Fixed Encoder Self-Attention Patterns.

https://arxiv.org/abs/2002.10260. The variant is `attention/fixed.py`. Heads are numbered from 1
here, as in the paper. The values of its tables are not at hand: tables have no printed numbers, and
claims use what the text says.
"""

from repro.papers import Paper
from repro.papers.raganato2020.claims import CLAIMS
from repro.papers.raganato2020.deviations import DEVIATIONS
from repro.papers.raganato2020.experiments import EXPERIMENTS
from repro.papers.raganato2020.further import FURTHER

PAPER = Paper(
    "raganato2020",
    "Raganato, Scherrer, Tiedemann: Fixed Encoder Self-Attention Patterns in Transformer-Based "
    "Machine Translation, Findings of EMNLP 2020",
    "https://arxiv.org/abs/2002.10260",
    EXPERIMENTS,
    CLAIMS + FURTHER,
    DEVIATIONS,
)
