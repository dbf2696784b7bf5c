"""Compose the pages beside the verdicts: all claims one by one, their effects, their margins."""

import textwrap
from pathlib import Path

from plotly.graph_objects import Figure

from repro.markdown import table
from repro.papers import PAPERS, load_paper
from repro.papers.effects import effects_table, has_numbers
from repro.papers.forest_plot import FOREST_EXPLAINED, forest
from repro.papers.report import shown_verdicts
from repro.papers.verdict_text import evidence_lines
from repro.papers.verdicts import (
    LIKELIHOOD_EXPLAINED,
    STATUSES_EXPLAINED,
    claims_of,
    load_verdicts,
    scales_with_verdicts,
    verdict_on,
)
from repro.plots.description import describe
from repro.plots.vector import svg

SCALES = ("smoke", "multi30k", "multi30k-long", "tatoeba", "enja", "iwslt16")
COLUMNS = 100
MARGINS = "MARGINS.md"  # beside the verdicts


def claims_page(folder: Path) -> str:
    """Return all claims, paper by paper: verdicts by scale, effects drawn and listed, evidence."""
    scales = [scale for scale in SCALES if scale in scales_with_verdicts(folder)]
    found = {scale: load_verdicts(folder, scale) for scale in scales}
    drawn = _figures(folder)
    parts = [
        f"# The {len(claims_of())} claims",
        wrapped(
            "Generated from the verdicts in this folder by `repro results --update`; nothing here "
            f"is typed in. {STATUSES_EXPLAINED} {LIKELIHOOD_EXPLAINED} In the evidence, `holds`, "
            "`fails`, `open` (the bound is inside the interval) or `void` (there is no such "
            "number) comes first. Then come the condition and what was measured. Verdicts on "
            "further test sets are in the other files here, and `repro claims --split NAME` judges "
            "by one."
        ),
        f"How to read the figures. {FOREST_EXPLAINED}",
    ]
    for paper in map(load_paper, PAPERS):
        rows = [
            [
                claim.name,
                claim.statement,
                claim.reported,
                *(verdict_on(claim, of_scale).said for of_scale in found.values()),
            ]
            for claim in paper.claims
        ]
        parts += [f"## {paper.title}", table(["claim", "statement", "reported", *scales], rows)]
        if paper.name in drawn:
            parts.append(f"![{describe(drawn[paper.name].to_dict())}]({paper.name}.svg)")
            parts.append(effects_table(paper, shown_verdicts(folder)))
        parts.append(f"```text\n{evidence_lines(paper.claims, found)}\n```")
    return "\n\n".join(map(wrapped, parts)) + "\n"


def _figures(folder: Path) -> dict[str, Figure]:
    """Return the forest plots of all papers with a claim measured on real text."""
    shown = shown_verdicts(folder)
    papers = [paper for paper in map(load_paper, PAPERS) if has_numbers(paper, shown)]
    return {paper.name: forest(paper, shown) for paper in papers}


def effects_pictures(folder: Path) -> dict[str, bytes]:
    """Return the forest plots of the papers' claims by their file names."""
    return {f"{name}.svg": svg(figure) for name, figure in _figures(folder).items()}


def margins_page() -> str:
    """Return the page of all papers' claims with bounds, and when and why each was fixed."""
    parts = [
        "# Margins, and the day on which each was fixed",
        "Generated from the claims by `repro results --update`. A verdict compares numbers with "
        "these bounds. Those of 2026-11-21 are in the history of the project from 14:02 of that "
        "day on: after first scores on the generated corpus and two runs on captions (base and "
        "hc-sa, one seed), and before all other runs. When those of 2026-11-29 were fixed, most "
        "runs were there, and some of the numbers were known. [CHANGES.md](CHANGES.md) has what "
        "was changed since, and why. A reason is given where one was written down on that day.",
    ]
    for paper in map(load_paper, PAPERS):
        rows = [
            [
                claim.name,
                claim.statement,
                claim.place,
                "; ".join(condition.describe() for condition in claim.conditions),
                claim.fixed,
                str(claim.seeds),
                claim.why,
            ]
            for claim in paper.claims
        ]
        header = ["claim", "statement", "in the paper", "holds if", "fixed on", "seeds", "reason"]
        parts += [f"## {paper.title}", table(header, rows)]
    return "\n\n".join(map(wrapped, parts)) + "\n"


def wrapped(part: str) -> str:
    """Return a part of the claims page with its prose wrapped; tables and links keep lines."""
    if part.startswith(("|", "-", "[", "#", "!", "`")):
        return part
    return textwrap.fill(part, COLUMNS, break_long_words=False, break_on_hyphens=False)
