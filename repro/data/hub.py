"""Loads corpora from the Hugging Face Hub: only tables converted to Parquet, never a script that the Hub would have us run.

A table of translations has a column per language. Tables of articles and of dialogues are turned
into two columns here.
"""

import glob
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import huggingface_hub  # lazy itself: a hundredth of a second

from repro.data.formats import Sides
from repro.data.text import TextLines
from repro.errors import MachineError, shortened
from repro.generated.splits import SEPARATOR

if TYPE_CHECKING:
    import datasets

# the Hub's word for each split, and ours
SPLITS = {"train": "train", "validation": "dev", "test": "test"}
# of an article are read: See et al. 2017, section 5, who cut it after that many tokens
ARTICLE_WORDS = 400
HISTORY = 3  # last turns of a dialogue that a reply is written to, besides the persona
DEV_SHARE = 20  # one conversation in so many is held out where there is no dev set
# seconds; without this first question, `datasets` tries for minutes when there is no network
TIMEOUT = 10.0
# seconds for which a Hub that did not answer is not asked again: a report may ask for dozens of
# tables
PATIENCE = 60.0


@dataclass(frozen=True)
class HubSource:
    """Where a corpus lies on the Hub.

    Args:
        id: the data set.
        config: its folder on the branch of converted tables; ``{other}`` stands for the language
            that is not English, and ``*`` for the only configuration there is.
        revision: the branch (a commit would be firmer, but the converter rewrites this branch).
        splits: those that it has.
        columns: turns its tables, by split, into two columns of text by our splits, where they are
            no translations. Its first argument is the place that errors name.
    """

    id: str
    config: str = "*"
    revision: str = "refs/convert/parquet"
    splits: tuple[str, ...] = tuple(SPLITS)
    columns: "Callable[[str, Mapping[str, datasets.Dataset]], dict[str, dict[str, list[str]]]] | None" = None


def load_from_hub(name: str, source: HubSource, languages: Sequence[str], max_chars: int) -> Sides:
    """Return the sides of train, dev and test.

    Raises:
        MachineError: no network, no such data set, or other columns than expected.
    """
    import datasets  # takes seconds to import

    where = f"{name} (huggingface.co/datasets/{source.id})"
    mend = f"connect to the network, or set REPRO_DATA to a folder that holds {name}/"
    other = next((language for language in languages if language != "en"), "")
    config = source.config.format(other=other)
    try:
        if not huggingface_hub.constants.HF_HUB_OFFLINE:
            _ask(source)
        files = {split: f"{config}/{split}/*.parquet" for split in source.splits}
        tables = datasets.load_dataset(source.id, data_files=files, revision=source.revision)
    # the client, its HTTP library and `datasets` each raise classes of their own
    except Exception as error:
        raise MachineError(where, f"cannot be loaded ({_reason(error)})", mend) from error
    return _sides(where, tables, source, languages, max_chars)


_unanswered: dict[str, tuple[float, Exception]] = {}
"""Data set -> when it was last asked for in vain, in seconds of the process's clock, and what came instead of an answer."""


def _ask(source: HubSource) -> None:
    """Ask the Hub whether it has a data set."""
    asked, error = _unanswered.get(source.id, (-math.inf, None))
    if error is not None and time.monotonic() - asked < PATIENCE:
        raise error
    try:
        huggingface_hub.HfApi().dataset_info(source.id, revision=source.revision, timeout=TIMEOUT)
    except Exception as error:
        _unanswered[source.id] = time.monotonic(), error
        raise


def read_tables(source: HubSource, folder: Path, languages: Sequence[str], max_chars: int) -> Sides:
    """Return the same from a folder that holds the tables as the branch of the Hub does, as in ``3.0.0/train/0000.parquet``.

    Raises:
        MachineError: no such tables, or other columns than expected.
    """
    import datasets

    plain = Path(glob.escape(str(folder)))  # its own brackets and stars are no pattern
    files = {split: str(plain / source.config / split / "*.parquet") for split in source.splits}
    try:
        tables = datasets.load_dataset("parquet", data_files=files)
    except Exception as error:  # as above
        mend = f"put the files of {source.id}, branch {source.revision}, there: {source.config}/train/*.parquet and so on"
        raise MachineError(str(folder), f"cannot be loaded ({_reason(error)})", mend) from error
    return _sides(str(folder), tables, source, languages, max_chars)


