"""Show a model that translates by itself: in a notebook, an exported page or slides."""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from repro.core.settings import SITES
from repro.errors import InputError, did_you_mean
from repro.page.page import page_html, view_html
from repro.runs.run import Run
from repro.widgets.frame import Frame

HEIGHT = 700  # pixels, before the page says how high it is
VIEWS = ("heads", "attention", "playground", "compare", "pruning", "step", "claims")
"""The views of `repro/page/front/views.js`."""
CLOSEST, WIDEST = 0.25, 5.0  # tokens; the limits of a bell in `repro/page/front/patterns.js`
Head = tuple[str, int, int]
"""A head as (site, layer, head), such as ("cross", 0, 3); both numbers begin at 0."""


class TranslatorPage(Frame):
    """A page of finished runs inside the output of a cell.

    The engine and the models are in the output, so it needs no kernel, no server and no network,
    and stays alive in exported pages. `view` shows the same models in another output.
    """

    def __init__(
        self, runs: Mapping[str, Run], start: Mapping[str, Any], results: Path | None = None
    ) -> None:
        self.names = ", ".join(runs)
        about = repr([(name, str(run.path)) for name, run in runs.items()])
        self.key = hashlib.sha256(about.encode()).hexdigest()[:16]
        title = f"A translator with heads to switch off: {self.names}"
        super().__init__(title, page_html(runs, results, start, self.key), HEIGHT)

    def view(
        self,
        name: str,
        sentence: str | None = None,
        focus: Head | None = None,
        off: Iterable[Head] = (),
        bells: Mapping[Head, tuple[float, float]] | None = None,
    ) -> Frame:
        """Return one view of the page for another output of the same notebook.

        It holds no model: it takes that of the page, which must be shown in an output, too.

        Args:
            name: one of `VIEWS`.
            sentence, focus, off, bells: what it begins with; see `translator`.

        Raises:
            InputError: there is no such view or site.
        """
        title = f"{name}: a view of {self.names}"
        start = _start([name], sentence, focus, off, bells)
        return Frame(title, view_html(title, self.key, start), HEIGHT)


def translator(
    run: Run | Mapping[str, Run],
    name: str | None = None,
    views: Iterable[str] | None = None,
    sentence: str | None = None,
    focus: Head | None = None,
    off: Iterable[Head] = (),
    bells: Mapping[Head, tuple[float, float]] | None = None,
    results: str | Path | None = None,
) -> TranslatorPage:
    """Return a finished run as a page to translate with, as `repro page` writes it.

    Args:
        run: such as `repro.gallery.load("base")`, or several by their names.
        name: as the page shows a single run; default: the name of its folder.
        views: the tabs, some of `VIEWS`; default: all that have something to show.
        sentence: the first one; default: one of the corpus.
        focus: the head that is looked at; the page leaves out heads that the model does not have.
        off: heads that are switched off.
        bells: heads that look around a fixed place: its distance in tokens, and the standard
            deviation.
        results: a folder of results, for what is on record of the heads, and for the views of
            pruning and of the claims.

    Raises:
        InputError: the run is not finished, its model has something that the engine lacks, or there
            is no such view or site.
        DamagedFileError: the files of the run are not what was written.
    """
    runs = run if isinstance(run, Mapping) else {name or run.path.name: run}
    start = _start(views, sentence, focus, off, bells)
    return TranslatorPage(runs, start, None if results is None else Path(results))


def _start(
    views: Iterable[str] | None,
    sentence: str | None,
    focus: Head | None,
    off: Iterable[Head],
    bells: Mapping[Head, tuple[float, float]] | None,
) -> dict[str, Any]:
    """Return what a page or a view begins with, as options of `front/mount.js`."""
    state = {
        "sentence": sentence,
        "focus": focus and _key(focus),
        "off": sorted(map(_key, off)),
        "patterns": {_key(head): _bell(*bell) for head, bell in (bells or {}).items()},
    }
    options = {
        "views": views if views is None else list(map(_known, views)),
        "start": {name: value for name, value in state.items() if value},
    }
    return {name: value for name, value in options.items() if value}


def _known(view: str) -> str:
    if view not in VIEWS:
        fix = did_you_mean(view, VIEWS) or f"use one of {', '.join(VIEWS)}"
        raise InputError("view", f"there is none called '{view}'", fix)
    return view


def _key(head: Head) -> str:
    """Return the key of a head in the page, as of `engine/heads.js`."""
    site, layer, number = head
    if site not in SITES:
        raise InputError("head", f"there is no site '{site}'", f"use one of {', '.join(SITES)}")
    return f"{site}.{layer}.{number}"


def _bell(center: float, std: float) -> dict[str, Any]:
    """Return the bell of `front/patterns.js`."""
    width = min(WIDEST, max(CLOSEST, std))
    return {"name": "bell", "center": center, "std": width, "sums": False, "blocked": []}
