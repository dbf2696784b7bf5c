// What a visitor has chosen: a model, a sentence, the heads that are off, and the head in focus.
//
// A state is never changed: every step makes a new one, so undo, redo and links are simple.

import { keyOf } from "../engine/heads.js";

export const sameState = (a, b) => linkOf(a) === linkOf(b);

/** Return a state as the text behind # in a link. */
export function linkOf({ model, sentence, off, focus }) {
  const fields = { model, sentence };
  if (off.length) fields.off = off.join(",");
  if (focus) fields.focus = focus;
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
  if (model === null || sentence === null) throw new Error("The link holds no state of this page.");
  if (!models.includes(model)) throw new Error(`The link is for a model that is not in this page.`);
  const off = (fields.get("off") ?? "").split(",").filter(Boolean);
  return { model, sentence, off: [...new Set(off)].sort(), focus: fields.get("focus") };
}

/** Return a state with only those heads that a model has, and whether that was all of them. */
export function checked(state, heads) {
  const known = new Set(heads.map(keyOf));
  const off = state.off.filter((key) => known.has(key));
  const focus = known.has(state.focus) ? state.focus : null;
  return { state: { ...state, off, focus }, isWhole: off.length === state.off.length && focus === state.focus };
}

/** Switch a head off, or on again. */
export function toggled(state, key) {
  const off = state.off.includes(key) ? state.off.filter((other) => other !== key) : [...state.off, key].sort();
  return { ...state, off, focus: key };
}

/** Steps that can be undone and done again. */
export class History {
  constructor(first) {
    this.steps = [{ state: first, kind: "start" }];
    this.at = 0;
  }

  get now() {
    return this.steps[this.at].state;
  }

  /** Go on to a state. Steps of one kind in a row, such as letters that are typed, count as one. */
  go(state, kind = "step") {
    if (sameState(state, this.now)) return;
    const continues = kind === "typing" && this.steps[this.at].kind === "typing";
    this.steps.length = continues ? this.at : this.at + 1;
    this.steps.push({ state, kind });
    this.at = this.steps.length - 1;
  }

  /** Note which head is looked at; that is no step of its own. */
  look(focus) {
    this.steps[this.at] = { ...this.steps[this.at], state: { ...this.now, focus } };
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
