"""Score a run on contrastive pairs: its suite, the accuracies, and the stored table."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

from repro.analysis.ablation import heads_of, scaled_heads, without_in_every_layer
from repro.contrastive.german_errors import generate_suite
from repro.contrastive.german_errors.sentence import Sentence
from repro.contrastive.mucow import load_mucow
from repro.contrastive.published import FILES, load_distil_lingeval
from repro.contrastive.scoring import (
    Accuracy,
    accuracies,
    check_contrastive_record,
    encode_names,
    score_suite,
)
from repro.contrastive.suites import (
    ContrastiveSuite,
    minigerman_suite,
    prepared_suite,
    suite_without_overlap,
)
from repro.core.config import DataConfig, from_dict
from repro.data.corpora import cased_form, load_once, prepare_lines
from repro.errors import InputError
from repro.markdown import table
from repro.records.sentences import Table
from repro.runs.models import load_translator
from repro.runs.run import Run

COLUMNS = ("result", "item", "type", "origin", "distance", "candidate", "cross_entropy")


ITEMS_PER_TYPE, SUITE_SEED = 200, 1


# Verification asks for the same suite for every record.
@lru_cache(maxsize=4)
def suite_of(data: DataConfig) -> ContrastiveSuite:
    """Return the contrastive pairs to measure a run on, which fit its training data.

    The generated corpus has exact ones. Other corpora have generated errors in German references
    and, from German into English, MuCoW without the items that the corpus is trained on. German
    errors need capitals: pairs of a corpus without any are made from its cased form.

    Raises:
        InputError: there are none for its languages.
        MachineError: MuCoW is not at hand.
    """
    if data.corpus == "minigerman":
        return minigerman_suite(ITEMS_PER_TYPE, SUITE_SEED, data.target)
    if {data.source, data.target} != {"en", "de"}:
        what = f"there are no contrastive pairs from {data.source} into {data.target}"
        raise InputError("contrastive pairs", what, "choose a corpus of English and German")
    if cased := cased_form(data.corpus):
        prepare = partial(prepare_lines, data.corpus)
        return prepared_suite(suite_of(replace(data, corpus=cased)), prepare)
    corpus = load_once(data.corpus, data.source, data.target)
    train = corpus.pairs("train", data.source, data.target)
    if wants_mucow(data):
        return suite_without_overlap(load_mucow(), *train)
    known = {token for sentence in train[1] for token in Sentence(sentence).tokens}
    sources, refs = corpus.pairs("test", data.source, data.target)
    return generate_suite(f"{data.corpus} test", sources, refs, known)


def wants_mucow(data: DataConfig) -> bool:
    """Whether the contrastive pairs to measure a run on are those of MuCoW."""
    return data.corpus != "minigerman" and data.target == "en"


@lru_cache(maxsize=2)
def published_suites(data: DataConfig) -> tuple[ContrastiveSuite, ...]:
    """Return the published pairs to measure a run on, as models of its corpus read them.

    Pairs with a sentence of the training text are left out and counted.

    Raises:
        InputError: the run does not translate English into German.
        MachineError: the pairs are not at hand.
    """
    if (data.source, data.target) != ("en", "de"):
        what = f"is from {data.source} into {data.target}, the published pairs are from en into de"
        raise InputError("the run", what, "choose a run with --direction en-de")
    prepare = partial(prepare_lines, data.corpus)
    suites = [prepared_suite(load_distil_lingeval(reference), prepare) for reference in FILES]
    train = load_once(data.corpus, "en", "de").pairs("train", "en", "de")
    return tuple(suite_without_overlap(suite, *train) for suite in suites)


def measure_published_pairs(run: Run) -> dict[str, Any]:
    """Score the published pairs on human and on machine references.

    Source: You et al. 2020, Table 4, and Vamvas and Sennrich 2021.
    """
    suites = published_suites(run.config.data)
    translator = load_translator(run)
    return pack_results([{"masked": None, **score_suite(translator, suite)} for suite in suites])


def published_pairs_table(record: dict[str, Any]) -> str:
    """Return the table of a measured record: accuracy on both kinds of reference."""
    return accuracy_by_reference_table(
        {"": [accuracies(result) for result in contrastive_results(record)]}
    )


def accuracy_by_reference_table(systems: Mapping[str, Sequence[Sequence[Accuracy]]]) -> str:
    """Return the table of measured accuracies by error type and kind of reference.

    Args:
        systems: by name of the system, for each kind of reference in the order of `FILES`, the
            accuracies by type.
    """
    by_type = {
        name: [{one.group: one for one in found} for found in kinds]
        for name, kinds in systems.items()
    }
    first = next(iter(by_type.values()))
    header = ["type"]
    for reference in FILES:
        header.append(f"{reference} references: pairs")
        header += [f"{name} {reference}".strip() for name in by_type]
    rows = []
    for error in sorted({error for found in first for error in found}):
        row = [error]
        for number in range(len(FILES)):
            one = first[number].get(error)
            row.append(f"{one.total:,}" if one else "0")
            found = [kinds[number].get(error) for kinds in by_type.values()]
            row += [accuracy.cell() if accuracy else "-" for accuracy in found]
        rows.append(row)
    return table(header, rows)


def measure_contrastive(run: Run) -> dict[str, Any]:
    """Score the pairs with the whole model and with its last encoder head masked in all layers.

    Source: Raganato et al. 2020, Table 6.
    """
    translator, suite = load_translator(run), suite_of(run.config.data)
    results = [{"masked": None, **score_suite(translator, suite)}]
    places = heads_of(translator.model, "encoder_self")
    last = max((place.head for place in places), default=0)
    if places:
        with scaled_heads(translator.model, without_in_every_layer(places, last)):
            results.append({"masked": str(last + 1), **score_suite(translator, suite)})
    return pack_results(results)


def pack_results(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Move the items of measured contrastive results into a table of the record.

    It has a row per scored sentence; candidate 0 is the reference.
    """
    rows = []
    for number, result in enumerate(results):
        items = result["items"]
        kinds = [[items[by]["names"][of] for of in items[by]["of"]] for by in ("type", "origin")]
        found = zip(
            *kinds, items["distance"], items["reference"], items["contrastive"], strict=True
        )
        for item, (kind, origin, distance, reference, contrastive) in enumerate(found):
            about = (number, item, kind, origin, math.nan if distance is None else distance)
            rows += [
                (*about, candidate, value)
                for candidate, value in enumerate([reference, *contrastive])
            ]
    table = Table(dict(zip(COLUMNS, zip(*rows, strict=True), strict=True)))
    return {
        "results": [
            {name: value for name, value in result.items() if name != "items"} for result in results
        ],
        "tables": {"items": table},
    }


