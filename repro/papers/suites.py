"""Render accuracies on contrastive suites, and compute the numbers that claims need from them."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import mean
from typing import Any

from repro.claims.evidence import Evidence, NotMeasured
from repro.claims.settings import Setting
from repro.contrastive.published import FILES, suite_name
from repro.contrastive.scoring import Accuracy, Group, accuracies, chance_accuracies, decisions
from repro.core.config import RunConfig
from repro.data.catalogue import CORPORA
from repro.markdown import table
from repro.measures.contrastive import accuracy_by_reference_table, contrastive_results
from repro.papers.printed import printed_numbers
from repro.scales import Scales
from repro.statistics.intervals import Estimate, over_seeds, paired_difference

# Raganato et al. 2020 report these parts (Table 6), except the training corpus.
REPORTED = {"mucow": ("ted", "tatoeba")}


def has_german_pairs(scale: RunConfig) -> bool:
    """Whether there are contrastive pairs of a scale: English and German, known with capitals."""
    data = scale.data
    record = CORPORA.get(data.corpus)
    return {data.source, data.target} == {"en", "de"} and not (
        record and record.prepare and not record.cased
    )


SCALES_WITH_SUITES = Scales(
    ("smoke", "multi30k", "multi30k-long", "tatoeba", "iwslt16"), has_german_pairs
)
ELSEWHERE = "contrastive pairs are of English and German text"


def accuracy_difference(
    evidence: Evidence,
    error: str,
    setting: Setting,
    minus: Setting,
    masked: str | None = None,
    reference: str | None = None,
) -> Estimate:
    """Return a paper's number: accuracy of two settings on an error type, subtracted.

    It is in percentage points.

    Args:
        evidence, error: the records and the type of error.
        setting, minus: the two settings.
        masked: number of the head of the second that is masked in all encoder layers.
        reference: `human` or `machine`, for the published pairs on such references.

    Raises:
        NotMeasured: there are no such pairs, or the two were scored on different ones.
    """
    data, differences, shares = setting.config(evidence.scale).data, [], []
    kind = "published_pairs" if reference else "contrastive"
    for seed in evidence.shared_seeds([kind], (setting, minus)):
        first, second = (
            (
                _published_result(evidence, setting, reference, seed),
                _published_result(evidence, minus, reference, seed),
            )
            if reference
            else (
                result_of(evidence, setting, None, seed),
                result_of(evidence, minus, masked, seed),
            )
        )
        if first["suite"]["sha256"] != second["suite"]["sha256"]:
            raise NotMeasured(
                f"contrastive pairs of {setting} and {minus}",
                "they were scored on two suites",
                "repro run scores both on one",
            )
        right, other = (decisions_on(error, result) for result in (first, second))
        if not right:
            raise without_pairs(error, first, setting)
        differences.append(
            paired_difference(right, other, f"{len(right):,} pairs, {data.source}-{data.target}")
        )
        shares.append(sum(right) / len(right))
    found = over_seeds(differences)
    return replace(
        found,
        shares=(
            ("right", 100 * mean(shares)),
            ("by chance", 100 * chance_accuracies(first)[error]),
        ),
    )


def setting_with_pairs(evidence: Evidence, error: str, setting: Setting) -> Setting:
    """Return a paper's setting in a direction that has pairs of an error type.

    Raises:
        NotMeasured: neither direction has any, or they were not measured.
    """
    for found in (setting, replace(setting, reverse=not setting.reverse)):
        if error in _accuracies(evidence, found):
            return found
    raise without_pairs(error, result_of(evidence, setting, None), setting)


def accuracies_by_distance(
    evidence: Evidence, error: str, setting: Setting, masked: str | None = None
) -> dict[str, Accuracy]:
    """Return the accuracies of a paper's figure: on an error type by distance in words.

    Raises:
        NotMeasured: the suite has no such errors, or does not know their distance.
    """
    found = _accuracies(evidence, setting, masked, "distance", error)
    if not found:
        raise without_pairs(f"{error} with distances", result_of(evidence, setting, None), setting)
    return found


def accuracy_by_type_table(
    evidence: Evidence,
    paper: str,
    place: str,
    settings: Sequence[Setting],
    masked: str | None = None,
    only: str | None = None,
) -> str:
    """Return accuracies by error type: printed, by chance, and ours with 95 % intervals.

    Args:
        evidence, paper, place, settings: the records, the printed table and the settings.
        masked: also with this head masked.
        only: a single error type.
    """
    settings = evidence.having("contrastive", settings)
    columns = {
        name_with_seeds(evidence, setting): _accuracies(evidence, setting) for setting in settings
    }
    if masked:
        columns |= {
            name_with_seeds(evidence, setting, masked): _accuracies(evidence, setting, masked)
            for setting in settings
            if _has(evidence, setting, masked)
        }
    by_chance = chance_accuracies(result_of(evidence, settings[0], None))
    cells = {
        (cell.row.replace("-", "_"), cell.column): cell.as_printed
        for cell in printed_numbers(paper, place)
    }
    theirs = list(dict.fromkeys(column for _, column in cells))
    first, rows = next(iter(columns.values())), []
    for error in (
        [only]
        if only
        else [*first, *(dict.fromkeys(error for error, _ in cells if error not in first))]
    ):
        values = [found[error].cell() if error in found else "-" for found in columns.values()]
        ours = (
            [str(first[error].total), f"{100 * by_chance[error]:.1f}"]
            if error in first
            else ["0", ""]
        )
        rows.append(
            [error, *(cells.get((error, column), "-") for column in theirs), *ours, *values]
        )
    return table(
        ["type", *(f"printed: {column}" for column in theirs), "pairs", "by chance", *columns], rows
    )


def accuracy_by_distance_table(
    evidence: Evidence, error: str, settings: Sequence[Setting], masked: str | None = None
) -> str:
    """Return a paper's table of the accuracy on an error type by distance."""
    columns = distances_by_system(evidence, error, settings, masked)
    bins = list(next(iter(columns.values())))
    rows = []
    for name in bins:
        found = [column[name] for column in columns.values()]
        rows.append([name, str(found[0].total), *map(Accuracy.cell, found)])
    return table(["distance, words", "pairs", *columns], rows)


