"""Show a model that translates by itself: in a notebook, an exported page or slides."""

import html

from repro.page.page import page_html
from repro.runs.run import Run

HEIGHT = 700  # pixels; the page scrolls in it where the screen is narrow


class TranslatorPage:
    """A page of finished runs inside the output of a cell.

    The engine and the models are in the output, so it needs no kernel, no server and no network,
    and stays alive in exported pages.
    """

    def __init__(self, name: str, page: str) -> None:
        self.name, self.page = name, page

    def _repr_mimebundle_(self, **options: object) -> dict[str, str]:
        title = f"A translator with heads to switch off: {self.name}"
        frame = (
            f'<iframe title="{html.escape(title)}" srcdoc="{html.escape(self.page)}" '
            f'style="width: 100%; height: {HEIGHT}px; border: 0"></iframe>'
        )
        told = f"{title}. It is alive in JupyterLab, on the site and in exported pages."
        return {"text/html": frame, "text/plain": told}


def translator(run: Run, name: str | None = None) -> TranslatorPage:
    """Return a finished run as a page to translate with, as `repro page` writes it.

    Args:
        run: such as `repro.gallery.load("base")`.
        name: as the page shows it; default: the name of the run's folder.

    Raises:
        InputError: the run is not finished, or its model has something that the engine lacks.
        DamagedFileError: the files of the run are not what was written.
    """
    shown = name or run.path.name
    return TranslatorPage(shown, page_html({shown: run}))
