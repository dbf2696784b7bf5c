"""Describe each corpus: languages, licence, source, how to read its folder, and its checksums.

The descriptions are in `catalogue.toml`, and the readers that single corpora need are here. To add
a corpus, add a table there; `corpora.py` does the rest.
"""

import functools
import importlib
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from repro.data.aligning import Cleaning
from repro.data.formats import Sides, read_columns, read_folder
from repro.data.hub import (
    HubSource,
    articles_and_summaries,
    contexts_and_replies,
    read_parquet_folder,
)
from repro.data.text import TextLines, read_lines
from repro.generated import minigerman

OnLeak = Literal["error", "drop", "allow"]
Task = Literal["translation", "summarisation", "dialogue"]
PUBLISHED = Cleaning(is_published=True)


@dataclass(frozen=True)
class CorpusRecord:
    """Description of a corpus that needs none of its text.

    Args:
        languages: language codes; from a source with one pair at a time, the first two are loaded.
            For tasks other than translation, the names of the two columns.
        about: what the corpus is, and what a reader of results must know.
        licence: the terms of its texts.
        citation: who made it, and its address.
        folder: its name inside REPRO_DATA.
        read: reads that folder; a name of `READERS`.
        hub: its place on the Hub, if it is there; its `columns` are named in `COLUMNS`.
        renamed: original name of a split -> our name; the original name keeps working.
        on_leak: what to do about held-out sentences that also occur in train. Published splits
            stay unchanged, because other scores depend on them; ``ParallelCorpus.leaks`` counts
            their overlaps.
        held_out: how many pairs of a corpus without splits become dev and test.
        checksums: SHA-256 of the text of each published file, as in ``{"train.en": ...}``.
        task: what the second column is to the first; it decides the metrics.
        prepare: applied to every line before anything else sees it; a name of `PREPARATIONS`.
        cleaning: how to handle faulty lines.
        train_files: names of the training files, if they may be missing.
        is_test_only: whether it has no training text, but sets that score models of other corpora.
        parts: the corpora that it joins, which must have the same languages; see `join_corpora`.
        test_sets: another corpus and its splits that are the test set of this one, in order. They
            serve where this corpus itself is not at hand.
        cased: the corpus with the same sentences and their capitals, if this one has lost them.
    """

    languages: tuple[str, ...]
    about: str
    licence: str
    citation: str
    folder: str | None = None
    read: Callable[[Path, Sequence[str], int], Sides] = read_folder
    hub: HubSource | None = None
    renamed: Mapping[str, str] = field(default_factory=dict)
    on_leak: OnLeak = "allow"
    held_out: tuple[int, int] | None = None
    checksums: Mapping[str, str] = field(default_factory=dict)
    task: Task = "translation"
    prepare: Callable[[str], str] | None = None
    cleaning: Cleaning = PUBLISHED
    train_files: tuple[str, ...] = ()
    is_test_only: bool = False
    parts: tuple[str, ...] = ()
    test_sets: tuple[str, tuple[str, ...]] | None = None
    cased: str | None = None


def _read_tatoeba(folder: Path, languages: Sequence[str], max_chars: int) -> Sides:
    """Read Tatoeba's file of sentence pairs."""
    columns = read_columns(read_lines(folder / "deu.txt", 3 * max_chars), ["en", "de"], max_chars)
    return {"train": {language: columns[language] for language in languages}}


# In the German text: verse numbers of another edition, as in "(H5:20) Wenn ...", and the notes of
# the editors behind a verse, as in "... ihres Hauses. (1) d.i. Gideon."
_NO_BIBLE_TEXT = re.compile(r" *\([GH]\d+:\d+\) *| *\(1\).*")


def _read_bible(folder: Path, languages: Sequence[str], max_chars: int) -> Sides:
    """Read the verses without their numbers."""
    return {
        split: {
            language: replace(
                side, lines=[_NO_BIBLE_TEXT.sub(" ", line).strip() for line in side.lines]
            )
            for language, side in columns.items()
        }
        for split, columns in read_folder(folder, languages, max_chars).items()
    }


def _read_tatoeba_test(folder: Path, languages: Sequence[str], max_chars: int) -> Sides:
    """Read the test set of Tatoeba in a folder, a file per language."""
    files = {language: folder / f"clean-against-2018-export.{language}" for language in languages}
    return {"test": {language: read_lines(path, max_chars) for language, path in files.items()}}


