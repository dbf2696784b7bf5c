"""Tell from the letters of a text its script, and whether blanks stand between its words.

Files call Chinese `zh`, `cn`, `chs` or `lzh`; the letters are the same under every name.
"""

import re
from collections.abc import Sequence

import regex

HAN, JAPANESE, ALPHABETS = "Chinese", "Japanese", "Southeast Asian or Tibetan"
"""Kinds of text without blanks between words: Chinese characters alone or with kana, alphabets."""

CODES = {
    HAN: "zh zho chi cmn yue cn chs cht tw hk lzh wuu hak nan gan hsn cdo",
    JAPANESE: "ja jpn jp",
    ALPHABETS: "th tha lo lao km khm my mya bur bo bod tib dz dzo",
}
KIND_OF_CODE = {code: kind for kind, codes in CODES.items() for code in codes.split()}

KANA = r"\p{Hiragana}\p{Katakana}\u30fc\uff70"
OTHERS = (
    r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}\p{Tai_Tham}\p{Tai_Le}\p{New_Tai_Lue}"
    r"\p{Tai_Viet}\p{Javanese}\p{Balinese}"
)
ALL = rf"\p{{Han}}\p{{Bopomofo}}{KANA}{OTHERS}"
LETTER = rf"[[{ALL}]&&\p{{L}}]"


def _pattern(text: str) -> regex.Pattern[str]:
    """Compile a pattern of letters of scripts, with differences and intersections of sets."""
    return regex.compile(text, regex.VERSION1)  # which has differences and intersections of sets


# marks, what is invisible, the dot after a Tibetan syllable
_ATTACHED = _pattern(r"[\p{M}\p{Cf}\u0f0b\u0f0c]")
_LETTER, _KANA, _OTHERS = map(
    _pattern, (LETTER, rf"[[{KANA}]&&\p{{L}}]", rf"[[{OTHERS}]&&\p{{L}}]")
)
_HANGUL = _pattern(r"\p{Hangul}")
_WORD = _pattern(rf"[\p{{L}}--[{ALL}]]+")  # letters of all other scripts
_TOGETHER, _APART = _pattern(rf"(?<={LETTER}){LETTER}"), _pattern(rf"(?<={LETTER})[^\S\n]+{LETTER}")

# of letters without blanks and words of others, together; the code decides which of the two
MOST, SOME = 0.5, 0.1
# of Chinese characters and kana; Japanese has more than half, Chinese a quoted name
SOME_KANA = 0.05
LONGEST_WORD = {HAN: 3, JAPANESE: 3, ALPHABETS: 5}
"""Letters that words have at most on average, without the marks on them; Thai phrases have 10."""


def language_of(code: str) -> str:
    """Return the language of a code, in lower case: `zh` of `zh-CN`, `zh_Hans` and `ZH`."""
    return re.split("[-_]", code)[0].lower()


def unspaced_kind(texts: Sequence[str], code: str = "") -> str | None:
    """Return the kind of a text whose script has no blanks between words, else None.

    The letters decide; the code is a hint.

    Args:
        texts: its sentences.
        code: of its language. If that has no blanks, a tenth of such letters is enough, as in lists
            of names.
    """
    text = _ATTACHED.sub("", "\n".join(texts))
    unspaced, words = len(_LETTER.findall(text)), len(_WORD.findall(text))
    # Korean, in which a Chinese character is a part of a word
    if len(_HANGUL.findall(text)) > SOME * unspaced:
        return None
    if unspaced <= (SOME if language_of(code) in KIND_OF_CODE else MOST) * (unspaced + words):
        return None
    kana, others = len(_KANA.findall(text)), len(_OTHERS.findall(text))
    if 2 * others > unspaced:
        return ALPHABETS
    return JAPANESE if kana > SOME_KANA * (unspaced - others) else HAN


def is_cut_into_words(texts: Sequence[str], kind: str) -> bool:
    """Tell whether blanks stand between the words of a text of such a kind.

    Blanks around words of other scripts count for nothing. A blank here and there is no sign
    either: Thai, Lao, Khmer and Burmese have it between phrases.
    """
    text = _ATTACHED.sub("", "\n".join(texts))
    apart, together = len(_APART.findall(text)), len(_TOGETHER.findall(text))
    return 0 < apart + together <= LONGEST_WORD[kind] * apart


def disagreement(texts: Sequence[str], code: str) -> str:
    """Say in a line how language code and letters of a text disagree; nothing where they agree."""
    found, expected = unspaced_kind(texts, code), KIND_OF_CODE.get(language_of(code))
    if found == expected or not any(letter.isalpha() for text in texts for letter in text):
        return ""
    script = found or "a script with blanks"
    return f"'{code}' is not the code of these references, which are written in {script}"
