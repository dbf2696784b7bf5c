"""Subwords: one sentencepiece model for both languages, fitted on the training split only.

A model of the form `exact` writes whatever it has read: text is composed (NFC) and otherwise left
alone, and every character of the training text can be written. The form `nfkc` is that of the first
stored results: sentencepiece's own defaults, which turn `…` into three dots and full-width marks
into half-width ones, and leave rare characters without a piece. No such model can write `…` or `№`.
"""

import io
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import sentencepiece

from repro.core.settings import SubwordForm
from repro.errors import DamagedFileError, InputError, texts_in

PAD_ID, UNK_ID, BOS_ID, EOS_ID = 0, 1, 2, 3
USUAL_BYTES = 4192  # sentencepiece drops longer sentences silently unless told how long they are
NUM_BYTES = 256
LARGE_SCRIPT = 0.25  # share of the vocabulary: with more characters, rare ones are spelled in bytes
COVERAGE = 0.9995  # of a large script's text by its own pieces: sentencepiece's advice for Han

# sentencepiece marks spaces by `▁`. A real one in the text takes the place of a noncharacter, which
# the loaders let through nowhere.
_MARK, _REAL_MARK = "▁", "\ufdd0"


class Subwords:
    """Turn sentences into ids, and ids into sentences.

    The special ids are never produced from text: a typed `</s>` is cut into ordinary pieces.

    Args:
        model: the serialised sentencepiece model.
    """

    def __init__(self, model: bytes) -> None:
        self.model = model
        try:
            self._processor = sentencepiece.SentencePieceProcessor(model_proto=model)
            sound = len(self) > EOS_ID and all(self._processor.id_to_piece(list(range(len(self)))))
        except (RuntimeError, UnicodeDecodeError):
            sound = False
        if not sound:
            what, fix = "is not a sentencepiece model", "fit it again on the training split"
            raise DamagedFileError("subword model", what, fix)
        self._bytes = {i for i in range(len(self)) if self._processor.is_byte(i)}

    @classmethod
    def fit(cls, sentences: list[str], vocab_size: int, form: SubwordForm = "exact") -> "Subwords":
        """Fit byte pair encoding on sentences of both languages; equal sentences give equal models.

        Args:
            sentences: of the training split.
            vocab_size: the number of pieces, special ones included.
            form: `exact`, so that every sentence is what its ids decode to; or `nfkc`, see above.

        Raises:
            InputError: not texts, or a vocabulary that is too small or too large for them.
        """
        sentences, model = _prepare(texts_in("sentences", sentences)), io.BytesIO()
        exact = form == "exact"
        options = _exact_options(sentences, vocab_size) if exact else {"character_coverage": 0.9999}
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=iter(sentences),
                model_writer=model,
                vocab_size=vocab_size,
                model_type="bpe",
                pad_id=PAD_ID,
                unk_id=UNK_ID,
                bos_id=BOS_ID,
                eos_id=EOS_ID,
                max_sentence_length=max([USUAL_BYTES, *(len(text.encode()) for text in sentences)]),
                num_threads=1,
                minloglevel=2,
                **options,
            )
        except (RuntimeError, ValueError, OSError) as error:
            what = f"cannot make {vocab_size} pieces from {len(sentences):,} sentences"
            raise InputError("data.vocab_size", what, _better_size(str(error))) from error
        return cls(model.getvalue())

    def __len__(self) -> int:
        return self._processor.get_piece_size()

    def encode(self, sentences: Sequence[str]) -> list[list[int]]:
        """Return the ids of each sentence, without any start or end mark.

        Raises:
            InputError: not texts.
        """
        return self._processor.encode(_prepare(texts_in("sentences", sentences)), out_type=int)

    def decode(self, ids: list[list[int]]) -> list[str]:
        """Return the sentence of each row of ids; special ids vanish.

        Raises:
            InputError: an id without a subword.
        """
        count = len(self)
        if unknown := [i for row in ids for i in row if not 0 <= i < count]:
            what = f"{unknown[0]} is the id of no subword"
            raise InputError("ids", what, f"give ids from 0 to {count - 1}")
        rows = [[i for i in row if i > EOS_ID or i == UNK_ID] for row in ids]
        texts = self._processor.decode(rows) if rows else []
        return [text.replace(_REAL_MARK, _MARK) for text in texts]

    def pieces(self, sentence: str) -> list[str]:
        """Return the pieces of a sentence as text; a leading `▁` marks the start of a word."""
        (prepared,) = _prepare([sentence])
        return self._processor.encode(prepared, out_type=str)

    def unknown_characters(self, sentences: Sequence[str]) -> Counter[str]:
        """Count the characters without a piece: a model reads them all as unknown and writes none.

        With a large script they are spelled in bytes (`has_bytes`), which is rarely learned well.

        Raises:
            InputError: not texts.
        """
        text = "".join(_prepare(texts_in("sentences", sentences)))
        found = Counter(text.replace(_REAL_MARK, _MARK))
        ids = self.encode(list(found))
        without = {UNK_ID, *self._bytes}
        return Counter({c: found[c] for c, row in zip(found, ids, strict=True) if without & {*row}})

    @property
    def has_bytes(self) -> bool:
        """Whether characters without a piece are spelled in bytes."""
        return bool(self._bytes)

    def starts_word(self) -> list[bool]:
        """Return for every id whether a word begins with it; the end mark is a word of its own."""
        pieces = self._processor.id_to_piece(list(range(len(self))))
        return [piece.startswith("▁") or i == EOS_ID for i, piece in enumerate(pieces)]

    def word_indices(self, sentence: str) -> list[int]:
        """Return for every piece the 0-based index of the word it belongs to."""
        indices, word = [], -1
        for piece in self.pieces(sentence):
            word += piece.startswith("▁") or word < 0
            indices.append(word)
        return indices


def _prepare(texts: Iterable[str]) -> list[str]:
    """Return texts as sentencepiece reads them: composed (NFC), stripped, real marks replaced."""
    return [unicodedata.normalize("NFC", text).strip().replace(_MARK, _REAL_MARK) for text in texts]


def _exact_options(sentences: Sequence[str], vocab_size: int) -> dict[str, Any]:
    """Return the options that keep every sentence as it is."""
    counts = Counter(character for text in sentences for character in text if character != " ")
    options: dict[str, Any] = {"normalization_rule_name": "identity"}
    options["remove_extra_whitespaces"] = False
    if len(counts) > LARGE_SCRIPT * vocab_size and _num_covering(counts) + NUM_BYTES < len(counts):
        return options | {"character_coverage": COVERAGE, "byte_fallback": True}
    return options | {"character_coverage": 1.0, "required_chars": "".join(sorted(counts))}


def _num_covering(counts: Counter[str]) -> int:
    """Return how many characters, the frequent ones first, make up `COVERAGE` of the text."""
    left, missing = (1 - COVERAGE) * counts.total(), 0
    for number, (_, count) in enumerate(reversed(counts.most_common())):
        missing += count
        if missing > left:
            return len(counts) - number
    return 0


def _better_size(error: str) -> str:
    """Return the fix that sentencepiece's message implies; it knows the bounds."""
    if most := re.search(r"value <= (\d+)", error):
        return f"use at most {most[1]}"
    if least := re.search(r"required_chars\. \d+ vs (\d+)", error):
        return f"use at least {least[1]}: every character needs a piece"
    return "use another size: from a few hundred to some 30,000"
