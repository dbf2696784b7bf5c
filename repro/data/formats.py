"""Read a folder of parallel text: line-aligned files, TSV, JSON lines, or WIT3 XML (IWSLT).

Every reader returns the sides of each split, ``{"train": {"en": TextLines, "de": TextLines},
...}``. Readers check the form only.
"""

import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from repro.data.text import TextLines, read_lines
from repro.data.wit3 import read_segments, read_tagged
from repro.errors import InputError, did_you_mean

Sides = dict[str, dict[str, TextLines]]

MAX_COLUMNS = 10  # a line of a table may be as long as this many sentences
DEV_NAMES = ("dev", "val", "valid", "validation")
# A BCP 47 code, with a script, a region and a variant: pt-BR, zh_Hans, es-419, sr-Latn-RS,
# ca-valencia. A variant needs a dash; with an underscore, a column such as en_score would count as
# a language.
LANGUAGE = (
    r"[a-z]{2,3}(?:[-_][A-Za-z]{3})?(?:[-_][A-Za-z]{4})?(?:[-_](?:[A-Za-z]{2}|[0-9]{3}))?"
    r"(?:-(?:[A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*"
)
_TEST_NAMES = r"(?:devtest|test|tst|newstest|news-test|newssyscomb)[\w-]*"
_SPLIT = rf"(?P<split>train|{'|'.join(DEV_NAMES)}|{_TEST_NAMES})"
# File endings that have the form of a language code.
_NO_LANGUAGE = r"(?!(?:bak|csv|gz|idx|log|md|npy|old|pdf|sgm|tmp|txt|xml|xz|zip)$)"
_ALIGNED_FILE = re.compile(rf"{_SPLIT}\.{_NO_LANGUAGE}(?P<language>{LANGUAGE})(?:\.gz)?")
_TABLE_FILE = re.compile(rf"{_SPLIT}\.(?P<kind>tsv|jsonl)(?:\.gz)?")
_WIT3_FILE = re.compile(
    r"(?:train\.tags|(?:IWSLT\d+\.)?(?P<talks>TEDX?)\.(?P<set>\w+))"
    rf"\.(?P<pair>{LANGUAGE}-{LANGUAGE})\.(?P<language>{LANGUAGE})(?:\.xml)?"
)


def read_folder(folder: Path, languages: Sequence[str], max_chars: int) -> Sides:
    """Read the parallel text of a folder; without ``languages``, in all its languages.

    Raises:
        InputError: the folder is missing, has no known layout, or has two; a language or one side
            of a split is missing; or a line does not fit its layout.
    """
    try:
        os.fsencode(folder)
    except UnicodeEncodeError as error:  # for `is_dir`, such a folder is missing
        raise InputError(
            str(folder),
            f"cannot be looked for where names of files are in {error.encoding}",
            "set PYTHONUTF8=1",
        ) from error
    if not folder.is_dir():
        raise InputError(
            str(folder),
            "is not a folder",
            "give the folder that holds train.en and train.de, a TSV, JSONL or WIT3 files",
        )
    names = sorted(path.name for path in folder.iterdir())
    readers = {_WIT3_FILE: _read_wit3, _TABLE_FILE: _read_tables, _ALIGNED_FILE: _read_aligned}
    layouts: dict[re.Pattern[str], dict[str, re.Match[str]]] = {}
    # The first reader that fits takes a file: in train.tsv, "tsv" is not a language.
    for name in names:
        if match := next(
            (match for pattern in readers if (match := pattern.fullmatch(name))), None
        ):
            layouts.setdefault(match.re, {})[name] = match
    if len(layouts) > 1:
        one, other, *_ = (next(iter(found)) for found in layouts.values())
        raise InputError(
            str(folder),
            f"has {one} and {other}, which are of two layouts",
            "keep one layout, and move the others elsewhere",
        )
    for pattern, found in layouts.items():  # the only one
        return readers[pattern](folder, found, languages, max_chars)
    listed = ", ".join(names[:5]) or "nothing"
    fix = (
        "name the files train.en and train.de (also dev, test), train.tsv, train.jsonl, "
        "or as in a WIT3 archive"
    )
    if table := next((name for name in names if _is_table(folder / name)), None):
        fix = (
            f"{table} is a table: name it train.tsv, and put a first line that names its columns, "
            "such as 'en<TAB>de'"
        )
    raise InputError(str(folder), f"holds no parallel text known here, but {listed}", fix)


def _is_table(path: Path) -> bool:
    """Return whether the first line of a text file has columns, as in downloads from Tatoeba."""
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        return b"\t" in file.readline(4096) and path.suffix in (".txt", ".csv", ".tsv")


def unread_files(folder: Path, read: set[str]) -> list[str]:
    """Return the file names in a folder that no reader knows, without hidden files.

    Args:
        folder: as given to `read_folder`.
        read: the names of the files that were read.
    """
    known = (_WIT3_FILE, _TABLE_FILE, _ALIGNED_FILE)
    names = sorted(
        path.name + "/" * path.is_dir()
        for path in folder.iterdir()
        if not path.name.startswith(".")
    )
    return [
        name
        for name in names
        if name not in read and not any(pattern.fullmatch(name) for pattern in known)
    ]


