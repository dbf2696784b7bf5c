"""Compose the report of a scale: verdicts first, then every table and figure of the papers.

Printed numbers are beside ours. `pages.py` writes it as Markdown and HTML.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from repro import markdown
from repro.claims.evidence import Evidence, NotMeasured
from repro.claims.verdict_fields import StoredVerdict, as_verdict
from repro.errors import MachineError, ReproError
from repro.markdown import table
from repro.papers import PAPERS, Experiment, Paper, load_paper
from repro.papers.effects import effects_table, has_numbers
from repro.papers.forest_plot import FOREST_EXPLAINED, forest
from repro.papers.printed import printed_numbers
from repro.papers.printed_tables import printed_table
from repro.papers.tables import status_line
from repro.papers.verdict_text import verdict_table
from repro.papers.verdicts import (
    STATUSES_EXPLAINED,
    claims_answered,
    claims_of,
    counted,
    judge,
    load_verdicts,
    scales_with_verdicts,
    verdict_on,
)
from repro.records.costs import TRAINING_COSTS, costs_note, training_costs
from repro.scales import DEFAULT_RESULTS, SCALES, command_options

GENERATED_SCALE = "smoke"  # the scale whose corpus is not real text
SMOKE_NOTE = "The corpus is generated: what holds on it need not hold on text."


class Section(NamedTuple):
    """A part of the report: Markdown with a heading, figures by title, and its anchor."""

    text: str
    figures: dict[str, Any]
    name: str


def report_sections(
    scale: str, evidence: Evidence, folder: Path, papers: Iterable[str] = PAPERS
) -> list[Section]:
    """Return the report of a scale in sections."""
    papers = [load_paper(name) for name in papers]
    found = [Section(_verdicts_section(scale, evidence, folder, papers), {}, "verdicts")]
    shown = shown_verdicts(folder, scale)
    for paper in papers:
        found.append(Section(f"## {paper.title}\n\n<{paper.url}>", {}, paper.name))
        found += effects_sections(paper, shown)
        found += [
            experiment_section(paper, experiment, evidence, folder)
            for experiment in paper.experiments
        ]
        differs = f"### Deviations: what differs from the paper\n\n{deviations_table(paper)}"
        found.append(Section(differs, {}, f"{paper.name}.deviations"))
    found.append(Section(f"## Costs\n\n{_costs(evidence)}", {}, "costs"))
    return found


def deviations_table(paper: Paper) -> str:
    """Return a table of the points in which this suite deviates from a paper."""
    rows = [[deviation.topic, deviation.paper, deviation.here] for deviation in paper.deviations]
    return table(["topic", "paper", "here"], rows)


def shown_verdicts(folder: Path, scale: str = "") -> dict[str, dict[str, StoredVerdict]]:
    """Return the verdicts by scale that share a figure of the report.

    Effects on generated text have another size than those on real text, so they have a figure of
    their own.

    Args:
        folder: of results.
        scale: it comes first; without it, all scales with real text.
    """
    stored = scales_with_verdicts(folder)
    real = [name for name in SCALES if name in stored and name not in (GENERATED_SCALE, scale)]
    first = [scale] if scale in stored else []
    names = first if scale == GENERATED_SCALE else [*first, *real]
    return {name: load_verdicts(folder, name) for name in names}


def effects_sections(
    paper: Paper, verdicts: Mapping[str, dict[str, StoredVerdict]]
) -> list[Section]:
    """Return the report's forest plot of a paper, and the same numbers as a table.

    There are none if no claim of the paper has a number.
    """
    if not has_numbers(paper, verdicts):
        return []
    drawn, numbers = f"{paper.name}.effects", f"{paper.name}.numbers"
    figure = {f"The claims of {paper.name}": forest(paper, verdicts)}
    text = f"### Effects: ours beside the printed ones\n\n{FOREST_EXPLAINED}"
    listed = f"### Numbers: the same effects\n\n{effects_table(paper, verdicts)}"
    return [Section(text, figure, drawn), Section(listed, {}, numbers)]


def experiment_section(
    paper: Paper, experiment: Experiment, evidence: Evidence, folder: Path = DEFAULT_RESULTS
) -> Section:
    """Return the tables and figures of an experiment, and the numbers of the paper's text.

    An experiment without data has the reason instead. The command that runs what is missing names
    the folder.
    """
    section = _rendered_experiment(paper, experiment, evidence, folder)
    said = [cell for place in experiment.said for cell in printed_numbers(paper.name, place)]
    return (
        section._replace(text=f"{section.text}\n\nIn the paper's text:\n\n{printed_table(said)}")
        if said
        else section
    )


def _rendered_experiment(
    paper: Paper, experiment: Experiment, evidence: Evidence, folder: Path
) -> Section:
    """Return an experiment's section of the report, or why it is empty."""
    name = f"{paper.name}.{experiment.name}"
    title = f"### {experiment.place}: {experiment.title}\n\n`{name}`\n\n"
    if not experiment.runs_at(evidence.scale):
        return Section(f"{title}Not at {evidence.scale}: {experiment.elsewhere}.", {}, name)
    try:
        text = experiment.render(evidence)
        drawn, figures = _figures_of(experiment, evidence)
    except NotMeasured as first:
        return Section(title + status_line(first), {}, name)
    # Without its corpus nothing can be resampled.
    except MachineError as absent:
        return Section(f"{title}Not on this machine: {absent}.", {}, name)
    try:
        rest = missing_records(experiment, evidence)
    except MachineError:
        rest = ["what needs a part of the corpus, of which only the corpus tells the size"]
    if rest:
        text += (
            f"\n\nStill to run, with `repro run {name} {command_options(evidence.scale, folder)}`: "
            f"{'; '.join(rest)}."
        )
    return Section(title + text + drawn, figures, name)