def _read_opus(name: str, folder: Path, languages: Sequence[str], max_chars: int) -> Sides:
    """Read a corpus of OPUS in its Moses format: two files of lines, without splits."""
    files = {language: folder / f"{name}.{language}" for language in languages}
    return {"train": {language: read_lines(path, max_chars) for language, path in files.items()}}


def _without_merges(line: str) -> str:
    """Return a line of subword-nmt with its words put together again."""
    return line.replace("@@ ", "").removesuffix("@@")


def _generate_minigerman(_folder: Path, languages: Sequence[str], _max_chars: int) -> Sides:
    """Generate the splits of minigerman."""
    sides: Sides = {}
    for split, examples in minigerman_splits().items():
        texts = {
            "en": [example.english for example in examples],
            "de": [example.german for example in examples],
        }
        numbers = range(1, len(examples) + 1)
        sides[split] = {
            language: TextLines(f"{split}.{language}", texts[language], numbers)
            for language in languages
        }
    return sides


@functools.cache
def minigerman_splits() -> dict[str, list]:
    """Generate the splits of `minigerman`, once per process because it takes seconds."""

    return minigerman.splits()


def _generate_pairs(name: str, _folder: Path, columns: Sequence[str], _max_chars: int) -> Sides:
    """Generate the splits of another generated corpus."""
    record = CORPORA[name]
    sides: Sides = {}
    for split, pairs in _generated_pairs(name).items():
        texts = dict(zip(record.languages, zip(*pairs, strict=True), strict=True))
        sides[split] = {
            column: TextLines(split, list(texts[column]), range(1, len(pairs) + 1))
            for column in columns
        }
    return sides


@functools.cache
def _generated_pairs(name: str) -> dict[str, list]:
    """Generate the splits of `minisummary` or `minidialogue`, once per process."""
    return importlib.import_module(f"repro.generated.{name}").splits()


READERS: dict[str, Callable[[Path, Sequence[str], int], Sides]] = {
    "minigerman": _generate_minigerman,
    "minisummary": functools.partial(_generate_pairs, "minisummary"),
    "minidialogue": functools.partial(_generate_pairs, "minidialogue"),
    "tatoeba": _read_tatoeba,
    "tatoeba-test": _read_tatoeba_test,
    "bible": _read_bible,
    "opensubtitles": functools.partial(_read_opus, "OpenSubtitles.en-ru"),
}
PREPARATIONS = {"lower": str.lower, "without-merges": _without_merges}
COLUMNS = {"articles": articles_and_summaries, "dialogues": contexts_and_replies}


def _read_catalogue() -> dict[str, CorpusRecord]:
    """Return the records of `catalogue.toml`."""
    tables = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    records: dict[str, CorpusRecord] = {}
    for name, table in tables.items():
        if base := table.pop("base", None):
            records[name] = replace(records[base], **_typed(table))
        else:
            records[name] = CorpusRecord(**_typed(table))
    return records


def _typed(table: dict[str, Any]) -> dict[str, Any]:
    """Return a table of `catalogue.toml` as arguments of `CorpusRecord`."""
    found: dict[str, Any] = {name: _as_tuple(value) for name, value in table.items()}
    if hub := table.get("hub"):
        source = HubSource(**{name: _as_tuple(value) for name, value in hub.items()})
        found["hub"] = source
        if columns := hub.get("columns"):
            found["hub"] = source = replace(source, columns=COLUMNS[columns])
            found["read"] = functools.partial(read_parquet_folder, source)
    if "read" in table:
        found["read"] = READERS[table["read"]]
    if "prepare" in table:
        found["prepare"] = PREPARATIONS[table["prepare"]]
    if "cleaning" in table:
        found["cleaning"] = replace(PUBLISHED, **table["cleaning"])
    return found


def _as_tuple(value: Any) -> Any:
    return tuple(map(_as_tuple, value)) if isinstance(value, list) else value


CORPORA = _read_catalogue()

OWN_SETS = {**CORPORA["iwslt16"].renamed, "devtest": "test"}
"""Your own files may use these names of the IWSLT sets. FLORES has only devtest: its test set is
not public."""

GENERATED = tuple(
    name for name, record in CORPORA.items() if record.folder is None and not record.parts
)
"""The corpora generated here: no paper has scores on them."""
