"""Load corpora from the Hugging Face Hub: only tables converted to Parquet, never a script.

A table of translations has one column per language. Tables of articles and of dialogues are
reduced to two columns here.
"""

import glob
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from repro.data.formats import Sides
from repro.data.text import TextLines
from repro.errors import MachineError, shortened
from repro.generated.splits import SEPARATOR

if TYPE_CHECKING:
    import datasets

    ToColumns = Callable[[str, Mapping[str, datasets.Dataset]], dict[str, dict[str, list[str]]]]

# The Hub's name of each split -> our name.
SPLITS = {"train": "train", "validation": "dev", "test": "test"}
# Articles are cut after this many tokens, as by See et al. 2017, section 5.
ARTICLE_WORDS = 400
HISTORY = 3  # last turns of a dialogue in a context, after the persona
DEV_SHARE = 20  # without a dev set, one conversation in this many is held out
# Seconds. We ask first, because `datasets` retries for minutes without a network.
TIMEOUT = 10.0
# Seconds before a failed request is repeated. A report may ask for dozens of tables.
PATIENCE = 60.0


@dataclass(frozen=True)
class HubSource:
    """The place of a corpus on the Hub.

    Args:
        id: name of the data set.
        config: its folder on the branch of converted tables. ``{other}`` is replaced by the
            language that is not English; ``*`` matches the only configuration.
        revision: the branch. A commit would be safer, but the converter rewrites this branch.
        splits: the splits that it has.
        files: the tables of a split. The branch of converted tables holds only a part of what is
            larger than 5 GB; data sets that are tables themselves have theirs on ``main``.
        columns: for tasks other than translation, turns its tables, by split, into two columns of
            text, by our splits. Its first argument is the place that errors name.
    """

    id: str
    config: str = "*"
    revision: str = "refs/convert/parquet"
    splits: tuple[str, ...] = tuple(SPLITS)
    files: str = "{config}/{split}/*.parquet"
    columns: "ToColumns | None" = None


def load_from_hub(name: str, source: HubSource, languages: Sequence[str], max_chars: int) -> Sides:
    """Return the sides of train, dev and test of a corpus on the Hub.

    Raises:
        MachineError: no network, no such data set, or unexpected columns.
    """
    import datasets  # takes seconds to import
    import huggingface_hub

    where = f"{name} (huggingface.co/datasets/{source.id})"
    fix = f"connect to the network, or set REPRO_DATA to a folder that holds {name}/"
    other = next((language for language in languages if language != "en"), "")
    config = source.config.format(other=other)
    try:
        if not huggingface_hub.constants.HF_HUB_OFFLINE:
            _ask_hub(source)
        files = {split: source.files.format(config=config, split=split) for split in source.splits}
        tables = datasets.load_dataset(source.id, data_files=files, revision=source.revision)
    # The client, its HTTP library and `datasets` each raise their own classes.
    except Exception as error:
        raise MachineError(where, f"cannot be loaded ({_short_reason(error)})", fix) from error
    return _sides_of_tables(where, tables, source, languages, max_chars)


_failed_requests: dict[str, tuple[float, Exception]] = {}
"""Data set -> time of the last failed request, in seconds of the process's clock, and its error."""


def _ask_hub(source: HubSource) -> None:
    """Ask the Hub whether it has a data set, but not again right after a failed request."""
    import huggingface_hub

    asked, error = _failed_requests.get(source.id, (-math.inf, None))
    if error is not None and time.monotonic() - asked < PATIENCE:
        raise error
    try:
        huggingface_hub.HfApi().dataset_info(source.id, revision=source.revision, timeout=TIMEOUT)
    except Exception as error:
        _failed_requests[source.id] = time.monotonic(), error
        raise


def read_parquet_folder(
    source: HubSource, folder: Path, languages: Sequence[str], max_chars: int
) -> Sides:
    """Return the sides of all splits from a folder of Parquet tables with the Hub's layout.

    The layout is that of the Hub's branch, as in ``3.0.0/train/0000.parquet``.

    Raises:
        MachineError: no such tables, or unexpected columns.
    """
    import datasets

    plain = Path(glob.escape(str(folder)))  # brackets and stars in a path are not a pattern
    files = {split: str(plain / source.config / split / "*.parquet") for split in source.splits}
    try:
        tables = datasets.load_dataset("parquet", data_files=files)
    except Exception as error:  # as above
        fix = (
            f"put the files of {source.id}, branch {source.revision}, there: "
            f"{source.config}/train/*.parquet and so on"
        )
        raise MachineError(
            str(folder), f"cannot be loaded ({_short_reason(error)})", fix
        ) from error
    return _sides_of_tables(str(folder), tables, source, languages, max_chars)


