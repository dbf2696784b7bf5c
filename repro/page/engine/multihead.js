// Multi-head attention around any variant: values, weighted sum, head factors, output projection.
//
// Vaswani et al. 2017, section 3.2.2. Everything here is the same for all variants; only `weights`
// differs.

import { linear } from "./tensor.js";
import { replaced } from "./attention/replaced.js";

export class MultiHeadAttention {
  /** `factors`: what each head's output is multiplied by; 0 switches it off. */
  constructor(variant, valueProj, outProj, factors) {
    Object.assign(this, { variant, valueProj, outProj, factors });
  }

  /** Project rows into what can be attended to, once for each position. */
  project(rows) {
    return { key: this.variant.projectKey?.(rows) ?? null, value: linear(rows, this.valueProj) };
  }

  /** Return a row for each query, and the weights that made it; for `context` see the registry. */
  attend(query, { key, value }, context) {
    const weights = this.variant.weights({ query, key, keyLen: value.length, ...context });
    const { numHeads, headDim } = this.variant;
    const summed = query.map((_, i) => {
      const row = new Float32Array(numHeads * headDim);
      for (let head = 0; head < numHeads; head++) {
        if (this.factors[head]) this.addHead(row, weights[head][i], value, head, headDim);
      }
      return row;
    });
    return { rows: linear(summed, this.outProj), weights };
  }

  /** Add weights times values of one head to its part of the row. */
  addHead(row, weights, value, head, headDim) {
    const start = head * headDim;
    for (let j = 0; j < weights.length; j++) {
      if (!weights[j]) continue;
      const weight = weights[j] * this.factors[head];
      for (let i = start; i < start + headDim; i++) row[i] += weight * value[j][i];
    }
  }

  /** Return this attention with one head changed: scaled, or with other weights. */
  changed({ head, factor = 1, pattern = null, forbidden = [] }) {
    const factors = this.factors.map((before, number) =>
      number === head ? before * factor : before,
    );
    const isReplaced = pattern || forbidden.length;
    const embedDim = this.valueProj.shape[1];
    const variant = isReplaced
      ? replaced(this.variant, embedDim, head, pattern, forbidden)
      : this.variant;
    return new MultiHeadAttention(variant, this.valueProj, this.outProj, factors);
  }
}

/**
 * Return the factors that Hard Concrete gates have at test time (Voita et al. 2019, section 6.1).
 *
 * By the rule `sign` a gate is open or shut, whichever is likelier; by `soft` it is what it is
 * without noise.
 */
export function gateFactors(logAlpha, rule) {
  if (rule === "sign") return [...logAlpha].map((x) => (x > 0 ? 1 : 0));
  return [...logAlpha].map((x) => Math.min(1, Math.max(0, 1.2 / (1 + Math.exp(-x)) - 0.1)));
}
