"""Build static stand-ins of widgets: HTML without scripts, for pages without a kernel."""

from collections.abc import Sequence
from typing import Any

from repro.plots import escape

LEFT = 'style="text-align: left"'  # JupyterLab aligns tables to the right, as for numbers
NOT_LIVE = "<p><em>A still picture, not live: run the cell in JupyterLab to use it.</em></p>"


def static_words(rows: Sequence[dict[str, Any]]) -> str:
    """Return rows of `Words` as an HTML table."""

    def word(entry: dict[str, Any]) -> str:
        text = escape(entry["text"])
        marked = f"<b><u>{text}</u></b>" if entry["changed"] else text
        return f"{marked} <sub>{entry['probability']:.2f}</sub>"

    def line(row: dict[str, Any]) -> str:
        words = " ".join(map(word, row["words"]))
        return f"<tr><th {LEFT}>{escape(row['label'])}</th><td {LEFT}>{words}</td></tr>"

    return f"<table>{''.join(map(line, rows))}</table>"
