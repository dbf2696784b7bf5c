// One head without a model: choose where it looks, drag its bell, paint what it may not see.

import { build as fixed } from "../engine/attention/fixed.js";
import { build as gaussian } from "../engine/attention/gaussian.js";
import { OUTSIDE } from "../engine/attention/mixed.js";
import { build as uniform } from "../engine/attention/uniform.js";
import { Bell } from "./bell.js";
import { button } from "./controls.js";
import { add } from "./dom.js";
import { fitHeight, followTheme, removeStandIn } from "./host.js";
import { Matrix } from "./matrix.js";
import { BELL, EVEN, LIMITS, NAMES, UNCHANGED, variantOf } from "./patterns.js";

const BUILDERS = { fixed, gaussian, uniform };
const MASKS = { global: "G", local: "L", forward: "F", backward: "B" };
const MASK_NAMES = {
  global: "at all words alike",
  local: "at its neighbours, alike",
  forward: "at itself and what follows, alike",
  backward: "at itself and what came before, alike",
};
const SLIDERS = {
  center: { label: "middle, in words from the word itself", ...LIMITS.center },
  std: { label: "width, in words", ...LIMITS.std },
  window: { label: "neighbours to each side", least: 1, most: 4, step: 1 },
};

class OneHead {
  /** `words`; `looks`: the names to choose from, the first one chosen. */
  constructor(root, { words, looks }) {
    Object.assign(this, { words, paints: false });
    this.head = { ...UNCHANGED, name: looks[0], window: 1 };
    const row = add(root, "div", "rp-buttons");
    const label = add(row, "label", "rp-label", "the head looks ");
    this.choice = add(label, "select", "rp-choice");
    for (const value of looks) add(this.choice, "option", "", nameOf(value), { value });
    this.choice.addEventListener("change", () => this.change({ name: this.choice.value }));
    this.paint = button(row, "paint what it may not see", () => {
      this.paints = !this.paints;
      this.draw();
    });
    this.open = button(row, "open all", () => this.change({ blocked: [] }));
    const body = add(root, "div", "rp-beside");
    const left = add(body, "div");
    this.matrix = new Matrix(left, (blocked) => this.change({ blocked }), () => {});
    this.sums = add(left, "p", "rp-caption");
    const right = add(body, "div", "rp-bellbox");
    const hint = "Drag the dots, or move the sliders.";
    this.hint = add(right, "p", "rp-caption", hint);
    this.bell = new Bell(right, (moved) => this.change(moved), () => {});
    this.sliders = Object.fromEntries(
      Object.entries(SLIDERS).map(([name, about]) => [name, this.addSlider(right, name, about)]),
    );
    this.draw();
  }

  addSlider(root, name, { label, least, most, step }) {
    const line = add(root, "label", "rp-labelled", label);
    const range = { type: "range", min: least, max: most, step };
    const slider = add(line, "input", "rp-slider", "", range);
    slider.addEventListener("input", () => this.change({ [name]: Number(slider.value) }));
    const told = add(line, "output", "");
    return { line, slider, told };
  }

  change(part) {
    Object.assign(this.head, part);
    this.draw();
  }

  /** Return weights[query][key]. */
  weights() {
    const { name, center, std, sums, blocked, window } = this.head;
    const shut = new Set(blocked.map(String));
    const mask = OUTSIDE[MASKS[name]];
    const variant = variantOf(mask ? EVEN : name, center, std, sums);
    const stack = { embedDim: 1, numHeads: 1 };
    const positions = this.words.map((_, i) => i);
    return BUILDERS[variant.variant](stack, variant.options).weights({
      positions,
      keyLen: positions.length,
      words: positions,
      blocked: (i, j) => shut.has(`${i},${j}`) || Boolean(mask?.(i, j, window)),
    })[0];
  }

  draw() {
    const { head, words } = this;
    const rows = this.weights();
    const isBell = head.name === BELL;
    const used = { center: isBell, std: isBell, window: head.name === "local" };
    this.paint.setAttribute("aria-pressed", this.paints);
    this.open.disabled = !head.blocked.length;
    this.hint.hidden = !isBell;
    this.bell.picture.style.display = isBell ? "" : "none"; // an SVG knows no `hidden`
    this.bell.draw(head);
    for (const [name, { line, slider, told }] of Object.entries(this.sliders)) {
      line.hidden = !used[name];
      slider.value = head[name];
      told.textContent = head[name];
    }
    this.matrix.draw(rows, { above: words, below: words }, head.blocked, this.paints);
    const sums = rows.map((row) => row.reduce((sum, weight) => sum + weight, 0).toFixed(2));
    this.sums.textContent = `The rows sum to ${sums.join(", ")}.`;
  }
}

const nameOf = (name) => MASK_NAMES[name] ?? NAMES[name];

export function start(root, data) {
  followTheme((name) => (document.documentElement.dataset.theme = name));
  new OneHead(root, data);
  removeStandIn();
  fitHeight();
}
