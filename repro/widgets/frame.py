"""A page in the output of a cell: alive without a kernel, in exported pages and in slides."""

import html


class Frame:
    """A page of its own in an output, with words for places that show no scripts.

    Args:
        title: what it is, in words.
        page: HTML that needs no network.
        height: in pixels, until the page knows better.
        instead: HTML below it, which the page removes; it stays where scripts do not run.
    """

    def __init__(self, title: str, page: str, height: int, instead: str = "") -> None:
        self.title, self.page, self.height, self.instead = title, page, height, instead

    def _repr_mimebundle_(self, **options: object) -> dict[str, str]:
        frame = (
            f"<iframe title=\"{html.escape(self.title)}\" srcdoc='{_quoted(self.page)}' "
            f'style="width: 100%; height: {self.height}px; border: 0"></iframe>'
        )
        below = f"<div data-stand-in>{self.instead}</div>" if self.instead else ""
        end = "" if self.title.endswith("?") else "."
        told = f"{self.title}{end} It is alive in JupyterLab, on the site and in exported pages."
        return {"text/html": frame + below, "text/plain": told}


def _quoted(text: str) -> str:
    """Return a text for an attribute in single quotes, no longer than it must be."""
    return text.replace("&", "&amp;").replace("'", "&#39;")
