"""Find and remove characters that no model should see, and normalise text to compare it for leaks.

The ranges are written out, not taken from a library, so that a corpus keeps its text with every
version of Unicode. Their source is the Unicode Character Database: Default_Ignorable_Code_Point,
emoji-variation-sequences, StandardizedVariants.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

_IGNORABLE = (
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ufe00-\ufe0f\ufeff\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_FILLERS = "\u2800\u3164\uffa0"  # letters that look like blanks
_ANNOTATIONS = "\ufff9-\ufffc"
_PLANES = "".join(
    f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0x10000, 0x110000, 0x10000)
)

MOST_SHOWN = 20  # characters that a message lists

LONE_SURROGATE = "lone surrogate"

# Reason -> characters.
FAULTS = {
    "line-break character": "\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029",
    "control character": "\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f",
    "invisible character": _IGNORABLE + _FILLERS + _ANNOTATIONS,
    "noncharacter": "\ufdd0-\ufdef\ufffe\uffff" + _PLANES,
    "replacement character": "\ufffd",
    LONE_SURROGATE: "\ud800-\udfff",
}
SEPARATOR = "zero-width spaces between words"
# Removing these loses no text; the other faults show that something is lost already.
REMOVABLE = ("invisible character", "noncharacter", SEPARATOR)

# In these scripts and emoji, U+200C and U+200D change how letters look and what they mean.
_JOINING = (
    "\u0600-\u109f\u1780-\u18af\u1900-\u1cff\u2190-\u2bff\ua800-\uabff\ufb50-\ufdcf\ufe0f"
    "\ufe70-\ufefc\U00010a00-\U00011fff\U0001e900-\U0001e95f\U0001f000-\U0001faff"
)
# A variation selector may follow emoji, symbols, and Burmese, Phags-pa and CJK letters.
_VARYING = (
    "#*0-9\xa9\xae\u1000-\u109f\u203c\u2049\u2100-\u2bff\u2e80-\u9fff\ua840-\ua877\uaa60-\uaa7f"
    "\uf900-\ufaff\uff01-\uff60\U0001f000-\U0001faff\U00020000-\U0003ffff"
)
_KEPT = "|".join(
    (
        f"(?<=[{_JOINING}])[\u200c\u200d]",
        f"(?<=[{_VARYING}])[\ufe00-\ufe0f\U000e0100-\U000e01ef]",
        "(?<=[\u1800-\u18aa])[\u180b-\u180f]",  # Mongolian
        # Old Korean syllables.
        "(?<=[\u1100-\u115e\ua960-\ua97c])\u1160|\u115f(?=[\u1160-\u11a7])",
        "(?<=[\u2801-\u28ff])\u2800|\u2800(?=[\u2801-\u28ff])",  # Braille
        "\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f",  # the flag of a region
    )
)
_FAULT = re.compile(f"{_KEPT}|(?P<fault>[{''.join(FAULTS.values())}])")
_SUSPECT = re.compile(f"[{''.join(FAULTS.values())}]")
_REASONS = {reason: re.compile(f"[{characters}]") for reason, characters in FAULTS.items()}
_BLANK = re.compile(f"[{FAULTS['line-break character']}{_FILLERS}]")
_SURROGATE = _REASONS[LONE_SURROGATE]

# Thai, Lao, Burmese, Tai Tham and Khmer have no blanks between words; some texts separate words
# by U+200B.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\u1a20-\u1aaf\ua9e0-\ua9ff\uaa60-\uaa7f"
)
_OF_UNSPACED = re.compile(f"[{_UNSPACED}]")
_SEPARATORS = re.compile(" *\u200b[ \u200b]*")
_BLANKS_OF_UNSPACED = re.compile(f"(?<=[{_UNSPACED}]) (?=[{_UNSPACED}])")

# Spacing and punctuation, but not marks on letters.
_NOT_WORDS = re.compile(r"[\s!-/:-@\[-`{-~\xa1-\xbf\u2010-\u205e\u3001-\u303f\u30fb]+")
# NFKC turns each of these accents into a blank with a mark on it, which would count as a letter.
_ACCENTS_ALONE = str.maketrans("\xa8\xaf\xb4\xb8", "    ")
# Latin letters with the usual accents, dashes and quotation marks, which have no other form either.
_LATIN = re.compile("[ -~\xc0-\xff\u2013\u2014\u2018-\u201e\u2026]*")
_UNSEEN = re.compile(
    "["
    + "".join(
        FAULTS[reason] for reason in ("control character", "invisible character", "noncharacter")
    )
    + "]"
)


@dataclass(frozen=True)
class Fault:
    """A character that no model should see: the reason, its 1-based column and its code point."""

    reason: str
    column: int
    code_point: str


def find_faults(text: str) -> list[Fault]:
    """Return the characters of a line that no model should see.

    Apart from line breaks, they are invisible or replace something that is lost. Joiners and
    variation selectors are no faults where they change how a letter or an emoji looks. U+200B has
    its own reason in lines of Thai, Lao, Burmese and Khmer, where it separates words.
    """
    if _is_plain(text) or not _SUSPECT.search(text):
        return []
    is_unspaced = bool(_OF_UNSPACED.search(text))
    found = (
        (match.group(), match.start() + 1) for match in _FAULT.finditer(text) if match["fault"]
    )
    return [
        Fault(_fault_reason(character, is_unspaced), column, f"U+{ord(character):04X}")
        for character, column in found
    ]


def clean_line(text: str) -> str:
    """Return a line as models read it: without faulty characters, and without blanks at its ends.

    The faults are those of `find_faults`. A character that breaks lines or looks like a blank
    becomes a blank, and so does U+200B in lines of Thai, Lao, Burmese and Khmer.
    """
    if _is_plain(text) or not _SUSPECT.search(text):
        return text
    return _FAULT.sub(
        lambda match: (
            match.group() if not match["fault"] else " " * bool(_BLANK.match(match.group()))
        ),
        separators_to_blanks(text),
    ).strip()


def cleaning_rules() -> dict[str, str]:
    """Return the regular expressions of `clean_line`, for programs in other languages.

    `fault` has a named group of that name, spelled as in JavaScript.
    """
    return {
        "suspect": _SUSPECT.pattern,
        "fault": _FAULT.pattern.replace("(?P<", "(?<"),
        "blank": _BLANK.pattern,
        "separators": _SEPARATORS.pattern,
        "unspaced": _OF_UNSPACED.pattern,
    }


def separators_to_blanks(text: str) -> str:
    """Replace U+200B by a blank in scripts without blanks, where it separates words."""
    return _SEPARATORS.sub(" ", text) if "\u200b" in text and _OF_UNSPACED.search(text) else text


def without_surrogates(text: str) -> str:
    """Return a line without lone surrogates, which UTF-8 cannot encode."""
    return _SURROGATE.sub("", text)


def normalise(text: str) -> str:
    """Return a text as the search for leaks compares it.

    Compatibility forms are unified and case is folded. Punctuation, spacing and invisible
    characters are ignored, and so are blanks between letters of scripts that need none. A text of
    punctuation alone is kept, so that ``?`` and ``!`` are different sentences.
    """
    if _LATIN.fullmatch(text):  # in a third of the time
        return _NOT_WORDS.sub(" ", text.casefold()).strip() or text
    seen = _UNSEEN.sub(
        lambda match: " " * bool(_BLANK.match(match.group())), text.translate(_ACCENTS_ALONE)
    )
    folded = _NOT_WORDS.sub(" ", unicodedata.normalize("NFKC", seen).casefold()).strip()
    return _BLANKS_OF_UNSPACED.sub("", folded) or text


def _is_plain(text: str) -> bool:
    """Return whether a text is printable ASCII, which needs none of the slow steps."""
    return text.isascii() and text.isprintable()


def _fault_reason(character: str, is_unspaced: bool) -> str:
    """Return why no model should see a character."""
    if character == "\u200b" and is_unspaced:
        return SEPARATOR
    return next(reason for reason, pattern in _REASONS.items() if pattern.match(character))


def describe_characters(counts: Counter[str]) -> str:
    """Describe counted characters: how many, how many kinds, and the most frequent ones."""
    shown = " ".join(character for character, _ in counts.most_common(MOST_SHOWN))
    more = " …" * (len(counts) > MOST_SHOWN)
    return f"{counts.total():,} characters of {len(counts):,} kinds: {shown}{more}"
