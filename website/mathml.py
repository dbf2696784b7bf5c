"""Write formulas as MathML, which browsers draw without a script from another machine."""

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

# What the library lacks, in words it has.
SYNONYMS = {r"\dots": r"\ldots"}


def mathml(tex: str, as_block: bool) -> str:
    """Return a formula as MathML.

    Raises:
        ValueError: it has a command that is not known (`docutils.utils.math.MathError`).
    """
    for command, known in SYNONYMS.items():
        tex = tex.replace(command, known)
    return tex2mathml(tex, as_block=as_block)


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(f'<div class="math" tabindex="0">{mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer this way of writing formulas to Sphinx."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
