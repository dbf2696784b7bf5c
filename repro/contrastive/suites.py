"""Read and make contrastive test suites: a source, its reference, and translations with an error.

A good model finds the erroneous translations less likely.

- LingEval97 (Sennrich: How Grammatical is Character-level Neural Machine Translation?, EACL 2017):
  one error at a time, by type.
- ContraWSD (Rios, Mascarell, Sennrich: Improving Word Sense Disambiguation in Neural Machine
  Translation with Sense Embeddings, WMT 2017) and MuCoW (Raganato, Scherrer, Tiedemann, WMT 2019):
  an ambiguous word, translated in all its wrong senses.
- minigerman: pairs with exact errors from the generated corpus.

`mucow.py` reads the text form of MuCoW; `german_errors` makes errors in any German text.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from repro.data.catalogue import minigerman_splits
from repro.data.characters import clean_line, normalise
from repro.errors import InputError
from repro.generated import minigerman

WORD_SENSE = "word_sense"
BLANKS = " \t\r\n"
SUITE_LAYOUT = (
    'write a list of {"source": "…", "reference": "…", '
    '"errors": [{"type": "…", "contrastive": "…"}]}'
)


@dataclass(frozen=True)
class ContrastiveItem:
    """One decision between a reference and wrong translations.

    Args:
        source: the sentence to translate.
        reference: its right translation.
        contrastive: wrong translations, at least one; the decision is right if the reference
            scores better than all of them.
        type: type of the error, such as `np_agreement` or `word_sense`.
        distance: number of words from the wrong word to the word that proves it wrong, adjacent
            = 1; None if undefined or unknown.
        word: the ambiguous word, if any.
        origin: the corpus or test set of the item, as its suite names it.
    """

    source: str
    reference: str
    contrastive: tuple[str, ...]
    type: str
    distance: int | None = None
    word: str = ""
    origin: str = ""


@dataclass(frozen=True)
class ContrastiveSuite:
    """Contrastive items of one direction of translation.

    Args:
        name: its name in results.
        source, target: language codes.
        items: in the order of the file or of their generation.
        skipped: number of items left out, by reason.
    """

    name: str
    source: str
    target: str
    items: tuple[ContrastiveItem, ...]
    skipped: Counter[str] = field(default_factory=Counter)

    def __len__(self) -> int:
        return len(self.items)

    @property
    def types(self) -> Counter[str]:
        """Count the items by type, in the order of their first occurrence."""
        return Counter(item.type for item in self.items)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all items; results are comparable only if it is equal."""
        return hashlib.sha256(
            json.dumps([asdict(item) for item in self.items]).encode()
        ).hexdigest()


def suite_without_overlap(
    suite: ContrastiveSuite, sources: Iterable[str], references: Iterable[str]
) -> ContrastiveSuite:
    """Return the suite without items whose source or reference occurs in a training corpus.

    `skipped` counts them. MuCoW is made of corpora that models are trained on; Raganato et al. 2020
    leave such items out.

    Args:
        suite: to be filtered.
        sources, references: the sides of the training corpus. Case, punctuation and spacing are
            ignored, as in `data/leaks.py`.
    """
    known_sources, known_references = (
        {normalise(text) for text in side} for side in (sources, references)
    )
    items, skipped = [], Counter(suite.skipped)
    for item in suite.items:
        sides = {
            "source": normalise(item.source) in known_sources,
            "reference": normalise(item.reference) in known_references,
        }
        if any(sides.values()):
            found_sides = " and ".join(side for side, found in sides.items() if found)
            skipped[f"{found_sides} in the training data"] += 1
        else:
            items.append(item)
    return replace(suite, items=tuple(items), skipped=skipped)


def prepared_suite(
    suite: ContrastiveSuite, prepare: Callable[[list[str]], list[str]]
) -> ContrastiveSuite:
    """Return a contrastive suite as a model reads it, without the items that it cannot decide.

    Where the error is one of case, models of lower-cased text see none. `skipped` counts such
    items. A suite that is prepared already stays as it is.

    Args:
        suite: of any text.
        prepare: see `Translator`.
    """
    items = []
    for item in suite.items:
        source, reference, *contrastive = prepare([item.source, item.reference, *item.contrastive])
        if reference not in contrastive:
            items.append(
                replace(item, source=source, reference=reference, contrastive=tuple(contrastive))
            )
    unseen = Counter({"the model does not see the error": len(suite.items) - len(items)})
    return replace(suite, items=tuple(items), skipped=suite.skipped + unseen)


@cache  # drawing takes seconds
def minigerman_suite(num_per_type: int, seed: int, target: str = "de") -> ContrastiveSuite:
    """Draw a suite of exact pairs of the generated corpus, without sentences of its training split.

    Args:
        num_per_type: number of items of each type.
        seed: of the sentences.
        target: `de` or `en`; see `minigerman.PHENOMENA`.

    Raises:
        InputError: an unknown target.
    """

    pairs = minigerman.contrastive_pairs(
        num_per_type, seed, target, exclude=minigerman_splits()["train"]
    )
    items = [
        ContrastiveItem(
            pair.source, pair.reference, (pair.contrastive,), pair.phenomenon, pair.distance
        )
        for pair in pairs
    ]
    return ContrastiveSuite(
        f"minigerman-seed{seed}", "en" if target == "de" else "de", target, tuple(items)
    )


