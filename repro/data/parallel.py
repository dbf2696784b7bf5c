"""A parallel corpus in memory: checked, aligned columns of text by split, with a record of everything that was left out."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from repro.data.leaks import Overlap
from repro.data.text import MAX_CHARS, TextLines, find_fault, remove_faults
from repro.errors import InputError, did_you_mean
from repro.files import write_atomic

if TYPE_CHECKING:
    import datasets

MAIN_SPLITS = ("train", "dev", "test")

# When is a stretch of lines shifted? Its lines' log length ratios must come closer to the usual one by this much in sum. On aligned
# corpora (Multi30k, Tanaka, Tatoeba) no offset gains more than 3; a line lost from Multi30k gains 6 within some 25 lines, from the
# short sentences of Tanaka within some 150.
SHIFT_GAIN = 6.0
MIN_SHIFTED_LINES = 20


@dataclass(frozen=True)
class Skipped:
    """A pair left out of its split, found at a line of a file, and why."""

    split: str
    file: str
    line: int
    reason: str


@dataclass(frozen=True)
class Split:
    """Aligned columns.

    Args:
        columns: the sentences by language; the n-th of each are translations of each other.
        numbers: by language, the line number in its file of each sentence.
        names: by language, the name of its file.
    """

    columns: dict[str, list[str]]
    numbers: Mapping[str, Sequence[int]]
    names: dict[str, str]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def place(self, index: int, language: str) -> str:
        """Name the line a sentence came from, as in ``train.de:17``."""
        return f"{self.names[language]}:{self.numbers[language][index]}"

    def select(self, indices: Sequence[int]) -> "Split":
        """Return the split with only these pairs, in this order."""
        columns = {language: [column[i] for i in indices] for language, column in self.columns.items()}
        numbers = {language: [column[i] for i in indices] for language, column in self.numbers.items()}
        return Split(columns, numbers, self.names)


@dataclass(frozen=True)
class Statistics:
    """The columns of Table 1 of You et al. 2020: pairs, and average length in words (tokens between blanks) over train and test."""

    train_pairs: int
    test_pairs: int
    source_length: float
    target_length: float


@dataclass(frozen=True)
class ParallelCorpus:
    """Sentences that are translations of each other.

    Args:
        name: as given to ``load_corpus``.
        languages: their codes.
        splits: by name: ``train``, ``dev``, ``test``, and further test sets under their own names.
        skipped: the pairs left out.
        leaks: overlaps between held-out splits and the others.
        notes: what a reader of a result should know about the loading.
        aliases: other names of splits, such as ``tst2013`` for ``test``.
        mends: for a split that is missing, how to get it.
    """

    name: str
    languages: tuple[str, ...]
    splits: dict[str, Split]
    skipped: list[Skipped] = field(default_factory=list)
    leaks: list[Overlap] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    aliases: Mapping[str, str] = field(default_factory=dict)
    mends: Mapping[str, str] = field(default_factory=dict)

    def pairs(self, split: str, source: str, target: str) -> tuple[list[str], list[str]]:
        """Return the sentences of a split in two languages.

        Raises:
            InputError: naming the splits or languages that exist, and the nearest.
        """
        columns = self[split].columns
        for language in (source, target):
            self._check_language(language)
        return columns[source], columns[target]

    def __getitem__(self, split: str) -> Split:
        known = self.aliases.get(split, split)
        if known not in self.splits:
            missing = f"add {known}.{self.languages[0]} and {known}.{self.languages[1]}, or a table, to the folder"
            yours = missing if known in MAIN_SPLITS and ":" in self.name else None
            mend = self.mends.get(known) or yours or did_you_mean(split, [*self.splits, *self.aliases])
            raise InputError(self.name, f"has no split '{split}'", mend)
        return self.splits[known]

    @property
    def dropped(self) -> Counter[str]:
        """Count the pairs left out, by reason."""
        return Counter(skip.reason for skip in self.skipped)

    @cached_property
    def fingerprint(self) -> str:
        """The SHA-256 of the texts of train, dev and test, whatever the way they were loaded.

        Further test sets are left out: they decide no training run, and not every source of a corpus has them.
        """
        rows = [f"{name} {language} {digest(self.splits[name].columns[language])}" for name, language in self._main_columns()]
        return hashlib.sha256("\n".join(rows).encode()).hexdigest()

    def _main_columns(self) -> list[tuple[str, str]]:
        return [(name, language) for name in MAIN_SPLITS if name in self.splits for language in sorted(self.languages)]

    @cached_property
    def dataset(self) -> "datasets.DatasetDict":
        """The corpus as Hugging Face ``datasets``, a column per language."""
        import datasets  # takes seconds to import, and only this needs it

        return datasets.DatasetDict({name: datasets.Dataset.from_dict(split.columns) for name, split in self.splits.items()})

    def statistics(self, source: str, target: str) -> Statistics:
        """Return what You et al. 2020 print of a corpus in their Table 1; a missing split counts 0 pairs."""
        held = [self.pairs(name, source, target) for name in ("train", "test") if name in self.splits]
        num_pairs = sum(len(sources) for sources, _ in held)
        means = [sum(len(text.split()) for pair in held for text in pair[side]) / max(1, num_pairs) for side in (0, 1)]
        sizes = {name: len(self.splits[name]) if name in self.splits else 0 for name in ("train", "test")}
        return Statistics(sizes["train"], sizes["test"], *means)

    def describe(self, overlap: Overlap) -> str:
        """Return in words how many pairs of a split are in another, and where the first one stands."""
        language = overlap.kind if overlap.kind in self.languages else self.languages[0]
        held, other = (
            self.splits[name].place(place, language) for name, place in zip((overlap.held_out, overlap.other), overlap.first, strict=True)
        )
        return f"{overlap}; first {held} = {other} ({overlap.kind})"

    def write_skipped(self, path: Path) -> None:
        """Write a table of the pairs left out: split, file, line number, reason."""
        rows = [f"{skip.split}\t{skip.file}\t{skip.line}\t{skip.reason}\n" for skip in self.skipped]
        write_atomic(path, ("split\tfile\tline\treason\n" + "".join(rows)).encode())

    def _check_language(self, language: str) -> None:
        if language not in self.languages:
            raise InputError(self.name, f"has no language '{language}'", did_you_mean(language, self.languages))


def digest(sentences: Sequence[str]) -> str:
    """Return the SHA-256 of a column of sentences."""
    return hashlib.sha256("\n".join(sentences).encode()).hexdigest()


def align(
    split: str, sides: Mapping[str, TextLines], is_official: bool = False, max_chars: int = MAX_CHARS
) -> tuple[Split, list[Skipped], list[str]]:
    """Check the sides of a split line by line and put them together.

    In train, a pair with a blank, faulty or overlong line is left out on both sides. Dev and test sets are never thinned out: there it
    is an error, except in an official set, which its user cannot mend: its faulty characters are removed, its blank lines stay, and both
    are noted.

    Args:
        split: its name.
        sides: the lines by language.
        is_official: whether this is a published corpus.
        max_chars: the limit with which the lines were read, for the message.

    Returns:
        the split, what was left out, and notes.

    Raises:
        InputError: different numbers of lines, sides shifted against each other, or a line that a test set must not have.
    """
    notes = list(dict.fromkeys(note for side in sides.values() for note in side.notes))
    first, *others = sides.values()
    for other in others:
        if len(other.lines) != len(first.lines):
            what = f"has {len(other.lines):,} lines, {first.name} has {len(first.lines):,}"
            raise InputError(other.name, what, "find the missing or extra line: line n of both files must be the same sentence")
        if shift := find_shift(first, other) if first.name != other.name else None:
            if not is_official:
                raise InputError(*shift)
            notes.append(f"{shift[0]}: {shift[1]}")
    skipped: dict[int, Skipped] = {}
    columns = {language: [text.strip() for text in side.lines] for language, side in sides.items()}
    for language, side in sides.items():
        bad_lines = list(_find_bad_lines(side, max_chars))
        for bad in bad_lines:
            number = side.numbers[bad.index]
            if split == "train":
                skipped.setdefault(bad.index, Skipped(split, side.name, number, bad.reason))
            elif is_official and bad.reason != "too long":
                columns[language][bad.index] = remove_faults(side.lines[bad.index]).strip()
            else:
                raise InputError(f"{side.name}:{number}", bad.what, "mend the line on both sides; a dev or test set is never shortened")
        if bad_lines and split != "train":
            notes.append(f"{side.name}: {len(bad_lines):,} lines of the official set are blank or had characters removed")
    numbers = {language: side.numbers for language, side in sides.items()}
    whole = Split(columns, numbers, {language: side.name for language, side in sides.items()})
    kept = [place for place in range(len(whole)) if place not in skipped]
    return whole.select(kept) if skipped else whole, [skipped[place] for place in sorted(skipped)], notes


def find_shift(one: TextLines, other: TextLines) -> tuple[str, str, str] | None:
    """Look for a stretch where the lines of the other side belong to neighbouring lines: a line is missing or doubled before it.

    Translations have similar lengths. For each small offset, the stretch is taken over which the length ratios of the pairs (i, i + offset)
    come closer to the usual ratio than those of (i, i), summed over its lines, most of all.

    Returns:
        where, what and mend of an error, or None.
    """
    if len(one.lines) < MIN_SHIFTED_LINES:
        return None
    import numpy as np  # not needed for the many small mistakes that are answered before

    lengths = [np.log1p([len(text) for text in side.lines]) for side in (one, other)]
    usual = np.median(lengths[0] - lengths[1])
    aligned = np.abs(lengths[0] - lengths[1] - usual)
    best = (SHIFT_GAIN, 0, 0, 0)
    for offset in (-3, -2, -1, 1, 2, 3):
        shifted = np.abs(lengths[0] - np.roll(lengths[1], -offset) - usual)
        # One odd line must not weigh like a stretch; and the small price keeps a file sorted by length, where all offsets fit, below zero.
        gains = np.clip(aligned - shifted, -1, 1) - 0.02
        sums = np.concatenate([[0.0], np.cumsum(gains)])
        rises = sums - np.minimum.accumulate(sums)
        end = int(np.argmax(rises))
        start = int(np.argmin(sums[: end + 1]))
        if end - start >= MIN_SHIFTED_LINES:
            best = max(best, (float(rises[end]), start, end, offset))
    _, start, end, offset = best
    if not offset:
        return None
    lines = "line" if abs(offset) == 1 else "lines"
    what = f"from about here, {end - start:,} lines fit {other.name} {abs(offset)} {lines} {'further' if offset > 0 else 'back'}"
    return f"{one.name}:{one.numbers[start]}", what, "look for a missing or doubled line there, in one file or the other"


@dataclass(frozen=True)
class _BadLine:
    index: int
    reason: str
    what: str


def _find_bad_lines(side: TextLines, max_chars: int) -> Iterator[_BadLine]:
    """Yield the lines that no corpus should have."""
    for index, text in enumerate(side.lines):
        if fault := find_fault(text):
            yield _BadLine(index, fault.reason, f"column {fault.column} holds {fault.code_point}, {fault.reason}")
        elif not text or text.isspace():
            if num_chars := side.too_long.get(side.numbers[index]):
                yield _BadLine(index, "too long", f"has {num_chars:,} characters (max_chars {max_chars:,})")
            else:
                yield _BadLine(index, "blank", "is blank")
