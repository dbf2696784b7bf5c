"""Weights to touch without a model: one head to change, and matrices that follow one another."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from repro.core.attention.fixed import PATTERNS
from repro.errors import InputError, did_you_mean, texts_in
from repro.page.page import widget_html
from repro.widgets.frame import Frame

MASKS = ("global", "local", "forward", "backward")
"""Where a head of Cui et al. (2019) may look; here at all words there alike."""
LOOKS = ("bell", "even", *PATTERNS, *MASKS)
"""What `one_head` can choose from, by the names of `repro/page/front/one_head.js`."""
STYLE = ("views.css", "tabs.css")
HEIGHT = 420  # pixels
DIGITS = 4


def one_head(words: Sequence[str], looks: Sequence[str]) -> Frame:
    """Return the matrix of one head to change: choose where it looks, drag its bell, paint pairs.

    Args:
        words: of the sentence that looks at itself.
        looks: some of `LOOKS`, the first one chosen.

    Raises:
        InputError: no words, or none of `LOOKS`.
    """
    for look in looks:
        if look not in LOOKS:
            raise InputError("looks", f"there is none called '{look}'", did_you_mean(look, LOOKS))
    if not looks:
        raise InputError("looks", "there is none", f"give some of {', '.join(LOOKS)}")
    data = {"words": _words(words), "looks": list(looks)}
    return _frame("A head: where it looks, to drag and to paint", "front/one_head.js", data)


def carried(matrices: Sequence[np.ndarray], titles: Sequence[str], words: Sequence[str]) -> Frame:
    """Return matrices of weights that follow one another, such as those of layers, with a slider.

    Args:
        matrices: `(words, words)` each.
        titles: one each.
        words: of the sentence that looks at itself.

    Raises:
        InputError: the numbers of matrices, titles and words do not fit.
    """
    shown = _words(words)
    shapes = {np.shape(matrix) for matrix in matrices}
    if shapes != {(len(shown), len(shown))} or len(matrices) != len(titles):
        what = f"{len(matrices)} of {sorted(shapes)} do not fit {len(titles)} titles"
        fix = "give a title for each matrix, and a row and a column for each word"
        raise InputError("matrices", f"{what} and {len(shown)} words", fix)
    rounded = [np.round(np.asarray(matrix, float), DIGITS).tolist() for matrix in matrices]
    data = {"words": shown, "titles": list(titles), "matrices": rounded}
    return _frame("Weights from step to step", "front/carried.js", data)


def _words(words: Sequence[str]) -> list[str]:
    found = texts_in("words", words)
    if not found:
        raise InputError("words", "there is none", "give the words of a sentence")
    return found


def _frame(title: str, entry: str, data: dict[str, Any]) -> Frame:
    return Frame(title, widget_html(title, entry, STYLE, data), HEIGHT)
