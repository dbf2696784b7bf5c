"""Touch trained models in a notebook: type, click, drag, and see their reaction.

Alive everywhere, without a kernel, also in exported pages and slides:

    translator(run)                  the page of `repro page`: heads to look into, break, replace
    translator({name: run, ...})     several models on one sentence, beside each other
    translator(run).view("step")     one view of it in another output, which shares its models
    one_head(words, looks)           where one head looks, to choose, drag and paint
    carried(matrices, titles, words) weights that follow one another, with a slider
    predict(Question(...), ...)      guesses that are judged once they are locked in

`translator` takes every finished run, also one just trained, whose variants the engine in the page
has. It does not run Python: heads of a variant of your own are drawn by `repro.plots`.

Drawn by the kernel:

    Pruning([(label, translator), ...])   a slider over models that exist in memory alone
    ClaimsTable(claims)                   claims with verdict and evidence, sorted and filtered

The state of these is in Python: `Pruning(...).sentence.value = "..."` does what typing does. A
widget shares the parameters of its model but has modules of its own. Views are small modules beside
this file, which need no network. Tokens are text, never markup. Without a kernel JupyterLab shows
their first state if it trusts the notebook; other pages show a stand-in of text, which says that it
is not live.
"""

from repro.widgets.claims import ClaimsTable
from repro.widgets.matrices import carried, one_head
from repro.widgets.prediction import Question, predict
from repro.widgets.pruning import Pruning
from repro.widgets.translator_page import translator

__all__ = [
    "ClaimsTable",
    "Pruning",
    "Question",
    "carried",
    "one_head",
    "predict",
    "translator",
]
