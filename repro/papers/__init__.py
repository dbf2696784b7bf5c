"""The five papers: printed numbers, every experiment behind them, and every claim with its test.

An experiment belongs to one numbered table or figure. It names what must be trained and measured,
and renders the results beside the printed numbers. A paper is a package here and a line in
`PAPERS`.

    papers      PAPERS, load_paper, find_experiments, Paper, Experiment, Deviation, zeng2021,
                printed_numbers
    evidence    Setting, Evidence, NotMeasured, PRUNED, REFERENCE_WORDS, equal_parts
    claims      Claim, Check, better, not_worse, decide, STATUSES, claims_of, of_scores
    verdicts    judge, load_verdicts, update_verdicts, count_verdicts, as_verdict,
                scales_with_verdicts, further_test_sets
    effects     forest, FOREST_EXPLAINED, effects_table
    show        experiment_section, score_table, Row, status_line, gap_figure, gap_curve_figure,
                head_figures, layer_cost, apart, apart_table, disagreement
"""

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from repro.claims.conditions import Claim
from repro.claims.evidence import Evidence
from repro.claims.settings import Setting
from repro.errors import InputError, did_you_mean
from repro.lazy import attach

if TYPE_CHECKING:
    from repro.claims.bins import equal_parts
    from repro.claims.conditions import STATUSES, Check, better, decide, not_worse
    from repro.claims.evidence import NotMeasured
    from repro.papers import zeng2021
    from repro.papers.effects import effects_table
    from repro.papers.endpoints import apart, apart_table, disagreement
    from repro.papers.figures import gap_curve_figure, gap_figure, head_figures, layer_cost
    from repro.papers.forest_plot import FOREST_EXPLAINED, forest
    from repro.papers.printed import printed_numbers
    from repro.papers.pruned import PRUNED
    from repro.papers.report import experiment_section
    from repro.papers.tables import Row, score_table, status_line
    from repro.papers.verdicts import (
        as_verdict,
        claims_of,
        count_verdicts,
        further_test_sets,
        judge,
        load_verdicts,
        of_scores,
        scales_with_verdicts,
        update_verdicts,
    )
    from repro.records.sentences import REFERENCE_WORDS

__getattr__, __dir__, __all__ = attach(__name__, __file__)
__all__ += [
    "PAPERS",
    "Claim",
    "Deviation",
    "Evidence",
    "Experiment",
    "Paper",
    "Setting",
    "find_experiments",
    "load_paper",
]

PAPERS = ("raganato2020", "you2020", "voita2019", "zeng2021", "cui2019")


@dataclass(frozen=True)
class Experiment:
    """One table or figure of a paper.

    Args:
        name: such as `table2`, unique in its paper.
        place: such as `Table 2`.
        title: the comparison, in one line.
        settings: the settings that are trained and scored.
        render: evidence -> Markdown, printed numbers beside ours; raises `NotMeasured` while
            something is missing.
        measures: kind of record -> the settings that need one.
        figures: evidence -> figures by title.
        said: places in the paper's text whose numbers belong here, such as `text §5`.
        scales: where it can run; None = everywhere.
        elsewhere: why it cannot run at other scales.
        reduced: what of the printed rows or axes is missing here; empty = nothing.
        stand_in: what stands in for the paper's task or data, beyond the corpus of the scale.
    """

    name: str
    place: str
    title: str
    settings: tuple[Setting, ...]
    render: Callable[[Evidence], str]
    measures: Mapping[str, tuple[Setting, ...]] = field(default_factory=dict)
    figures: Callable[[Evidence], dict[str, Any]] | None = None
    said: tuple[str, ...] = ()
    scales: Container[str] | None = None
    elsewhere: str = ""
    reduced: str = ""
    stand_in: str = ""

    @property
    def extent(self) -> str:
        """How much of the printed table or figure there is when all has been run.

        It is `as printed`, `reduced` or `stand-in`, and what is missing.
        """
        if self.stand_in:
            return f"stand-in: {self.stand_in}"
        return f"reduced: {self.reduced}" if self.reduced else "as printed"

    def runs_at(self, scale: str) -> bool:
        """Whether it can run at a scale."""
        return self.scales is None or scale in self.scales


@dataclass(frozen=True)
class Deviation:
    """A point in which we deviate from the paper."""

    topic: str
    paper: str
    here: str


def common_deviations(shape: str, training: str, search: str, score: str) -> tuple[Deviation, ...]:
    """Return the deviations that all papers share: shape, training, search and score.

    Each of these moves BLEU as much as some of the claimed effects, but for all compared systems at
    once.

    Args:
        shape, training, search, score: what one paper says, or its code does.
    """
    return (
        Deviation(
            "shape",
            shape,
            "layers, heads and widths of the scale; no biases in the projections of attention; "
            "embeddings of source, target and output are "
            "one matrix",
        ),
        Deviation(
            "training",
            training,
            "learning rate, schedule, label smoothing and number of checkpoints to average of the "
            "scale; dropout of embeddings and of "
            "what sublayers return, nowhere else",
        ),
        Deviation("beam and length penalty", search, "5, divided by the length"),
        Deviation(
            "score",
            score,
            "cased BLEU of SacreBLEU with its signature, and tokenised lower-cased BLEU beside it",
        ),
    )


@dataclass(frozen=True)
class Paper:
    """A paper.

    Args:
        name: such as `you2020`.
        title: authors, title, venue, year.
        url: where to read it.
        experiments, claims, deviations: in the order of the paper.
    """

    name: str
    title: str
    url: str
    experiments: tuple[Experiment, ...]
    claims: tuple[Claim, ...]
    deviations: tuple[Deviation, ...]


def load_paper(name: str) -> Paper:
    """Return a paper by name.

    Raises:
        InputError: an unknown name.
    """
    if name not in PAPERS:
        raise InputError("paper", f"unknown paper '{name}'", did_you_mean(name, PAPERS))
    return import_module(f"repro.papers.{name}").PAPER


def find_experiments(name: str) -> list[tuple[Paper, Experiment]]:
    """Return the experiments named by `all`, a paper, or `paper.experiment`.

    Raises:
        InputError: an unknown name.
    """
    if name == "all":
        return [
            (paper, experiment)
            for paper in map(load_paper, PAPERS)
            for experiment in paper.experiments
        ]
    paper_name, _, experiment_name = name.partition(".")
    paper = load_paper(paper_name)
    found = [
        (paper, experiment)
        for experiment in paper.experiments
        if experiment_name in ("", experiment.name)
    ]
    if not found:
        names = [experiment.name for experiment in paper.experiments]
        raise InputError(
            name,
            f"{paper_name} has no experiment '{experiment_name}'",
            did_you_mean(experiment_name, names),
        )
    return found
