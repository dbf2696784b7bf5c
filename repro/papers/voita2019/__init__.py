"""Voita et al. 2019: Analyzing Multi-Head Self-Attention, the roles of heads and their pruning.

https://arxiv.org/abs/1905.09418. The parts are `attention/gates.py`, `analysis/` and `pruning/`.
"""

from repro.papers import Paper
from repro.papers.voita2019.claims import CLAIMS
from repro.papers.voita2019.deviations import DEVIATIONS
from repro.papers.voita2019.experiments import EXPERIMENTS
from repro.papers.voita2019.further import FURTHER

PAPER = Paper(
    "voita2019",
    "Voita, Talbot, Moiseev, Sennrich, Titov: Analyzing Multi-Head Self-Attention: Specialized "
    "Heads Do the Heavy Lifting, the Rest Can "
    "Be Pruned, ACL 2019",
    "https://arxiv.org/abs/1905.09418",
    EXPERIMENTS,
    CLAIMS + FURTHER,
    DEVIATIONS,
)
