// The translation: every word with its probability; words that the whole model does not write are
// marked.

import { add } from "./dom.js";

export class TranslationView {
  constructor(root) {
    this.root = add(root, "div", "rp-result");
    this.words = add(this.root, "p", "rp-translation", "", { "aria-live": "polite" });
    this.whole = add(this.root, "p", "rp-whole");
  }

  /** `words`: [{ text, probability }]; `whole`: those of the model with all its heads, or null. */
  draw(words, whole, language) {
    // Drawn anew it would be read out anew.
    if (this.drawn?.words === words && this.drawn.whole === whole) return;
    this.drawn = { words, whole };
    this.words.lang = language;
    const usual = new Set((whole ?? words).map(({ text }) => bare(text)));
    this.words.replaceChildren();
    for (const { text, probability } of words) {
      const isNew = !usual.has(bare(text));
      const word = add(this.words, isNew ? "mark" : "span", "rp-word");
      add(word, "span", "rp-text", text);
      const bar = add(word, "span", "rp-bar", "", { "aria-hidden": "true" });
      bar.style.setProperty("--part", probability);
      add(word, "span", "rp-number", percent(probability));
    }
    if (!words.length) add(this.words, "span", "rp-hint", "(no words)");
    const isBroken =
      whole && whole.map(({ text }) => text).join(" ") !== words.map(({ text }) => text).join(" ");
    this.whole.textContent = isBroken
      ? `with all heads: ${whole.map(({ text }) => text).join(" ")}`
      : " ";
  }
}

const bare = (text) => text.replace(/[.,;:!?]+$/, "");

const percent = (probability) => `${(100 * probability).toFixed(probability < 0.1 ? 1 : 0)} %`;
