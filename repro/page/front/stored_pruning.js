// The stored pruned models: a slider goes through them, and shows what each has left.

import { SITES, TITLES, layerName, numberOf } from "../engine/heads.js";
import { curve } from "./curve.js";
import { add, make } from "./dom.js";

export class StoredPruning {
  /** `series`: what `pruned_models` of `repro/page/stored.py` returns. */
  constructor(panel, series) {
    Object.assign(this, { series, chosen: series[0] });
    const root = add(panel, "section", "rp-stored");
    add(root, "h2", "rp-title", "On record: models whose heads training chose");
    const text =
      "Each of these models was trained on while gates shut its heads, at a price for every head " +
      "that stays; the one at the right end has no gates. Training adapts to what is lost: the " +
      "slider above cannot.";
    add(root, "p", "rp-caption", text);
    if (series.length > 1) this.addChoice(root);
    const label = add(root, "label", "rp-label rp-wide");
    this.count = add(label, "span", "rp-count");
    const about = { type: "range", min: 0, step: 1, "aria-label": "pruned model on record" };
    this.slider = add(label, "input", "rp-slider", "", about);
    this.slider.addEventListener("input", () => this.draw());
    this.scores = add(root, "p", "", "", { "aria-live": "polite" });
    const body = add(root, "div", "rp-beside");
    this.sites = add(body, "div", "rp-sites");
    this.figure = add(body, "figure", "rp-figure");
    this.choose(series[0].label);
  }

  addChoice(root) {
    const label = add(root, "label", "rp-label", "pruned from ");
    const choice = add(label, "select", "rp-choice");
    for (const { label: name } of this.series) add(choice, "option", "", name, { value: name });
    choice.addEventListener("change", () => this.choose(choice.value));
  }

  /** Go to the models of another seed, and to the one with all heads. */
  choose(name) {
    this.chosen = this.series.find(({ label }) => label === name);
    this.slider.max = this.chosen.models.length - 1;
    this.slider.value = this.slider.max;
    this.draw();
  }

  draw() {
    const { heads, models } = this.chosen;
    const model = models[Number(this.slider.value)];
    const found = scoresOf(model);
    this.count.textContent = `${model.heads} of ${heads} heads left`;
    this.slider.setAttribute("aria-valuetext", `${this.count.textContent}: ${found}`);
    this.scores.textContent = found;
    this.sites.replaceChildren(
      ...SITES.map((site) => siteOf(site, this.chosen.layers[site], model.kept[site])),
    );
    const points = models.map((each) => [each.heads, each.bleu]);
    const lines = [{ points, mark: [model.heads, model.bleu], isDotted: true }];
    const title = "BLEU of the models by the heads that are left";
    this.figure.replaceChildren(...curve(title, lines, heads, "heads left", "BLEU"));
  }
}

const scoresOf = ({ bleu, nats }) =>
  `${bleu.toFixed(1)} BLEU on the test set, ${nats.toFixed(2)} nats per token on the development ` +
  "set";

/** Return the squares of a site: `layers` are the numbers of heads, `kept` the heads that stay. */
function siteOf(site, layers, kept) {
  const said = kept.map((heads, layer) => `${layerName(layer)} keeps ${inWords(heads)}`);
  const box = make("div");
  const about = { role: "img", "aria-label": `${TITLES[site]}: ${said.join("; ")}` };
  add(box, "h3", "rp-title", TITLES[site]);
  const grid = add(box, "div", "", "", about);
  layers.forEach((count, layer) => {
    const row = add(grid, "div", "rp-row");
    add(row, "span", "rp-side", layerName(layer));
    for (let head = 0; head < count; head++) {
      const stays = kept[layer].includes(head);
      add(row, "span", stays ? "rp-square" : "rp-square rp-gone", stays ? numberOf(head) : "–");
    }
  });
  return box;
}

function inWords(heads) {
  if (!heads.length) return "none";
  return `${heads.length === 1 ? "head" : "heads"} ${heads.map(numberOf).join(", ")}`;
}
