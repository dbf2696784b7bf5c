"""Score a run on any text, and by metrics of your own."""

import inspect
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro.data.corpora import check_languages, prepare_lines
from repro.data.text import read_lines
from repro.errors import InputError
from repro.runs.own_code import own_function
from repro.runs.run import Run

if TYPE_CHECKING:
    from repro.core.decoding import SearchConfig

TEXTS = ("sources", "hypotheses", "references")
Metric = Callable[[Sequence[str], Sequence[str], Sequence[str]], float]
"""Sources, translations and references -> a score of them all."""


def metrics_named(names: Sequence[str]) -> dict[str, Metric]:
    """Return the metrics of files of your own: `my_metric.py:comet`.

    Raises:
        InputError: a file or its function is not there, or does not take three lists.
    """
    found = {name: own_function(name) for name in names}
    for name, metric in found.items():
        try:
            with suppress(ValueError):  # not every function of C says what it takes
                inspect.signature(metric).bind(*TEXTS)
        except TypeError as error:
            what = f"does not take three lists ({error})"
            fix = f"write def {name.partition(':')[2]}({', '.join(TEXTS)})"
            raise InputError(name, what, fix) from error
    return found


def score_by(
    metrics: dict[str, Metric], sources: Sequence[str], hyps: Sequence[str], refs: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the scores of translations by metrics of your own.

    Raises:
        InputError: a metric returns no number.
    """
    found = []
    for name, metric in metrics.items():
        value = metric(list(sources), list(hyps), list(refs))
        if isinstance(value, bool) or not isinstance(value, int | float):
            what = f"returned {type(value).__name__}"
            raise InputError(name, what, "return one float for all sentences")
        found.append({"name": name, "value": float(value), "signature": "your own"})
    return found


def score_text(run: Run, files: tuple[Path, Path], search: "SearchConfig") -> dict[str, Any]:
    """Translate a file and score it against another; no record is kept.

    Returns:
        `scores` as in a record; `sources`, `hypotheses` and `references`, the lines.

    Raises:
        InputError: the files have different numbers of lines, or none.
    """
    from repro.runs.models import load_translator
    from repro.statistics.comparing import as_records, score_all

    sources, refs = (read_lines(path).lines for path in files)
    if len(sources) != len(refs) or not refs:
        what = f"has {len(sources):,} lines, and {files[1]} has {len(refs):,}"
        raise InputError(str(files[0]), what, "give two files with a sentence a line, in one order")
    data, translator = run.config.data, load_translator(run)
    read = prepare_lines(data.corpus, sources)
    hyps = translator.texts(translator.search(read, search, True))
    prepare = check_languages(data.corpus).prepare
    refs = [prepare(line) for line in refs] if prepare else refs
    return {
        "scores": as_records(score_all(hyps, refs, data.target)),
        "sources": read,
        "hypotheses": hyps,
        "references": refs,
    }
