// What the playground puts in the place of a head's weights.
//
// A pattern is { name, center, std, sums, blocked }: the numbers of a bell in tokens, whether its
// rows sum to one, and pairs [query, key] at which the head may not look.

import { PATTERNS } from "../engine/attention/fixed.js";
import { headOf } from "../engine/heads.js";

export const OWN = "own";
export const BELL = "bell";
export const EVEN = "even";

export const NAMES = {
  [OWN]: "wherever it has learned to look",
  [BELL]: "around one place: a bell",
  [EVEN]: "at all words alike",
  current: "at the word itself",
  previous: "at the word before",
  next: "at the word after",
  first: "at the first word",
  last: "at the last word",
  left: "at the words further left",
  right: "at the words further right",
  start: "mostly at the start",
  end: "mostly at the end",
};

export const UNCHANGED = { name: OWN, center: -1, std: 1, sums: false, blocked: [] };
export const LIMITS = {
  center: { least: -6, most: 6, step: 0.25 },
  std: { least: 0.25, most: 5, step: 0.05 },
};

/** Return a number within its limits, on a whole step. */
export function limited(name, value) {
  const { least, most, step } = LIMITS[name];
  return Number(Math.min(most, Math.max(least, Math.round(value / step) * step)).toFixed(2));
}

/** Return in words where a bell stands and how wide it is. */
export function bellInWords({ center, std }) {
  const side = center < 0 ? "before" : "after";
  const where = center ? `${Math.abs(center)} ${side} the word itself` : "at the word itself";
  return `Middle ${where}, width ${std}`;
}

/** Return the names that a head can have. Fixed places are within one sentence, not across two. */
export function namesFor(key) {
  const isCross = headOf(key).site === "cross";
  return Object.keys(NAMES).filter((name) => !isCross || !(name in PATTERNS));
}

/** Return what the engine is told of a pattern; see `MultiHeadAttention.changed`. */
export function changeOf(key, { name, center, std, sums, blocked }) {
  return { ...headOf(key), pattern: variantOf(name, center, std, sums), forbidden: blocked };
}

/** Return { variant, options } of a pattern; null for a head's own weights. */
export function variantOf(name, center, std, sums) {
  if (name === OWN) return null;
  if (name === EVEN) return { variant: "uniform", options: {} };
  if (name === BELL) {
    const numbers = { centers: [center], std, kernel: "density", renormalize: sums };
    return { variant: "gaussian", options: { ...numbers, gamma: 1, floor: false } };
  }
  const places = { patterns: [name], learned: 0, heads: 1, unit: "token" };
  const details = { right_context: "literal", empty: "zero", spread: "normalize" };
  return { variant: "fixed", options: { ...places, ...details } };
}

/** Return patterns as text for a link. */
export function textOfPatterns(patterns) {
  return Object.entries(patterns)
    .map(([key, { name, center, std, sums, blocked }]) =>
      [key, name, center, std, Number(sums), blocked.map((pair) => pair.join("-")).join(".")].join(
        ":",
      ),
    )
    .sort()
    .join(",");
}

/** Return the patterns of such a text; what is none is left out. */
export function patternsOf(text) {
  const found = {};
  for (const part of text.split(",")) {
    const [key, name, center, std, sums, pairs = ""] = part.split(":");
    if (!Object.hasOwn(NAMES, name ?? "") || !Number.isFinite(Number(center))) continue;
    if (!Number.isFinite(Number(std))) continue;
    const blocked = [...pairs.matchAll(/(\d{1,3})-(\d{1,3})/g)].map(([, q, k]) => [+q, +k]);
    const numbers = { center: limited("center", +center), std: limited("std", +std) };
    found[key] = { name, ...numbers, sums: sums === "1", blocked };
  }
  return found;
}
