// What a visitor has chosen: a model, a sentence, and what was done to its heads.
//
// A state is never changed: every step makes a new one, so undo, redo and links are simple.
//
//   model, sentence        as they are shown
//   off                    keys of the heads that are off, sorted
//   patterns               key of a head -> what took its place; see patterns.js
//   view, focus, time, paper    where the visitor looks: a tab, a head, a decoding step, a paper

import { keyOf } from "../engine/heads.js";
import { patternsOf, textOfPatterns } from "./patterns.js";

const LOOKED_AT = ["view", "focus", "time", "paper"]; // to look elsewhere is no step of its own

export const START = { off: [], patterns: {}, view: null, focus: null, time: 0, paper: null };

export const sameState = (a, b) => linkOf(a) === linkOf(b);

/** Return a state as the text behind # in a link. */
export function linkOf({ model, sentence, off, patterns, view, focus, time, paper }) {
  const fields = { model, sentence };
  if (off.length) fields.off = off.join(",");
  if (Object.keys(patterns).length) fields.patterns = textOfPatterns(patterns);
  if (view) fields.view = view;
  if (focus) fields.focus = focus;
  if (time) fields.time = time;
  if (paper) fields.paper = paper;
  return new URLSearchParams(fields).toString();
}

/**
 * Return the state of a link.
 *
 * `models`: the names of the models of the page. What the link says of heads is checked by
 * `checked`, once the heads of the model are known. Throws an error for readers.
 */
export function readLink(link, models) {
  const fields = new URLSearchParams(link);
  const [model, sentence] = [fields.get("model"), fields.get("sentence")];
  if (model === null || sentence === null) {
    throw new Error("The link holds no state of this page.");
  }
  if (!models.includes(model)) {
    throw new Error("The link is for a model that is not in this page.");
  }
  const off = (fields.get("off") ?? "").split(",").filter(Boolean);
  return {
    model,
    sentence,
    off: [...new Set(off)].sort(),
    patterns: patternsOf(fields.get("patterns") ?? ""),
    view: fields.get("view"),
    focus: fields.get("focus"),
    time: Math.max(0, Math.trunc(Number(fields.get("time")) || 0)),
    paper: fields.get("paper"),
  };
}

/** Return a state with only those heads that a model has, and whether that was all of them. */
export function checked(state, heads) {
  const known = new Set(heads.map(keyOf));
  const off = state.off.filter((key) => known.has(key));
  const kept = Object.entries(state.patterns).filter(([key]) => known.has(key));
  const focus = known.has(state.focus) ? state.focus : null;
  const isWhole =
    off.length === state.off.length &&
    kept.length === Object.keys(state.patterns).length &&
    focus === state.focus;
  return { state: { ...state, off, focus, patterns: Object.fromEntries(kept) }, isWhole };
}

/** Switch a head off, or on again. */
export function toggled(state, key) {
  const isOff = state.off.includes(key);
  const off = isOff ? state.off.filter((other) => other !== key) : [...state.off, key].sort();
  return { ...state, off, focus: key };
}

/** Put a pattern in the place of a head; null gives it its own weights again. */
export function withPattern(state, key, pattern) {
  const { [key]: before, ...patterns } = state.patterns;
  return { ...state, patterns: pattern ? { ...patterns, [key]: pattern } : patterns, focus: key };
}

/** Steps that can be undone and done again. */
export class History {
  constructor(first) {
    this.steps = [{ state: first, kind: "start" }];
    this.at = 0;
    this.look(first);
  }

  get now() {
    return { ...this.steps[this.at].state, ...this.looking };
  }

  /** Go on to a state. Steps of one kind in a row, such as letters that are typed, count as one. */
  go(state, kind = "step") {
    const last = this.steps[this.at];
    const isSame = sameState({ ...state, ...this.looking }, this.now);
    this.look(state);
    if (isSame) return;
    const continues = kind !== "step" && last.kind === kind;
    this.steps.length = continues ? this.at : this.at + 1;
    this.steps.push({ state, kind });
    this.at = this.steps.length - 1;
  }

  /** Note what is looked at: a part of a state. */
  look(part) {
    const looked = LOOKED_AT.filter((name) => name in part).map((name) => [name, part[name]]);
    this.looking = { ...this.looking, ...Object.fromEntries(looked) };
  }

  /** End a gesture: what is moved next is a step of its own. */
  settle() {
    this.steps[this.at] = { ...this.steps[this.at], kind: "step" };
  }

  get canUndo() {
    return this.at > 0;
  }

  get canRedo() {
    return this.at + 1 < this.steps.length;
  }

  undo() {
    if (this.canUndo) this.at -= 1;
  }

  redo() {
    if (this.canRedo) this.at += 1;
  }
}
