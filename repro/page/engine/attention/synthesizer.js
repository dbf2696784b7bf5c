// Random Synthesizer: each head has its own matrix of scores, which no token enters (Tay et al.
// 2021).
//
//   weights = softmax(R[:n, :n]),    of low rank R = R_1 R_2^T
//
// Past the size of the matrix, its last row and column are used again. (Models that refuse longer
// sentences never get there: their limit is checked before.)

import { dot, maskedSoftmax } from "../tensor.js";
import { eachRow } from "./rows.js";

export function build({ embedDim, numHeads, tensor }, { max_len, rank }) {
  const scoreAt =
    rank === null
      ? full(tensor("scores"), max_len)
      : product(tensor("left"), tensor("right"), max_len);
  return {
    numHeads,
    headDim: embedDim / numHeads,
    weights({ positions, keyLen, blocked }) {
      return eachRow(numHeads, positions.length, (head, i) => {
        const row = Math.min(positions[i], max_len - 1);
        const scores = Float32Array.from({ length: keyLen }, (_, j) =>
          scoreAt(head, row, Math.min(j, max_len - 1)),
        );
        return maskedSoftmax(scores, (j) => blocked(i, j));
      });
    },
  };
}

const full =
  ({ data }, size) =>
  (head, i, j) =>
    data[(head * size + i) * size + j];

const product = (left, right, size) => {
  const rank = left.shape[2];
  const rowOf = ({ data }, head, i) =>
    data.subarray((head * size + i) * rank, (head * size + i + 1) * rank);
  return (head, i, j) => dot(rowOf(left, head, i), rowOf(right, head, j), 0, rank);
};