def _figures_of(experiment: Experiment, evidence: Evidence) -> tuple[str, dict[str, Any]]:
    """Return an experiment's figures, or a note on missing records: tables may need others."""
    try:
        return "", experiment.figures(evidence) if experiment.figures else {}
    except NotMeasured as error:
        return f"\n\nNo figure: {error.where}, {error.what}.", {}


def experiments_sections(
    chosen: Sequence[tuple[Paper, Experiment]], evidence: Evidence, folder: Path = DEFAULT_RESULTS
) -> list[Section]:
    """Return the report of some experiments in sections; the first says how to read it.

    Verdicts are on the claims that need no more than these experiments.
    """
    heading = f"# {len(chosen)} experiment{'s' * (len(chosen) > 1)} at {evidence.scale}"
    parts = [
        part for part in (heading, _how_to_read(evidence.scale), inexact_note(evidence)) if part
    ]
    answers = [answers_section(chosen, evidence, folder)] if claims_answered(chosen) else []
    return [
        Section("\n\n".join(parts), {}, "top"),
        *answers,
        *(experiment_section(paper, experiment, evidence, folder) for paper, experiment in chosen),
    ]


def answers_section(
    chosen: Sequence[tuple[Paper, Experiment]], evidence: Evidence, folder: Path
) -> Section:
    """Return verdicts on the claims that need no more than these experiments; none is stored."""
    claims = claims_answered(chosen)
    verdicts = [as_verdict(verdict) for verdict in judge(claims, evidence).values()]
    return Section(
        f"## Verdicts\n\n{counted(verdicts)}. "
        f"`repro claims {command_options(evidence.scale, folder)}` stores them.\n\n"
        f"{verdict_table(claims, verdicts)}",
        {},
        "verdicts",
    )


UNFINISHED = ("in part", "not run")
COVERAGE_EXPLAINED = (
    "*As printed* has the rows and axes of the paper's table or figure, *reduced* lacks those that "
    "are named, and in a *stand-in* other data or tasks take the place of the paper's. All of them "
    "are of the corpus and the model of the scale, never of the paper's: so none of them is its "
    "number."
)
UNKNOWN = "needs its corpus"


def missing_records(experiment: Experiment, evidence: Evidence) -> list[str]:
    """Return what an experiment of a paper lacks: settings without scores, measures."""
    absent = [
        str(setting)
        for setting in experiment.settings
        if not evidence.find("scores", setting, split=evidence.split)
    ]
    measures = [
        (kind, setting) for kind, settings in experiment.measures.items() for setting in settings
    ]
    return absent + [
        f"{kind} of {setting}" for kind, setting in measures if not evidence.find(kind, setting)
    ]


