// Every model of the page on one sentence. Where its one right translation is known, each word is
// marked right or wrong; elsewhere, whether the first model writes it, too.

import { button } from "./controls.js";
import { add } from "./dom.js";
import { notesOf } from "./sentences.js";
import { addWord as addLikely, usualWords } from "./translation_view.js";
import { aligned } from "./truth.js";

export class CompareTab {
  static title = "Compare models";
  static hint =
    "Models that attend in different ways translate the same sentence. Where do they differ, and " +
    "which of their words are right?";
  static reads = false;
  static asks = true;
  static fits = ({ models }) => new Set(models.map(({ corpus }) => corpus)).size < models.length;

  constructor(panel, app) {
    this.app = app;
    this.found = new Map(); // name of a model -> its answer to the present sentence
    this.truth = add(panel, "p", "rp-truth");
    this.list = add(panel, "ul", "rp-models");
    this.note = add(panel, "p", "rp-caption");
    this.others = button(panel, "compare the models of another kind of text", () =>
      app.changeModel(this.inCompany.name),
    );
    this.rows = new Map();
  }

  /** The models that translate between the same languages, of the same kind of text. */
  get models() {
    const { models, model } = this.app;
    return models.filter(({ corpus }) => corpus === model.corpus);
  }

  /** The first model of the page that can be compared with another. */
  get inCompany() {
    const { models } = this.app;
    const corpora = models.map(({ corpus }) => corpus);
    return models.find(({ corpus }, place) => corpora.includes(corpus, place + 1));
  }

  get reference() {
    const { model, state } = this.app;
    return model.examples.find(({ source }) => source === state.sentence)?.reference ?? "";
  }

  update() {
    const { app } = this;
    const { sentence } = app.state;
    if (this.sentence !== sentence) this.found.clear();
    this.sentence = sentence;
    this.refusal = null;
    for (const model of this.models) {
      const { name } = model;
      app.load(model);
      if (!app.heads.has(name) || this.found.has(name)) continue;
      this.found.set(name, null); // asked
      app.client.ask(
        `compare ${name}`,
        { kind: "translate", name, sentence, changes: [] },
        {
          translation: (answer) => {
            this.found.set(name, answer);
            app.draw();
          },
          refused: ({ message }) => {
            this.refusal = message;
            app.draw();
          },
        },
      );
    }
  }

  draw() {
    const { reference } = this;
    this.truth.textContent = this.refusal ?? (reference && `The right translation: ${reference}`);
    this.truth.classList.toggle("rp-refused", Boolean(this.refusal));
    this.truth.hidden = !this.truth.textContent;
    const models = this.models;
    if (this.laidOut !== this.app.model.corpus) this.layOut(models);
    this.laidOut = this.app.model.corpus;
    for (const { name } of models) {
      const message = this.app.broken.get(name);
      if (message) this.rows.get(name).words.textContent = message;
      else this.drawRow(name, this.found.get(name), reference);
    }
    this.note.textContent = this.noteOn(reference);
    this.others.hidden = models.length > 1;
  }

  noteOn(reference) {
    if (reference) return "✓ right · ✗ wrong or in the wrong place · (…) left out";
    if (this.models.length === 1) return "The other models of this page know other texts.";
    const known = this.app.model.examples.some((example) => example.reference)
      ? " “Another sentence” shows one whose translation is known."
      : "";
    return (
      "No right translation of this sentence is on record: below each word is its probability, " +
      `and words that the first model does not write are marked.${known}`
    );
  }

  layOut(models) {
    this.list.replaceChildren();
    this.rows.clear();
    for (const { name, kind } of models) {
      const item = add(this.list, "li", "rp-model");
      add(item, "strong", "rp-name", name);
      add(item, "span", "rp-kind", kind);
      const score = add(item, "span", "rp-score");
      this.rows.set(name, { words: add(item, "p", "rp-words"), score });
    }
  }

  drawRow(name, answer, reference) {
    const { words, score } = this.rows.get(name);
    score.textContent = "";
    if (!answer) {
      const waited = this.app.heads.has(name) ? "translating …" : "loading the model …";
      words.textContent = this.refusal ? "" : waited;
      return;
    }
    words.lang = this.app.language;
    words.replaceChildren();
    const notes = notesOf(answer);
    if (reference) notes.unshift(this.drawJudged(words, answer, reference));
    else this.drawBeside(words, answer);
    score.textContent = notes.join(" · ");
  }

  /** Draw words as right and wrong; return how many are wrong. */
  drawJudged(words, answer, reference) {
    const texts = answer.words.map(({ text }) => text);
    const parts = aligned(texts, reference.split(" "));
    for (const { text, kind } of parts) this.addWord(words, text, kind);
    const wrong = parts.filter(({ kind }) => kind !== "right").length;
    return wrong ? `${wrong} ${wrong === 1 ? "word" : "words"} wrong` : "all right";
  }

  /** Draw words with their probabilities, and mark those that the first model does not write. */
  drawBeside(words, answer) {
    const first = this.found.get(this.models[0].name) ?? answer;
    const usual = usualWords(first.words);
    for (const word of answer.words) addLikely(words, word, usual);
  }

  addWord(words, text, kind) {
    const word = add(words, kind === "missing" ? "del" : "span", `rp-${kind}`);
    const mark = { right: "✓", wrong: "✗", missing: "" }[kind];
    word.textContent = kind === "missing" ? `(${text})` : `${text} `;
    if (mark) add(word, "small", "", mark);
    words.append(" ");
  }
}
