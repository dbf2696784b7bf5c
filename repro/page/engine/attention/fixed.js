// Fixed patterns: most heads attend to fixed positions, the others learn (Raganato et al. 2020).
//
//   current   1 at j = i           left    f(j) over 0 .. i - 2       end     f(j) over 0 .. n - 1
//   previous  1 at j = i - 1       right   f(j) over i + 2 .. n - 1   start   f(j) over n - 1 .. 0
//   next      1 at j = i + 1       last    1 at j = n - 1             f cubic, divided by its sum
//
// i is the querying position, j the attended one, n the length: in tokens, or in words.

import { eachRow } from "./rows.js";
import { DotProduct } from "./dot_product.js";

const rise = (j, first, last) => (j >= first && j <= last ? (j - first + 1) ** 3 : 0);
const fall = (j, first, last) => (j >= first && j <= last ? (last - j + 1) ** 3 : 0);

/** The patterns before their division by the sum. */
export const PATTERNS = {
  current: (i, j) => Number(j === i),
  previous: (i, j) => Number(j === i - 1),
  next: (i, j) => Number(j === i + 1),
  first: (i, j) => Number(j === 0),
  last: (i, j, n) => Number(j === n - 1),
  left: (i, j) => rise(j, 0, i - 2),
  right: (i, j, n) => rise(j, i + 2, n - 1),
  end: (i, j, n) => rise(j, 0, n - 1),
  start: (i, j, n) => fall(j, 0, n - 1),
};

// Other readings of the right context, where the paper leaves it open.
const RIGHT = {
  literal: PATTERNS.right,
  absolute: (i, j, n) => (j >= i + 2 ? rise(j, 0, n - 1) : 0),
  mirrored: (i, j, n) => fall(j, i + 2, n - 1),
};

// Where a pattern without a target wraps to.
const WRAPPED = { previous: "last", next: "first", left: "first", right: "last" };

/** Return a row of one pattern. `words[j]`: the place of each key, in tokens or words. */
function patternRow(name, i, words, isBlocked, { right_context, empty, spread }) {
  const pattern = (which) => (which === "right" ? RIGHT[right_context] : PATTERNS[which]);
  let n = 0; // the places that are visible
  for (let j = 0; j < words.length; j++) if (!isBlocked(j)) n = Math.max(n, words[j] + 1);
  const valuesOf = (which) =>
    words.map((word, j) => (isBlocked(j) ? 0 : pattern(which)(words[i], word, n)));

  let values = valuesOf(name);
  if (name in WRAPPED && empty !== "zero" && !values.some((value) => value > 0)) {
    values = valuesOf(empty === "self" ? "current" : WRAPPED[name]);
  }
  let total = 0;
  // Copied weights: a word counts once, by its first piece.
  values.forEach(
    (value, j) => (total += spread === "copy" && words[j] === words[j - 1] ? 0 : value),
  );
  return Float32Array.from(values, (value) => value / Math.max(total, 1));
}

export function build({ embedDim, tensor }, options) {
  const { patterns, learned, heads, unit } = options;
  const headDim = embedDim / heads;
  const scorer =
    learned &&
    new DotProduct(
      learned,
      headDim,
      headDim,
      tensor("learned.query_proj.weight"),
      tensor("learned.key_proj.weight"),
    );
  return {
    numHeads: patterns.length + learned,
    headDim,
    projectKey: scorer ? (rows) => scorer.projectKey(rows) : undefined,
    scorerOf: (head) => (head < patterns.length ? null : scorer.scorerOf(head - patterns.length)),
    weights(request) {
      const { positions, keyLen, blocked, words } = request;
      const places = unit === "word" ? words : Array.from({ length: keyLen }, (_, j) => j);
      const fixed = eachRow(patterns.length, positions.length, (head, i) =>
        patternRow(patterns[head], positions[i], places, (j) => blocked(i, j), options),
      );
      return scorer ? [...fixed, ...scorer.weights(request)] : fixed;
    },
  };
}
