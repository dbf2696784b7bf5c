"""Explore any trained model in a notebook: type, click, drag, and see its reaction.

    Explorer(translator, sentence)        the attention weights of all heads, down to single numbers
    Playground(translator, sentence)      heads with dragged, chosen or painted weights
    Ablation(translator, sentence)        heads switched off or rescaled; changed words are marked
    Pruning([(label, translator), ...])   a slider over pruned models: their heads and translations
    Comparison({label: translator})       one sentence through several models
    ClaimsTable(claims)                   claims with verdict and evidence, sorted and filtered
    translator(run)                       the page of `repro page`, alive without a kernel

State is in Python: `Ablation(...).factor.value = 0.5` does what the slider does. A widget shares
the parameters of its model but has modules of its own, so its changes to heads stay with it. Views
are small modules beside this file, which need no network. Tokens are text, never markup.

Without a kernel a saved notebook shows the first state. JupyterLab shows the widgets themselves if
it trusts the notebook; their controls do nothing until the cell is run. Other and exported pages
show a stand-in of text and pictures, which says that it is not live.
"""

from repro.widgets.ablation import Ablation, Comparison, Pruning
from repro.widgets.claims import ClaimsTable
from repro.widgets.explorer import Explorer
from repro.widgets.matrices import carried, one_head
from repro.widgets.playground import Playground
from repro.widgets.prediction import Question, predict
from repro.widgets.translator_page import translator

__all__ = [
    "Ablation",
    "ClaimsTable",
    "Comparison",
    "Explorer",
    "Playground",
    "Pruning",
    "Question",
    "carried",
    "one_head",
    "predict",
    "translator",
]
