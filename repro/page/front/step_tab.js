// How one head helps to write one word: query, keys, softmax, weighted sum, next word; in numbers.

import { SITES, headName, headOf, keyOf } from "../engine/heads.js";
import { button } from "./controls.js";
import { add } from "./dom.js";
import { factsOf } from "./facts.js";
import { changesOf, openHeads } from "./reading.js";
import { PARTS, drawStep } from "./step_figure.js";

const PAUSE = 1800; // milliseconds between two parts

export class StepTab {
  static title = "One word, step by step";
  static hint =
    "What does a head compute? Choose a head and a word that is being written, and go through " +
    "the five parts of the step.";
  static reads = true;
  static asks = true;
  static fits = () => true;

  constructor(panel, app) {
    this.app = app;
    this.shown = matchMedia("(prefers-reduced-motion: reduce)").matches ? PARTS.length : 1;
    const row = add(panel, "div", "rp-buttons");
    const label = add(row, "label", "rp-label", "head ");
    this.choice = add(label, "select", "rp-choice");
    this.choice.addEventListener("change", () => app.look({ focus: this.choice.value }));
    this.before = button(row, "previous word", () => this.moveBy(-1));
    this.after = button(row, "next word", () => this.moveBy(1));
    this.back = button(row, "part before", () => this.show(this.shown - 1));
    this.next = button(row, "next part", () => this.show(this.shown + 1));
    this.next.classList.add("rp-main");
    this.play = button(row, "play", () => (this.timer ? this.stop() : this.start()));
    this.facts = add(panel, "p", "rp-caption");
    this.written = add(panel, "p", "rp-written");
    this.figure = add(panel, "div", "rp-step");
  }

  /** The head in focus, if the decoder has it: the step is one of the decoder. */
  get head() {
    const { state, reading } = this.app;
    const heads = this.heads();
    if (heads.some((head) => keyOf(head) === state.focus)) return state.focus;
    const last = heads.length ? keyOf(heads.at(-1)) : null;
    if (!reading.isMeasured) return last; // or the head would change while it is looked at
    return reading.byNeed(state.off).findLast((key) => !key.startsWith(SITES[0])) ?? last;
  }

  heads() {
    return openHeads(this.app.modelHeads).filter(({ site }) => site !== SITES[0]);
  }

  moveBy(count) {
    const time = Math.max(0, Math.min(this.found.target.length - 1, this.found.time + count));
    this.app.look({ time });
  }

  show(count) {
    this.shown = Math.max(1, Math.min(PARTS.length, count));
    this.app.drawNow();
    this.figure.lastElementChild?.scrollIntoView({ block: "nearest" });
  }

  start() {
    if (this.shown === PARTS.length) this.shown = 0;
    const go = () => {
      this.show(this.shown + 1);
      if (this.shown === PARTS.length || this.app.view !== this) this.stop();
    };
    this.timer = setInterval(go, PAUSE);
    go();
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.app.draw();
  }

  update() {
    this.ask();
  }

  looked() {
    this.ask();
  }

  ask() {
    const { app, head } = this;
    const { model: name, sentence, time } = app.state;
    if (!head) return;
    this.asked = head;
    const question = { kind: "step", name, sentence, head, time, changes: changesOf(app.state) };
    app.client.ask("step", question, {
      step: (answer) => {
        this.found = { ...answer, head };
        app.draw();
      },
    });
  }

  draw() {
    const { head, found } = this;
    this.drawChoice(head);
    if (head && head !== this.asked) this.ask(); // another head is the neediest by now
    if (!found) return;
    this.before.disabled = found.time === 0;
    this.after.disabled = found.time >= found.target.length - 1;
    this.back.disabled = this.shown <= 1;
    this.next.disabled = this.shown >= PARTS.length;
    this.play.textContent = this.timer ? "stop" : "play";
    if (this.drawn === found && this.drawnParts === this.shown) return;
    [this.drawn, this.drawnParts] = [found, this.shown];
    this.drawWritten(found);
    drawStep(this.figure, found, this.shown);
  }

  drawChoice(chosen) {
    const keys = this.heads().map(keyOf);
    if (this.listed !== keys.join()) {
      this.listed = keys.join();
      this.choice.replaceChildren();
      for (const key of keys) add(this.choice, "option", "", headName(headOf(key)), { value: key });
    }
    this.choice.value = chosen;
    const rows = chosen && this.app.reading.weightsOf(chosen);
    if (rows) this.facts.textContent = factsOf(chosen, this.app.model, rows);
  }

  /** Draw what is written so far; each word can be chosen. */
  drawWritten({ target, time }) {
    this.written.replaceChildren("written so far: ");
    target.forEach((text, i) => {
      if (i > time) return;
      const word = add(this.written, i === time ? "mark" : "span", "", text);
      word.lang = this.app.language;
      this.written.append(" ");
    });
    this.written.append("→ which word comes next?");
  }
}
