"""The fields of each kind of result record, and their checks.

Tables, claims and `repro verify` read records. The fields that they need are checked once, here,
when a file is opened.
"""

import re
import sys
import types
from collections.abc import Iterator
from functools import cache, partial
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    TypedDict,
    get_args,
    get_origin,
    get_type_hints,
)

from msgspec import Meta, ValidationError, convert

from repro.errors import shortened

Number = Annotated[float, Meta(ge=-sys.float_info.max, le=sys.float_info.max)]
"""A finite number."""


class DataFields(TypedDict):
    corpus: str
    source: str
    target: str


class ConfigFields(TypedDict):
    data: DataFields
    model: dict[str, Any]
    train: dict[str, Any]


class ProvenanceFields(TypedDict):
    data_fingerprint: str
    versions: dict[str, str]
    device: str
    threads: int
    processor: str
    commit: str
    started: str


class Described(TypedDict):
    """The fields of every kind of record."""

    kind: NotRequired[str]
    run: str
    system: str
    seed: int
    config: ConfigFields
    config_digest: str
    provenance: ProvenanceFields


class TrainingFields(TypedDict):
    update: int
    tokens: int
    seconds: Number
    best_dev_nll: Number
    parameters: int
    target_tokens_per_second: int
    alpha: NotRequired[Number]
    joules: NotRequired[dict[str, Number] | None]
    dev_curve: NotRequired[list[list[Number]]]  # pairs: update, nats per token


class DecodingFields(TypedDict):
    seconds: Number
    sentences_per_second: Number


class ScoreFields(TypedDict):
    name: str
    value: Number
    signature: str


class ScoreTables(TypedDict):
    """SHA-256 of the text of each table."""

    sentences: str
    references: str
    likelihood: NotRequired[str]


class LikelihoodFields(TypedDict):
    """How likely the references are to the model; see `records.likelihood`."""

    tokens: int
    nats_per_token: Number


class WritableFields(TypedDict):
    """The cost of a model's subwords; see `translations.writable`."""

    changed: int
    best: dict[str, Number]
    scores: dict[str, Number]


class ScoreRecord(Described):
    split: str
    training: TrainingFields
    search: dict[str, Any]
    decoding: DecodingFields
    scores: list[ScoreFields]
    references_sha256: str
    sentences: int
    tables: ScoreTables
    in_train: NotRequired[dict[str, int]]
    writable: NotRequired[WritableFields]
    likelihood: NotRequired[LikelihoodFields]


class ContrastiveTables(TypedDict):
    items: str


class ContrastiveRecord(Described):
    results: list[dict[str, Any]]
    tables: ContrastiveTables


class MeasuredFields(TypedDict):
    sentences: int
    sentences_of_split: int
    relevance_sentences: int
    most_frequent: int
    parses: str | None


class SiteFields(TypedDict):
    """The measured numbers of a site's heads, a row a layer each; see `HeadStatistics`."""

    confidence: list[list[Any]]
    offset: list[list[Any]]
    distance: list[list[Any]]
    offsets: list[list[Any]]
    available: list[int]
    main_offset: list[list[Any]]
    positional: list[list[Any]]
    rarest: list[list[Any]]
    two_rarest: list[list[Any]]
    entropy: list[list[Any]]
    histogram: list[list[Any]]
    divergence: list[list[Any]]
    relevance: list[list[Any]]
    relevance_alphabeta: list[list[Any]]
    gradient: list[list[Any]]
    roles: list[list[Any]]


class SitesFields(TypedDict):
    encoder_self: SiteFields
    decoder_self: SiteFields
    cross: SiteFields


class HeadRecord(Described):
    split: str
    measured: MeasuredFields
    sites: SitesFields
    syntax: dict[str, Any] | None


class MapRecord(Described):
    source: list[str]
    target: list[str]
    weights: dict[str, Any]


class MaskFields(TypedDict):
    heads: list[Any]


class MaskTables(TypedDict):
    masks: str
    references: str


class MaskRecord(Described):
    split: str
    masks: dict[str, MaskFields]
    tables: MaskTables


class OffDiagonalRecord(Described):
    split: str
    shares: dict[str, list[Number]]


class PruningRecord(Described):
    whole: dict[str, Any]
    series: dict[str, dict[str, Any]]


class GoldFields(TypedDict):
    name: str
    sentences: int
    skipped: int
    stray_links: int
    sure: int
    aligned_words: int
    sha256: str


class AlignmentTables(TypedDict):
    links: str


class AlignmentRecord(Described):
    gold: GoldFields
    diagonal: dict[str, Number]
    scores: list[dict[str, Any]]
    tables: AlignmentTables


