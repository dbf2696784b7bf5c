"""Compute what a paper prints about the number that a condition of a claim tests.

Signs and units are those of the condition. Every effect is computed from printed cells
(`printed.py`); no number is written here. Two kinds of conditions have one:

- a `Contrast`, if a table of the paper prints BLEU of all its systems (`GRIDS`);
- a condition whose number the paper states otherwise (`STATED`), by the number in words.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import NamedTuple

from repro.claims.conditions import Condition, Contrast
from repro.claims.settings import Setting
from repro.papers.cui2019 import experiments as cui2019
from repro.papers.printed import Printed, printed_numbers
from repro.papers.you2020 import experiments as you2020
from repro.papers.zeng2021 import experiments as zeng2021

DECIMALS = 2  # of the sums: no paper prints more of BLEU


@dataclass(frozen=True)
class PrintedEffect:
    """A printed effect.

    Args:
        value: in the units of the condition.
        source: table, figure or section, and what was compared there.
    """

    value: float
    source: str


class Grid(NamedTuple):
    """A printed table of BLEU whose rows or columns are systems of ours.

    Args:
        place: the table.
        names: our setting -> its name there.
        by: the coordinate that names the systems, `row` or `column`.
    """

    place: str
    names: Mapping[Setting, str]
    by: str = "row"


def _own_names(settings: Iterable[Setting]) -> dict[Setting, str]:
    """Return the names of settings in the papers' tables, where these are ours."""
    return {setting: setting.system for setting in settings}


_WITHOUT_POSITIONS = cui2019.COMPARED | {
    without: f"{cui2019.COMPARED[setting]} without encoder position embedding"
    for setting, without in {
        cui2019.BASE: cui2019.NO_PE,
        cui2019.MMA: cui2019.MMA_NO_PE,
    }.items()
}

GRIDS: dict[str, tuple[Grid, ...]] = {
    "you2020": (
        Grid("Table 2", _own_names(you2020.MAIN), "column"),
        Grid("Table 3", _own_names(you2020.FAST)),
        Grid("Table 7", _own_names(you2020.FAST)),
        Grid("Table 5", you2020.KERNELS, "column"),
        Grid("Table 6", you2020.OFFSETS),
    ),
    "zeng2021": (Grid("Table 1", zeng2021.COLUMNS, "column"),),
    "cui2019": (
        Grid("Table 1", cui2019.COMPARED),
        Grid("Table 3", _WITHOUT_POSITIONS),
        Grid("Table 4", {cui2019.BASE: "Transformer", **cui2019.TYPES, cui2019.MMA: "+ MMA"}),
        Grid("Table 5", {cui2019.BASE: "Transformer", **cui2019.WINDOWS}),
    ),
}


def printed_effects(paper: str, condition: Condition) -> tuple[PrintedEffect, ...]:
    """Return what a paper prints about the number of a condition; empty if nothing is known."""
    if stated := STATED.get((paper, number_in_words(condition))):
        return tuple(stated())
    if isinstance(condition, Contrast):
        return tuple(_of_grids(paper, condition.terms))
    return ()


def number_in_words(condition: Condition) -> str:
    """Say what the number is that a paper's condition bounds."""
    return re.split(" (?:>=|<=|>) ", condition.describe())[0]


def _of_grids(paper: str, terms: Sequence[tuple[float, Setting]]) -> Iterator[PrintedEffect]:
    """Yield a weighted sum of scores that a paper prints, for each data set.

    Several of its tables may print the same one.
    """
    known = set()
    for grid in GRIDS.get(paper, ()):
        if any(setting not in grid.names for _, setting in terms):
            continue
        found = _sums(grid, [_scores(paper, grid, setting) for _, setting in terms], terms)
        new = [(dataset, effect) for dataset, effect in found if dataset not in known]
        known |= {dataset for dataset, _ in new}
        yield from (effect for _, effect in new)


def _sums(
    grid: Grid, scores: Sequence[dict[str, Printed]], terms: Sequence[tuple[float, Setting]]
) -> Iterator[tuple[str, PrintedEffect]]:
    """Yield a weighted sum of the scores printed in one table of a paper, by data set."""
    for dataset, first in scores[0].items():
        if all(dataset in of_system for of_system in scores) and "tasks" not in dataset:
            cells = [of_system[dataset] for of_system in scores]
            weighted = zip(terms, cells, strict=True)
            value = sum(weight * cell.number for (weight, _), cell in weighted)
            where = f"{grid.place}, {first.dataset}"
            yield dataset, PrintedEffect(round(value, DECIMALS), where)