def articles_and_summaries(
    where: str, tables: "Mapping[str, datasets.Dataset]"
) -> dict[str, dict[str, list[str]]]:
    """Return the beginnings of articles, and their highlights as one line; a table of CNN/DailyMail holds an article a row."""
    pairs = {}
    for split, table in tables.items():
        articles, highlights = _take(where, split, table, "article", "highlights")
        summaries = [" ".join(text.split()) for text in highlights]
        pairs[SPLITS[split]] = {
            "article": [" ".join(text.split()[:ARTICLE_WORDS]) for text in articles],
            "summary": summaries,
        }
    return pairs


def contexts_and_replies(
    where: str, tables: "Mapping[str, datasets.Dataset]"
) -> dict[str, dict[str, list[str]]]:
    """Return what each reply of a dialogue answers (persona and last turns), and the reply.

    A table of Persona-Chat holds a reply a row: ``personality`` and ``history`` are lists of
    sentences and turns, the last of the ``candidates`` is the reply that was given, the others were
    drawn at random. There is no public test set: as is usual, test is the validation set, and dev
    is the last twentieth of the conversations for training.
    """
    pairs = {}
    for split, table in tables.items():
        names = ("conv_id", "personality", "history", "candidates")
        conversations, personas, histories, candidates = _take(where, split, table, *names)
        contexts = [
            SEPARATOR.join([" ".join(p), *h[-HISTORY:]])
            for p, h in zip(personas, histories, strict=True)
        ]
        rows = list(zip(contexts, [replies[-1] for replies in candidates], strict=True))
        if split == "validation":
            pairs["test"] = _columns(rows)
            continue
        known = sorted(set(conversations))
        held_out = set(known[-max(1, len(known) // DEV_SHARE) :])
        for ours, is_dev in (("train", False), ("dev", True)):
            pairs[ours] = _columns(
                [
                    row
                    for row, number in zip(rows, conversations, strict=True)
                    if (number in held_out) == is_dev
                ]
            )
    return pairs


def _columns(rows: list[tuple[str, str]]) -> dict[str, list[str]]:
    return {
        "context": [" ".join(context.split()) for context, _ in rows],
        "reply": [" ".join(reply.split()) for _, reply in rows],
    }


def _take(where: str, split: str, table: "datasets.Dataset", *names: str) -> list[list]:
    """Return columns of a table by name."""
    for name in names:
        if name not in table.column_names:
            raise MachineError(
                where,
                f"has no column '{name}' in {split}, but {', '.join(table.column_names)}",
                "report that it changed",
            )
    return [list(table[name]) for name in names]


def _sides(
    where: str,
    tables: "Mapping[str, datasets.Dataset]",
    source: HubSource,
    languages: Sequence[str],
    max_chars: int,
) -> Sides:
    tables = {split: table for split, table in tables.items() if split in SPLITS}
    if source.columns:
        pairs = source.columns(where, tables)
        # Both sides of a pair stand in one row, so both have the table's name: nothing can be
        # shifted against the other.
        return {
            ours: {name: _lines(ours, columns[name], max_chars) for name in languages}
            for ours, columns in pairs.items()
        }
    return {
        SPLITS[split]: _languages(where, split, table, languages, max_chars)
        for split, table in tables.items()
    }


def _languages(
    where: str, split: str, table: "datasets.Dataset", languages: Sequence[str], max_chars: int
) -> dict[str, TextLines]:
    """Turn a table with a column per language, or with one column ``translation`` of dictionaries, into sides."""
    columns = {name.removeprefix("translation."): name for name in table.flatten().column_names}
    sides = {}
    for language in languages:
        if language not in columns:
            raise MachineError(
                where,
                f"has no column '{language}' in {split}, but {', '.join(columns)}",
                "choose languages that it has",
            )
        texts = [text or "" for text in table.flatten()[columns[language]]]
        sides[language] = _lines(f"{SPLITS[split]}.{language}", texts, max_chars)
    return sides


def _lines(name: str, texts: list[str], max_chars: int) -> TextLines:
    too_long = {
        number: len(text) for number, text in enumerate(texts, start=1) if len(text) > max_chars
    }
    texts = ["" if number in too_long else text for number, text in enumerate(texts, start=1)]
    return TextLines(name, texts, range(1, len(texts) + 1), too_long)


def _reason(error: Exception) -> str:
    return shortened(f"{type(error).__name__}: {error}".partition("\n")[0], 80)
