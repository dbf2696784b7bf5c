// Put something else in the place of a head: a bell, a fixed place, or its own weights with holes.

import { headName, headOf } from "../engine/heads.js";
import { Bell } from "./bell.js";
import { button } from "./controls.js";
import { add } from "./dom.js";
import { factsOf } from "./facts.js";
import { HeadsView } from "./heads_view.js";
import { sidesOf } from "./lines_view.js";
import { Matrix } from "./matrix.js";
import { BELL, NAMES, OWN, UNCHANGED, bellInWords, namesFor } from "./patterns.js";
import { focusOf } from "./reading.js";
import { withPattern } from "./state.js";

const HINT = "Drag the dots, or use the arrow keys on them.";

export class PlaygroundTab {
  static title = "Replace a head";
  static hint =
    "Choose a head, and say where it shall look instead: the sentence is translated again, and " +
    "the matrix shows where it looks.";
  static reads = true;
  static asks = true;
  static fits = () => true;

  constructor(panel, app) {
    this.app = app;
    this.isPainting = false;
    this.settled = () => app.history.settle();
    const top = add(panel, "div", "rp-beside rp-choosing");
    const look = (key) => app.look({ focus: key });
    this.headsView = new HeadsView(top, { press: look, look }, false);
    const chosen = add(top, "div", "rp-chosen");
    this.name = add(chosen, "h2", "rp-title");
    const label = add(chosen, "label", "rp-label", "looks ");
    this.choice = add(label, "select", "rp-choice");
    this.choice.addEventListener("change", () => this.change({ name: this.choice.value }));
    this.addBell(chosen);
    this.facts = add(panel, "p", "rp-caption");
    const row = add(panel, "div", "rp-buttons");
    this.paint = button(row, "paint what it may not see", () => this.togglePainting());
    this.restore = button(row, "this head as it was", () => this.put(null));
    const painted = (blocked) => this.change({ blocked }, "painting");
    this.matrix = new Matrix(panel, painted, this.settled);
  }

  /** The bell stands beside the heads, so that it is in view together with the translation. */
  addBell(chosen) {
    this.bellBox = add(chosen, "div");
    this.bell = new Bell(this.bellBox, (moved) => this.change(moved, "dragging"), this.settled);
    this.numbers = add(this.bellBox, "p", "rp-caption");
    const sums = add(this.bellBox, "label", "rp-label", "");
    this.sums = add(sums, "input", "", "", { type: "checkbox" });
    sums.append(" each row sums to one");
    this.sums.addEventListener("change", () => this.change({ sums: this.sums.checked }));
  }

  get focus() {
    const { state, reading, modelHeads } = this.app;
    return focusOf(state, reading, modelHeads);
  }

  get pattern() {
    return this.app.state.patterns[this.focus] ?? UNCHANGED;
  }

  change(part, kind) {
    const pattern = { ...this.pattern, ...part };
    const isOwn = pattern.name === OWN && !pattern.blocked.length;
    this.put(isOwn ? null : pattern, kind);
  }

  put(pattern, kind) {
    const { app } = this;
    app.go(withPattern(app.state, this.focus, pattern), kind);
  }

  togglePainting() {
    this.isPainting = !this.isPainting;
    this.app.draw();
  }

  draw() {
    const { app, focus, pattern } = this;
    const { state, reading } = app;
    if (!focus) return;
    this.headsView.draw(app.modelHeads, { ...state, focus, pressed: [focus] }, reading.losses);
    this.name.textContent = headName(headOf(focus));
    this.drawChoice(focus, pattern);
    this.paint.setAttribute("aria-pressed", this.isPainting);
    this.restore.disabled = !(focus in state.patterns);
    this.bellBox.hidden = pattern.name !== BELL;
    this.bell.draw(pattern);
    this.numbers.textContent = `${bellInWords(pattern)}. ${HINT}`;
    this.sums.checked = pattern.sums;
    const rows = reading.weightsOf(focus);
    if (!rows) return;
    const sides = sidesOf(headOf(focus).site, reading.found.attention);
    const shown = rows.slice(0, sides.below.length);
    this.facts.textContent = factsOf(focus, app.model, shown);
    const drawn = [rows, pattern.blocked, this.isPainting];
    if (this.drawn?.every((part, i) => part === drawn[i])) return;
    this.drawn = drawn;
    this.matrix.draw(shown, sides, pattern.blocked, this.isPainting);
  }

  drawChoice(focus, { name }) {
    const names = namesFor(focus);
    if (this.choice.children.length !== names.length) {
      this.choice.replaceChildren();
      for (const each of names) add(this.choice, "option", "", NAMES[each], { value: each });
    }
    this.choice.value = name;
  }
}