def read_columns(
    table: TextLines, languages: Sequence[str], max_chars: int
) -> dict[str, TextLines]:
    """Split the lines of a table at tabs into one column per language; ignore further columns.

    Raises:
        InputError: a row with too few columns.
    """
    columns: dict[str, list[str]] = {language: [] for language in languages}
    too_long = dict(table.too_long)
    for number, line in zip(table.numbers, table.lines, strict=True):
        cells = line.split("\t")[: len(languages)] if line else [""] * len(languages)
        if len(cells) < len(languages):
            what = f"has {len(cells)} columns, not {len(languages)}"
            raise InputError(f"{table.name}:{number}", what, "put one tab between the languages")
        if (longest := max(map(len, cells))) > max_chars:
            too_long[number], cells = longest, [""] * len(languages)
        for cell, column in zip(cells, columns.values(), strict=True):
            column.append(cell)
    return {
        language: TextLines(table.name, column, table.numbers, too_long, table.notes)
        for language, column in columns.items()
    }


def _canonical_split(split: str) -> str:
    """Return the usual name of a split."""
    return "dev" if split in DEV_NAMES else split


def _check_one_file_per_side(folder: Path, places: dict[str, str]) -> None:
    """Refuse two files for one side, such as dev.en and valid.en, or train.en and train.en.gz."""
    taken: dict[str, str] = {}
    for name, place in places.items():
        if taken.setdefault(place, name) != name:
            raise InputError(
                str(folder), f"has both {taken[place]} and {name}", "take one of them away"
            )


def _check_languages(folder: Path, wanted: Sequence[str], present: set[str]) -> list[str]:
    """Return the languages to read, in a fixed order, if all wanted languages are present."""
    for language in wanted:
        if language not in present:
            raise InputError(
                str(folder),
                f"has no language '{language}'",
                did_you_mean(language, sorted(present)),
            )
    languages = list(wanted) or sorted(present)
    if len(languages) < 2:
        unread = unread_files(folder, set()) if folder.is_dir() else []
        others = (
            f", and what has no known name: {', '.join(unread[:5])}{', ...' * (len(unread) > 5)}"
            if unread
            else ""
        )
        fix = "put the translations beside it, as train.de"
        raise InputError(
            str(folder), f"holds one language only ({', '.join(languages)}){others}", fix
        )
    return languages


def _read_aligned(
    folder: Path, found: dict[str, re.Match[str]], wanted: Sequence[str], max_chars: int
) -> Sides:
    """Read files such as ``train.en`` and ``train.de``, one sentence per line, plain or gzip."""
    languages = _check_languages(folder, wanted, {match["language"] for match in found.values()})
    _check_one_file_per_side(
        folder,
        {
            name: f"{_canonical_split(match['split'])}.{match['language']}"
            for name, match in found.items()
        },
    )
    sides: Sides = {}
    for split in dict.fromkeys(match["split"] for match in found.values()):
        files = {
            match["language"]: name for name, match in found.items() if match["split"] == split
        }
        present = [language for language in languages if language in files]
        missing = [language for language in languages if language not in files]
        if present and missing:
            what = f"has {split}.{present[0]} but no {split}.{missing[0]}"
            raise InputError(
                str(folder),
                what,
                f"add {split}.{missing[0]}, or choose languages that have every split",
            )
        if present:
            sides[_canonical_split(split)] = {
                language: read_lines(folder / files[language], max_chars) for language in languages
            }
    return sides


def _read_tables(
    folder: Path, found: dict[str, re.Match[str]], wanted: Sequence[str], max_chars: int
) -> Sides:
    """Read ``train.tsv``, whose first line names the languages, or ``train.jsonl``, and so on."""
    _check_one_file_per_side(
        folder, {name: _canonical_split(match["split"]) for name, match in found.items()}
    )
    sides: Sides = {}
    for name, match in found.items():
        read = _read_tsv if match["kind"] == "tsv" else _read_jsonl
        sides[_canonical_split(match["split"])] = columns = read(folder / name, wanted, max_chars)
        first = next(iter(sides.values()))
        if columns.keys() != first.keys():
            what = (
                f"{name} has {', '.join(columns)}, but {next(iter(found))} has {', '.join(first)}"
            )
            raise InputError(
                str(folder),
                what,
                "give all files the same languages, or choose two that all of them have",
            )
    return sides if wanted else _without_identifiers(sides)


def _without_identifiers(sides: Sides) -> Sides:
    """Leave out a column `id` of single words next to two languages: it is not Indonesian."""
    found = [columns["id"].lines for columns in sides.values() if "id" in columns]
    if len(next(iter(sides.values()), {})) < 3 or any(
        len(line.split()) > 1 for lines in found for line in lines
    ):
        return sides
    return {
        split: {language: text for language, text in columns.items() if language != "id"}
        for split, columns in sides.items()
    }


