// What is known of a head: from the stored records of its model, or of this sentence alone.

import { headOf } from "../engine/heads.js";
import { statisticsOf } from "./statistics.js";

const percent = (share) => `${Math.round(100 * share)} %`;

/**
 * Return what to say of a head beside it.
 *
 * `model.facts`: key -> { roles, confidence, relevance }, over `model.factsOver` sentences; a
 * model without a record has none. `rows`: where the head looks in this sentence.
 */
export function factsOf(key, model, rows) {
  const fact = model.facts?.[key];
  if (fact) {
    const over = model.factsOver.toLocaleString("en");
    const known = fact.roles.filter((role) => role !== "unknown");
    const roles = known.length ? `role ${known.join(", ")}` : "no known role";
    const relevance =
      fact.relevance === null ? "" : `, relevance ${percent(fact.relevance)} of its layer`;
    const confidence = percent(fact.confidence);
    return `On record, over ${over} sentences: ${roles}; confidence ${confidence}${relevance}.`;
  }
  const { confidence } = statisticsOf(headOf(key).site, rows, model.endMark);
  return `On this sentence: confidence ${percent(confidence)}. No record tells its role.`;
}
