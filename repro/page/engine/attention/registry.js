// The attention variants by name, one line each: the counterpart of
// `repro/core/attention/variants.py`.
//
// The seam is the same as there: a variant turns queries, keys and positions into weights, and
// nothing else. `build(stack, options)` returns one layer of it:
//
//   numHeads, headDim      of the layer; a variant may have its own numbers
//   projectKey(rows)       prepares the attended rows once; absent where no key is read
//   scorerOf(head)         the dot product behind a head's weights: { scorer, head, isShut }, or
//                          null; absent where no head has one. isShut(i, j): whether the head may
//                          not see j from position i, besides what is blocked for all heads
//   weights(request)       returns weights[head][query], a Float32Array over the keys
//
// A `request` holds
//
//   query       the layer inputs at the querying positions, in rows
//   key         what `projectKey` returned for all attended positions, or null
//   keyLen      how many positions are attended to
//   blocked     (i, j) => whether query i may not attend to key j
//   positions   the absolute position of each query
//   words       for each key the index of its word; null where words are not known
//
// A `stack` holds `site`, `layer` (from 0), `embedDim`, `numHeads`, and `tensor(name)`, which
// returns a learned matrix of this layer's weights.

import { build as dotProduct } from "./dot_product.js";
import { build as fixed } from "./fixed.js";
import { build as gaussian } from "./gaussian.js";
import { build as mixed } from "./mixed.js";
import { build as recurrent } from "./recurrent.js";
import { build as synthesizer } from "./synthesizer.js";
import { build as uniform } from "./uniform.js";

export const VARIANTS = {
  "dot-product": dotProduct,
  uniform,
  gaussian,
  fixed,
  mixed,
  recurrent,
  synthesizer,
};

/** Return one layer of a variant. */
export function buildWeights(variant, stack, options) {
  if (!Object.hasOwn(VARIANTS, variant))
    throw new Error(`there is no attention '${variant}' in this page`);
  return VARIANTS[variant](stack, options);
}
