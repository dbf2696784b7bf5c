// Search for the best translation: beam search, which with a beam of one is greedy search.
//
// The rules are those of `repro/core/decoding.py`, so that both make the same decisions.

import { BOS, EOS, PAD, UNK } from "./subwords.js";
import { logSoftmax } from "./tensor.js";

export const NEVER_GENERATED = [PAD, UNK, BOS];

const ignore = () => {};

/** Return the log-probabilities of the next token of a row of the decoder. */
export function nextLogProbs(model, row) {
  const [scores] = model.output([row]);
  for (const id of NEVER_GENERATED) scores[id] = -Infinity;
  return logSoftmax(scores);
}

/**
 * Translate source ids. Return { ids, score, cut, logProbs }: the tokens without marks, their rank,
 * whether the length limit cut them where they would have gone on, and the log-probability of each
 * token and of the end mark.
 *
 * A finished hypothesis of `length` tokens ranks by its log-probability / penalty(length), which is
 * length^alpha ("length") or ((5 + length) / 6)^alpha ("wu"; Wu et al. 2016, equation 14).
 *
 * Each step extends the `beam` best prefixes by every token. A prefix that ends is a finished
 * hypothesis if the end mark is among its own `beam` best tokens. The search is done when `beam` of
 * the best extensions so far were ends and no living prefix outranks the best hypothesis, or at the
 * length limit, where every prefix is ended.
 */
export function search(
  model,
  src,
  { beam = 5, alpha = 1, penalty = "length", extraTokens = 50, maxTokens = Infinity } = {},
) {
  const rank = (logProb, length) =>
    Math.fround(logProb / (penalty === "wu" ? (5 + length) / 6 : length) ** alpha);
  const limit = Math.min(src.length + extraTokens, maxTokens);
  let best = { ids: [], score: -Infinity, cut: false, logProbs: [] };
  let prefixes = [{ ids: [], last: BOS, score: 0, logProbs: [], state: model.start(src) }];
  let ended = 0;
  for (let length = 1; ; length++) {
    const atLimit = length >= limit;
    const extensions = [];
    for (const prefix of prefixes) {
      const { rows, state } = model.decode(prefix.state, [prefix.last]);
      const logProbs = nextLogProbs(model, rows[0]);
      const tokens = highest(logProbs, beam + 1); // one more, since one of them may be the end mark
      const wantsEnd = logProbs[EOS] >= logProbs[tokens[beam - 1]];
      const score = rank(Math.fround(prefix.score + logProbs[EOS]), length);
      if ((wantsEnd || atLimit) && score > best.score) {
        best = {
          ids: prefix.ids,
          score,
          cut: !wantsEnd,
          logProbs: [...prefix.logProbs, logProbs[EOS]],
        };
      }
      for (const token of tokens) {
        const total = Math.fround(prefix.score + logProbs[token]);
        extensions.push({ prefix, state, token, score: total, logProb: logProbs[token] });
      }
    }
    extensions.sort((a, b) => b.score - a.score);
    ended += extensions.slice(0, beam).filter(({ token }) => token === EOS).length;
    const living = extensions.filter(({ token }) => token !== EOS).slice(0, beam);
    const isOutranked = rank(living[0].score, length) <= best.score;
    if (atLimit || (ended >= beam && isOutranked)) return best;
    prefixes = living.map(({ prefix, state, token, score, logProb }) => ({
      ids: [...prefix.ids, token],
      logProbs: [...prefix.logProbs, logProb],
      last: token,
      score,
      state,
    }));
  }
}

/** Return the places of the `count` highest numbers, highest first. */
function highest(numbers, count) {
  const places = [];
  for (let i = 0; i < numbers.length; i++) {
    if (places.length === count && !(numbers[i] > numbers[places[count - 1]])) continue;
    let at = places.length;
    while (at > 0 && numbers[i] > numbers[places[at - 1]]) at--;
    places.splice(at, 0, i);
    if (places.length > count) places.pop();
  }
  return places;
}

/**
 * Return the log-probability of each token of a given translation, and of the end mark behind it.
 *
 * All of them at once, as in training: token t + 1 is predicted from the tokens before it.
 * `encoded`: the encoded source, where it is known already.
 */
export function scoreTokens(model, src, ids, watch = ignore, encoded = model.encode(src, watch)) {
  const { rows } = model.decode(model.startFrom(encoded), [BOS, ...ids], watch);
  return [...ids, EOS].map((id, t) => nextLogProbs(model, rows[t])[id]);
}
