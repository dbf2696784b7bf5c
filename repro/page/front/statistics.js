// What a head does in one sentence, in the numbers of `repro/analysis/heads.py`.

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const mean = (numbers) => sum(numbers) / numbers.length;

/**
 * Return the confidence of a head, its entropy in nats, its distance in tokens, and what its rows
 * sum to.
 *
 * `rows`: weights[query], each over the keys. As in the paper, the end mark of the source is left
 * out of confidence and distance, as query and as key.
 */
export function statisticsOf(site, rows) {
  const all = rows.map((row) => Array.from(row));
  const toWords = site === "decoder_self" ? all : all.map((row) => row.slice(0, -1));
  const words = site === "encoder_self" ? toWords.slice(0, -1) : toWords;
  const largest = words.map((row) => Math.max(0, ...row));
  const entropies = all.map((row) => -sum(row.map((w) => (w > 0 ? w * Math.log(w) : 0))));
  return {
    confidence: mean(largest),
    entropy: mean(entropies),
    distance: mean(words.map((row, q) => (largest[q] ? Math.abs(row.indexOf(largest[q]) - q) : 0))),
    sums: all.map(sum),
  };
}

/** Return these numbers in words. */
export function saidOf({ confidence, entropy, distance, sums }) {
  const [least, most] = [Math.min(...sums), Math.max(...sums)].map((number) => number.toFixed(2));
  const rows = least === most ? `to ${least}` : `to between ${least} and ${most}`;
  return (
    `On this sentence: largest weight ${confidence.toFixed(2)} on average, entropy ` +
    `${entropy.toFixed(2)} nats, distance ${distance.toFixed(1)} tokens. Its rows sum ${rows}.`
  );
}