def _scores(paper: str, grid: Grid, setting: Setting) -> dict[str, Printed]:
    """Return the printed BLEU of a system by data set; SacreBLEU, as ours, where there is one."""
    cells = printed_numbers(paper, grid.place, **{grid.by: grid.names[setting]})
    scores = [cell for cell in cells if "BLEU" in cell.metric and "difference" not in cell.metric]
    scores = [cell for cell in scores if "SacreBLEU" in cell.metric] or scores
    return {cell.dataset: cell for cell in scores}


def _differences(paper: str, place: str, sign: int = 1, **cell: str) -> Iterator[PrintedEffect]:
    """Yield differences between numbers that a paper prints, or their negatives."""
    for found in printed_numbers(paper, place, **cell):
        yield PrintedEffect(sign * found.number, f"{place}, {found.dataset}")


def _column_differences(
    paper: str, place: str, plus: str, minus: str, rows: str = ""
) -> Iterator[PrintedEffect]:
    """Yield one column of a paper's printed table minus another, for some rows."""
    cells = {(cell.row, cell.dataset, cell.column): cell for cell in printed_numbers(paper, place)}
    for (row, dataset, column), cell in cells.items():
        other = cells.get((row, dataset, minus))
        if column == plus and other and row.startswith(rows):
            value = round(cell.number - other.number, DECIMALS)
            yield PrintedEffect(value, f"{place}, {dataset}, {row}")


def _ratios(column: str, system: str) -> Iterator[PrintedEffect]:
    """Yield a cost over that of base, as You et al. 2020 print it in Tables 3 and 7."""
    for place in ("Table 3", "Table 7"):
        (ours,) = printed_numbers("you2020", place, row=system, column=column)
        (other,) = printed_numbers("you2020", place, row="base", column=column)
        ratio = round(ours.number / other.number, DECIMALS)
        yield PrintedEffect(ratio, f"{place}, {ours.dataset}")


def _speed_gains(paper: str, places: Sequence[str]) -> Iterator[PrintedEffect]:
    """Yield ratios of speeds from the gains that a paper prints in percent."""
    for place in places:
        for cell in printed_numbers(paper, place):
            yield PrintedEffect(round(1 + cell.number / 100, DECIMALS + 1), f"{place}, {cell.row}")


def _cost_of_no_feed_forward() -> Iterator[PrintedEffect]:
    """Yield how much more hc-sa loses without feed-forward layers than base (You, Figure 3)."""
    cells = {cell.row: cell for cell in printed_numbers("you2020", "Figure 3 / text")}
    hard, base = (
        cells[f"{name} minus {name}/-ff at 4 layers"].number for name in ("hc-sa", "base")
    )
    yield PrintedEffect(round(hard - base, DECIMALS), "Figure 3 and its text, WMT16 En-Ro")


def _gain_by_size() -> Iterator[PrintedEffect]:
    """Yield how much larger the gain of RAN-D is on Tr-En than on De-En (Zeng, Table 1)."""
    terms = ((1.0, zeng2021.RAN_D), (-1.0, zeng2021.BASE))
    gains = {effect.source: effect.value for effect in _of_grids("zeng2021", terms)}
    small, large = gains["Table 1, WMT17 Tr-En"], gains["Table 1, WMT14 De-En"]
    yield PrintedEffect(round(small - large, DECIMALS), "Table 1, WMT17 Tr-En minus WMT14 De-En")


def _kept_heads(share: float, number: Callable[[int, int, int], int]) -> Iterator[PrintedEffect]:
    """Yield a number of the pruned shape that Voita et al. print nearest to a share."""
    cells = printed_numbers("voita2019", "Table 2")
    for dataset, rows in groupby(cells, lambda cell: cell.dataset):
        shapes = [_heads(row) for row in rows]
        most = max(map(sum, shapes))
        nearest = min(shapes, key=lambda shape: abs(sum(shape) - share * most))
        said = "/".join(map(str, nearest))
        yield PrintedEffect(number(*nearest), f"Table 2, {dataset}, heads {said}")


def _loss_at_half() -> Iterator[PrintedEffect]:
    """Yield what Voita et al. print as lost with fewer than half of the heads."""
    cells = printed_numbers("voita2019", "Table 2")
    for dataset, rows in groupby(cells, lambda cell: cell.dataset):
        whole, *others = rows
        pruned = [cell for cell in others if cell.column == "pruned from trained"]
        few = [cell for cell in pruned if sum(_heads(cell)) < sum(_heads(whole)) / 2]
        largest = max(few, key=lambda cell: sum(_heads(cell)))
        change = round(largest.number - whole.number, DECIMALS)
        yield PrintedEffect(change, f"Table 2, {dataset}, {largest.row}")


