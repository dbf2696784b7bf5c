"""The report of a scale: verdicts first, then every table and figure, printed beside ours; as Markdown and as one page of HTML."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from plotly.io import to_html
from plotly.offline import get_plotlyjs

from repro.errors import ReproError
from repro.files import write_atomic
from repro.papers import PAPERS, Experiment, Paper, load_paper
from repro.papers.evidence import Evidence, NotMeasured
from repro.papers.tables import status_line
from repro.papers.verdicts import as_verdict, claims_of, counts, load, verdict_table
from repro.report import table


class Section(NamedTuple):
    """A part of the report: Markdown, and figures by title."""

    text: str
    figures: dict[str, Any]


def sections(scale: str, evidence: Evidence, folder: Path, papers: Iterable[str] = PAPERS) -> list[Section]:
    """Return the report in parts."""
    papers = [load_paper(name) for name in papers]
    found = [Section(_opening(scale, evidence, folder, papers), {})]
    for paper in papers:
        found.append(Section(f"## {paper.title}\n\n<{paper.url}>", {}))
        found += [experiment_section(paper, experiment, evidence) for experiment in paper.experiments]
        rows = [[deviation.topic, deviation.paper, deviation.here] for deviation in paper.deviations]
        found.append(Section("### What differs from the paper\n\n" + table(["topic", "paper", "here"], rows), {}))
    found.append(Section(f"## Costs\n\n{_costs(evidence)}", {}))
    return found


def experiment_section(paper: Paper, experiment: Experiment, evidence: Evidence) -> Section:
    """Return an experiment's tables and figures, or why there are none."""
    title = f"### {experiment.place}: {experiment.title}\n\n`{paper.name}.{experiment.name}`\n\n"
    if not experiment.runs_at(evidence.scale):
        return Section(f"{title}Not at {evidence.scale}: {experiment.elsewhere}.", {})
    try:
        text, figures = experiment.render(evidence), experiment.figures(evidence) if experiment.figures else {}
    except NotMeasured as missing:
        return Section(title + status_line(missing), {})
    return Section(title + text, figures)


def status_of(experiment: Experiment, evidence: Evidence) -> str:
    """Return `done`, `in part`, `not run` or `not at this scale`."""
    if not experiment.runs_at(evidence.scale):
        return "not at this scale"
    try:
        scored = [bool(evidence.find("scores", arm, split=evidence.split)) for arm in experiment.arms]
        measured = [bool(evidence.find(kind, arm)) for kind, arms in experiment.measures.items() for arm in arms]
    except ReproError:  # the corpus is not at hand, without which the size of a part of it is not known
        return "not run"
    done = scored + measured
    return "done" if all(done) else "in part" if any(done) else "not run"


def coverage_table(evidences: Iterable[Evidence]) -> str:
    """Return which table and figure of which paper has been run at which scale."""
    evidences = list(evidences)
    rows = []
    for paper in map(load_paper, PAPERS):
        for experiment in paper.experiments:
            rows.append([f"{paper.name}.{experiment.name}", experiment.place, *(status_of(experiment, e) for e in evidences)])
    return table(["experiment", "place", *(evidence.scale for evidence in evidences)], rows)


def as_markdown(parts: Iterable[Section]) -> str:
    """Return the report without its figures."""
    return "\n\n".join(part.text for part in parts) + "\n"


def as_html(parts: Iterable[Section], title: str) -> str:
    """Return the report as one page that asks nothing of the network."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    body = []
    for part in parts:
        body.append(markdown.render(part.text))
        for name, figure in part.figures.items():
            drawn = to_html(figure, include_plotlyjs=False, full_html=False, config={"displaylogo": False})
            body.append(f"<figure><figcaption>{markdown.renderInline(name)}</figcaption>{drawn}</figure>")
    return _PAGE.format(title=title, plotly=get_plotlyjs(), body="\n".join(body))


def _opening(scale: str, evidence: Evidence, folder: Path, papers: list[Paper]) -> str:
    stored = load(folder, scale)
    claims = [claim for paper in papers for claim in claims_of(paper.name)]
    verdicts = [as_verdict(stored[claim.name]) for claim in claims if claim.name in stored]
    summary = ", ".join(f"{count} {status}" for status, count in counts(verdicts).items())
    note = "The corpus is generated: what holds on it need not hold on text." if scale == "smoke" else ""
    return "\n\n".join(
        part
        for part in (
            f"# What five papers claim, at {scale}",
            note,
            f"Of {len(claims)} claims: {summary}.",
            verdict_table(claims, verdicts),
        )
        if part
    )


def _costs(evidence: Evidence) -> str:
    """Return parameters, minutes, speed and machine of every run that was scored."""
    rows = []
    for record in evidence.all("scores"):
        training, origin = record["training"], record["provenance"]
        name = [record["run"], str(record["seed"]), f"{training['parameters']:,}", f"{training['seconds'] / 60:.1f}"]
        rows.append(
            [*name, f"{training['target_tokens_per_second']:,}", f"{origin['threads']} x {origin['device']}, {origin['processor']}"]
        )
    return table(["run", "seed", "parameters", "minutes", "target tokens/s", "machine"], sorted(rows)) if rows else "No run."


def write(parts: list[Section], title: str, path: Path) -> list[Path]:
    """Write the Markdown, and the page beside it; return both paths."""
    path = Path(path)
    page = path.with_suffix(".html")
    write_atomic(path, as_markdown(parts).encode())
    write_atomic(page, as_html(parts, title).encode())
    return [path, page]


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<link rel="icon" href="data:,">
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }}
table {{ border-collapse: collapse; display: block; overflow-x: auto; font-size: 0.9rem; font-variant-numeric: tabular-nums; }}
th, td {{ padding: 0.25rem 0.6rem; border-bottom: 1px solid #8886; text-align: right; vertical-align: top; }}
th:first-child, td:first-child {{ text-align: left; }}
td {{ max-width: 34rem; }}
h2 {{ margin-top: 3rem; border-bottom: 2px solid #8888; }}
figure {{ margin: 1rem 0; }} figcaption {{ font-weight: 600; }}
code {{ font-size: 0.9em; }}
</style>
<script>{plotly}</script></head><body>
{body}
</body></html>
"""
