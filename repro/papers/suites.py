"""Contrastive suites as an experiment: which suite belongs to a run, what is measured, and the tables of it."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from statistics import mean
from typing import Any

from repro.analysis.ablation import heads_of, scaled_heads, without_in_every_layer
from repro.analysis.contrastive import Accuracy, Group, accuracies, chances, check_record, coded, decisions, score_suite
from repro.config import DataConfig, from_dict
from repro.data.contrastive import ContrastiveSuite, minigerman_suite, without_overlap
from repro.data.corpora import load_once
from repro.data.german_errors import generate_suite
from repro.data.german_errors.sentence import Sentence
from repro.data.mucow import load_mucow
from repro.decoding import Translator
from repro.errors import InputError
from repro.markdown import table
from repro.papers.arms import Arm
from repro.papers.evidence import Evidence, NotMeasured
from repro.papers.printed import printed
from repro.runs import Run
from repro.sentences import Table
from repro.statistics import Estimate, over_seeds, paired_difference

COLUMNS = ("result", "item", "type", "origin", "distance", "candidate", "cross_entropy")
ITEMS_PER_TYPE, SUITE_SEED = 200, 1
REPORTED = {"mucow": ("ted", "tatoeba")}  # the parts that Raganato et al. 2020 report (Table 6), the corpus trained on left out
SCALES_WITH_SUITES = ("smoke", "multi30k", "tatoeba", "iwslt16")
ELSEWHERE = "contrastive pairs are of cased English and German text"


@lru_cache(maxsize=4)  # verification asks for it for every record
def suite_of(data: DataConfig) -> ContrastiveSuite:
    """Return the pairs that fit what a run was trained on.

    The generated corpus has exact ones. For other text there are generated errors in German references, and MuCoW from German into
    English, without the items that the corpus is trained on.

    Raises:
        InputError: there are none for its languages.
        MachineError: MuCoW is not at hand.
    """
    if data.corpus == "minigerman":
        return minigerman_suite(ITEMS_PER_TYPE, SUITE_SEED, data.target)
    if {data.source, data.target} != {"en", "de"}:
        what = f"there are no contrastive pairs from {data.source} into {data.target}"
        raise InputError("contrastive pairs", what, "choose a corpus of English and German")
    corpus = load_once(data.corpus, data.source, data.target)
    train = corpus.pairs("train", data.source, data.target)
    if data.target == "en":
        return without_overlap(load_mucow(), *train)
    known = {token for sentence in train[1] for token in Sentence(sentence).tokens}
    sources, refs = corpus.pairs("test", data.source, data.target)
    return generate_suite(f"{data.corpus} test", sources, refs, known)


def measure_contrastive(run: Run) -> dict[str, Any]:
    """Score the pairs with the whole model, and with its last encoder head masked in all layers (Raganato et al. 2020, Table 6)."""
    translator, suite = Translator.from_run(run), suite_of(run.config.data)
    results = [{"masked": None, **score_suite(translator, suite)}]
    places = heads_of(translator.model, "encoder_self")
    last = max((place.head for place in places), default=0)
    if places:
        with scaled_heads(translator.model, without_in_every_layer(places, last)):
            results.append({"masked": str(last + 1), **score_suite(translator, suite)})
    return packed(results)


def packed(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return results without their items, and the table of these: a row a sentence that was scored, the references as candidate 0."""
    rows = []
    for number, result in enumerate(results):
        items = result["items"]
        kinds = [[items[by]["names"][of] for of in items[by]["of"]] for by in ("type", "origin")]
        found = zip(*kinds, items["distance"], items["reference"], items["contrastive"], strict=True)
        for item, (kind, origin, distance, reference, contrastive) in enumerate(found):
            about = (number, item, kind, origin, math.nan if distance is None else distance)
            rows += [(*about, candidate, value) for candidate, value in enumerate([reference, *contrastive])]
    table = Table(dict(zip(COLUMNS, zip(*rows, strict=True), strict=True)))
    return {
        "results": [{name: value for name, value in result.items() if name != "items"} for result in results],
        "tables": {"items": table},
    }


