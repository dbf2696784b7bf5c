// Fewer and fewer heads: a slider that switches off those that the sentence needs least, and one
// over the models on record, whose heads training chose.

import { curve } from "./curve.js";
import { add } from "./dom.js";
import { openHeads } from "./reading.js";
import { StoredPruning } from "./stored_pruning.js";

const LITTLE = 0.5; // nats: a translation that loses less is still more than half as likely

export class PruningTab {
  static title = "Fewer heads";
  static hint =
    "How many heads does a translation need? Move the slider to the left: the heads that this " +
    "sentence needs least are switched off first.";
  static reads = true;
  static asks = true;
  static fits = () => true;

  constructor(panel, app) {
    this.app = app;
    const label = add(panel, "label", "rp-label rp-wide");
    this.count = add(label, "span", "rp-count");
    this.slider = add(label, "input", "rp-slider", "", { type: "range", min: 0, step: 1 });
    this.slider.addEventListener("input", () => this.keep(Number(this.slider.value)));
    this.slider.addEventListener("change", () => app.history.settle());
    const body = add(panel, "div", "rp-beside");
    this.figure = add(body, "figure", "rp-figure");
    this.steps = add(body, "div", "rp-figure");
    add(this.steps, "h2", "rp-title", "What becomes of the sentence");
    const about = { tabindex: 0, "aria-label": "translations by the heads that are left" };
    this.list = add(this.steps, "ol", "rp-changes", "", about);
    if (app.options.pruned?.length) new StoredPruning(panel, app.options.pruned);
    this.points = [];
  }

  /** Leave some heads on: the neediest. */
  keep(count) {
    const { app } = this;
    const off = this.order.slice(0, this.order.length - count).sort();
    app.go({ ...app.state, off }, "sliding");
  }

  /** The heads from the least needed to the most needed, once all are measured. */
  get order() {
    return this.app.reading.byNeed();
  }

  ask() {
    const { model: name, sentence } = this.app.state;
    const subject = `${name}\n${sentence}`;
    const { isMeasured, refusal } = this.app.reading;
    if (!isMeasured || refusal || this.subject === subject) return;
    this.subject = subject;
    this.points = [];
    const question = { kind: "prune", name, sentence, order: this.order };
    const draw = () => this.app.draw();
    this.app.client.ask("prune", question, {
      pruned: (point) => {
        this.points.push(point);
        draw();
      },
      allPruned: draw,
      refused: draw,
    });
  }

  draw() {
    const { app } = this;
    this.ask();
    const open = openHeads(app.modelHeads).length;
    const left = open - app.state.off.length;
    this.slider.max = open;
    this.slider.value = left;
    this.slider.disabled = !app.reading.isMeasured || Boolean(app.reading.refusal);
    this.count.textContent = `${left} of ${open} heads left`;
    if (this.drawn === this.points.length && this.left === left) return;
    [this.drawn, this.left] = [this.points.length, left];
    this.drawCurve(open, left);
    this.drawChanges(open);
  }

  drawCurve(open, left) {
    const shown = this.points.map(({ count, nats }) => [open - count, nats]);
    const title = this.finding(open);
    const mark = shown.find(([heads]) => heads === left);
    const lines = [{ points: shown, mark }];
    this.figure.replaceChildren(...curve(title, lines, open, "heads left", "nats"));
  }

  /** Return in a sentence how many heads are enough. */
  finding(open) {
    if (this.points.length <= open) return "Switching off one head after another …";
    const first = this.points.findIndex(({ nats }) => nats > LITTLE);
    const enough = first < 0 ? 0 : open - first + 1;
    return `With ${enough} of ${open} heads, the translation is over half as likely as with all`;
  }

  /** List the counts at which the translation changes. */
  drawChanges(open) {
    this.list.replaceChildren();
    let before = null;
    for (const { count, text } of this.points) {
      if (text === before) continue;
      before = text;
      const item = add(this.list, "li", "", `${open - count} heads: `);
      add(item, "span", "rp-changed", text || "(no words)", { lang: this.app.language });
    }
  }
}
