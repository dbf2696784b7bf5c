// What the engine has said of the present sentence: translation, attention, and what it needs.

import { headOf, keyOf } from "../engine/heads.js";
import { changeOf } from "./patterns.js";

/** Return the changes to a model that a state asks for; a head that is off stays off. */
export function changesOf({ off, patterns }) {
  const replaced = Object.entries(patterns).map(([key, pattern]) => changeOf(key, pattern));
  return [...replaced, ...off.map((key) => ({ ...headOf(key), factor: 0 }))];
}

const isChanged = ({ off, patterns }) => off.length > 0 || Object.keys(patterns).length > 0;

export class Reading {
  /** `changed()` is called whenever more is known. */
  constructor(client, changed) {
    Object.assign(this, { client, changed, found: {}, refusal: null });
    this.forget();
  }

  /** Forget what was measured of another sentence or model. */
  forget() {
    Object.assign(this, { losses: new Map(), whole: null, isMeasured: false });
  }

  /** Ask for all that the views show of a state. */
  read(state) {
    const { model: name, sentence } = state;
    const subject = `${name}\n${sentence}`;
    const isNew = subject !== this.subject;
    if (isNew) this.forget();
    this.subject = subject;
    this.isChanged = isChanged(state);
    const changes = changesOf(state);
    const question = { kind: "translate", name, sentence, changes, attention: true };
    this.client.ask("state", question, {
      translation: (answer) => {
        this.found = { ...this.found, ...answer };
        this.refusal = null;
        if (!changes.length) this.whole = answer.words;
        this.changed();
      },
      attention: (answer) => {
        this.found = { ...this.found, attention: answer };
        this.changed();
      },
      refused: (answer) => this.refuse(answer),
    });
    if (changes.length && !this.whole) this.askForWhole(name, sentence);
    if (isNew) this.measure(name, sentence);
  }

  askForWhole(name, sentence) {
    const question = { kind: "translate", name, sentence, changes: [] };
    this.client.ask("whole", question, {
      translation: ({ words }) => {
        this.whole = words;
        this.changed();
      },
    });
  }

  measure(name, sentence) {
    this.client.ask(
      "losses",
      { kind: "losses", name, sentence },
      {
        loss: ({ key, nats }) => {
          this.losses.set(key, nats);
          this.changed();
        },
        losses: () => {
          this.isMeasured = true;
          this.changed();
        },
        refused: (answer) => this.refuse(answer),
      },
    );
  }

  refuse({ message }) {
    this.isMeasured = true;
    this.refusal = message;
    this.changed();
  }

  /** Return the words of the model with all its heads, where they are not those that are shown. */
  get other() {
    return this.isChanged ? this.whole : null;
  }

  /** Return the heads that are on, the least needed first. */
  byNeed(off = []) {
    const keys = [...this.losses.keys()].filter((key) => !off.includes(key));
    return keys.sort((a, b) => this.losses.get(a) - this.losses.get(b));
  }

  /** Return where a head looks: weights[query][key], or null. */
  weightsOf(key) {
    const { site, layer, head } = headOf(key);
    return this.found.attention?.weights[site][layer]?.[head] ?? null;
  }
}

/** Return the heads that no gate has shut. */
export const openHeads = (heads) => heads.filter(({ factor }) => factor);

/** Return the head to look at: the chosen one, else the one that the sentence needs most. */
export function focusOf(state, reading, heads) {
  const needed = reading.byNeed(state.off).at(-1);
  return state.focus ?? needed ?? (heads.length ? keyOf(heads.at(-1)) : null);
}
