"""Fifty captions of our own with digits, brackets, marks and umlauts, and what a model makes of
them.

`python tests/captions_with_numbers.py` tells it of the gallery's model of captions.
"""

import re
from dataclasses import dataclass

from repro import Translator
from repro.runs import gallery
from repro.runs.models import load_translator

FRAMES = (
    "A man wearing the number {} jumps.",
    "Player number {} throws the ball.",
    "A girl in a blue shirt with the number {} kicks a ball.",
    "A boy with {} on his jersey runs.",
    "Runner {} crosses the finish line.",
    "A bus with the number {} stands on the street.",
    "A race car with the number {} drives around a corner.",
)
NUMBERS = ("6", "7", "8", "9", "16", "27")
OTHERS = (
    "Two girls (one in blue and the other in pink) are racing.",
    "A man in a red & white shirt is sitting on a bench.",
    "What is the dog doing?",
    "A crowd cheers: the team has won!",
    "A sign says 50% off.",
    "The woman reads a map of Österreich.",
    "A man named Özgür plays the guitar.",
    "A couple/family is walking on the beach.",
)
CAPTIONS = (*(frame.format(number) for frame in FRAMES for number in NUMBERS), *OTHERS)


@dataclass(frozen=True)
class Found:
    """What became of the captions.

    Args:
        unreadable: how many hold a character without a piece.
        kept: how many of those with a number have it, and no other, in their translation.
        numbered: how many have a number.
    """

    unreadable: int
    kept: int
    numbered: int


def translate_captions(translator: Translator) -> tuple[list[str], Found]:
    """Translate the captions, and count what became of their numbers."""
    translations = translator.translate(CAPTIONS)
    unreadable = sum(bool(translator.subwords.unknown_characters([text])) for text in CAPTIONS)
    numbers = [
        (re.findall(r"\d+", a), re.findall(r"\d+", b))
        for a, b in zip(CAPTIONS, translations, strict=True)
    ]
    numbered = [(before, after) for before, after in numbers if before]
    return translations, Found(
        unreadable, sum(before == after for before, after in numbered), len(numbered)
    )


if __name__ == "__main__":
    translations, found = translate_captions(load_translator(gallery.load("multi30k-base")))
    for caption, translation in zip(CAPTIONS, translations, strict=True):
        print(f"{caption}\n    {translation}")
    print(found)
