// Recurrent attention (RAN): scores that one small network carries from layer to layer (Zeng et al.
// 2021).
//
//   A_l = LN(tanh(W A_{l-1} + b)) + A_{l-1},    weights of layer l = softmax(A_l[:n, :n])
//
// A_0, W, b and LN are shared by all layers and heads of a stack. No token enters the weights.

import { add, layerNorm, linear, maskedSoftmax, relu } from "../tensor.js";
import { eachRow } from "./rows.js";

const tanh = (rows) => rows.map((row) => row.map(Math.tanh));

// What mixes the scores of a row, by the name of the transition; `at(n)` are the parameters of part
// n.
const MIXES = {
  paper: (rows, at) => tanh(at(0, rows)),
  "code-0": (rows, at) => at(2, relu(at(0, rows))),
  "code-1": (rows, at) => tanh(at(0, rows)),
  "code-2": (rows, at) => relu(at(0, rows)),
  "code-3": (rows, at, norm) => at(3, relu(at(1, norm(0, rows)))),
};

/** The scores of every layer of a stack. Rows are made when they are first read, and kept. */
class Recurrence {
  constructor(tensor, options) {
    Object.assign(this, { tensor, options });
    this.first = tensor("recurrence.first_scores");
    this.kept = new Map();
  }

  /** Return row `i` of the scores of a head after `depth` steps, a Float32Array over the keys. */
  row(head, i, depth) {
    if (this.options.axis === "query") return this.matrix(head, depth)[i];
    return this.keep(`${head} ${i} ${depth}`, () => {
      if (depth === 0) return this.firstRow(head, i);
      const before = [this.row(head, i, depth - 1)];
      return this.leave(before, this.mix(before))[0];
    });
  }

  /** Return all rows: where queries mix, no row can be made by itself. */
  matrix(head, depth) {
    return this.keep(`${head} all ${depth}`, () => {
      if (depth === 0)
        return Array.from({ length: this.options.max_len }, (_, i) => this.firstRow(head, i));
      const before = this.matrix(head, depth - 1);
      return this.leave(before, transposed(this.mix(transposed(before))));
    });
  }

  firstRow(head, i) {
    const size = this.options.max_len;
    return this.first.data.subarray((head * size + i) * size, (head * size + i + 1) * size);
  }

  mix(rows) {
    const part = (number, name) => this.tensor(`recurrence.mix.${number}.${name}`);
    const map = (number, x) => linear(x, part(number, "weight"), part(number, "bias"));
    const norm = (number, x) => layerNorm(x, part(number, "weight"), part(number, "bias"));
    return MIXES[this.options.transition](rows, map, norm);
  }

  leave(before, mixed) {
    const { transition, layer_norm, residual } = this.options;
    const name = (part) => this.tensor(`recurrence.norm.${part}`);
    const normed =
      transition === "paper" && layer_norm ? layerNorm(mixed, name("weight"), name("bias")) : mixed;
    return residual ? add(normed, before) : normed;
  }

  keep(key, make) {
    if (!this.kept.has(key)) this.kept.set(key, make());
    return this.kept.get(key);
  }
}

const transposed = (rows) =>
  Array.from(rows[0], (_, j) => Float32Array.from(rows, (row) => row[j]));

// The layers of a stack share their recurrence, as they share its parameters.
const recurrences = new WeakMap();

export function build({ embedDim, numHeads, layer, tensor }, options) {
  const shared = tensor("recurrence.first_scores");
  if (!recurrences.has(shared)) recurrences.set(shared, new Recurrence(tensor, options));
  const recurrence = recurrences.get(shared);
  // Longer sentences, if they are allowed at all, use the last row and column.
  const last = options.max_len - 1;
  return {
    numHeads,
    headDim: embedDim / numHeads,
    weights({ positions, keyLen, blocked }) {
      return eachRow(numHeads, positions.length, (head, i) => {
        const row = recurrence.row(head, Math.min(positions[i], last), layer + 1);
        const scores = Float32Array.from({ length: keyLen }, (_, j) => row[Math.min(j, last)]);
        return maskedSoftmax(scores, (j) => blocked(i, j));
      });
    },
  };
}
