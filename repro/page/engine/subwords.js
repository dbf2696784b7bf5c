// Subwords: byte pair encoding (Sennrich, Haddow, Birch 2016) as sentencepiece does it.
//
// A text starts as single characters. Of all neighbours that make a known piece together, the pair
// with the best score is joined, the leftmost first among equals, until no pair is known.

import { stripped } from "./prepare.js";
import { BYTE, CONTROL, NORMAL, UNKNOWN, readSubwordModel } from "./protobuf.js";
import { normalizer } from "./normalize.js";

export const PAD = 0;
export const UNK = 1;
export const BOS = 2;
export const EOS = 3;

const MARK = "▁";
const REAL_MARK = "\ufdd0"; // a real "▁" in the text, so that it is not read as a blank

export class Subwords {
  /** `bytes`: the file of the sentencepiece model. */
  constructor(bytes) {
    const model = readSubwordModel(bytes);
    this.pieces = model.pieces;
    this.byteFallback = model.byteFallback;
    this.normalize = normalizer(model);
    this.idOf = new Map(); // of pieces that text may become: special ones are never read from text
    this.idOfByte = new Map();
    this.byteOf = new Map();
    this.pieces.forEach(({ text, type }, id) => {
      if (type === NORMAL) this.idOf.set(text, id);
      if (type === BYTE) {
        const byte = parseInt(text.slice(3, 5), 16); // "<0x0A>"
        this.idOfByte.set(byte, id);
        this.byteOf.set(id, byte);
      }
    });
  }

  /** Return [{ id, text }] of a sentence; `text` is what the piece was read from. */
  cut(sentence) {
    const prepared = stripped(sentence.normalize("NFC")).replaceAll(MARK, REAL_MARK);
    const found = [];
    for (const text of this.merge([...this.normalize(prepared)])) {
      const id = this.idOf.get(text) ?? UNK;
      if (id === UNK && this.byteFallback) {
        for (const byte of new TextEncoder().encode(text)) {
          found.push({ id: this.idOfByte.get(byte), text: "" });
        }
      } else if (id === UNK && found.at(-1)?.id === UNK) {
        found.at(-1).text += text; // unknown characters in a row are one unknown piece
      } else found.push({ id, text });
    }
    return found;
  }

  encode(sentence) {
    return this.cut(sentence).map(({ id }) => id);
  }

  /** Join neighbours, the best pair first. `symbols`: characters; they are changed. */
  merge(symbols) {
    const rank = (left) => {
      const id = this.idOf.get(symbols[left] + symbols[left + 1]);
      return id === undefined ? -Infinity : this.pieces[id].score;
    };
    // ranks[i] belongs to the pair of symbols i and i + 1; a merge changes only its neighbours'.
    const ranks = symbols.map((_, i) => (i + 1 < symbols.length ? rank(i) : -Infinity));
    for (;;) {
      let best = 0;
      for (let i = 1; i < ranks.length; i++) if (ranks[i] > ranks[best]) best = i;
      if (!(ranks[best] > -Infinity)) return symbols;
      symbols.splice(best, 2, symbols[best] + symbols[best + 1]);
      ranks.splice(best, 1);
      ranks[best] = best + 1 < symbols.length ? rank(best) : -Infinity;
      if (best > 0) ranks[best - 1] = rank(best - 1);
    }
  }

  /** Return the sentence of some ids; special ones vanish. */
  decode(ids) {
    let text = "";
    let bytes = [];
    const flush = () => {
      text += decodeLeniently(bytes);
      bytes = [];
    };
    for (const id of ids) {
      const piece = this.pieces[id];
      if (piece.type === BYTE) {
        bytes.push(this.byteOf.get(id));
        continue;
      }
      flush();
      if (piece.type === CONTROL) continue;
      if (piece.type === UNKNOWN) text += " ⁇ ";
      else text += (text ? piece.text : piece.text.replace(/^▁/, "")).replaceAll(MARK, " ");
    }
    flush();
    return text.replaceAll(REAL_MARK, MARK);
  }

  /** Whether a word begins with a piece; the end mark is a word of its own. */
  startsWord(id) {
    return id === EOS || this.pieces[id].text.startsWith(MARK);
  }

  /** Return the characters of a sentence that have no piece: the model has never seen them. */
  unknownCharacters(sentence) {
    const characters = new Set(stripped(sentence.normalize("NFC")).replaceAll(MARK, REAL_MARK));
    const isUnknown = (character) =>
      this.encode(character).some((id) => id === UNK || this.byteOf.has(id));
    return [...characters].filter(isUnknown).map((c) => (c === REAL_MARK ? MARK : c));
  }
}

/** Decode UTF-8; every byte that belongs to no character becomes U+FFFD. */
function decodeLeniently(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length;) {
    let length = 4;
    for (; length > 0; length--) {
      try {
        const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
        const one = decoder.decode(Uint8Array.from(bytes.slice(at, at + length)));
        if ([...one].length === 1) {
          text += one;
          break;
        }
      } catch {
        continue;
      }
    }
    if (!length) text += "\ufffd";
    at += length || 1;
  }
  return text;
}
