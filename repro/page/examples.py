"""Sentences to begin with, by the corpus that a model was trained on."""

from typing import NamedTuple

from repro.core.config import DataConfig
from repro.data.catalogue import minigerman_splits
from repro.generated.minigerman import Example

CAPTIONS = (
    "Two young girls are playing with a small dog on the beach.",
    "A man in a blue shirt is standing on a ladder cleaning a window.",
    "An old woman sells fresh vegetables at the market.",
)
OF_ANY = {"en": ("The dog sees a man.",), "de": ("Der Hund schläft.",)}
LEAST_WORDS, MOST_WORDS = 5, 8
# Phenomena of the grammar in the order of the page; each is shown by one sentence.
SHOWN = (
    "inversion",
    "perfect",
    "kein",
    "modal",
    "separated_particle",
    "compound",
    "question",
    "relative_clause",
    "dative",
    "verb_final",
)


class Sentence(NamedTuple):
    """A sentence with the only right translation, which is empty where none is known."""

    source: str
    reference: str = ""


def sentences_for(data: DataConfig) -> list[Sentence]:
    """Return sentences for a model of a corpus; those of `minigerman` are of its test set."""
    if data.corpus == "minigerman" and {data.source, data.target} == {"en", "de"}:
        sides = ((each.english, each.german) for each in generated())
        is_english = data.source == "en"
        return [Sentence(*(pair if is_english else pair[::-1])) for pair in sides]
    if data.corpus == "multi30k" and data.source == "en":
        return [Sentence(text) for text in CAPTIONS]
    return [Sentence(text) for text in OF_ANY.get(data.source, OF_ANY["de"])]


def generated() -> list[Example]:
    """Return a short test sentence for each phenomenon that the page shows."""
    short = [
        each
        for each in minigerman_splits()["test"]
        if LEAST_WORDS <= len(each.english.split()) <= MOST_WORDS
    ]
    found: list[Example] = []
    for name in SHOWN:
        found += [each for each in short if name in each.phenomena and each not in found][:1]
    return found
