// Matrices that follow one another, such as the weights of layers: a slider goes through them.

import { button } from "./controls.js";
import { add } from "./dom.js";
import { fitHeight, followTheme, removeStandIn } from "./host.js";
import { Matrix } from "./matrix.js";

const PAUSE = 900; // milliseconds

class Carried {
  /** `words`; `titles` and `matrices`, one each a step. */
  constructor(root, { words, titles, matrices }) {
    Object.assign(this, { words, titles, matrices, at: 0 });
    const row = add(root, "div", "rp-buttons");
    const label = add(row, "label", "rp-label rp-wide", "step ");
    const range = { type: "range", min: 0, max: matrices.length - 1, step: 1, value: 0 };
    this.slider = add(label, "input", "rp-slider", "", range);
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    this.play = button(row, "play", () => (this.timer ? this.stop() : this.start()));
    this.title = add(root, "h2", "rp-title", "", { "aria-live": "polite" });
    this.matrix = new Matrix(root);
    this.said = add(root, "p", "rp-caption");
    this.draw();
  }

  go(step) {
    this.at = step;
    this.draw();
  }

  start() {
    if (this.at === this.matrices.length - 1) this.go(0);
    this.timer = setInterval(() => {
      this.go(this.at + 1);
      if (this.at === this.matrices.length - 1) this.stop();
    }, PAUSE);
    this.draw();
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.draw();
  }

  draw() {
    const { at, words, titles, matrices } = this;
    this.slider.value = at;
    this.slider.setAttribute("aria-valuetext", titles[at]);
    this.play.textContent = this.timer ? "stop" : "play";
    this.title.textContent = titles[at];
    this.matrix.draw(matrices[at], { above: words, below: words }, [], false);
    const most = matrices[at].map((row) => Math.max(...row));
    const mean = most.reduce((sum, weight) => sum + weight, 0) / most.length;
    const percent = Math.round(100 * mean);
    this.said.textContent = `The largest weight of a row is ${percent} % on average.`;
  }
}

export function start(root, data) {
  followTheme((name) => (document.documentElement.dataset.theme = name));
  new Carried(root, data);
  removeStandIn();
  fitHeight();
}
