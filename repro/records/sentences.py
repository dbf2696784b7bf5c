"""Tables of sentences: translations, and the whole numbers from which their scores are computed.

A table is tab-separated text with a header, compressed by bzip2, so that R, pandas and a
spreadsheet read it. Scores, resamples and intervals follow from its sums and from the lengths of
the references: none of them needs the text of a corpus. `results/FORMAT.md` describes the columns.
"""

import bz2
import csv
import hashlib
import io
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from repro.errors import DamagedFileError, MachineError
from repro.files import write_atomic
from repro.reading import read_plain
from repro.statistics.metrics import TOKENISED, CorpusMetric, Distinct

SUFFIX = ".tsv.bz2"
FIX = "restore the file, or delete the record and evaluate or measure the run again"
STEMS = {
    "BLEU": "bleu",
    "chrF": "chrf",
    TOKENISED: "tokenised_bleu",
    "ROUGE-1": "rouge_1",
    "ROUGE-2": "rouge_2",
    "ROUGE-L": "rouge_l",
}
"""Name of a metric -> the prefix of its columns."""
WORD_ORDERS, CHARACTER_ORDERS = range(1, 5), range(1, 7)  # n-grams of BLEU and of chrF

Column = list[str] | np.ndarray
Numbers = dict[str, np.ndarray]
Metrics = Sequence[CorpusMetric | Distinct]


class Table(Mapping[str, Any]):
    """Columns of texts or numbers by name, all of the same length.

    Args:
        columns: by name.
    """

    def __init__(self, columns: Mapping[str, Sequence[Any] | np.ndarray]) -> None:
        self._columns = {name: _as_column(values) for name, values in columns.items()}

    @property
    def digest(self) -> str:
        """SHA-256 of the text of the table, before compression."""
        return hashlib.sha256(self.text()).hexdigest()

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self.values())))

    def text(self) -> bytes:
        """Return the table as tab-separated text with a header; texts are in quotes."""
        file = io.StringIO()
        writer = csv.writer(file, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        columns = (c if isinstance(c, list) else c.tolist() for c in self.values())
        writer.writerow(self)
        writer.writerows(zip(*columns, strict=True))
        return file.getvalue().encode()

    def write(self, path: Path) -> None:
        """Write the table, compressed, whole or not at all."""
        write_atomic(path, bz2.compress(self.text()))

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self.digest == other.digest

    __hash__ = None  # type: ignore[assignment]


class StoredTable(Table):
    """A table in a file whose text has a known SHA-256.

    It is read when a column is used; a process reads its numbers once.

    Args:
        path: of the file.
        digest: of its text. A file with another text is refused when it is read.
    """

    def __init__(self, path: Path, digest: str) -> None:
        self.path, self._digest = path, digest

    @property
    def digest(self) -> str:
        """SHA-256 of the text that the file should have."""
        return self._digest

    @property
    def num_rows(self) -> int:
        """The number of rows, read from the numbers."""
        return len(
            next(iter(_number_columns(self.path.absolute(), self.path, self._digest).values()))
        )

    def is_sound(self) -> bool:
        """Read the table and return True; for errors see `_read_table`."""
        return bool(_read_table(self.path.absolute(), self.path, self._digest))

    def __getitem__(self, name: str) -> Any:
        numbers = _number_columns(self.path.absolute(), self.path, self._digest)
        return (
            numbers[name]
            if name in numbers
            else _read_table(self.path.absolute(), self.path, self._digest)[name]
        )

    def __iter__(self) -> Iterator[str]:
        return iter(_read_table(self.path.absolute(), self.path, self._digest))

    def __len__(self) -> int:
        return len(list(iter(self)))


class JoinedTable(Table):
    """The rows of several tables with the same columns, one table after another."""

    def __init__(self, parts: Sequence[Table]) -> None:
        self._parts = parts

    def __getitem__(self, name: str) -> Any:
        columns = [part[name] for part in self._parts]
        if isinstance(columns[0], list):
            return [text for column in columns for text in column]
        return np.concatenate(columns)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts[0])

    def __len__(self) -> int:
        return len(self._parts[0])


@cache
def _number_columns(place: Path, path: Path, digest: str) -> Numbers:
    """Return the columns of numbers of a stored table, kept for the whole process."""
    return {
        name: column
        for name, column in _read_table(place, path, digest).items()
        if not isinstance(column, list)
    }


@lru_cache(maxsize=4)  # texts are read seldom, and take more room than numbers
def _read_table(_place: Path, path: Path, digest: str) -> dict[str, Column]:
    """Read a stored table of sentences.

    Args:
        _place: the resolved path; in another working folder, a relative one is another file.
        path: as it was given, for messages.
        digest: of the text.

    Raises:
        DamagedFileError: its text has another digest.
        MachineError: the file cannot be read.
    """
    try:
        text = bz2.decompress(read_plain(path))
    except FileNotFoundError as error:
        raise DamagedFileError(str(path), "is missing", FIX) from error
    except (OSError, ValueError) as error:
        if (
            isinstance(error, OSError) and error.errno is not None
        ):  # an error of the disk, not bzip2
            raise cannot_read(path, error) from error
        raise DamagedFileError(str(path), "is no table", FIX) from error
    if hashlib.sha256(text).hexdigest() != digest:
        raise DamagedFileError(str(path), "is not the table that its record was written with", FIX)
    rows = csv.reader(
        io.StringIO(text.decode(), newline=""), delimiter="\t", quoting=csv.QUOTE_NONNUMERIC
    )
    names, columns = next(rows), list(zip(*rows, strict=True))
    return {
        name: _as_column(values)
        for name, values in zip(names, columns or [()] * len(names), strict=True)
    }


