"""Touch trained models in a notebook: type, click, drag, and see their reaction.

Alive everywhere, without a kernel, also in exported pages and slides:

    translator(run)                  the page of `repro page`: heads to break, replace, take apart
    translator(run).view("step")     one view of it in another output, which shares its model
    one_head(words, looks)           where one head looks, to choose, drag and paint
    carried(matrices, titles, words) weights that follow one another, with a slider
    predict(Question(...), ...)      guesses that are judged once they are locked in

Drawn by the kernel, because they take any model in it, such as one of your own variants, or more
models than a notebook can hold:

    Explorer(translator, sentence)        the attention weights of all heads, down to numbers
    Pruning([(label, translator), ...])   a slider over pruned models: their heads, translations
    Comparison({label: translator})       one sentence through several models
    ClaimsTable(claims)                   claims with verdict and evidence, sorted and filtered

The state of these is in Python: `Comparison(...).sentence.value = "..."` does what typing does. A
widget shares the parameters of its model but has modules of its own. Views are small modules beside
this file, which need no network. Tokens are text, never markup. Without a kernel JupyterLab shows
their first state if it trusts the notebook; other pages show a stand-in of text and pictures, which
says that it is not live.
"""

from repro.widgets.claims import ClaimsTable
from repro.widgets.explorer import Explorer
from repro.widgets.matrices import carried, one_head
from repro.widgets.prediction import Question, predict
from repro.widgets.several import Comparison, Pruning
from repro.widgets.translator_page import translator

__all__ = [
    "ClaimsTable",
    "Comparison",
    "Explorer",
    "Pruning",
    "Question",
    "carried",
    "one_head",
    "predict",
    "translator",
]
