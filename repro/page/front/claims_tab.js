// What the papers say, and what came out here: a forest plot for each paper.

import { add } from "./dom.js";
import { drawGroup, drawKey } from "./forest.js";

export class ClaimsTab {
  static title = "The claims";
  static hint =
    "Five papers say how attention can be made simpler. Does it hold when their experiments are " +
    "run again, on smaller models? A mark inside its bracket says yes.";
  static reads = false;
  static asks = false;
  static fits = ({ claims }) => Boolean(claims);

  constructor(panel, app) {
    this.app = app;
    const { papers, explained } = app.options.claims;
    const label = add(panel, "label", "rp-label", "paper ");
    this.choice = add(label, "select", "rp-choice");
    for (const { name, title } of papers) add(this.choice, "option", "", title, { value: name });
    this.choice.addEventListener("change", () => app.look({ paper: this.choice.value }));
    this.headline = add(panel, "p", "rp-headline");
    drawKey(panel);
    const details = add(panel, "details", "rp-caption");
    add(details, "summary", "", "How to read this");
    add(details, "p", "", explained);
    this.forest = add(panel, "div", "rp-forest");
  }

  draw() {
    const { papers } = this.app.options.claims;
    const chosen = this.app.state.paper;
    const paper = papers.find(({ name }) => name === chosen) ?? papers[0];
    if (this.drawn === paper) return;
    this.drawn = paper;
    this.choice.value = paper.name;
    this.headline.textContent = paper.headline;
    this.forest.replaceChildren();
    for (const group of paper.groups) drawGroup(this.forest, group);
  }
}