def contrastive_results(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the results of a contrastive record with their items, as `score_suite` made them."""
    found = _unpack_items(record["tables"]["items"])
    return [result | {"items": found[number]} for number, result in enumerate(record["results"])]


def _unpack_items(table: Table) -> dict[int, dict[str, Any]]:
    """Return the items of each result in a contrastive record's table, by result."""
    numbers, candidates, values = (
        table[name].tolist() for name in ("result", "candidate", "cross_entropy")
    )
    kinds, origins, distances = table["type"], table["origin"], table["distance"].tolist()
    found: dict[int, dict[str, Any]] = {}
    for row, (number, candidate, value) in enumerate(zip(numbers, candidates, values, strict=True)):
        empty: dict[str, Any] = {
            "type": [],
            "origin": [],
            "distance": [],
            "reference": [],
            "contrastive": [],
        }
        items = found.setdefault(number, empty)
        if candidate:
            items["contrastive"][-1].append(value)
            continue
        distance = None if math.isnan(distances[row]) else int(distances[row])
        of_item = {
            "type": kinds[row],
            "origin": origins[row],
            "distance": distance,
            "reference": value,
            "contrastive": [],
        }
        for name, what in of_item.items():
            items[name].append(what)
    return {
        number: items | {by: encode_names(items[by]) for by in ("type", "origin")}
        for number, items in found.items()
    }


def check_contrastive(record: dict[str, Any]) -> Iterator[str | None]:
    """Derive the accuracies of a measured record again; yield a message or None for each.

    Raises:
        DamagedFileError: accuracies do not follow from the stored cross entropies.
    """
    for result in contrastive_results(record):
        check_contrastive_record(result)
        yield from [None] * len(result["accuracy"])


def check_pairs(record: dict[str, Any]) -> Iterator[str | None]:
    """Make the pairs of a measured record again; yield a message per result that differs.

    Raises:
        MachineError: the text of the pairs is not at hand.
    """
    suite = suite_of(from_dict(DataConfig, record["config"]["data"]))
    for result in contrastive_results(record):
        yield _difference(result, suite)


def check_published_pairs(record: dict[str, Any]) -> Iterator[str | None]:
    """Read the published pairs of a measured record again, as `check_pairs` does."""
    suites = published_suites(from_dict(DataConfig, record["config"]["data"]))
    for result, suite in zip(contrastive_results(record), suites, strict=True):
        yield _difference(result, suite)


def _difference(result: dict[str, Any], suite: ContrastiveSuite) -> str | None:
    """Say how a result in a contrastive record differs from its suite, if it does."""
    types, origins = result["items"]["type"], result["items"]["origin"]
    if result["suite"]["sha256"] != suite.fingerprint:
        return f"pairs: differ from those of {suite.name}"
    if [types["names"][of] for of in types["of"]] != [item.type for item in suite.items]:
        return f"types of error: are not those of the pairs of {suite.name}"
    if [origins["names"][of] for of in origins["of"]] != [item.origin for item in suite.items]:
        return f"origins: are not those of the pairs of {suite.name}"
    if result["items"]["distance"] != [item.distance for item in suite.items]:
        return f"distances: are not those of the pairs of {suite.name}"
    return None