def cannot_read(path: Path, error: OSError) -> MachineError:
    """Return the error for a stored file or folder that cannot be opened, but may be sound."""
    fix = "check its permissions and its disk, then start again"
    return MachineError(str(path), f"cannot be read ({error.strerror})", fix)


def _as_column(values: Sequence[Any] | np.ndarray) -> Column:
    """Return a column of a table of sentences: texts as a list, numbers as an array."""
    if len(values) and isinstance(values[0], str):
        return list(values)
    numbers = np.asarray(values, dtype=float)
    is_whole = np.isfinite(numbers).all() and (numbers == np.round(numbers)).all()
    return numbers.astype(np.int32) if is_whole else numbers


def statistic_columns(metrics: Metrics, hyps: list[str]) -> Numbers:
    """Return the columns of a table of sentences that scores are computed from.

    For BLEU: the words, and the n-grams of one to four words that the reference has, too. For chrF:
    the characters without blanks, and the n-grams of one to six that match. For ROUGE: the F1 of a
    text.
    """
    found: Numbers = {}
    for metric in metrics:
        if isinstance(metric, Distinct):
            continue
        stem, sums = STEMS[metric.name], metric.statistics(hyps)
        if metric.name == "chrF":
            found[f"{stem}_characters"] = np.array([_num_characters(hyp) for hyp in hyps])
            found |= {f"{stem}_{n}": sums[:, 3 * n - 1] for n in CHARACTER_ORDERS}
        elif _is_bleu(metric.name):
            found[f"{stem}_words"] = sums[:, 0]
            found |= {f"{stem}_{n}": sums[:, n + 1] for n in WORD_ORDERS}
        else:
            found[f"{stem}_f1"] = sums[:, 0]
    return found


def describe_references(metrics: Metrics, sources: list[str], refs: list[str]) -> Table:
    """Return the stored table of a test set: words, and lengths of references by metric."""
    found: dict[str, Any] = {
        name: [len(text.split()) for text in side]
        for name, side in zip(LENGTHS, (sources, refs), strict=True)
    }
    for metric in metrics:
        if isinstance(metric, CorpusMetric) and metric.name == "chrF":
            found[f"{STEMS[metric.name]}_characters"] = [_num_characters(ref) for ref in refs]
        elif isinstance(metric, CorpusMetric) and _is_bleu(metric.name):
            found[f"{STEMS[metric.name]}_words"] = metric.statistics(refs)[:, 0]
    return Table(found)


SOURCE_WORDS, REFERENCE_WORDS = LENGTHS = ("source_words", "reference_words")
"""Columns of `describe_references` by which a test set is cut into bins."""


def statistics(
    name: str, counted: Mapping[str, np.ndarray], references: Mapping[str, np.ndarray]
) -> np.ndarray:
    """Return the sufficient statistics of a table's texts, `(num_texts, num_statistics)`.

    They are those of `metrics.CorpusMetric.statistics`.

    Args:
        name: of the metric.
        counted: its columns of the texts, as `statistic_columns` returns them.
        references: its columns of their references.
    """
    stem = STEMS[name]
    if name == "chrF":
        of_text, of_reference = (
            counted[f"{stem}_characters"],
            references[f"{stem}_characters"],
        )
        columns = []
        for n in CHARACTER_ORDERS:
            there = _num_ngrams(of_reference, n)
            columns += [np.where(there, _num_ngrams(of_text, n), 0), there, counted[f"{stem}_{n}"]]
        return np.stack(columns, axis=1)
    if _is_bleu(name):
        words = counted[f"{stem}_words"]
        matches, totals = (
            [counted[f"{stem}_{n}"] for n in WORD_ORDERS],
            [_num_ngrams(words, n) for n in WORD_ORDERS],
        )
        return np.stack([words, references[f"{stem}_words"], *matches, *totals], axis=1)
    shares = counted[f"{stem}_f1"].astype(float)
    return np.stack([shares, np.ones_like(shares)], axis=1)


def has_statistics(name: str) -> bool:
    """Return whether a record's score follows from sums over its table of sentences."""
    return name in STEMS


def _is_bleu(name: str) -> bool:
    """Return whether the statistics in a table of sentences are of a kind of BLEU."""
    return name in ("BLEU", TOKENISED)


def _num_ngrams(length: np.ndarray, n: int) -> np.ndarray:
    """Return the number of n-grams in sentences of so many words or characters, for a table."""
    return np.maximum(length - n + 1, 0)


def _num_characters(text: str) -> int:
    """Return the characters of a sentence in a table, without blanks."""
    return len("".join(text.split()))
