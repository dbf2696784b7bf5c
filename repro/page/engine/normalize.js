// Normalise text as sentencepiece does before it cuts it: by a table that the model brings along.
//
// The table maps sequences of bytes to others ("ﬁ" to "fi", full-width letters to usual ones). Its
// first part is a trie in a double array (Aoe 1989): the state after a byte is found by one
// exclusive-or and one look at the label, so that the longest known prefix costs a few steps.

const MARK = "▁"; // sentencepiece writes blanks so

/** Return a function from text to text with marked blanks. */
export function normalizer({ charsmap, removeExtraBlanks }) {
  const longestPrefix = charsmap.length ? trieOf(charsmap) : () => null;
  return (text) => {
    const parts = mapped(new TextEncoder().encode(text), longestPrefix);
    return markBlanks(parts, removeExtraBlanks);
  };
}

/**
 * Cut bytes into what the table knows, longest first, and single characters; replace the former.
 */
function mapped(bytes, longestPrefix) {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true }); // U+FEFF is a character here
  const parts = [];
  for (let at = 0; at < bytes.length;) {
    const found = longestPrefix(bytes, at);
    const length = found ? found.length : characterLength(bytes[at]);
    parts.push(found ? found.text : decoder.decode(bytes.subarray(at, at + length)));
    at += length;
  }
  return parts;
}

/** Return how many bytes a character of UTF-8 has, from its first one. */
export const characterLength = (first) =>
  first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

/** Put a mark before the text and in place of every blank; drop blanks that say nothing. */
function markBlanks(parts, removeExtraBlanks) {
  const joined = [];
  let afterBlank = removeExtraBlanks; // so blanks at the start are dropped
  for (const part of parts) {
    const kept = afterBlank ? part.replace(/^ +/, "") : part;
    if (kept) joined.push(kept);
    afterBlank = removeExtraBlanks && (kept ? kept.endsWith(" ") : afterBlank);
  }
  let text = joined.join("");
  if (removeExtraBlanks) text = text.replace(/ +$/, "");
  return text && MARK + text.replaceAll(" ", MARK);
}

/**
 * Read the table of a model: 4 bytes of length, the trie, then texts that end with a zero byte.
 *
 * A unit of the trie holds a label (8 bits), whether a value follows (bit 8), and where its
 * children are (the other bits, of which bit 9 says that they are to be shifted).
 */
function trieOf(charsmap) {
  const view = new DataView(charsmap.buffer, charsmap.byteOffset, charsmap.byteLength);
  const size = view.getUint32(0, true);
  const unit = (place) => view.getUint32(4 + 4 * place, true);
  const children = (value) => (value >>> 10) << ((value & 512) >>> 6);
  const texts = charsmap.subarray(4 + size);
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

  return (bytes, start) => {
    let place = children(unit(0));
    let found = null;
    for (let at = start; at < bytes.length; at++) {
      place ^= bytes[at];
      const value = unit(place);
      if ((value & 0x800000ff) !== bytes[at]) break;
      place ^= children(value);
      if (value & 256) {
        const textStart = unit(place) & 0x7fffffff;
        found = { length: at + 1 - start, start: textStart };
      }
    }
    if (found)
      found.text = decoder.decode(texts.subarray(found.start, texts.indexOf(0, found.start)));
    return found;
  };
}
