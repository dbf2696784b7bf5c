// Mixed multi-head self-attention: each head learns in its own neighbourhood (Cui et al. 2019).
//
//   global G: all keys    local L: i - w <= j <= i + w    forward F: j >= i    backward B: j <= i

import { DotProduct } from "./dot_product.js";

export const OUTSIDE = {
  G: () => false,
  L: (i, j, window) => Math.abs(j - i) > window,
  F: (i, j) => j < i,
  B: (i, j) => j > i,
};

export function build({ embedDim, numHeads, tensor }, { types, window, repeat, scale }) {
  const headDim = embedDim / numHeads;
  const weights = (name) => tensor(`scorer.${name}.weight`);
  const scaleDim = scale === "head" ? headDim : embedDim;
  const scorer = new DotProduct(
    numHeads,
    headDim,
    scaleDim,
    weights("query_proj"),
    weights("key_proj"),
  );
  // The types in turn, or the last one for all further heads.
  const typeOf = (head) =>
    types[repeat === "all" ? head % types.length : Math.min(head, types.length - 1)];
  const isOutside = (head, i, j) => OUTSIDE[typeOf(head)](i, j, window);
  return {
    numHeads,
    headDim,
    projectKey: (rows) => scorer.projectKey(rows),
    scorerOf: (head) => ({ scorer, head, isShut: (i, j) => isOutside(head, i, j) }),
    weights({ query, key, blocked, positions }) {
      return scorer.masked(
        query,
        key,
        (head, i, j) => blocked(i, j) || isOutside(head, positions[i], j),
      );
    },
  };
}
