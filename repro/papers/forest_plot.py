"""Draw the effects of a paper's claims beside the printed ones, as one forest plot."""

from collections.abc import Collection, Iterable

from plotly.graph_objects import Figure

from repro import plots
from repro.claims.conditions import Judged
from repro.claims.endpoints import NATS_PER_BLEU
from repro.papers import Paper
from repro.papers.effects import PaperEffect, Verdicts, effects_of, has_number
from repro.papers.headlines import headline
from repro.plots.forest_rows import Effect, EffectRow, Reading
from repro.statistics.intervals import Estimate

SMALL = 4.5  # BLEU: one larger number would press the others together
SMALL_BLEU, LARGE_BLEU = "difference in BLEU", "difference in BLEU: the larger ones"
OTHERS = "← fails · bound · holds →     (a scale for each)"
# Outcome of a condition -> how it is drawn; any other is undecided.
OUTCOMES_DRAWN = {"holds": "holds", "fails": "fails", "not testable": "not testable here"}
FOREST_EXPLAINED = (
    "A row is what one corpus gives for the number of a claim, with its 95 % interval and the "
    "number at the right. A bracket is the bound of the claim, open to the side where it holds. "
    "Color and symbol tell the outcome. Diamonds are printed in the paper, for its own corpora "
    "and much larger models. Triangles are the same effect by the likelihood of references, at "
    f"{NATS_PER_BLEU:g} nats per token for a point of BLEU. Numbers other than BLEU have a "
    "scale each: their bound is in the middle, and right of it the claim holds."
)


def forest(paper: Paper, verdicts: Verdicts, claims: Collection[str] | None = None) -> Figure:
    """Draw the effects of a paper's claims, a row for each scale, beside the printed ones.

    Args:
        paper: with the claims and printed numbers.
        verdicts: scale -> verdicts by claim, as of `load_verdicts` or `judge`.
        claims: names of those to draw; None = all. The title counts all claims of the paper, so
            that nobody takes a choice for the whole.

    Raises:
        InputError: no such claim of the paper has a number there.
    """
    effects = _with_numbers(paper, verdicts, claims)
    title = headline(paper, verdicts, claims)
    scales = [scale for scale in verdicts if any(scale in effect.found for effect in effects)]
    words = (
        f"Forest plot: {title} It has {len(effects)} effects of the claims of {paper.name}, a row "
        f"for each of {', '.join(scales)}. The table of effects holds the same numbers."
    )
    return plots.forest(title, effects_by_axis(paper, verdicts, claims), OTHERS, words)


def effects_by_axis(
    paper: Paper, verdicts: Verdicts, claims: Collection[str] | None = None
) -> dict[str, list[Effect]]:
    """Return what `forest` draws of a paper, by the titles of the axes."""
    groups: dict[str, list[PaperEffect]] = {SMALL_BLEU: [], LARGE_BLEU: [], OTHERS: []}
    for effect in _with_numbers(paper, verdicts, claims):
        groups[_group(effect)].append(effect)
    return {axis: list(_drawn(of_group)) for axis, of_group in groups.items()}


def _with_numbers(
    paper: Paper, verdicts: Verdicts, claims: Collection[str] | None
) -> list[PaperEffect]:
    return [
        effect
        for effect in effects_of(paper, verdicts)
        if has_number(effect) and (claims is None or effect.claim.name in claims)
    ]


def _group(effect: PaperEffect) -> str:
    """Return the panel of a paper's effect in the forest plot, by unit and size."""
    if not effect.is_of_bleu:
        return OTHERS
    largest = max(map(abs, as_drawn(effect).numbers()))
    return SMALL_BLEU if largest <= SMALL else LARGE_BLEU


def _drawn(effects: Iterable[PaperEffect]) -> Iterable[Effect]:
    """Yield the effects of a paper as the forest plot shows them, each claim named once."""
    last = ""
    for effect in effects:
        name = effect.claim.name
        yield as_drawn(effect, "" if name == last else f"{name} {effect.claim.statement}")
        last = name


def as_drawn(effect: PaperEffect, heading: str = "") -> Effect:
    """Return an effect that a paper claims as the forest plot shows it."""
    return Effect(
        heading,
        effect.condition.describe().replace(">=", "≥").replace("<=", "≤"),
        [_row(scale, judged) for scale, judged in effect.found.items()],
        *effect.bounds,
        [printed.value for printed in effect.printed],
    )


def _row(scale: str, judged: Judged) -> EffectRow:
    """Return the line of a scale in the forest plot of a paper's claim."""
    if judged.found is None:
        return EffectRow(scale, None, "none")
    likelihood = judged.likelihood
    drawn = _reading(likelihood, NATS_PER_BLEU) if likelihood and likelihood.found else None
    return EffectRow(scale, _reading(judged), _number(judged.found), drawn)


def _reading(judged: Judged, unit: float = 1.0) -> Reading:
    """Return the number of a paper's claim for the forest plot, in another unit."""
    assert judged.found is not None
    value, low, high = (number / unit for number in (judged.found.value, *judged.found.ends))
    return Reading(value, low, high, OUTCOMES_DRAWN.get(judged.outcome, "undecided"))


def _number(found: Estimate) -> str:
    """Write the number of a paper's claim beside its line in the forest plot."""
    if found.unit:
        return f"{found.value:+.2f}"
    return f"{found.value:,}" if isinstance(found.value, int) else f"{found.value:.3g}"