def distances_by_system(
    evidence: Evidence, error: str, settings: Sequence[Setting], masked: str | None = None
) -> dict[str, dict[str, Accuracy]]:
    """Return the lines of a paper's figure of accuracy by distance, a setting each.

    Keys are from `name_with_seeds`.

    Raises:
        NotMeasured: no setting was measured, or the suite has no such errors or distances.
    """
    settings = evidence.having("contrastive", settings)
    found = {
        name_with_seeds(evidence, setting): accuracies_by_distance(evidence, error, setting)
        for setting in settings
    }
    with_mask = [setting for setting in settings if masked and _has(evidence, setting, masked)]
    return found | {
        name_with_seeds(evidence, setting, masked): accuracies_by_distance(
            evidence, error, setting, masked
        )
        for setting in with_mask
    }


def published_pairs_table(evidence: Evidence, settings: Sequence[Setting]) -> str:
    """Return a paper's table of settings on the published contrastive pairs.

    Raises:
        NotMeasured: no setting was scored on them.
    """
    settings = evidence.having("published_pairs", settings)
    return accuracy_by_reference_table(
        {
            str(setting): [
                _over_seeds(
                    [
                        accuracies(_published_result(evidence, setting, reference, seed))
                        for seed in evidence.shared_seeds(["published_pairs"], (setting,))
                    ]
                )
                for reference in FILES
            ]
            for setting in settings
        }
    )


def _published_result(
    evidence: Evidence, setting: Setting, reference: str, seed: int
) -> dict[str, Any]:
    """Return a setting's result for the paper's table of published pairs."""
    results = contrastive_results(evidence.one("published_pairs", setting, seed))
    return next(one for one in results if one["suite"]["name"] == suite_name(reference))


