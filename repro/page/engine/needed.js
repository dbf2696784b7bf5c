// What one sentence loses without each head: leave one out (Michel, Levy, Neubig 2019, 3.2).
//
// The translation stays as the whole model made it. What changes is its probability:
// the loss of a head is the fall of its log-probability, in nats.

import { headOf } from "./heads.js";
import { scoreTokens } from "./search.js";

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

/** Yield { site, layer, head, nats } of some heads, by default of all that no gate has shut. */
export function* headLosses(model, src, ids, heads = model.heads().filter(({ factor }) => factor)) {
  const encoded = model.encode(src);
  const whole = sum(scoreTokens(model, src, ids, undefined, encoded));
  for (const { site, layer, head } of heads) {
    const without = model.changed([{ site, layer, head, factor: 0 }]);
    // Heads of the decoder leave the encoded source as it is.
    const rows = site === "encoder_self" ? without.encode(src) : encoded;
    yield { site, layer, head, nats: whole - sum(scoreTokens(without, src, ids, undefined, rows)) };
  }
}

/**
 * Yield { count, nats, model } for growing numbers of heads that are switched off, in an order of
 * keys. `nats`: what the translation of the whole model then loses.
 */
export function* prunedModels(model, src, ids, order) {
  const whole = sum(scoreTokens(model, src, ids));
  let pruned = model;
  for (let count = 0; count <= order.length; count++) {
    if (count) pruned = pruned.changed([{ ...headOf(order[count - 1]), factor: 0 }]);
    yield { count, nats: whole - sum(scoreTokens(pruned, src, ids)), model: pruned };
  }
}