class SpeedRecord(Described):
    sitting: list[str]
    sentences: int
    batch_size: int
    steps: int
    threads: int
    processor: NotRequired[str]  # of the measurement; the provenance is that of training
    sentences_per_second: list[Number]


KINDS: dict[str, type] = {
    "scores": ScoreRecord,
    "contrastive": ContrastiveRecord,
    "published_pairs": ContrastiveRecord,
    "alignments": AlignmentRecord,
    "heads": HeadRecord,
    "maps": MapRecord,
    "masks": MaskRecord,
    "off_diagonal": OffDiagonalRecord,
    "pruning": PruningRecord,
    "speed": SpeedRecord,
}
"""Kind of record -> the fields that tables and checks read; a record may have more."""


def kind_of(record: dict[str, Any]) -> str:
    """Return the kind of a record: `scores` on a test set, or another one of `KINDS`."""
    return record.get("kind", "scores")


def faults_of(record: dict[str, Any]) -> Iterator[str]:
    """Yield the faults of a record; after the first, a further one may raise an error instead."""
    yield from type_faults(record, Described)
    yield from type_faults(record, KINDS.get(kind_of(record), Described))
    for name, digest in record.get("tables", {}).items():
        if not re.fullmatch("[0-9a-f]{64}", str(digest)):
            yield (
                f"tables.{name} wants a SHA-256 as hex digits, found {shortened(repr(digest), 60)}"
            )
    yield from _control_faults(record, "")
    data = record["config"]["data"]
    if "in_train" in record and record["in_train"].keys() != {
        "pairs",
        data["source"],
        data["target"],
    }:
        yield (
            f"in_train has {', '.join(record['in_train']) or 'nothing'}, not pairs, "
            f"{data['source']} and {data['target']}"
        )


_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def _control_faults(value: Any, where: str) -> Iterator[str]:
    """Yield the places in a record whose texts hold a control character or line break.

    Such a text would forge a row of a table or a line of a terminal.
    """
    if isinstance(value, str):
        if _CONTROL.search(value):
            yield f"{where} holds a control character: {shortened(ascii(value), 60)}"
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _control_faults(key, f"a name in {where or 'it'}")
            yield from _control_faults(item, f"{where}.{key}".lstrip("."))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            if isinstance(item, str | list | dict):  # not the many numbers
                yield from _control_faults(item, f"{where}[{place}]")


_NAMES = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "array": "a list",
    "object": "an object",
    "bool": "true or false",
}
_STEPS = re.compile(r"\.(\w+)|\[(\d+|\.\.\.)\]")  # of a path as msgspec writes it

_hints_of = cache(partial(get_type_hints, include_extras=True))  # evaluates every hint each time


def type_faults(value: Any, hint: Any) -> Iterator[str]:
    """Yield what in a field of a record is missing, or of another type or range than its hint.

    Whole numbers may take the place of fractions.
    """
    try:
        convert(value, hint)
    except ValidationError as error:
        problem, _, path = str(error).partition(" - at `$")
        where, found, hint = _follow_path(value, hint, path)
        if missing := re.match("Object missing required field `(.*)`", problem):
            yield f"{where}.{missing[1]} is missing".lstrip(".")
            return
        wanted = re.sub(
            "`(.*?)`", _place_in_words, problem.removeprefix("Expected ").split(", got ")[0]
        )
        if get_origin(hint) is Literal:
            wanted = f"one of {', '.join(get_args(hint))}"
        yield f"{where.lstrip('.') or 'it'} wants {wanted}, found {shortened(repr(found), 60)}"


def _place_in_words(names: re.Match[str]) -> str:
    """Return msgspec's names of a record's types in Python's words."""
    return " or ".join(_NAMES.get(name, name) for name in names[1].split(" | "))


def _follow_path(value: Any, hint: Any, path: str) -> tuple[str, Any, Any]:
    """Return the place in a record at the end of a path in words, its value, and its hint.

    msgspec does not name the key of a dictionary; it is the first whose value it refuses.
    """
    where = ""
    for name, place in _STEPS.findall(path):
        if isinstance(hint, types.UnionType):
            hint = next(choice for choice in get_args(hint) if choice is not type(None))
        if name:
            where, value, hint = f"{where}.{name}", value[name], _hints_of(hint)[name]
        elif place == "...":
            hint = get_args(hint)[1]
            key = next(key for key, item in value.items() if any(type_faults(item, hint)))
            where, value = f"{where}.{key}", value[key]
        else:
            where, value, hint = f"{where}[{place}]", value[int(place)], get_args(hint)[0]
        if get_origin(hint) is NotRequired:
            (hint,) = get_args(hint)
    return where, value, hint
