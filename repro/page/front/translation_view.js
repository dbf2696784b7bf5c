// The translation: every word with its probability; words that the whole model does not write are
// marked.

import { add } from "./dom.js";

export class TranslationView {
  constructor(root) {
    this.root = add(root, "div", "rp-result");
    this.words = add(this.root, "p", "rp-translation", "", { "aria-live": "polite" });
    this.whole = add(this.root, "p", "rp-whole");
  }

  /** Say what is waited for, before there are any words. */
  wait(message) {
    if (this.waiting === message) return;
    this.waiting = message;
    this.words.lang = "en";
    this.words.replaceChildren();
    if (message) add(this.words, "span", "rp-hint", message);
  }

  /**
   * `words`: [{ text, probability }]; `whole`: those of the model with all its heads, or null;
   * `about`: what to say of the model where these are the same.
   */
  draw(words, whole, language, about) {
    // Drawn anew it would be read out anew.
    if (this.drawn?.words === words && this.drawn.whole === whole) return;
    this.drawn = { words, whole };
    this.words.lang = language;
    const usual = usualWords(whole ?? words);
    this.words.replaceChildren();
    for (const word of words) addWord(this.words, word, usual);
    if (!words.length) add(this.words, "span", "rp-hint", "(no words)");
    const isBroken =
      whole && whole.map(({ text }) => text).join(" ") !== words.map(({ text }) => text).join(" ");
    this.whole.textContent = isBroken
      ? `with all heads: ${whole.map(({ text }) => text).join(" ")}`
      : about;
  }
}

/** Return the words that are not marked elsewhere. */
export const usualWords = (words) => new Set(words.map(({ text }) => bare(text)));

/** Add a word with its probability, marked unless it is a usual one. */
export function addWord(parent, { text, probability }, usual) {
  const word = add(parent, usual.has(bare(text)) ? "span" : "mark", "rp-word");
  add(word, "span", "rp-text", text);
  const bar = add(word, "span", "rp-bar", "", { "aria-hidden": "true" });
  bar.style.setProperty("--part", probability);
  add(word, "span", "rp-number", percent(probability));
}

const bare = (text) => text.replace(/[.,;:!?]+$/, "");

const percent = (probability) => `${(100 * probability).toFixed(probability < 0.1 ? 1 : 0)} %`;
