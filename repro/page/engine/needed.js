// What one sentence loses without each head (leave one out: Michel, Levy, Neubig 2019, section 3.2).
//
// The translation stays as the whole model made it. What changes is how probable the model finds it:
// the loss of a head is the fall of its log-probability, in nats.

import { scoreTokens } from "./search.js";

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

/** Yield { site, layer, head, nats } of every head that is not shut already. */
export function* headLosses(model, src, ids) {
  const encoded = model.encode(src);
  const whole = sum(scoreTokens(model, src, ids, undefined, encoded));
  for (const { site, layer, head, factor } of model.heads()) {
    if (!factor) continue;
    const without = model.changed([{ site, layer, head, factor: 0 }]);
    const rows = site === "encoder_self" ? without.encode(src) : encoded; // decoder heads leave it alone
    yield { site, layer, head, nats: whole - sum(scoreTokens(without, src, ids, undefined, rows)) };
  }
}
