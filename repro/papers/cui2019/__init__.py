"""Cui et al. 2019: Mixed Multi-Head Self-Attention for Neural Machine Translation.

https://aclanthology.org/D19-5622. The variant is `attention/mixed.py`.

The text contradicts its tables twice; the tables are followed here. Section 3.3 says that the
method adds parameters; section 4.2 and Table 1 say that it does not. Section 4.3 attributes both
gains to En-Ja, but in Table 1 +0.92 belongs to Ja-En.
"""

from repro.papers import Paper
from repro.papers.cui2019.claims import CLAIMS
from repro.papers.cui2019.deviations import DEVIATIONS
from repro.papers.cui2019.experiments import EXPERIMENTS
from repro.papers.cui2019.further import FURTHER

PAPER = Paper(
    "cui2019",
    "Cui, Iida, Hung, Utsuro, Nagata: Mixed Multi-Head Self-Attention for Neural Machine "
    "Translation, WNGT 2019",
    "https://aclanthology.org/D19-5622",
    EXPERIMENTS,
    CLAIMS + FURTHER,
    DEVIATIONS,
)
