// Uniform attention: every allowed key counts the same (a control of You et al. 2020).

import { maskedSoftmax } from "../tensor.js";
import { eachRow } from "./rows.js";

export function build({ embedDim, numHeads }) {
  return {
    numHeads,
    headDim: embedDim / numHeads,
    weights({ positions, keyLen, blocked }) {
      const equal = new Float32Array(keyLen);
      return eachRow(numHeads, positions.length, (head, i) =>
        maskedSoftmax(equal, (j) => blocked(i, j)),
      );
    },
  };
}
