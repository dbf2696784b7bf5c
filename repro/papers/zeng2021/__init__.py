"""Zeng et al. 2021: Recurrent Attention for Neural Machine Translation.

https://aclanthology.org/2021.emnlp-main.258. The variants are `attention/recurrent.py` and
`attention/synthesizer.py`.
"""

from repro.papers import Paper
from repro.papers.zeng2021.claims import CLAIMS
from repro.papers.zeng2021.deviations import DEVIATIONS
from repro.papers.zeng2021.experiments import COLUMNS, EXPERIMENTS
from repro.papers.zeng2021.further import FURTHER

__all__ = ["COLUMNS", "PAPER"]

PAPER = Paper(
    "zeng2021",
    "Zeng, Wu, Yin, Jiang, Li: Recurrent Attention for Neural Machine Translation, EMNLP 2021",
    "https://aclanthology.org/2021.emnlp-main.258",
    EXPERIMENTS,
    CLAIMS + FURTHER,
    DEVIATIONS,
)
