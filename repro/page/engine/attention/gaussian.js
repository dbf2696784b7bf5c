// Hard-coded Gaussian attention: each head looks at a fixed distance (You, Sun, Iyyer 2020).
//
//   weights[i, j] = N(j; mu, std^2),    mu = gamma i + center, rounded down in cross attention
//
// The rows are densities and do not sum to one: what falls outside the sentence is lost.

import { eachRow } from "./rows.js";

const density = (distance, std) =>
  Math.exp(-(distance ** 2) / (2 * std ** 2)) / (std * Math.sqrt(2 * Math.PI));

// How much of the density an implementation of the paper's Table 5 keeps.
const KERNELS = {
  density,
  window: (distance, std) => (Math.abs(distance) <= 1 ? density(distance, std) : 0),
  index: (distance) => (distance === 0 ? 1 : 0),
};

const SMALLEST = 2 ** -126; // the smallest normal number in single precision

/** `centers`: the distance of each head, in tokens. */
export function build({ embedDim, numHeads }, { centers, std, kernel, renormalize, gamma, floor }) {
  return {
    numHeads,
    headDim: embedDim / numHeads,
    weights({ positions, keyLen, blocked }) {
      return eachRow(numHeads, positions.length, (head, i) => {
        const exact = gamma * positions[i] + centers[head % centers.length];
        const mean = floor ? Math.floor(exact) : exact;
        const row = new Float32Array(keyLen);
        let total = 0;
        for (let j = 0; j < keyLen; j++)
          if (!blocked(i, j)) total += row[j] = KERNELS[kernel](j - mean, std);
        return renormalize ? row.map((weight) => weight / Math.max(total, SMALLEST)) : row;
      });
    },
  };
}
