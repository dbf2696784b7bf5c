"""Let a figure of a page keep the size at which its words can be read: on a phone it scrolls."""

import imagesize
from docutils import nodes
from sphinx.application import Sphinx

from repro.plots.still import SHARPNESS


def give_width(app: Sphinx, doctree: nodes.document) -> None:
    """Say how wide each PNG is drawn. The generator links what has a width to the file, and a link
    can be reached by the keyboard, which then scrolls its box."""
    for image in doctree.findall(nodes.image):
        if image["uri"].endswith(".png"):
            image["width"] = f"{imagesize.get(app.srcdir / image['uri'])[0] // SHARPNESS}px"


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer it to Sphinx."""
    app.connect("doctree-read", give_width)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