def _read_tsv(path: Path, wanted: Sequence[str], max_chars: int) -> dict[str, TextLines]:
    """Read the columns of some languages from a tab-separated table."""
    table = read_lines(path, MAX_COLUMNS * max_chars)
    header = table.lines[0].split("\t") if table.lines else []
    # A table may have further columns: numbers, scores, domains.
    present = {name for name in header if re.fullmatch(LANGUAGE, name)}
    if len(present) < 2 and len(set(header)) == len(header):
        raise InputError(
            f"{path.name}:1",
            "does not name the languages of the columns",
            "put a first line such as 'en<TAB>de'",
        )
    if twice := [name for name in header if header.count(name) > 1]:
        raise InputError(
            f"{path.name}:1",
            f"names '{twice[0]}' more than once",
            "give every column its own language",
        )
    languages = _check_languages(path, wanted, present)
    columns = read_columns(
        replace(table, lines=table.lines[1:], numbers=table.numbers[1:]), header, max_chars
    )
    return {language: columns[language] for language in languages}


def _read_jsonl(path: Path, wanted: Sequence[str], max_chars: int) -> dict[str, TextLines]:
    """Read objects such as ``{"en": "…", "de": "…"}``, also wrapped as ``{"translation": {…}}``."""
    lines = read_lines(path, MAX_COLUMNS * max_chars)
    languages: list[str] = []
    columns: dict[str, list[str]] = {}
    too_long = dict(lines.too_long)
    for number, line in zip(lines.numbers, lines.lines, strict=True):
        texts = _parse_texts(line, f"{path.name}:{number}") if line else {}
        if not languages and line:
            if len(texts) < 2:  # the first line decides the languages
                what = (
                    f"has a text in {next(iter(texts))} only"
                    if texts
                    else "has no text in any language"
                )
                raise InputError(f"{path.name}:{number}", what, "give a string for each language")
            languages = _check_languages(path, wanted, set(texts))
            columns = {language: [""] * (number - 1) for language in languages}
        if line and (missing := [language for language in languages if language not in texts]):
            raise InputError(
                f"{path.name}:{number}",
                f"has no text in '{missing[0]}'",
                "give a string for each language",
            )
        if (
            longest := max((len(texts[language]) for language in languages if line), default=0)
        ) > max_chars:
            too_long[number], texts = longest, {}
        for language, column in columns.items():
            column.append(texts.get(language, ""))
    if not languages:
        raise InputError(path.name, "holds no pairs", 'write {"en": "…", "de": "…"} on each line')
    return {
        language: TextLines(path.name, column, lines.numbers, too_long, lines.notes)
        for language, column in columns.items()
    }


def _parse_texts(line: str, where: str) -> dict[str, str]:
    """Return the texts of a JSON object by language."""
    try:
        row = json.loads(line, object_pairs_hook=partial(_object_without_repeated_keys, where))
        row = row.get("translation", row)
        return {
            key: text
            for key, text in row.items()
            if re.fullmatch(LANGUAGE, key) and isinstance(text, str)
        }
    except (ValueError, AttributeError, RecursionError) as error:
        raise InputError(
            where, "is not a JSON object", 'write {"en": "…", "de": "…"} on each line'
        ) from error


def _object_without_repeated_keys(where: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; refuse a repeated key, of which the parser would keep the last."""
    row = dict(pairs)
    if len(row) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise InputError(where, f"names '{twice}' more than once", "write each key once")
    return row


def _read_wit3(
    folder: Path, found: dict[str, re.Match[str]], wanted: Sequence[str], max_chars: int
) -> Sides:
    """Read ``train.tags.de-en.de`` and files such as ``IWSLT16.TED.tst2013.de-en.de.xml``.

    Sets of TEDX talks get the prefix ``tedx_``.
    """
    # By pair. The name of a pair does not determine its languages: pt-br-en.
    present: dict[str, set[str]] = {}
    for match in found.values():
        present.setdefault(match["pair"], set()).add(match["language"])
    pair = min([pair for pair, languages in present.items() if set(wanted) <= languages] or present)
    languages = _check_languages(folder, wanted, present[pair])
    sides: Sides = {}
    for split in dict.fromkeys(
        _wit3_split(match) for match in found.values() if match["pair"] == pair
    ):
        of_split = {
            name: match["language"]
            for name, match in found.items()
            if match["pair"] == pair and _wit3_split(match) == split
        }
        _check_one_file_per_side(folder, of_split)  # a folder may mix the editions of two years
        files = {language: name for name, language in of_split.items()}
        for language in languages:
            if language not in files:
                example = next(iter(files.values()))
                raise InputError(
                    str(folder),
                    f"has {example} but not its side in '{language}'",
                    "unpack the whole archive",
                )
        read = read_tagged if split == "train" else read_segments
        sides[split] = {
            language: read(folder / files[language], max_chars) for language in languages
        }
    return sides


def _wit3_split(match: re.Match[str]) -> str:
    """Return the split of a file of WIT3 by its name."""
    return (
        "train"
        if match["set"] is None
        else ("tedx_" if match["talks"] == "TEDX" else "") + match["set"]
    )
