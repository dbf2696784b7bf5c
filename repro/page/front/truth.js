// Which words of a translation are those of the right one.

/**
 * Align two lists of words so that as many as possible are the same, in order.
 *
 * Return [{ text, kind }]: "right" and "wrong" words of the translation, and what is "missing"
 * where
 * a word of the reference has nothing in its place.
 */
export function aligned(words, reference) {
  const length = commonLengths(words, reference);
  const parts = [];
  let [wrong, missing] = [[], []];
  const flush = () => {
    parts.push(...wrong.map((text) => ({ text, kind: "wrong" })));
    // A wrong word stands for one of the reference: only what is left over is missing.
    parts.push(...missing.slice(wrong.length).map((text) => ({ text, kind: "missing" })));
    [wrong, missing] = [[], []];
  };
  let [i, j] = [0, 0];
  while (i < words.length || j < reference.length) {
    if (i < words.length && words[i] === reference[j]) {
      flush();
      parts.push({ text: words[i], kind: "right" });
      i++;
      j++;
    } else if (
      j === reference.length ||
      (i < words.length && length[i + 1][j] >= length[i][j + 1])
    ) {
      wrong.push(words[i++]);
    } else missing.push(reference[j++]);
  }
  flush();
  return parts;
}

/** Return length[i][j]: the most words that words[i..] and reference[j..] share in order. */
function commonLengths(words, reference) {
  const length = Array.from({ length: words.length + 1 }, () =>
    Array(reference.length + 1).fill(0),
  );
  for (let i = words.length - 1; i >= 0; i--) {
    for (let j = reference.length - 1; j >= 0; j--) {
      const isSame = words[i] === reference[j];
      length[i][j] = isSame
        ? length[i + 1][j + 1] + 1
        : Math.max(length[i + 1][j], length[i][j + 1]);
    }
  }
  return length;
}
