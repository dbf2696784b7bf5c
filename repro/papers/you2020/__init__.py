"""You, Sun, Iyyer 2020: Hard-Coded Gaussian Attention for Neural Machine Translation.

https://arxiv.org/abs/2005.00742. The variant is `attention/gaussian.py`.

Scores on IWSLT16 are of its dev set (their footnote), which is tst2013 in their code and `test` of
the scale `iwslt16`. Some printed numbers differ from table to table, and each is kept where it is
printed. sh-x has 28.2 and 30.4 in Table 2, but 28.1 (IWSLT16 En-De) and 30.3 (WMT16 En-Ro) in
Tables 7 and 3. hc-sa has 32.9 on WMT16 En-Ro, but 32.4 in Table 5.
"""

from repro.papers import Paper
from repro.papers.you2020.claims import CLAIMS
from repro.papers.you2020.deviations import DEVIATIONS
from repro.papers.you2020.experiments import EXPERIMENTS
from repro.papers.you2020.further import FURTHER
from repro.papers.you2020.own import OWN

PAPER = Paper(
    "you2020",
    "You, Sun, Iyyer: Hard-Coded Gaussian Attention for Neural Machine Translation, ACL 2020",
    "https://arxiv.org/abs/2005.00742",
    EXPERIMENTS,
    CLAIMS + FURTHER + OWN,
    DEVIATIONS,
)
