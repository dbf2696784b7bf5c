"""Write the sections of a report as Markdown, and as one page of HTML beside it."""

import base64
import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt
from plotly.graph_objects import Figure
from plotly.io import to_html
from plotly.offline import get_plotlyjs

from repro.files import write_atomic
from repro.papers.report import Section
from repro.plots.description import describe
from repro.plots.export import save
from repro.plots.vector import svg

# What a verdict in a cell of a table looks like: the words say it, the colour repeats it.
MARKED = {
    "reproduced": "yes",
    "partly": "partly",
    "not reproduced": "no",
    "undecided": "open",
    "not testable here": "none",
    "not run": "none",
}


def write_report(parts: list[Section], title: str, path: Path) -> list[Path]:
    """Write the report on papers as Markdown, and as an HTML page beside it."""
    path = Path(path)
    page = path.with_suffix(".html")
    write_atomic(path, as_markdown(parts).encode())
    write_atomic(page, as_html(parts, title).encode())
    return [path, page]


def write_figures(parts: Iterable[Section], folder: Path, ending: str) -> list[Path]:
    """Write every figure into a folder, named by its section; return the paths."""
    found = []
    for part in parts:
        for number, figure in enumerate(part.figures.values(), start=1):
            name = part.name if len(part.figures) == 1 else f"{part.name}-{number}"
            save(figure, folder / f"{name}.{ending}")
            found.append(folder / f"{name}.{ending}")
    return found


def as_markdown(parts: Iterable[Section]) -> str:
    """Return the report as Markdown; figures of the HTML page are named only."""
    texts = []
    for part in parts:
        texts.append(part.text)
        if part.figures:
            texts.append(f"Drawn in the page of HTML beside this one: {'; '.join(part.figures)}.")
    return "\n\n".join(texts) + "\n"


def as_html(parts: Sequence[Section], title: str) -> str:
    """Return the report as one HTML page with a table of contents; it needs no network."""
    renderer = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    body = []
    for part in parts:
        body.append(f'<section id="{part.name}">{_marked(renderer.render(part.text))}')
        for name, figure in part.figures.items():
            caption = f"<figcaption>{renderer.renderInline(name)}</figcaption>"
            body.append(f"<figure>{caption}{_drawn(figure)}</figure>")
        body.append("</section>")
    return _PAGE.format(
        title=escape(title),
        plotly=get_plotlyjs() if any(part.figures for part in parts) else "",
        contents=renderer.render(_contents(parts)),
        body="\n".join(body),
    )


def _marked(page: str) -> str:
    """Return HTML whose cells with a verdict have a class, which gives them a colour."""
    words = "|".join(sorted(MARKED, key=len, reverse=True))
    return re.sub(
        rf"<td>((?:<strong>)?({words})\b)",
        lambda cell: f'<td class="{MARKED[cell[2]]}">{cell[1]}',
        page,
    )


def _drawn(figure: Figure) -> str:
    """Return a figure of the report as HTML: a picture if its width is fixed."""
    if figure.layout.width is None:
        config = {"displaylogo": False, "responsive": True}
        return to_html(figure, include_plotlyjs=False, full_html=False, config=config)
    data = base64.b64encode(svg(figure)).decode()
    words = escape(describe(figure.to_dict()))
    return f'<img alt="{words}" src="data:image/svg+xml;base64,{data}">'


def _contents(parts: Iterable[Section]) -> str:
    """Return the report's table of contents: links, one line per paper."""
    lines: list[list[str]] = []
    for part in parts:
        marks, _, heading = part.text.split("\n")[0].partition(" ")
        if marks != "###" or not lines:
            lines.append([])
        lines[-1].append(f"[{heading.partition(':')[0]}](#{part.name})")
    return "\n".join(f"- {' · '.join(links)}" for links in lines)


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="generator" content="repro">
<meta name="viewport" content="width=device-width"><title>{title}</title>
<link rel="icon" href="data:,">
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; \
padding: 0 1rem; overflow-wrap: break-word; }}
nav {{ font-size: 0.9rem; }} nav ul {{ padding-left: 1.2rem; }}
section {{ scroll-margin-top: 1rem; }}
@media (min-width: 80rem) {{ /* room beside the text: the contents follow the reader */
  body {{ max-width: none; display: grid; grid-template-columns: 15rem minmax(0, 76rem); \
column-gap: 2rem; justify-content: center; }}
  nav {{ position: sticky; top: 1rem; align-self: start; max-height: calc(100vh - 2rem); \
overflow-y: auto; }}
}}
table {{ display: block; overflow-x: auto; border-collapse: collapse; margin: 1rem 0; \
font: 0.9rem/1.5 system-ui, sans-serif; scrollbar-width: thin; \
background: linear-gradient(to left, Canvas 40%, transparent) right / 3rem 100% no-repeat local, \
linear-gradient(to left, #8888, transparent) right / 1rem 100% no-repeat scroll; }} \
/* a shadow where more columns are to the right */
td.yes {{ background: #1a7f3733; }} td.partly {{ background: #9a670033; }}
td.no {{ background: #cf222e33; }} td.open {{ background: #0969da22; }}
td.none {{ color: GrayText; }}
th, td {{ padding: 0.25rem 0.6rem; border-bottom: 1px solid #8886; text-align: left; \
vertical-align: top; overflow-wrap: normal; }}
th {{ vertical-align: bottom; }}
th:first-child, td:first-child {{ position: sticky; left: 0; background: Canvas; }}
td {{ min-width: 7.5rem; }} td:first-child {{ min-width: 4rem; }}
td[style] {{ min-width: 0; white-space: nowrap; font-variant-numeric: tabular-nums; }} \
/* numbers, which Markdown sets right */
h2 {{ margin-top: 3rem; border-bottom: 2px solid #8888; }}
img {{ max-width: 100%; height: auto; }}
figure {{ margin: 1rem 0; max-width: 52rem; }} figcaption {{ font-weight: 600; }}
code {{ font-size: 0.9em; }}
@media (max-width: 40rem) {{
  h1 {{ font-size: 1.5rem; }} h2 {{ font-size: 1.2rem; }} td:last-child:not([style]) \
{{ min-width: 16rem; }}
  figure {{ overflow-x: auto; }} figure > div {{ min-width: 36rem; }} \
/* labels of heat maps would lie on each other */
}}
@page {{ size: A4 landscape; margin: 12mm; }}
@media print {{ /* all columns on the paper: what scrolls on a screen would be cut */
  body {{ margin: 0; padding: 0; max-width: none; display: block; }} nav {{ position: static; }}
  table {{ display: table; font-size: 0.55rem; }}
  th, td, td[style] {{ min-width: 0 !important; padding: 0.1rem 0.25rem; white-space: normal; }}
  th {{ overflow-wrap: anywhere; }}
  th:first-child, td:first-child {{ position: static; min-width: 4.5em !important; \
overflow-wrap: normal; }}
  figure, tr {{ break-inside: avoid; }} figure {{ max-width: 17cm; }} h2, h3, figcaption \
{{ break-after: avoid; }}
  .modebar {{ display: none; }}
}}
</style>
<script>{plotly}</script></head><body>
<nav aria-label="Contents">{contents}</nav>
<main>
{body}
</main>
</body></html>
"""
