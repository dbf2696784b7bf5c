"""Subwords: one sentencepiece model for both languages, fitted on the training split only."""

import io
from collections.abc import Sequence
from pathlib import Path

import sentencepiece

from repro.data.text import texts_in
from repro.errors import DamagedFileError, InputError

PAD_ID, UNK_ID, BOS_ID, EOS_ID = 0, 1, 2, 3
USUAL_BYTES = 4192  # sentencepiece leaves longer sentences out without a word, unless it is told how long they are


class Subwords:
    """Sentences to ids and back.

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
            raise DamagedFileError("subword model", "is not a sentencepiece model", "fit it again on the training split")

    @classmethod
    def fit(cls, sentences: list[str], vocab_size: int) -> "Subwords":
        """Fit byte pair encoding on sentences of both languages; the same sentences give the same model.

        Raises:
            InputError: not texts, or too small for that vocabulary.
        """
        sentences, model = texts_in("sentences", sentences), io.BytesIO()
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=iter(sentences),
                model_writer=model,
                vocab_size=vocab_size,
                model_type="bpe",
                character_coverage=0.9999,
                pad_id=PAD_ID,
                unk_id=UNK_ID,
                bos_id=BOS_ID,
                eos_id=EOS_ID,
                max_sentence_length=max([USUAL_BYTES, *(len(sentence.encode()) for sentence in sentences)]),
                num_threads=1,
                minloglevel=2,
            )
        except (RuntimeError, ValueError, OSError) as error:
            what = f"sentencepiece cannot make {vocab_size} pieces from {len(sentences):,} sentences"
            too_small = vocab_size <= EOS_ID + 1 or "required_chars" in str(error)  # which sentencepiece says of characters without a piece
            mend = "use a larger vocabulary: every character needs a piece" if too_small else "use a smaller vocabulary or more sentences"
            raise InputError("data.vocab_size", what, mend) from error
        return cls(model.getvalue())

    @classmethod
    def load(cls, path: Path) -> "Subwords":
        """Read the model of a run.

        Raises:
            DamagedFileError: it is missing, empty, or cut.
        """
        try:
            if model := Path(path).read_bytes():
                return cls(model)
            raise EOFError  # of no bytes the library would print lines of its own
        except (OSError, EOFError, DamagedFileError) as error:
            mend = "restore it, or delete the run's folder and train the run again"
            raise DamagedFileError(str(path), "is missing or is not a sentencepiece model", mend) from error

    def __len__(self) -> int:
        return self._processor.get_piece_size()

    def encode(self, sentences: Sequence[str]) -> list[list[int]]:
        """Return the ids of each sentence, without any start or end mark.

        Raises:
            InputError: not texts.
        """
        return self._processor.encode(texts_in("sentences", sentences), out_type=int)

    def decode(self, ids: list[list[int]]) -> list[str]:
        """Return the sentence of each row of ids; special ids vanish.

        Raises:
            InputError: an id that stands for no subword.
        """
        count = len(self)
        if unknown := [i for row in ids for i in row if not 0 <= i < count]:
            raise InputError("ids", f"{unknown[0]} is the id of no subword", f"give ids from 0 to {count - 1}")
        return self._processor.decode([[i for i in row if i > EOS_ID or i == UNK_ID] for row in ids]) if ids else []

    def pieces(self, sentence: str) -> list[str]:
        """Return the pieces of a sentence as text; a leading `▁` marks the start of a word."""
        return self._processor.encode(sentence, out_type=str)

    def starts_word(self) -> list[bool]:
        """Return for every id whether a word begins with it; the end mark is a word of its own."""
        return [self._processor.id_to_piece(i).startswith("▁") or i == EOS_ID for i in range(len(self))]

    def word_indices(self, sentence: str) -> list[int]:
        """Return for every piece the 0-based index of the word it belongs to."""
        indices, word = [], -1
        for piece in self.pieces(sentence):
            word += piece.startswith("▁") or word < 0
            indices.append(word)
        return indices
