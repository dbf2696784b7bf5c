// One step of the decoder taken apart, for one head: query, keys, softmax, weighted sum, next
// token.

import { nextLogProbs } from "./search.js";
import { BOS } from "./subwords.js";
import { dot } from "./tensor.js";

const MOST_NEXT = 5; // of the likeliest next tokens

/** A sublayer that tells what it was asked and what it found. */
class Watched {
  constructor(sublayer, tell) {
    Object.assign(this, { sublayer, tell });
  }

  project(rows) {
    return this.sublayer.project(rows);
  }

  attend(query, attended, context) {
    const found = this.sublayer.attend(query, attended, context);
    this.tell({ query, attended, context, found });
    return found;
  }
}

/**
 * Return what a head of the decoder does at the step that writes token `time` of a translation.
 *
 *   query, rows: [{ key, product, score, weight, value, blocked }]    a row for each attended token
 *   sum      the weighted sum of the values, times the factor of the head
 *   scale    what products are multiplied by; 1 / the root of the width of a head
 *   total    the sum of exp(score) over the tokens that are not blocked
 *   next     the likeliest next tokens of the whole model: [{ id, probability }]
 *
 * A head without a dot product has no query, keys, products and scores: they are null.
 */
export function decodingStep(model, src, ids, time, { site, layer, head }) {
  let seen;
  const watched = model.withSublayer(
    site,
    layer,
    (sublayer) => new Watched(sublayer, (all) => (seen = all)),
  );
  const { rows: last } = watched.decode(watched.start(src), [BOS, ...ids.slice(0, time)]);
  const { variant, factors } = model.decoder[layer][site].sublayer;
  const { query, attended, context, found } = seen;
  const products = productsOf(variant, head, query[time], attended.key);
  const isBlocked = (j) => context.blocked(time, j) || Boolean(products?.isShut(time, j));
  const start = head * variant.headDim;
  const weights = found.weights[head][time];
  const values = attended.value.map((row) => row.slice(start, start + variant.headDim));
  const sum = new Float32Array(variant.headDim);
  values.forEach((value, j) => value.forEach((x, i) => (sum[i] += factors[head] * weights[j] * x)));
  const rows = values.map((value, j) => {
    const product = products?.products[j] ?? null;
    const score = products && product * products.scale;
    return {
      key: products?.keys[j] ?? null,
      product,
      score,
      weight: weights[j],
      value,
      blocked: isBlocked(j),
    };
  });
  const open = rows.filter(({ blocked }) => !blocked);
  return {
    query: products?.query ?? null,
    rows,
    sum,
    scale: products?.scale ?? null,
    total: products && open.reduce((total, { score }) => total + Math.exp(score), 0),
    next: likeliest(nextLogProbs(model, last[time])),
  };
}

/** Return the query of a head, its keys and their dot products; null where it has none. */
function productsOf(variant, head, row, keys) {
  const found = variant.scorerOf?.(head);
  if (!found || !keys) return null;
  const { scorer, head: number, isShut } = found;
  const query = scorer.partOf(number, scorer.queries([row])[0]);
  const parts = keys.map((key) => scorer.partOf(number, key));
  const products = parts.map((key) => dot(query, key, 0, query.length));
  return { query, keys: parts, products, scale: scorer.scale, isShut };
}

function likeliest(logProbs) {
  return Array.from(logProbs, (logProb, id) => ({ id, probability: Math.exp(logProb) }))
    .sort((a, b) => b.probability - a.probability)
    .slice(0, MOST_NEXT);
}
