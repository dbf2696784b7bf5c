"""Ask for a guess, and show the paper's number and ours only when it is locked in."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repro.errors import InputError
from repro.page.page import widget_html
from repro.page.stored import drawn_rows
from repro.papers import PAPERS, load_paper
from repro.papers.effects import PaperEffect, Verdicts, effects_of, has_number
from repro.papers.report import shown_verdicts
from repro.plots import escape
from repro.widgets.frame import Frame

HEIGHT = 110  # pixels of a question that waits
STEPS = 200  # of a slider at most
STYLE = ("views.css", "tabs.css")


@dataclass(frozen=True)
class Question:
    """A number of a claim that a reader can guess.

    Args:
        claim: such as "Y-01".
        text: the question, which asks for the number as the claim counts it.
        between: the ends of the slider.
        condition: which of the claim's conditions, from 1.
        unit: of the number.
    """

    claim: str
    text: str
    between: tuple[float, float]
    condition: int = 1
    unit: str = "BLEU"


def predict(*questions: Question, results: str | Path = "../results") -> Frame:
    """Return sliders for guesses; each is judged by the stored verdicts once it is locked in.

    Guess, printed numbers and what was found on real text stand on one axis. It needs no kernel,
    and running all cells reveals nothing.

    Args:
        questions: one at least.
        results: the folder of stored results.

    Raises:
        InputError: no question; no such claim, or none with a number there; a slider that ends
            before it begins.
    """
    if not questions:
        raise InputError("predict", "there is no question", "give one, such as a Question")
    verdicts = shown_verdicts(Path(results))
    asked = [_asked(question, verdicts) for question in questions]
    title = "Your prediction: " + "; ".join(question.text for question in questions)
    page = widget_html(title, "front/prediction.js", STYLE, asked)
    return Frame(title, page, HEIGHT * len(asked), "".join(map(_in_words, asked)))


def _asked(question: Question, verdicts: Verdicts) -> dict[str, Any]:
    """Return a question as `front/prediction.js` takes it."""
    least, most = question.between
    if not least < most:
        what = f"the slider runs from {least:g} to {most:g}"
        raise InputError(f"the question of {question.claim}", what, "give the lower end first")
    effect = _effect_of(question, verdicts)
    rows = [
        row | {"score": row["score"] | {"outcome": "found"}, "likelihood": None}
        for row in drawn_rows(effect)
        if row["score"]
    ]
    of_paper = f"Claim {effect.claim.name}: {effect.claim.statement}."
    return {
        "question": question.text,
        "least": least,
        "most": most,
        "step": _step(most - least),
        "unit": question.unit,
        "number": effect.number,
        "printed": [printed.value for printed in effect.printed],
        "rows": rows,
        "note": f"{of_paper} The paper's models are larger, and read other text.",
    }


def _effect_of(question: Question, verdicts: Verdicts) -> PaperEffect:
    """Return the effect that a question is about."""
    where = f"the question of {question.claim}"
    effects = [e for e in _all_effects(verdicts) if e.claim.name == question.claim]
    if not 1 <= question.condition <= len(effects):
        what = f"there is no condition {question.condition} among its {len(effects)}"
        raise InputError(where, what, "give a claim of repro.papers, such as Y-01")
    effect = effects[question.condition - 1]
    if not has_number(effect):
        raise InputError(where, "no stored verdict has its number", "ask for another claim")
    return effect


def _all_effects(verdicts: Verdicts) -> Iterator[PaperEffect]:
    for paper in map(load_paper, PAPERS):
        yield from effects_of(paper, verdicts)


def _step(width: float) -> float:
    """Return a round step for a slider: 1, 2 or 5 times a power of ten."""
    power = 10.0**-6
    while True:
        for factor in (1, 2, 5):
            if width / (factor * power) <= STEPS:
                return round(factor * power, 6)
        power *= 10


def _in_words(asked: dict[str, Any]) -> str:
    """Return a question with its answer folded away, for places without scripts."""
    found = "; ".join(
        f"{row['label']} {row['score']['value']:.3g} "
        f"({row['score']['low']:.3g} to {row['score']['high']:.3g})"
        for row in asked["rows"]
    )
    printed = ", ".join(f"{value:g}" for value in asked["printed"]) or "none"
    answer = f"{asked['number']}, {asked['unit']}. Printed: {printed}. Found: {found}."
    summary = f"{asked['question']} (Guess, then open: the answer.)"
    return (
        f"<details><summary>{escape(summary)}</summary><p>{escape(answer)}</p>"
        f"<p>{escape(asked['note'])}</p></details>"
    )
