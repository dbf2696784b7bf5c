// The five parts of a step, drawn below each other in numbers.

import { add } from "./dom.js";

export const PARTS = ["query", "keys", "softmax", "sum", "next"];

const LITTLE = 0.005; // a weight that is not worth a term

const fixed = (number, digits = 2) => number.toFixed(digits).replace(/^-(0\.?0*)$/, "$1");
const percent = (share) => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
const quoted = (text) => `“${text}”`;

/** Draw the first `shown` parts of what the engine says of a step; see engine/step.js. */
export function drawStep(root, found, shown) {
  root.replaceChildren();
  const part = (number, title, text) => {
    if (number > shown) return null;
    const box = add(root, "div", number === shown ? "rp-part rp-newest" : "rp-part");
    add(box, "h2", "rp-title", `${number}. ${title}`);
    add(box, "p", "rp-caption", text);
    return box;
  };
  drawQuery(part, found);
  drawKeys(part, found);
  drawWeights(part, found);
  drawSum(part, found);
  drawNext(part, found);
}

function drawQuery(part, { query, target, time }) {
  const word = quoted(target[time]);
  const text = query
    ? `The head turns ${word} into ${query.length} numbers: what it is looking for.`
    : `This head asks nothing: where it looks does not depend on ${word}.`;
  const box = part(1, "The query", text);
  if (box && query) addVector(box, query, `query of ${word}`);
}

function drawKeys(part, { rows, attended, query, scale }) {
  const width = query?.length;
  const text = query
    ? "Each word offers a key. The score is the product of query and key, number by number and " +
      `added up, divided by √${width}.`
    : "So it needs no keys either: its places are fixed, or learned once for all sentences.";
  const box = part(2, "The keys and their scores", text);
  if (!box || !query) return;
  const list = add(box, "ul", "rp-keys");
  rows.forEach(({ key, product, score, blocked }, j) => {
    const row = add(list, "li", "rp-key");
    add(row, "span", "rp-of", attended[j]);
    addVector(row, key, `key of ${quoted(attended[j])}`);
    const sum = `${fixed(product)} ÷ ${fixed(1 / scale)} = ${fixed(score)}`;
    add(row, "span", "rp-sum", blocked ? "shut" : sum);
  });
}

function drawWeights(part, { rows, attended, total, query }) {
  const text = query
    ? "Softmax: e to the power of each score, divided by the sum of them all, " +
      `${fixed(total)}. The shares add up to 100 %.`
    : "This is how much it takes of each word.";
  const box = part(3, "Where it looks", text);
  if (!box) return;
  const list = add(box, "ul", "rp-keys");
  rows.forEach(({ weight, score, blocked }, j) => {
    const row = add(list, "li", "rp-key");
    add(row, "span", "rp-of", attended[j]);
    const bar = add(row, "span", "rp-weight", "", { "aria-hidden": "true" });
    bar.style.setProperty("--part", Math.min(1, weight));
    const power = query && !blocked ? `e^${fixed(score)} = ${fixed(Math.exp(score))} → ` : "";
    add(row, "span", "rp-sum", power + percent(weight));
  });
}

function drawSum(part, { rows, attended, sum }) {
  const strongest = rows.map((row, j) => ({ ...row, text: attended[j] }));
  strongest.sort((a, b) => b.weight - a.weight);
  const named = strongest.slice(0, 3).filter(({ weight }) => weight > LITTLE);
  const terms = named.map(({ weight, text }) => `${fixed(weight)} × value of ${quoted(text)}`);
  const isAll = strongest.every(({ weight }, i) => i < named.length || weight <= LITTLE);
  const passed = `${terms.join(" + ") || "nothing"}${isAll ? "" : " + …"}`;
  const text = `Each word also offers a value. The head passes on ${passed}:`;
  const box = part(4, "The weighted sum", text);
  if (!box) return;
  for (const { value, text: word } of named) addNamed(box, word, value);
  addNamed(box, "sum", sum);
}

function drawNext(part, { next }) {
  const text =
    "All heads and layers together then say how likely each word is to come next. The likeliest " +
    "one is written.";
  const box = part(5, "The next word", text);
  if (!box) return;
  const list = add(box, "ul", "rp-keys");
  for (const { text: word, probability } of next) {
    const row = add(list, "li", "rp-key");
    add(row, "span", "rp-of", word);
    const bar = add(row, "span", "rp-weight", "", { "aria-hidden": "true" });
    bar.style.setProperty("--part", probability);
    add(row, "span", "rp-sum", percent(probability));
  }
}

function addNamed(box, name, vector) {
  const row = add(box, "div", "rp-key");
  add(row, "span", "rp-of", name);
  addVector(row, vector, name);
}

/** Draw numbers as a row of cells: warm above zero, cold below, with the number of each. */
function addVector(root, vector, name) {
  const numbers = [...vector];
  const most = Math.max(0.01, ...numbers.map(Math.abs));
  const label = `${name}: ${numbers.map((number) => fixed(number)).join(", ")}`;
  const row = add(root, "span", "rp-vector", "", { role: "img", "aria-label": label });
  for (const number of numbers) {
    const cell = add(row, "span", number < 0 ? "rp-cold" : "rp-warm", fixed(number, 1));
    cell.style.setProperty("--share", Math.abs(number) / most);
  }
}
