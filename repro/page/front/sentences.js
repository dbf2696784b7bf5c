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

/**
 * Return what is said of the head in focus; `nats`: what the sentence loses without it, if known.
 */
export function captionOf(key, nats, isOff) {
  const needed = nats === undefined ? "." : `: ${costOf(nats)}`;
  const where = "Lines lead from each word up to where the head looks.";
  return `${headName(headOf(key))}${isOff ? " (off)" : ""}${needed} ${where}`;
}

/** Return in words what a loss of log-probability means. */
function costOf(nats) {
  if (nats < 0.05) return "this sentence does without it.";
  const factor = Math.exp(nats);
  const times = factor < 10 ? factor.toFixed(1) : Math.round(factor).toLocaleString("en");
  const cost = `${times} times less likely (${nats.toFixed(1)} nats)`;
  return `without it, this translation is ${cost}.`;
}