def _heads(cell: Printed) -> list[int]:
    """Return the heads of encoder, decoder and cross attention in a row of Voita's Table 2."""
    return [int(heads) for heads in cell.row.rpartition(" ")[2].split("/")]


_LOSS, _FIGURE_3 = "text §6.2.1 / Figure 7", ("Figure 3 left", "Figure 3 right")
_POSITIONAL = "positional heads, average maximum weight (every such head exceeds)"
_INSERTED = "polarity-particle-kein-ins"
_ABOVE_BASELINE = partial(
    _column_differences, "voita2019", "Table 1", "best head", "positional baseline"
)

STATED: dict[tuple[str, str], Callable[[], Iterable[PrintedEffect]]] = {
    ("you2020", "hc-sa - hc-sa/-ff - base + base/-ff"): _cost_of_no_feed_forward,
    ("you2020", "speed of sh-x / base, median of rounds"): partial(_ratios, "sent/sec", "sh-x"),
    ("you2020", "speed of hc-sa / base, median of rounds"): partial(_ratios, "sent/sec", "hc-sa"),
    ("you2020", "tokens of hc-sa / those of base in the same memory"): partial(
        _ratios, "tokens/batch", "hc-sa"
    ),
    ("you2020", "tokens of sh-x / those of base in the same memory"): partial(
        _ratios, "tokens/batch", "sh-x"
    ),
    ("you2020", "accuracy of hc-sa minus base on inserted negations, points"): partial(
        _column_differences, "you2020", "Table 4", "hc-sa", "base", _INSERTED
    ),
    ("you2020", "accuracy of hc-all minus base on inserted negations, points"): partial(
        _column_differences, "you2020", "Table 4", "hc-all", "base", _INSERTED
    ),
    ("raganato2020", "7Ftoken+1L (25% of the data) - 8L (25% of the data)"): partial(
        _differences, "raganato2020", "abstract / Table 2"
    ),
    (
        "voita2019",
        "BLEU after pruning to at most a quarter of the encoder's heads, minus all heads "
        "trained on as long",
    ): partial(_differences, "voita2019", _LOSS, -1, row="10 of 48 encoder heads kept"),
    (
        "voita2019",
        "BLEU after pruning to at most a tenth, minus all heads trained on as long",
    ): partial(_differences, "voita2019", _LOSS, -1, row="4 of 48 encoder heads kept"),
    (
        "voita2019",
        "BLEU of the model pruned to nearest a quarter of all heads and trained on, minus its "
        "shape from scratch with as many updates",
    ): partial(
        _column_differences, "voita2019", "Table 2", "pruned from trained", "trained from scratch"
    ),
    (
        "voita2019",
        "BLEU after pruning more than half of the heads of all sites, minus all heads trained on "
        "as long",
    ): _loss_at_half,
    (
        "voita2019",
        "BLEU of models pruned at a penalty of 0.03 minus models gated from scratch",
    ): partial(_differences, "voita2019", "text §6.1 note"),
    (
        "voita2019",
        "at half of all heads: fewer of decoder and cross minus encoder, heads kept",
    ): partial(_kept_heads, 1 / 2, lambda encoder, *others: min(others) - encoder),
    ("voita2019", "at a quarter of all heads: cross minus decoder, heads kept"): partial(
        _kept_heads, 1 / 4, lambda encoder, decoder, cross: cross - decoder
    ),
    ("voita2019", "lowest confidence of such a head"): partial(
        _differences, "voita2019", "text §5.1", row=_POSITIONAL
    ),
    ("voita2019", "best head minus baseline for nsubj, points"): partial(
        _ABOVE_BASELINE, rows="nsubj"
    ),
    ("voita2019", "best head minus baseline for dobj, points"): partial(
        _ABOVE_BASELINE, rows="dobj"
    ),
    (
        "zeng2021",
        "ran-d (25% of the data) - base (25% of the data) - ran-d + base",
    ): _gain_by_size,
    ("zeng2021", "base - base/-pe"): partial(_differences, "zeng2021", "Table 2 / text"),
    ("zeng2021", "ran-all-frozen - ran-all"): partial(_differences, "zeng2021", "Table 3 / text"),
    ("zeng2021", "speed of RAN-ALL / base, median of rounds"): partial(
        _speed_gains, "zeng2021", _FIGURE_3
    ),
    ("cui2019", "parameters of mma minus those of base"): partial(
        _differences, "cui2019", "Table 1", row="Transformer MMA", column="#Params increase"
    ),
}
