// Scaled dot-product attention: every head learns where to look (Vaswani et al. 2017, section 3.2).
//
//   weights = softmax(Q K^T / sqrt(d)),    Q = X_query W_Q,    K = X_key W_K

import { dot, linear, maskedSoftmax } from "../tensor.js";
import { eachRow } from "./rows.js";

export class DotProduct {
  /** `scaleDim`: the products are divided by its root. */
  constructor(numHeads, headDim, scaleDim, queryProj, keyProj) {
    Object.assign(this, { numHeads, headDim, queryProj, keyProj });
    this.scale = scaleDim ** -0.5;
  }

  projectKey(rows) {
    return linear(rows, this.keyProj);
  }

  queries(rows) {
    return linear(rows, this.queryProj);
  }

  /** Return what scores the keys of a head, and its number there; see the registry. */
  scorerOf(head) {
    return { scorer: this, head, isShut: () => false };
  }

  /** Return the part of a row of queries or keys that a head reads. */
  partOf(head, row) {
    return row.slice(head * this.headDim, (head + 1) * this.headDim);
  }

  weights({ query, key, blocked }) {
    return this.masked(query, key, (head, i, j) => blocked(i, j));
  }

  /** Return the weights under a mask of each head's own; `isBlocked(head, i, j)`. */
  masked(query, key, isBlocked) {
    const q = this.queries(query);
    return eachRow(this.numHeads, q.length, (head, i) => {
      const start = head * this.headDim; // a head reads its own part of each row
      const scores = new Float32Array(key.length);
      for (let j = 0; j < key.length; j++)
        scores[j] = dot(q[i], key[j], start, this.headDim) * this.scale;
      return maskedSoftmax(scores, (j) => isBlocked(head, i, j));
    });
  }
}

export function build({ embedDim, numHeads, tensor }, { heads, head_dim }) {
  const count = heads ?? numHeads;
  const width = head_dim ?? embedDim / count;
  return new DotProduct(
    count,
    width,
    width,
    tensor("query_proj.weight"),
    tensor("key_proj.weight"),
  );
}
