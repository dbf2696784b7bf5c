// The sentence field with what is beside it, and the buttons below the heads.

import { add } from "./dom.js";

const TYPING_PAUSE = 200; // milliseconds without a key, before a sentence is read

export function button(parent, text, action) {
  const node = add(parent, "button", "rp-button", text, { type: "button" });
  node.addEventListener("click", action);
  return node;
}

export class SentenceControls {
  /**
   * `actions`: model(name), sentence(text) and another(). The model is a choice where there are
   * several.
   */
  constructor(root, models, actions) {
    this.root = add(root, "div", "rp-top");
    this.typing = null; // the timer of letters that are not read yet
    const row = this.root;
    if (models.length > 1) {
      this.choice = add(row, "select", "rp-choice", "", { "aria-label": "model" });
      for (const { name, title } of models) add(this.choice, "option", "", title, { value: name });
      this.choice.addEventListener("change", () => actions.model(this.choice.value));
    }
    const attributes = {
      type: "text",
      "aria-label": "sentence to translate",
      placeholder: "a sentence; it stays in this page",
      autocomplete: "off",
      spellcheck: "false",
    };
    this.field = add(row, "input", "rp-field", "", attributes);
    this.field.addEventListener("input", () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => {
        this.typing = null;
        actions.sentence(this.field.value);
      }, TYPING_PAUSE);
    });
    button(row, "another sentence", actions.another);
  }

  show(model, sentence) {
    // An answer that comes while somebody types must not take the letters away.
    if (!this.typing && this.field.value !== sentence) this.field.value = sentence;
    if (this.choice) this.choice.value = model;
  }
}

const LABELS = {
  worst: "switch off the most needed head",
  undo: "undo",
  redo: "redo",
  allOn: "all heads on",
  link: "copy link",
  picture: "copy picture",
};

export class ActionBar {
  /** `actions`: a function for each button. */
  constructor(root, actions) {
    this.root = add(root, "div", "rp-buttons");
    this.buttons = {};
    for (const [name, label] of Object.entries(LABELS)) {
      this.buttons[name] = button(this.root, label, actions[name]);
    }
    this.buttons.worst.classList.add("rp-main");
  }

  /** Say which buttons would do something. */
  enable(possible) {
    for (const [name, is] of Object.entries(possible)) this.buttons[name].disabled = !is;
  }

  /** Show only those buttons that the tab has. */
  offer(offered) {
    for (const [name, is] of Object.entries(offered)) this.buttons[name].hidden = !is;
  }
}
