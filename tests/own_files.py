"""Small corpora in files of one's own, for tests of reading and refusing them."""

from pathlib import Path

import pytest

from repro.data.corpora import load_corpus
from repro.errors import ReproError

# Sentences of very different lengths, so that shifted sides do not fit.
SIZES = [1 + (7 * i * i + 3 * i) % 23 for i in range(400)]
EN = [f"line {i} " + "word " * size + "end" for i, size in enumerate(SIZES)]
DE = [f"Zeile {i} " + "Wort " * size + "Ende" for i, size in enumerate(SIZES)]


def write(folder: Path, **texts: bytes | str | list[str]) -> str:
    """Write files, ``train_en=`` as ``train.en``, and return the name of the corpus."""
    for name, text in texts.items():
        lines = "".join(line + "\n" for line in text) if isinstance(text, list) else text
        (folder / name.replace("_", ".")).write_bytes(
            lines.encode("utf-8", "surrogatepass") if isinstance(lines, str) else lines
        )
    return f"local:{folder}"


def write_corpus(folder: Path, **changed: bytes | str | list[str]) -> str:
    """Write a good corpus of 20 / 3 / 4 pairs, but for what is changed."""
    good = {
        "train_en": EN[:20],
        "train_de": DE[:20],
        "dev_en": EN[20:23],
        "dev_de": DE[20:23],
        "test_en": EN[23:27],
        "test_de": DE[23:27],
    }
    return write(folder, **{**good, **changed})


def message(error_type: type[ReproError], *arguments, **options) -> str:
    """Load a corpus that is refused, and return the one line that says why."""
    with pytest.raises(error_type) as caught:
        load_corpus(*arguments, **options)
    text = str(caught.value)
    assert "\n" not in text
    return text
