"""Read the text form of MuCoW, the WMT19 test suite of ambiguous words and their translations.

Raganato, Scherrer, Tiedemann: The MuCoW Test Suite at WMT 2019, WMT 2019.
https://github.com/Helsinki-NLP/MuCoW

    PAIR.text.txt   the source sentences
    PAIR.ref.txt    their references
    PAIR.key.txt    id, corpus, ambiguous word, right translations, wrong translations
                    (separated by tabs; alternatives by blanks)

The translation suite has no contrastive translations. Here each wrong translation replaces the
right one, in the same number and with the same capital letter; "a" and "an" are adapted. Sentences
where that is not safe are left out and counted.
"""

import os
import re
from collections import Counter
from pathlib import Path

from repro.contrastive.suites import WORD_SENSE, ContrastiveItem, ContrastiveSuite, suite_text
from repro.data.text import TextLines, read_lines
from repro.errors import InputError, MachineError

FOLDER = "mucow-de-en"  # inside REPRO_DATA
NUM_COLUMNS = 5
VERB_ENDINGS = ("ed", "ing")
SILENT_H = ("hour", "honest", "honor", "honour", "heir")
# "a user", "an uncle": the first letter does not determine the article.
UNCLEAR_START = ("u", "eu", "ew", "one", "once", "x")


def load_mucow() -> ContrastiveSuite:
    """Read the German-English suite from the folder REPRO_DATA.

    Raises:
        MachineError: the suite is not there.
    """
    root = os.environ.get("REPRO_DATA")
    if not root or not (Path(root) / FOLDER).is_dir():
        what = f"is not in REPRO_DATA ({root})" if root else "needs REPRO_DATA, which is not set"
        fix = (
            "put de-en.text.txt, .ref.txt and .key.txt of github.com/Helsinki-NLP/MuCoW into "
            f"REPRO_DATA/{FOLDER}/"
        )
        raise MachineError("mucow", what, fix)
    return read_mucow(Path(root) / FOLDER)


def read_mucow(folder: Path) -> ContrastiveSuite:
    """Read the only suite of a folder; the `origin` of an item is its corpus, such as `ted`.

    Raises:
        InputError: a file is missing, the files have different lengths, or a line is malformed.
    """
    folder = Path(folder)
    found = sorted(folder.glob("*.key.txt"))
    if len(found) != 1:
        raise InputError(
            str(folder),
            f"holds {len(found)} files named PAIR.key.txt",
            "put one suite there, as de-en.key.txt",
        )
    pair = found[0].name.removesuffix(".key.txt")
    if not re.fullmatch(r"[a-z]{2,3}-[a-z]{2,3}", pair):
        raise InputError(
            found[0].name, f"'{pair}' is not a pair of languages", "name the files as de-en.key.txt"
        )
    keys, sources, references = (
        read_lines(folder / f"{pair}.{kind}.txt") for kind in ("key", "text", "ref")
    )
    for other in (sources, references):
        if len(other.lines) != len(keys.lines):
            raise InputError(
                other.name,
                f"has {len(other.lines):,} lines, {keys.name} {len(keys.lines):,}",
                "fetch the suite again",
            )
    items: list[ContrastiveItem] = []
    skipped: Counter[str] = Counter()
    for index in range(len(keys.lines)):
        made = _item_of_line(keys, sources, references, index)
        if isinstance(made, str):
            skipped[made] += 1
        else:
            items.append(made)
    source, target = pair.split("-")
    return ContrastiveSuite("mucow", source, target, tuple(items), skipped)


def _item_of_line(
    keys: TextLines, sources: TextLines, references: TextLines, index: int
) -> ContrastiveItem | str:
    """Return the contrastive item of a line of MuCoW, or the reason to leave it out."""
    where = f"{keys.name}:{index + 1}"
    cells = keys.lines[index].split("\t")
    if len(cells) != NUM_COLUMNS or not all(cell.strip() for cell in cells):
        what = (
            f"has {len([cell for cell in cells if cell.strip()])} filled columns, not {NUM_COLUMNS}"
        )
        raise InputError(
            where, what, "put id, corpus, word, right and wrong translations there, tabs between"
        )
    source, reference = (
        suite_text(side.lines[index], f"{side.name}:{index + 1}", "sentence")
        for side in (sources, references)
    )
    if not source or not reference:
        return "blank sentence"
    _, corpus, word, right, wrong = cells
    contrastive = substitute_translations(reference, right.split(), wrong.split())
    return (
        contrastive
        if isinstance(contrastive, str)
        else ContrastiveItem(source, reference, contrastive, WORD_SENSE, None, word, corpus)
    )


