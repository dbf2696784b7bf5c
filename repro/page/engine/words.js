// Put subwords together to words, for people.

import { EOS } from "./subwords.js";

export const START_MARK = "(start)";
export const END_MARK = "(end)";

/**
 * Return the pieces of some ids as people read them: a word's later pieces without a blank before.
 */
export function piecesOf(subwords, ids) {
  return ids.map((id) =>
    id === EOS ? END_MARK : subwords.pieces[id].text.replace("▁", "") || "▁",
  );
}

/**
 * Return [{ text, probability }] of a translation; that of a word is the product of its pieces'.
 */
export function wordsOf(subwords, ids, logProbs) {
  const words = [];
  ids.forEach((id, i) => {
    if (!words.length || subwords.startsWord(id)) words.push({ ids: [], logProb: 0 });
    words.at(-1).ids.push(id);
    words.at(-1).logProb += logProbs[i];
  });
  return words.map(({ ids, logProb }) => ({
    text: subwords.decode(ids),
    probability: Math.exp(logProb),
  }));
}

/** Return the words of a sentence that fall into many pieces: [{ word, pieces }]. */
export function strangeWords(subwords, sentence, manyPieces = 4) {
  const words = [];
  for (const { text } of subwords.cut(sentence)) {
    if (text.startsWith("▁") || !words.length) words.push([]);
    words.at(-1).push(text.replace("▁", ""));
  }
  return words
    .map((pieces) => withoutEnd(pieces.filter(Boolean)))
    .filter((pieces) => pieces.length >= manyPieces)
    .map((pieces) => ({ word: pieces.join(""), pieces }));
}

/** Return pieces of a word without a full stop, or the like, at its end. */
function withoutEnd(pieces) {
  const isMark = (piece) => /^\p{P}+$/u.test(piece);
  const last = pieces.findLastIndex((piece) => !isMark(piece));
  return last < 0 ? pieces : pieces.slice(0, last + 1);
}
