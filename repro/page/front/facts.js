// What is known of a head: from the stored records of its model, or of this sentence alone.

const mean = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
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
  const confidence = mean(rows.map((row) => Math.max(0, ...row)));
  return `On this sentence: confidence ${percent(confidence)}. No record tells its role.`;
}
