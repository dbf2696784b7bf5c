"""Loads corpora from the Hugging Face Hub: only tables converted to Parquet, never a script that the Hub would have us run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from repro.data.formats import Sides
from repro.data.text import TextLines
from repro.errors import MachineError

if TYPE_CHECKING:
    import datasets

SPLITS = {"train": "train", "validation": "dev", "test": "test"}  # the Hub's word for each split, and ours
TIMEOUT = 10.0  # seconds; without this first question, `datasets` tries for minutes when there is no network


@dataclass(frozen=True)
class HubSource:
    """Where a corpus lies on the Hub.

    Args:
        id: the data set.
        config: its folder on the branch of converted tables; ``{other}`` stands for the language that is not English, and ``*`` for
            the only configuration there is.
        revision: the branch (a commit would be firmer, but the converter rewrites this branch).
    """

    id: str
    config: str = "*"
    revision: str = "refs/convert/parquet"


def load_from_hub(name: str, source: HubSource, languages: Sequence[str], max_chars: int) -> Sides:
    """Return the sides of train, dev and test.

    Raises:
        MachineError: no network, no such data set, or other columns than expected.
    """
    import datasets  # takes seconds to import
    import huggingface_hub

    where = f"{name} (huggingface.co/datasets/{source.id})"
    mend = f"connect to the network, or set REPRO_DATA to a folder that holds {name}/"
    other = next((language for language in languages if language != "en"), "")
    config = source.config.format(other=other)
    try:
        if not huggingface_hub.constants.HF_HUB_OFFLINE:
            huggingface_hub.HfApi().dataset_info(source.id, revision=source.revision, timeout=TIMEOUT)
        files = {split: f"{config}/{split}/*.parquet" for split in SPLITS}
        tables = datasets.load_dataset(source.id, data_files=files, revision=source.revision)
    except Exception as error:  # the client, its HTTP library and `datasets` each raise classes of their own
        reason = f"{type(error).__name__}: {error}".partition("\n")[0][:80]
        raise MachineError(where, f"cannot be loaded ({reason})", mend) from error
    return {SPLITS[split]: _sides(where, split, table, languages, max_chars) for split, table in tables.items() if split in SPLITS}


def _sides(where: str, split: str, table: "datasets.Dataset", languages: Sequence[str], max_chars: int) -> dict[str, TextLines]:
    """Turn a table with a column per language, or with one column ``translation`` of dictionaries, into sides."""
    columns = {name.removeprefix("translation."): name for name in table.flatten().column_names}
    sides = {}
    for language in languages:
        if language not in columns:
            raise MachineError(where, f"has no column '{language}' in {split}, but {', '.join(columns)}", "choose languages that it has")
        texts = [text or "" for text in table.flatten()[columns[language]]]
        too_long = {number: len(text) for number, text in enumerate(texts, start=1) if len(text) > max_chars}
        texts = ["" if number in too_long else text for number, text in enumerate(texts, start=1)]
        sides[language] = TextLines(f"{SPLITS[split]}.{language}", texts, range(1, len(texts) + 1), too_long)
    return sides
