"""Draw heads and translations as HTML without scripts. All text in it is escaped."""

from collections.abc import Sequence

from repro.analysis.reading import Reading, changed_words
from repro.core.numbering import FIRST
from repro.plots import escape

Factors = Sequence[Sequence[Sequence[float]]]
"""A factor per head, by site in the order of `SITES` and by layer; a layer may have none."""

TITLES = ("Encoder self-attention", "Decoder self-attention", "Cross attention")
# JupyterLab aligns tables to the right, as for numbers.
LEFT = 'style="text-align: left; vertical-align: top; padding-right: 1.5em"'


def heads_table(factors: Factors) -> str:
    """Return a square for each head, by its factor: full if it is unchanged, empty if it is off."""

    def square(factor: float) -> str:
        return {0.0: "□", 1.0: "■"}.get(factor, f"{factor:.2g}")

    def layer_text(layer: int, heads: Sequence[float]) -> str:
        return f"L{layer + FIRST} {' '.join(map(square, heads)) or 'no attention'}"

    cells = []
    for title, layers in zip(TITLES, factors, strict=True):
        lines = "<br>".join(layer_text(number, heads) for number, heads in enumerate(layers))
        cells.append(f"<td {LEFT}>{title}<br>{lines}</td>")
    return f"<table><tr>{''.join(cells)}</tr></table>"


def words_table(rows: Sequence[tuple[str, Reading]], whole: Reading) -> str:
    """Return a row for each label and reading: its words with their probabilities.

    Words that are missing in the reading of the whole model, in its order, are marked.
    """
    usual = [word.text for word in whole.words]

    def line(label: str, reading: Reading) -> str:
        marks = changed_words(usual, [word.text for word in reading.words])
        words = []
        for word, changed in zip(reading.words, marks, strict=True):
            text = escape(word.text)
            marked = f"<b><u>{text}</u></b>" if changed else text
            words.append(f"{marked} <sub>{word.probability:.2f}</sub>")
        shown = " ".join(words) or "(no words)"
        return f"<tr><th {LEFT}>{escape(label)}</th><td {LEFT}>{shown}</td></tr>"

    return f"<table>{''.join(line(*row) for row in rows)}</table>"
