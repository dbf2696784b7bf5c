// A guess before the answer: a slider, "lock in", and only then what was found, on one axis.

import { add } from "./dom.js";
import { drawGroup, drawKey } from "./forest.js";
import { fitHeight, followTheme, removeStandIn } from "./host.js";

const DIGITS = 2;

/** Write a number with its sign where the scale has both. */
function written(number, least) {
  const text = Number(number.toFixed(DIGITS)).toString().replace("-", "−");
  return least < 0 && number > 0 ? `+${text}` : text;
}

class Prediction {
  /** For `data` see `repro/widgets/prediction.py`. */
  constructor(root, data) {
    Object.assign(this, { root, data });
    const form = add(root, "form", "rp-prediction");
    const label = add(form, "label", "rp-question", data.question);
    const { least, most, step } = data;
    const middle = Math.round((least + most) / 2 / step) * step;
    const range = { type: "range", min: least, max: most, step, value: middle };
    this.slider = add(label, "input", "rp-slider", "", range);
    this.told = add(form, "output", "rp-count");
    this.button = add(form, "button", "rp-button rp-main", "lock in", { type: "submit" });
    this.answer = add(root, "div", "", "", { "aria-live": "polite" });
    this.slider.addEventListener("input", () => this.tell());
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.lockIn();
    });
    this.tell();
  }

  get guess() {
    return Number(this.slider.value);
  }

  tell() {
    const text = `${written(this.guess, this.data.least)} ${this.data.unit}`;
    this.told.textContent = `your guess: ${text}`;
    this.slider.setAttribute("aria-valuetext", text);
  }

  lockIn() {
    this.slider.disabled = true;
    this.button.remove();
    const { printed, rows, number, note, unit } = this.data;
    const guess = { value: this.guess, low: this.guess, high: this.guess, outcome: "guess" };
    const text = written(this.guess, this.data.least);
    add(this.answer, "p", "rp-headline", this.verdict());
    drawKey(this.answer, ["guess", ...(printed.length ? ["printed"] : []), "found"]);
    drawGroup(this.answer, {
      axis: `${number}, in ${unit}`,
      effects: [
        {
          heading: "",
          number: "",
          atLeast: null,
          atMost: null,
          printed,
          rows: [{ label: "your guess", score: guess, text }, ...rows],
        },
      ],
    });
    add(this.answer, "p", "rp-caption", note);
  }

  /** Say how far the guess is from the first number that was found. */
  verdict() {
    const [{ label, score }] = this.data.rows;
    if (this.guess >= score.low && this.guess <= score.high)
      return `Your guess lies in the 95 % interval found on ${label}.`;
    const away = Math.abs(this.guess - score.value).toFixed(1);
    const side = this.guess > score.value ? "above" : "below";
    return `Your guess lies ${away} ${side} the number found on ${label}.`;
  }
}

/** `data`: questions, each as of `repro/widgets/prediction.py`. */
export function start(root, data) {
  followTheme((name) => (document.documentElement.dataset.theme = name));
  for (const question of data) new Prediction(root, question);
  removeStandIn();
  fitHeight();
}
