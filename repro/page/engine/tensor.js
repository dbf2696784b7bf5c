// The arithmetic of the engine. A sentence is an array of rows, one Float32Array for each token;
// a learned matrix is { shape: [outputs, inputs], data }, with one output after another.
//
// Products and sums are in double precision, as JavaScript's numbers are, and stored in single.

/**
 * Return x W^T + b for every row x.
 *
 * Nearly all time goes into this loop. It makes four outputs at once, so that each input is read
 * once for four products, and the four sums do not wait for each other.
 */
export function linear(rows, { shape: [outputs, inputs], data }, bias = null) {
  return rows.map((row) => {
    const result = new Float32Array(outputs);
    let out = 0;
    for (; out + 3 < outputs; out += 4) {
      let a = 0,
        b = 0,
        c = 0,
        d = 0;
      const atA = out * inputs,
        atB = atA + inputs,
        atC = atB + inputs,
        atD = atC + inputs;
      for (let i = 0; i < inputs; i++) {
        const x = row[i];
        a += x * data[atA + i];
        b += x * data[atB + i];
        c += x * data[atC + i];
        d += x * data[atD + i];
      }
      result[out] = a;
      result[out + 1] = b;
      result[out + 2] = c;
      result[out + 3] = d;
    }
    for (; out < outputs; out++) {
      let sum = 0;
      for (let i = 0; i < inputs; i++) sum += row[i] * data[out * inputs + i];
      result[out] = sum;
    }
    if (bias) for (let i = 0; i < outputs; i++) result[i] += bias.data[i];
    return result;
  });
}

/** Return the sum of two lists of rows. */
export const add = (rows, others) => rows.map((row, i) => row.map((x, j) => x + others[i][j]));

/** Return max(x, 0) of all numbers. */
export const relu = (rows) => rows.map((row) => row.map((x) => (x > 0 ? x : 0)));

/** Return the sum of products of `count` numbers of two arrays, from `start`. */
export function dot(x, y, start, count) {
  let sum = 0;
  for (let i = start; i < start + count; i++) sum += x[i] * y[i];
  return sum;
}

/** Return each row with mean 0 and variance 1, scaled and moved (Ba, Kiros, Hinton 2016). */
export function layerNorm(rows, weight, bias) {
  return rows.map((row) => {
    let mean = 0,
      variance = 0;
    for (const x of row) mean += x;
    mean /= row.length;
    for (const x of row) variance += (x - mean) ** 2;
    const scale = 1 / Math.sqrt(variance / row.length + 1e-5);
    return row.map((x, i) => (x - mean) * scale * weight.data[i] + bias.data[i]);
  });
}

/**
 * Return the softmax over the entries that are not blocked; those get exactly 0.
 *
 * A row in which everything is blocked is all zeros. `isBlocked(j)`: whether entry j is blocked.
 */
export function maskedSoftmax(scores, isBlocked) {
  const weights = new Float32Array(scores.length);
  let highest = -Infinity,
    total = 0;
  for (let j = 0; j < scores.length; j++)
    if (!isBlocked(j) && scores[j] > highest) highest = scores[j];
  for (let j = 0; j < scores.length; j++) {
    if (!isBlocked(j)) total += weights[j] = Math.exp(scores[j] - highest);
  }
  if (total) for (let j = 0; j < scores.length; j++) weights[j] /= total;
  return weights;
}

/** Return the logarithm of the softmax of a row. */
export function logSoftmax(scores) {
  let highest = -Infinity,
    total = 0;
  for (const score of scores) if (score > highest) highest = score;
  for (const score of scores) total += Math.exp(score - highest);
  const logTotal = highest + Math.log(total);
  return scores.map((score) => score - logTotal);
}
