"""Put the sides of a split together, line by line.

Faulty lines are fixed, left out, noted or refused.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from repro.data.characters import (
    LONE_SURROGATE,
    REMOVABLE,
    SEPARATOR,
    Fault,
    clean_line,
    find_faults,
    without_surrogates,
)
from repro.data.parallel import Skipped, Split
from repro.data.text import MAX_CHARS, MAX_PLACES, TextLines
from repro.errors import InputError

BLANK = "blank"

# A stretch of lines is shifted if its log length ratios come closer to the usual one by this sum.
# On aligned corpora (Multi30k, Tanaka, Tatoeba) no offset gains more than 3. A line lost from
# Multi30k gains 6 within some 25 lines, one from the short sentences of Tanaka within some 150.
SHIFT_GAIN = 6.0
MIN_SHIFTED_LINES = 20


@dataclass(frozen=True)
class Cleaning:
    """What is done about faulty lines.

    Args:
        is_published: whether others published the text, so that a user cannot correct it: a shift
            of one side is noted, not refused.
        cleans_references: whether characters that no model should see are removed from the
            references of dev and test sets, too. Their scores cannot be compared with scores on the
            published text.
        fixes_train: whether such a character is removed from a training line that is whole without
            it, instead of leaving its pair out.
    """

    is_published: bool = False
    cleans_references: bool = False
    fixes_train: bool = True


@dataclass(frozen=True)
class Aligned:
    """The sides of a split put together; None where they cannot be.

    Args:
        split: the pairs that stay.
        skipped: those that were left out.
        notes: for readers of a result.
        errors: the reasons why the split is refused.
    """

    split: Split | None
    skipped: list[Skipped]
    notes: list[str]
    errors: list[InputError]


def align(
    name: str, sides: Mapping[str, TextLines], cleaning: Cleaning, max_chars: int = MAX_CHARS
) -> Aligned:
    """Check the sides of a split line by line and put them together.

    In train, a pair with a blank, overlong or damaged line is left out on both sides. Dev and test
    sets stay as they were published, blank lines included: no pair is left out. Only from their
    source side does `ParallelCorpus.pairs` remove the characters that no model should see. All of
    it is noted.

    Args:
        name: of the split.
        sides: the lines by language.
        cleaning: what is done about faulty lines.
        max_chars: the limit with which the lines were read, for the message.
    """
    notes = list(dict.fromkeys(note for side in sides.values() for note in side.notes))
    errors: list[InputError] = []
    first, *others = sides.values()
    for other in others:
        if len(other.lines) != len(first.lines):
            what = f"has {len(other.lines):,} lines, {first.name} has {len(first.lines):,}"
            fix = "find the missing or extra line: line n of both files must be the same sentence"
            return Aligned(None, [], notes, [InputError(other.name, what, fix)])
        if shift := find_shift(first, other) if first.name != other.name else None:
            if cleaning.is_published:
                notes.append(f"{shift[0]}: {shift[1]}")
            else:
                errors.append(InputError(*shift))
    numbers = {language: side.numbers for language, side in sides.items()}
    columns = {language: [text.strip() for text in side.lines] for language, side in sides.items()}
    names = {language: [side.name] * len(side.lines) for language, side in sides.items()}
    split = Split(columns, numbers, names)
    is_table = len({side.name for side in sides.values()}) == 1
    labels = {
        language: f"{side.name}, {language}" if is_table else side.name
        for language, side in sides.items()
    }
    if name != "train":
        for language, side in sides.items():
            errors += _check_held_out(side, columns[language], cleaning, max_chars)
            notes += _notes_of_held_out(side, labels[language], columns[language], cleaning)
        return Aligned(split, [], notes, errors)
    kept, skipped, touched = _clean_train(sides, columns, cleaning)
    for language, found in touched.items():
        notes += found.notes(labels[language])
    return Aligned(split.select(kept) if skipped else split, skipped, notes, errors)


def _check_held_out(
    side: TextLines, column: list[str], cleaning: Cleaning, max_chars: int
) -> list[InputError]:
    """Return why a side of a corpus's dev or test set is refused.

    In a published one, halves of characters are removed from its column.
    """
    fix = "correct the line on both sides; a dev or test set is never shortened"
    errors = []
    for index, text in enumerate(side.lines):
        where = f"{side.name}:{side.numbers[index]}"
        if num_chars := side.too_long.get(side.numbers[index]):
            errors.append(
                InputError(where, f"has {num_chars:,} characters (max_chars {max_chars:,})", fix)
            )
        for fault in find_faults(text):
            if fault.reason != LONE_SURROGATE:
                continue
            if not cleaning.is_published:
                errors.append(
                    InputError(
                        where,
                        f"column {fault.column} holds {fault.code_point}, {fault.reason}",
                        fix,
                    )
                )
                break
            column[index] = without_surrogates(column[index])
    return errors


def _notes_of_held_out(
    side: TextLines, label: str, column: list[str], cleaning: Cleaning
) -> list[str]:
    """Note the lines of a dev or test set that are blank or hold what no model should see.

    Clean its column if that is wanted.
    """
    touched = _Touched()
    blank = 0
    for index, text in enumerate(side.lines):
        if faults := find_faults(text):
            touched.add(faults)
            if cleaning.cleans_references:
                column[index] = clean_line(text)
        blank += not column[index] and side.numbers[index] not in side.too_long
    kept = "" if cleaning.cleans_references else "; kept in references"
    return [
        *touched.notes(label, kept),
        *([f"{label}: {_lines(blank)} blank, kept as published"] if blank else []),
    ]


def _clean_train(
    sides: Mapping[str, TextLines], columns: dict[str, list[str]], cleaning: Cleaning
) -> "tuple[list[int], list[Skipped], dict[str, _Touched]]":
    """Fix the columns of train.

    Returns:
        The indices of the pairs that stay, the pairs that were left out, and the fixed characters
        by language.
    """
    kept: list[int] = []
    skipped: list[Skipped] = []
    touched = {language: _Touched() for language in sides}
    for index in range(len(next(iter(columns.values())))):
        found = {language: find_faults(side.lines[index]) for language, side in sides.items()}
        for language, side in sides.items():
            if reason := _why_left_out(side, index, found[language], cleaning):
                _note_left_out(skipped, side, index, reason)
                break
        else:
            kept.append(index)
            for language, faults in found.items():
                if faults:
                    columns[language][index] = clean_line(sides[language].lines[index])
                    touched[language].add(faults)
    return kept, skipped, touched


def _note_left_out(skipped: list[Skipped], side: TextLines, index: int, reason: str) -> None:
    """Add a pair to those left out, or join it to the last entry: a blank pair just before."""
    last, number = skipped[-1] if skipped else None, side.numbers[index]
    if (
        last
        and reason == last.reason == BLANK
        and (last.file, last.line + last.lines) == (side.name, number)
    ):
        skipped[-1] = replace(last, lines=last.lines + 1)
    else:
        skipped.append(Skipped("train", side.name, number, reason))


def _why_left_out(side: TextLines, index: int, faults: list[Fault], cleaning: Cleaning) -> str:
    """Return the reason why this side has its pair left out of train, or an empty text."""
    for fault in faults:
        if fault.reason not in REMOVABLE or not cleaning.fixes_train:
            return fault.reason
    if side.numbers[index] in side.too_long:
        return "too long"
    text = side.lines[index]
    return BLANK if not text or text.isspace() or (faults and not clean_line(text)) else ""


@dataclass
class _Touched:
    """How many lines of a file hold characters that no model should see, and which."""

    num_lines: int = 0
    num_separated: int = 0
    code_points: Counter[str] = field(default_factory=Counter)

    def add(self, faults: Sequence[Fault]) -> None:
        """Count the characters of a line that no model should see."""
        found = {fault.code_point for fault in faults if fault.reason != SEPARATOR}
        self.num_lines += bool(found)
        self.num_separated += len(found) < len({fault.code_point for fault in faults})
        self.code_points.update(found)

    def notes(self, file: str, kept: str = "") -> list[str]:
        """Return notes that name the commonest characters, and say where they are kept.

        Empty if there are none.
        """
        named = ", ".join(
            name for name, _ in self.code_points.most_common(MAX_PLACES)
        ) + ", ..." * (len(self.code_points) > MAX_PLACES)
        unseen = (
            f"{_lines(self.num_lines)} with characters that no model should see ({named}), read "
            f"without them{kept}"
        )
        separated = f"{_lines(self.num_separated)} with {SEPARATOR} (U+200B), read as blanks{kept}"
        return [f"{file}: {unseen}"] * bool(self.num_lines) + [f"{file}: {separated}"] * bool(
            self.num_separated
        )


def _lines(count: int) -> str:
    """Return a number of lines in words."""
    return f"{count:,} line{'s' if count > 1 else ''}"


def find_shift(one: TextLines, other: TextLines) -> tuple[str, str, str] | None:
    """Look for a stretch of lines that fit neighbouring lines of the other side.

    A line is then missing or doubled before it. Translations have similar lengths. For each small
    offset, the length ratios of the pairs (i, i + offset) are compared with those of (i, i). The
    stretch is chosen over which they come closer to the usual ratio by the largest sum.

    Returns:
        where, what and fix of an error, or None.
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
        # A single odd line must not count like a stretch. The small price keeps the sum below zero
        # in a file sorted by length, where all offsets fit.
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
    what = (
        f"from about here, {end - start:,} lines fit {other.name} {abs(offset)} {lines} "
        f"{'further' if offset > 0 else 'back'}"
    )
    return (
        f"{one.name}:{one.numbers[start]}",
        what,
        "look for a missing or doubled line there, in one file or the other",
    )