def results_of(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the results of a contrastive record with their items, as `score_suite` made them."""
    found = _unpacked(record["tables"]["items"])
    return [result | {"items": found[number]} for number, result in enumerate(record["results"])]


def _unpacked(table: Table) -> dict[int, dict[str, Any]]:
    """Return the items of each result by its number."""
    numbers, candidates, values = (table[name].tolist() for name in ("result", "candidate", "cross_entropy"))
    kinds, origins, distances = table["type"], table["origin"], table["distance"].tolist()
    found: dict[int, dict[str, Any]] = {}
    for row, (number, candidate, value) in enumerate(zip(numbers, candidates, values, strict=True)):
        empty: dict[str, Any] = {"type": [], "origin": [], "distance": [], "reference": [], "contrastive": []}
        items = found.setdefault(number, empty)
        if candidate:
            items["contrastive"][-1].append(value)
            continue
        distance = None if math.isnan(distances[row]) else int(distances[row])
        of_item = {"type": kinds[row], "origin": origins[row], "distance": distance, "reference": value, "contrastive": []}
        for name, what in of_item.items():
            items[name].append(what)
    return {number: items | {by: coded(items[by]) for by in ("type", "origin")} for number, items in found.items()}


def check_contrastive(record: dict[str, Any]) -> Iterator[str | None]:
    """Derive all accuracies of a record again; yield a line for each that is otherwise, None for each other.

    Raises:
        DamagedFileError: accuracies are not what the stored cross entropies give.
    """
    for result in results_of(record):
        check_record(result)
        yield from [None] * len(result["accuracy"])


def check_pairs(record: dict[str, Any]) -> Iterator[str | None]:
    """Make the pairs of a record again; yield a line for what of them is otherwise, None for each result that is of them.

    Raises:
        MachineError: the text that the pairs are made from is not at hand.
    """
    suite = suite_of(from_dict(DataConfig, record["config"]["data"]))
    for result in results_of(record):
        types, origins = result["items"]["type"], result["items"]["origin"]
        if result["suite"]["sha256"] != suite.fingerprint:
            yield f"pairs: are others than those of {suite.name}"
        elif [types["names"][of] for of in types["of"]] != [item.type for item in suite.items]:
            yield f"types of error: are not those of the pairs of {suite.name}"
        elif [origins["names"][of] for of in origins["of"]] != [item.origin for item in suite.items]:
            yield f"origins: are not those of the pairs of {suite.name}"
        elif result["items"]["distance"] != [item.distance for item in suite.items]:
            yield f"distances: are not those of the pairs of {suite.name}"
        else:
            yield None


def accuracy_difference(evidence: Evidence, error: str, arm: Arm, minus: Arm, masked: str | None = None) -> Estimate:
    """Return by how many points more pairs of a type of error one arm decides right than another, over the same pairs.

    Args:
        evidence, error: which type.
        arm, minus: the two.
        masked: number of the head of the second that is masked in all encoder layers.

    Raises:
        NotMeasured: there are no such pairs, or the two were not scored on the same.
    """
    data, differences, shares = arm.config(evidence.scale).data, [], []
    for seed in evidence.shared_seeds(["contrastive"], (arm, minus)):
        first, second = _result(evidence, arm, None, seed), _result(evidence, minus, masked, seed)
        if first["suite"]["sha256"] != second["suite"]["sha256"]:
            raise NotMeasured(f"contrastive pairs of {arm} and {minus}", "they were scored on two suites", "repro run scores both on one")
        right, other = (_decisions_on(error, result) for result in (first, second))
        if not right:
            raise _without(error, evidence, arm)
        differences.append(paired_difference(right, other, f"{len(right):,} pairs, {data.source}-{data.target}"))
        shares.append(sum(right) / len(right))
    found = over_seeds(differences)
    return replace(found, shares=(("right", 100 * mean(shares)), ("by chance", 100 * chances(first)[error])))


def arm_with(evidence: Evidence, error: str, arm: Arm) -> Arm:
    """Return an arm in its own direction of translation, or in the other one where only that has pairs of a type of error.

    Raises:
        NotMeasured: neither has, or they were not measured.
    """
    for found in (arm, replace(arm, reverse=not arm.reverse)):
        if error in _accuracies(evidence, found):
            return found
    raise _without(error, evidence, arm)


def accuracies_by_distance(evidence: Evidence, error: str, arm: Arm, masked: str | None = None) -> dict[str, Accuracy]:
    """Return the accuracy on a type of error by the distance in words that it spans.

    Raises:
        NotMeasured: the suite has no such errors, or does not know their distance.
    """
    found = _accuracies(evidence, arm, masked, "distance", error)
    if not found:
        raise _without(f"{error} with distances", evidence, arm)
    return found


def accuracy_by_type_table(
    evidence: Evidence, paper: str, place: str, arms: Sequence[Arm], masked: str | None = None, only: str | None = None
) -> str:
    """Return accuracies by type of error, or on one type only: printed ones, by chance, ours with 95 % intervals, with a head masked."""
    arms = evidence.having("contrastive", arms)
    columns = {seeds_said(evidence, arm): _accuracies(evidence, arm) for arm in arms}
    if masked:
        columns |= {seeds_said(evidence, arm, masked): _accuracies(evidence, arm, masked) for arm in arms if _has(evidence, arm, masked)}
    by_chance = chances(_result(evidence, arms[0], None))
    cells = {(cell.row.replace("-", "_"), cell.column): cell.as_printed for cell in printed(paper, place)}
    theirs = list(dict.fromkeys(column for _, column in cells))
    first, rows = next(iter(columns.values())), []
    for error in [only] if only else [*first, *(dict.fromkeys(error for error, _ in cells if error not in first))]:
        values = [_with_ends(found[error]) if error in found else "-" for found in columns.values()]
        ours = [str(first[error].total), f"{100 * by_chance[error]:.1f}"] if error in first else ["0", ""]
        rows.append([error, *(cells.get((error, column), "-") for column in theirs), *ours, *values])
    return table(["type", *(f"printed: {column}" for column in theirs), "pairs", "by chance", *columns], rows)


def accuracy_by_distance_table(evidence: Evidence, error: str, arms: Sequence[Arm], masked: str | None = None) -> str:
    """Return the accuracy on a type of error by distance, with 95 % intervals."""
    columns = distances_by_system(evidence, error, arms, masked)
    bins = list(next(iter(columns.values())))
    rows = []
    for name in bins:
        found = [column[name] for column in columns.values()]
        rows.append([name, str(found[0].total), *map(_with_ends, found)])
    return table(["distance, words", "pairs", *columns], rows)


def distances_by_system(evidence: Evidence, error: str, arms: Sequence[Arm], masked: str | None = None) -> dict[str, dict[str, Accuracy]]:
    """Return the accuracies of `accuracies_by_distance` of the arms that were measured, by `seeds_said`; then those with a head masked.

    Raises:
        NotMeasured: no arm was, or the suite has no such errors, or does not know their distance.
    """
    arms = evidence.having("contrastive", arms)
    found = {seeds_said(evidence, arm): accuracies_by_distance(evidence, error, arm) for arm in arms}
    with_mask = [arm for arm in arms if masked and _has(evidence, arm, masked)]
    return found | {seeds_said(evidence, arm, masked): accuracies_by_distance(evidence, error, arm, masked) for arm in with_mask}


def seeds_said(evidence: Evidence, arm: Arm, masked: str | None = None) -> str:
    """Return the name of an arm, with the head that is masked, and how many seeds its accuracies are means over where these are several."""
    name, count = f"{arm}, head {masked} masked" if masked else str(arm), len(_results(evidence, arm, masked))
    return f"{name}, {count} seeds" if count > 1 else name


def _results(evidence: Evidence, arm: Arm, masked: str | None = None) -> list[dict[str, Any]]:
    """Return the results of all seeds that were scored on the pairs of the first."""
    found = [_result(evidence, arm, masked, seed) for seed in evidence.shared_seeds(["contrastive"], (arm,))]
    return [result for result in found if result["suite"]["sha256"] == found[0]["suite"]["sha256"]]


def _result(evidence: Evidence, arm: Arm, masked: str | None, seed: int = 1) -> dict[str, Any]:
    results = results_of(evidence.one("contrastive", arm, seed))
    found = [result for result in results if result["masked"] == masked]
    if not found:
        raise NotMeasured(
            f"contrastive pairs of {arm} with head {masked} masked", f"not measured at {evidence.scale}", "repro run makes it"
        )
    parts = REPORTED.get(found[0]["suite"]["name"])
    return _of_parts(found[0], set(parts) - {arm.config(evidence.scale).data.corpus}) if parts else found[0]


def _of_parts(result: dict[str, Any], parts: set[str]) -> dict[str, Any]:
    """Return a result with the items alone that come from some parts of its suite."""
    items = result["items"]
    kept = [place for place, of in enumerate(items["origin"]["of"]) if items["origin"]["names"][of] in parts]

    def cut(values: Any) -> Any:
        return values | {"of": cut(values["of"])} if isinstance(values, dict) else [values[place] for place in kept]

    return result | {"items": {name: cut(values) for name, values in items.items()}}


def _without(what: str, evidence: Evidence, arm: Arm) -> NotMeasured:
    suite = _result(evidence, arm, None)["suite"]
    return NotMeasured(f"contrastive pairs of {arm}", f"{suite['name']} has none of {what}", "use a suite that has")


def _decisions_on(error: str, result: dict[str, Any]) -> list[bool]:
    types = result["items"]["type"]
    return [right for right, of in zip(decisions(result), types["of"], strict=True) if types["names"][of] == error]


def _accuracies(
    evidence: Evidence, arm: Arm, masked: str | None = None, by: Group = "type", only: str | None = None
) -> dict[str, Accuracy]:
    """Return the accuracies of an arm by group, means over its seeds."""
    of_seeds = [accuracies(result, by, only) for result in _results(evidence, arm, masked)]
    return {found[0].group: _mean(found) for found in zip(*of_seeds, strict=True)}


def _mean(found: Sequence[Accuracy]) -> Accuracy:
    """Return the mean accuracy of several seeds on the same pairs, with its interval over pairs and seeds."""
    if len(found) == 1:
        return found[0]
    over_all = over_seeds([Estimate(one.value, one.low, one.high) for one in found], 0.0, 1.0)
    low, high = over_all.ends
    return replace(found[0], right=mean(one.right for one in found), low=low, high=high)


def _has(evidence: Evidence, arm: Arm, masked: str) -> bool:
    return any(result["masked"] == masked for result in evidence.one("contrastive", arm)["results"])


def _with_ends(found: Accuracy) -> str:
    return f"{100 * found.value:.1f} ({100 * found.low:.0f} to {100 * found.high:.0f})"