def articles_and_summaries(
    where: str, tables: "Mapping[str, datasets.Dataset]"
) -> dict[str, dict[str, list[str]]]:
    """Return the first words of the articles of CNN/DailyMail, and their highlights as one line."""
    pairs = {}
    for split, table in tables.items():
        articles, highlights = _table_columns(where, split, table, "article", "highlights")
        summaries = [" ".join(text.split()) for text in highlights]
        pairs[SPLITS[split]] = {
            "article": [" ".join(text.split()[:ARTICLE_WORDS]) for text in articles],
            "summary": summaries,
        }
    return pairs


def contexts_and_replies(
    where: str, tables: "Mapping[str, datasets.Dataset]"
) -> dict[str, dict[str, list[str]]]:
    """Return the contexts (persona and last turns) and the replies of Persona-Chat.

    Each row of the table is a reply. ``personality`` and ``history`` are lists of sentences and
    turns. The last of the ``candidates`` is the actual reply; the others were drawn at random.
    There is no public test set: as is usual, test is the validation set, and dev is the last
    twentieth of the training conversations.
    """
    pairs = {}
    for split, table in tables.items():
        names = ("conv_id", "personality", "history", "candidates")
        conversations, personas, histories, candidates = _table_columns(where, split, table, *names)
        contexts = [
            SEPARATOR.join([" ".join(p), *h[-HISTORY:]])
            for p, h in zip(personas, histories, strict=True)
        ]
        rows = list(zip(contexts, [replies[-1] for replies in candidates], strict=True))
        if split == "validation":
            pairs["test"] = _dialogue_columns(rows)
            continue
        known = sorted(set(conversations))
        held_out = set(known[-max(1, len(known) // DEV_SHARE) :])
        for ours, is_dev in (("train", False), ("dev", True)):
            pairs[ours] = _dialogue_columns(
                [
                    row
                    for row, number in zip(rows, conversations, strict=True)
                    if (number in held_out) == is_dev
                ]
            )
    return pairs


def _dialogue_columns(rows: list[tuple[str, str]]) -> dict[str, list[str]]:
    """Return columns of contexts and replies, each on one line."""
    return {
        "context": [" ".join(context.split()) for context, _ in rows],
        "reply": [" ".join(reply.split()) for _, reply in rows],
    }


def _table_columns(where: str, split: str, table: "datasets.Dataset", *names: str) -> list[list]:
    """Return columns of a table by name."""
    for name in names:
        if name not in table.column_names:
            raise MachineError(
                where,
                f"has no column '{name}' in {split}, but {', '.join(table.column_names)}",
                "report that it changed",
            )
    return [list(table[name]) for name in names]


def _sides_of_tables(
    where: str,
    tables: "Mapping[str, datasets.Dataset]",
    source: HubSource,
    languages: Sequence[str],
    max_chars: int,
) -> Sides:
    """Return the lines of each split and language from tables of a dataset on the Hub."""
    tables = {split: table for split, table in tables.items() if split in SPLITS}
    if source.columns:
        pairs = source.columns(where, tables)
        # Both sides of a pair are in one row, so they cannot be shifted against each other; both
        # get the table's name.
        return {
            ours: {name: _text_lines(ours, columns[name], max_chars) for name in languages}
            for ours, columns in pairs.items()
        }
    return {
        SPLITS[split]: _language_columns(where, split, table, languages, max_chars)
        for split, table in tables.items()
    }


def _language_columns(
    where: str, split: str, table: "datasets.Dataset", languages: Sequence[str], max_chars: int
) -> dict[str, TextLines]:
    """Return sides from a table with a column per language, or a ``translation`` of dicts."""
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
        sides[language] = _text_lines(f"{SPLITS[split]}.{language}", texts, max_chars)
    return sides


def _text_lines(name: str, texts: list[str], max_chars: int) -> TextLines:
    """Return texts of the Hub as lines; overlong ones are noted and emptied."""
    too_long = {
        number: len(text) for number, text in enumerate(texts, start=1) if len(text) > max_chars
    }
    texts = ["" if number in too_long else text for number, text in enumerate(texts, start=1)]
    return TextLines(name, texts, range(1, len(texts) + 1), too_long)


def _short_reason(error: Exception) -> str:
    """Return an error as a short text."""
    return shortened(f"{type(error).__name__}: {error}".partition("\n")[0], 80)
