// What the page says about a sentence and its heads, in words.

import { headName, headOf } from "../engine/heads.js";

const MOST_CHARACTERS = 10; // that are named
const MOST_WORDS = 2;

/** Return what is strange about a sentence and its translation. */
export function notesOf({ unknown = [], strange = [], cut = false }) {
  const notes = [];
  if (unknown.length)
    notes.push(`never seen by this model: ${unknown.slice(0, MOST_CHARACTERS).join(" ")}`);
  for (const { word, pieces } of strange.slice(0, MOST_WORDS)) {
    notes.push(`“${word}” is not one of its usual words; it reads ${pieces.join(" + ")}`);
  }
  if (cut) notes.push("the translation did not end by itself");
  return notes;
}

/**
 * Return the line below the translation.
 *
 * `off` of `open` heads are switched off; `measured`: how many are measured so far, null if all
 * are.
 * `message`: what was just done; `found`: see the worker's answer to `translate`.
 */
export function statusOf({ off, replaced, open, measured }, message, found) {
  const state = off ? [`${off} of ${open} heads off`] : [];
  if (replaced) state.push(`${replaced} ${replaced === 1 ? "head" : "heads"} replaced`);
  if (measured !== null)
    state.push(`measuring what the sentence needs: ${measured} of ${open} heads`);
  return [message, ...notesOf(found), ...state].filter(Boolean).join(" · ");
}

const LANGUAGES = new Intl.DisplayNames("en", { type: "language" });

/** Return in words what a model translates, and from what kind of text it has learned. */
export function aboutOf({ source, target, learned }) {
  const [from, to] = [source, target].map((code) => LANGUAGES.of(code.replaceAll("_", "-")));
  return `${from} to ${to}; the model has learned from ${learned} alone`;
}

/**
 * Return what is said of the head in focus.
 *
 * `nats`: what the translation by the whole model loses without this head alone, if known;
 * `isWhole`: whether the whole model's translation is the one that is shown.
 */
export function captionOf(key, nats, isOff, isWhole) {
  const needed = nats === undefined ? "." : `: ${costOf(nats, isWhole)}`;
  const where = "Lines lead from each word up to where it looks.";
  return `${headName(headOf(key))}${isOff ? " (off)" : ""}${needed} ${where}`;
}

/** Return in words what a loss of log-probability means. */
function costOf(nats, isWhole) {
  const without = isWhole
    ? "without it, this translation is"
    : "without it alone, the translation by all heads is";
  if (nats < 0.05) return `${without} as likely.`;
  const factor = Math.exp(nats);
  const times = factor < 10 ? factor.toFixed(1) : Math.round(factor).toLocaleString("en");
  return `${without} ${times} times less likely (${nats.toFixed(1)} nats).`;
}
