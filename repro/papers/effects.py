"""Set the effects that claims are about beside those that the papers print."""

from collections.abc import Mapping
from dataclasses import dataclass

from repro.claims.conditions import Claim, Condition, Judged
from repro.claims.endpoints import NATS_PER_BLEU
from repro.claims.verdict_fields import StoredVerdict
from repro.markdown import table
from repro.papers import Paper
from repro.papers.printed_effects import PrintedEffect, number_in_words, printed_effects
from repro.papers.verdicts import verdict_on

Verdicts = Mapping[str, dict[str, StoredVerdict]]
"""Scale -> verdicts by claim, as of `load_verdicts` and `judge`."""


@dataclass(frozen=True)
class PaperEffect:
    """The number of one condition of a claim.

    Args:
        claim, condition: whose number it is.
        printed: what the paper prints of it.
        found: scale -> the outcome there with its number. Scales that judged another condition,
            before the claim was changed, are left out.
    """

    claim: Claim
    condition: Condition
    printed: tuple[PrintedEffect, ...]
    found: dict[str, Judged]

    @property
    def number(self) -> str:
        """What the number of the paper's claim is, in words."""
        return number_in_words(self.condition)

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """The bounds within which the paper's claim holds; None where it has none."""
        return getattr(self.condition, "at_least", None), getattr(self.condition, "at_most", None)

    @property
    def is_of_bleu(self) -> bool:
        """Whether the paper's claim is on BLEU, and not on BLEU per word or by group."""
        numbers = [judged.found for judged in self.found.values() if judged.found]
        return "BLEU" in self.condition.describe() and all(
            number.unit == "BLEU" for number in numbers
        )


def effects_of(paper: Paper, verdicts: Verdicts) -> list[PaperEffect]:
    """Return the effects of a paper's claims, in their order, one per condition."""
    effects = []
    for claim in paper.claims:
        judged = {scale: verdict_on(claim, stored) for scale, stored in verdicts.items()}
        for condition in claim.conditions:
            found = {
                scale: of
                for scale, verdict in judged.items()
                for of in verdict.conditions
                if of.condition == condition.describe()
            }
            printed = printed_effects(paper.name, condition)
            effects.append(PaperEffect(claim, condition, printed, found))
    return effects


def has_numbers(paper: Paper, verdicts: Verdicts) -> bool:
    """Whether any claim of a paper has a number in the verdicts."""
    return any(map(has_number, effects_of(paper, verdicts)))


def has_number(effect: PaperEffect) -> bool:
    """Whether the effect that a paper claims was measured at any scale."""
    return any(judged.found for judged in effect.found.values())


def effects_table(paper: Paper, verdicts: Verdicts) -> str:
    """Return a table of effects: the claim's number, its bounds, the paper's and ours by scale."""
    rows = [
        [
            effect.claim.name,
            effect.condition.describe(),
            _range_of(effect.printed),
            *(_cell(effect.found.get(scale)) for scale in verdicts),
        ]
        for effect in effects_of(paper, verdicts)
    ]
    return table(["claim", "holds if", "printed", *verdicts], rows)


def _range_of(printed: tuple[PrintedEffect, ...]) -> str:
    """Return the numbers that a paper prints for an effect, as a range, and their places."""
    if not printed:
        return "-"
    values = [effect.value for effect in printed]
    least, largest = (f"{value:.6g}" for value in (min(values), max(values)))
    places = ", ".join(dict.fromkeys(effect.source.partition(",")[0] for effect in printed))
    several = f"{len(values)} numbers from {least} to {largest}"
    return f"{least} ({places})" if len(values) == 1 else f"{several} ({places})"


def _cell(judged: Judged | None) -> str:
    """Return our number for a paper's claim, and its outcome, as a table cell."""
    if judged is None:
        return "not run"
    number = f"{judged.found.measured() if judged.found else judged.reason}: {judged.outcome}"
    beside = judged.likelihood
    if beside is None or beside.found is None:
        return number
    bleu = beside.found.value / NATS_PER_BLEU
    return f"{number}; by likelihood {bleu:+.2f} BLEU: {beside.outcome}"
