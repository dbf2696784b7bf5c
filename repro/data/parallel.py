"""A parallel corpus in memory: checked, aligned columns of text by split, and what was left out."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro.data.characters import clean_line
from repro.data.leaks import Overlap
from repro.errors import InputError, did_you_mean
from repro.files import write_atomic

if TYPE_CHECKING:
    import datasets

MAIN_SPLITS = ("train", "dev", "test")
SKIPPED_TITLES = "split\tfile\tline\treason\n"


@dataclass(frozen=True)
class Skipped:
    """A pair left out of its split: its file, line and reason; or `lines` of them in a row."""

    split: str
    file: str
    line: int
    reason: str
    lines: int = 1


@dataclass(frozen=True)
class Split:
    """Aligned columns of sentences.

    Args:
        columns: the sentences by language; the n-th of each are translations of each other.
        numbers: by language, the line number of each sentence in its file.
        names: by language, the name of the file of each sentence.
    """

    columns: dict[str, list[str]]
    numbers: Mapping[str, Sequence[int]]
    names: Mapping[str, Sequence[str]]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def place(self, index: int, language: str) -> str:
        """Return the file and line of a sentence, as in ``train.de:17``."""
        return f"{self.names[language][index]}:{self.numbers[language][index]}"

    def select(self, indices: Sequence[int]) -> "Split":
        """Return the split with only these pairs, in this order."""

        def chosen(field: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
            return {language: [column[i] for i in indices] for language, column in field.items()}

        return Split(chosen(self.columns), chosen(self.numbers), chosen(self.names))


@dataclass(frozen=True)
class Statistics:
    """Numbers of pairs, and mean lengths in words over train and test (You et al. 2020, Table 1).

    Words are separated by blanks.
    """

    train_pairs: int
    test_pairs: int
    source_length: float
    target_length: float


@dataclass(frozen=True)
class ParallelCorpus:
    """A corpus of sentences and their translations.

    Args:
        name: as given to ``load_corpus``.
        languages: language codes.
        splits: by name: ``train``, ``dev``, ``test``, and further test sets under their own names.
        skipped: the pairs left out.
        leaks: overlaps between held-out splits and the others.
        notes: remarks about the loading for readers of a result.
        aliases: other names of splits, such as ``tst2013`` for ``test``.
        fixes: how to get a missing split, by split.
    """

    name: str
    languages: tuple[str, ...]
    splits: dict[str, Split]
    skipped: list[Skipped] = field(default_factory=list)
    leaks: list[Overlap] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    aliases: Mapping[str, str] = field(default_factory=dict)
    fixes: Mapping[str, str] = field(default_factory=dict)

    def pairs(self, split: str, source: str, target: str) -> tuple[list[str], list[str]]:
        """Return the sentences of a split in two languages: clean sources, references as published.

        In train, `align` has cleaned both sides already.

        Raises:
            InputError: an unknown split or language; names the nearest.
        """
        columns = self[split].columns
        for language in (source, target):
            self._check_language(language)
        sources = columns[source]
        return sources if self.aliases.get(split, split) == "train" else [
            clean_line(text) for text in sources
        ], columns[target]

    def __getitem__(self, split: str) -> Split:
        known = self.aliases.get(split, split)
        if known not in self.splits:
            fix = self.fixes.get(known) or did_you_mean(split, [*self.splits, *self.aliases])
            raise InputError(self.name, f"has no split '{split}'", fix)
        return self.splits[known]

    @property
    def dropped(self) -> Counter[str]:
        """Count the pairs left out, by reason."""
        dropped: Counter[str] = Counter()
        for skip in self.skipped:
            dropped[skip.reason] += skip.lines
        return dropped

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the texts of train, dev and test, independent of their source.

        Further test sets are left out: no training depends on them, and not every source of a
        corpus has them.
        """
        rows = [
            f"{name} {language} {column_digest(self.splits[name].columns[language])}"
            for name, language in self._main_columns()
        ]
        return hashlib.sha256("\n".join(rows).encode()).hexdigest()

    def _main_columns(self) -> list[tuple[str, str]]:
        """Return the split and language of each column of train, dev and test."""
        return [
            (name, language)
            for name in MAIN_SPLITS
            if name in self.splits
            for language in sorted(self.languages)
        ]

    @cached_property
    def dataset(self) -> "datasets.DatasetDict":
        """The corpus as Hugging Face ``datasets``, a column per language."""
        import datasets  # takes seconds to import

        return datasets.DatasetDict(
            {name: datasets.Dataset.from_dict(split.columns) for name, split in self.splits.items()}
        )

    def statistics(self, source: str, target: str) -> Statistics:
        """Return the numbers of Table 1 of You et al. 2020; a missing split counts 0 pairs."""
        held = [
            self.pairs(name, source, target) for name in ("train", "test") if name in self.splits
        ]
        num_pairs = sum(len(sources) for sources, _ in held)
        means = [
            sum(len(text.split()) for pair in held for text in pair[side]) / max(1, num_pairs)
            for side in (0, 1)
        ]
        sizes = {
            name: len(self.splits[name]) if name in self.splits else 0 for name in ("train", "test")
        }
        return Statistics(sizes["train"], sizes["test"], *means)

    def describe(self, overlap: Overlap) -> str:
        """Describe an overlap of two splits: the counts, and the place of the first pair."""
        language = overlap.kind if overlap.kind in self.languages else self.languages[0]
        held, other = (
            self.splits[name].place(place, language)
            for name, place in zip((overlap.held_out, overlap.other), overlap.first, strict=True)
        )
        return f"{overlap}; first {held} = {other} ({overlap.kind})"

    def missing(self) -> dict[str, str]:
        """Return how to get each of train, dev and test that is missing; "" if that is unknown."""
        return {
            split: self.fixes.get(split, "") for split in MAIN_SPLITS if split not in self.splits
        }

    def unseen_characters(self, split: str) -> Counter[str]:
        """Count the characters of a split that do not occur in train: no model knows them."""
        known, found = (
            "".join(chain.from_iterable(self[name].columns.values())) for name in ("train", split)
        )
        return Counter(found) - Counter({character: len(found) for character in set(known)})

    def write_skipped(self, path: Path) -> None:
        """Write a table of the pairs left out: split, file, line or range of lines, reason."""
        rows = []
        for skip in self.skipped:
            last = f"-{skip.line + skip.lines - 1}" if skip.lines > 1 else ""
            rows.append(f"{skip.split}\t{skip.file}\t{skip.line}{last}\t{skip.reason}\n")
        write_atomic(path, (SKIPPED_TITLES + "".join(rows)).encode())

    def _check_language(self, language: str) -> None:
        """Refuse a language that the corpus lacks."""
        if language not in self.languages:
            raise InputError(
                self.name, f"has no language '{language}'", did_you_mean(language, self.languages)
            )


def check_skipped(path: Path) -> None:
    """Refuse to overwrite a file of a corpus that is not a table of pairs left out.

    Raises:
        InputError: the path is such a file.
    """
    titles = SKIPPED_TITLES.encode()
    with suppress(OSError), open(path, "rb") as file:
        if file.read(len(titles)) != titles:
            raise InputError(
                str(path),
                "exists already, and is not a table of pairs left out",
                "name another file",
            )


def column_digest(sentences: Sequence[str]) -> str:
    """Return the SHA-256 of a column of sentences."""
    return hashlib.sha256("\n".join(sentences).encode()).hexdigest()
