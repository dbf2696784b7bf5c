"""Touch trained models in a notebook: type, click, drag, and see their reaction.

Alive everywhere, without a kernel, also in exported pages and slides:

    translator(run)                  the page of `repro page`: heads to look into, break, replace
    translator({name: run, ...})     several models on one sentence, beside each other
    translator(run).view("step")     one view of it in another output, which shares its models
    one_head(words, looks)           where one head looks, to choose, drag and paint
    carried(matrices, titles, words) weights that follow one another, with a slider
    predict(Question(...), ...)      guesses that are judged once they are locked in
    claims_table(claims)             claims with verdict and evidence, to sort and to filter

`translator` takes every finished run, also one just trained, whose variants the engine in the page
has. It does not run Python: heads of a variant of your own are drawn by `repro.plots`.

Drawn by the kernel, whose models exist in memory alone:

    Pruning([(label, translator), ...])   a choice among pruned models

Its state is in Python: `Pruning(...).sentence.value = "..."` does what typing does. It shares the
parameters of its models but has modules of its own. It is made of the controls of ipywidgets and of
HTML without scripts, in which tokens are text, never markup. Without a kernel JupyterLab shows its
first state if it trusts the notebook; other pages show a still picture of all models, which says
that it is not live.
"""

from repro.widgets.claims import claims_table
from repro.widgets.matrices import carried, one_head
from repro.widgets.prediction import Question, predict
from repro.widgets.pruning import Pruning
from repro.widgets.translator_page import translator

__all__ = [
    "Pruning",
    "Question",
    "carried",
    "claims_table",
    "one_head",
    "predict",
    "translator",
]
