"""Things to touch in a notebook, each over any trained model: type, click, drag, and see what the model does then.

    Explorer(translator, sentence)        the attention weights of all heads, from the grid to a single number
    Playground(translator, sentence)      one head looks where you drag, choose or paint; the model translates with it
    Ablation(translator, sentence)        heads switched off or rescaled; the new translation, changed words marked
    Pruning([(label, translator), ...])   a slider over pruned models: which heads are left, and how they translate
    Comparison({label: translator})       one sentence through several models
    ClaimsTable(claims)                   claims with verdict and evidence, sorted and filtered

State lives in Python: `Ablation(...).factor.value = 0.5` does what the slider does. Drawing lives in small modules beside this file, which
need no network. Where no kernel runs, a page shows the text and the picture of the first state. Tokens are text, never markup.
"""

from repro.widgets.ablation import Ablation, Comparison, Pruning
from repro.widgets.claims import ClaimsTable
from repro.widgets.explorer import Explorer
from repro.widgets.playground import Playground

__all__ = ["Ablation", "ClaimsTable", "Comparison", "Explorer", "Playground", "Pruning"]