def read_suite(path: Path, source: str, target: str) -> ContrastiveSuite:
    """Read a suite from the JSON of LingEval97, ContraWSD or the scoring suite of MuCoW.

    Each error of an entry becomes an item, but the errors of type `word_sense` are the alternatives
    of one item. Texts are cleaned of characters that no model should see (`data/characters.py`).
    Blank texts, and contrastive translations equal to their reference, are left out and counted.

    Args:
        path: the file; its name becomes the name of the suite.
        source, target: language codes; the file does not name them.

    Raises:
        InputError: the file is not such a suite; names the line of the entry.
    """
    path = Path(path)
    items: list[ContrastiveItem] = []
    skipped: Counter[str] = Counter()
    for number, entry in _json_entries(path):
        for item in _entry_items(entry, f"{path.name}:{number}"):
            if not item.source or not item.reference:
                skipped[f"blank {'reference' if item.source else 'source'}"] += 1
                continue
            wrong = tuple(text for text in item.contrastive if text and text != item.reference)
            skipped["blank contrastive translation"] += item.contrastive.count("")
            skipped["contrastive translation equals the reference"] += item.contrastive.count(
                item.reference
            )
            if wrong:
                items.append(replace(item, contrastive=wrong))
    if not items:
        raise InputError(path.name, "holds no contrastive pair", SUITE_LAYOUT)
    return ContrastiveSuite(path.name.removesuffix(".json"), source, target, tuple(items), +skipped)


def suite_text(value: Any, where: str, what: str) -> str:
    """Return a text of a suite as models read it, "" for a blank one.

    Raises:
        InputError: the text is missing, or not a string.
    """
    if not isinstance(value, str):
        raise InputError(where, f"has no text as {what}", "give a sentence, or delete the entry")
    return "" if value.isspace() else clean_line(value)


def _json_entries(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the entries of a suite's JSON list, each with the number of its first line."""
    # Reading a pipe that nobody fills would never return.
    if path.exists() and not path.is_file():
        raise InputError(str(path), "is not a regular file", "name a file of JSON")
    try:
        data = path.read_bytes()
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path.name}:{number}",
            f"byte 0x{data[error.start]:02X} is not UTF-8",
            "save the file as UTF-8",
        ) from error
    except OSError as error:
        raise InputError(
            str(path), f"cannot be read ({error.strerror})", "check the path and its permissions"
        ) from error
    decoder = json.JSONDecoder()
    place = _expect_character(text, 0, "[", path)
    number = 1 + text.count("\n", 0, place)
    while True:
        start = _skip_blanks(text, place)
        number += text.count("\n", place, start)
        try:
            entry, place = decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            raise InputError(
                f"{path.name}:{error.lineno}",
                f"is not JSON ({error.msg}, column {error.colno})",
                SUITE_LAYOUT,
            ) from error
        except RecursionError as error:
            raise InputError(
                f"{path.name}:{number}", "is nested too deeply", SUITE_LAYOUT
            ) from error
        except ValueError as error:
            raise InputError(
                f"{path.name}:{number}", "has a number of too many digits", SUITE_LAYOUT
            ) from error
        if not isinstance(entry, dict):
            raise InputError(f"{path.name}:{number}", "is not an object", SUITE_LAYOUT)
        yield number, entry
        number += text.count("\n", start, place)
        after = _expect_character(text, place, ",]", path)
        number += text.count("\n", place, after)
        place = after
        if text[place - 1] == "]":
            break
    end = _skip_blanks(text, place)
    if end < len(text):
        number += text.count("\n", place, end)
        raise InputError(
            f"{path.name}:{number}", "has text after the end of the list", SUITE_LAYOUT
        )


def _skip_blanks(text: str, place: int) -> int:
    """Return the next place in a suite's JSON that is not blank."""
    while place < len(text) and text[place] in BLANKS:
        place += 1
    return place


def _expect_character(text: str, place: int, wanted: str, path: Path) -> int:
    """Return the place after the next character of a suite's JSON; refuse an unwanted one."""
    place = _skip_blanks(text, place)
    if place == len(text) or text[place] not in wanted:
        found = f"'{text[place]}'" if place < len(text) else "the end of the file"
        raise InputError(
            f"{path.name}:{text.count(chr(10), 0, place) + 1}",
            f"has {found} where '{wanted[0]}' belongs",
            SUITE_LAYOUT,
        )
    return place + 1


def _entry_items(entry: dict[str, Any], where: str) -> Iterator[ContrastiveItem]:
    """Yield the contrastive items of a suite's entry, with that of word senses last."""
    source, reference = (
        suite_text(entry.get(side), where, side) for side in ("source", "reference")
    )
    errors = entry.get("errors")
    if not isinstance(errors, list) or not all(isinstance(error, dict) for error in errors):
        raise InputError(where, "has no list 'errors'", SUITE_LAYOUT)
    word, origin = (str(entry.get(key) or "") for key in ("ambig word", "origin"))
    senses = []
    for error in errors:
        contrastive, kind, distance = (
            suite_text(error.get("contrastive"), where, "contrastive"),
            error.get("type"),
            error.get("distance"),
        )
        if not isinstance(kind, str) or not kind:
            raise InputError(
                where, f"has an error of type {kind!r}", "name the type, as in LingEval97"
            )
        if distance is not None and (type(distance) is not int or distance < 0):
            raise InputError(
                where, f"has the distance {distance!r}", "give a number of words, or leave it out"
            )
        if kind == WORD_SENSE:
            senses.append(contrastive)
        else:
            yield ContrastiveItem(source, reference, (contrastive,), kind, distance, word, origin)
    if senses:
        yield ContrastiveItem(source, reference, tuple(senses), WORD_SENSE, None, word, origin)
