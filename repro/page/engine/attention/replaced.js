// Put other weights in the place of one head's, without training the model again.
//
// The head keeps its values and its part of the output projection. So this shows how much it
// depends on where it looks.

import { buildWeights } from "./registry.js";

/**
 * Return a layer whose head has other weights.
 *
 * `pattern`: { variant, options } of a variant that reads no keys; null keeps the head's own
 * weights.
 * `forbidden`: pairs [query, key] of absolute positions that this head may not attend to, in
 * addition.
 */
export function replaced(layer, embedDim, head, pattern, forbidden = []) {
  const stack = { embedDim, numHeads: 1 };
  const other = pattern && buildWeights(pattern.variant, stack, pattern.options);
  const pairs = new Set(forbidden.map(([query, key]) => `${query} ${key}`));
  const isPainted = (i, j) => pairs.has(`${i} ${j}`);
  return {
    numHeads: layer.numHeads,
    headDim: layer.headDim,
    projectKey: layer.projectKey && ((rows) => layer.projectKey(rows)),
    scorerOf(number) {
      const found = layer.scorerOf?.(number) ?? null;
      if (number !== head || !found) return found;
      return other ? null : { ...found, isShut: (i, j) => found.isShut(i, j) || isPainted(i, j) };
    },
    weights(request) {
      const blocked = (i, j) => request.blocked(i, j) || isPainted(request.positions[i], j);
      const limited = pairs.size ? { ...request, blocked } : request;
      const weights = [...layer.weights(request)];
      weights[head] = other ? other.weights(limited)[0] : layer.weights(limited)[head];
      return weights;
    },
  };
}