def name_with_seeds(evidence: Evidence, setting: Setting, masked: str | None = None) -> str:
    """Name a setting in a paper's table of contrastive pairs, with masked head and seeds."""
    name, count = (
        f"{setting}, head {masked} masked" if masked else str(setting),
        len(_results(evidence, setting, masked)),
    )
    return f"{name}, {count} seeds" if count > 1 else name


def _results(
    evidence: Evidence, setting: Setting, masked: str | None = None
) -> list[dict[str, Any]]:
    """Return what a paper's table needs of a setting: results on the same pairs, by seed."""
    found = [
        result_of(evidence, setting, masked, seed)
        for seed in evidence.shared_seeds(["contrastive"], (setting,))
    ]
    return [result for result in found if result["suite"]["sha256"] == found[0]["suite"]["sha256"]]


def result_of(
    evidence: Evidence, setting: Setting, masked: str | None, seed: int = 1
) -> dict[str, Any]:
    """Return what a paper's table needs of a setting: its result, with a head masked or none."""
    results = contrastive_results(evidence.one("contrastive", setting, seed))
    found = [result for result in results if result["masked"] == masked]
    if not found:
        raise NotMeasured(
            f"contrastive pairs of {setting} with head {masked} masked",
            f"not measured at {evidence.scale}",
            "repro run makes it",
        )
    parts = REPORTED.get(found[0]["suite"]["name"])
    return (
        _of_parts(found[0], set(parts) - {setting.config(evidence.scale).data.corpus})
        if parts
        else found[0]
    )


def _of_parts(result: dict[str, Any], parts: set[str]) -> dict[str, Any]:
    """Return what a paper reports of a setting's result: some parts of the suite alone."""
    items = result["items"]
    kept = [
        place
        for place, of in enumerate(items["origin"]["of"])
        if items["origin"]["names"][of] in parts
    ]

    def cut(values: Any) -> Any:
        return (
            values | {"of": cut(values["of"])}
            if isinstance(values, dict)
            else [values[place] for place in kept]
        )

    return result | {"items": {name: cut(values) for name, values in items.items()}}


def without_pairs(what: str, result: dict[str, Any], setting: Setting) -> NotMeasured:
    """Return the error that a suite has no pairs for a paper's claim or table."""
    return NotMeasured(
        f"contrastive pairs of {setting}",
        f"{result['suite']['name']} has none of {what}",
        "use a suite that has",
    )


def decisions_on(error: str, result: dict[str, Any]) -> list[bool]:
    """Return which pairs of an error type a paper's setting decided right."""
    types = result["items"]["type"]
    return [
        right
        for right, of in zip(decisions(result), types["of"], strict=True)
        if types["names"][of] == error
    ]


def _accuracies(
    evidence: Evidence,
    setting: Setting,
    masked: str | None = None,
    by: Group = "type",
    only: str | None = None,
) -> dict[str, Accuracy]:
    """Return a setting's accuracies for a paper's table, by group, means over seeds."""
    of_seeds = [accuracies(result, by, only) for result in _results(evidence, setting, masked)]
    return {found.group: found for found in _over_seeds(of_seeds)}


def _over_seeds(of_seeds: Sequence[Sequence[Accuracy]]) -> list[Accuracy]:
    """Return the accuracies of a paper's table as means over seeds on the same pairs."""
    return [_mean(found) for found in zip(*of_seeds, strict=True)]


def _mean(found: Sequence[Accuracy]) -> Accuracy:
    """Return an accuracy of a paper's table as a mean over seeds; its interval is over both."""
    if len(found) == 1:
        return found[0]
    over_all = over_seeds([Estimate(one.value, one.low, one.high) for one in found], 0.0, 1.0)
    low, high = over_all.ends
    return replace(found[0], right=mean(one.right for one in found), low=low, high=high)


def _has(evidence: Evidence, setting: Setting, masked: str) -> bool:
    """Return whether a paper's setting was scored on contrastive pairs with this head masked."""
    return any(
        result["masked"] == masked for result in evidence.one("contrastive", setting)["results"]
    )
