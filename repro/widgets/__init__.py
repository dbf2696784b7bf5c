"""Things to touch in a notebook, each over any trained model: type, click, drag, and see what the model does then.

    Explorer(translator, sentence)        the attention weights of all heads, from the grid to a single number
    Playground(translator, sentence)      one head looks where you drag, choose or paint; the model translates with it
    Ablation(translator, sentence)        heads switched off or rescaled; the new translation, changed words marked
    Pruning([(label, translator), ...])   a slider over pruned models: which heads are left, and how they translate
    Comparison({label: translator})       one sentence through several models
    ClaimsTable(claims)                   claims with verdict and evidence, sorted and filtered

State lives in Python: `Ablation(...).factor.value = 0.5` does what the slider does. A widget has
    the parameters of the model it is given
but modules of its own, so that what it lays over heads stays with it. Drawing lives in small
modules beside this file, which need no network. Without a kernel a saved notebook shows the first
state: JupyterLab the widgets themselves if it trusts the notebook, whose controls do nothing until
the cell is run, other pages and exported ones a stand-in of text and pictures, which says that it
is not live and needs no network. Tokens are text, never markup.
"""

from repro.widgets.ablation import Ablation, Comparison, Pruning
from repro.widgets.claims import ClaimsTable
from repro.widgets.explorer import Explorer
from repro.widgets.playground import Playground

__all__ = ["Ablation", "ClaimsTable", "Comparison", "Explorer", "Playground", "Pruning"]