def experiment_status(experiment: Experiment, evidence: Evidence) -> str:
    """Return the status of an experiment.

    It is `Experiment.extent` if all was run, `needs no run`, `not at this scale`, one of
    `UNFINISHED`, or `UNKNOWN` if only the absent corpus could decide.
    """
    if not experiment.runs_at(evidence.scale):
        return "not at this scale"
    wanted = len(experiment.settings) + sum(map(len, experiment.measures.values()))
    if not wanted:
        return "needs no run"
    try:
        absent = missing_records(experiment, evidence)
    # Without the corpus the size of a part of it is unknown.
    except ReproError:
        return UNKNOWN if evidence.all("scores") else "not run"
    if not absent:
        return experiment.extent
    return "in part" if len(absent) < wanted else "not run"


def coverage_table(evidences: Iterable[Evidence]) -> str:
    """Return the status of every table and figure of every paper, by scale."""
    evidences = list(evidences)
    rows = []
    for paper in map(load_paper, PAPERS):
        for experiment in paper.experiments:
            rows.append(
                [
                    f"{paper.name}.{experiment.name}",
                    experiment.place,
                    *(experiment_status(experiment, e) for e in evidences),
                ]
            )
    return table(["experiment", "place", *(evidence.scale for evidence in evidences)], rows)


def _verdicts_section(scale: str, evidence: Evidence, folder: Path, papers: list[Paper]) -> str:
    """Return the report's section of verdicts on the papers' claims."""
    about = "five papers" if len(papers) == len(PAPERS) else ", ".join(p.name for p in papers)
    stored = load_verdicts(folder, scale)
    claims = [claim for paper in papers for claim in claims_of(paper.name)]
    verdicts = [verdict_on(claim, stored) for claim in claims]
    return "\n\n".join(
        part
        for part in (
            f"# What {about} claim, at {scale}",
            _how_to_read(scale),
            f"Of {len(claims)} claims: {counted(verdicts)}. "
            f"`repro claims {command_options(scale, folder)}` has stored these verdicts; run it "
            "again after new runs.",
            inexact_note(evidence),
            verdict_table(claims, verdicts),
        )
        if part
    )


def _how_to_read(scale: str) -> str:
    """Explain the numbers, words and signs of the report's tables."""
    config = SCALES[scale]
    data, model = config.data, config.model
    note = f"{SMOKE_NOTE}\n\n" if scale == "smoke" else ""
    return note + (
        f"Where nothing else is said, systems are trained on {data.corpus}, {data.source} to "
        f"{data.target}, with {model.encoder_layers} "
        f"encoder and {model.decoder_layers} decoder layers {model.embed_dim} wide, and scored on "
        "its test set; `repro variants` lists "
        f"their names. {STATUSES_EXPLAINED} A condition *holds* or *fails* if its whole interval "
        "keeps or breaks the bound, is *open* if "
        "the bound lies inside, and *void* if there is no such number. In brackets stand 95 % "
        "intervals, over test sentences and, where "
        "seeds are counted in, over training seeds; ± is the standard deviation over seeds. "
        "*Detectable* is the true difference from 0 "
        "that such an interval shows with a chance of 80 %."
    )


def inexact_note(evidence: Evidence) -> str:
    """Say in the report which runs deviate from their configuration, and why; or nothing."""
    runs = sorted(evidence.inexact().items())
    found = "; ".join(markdown.escape(f"{run} ({', '.join(notes)})") for run, notes in runs)
    return found and f"Not exact, and counted all the same: {found}."


def _costs(evidence: Evidence) -> str:
    """Return the report's table of training costs, with the machines."""
    rows: list[list[str]] = []
    machines: dict[str, int] = {}
    records = evidence.all("scores")
    for record, costs in zip(records, training_costs(records), strict=True):
        origin = record["provenance"]
        machine = f"{origin['device']}, {origin['processor']}"
        rows.append(
            [
                markdown.escape(record["run"]),
                str(record["seed"]),
                *costs,
                str(machines.setdefault(machine, len(machines) + 1)),
            ]
        )
    if not rows:
        return "No run."
    listed = "\n".join(
        f"- machine {number}: {markdown.escape(name)}" for name, number in machines.items()
    )
    costs_table = table(["run", "seed", *TRAINING_COSTS, "machine"], sorted(rows))
    return f"{costs_table}\n\n{listed}\n\n{costs_note(records)}"