def substitute_translations(
    reference: str, right: list[str], wrong: list[str]
) -> tuple[str, ...] | str:
    """Make contrastive translations: replace the right sense by each wrong one.

    Args:
        reference: an English sentence.
        right, wrong: translations of the ambiguous word, lower-cased, singular and plural, and
            sometimes of several parts of speech.

    Returns:
        The contrastive translations, or the reason why there are none.
    """
    forms = {
        form for translation in right for form in (translation, plural_of(translation)) if form
    }
    alternatives = "|".join(sorted(map(re.escape, forms), key=len, reverse=True))
    matches = list(re.finditer(rf"(?<![\w-])(?:{alternatives})(?![\w-])", reference, re.IGNORECASE))
    if not matches:
        return "no right translation in the reference"
    if len(matches) > 1:
        return "several right translations in the reference"
    match = matches[0]
    found = match[0].lower()
    if found.endswith(VERB_ENDINGS) and found not in right:
        return "no right translation in the reference"
    texts = [
        _replace_match(reference, match, form)
        for form in _translations_in_form(found, wrong)
        if form not in forms
    ]
    contrastive = tuple(dict.fromkeys(text for text in texts if text))
    return contrastive or "no wrong translation in that form"


def is_plural(noun: str) -> bool:
    """Return whether the ending of an English noun is that of a plural."""
    return noun.endswith("s") and not noun.endswith(("ss", "us", "is"))


def plural_of(noun: str) -> str:
    """Return the regular plural of an English noun; "" if it is plural or may be irregular."""
    if is_plural(noun) or noun.endswith(("f", "fe", "man", "is", "us", *VERB_ENDINGS)):
        return ""
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return f"{noun}es"
    if noun.endswith("y") and not noun.endswith(("ay", "ey", "oy", "uy")):
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def _translations_in_form(found: str, wrong: list[str]) -> list[str]:
    """Return the wrong senses that fit in a contrastive translation.

    These are nouns of its number, or verb forms with its ending.
    """
    ending = next((ending for ending in VERB_ENDINGS if found.endswith(ending)), "")
    if ending:
        return [word for word in wrong if word.endswith(ending)]
    nouns = [
        word
        for word in wrong
        if not word.endswith((*VERB_ENDINGS, "ly")) and not _is_verb(word, wrong)
    ]
    if is_plural(found):
        return [word if is_plural(word) else plural_of(word) for word in nouns]
    return [word for word in nouns if not is_plural(word)]


def _is_verb(word: str, words: list[str]) -> bool:
    """Return whether a word of MuCoW is the base or third person of a verb.

    Such a list is "explain explaining explained explains".
    """
    base = word.removesuffix("s") if is_plural(word) else word
    return any(base.removesuffix("e") + ending in words for ending in VERB_ENDINGS)


def _replace_match(reference: str, match: re.Match[str], form: str) -> str:
    """Replace a match in a contrastive reference; return "" if the article is uncertain."""
    if not form:
        return ""
    before, after = reference[: match.start()], reference[match.end() :]
    article = re.search(r"(?<!\w)(an?)(\s+)$", before, re.IGNORECASE)
    if article:
        if form.startswith(UNCLEAR_START):
            return ""
        wanted = "n" if form.startswith(("a", "e", "i", "o", *SILENT_H)) else ""
        before = f"{before[: article.start() + 1]}{wanted}{article[2]}"
    word = match[0]
    cased = (
        form.upper()
        if word.isupper() and len(word) > 1
        else form.capitalize()
        if word[0].isupper()
        else form
    )
    return before + cased + after
