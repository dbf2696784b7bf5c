"""Read gold word alignments: which words of a sentence and of its translation belong together.

- German-English: 100 sentences of Europarl, Biçici 2011, The Regression Model of Machine
  Translation.
- English-French: 447 sentences of Hansards, Och and Ney 2000, Improved Statistical Alignment
  Models, with sure and possible links.
- Japanese-English: 582 sentences of KFTT, Neubig 2011, the Kyoto Free Translation Task.

Texts are tokenised as published, and in part lower-cased. Both directions of a pair have the same
links. A link to a word that the sentence does not have is left out and counted.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import repeat
from pathlib import Path

from repro.data.text import read_lines
from repro.errors import InputError, MachineError

FOLDER = "word-align-gold"  # inside REPRO_DATA
SEPARATOR = "|||"

Links = frozenset[tuple[int, int]]


@dataclass(frozen=True)
class GoldFiles:
    """Where the alignments of a pair of languages are, and how they are written.

    Args:
        languages: source and target of the links.
        name: of the set, in results.
        links: file of the links, below `FOLDER`.
        texts: one file with `source ||| target`, or one a side.
        first: the number of the first word.
    """

    languages: tuple[str, str]
    name: str
    links: str
    texts: tuple[str, ...]
    first: int


GOLD = (
    GoldFiles(
        ("de", "en"),
        "Europarl, Biçici",
        "bicici-europarl-de-en/de-en.wa",
        ("bicici-europarl-de-en/test.de", "bicici-europarl-de-en/test.en"),
        0,
    ),
    GoldFiles(
        ("en", "fr"),
        "Hansards, Och and Ney",
        "awesome-align/enfr.gold",
        ("awesome-align/enfr.src-tgt",),
        1,
    ),
    GoldFiles(
        ("ja", "en"),
        "KFTT, Neubig",
        "awesome-align/jaen.gold",
        ("awesome-align/jaen.src-tgt",),
        1,
    ),
)


@dataclass(frozen=True)
class AlignedPair:
    """A sentence pair with its gold links.

    Args:
        source, target: the texts; words are separated by blanks.
        sure: links that every annotator wants, as (source word, target word), from 0.
        possible: these and those that are also right.
    """

    source: str
    target: str
    sure: Links
    possible: Links


@dataclass(frozen=True)
class GoldAlignments:
    """Sentence pairs of a direction with gold links.

    Args:
        name: of the set.
        pairs: in the order of the file.
        num_stray: links left out, because they name a word that is not there.
    """

    name: str
    pairs: tuple[AlignedPair, ...]
    num_stray: int

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all texts and links; results are comparable only if it is equal."""
        rows = [
            repr((pair.source, pair.target, sorted(pair.sure), sorted(pair.possible)))
            for pair in self.pairs
        ]
        return sha256("\n".join(rows).encode()).hexdigest()


def load_alignments(source: str, target: str) -> GoldAlignments:
    """Return the gold alignments of a direction of translation, from the folder REPRO_DATA.

    Raises:
        InputError: there are none for these languages, or the files do not fit together.
        MachineError: the files are not there.
    """
    for files in GOLD:
        if {source, target} == set(files.languages):
            found = _read(files)
            return found if (source, target) == files.languages else _reversed(found)
    known = ", ".join("-".join(files.languages) for files in GOLD)
    what = f"there are none for {source} and {target}"
    raise InputError("gold alignments", what, f"choose a run in one of {known}, either way")


def _read(files: GoldFiles) -> GoldAlignments:
    """Read the files of gold word alignments, and refuse absent or unequal ones."""
    root = os.environ.get("REPRO_DATA", "")
    folder = Path(root) / FOLDER
    for name in (files.links, *files.texts):
        if not root or not (folder / name).is_file():
            what = (
                f"are not in REPRO_DATA ({root})" if root else "need REPRO_DATA, which is not set"
            )
            fix = f"put {name} into REPRO_DATA/{FOLDER}/"
            raise MachineError(f"gold alignments of {'-'.join(files.languages)}", what, fix)
    links = read_lines(folder / files.links)
    texts = list(_texts(files, folder))
    if len(links.lines) != len(texts):
        what = f"has {len(links.lines):,} lines for {len(texts):,} sentence pairs"
        raise InputError(links.name, what, "take both files from one release")
    pairs, num_stray = [], 0
    for number, (line, (source, target)) in enumerate(zip(links.lines, texts, strict=True), 1):
        found = list(_links(line, files.first, f"{links.name}:{number}"))
        sizes = len(source.split()), len(target.split())
        kept = [link for link in found if all(0 <= link[side] < sizes[side] for side in (0, 1))]
        num_stray += len(found) - len(kept)
        possible = frozenset((i, j) for i, j, _ in kept)
        sure = frozenset((i, j) for i, j, is_sure in kept if is_sure)
        pairs.append(AlignedPair(source, target, sure, possible))
    return GoldAlignments(files.name, tuple(pairs), num_stray)


def _texts(files: GoldFiles, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the sentence pairs of gold alignments, from two files or one."""
    first, *others = [read_lines(folder / name).lines for name in files.texts]
    for other in others:
        if len(other) != len(first):
            what = f"has {len(first):,} lines, {files.texts[1]} has {len(other):,}"
            raise InputError(files.texts[0], what, "take both files from one release")
    rows = zip(first, *others, strict=True) if others else map(str.split, first, repeat(SEPARATOR))
    for number, row in enumerate(rows, 1):
        if len(row) != 2:
            what = f"has {len(row)} sides, not 2"
            raise InputError(f"{files.texts[0]}:{number}", what, f"write source {SEPARATOR} target")
        source, target = (" ".join(text.split()) for text in row)
        yield source, target


def _links(line: str, first: int, where: str) -> Iterator[tuple[int, int, bool]]:
    """Yield the links of a line such as `0-0 1p2`: source word, target word, whether it is sure."""
    for text in line.split():
        match = re.fullmatch(r"(\d+)([-p])(\d+)", text)
        if not match:
            raise InputError(where, f"has the link '{text}'", "write sure 0-1, or possible 0p1")
        yield int(match[1]) - first, int(match[3]) - first, match[2] == "-"


def _reversed(found: GoldAlignments) -> GoldAlignments:
    """Return gold alignments in the other direction of translation."""

    def turned(links: Links) -> Links:
        return frozenset((j, i) for i, j in links)

    pairs = tuple(
        AlignedPair(pair.target, pair.source, turned(pair.sure), turned(pair.possible))
        for pair in found.pairs
    )
    return GoldAlignments(found.name, pairs, found.num_stray)
