// What every variant ends with: a row of weights for each head and each query.

/** Return weights[head][query] by calling a function for each. */
export function eachRow(numHeads, numQueries, rowOf) {
  return Array.from({ length: numHeads }, (_, head) =>
    Array.from({ length: numQueries }, (_, i) => rowOf(head, i)),
  );
}
