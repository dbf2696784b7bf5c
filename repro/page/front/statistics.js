// What a head does in one sentence, in the numbers of `repro/analysis/heads.py`.

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const mean = (numbers) => sum(numbers) / numbers.length;

/**
 * Return the confidence of a head, its entropy in nats, its distance in tokens, and what its rows
 * sum to.
 *
 * `rows`: weights[query], each over the keys; `hasEndMark`: whether the source ends with a mark. As
 * in the paper, that mark is left out of confidence and distance, as query and as key. The entropy
 * is that of a row divided by its sum. Rows of zeros have no entropy and no distance; if all rows
 * are such, these are NaN.
 */
export function statisticsOf(site, rows, hasEndMark) {
  const all = rows.map((row) => Array.from(row));
  const end = hasEndMark ? -1 : undefined;
  const toWords = site === "decoder_self" ? all : all.map((row) => row.slice(0, end));
  const words = site === "encoder_self" ? toWords.slice(0, end) : toWords;
  const strongest = words.map((row) => row.indexOf(Math.max(...row)));
  const largest = words.map((row, q) => row[strongest[q]] ?? 0);
  const distances = strongest.map((key, q) => Math.abs(key - q));
  return {
    confidence: mean(largest),
    entropy: mean(all.filter((row) => sum(row) > 0).map(entropyOf)),
    distance: mean(distances.filter((_, q) => largest[q] > 0)),
    sums: all.map(sum),
  };
}

function entropyOf(row) {
  const total = sum(row);
  const shares = row.map((weight) => weight / total).filter((share) => share > 0);
  return -sum(shares.map((share) => share * Math.log(share)));
}

/** Return these numbers in words. */
export function saidOf({ confidence, entropy, distance, sums }) {
  const [least, most] = [Math.min(...sums), Math.max(...sums)].map((number) => number.toFixed(2));
  const rows = least === most ? `to ${least}` : `to between ${least} and ${most}`;
  if (Number.isNaN(entropy)) return "On this sentence: all its weights are zero.";
  const far = Number.isNaN(distance) ? "" : `, distance ${distance.toFixed(1)} tokens`;
  return (
    `On this sentence: largest weight ${confidence.toFixed(2)} on average, entropy ` +
    `${entropy.toFixed(2)} nats${far}. Its rows sum ${rows}.`
  );
}
