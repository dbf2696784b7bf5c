"""Write models into one HTML file that translates by itself, without server or network."""

import base64
import html
import json
import re
import zlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from repro.claims.finding import NotMeasured
from repro.page.bundle import FOLDER, bundle
from repro.page.examples import sentences_for
from repro.page.export import model_file
from repro.page.stored import claims_drawn, head_facts, pruned_models
from repro.records.stored import load_records
from repro.runs.naming import system_of
from repro.runs.run import Run

FRONT = FOLDER / "front"

KINDS = {
    "base": "every head learns where to look",
    "gated": "training has shut most heads",
    "hc-sa": "self-attention looks at fixed neighbours",
    "sh-x": "fixed neighbours, and a single cross-attention head",
    "7Ftoken+1L": "7 of 8 encoder heads look at fixed places",
    "mma": "some encoder heads look only left, right or nearby",
    "ran-all": "one learned matrix is handed from layer to layer",
    "syn-r": "a learned matrix, whatever the words are",
}
"""How the systems of the gallery attend, in words."""
STORED = ("claims", "pruning")
"""The views that show stored results."""
TEXTS = {"minigerman": "generated sentences", "multi30k": "captions of photos"}
"""The corpora of the gallery, in words."""


def page_html(
    runs: Mapping[str, Run],
    results: Path | None = None,
    start: Mapping[str, Any] | None = None,
    key: str = "",
) -> str:
    """Return the page of some finished runs, as text.

    Args:
        runs: by the name that the page shows; the first one is shown first.
        results: a folder of results, for what is on record of heads, pruning and claims; None, or a
            folder that is not there: the page goes without.
        start: further options of `mount`, see `front/mount.js`.
        key: by which views in other frames find the page; see `view_html`.

    Raises:
        InputError: a run is not finished, or its model has something that the engine lacks.
        DamagedFileError: the files of a run or of the results are not what was written.
    """
    folder = results if results is not None and results.is_dir() else None
    corpora = {run.config.data.corpus for run in runs.values()}
    records = load_records(folder, None, corpora) if folder else []
    options = dict(start or {})
    if folder:
        options = stored_options(folder, records, options.get("views", STORED)) | options
    first, *others = [_model_script(name, run) for name, run in runs.items()]
    parts = front_end() | {
        "page_style": _read("colours.css") + _read("page.css"),
        "models": _json_in_html([mount_model(*of, records) for of in runs.items()]),
        "first_model": first,
        "other_models": "\n".join(others),
        "options": _json_in_html(options),
        "key": _in_html(key),
    }
    return _filled("page.html", parts)


def view_html(title: str, key: str, start: Mapping[str, Any]) -> str:
    """Return a page that shows the models of another frame of the same notebook.

    Args:
        title: of the page.
        key: of the page that holds the models.
        start: options of `mount` for this view.
    """
    parts = {"title": _in_html(title), "key": key, "start": _json_in_html(start)}
    return _filled("view.html", parts)


def widget_html(title: str, entry: str, style: Sequence[str], data: Any) -> str:
    """Return a page of a small widget that needs no model.

    Args:
        title: of the page.
        entry: a module whose `start(element, data)` draws the widget.
        style: names of style sheets, besides the colours.
        data: for `start`; as JSON.
    """
    parts = {
        "title": _in_html(title),
        "style": "".join(map(_read, ("colours.css", "page.css", *style))),
        "script": bundle(entry),
        "entry": entry,
        "data": _json_in_html(data),
    }
    return _filled("widget.html", parts)


def _filled(name: str, parts: Mapping[str, str]) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _read(name))


def front_end() -> dict[str, str]:
    """Return what `mount` needs besides models: `script`, whose `modules["front/mount.js"]` has it,
    and the texts of its options `engine` and `style`."""
    return {
        "script": bundle("front/page.js"),
        "engine": bundle("engine/worker.js") + 'modules["engine/worker.js"].serve(self);\n',
        "style": _read("colours.css") + _read("views.css") + _read("tabs.css"),
    }


def stored_options(
    results: Path, records: list[dict[str, Any]], views: Collection[str] = STORED
) -> dict[str, Any]:
    """Return the options of `mount` that some views take from a folder of results."""
    options: dict[str, Any] = {}
    if "claims" in views and (claims := claims_drawn(results)):
        options["claims"] = claims
    if "pruning" in views:
        try:
            options["pruned"] = pruned_models(records)
        except NotMeasured:  # there was no sweep
            pass
    return options


def mount_model(name: str, run: Run, records: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a model as `mount` takes it, but for its text.

    Args:
        name: that is shown.
        run: a finished run.
        records: the stored ones, of which those of its heads are used.
    """
    data, system = run.config.data, system_of(run.config.model)
    kind = KINDS.get(system, f"the system {system}")
    text = TEXTS.get(data.corpus, data.corpus)
    return {
        "name": name,
        "title": f"{name}: {kind} ({text}, {data.source} to {data.target})",
        "kind": kind,
        "source": data.source,
        "target": data.target,
        "learned": text,
        "endMark": run.config.model.source_end_mark,
        "corpus": f"{data.corpus}.{data.source}-{data.target}",
        "examples": [sentence._asdict() for sentence in sentences_for(data)],
    } | head_facts(run, records)


def packed_model(name: str, run: Run) -> str:
    """Return the file of a model, deflated, in base64: what `text()` of a mounted model gives."""
    return base64.b64encode(zlib.compress(model_file(run, name), 9)).decode()


def _model_script(name: str, run: Run) -> str:
    """Return the element that holds the file of a model."""
    called = _in_html(name)
    return f'<script type="text/plain" data-model="{called}">{packed_model(name, run)}</script>'


def _read(name: str) -> str:
    return (FRONT / name).read_text(encoding="utf-8")


def _json_in_html(value: Any) -> str:
    """Return JSON that ends no script element, and has letters of ASCII alone."""
    return json.dumps(value).replace("<", "\\u003c")


def _in_html(text: str) -> str:
    """Return a text for an element or an attribute, with letters of ASCII alone."""
    return html.escape(text).encode("ascii", "xmlcharrefreplace").decode()
