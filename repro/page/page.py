"""Write models into one HTML file that translates by itself, without server or network."""

import base64
import html
import json
import re
import zlib
from collections.abc import Mapping

from repro.core.config import RunConfig
from repro.page.bundle import FOLDER, bundle
from repro.page.export import model_file
from repro.runs.run import Run

FRONT = FOLDER / "front"

EXAMPLES = {
    "multi30k": (
        "Two young girls are playing with a small dog on the beach.",
        "A man in a blue shirt is standing on a ladder cleaning a window.",
        "An old woman sells fresh vegetables at the market.",
    ),
    "minigerman": (
        "The old teacher sees the small dog in the garden.",
        "She does not believe that the men wash a coat now.",
        "The black cats often see a guest.",
    ),
}
"""Sentences to begin with, by the corpus that a model was trained on."""
ANY_EXAMPLE = ("The dog sees a man.",)


def page_html(runs: Mapping[str, Run]) -> str:
    """Return the page of some finished runs, as text.

    Args:
        runs: by the name that the page shows; the first one is shown first.

    Raises:
        InputError: a run is not finished, or its model has something that the engine lacks.
        DamagedFileError: the files of a run are not what was written.
    """
    engine = bundle("engine/worker.js") + 'modules["engine/worker.js"].serve(self);\n'
    parts = {
        "style": (FRONT / "page.css").read_text(encoding="utf-8"),
        "models": "\n".join(_model_script(name, run) for name, run in runs.items()),
        "engine": engine,
        "script": bundle("front/main.js"),
    }
    template = (FRONT / "page.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)


def _model_script(name: str, run: Run) -> str:
    """Return the element that holds a model: deflated, in base64."""
    packed = base64.b64encode(zlib.compress(model_file(run, name), 9)).decode()
    shown = {"name": name, "title": _title(name, run.config), "examples": _examples(run.config)}
    about = html.escape(json.dumps(shown, ensure_ascii=False), quote=True)
    return f'<script type="text/plain" data-model="{about}">{packed}</script>'


def _title(name: str, config: RunConfig) -> str:
    return f"{name} ({config.data.corpus}, {config.data.source} to {config.data.target})"


def _examples(config: RunConfig) -> tuple[str, ...]:
    is_english = config.data.source == "en"
    return EXAMPLES.get(config.data.corpus, ANY_EXAMPLE) if is_english else ("Der Hund schläft.",)
