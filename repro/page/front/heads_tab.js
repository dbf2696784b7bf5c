// The first view: all heads to switch off, and where the head in focus looks.

import { headOf } from "../engine/heads.js";
import { add } from "./dom.js";
import { factsOf } from "./facts.js";
import { HeadsView } from "./heads_view.js";
import { LinesView, sidesOf } from "./lines_view.js";
import { copyPicture } from "./picture.js";
import { focusOf } from "./reading.js";
import { captionOf } from "./sentences.js";
import { toggled } from "./state.js";

export class HeadsTab {
  static title = "Break it";
  static hint =
    "Each square is an attention head: click one to switch it off. The warmer it is, the more " +
    "this sentence needs it (in nats).";
  static reads = true;
  static asks = true;
  static fits = () => true;

  constructor(panel, app) {
    this.app = app;
    this.headsView = new HeadsView(panel, {
      press: (key) => app.go(toggled(app.state, key)),
      look: (key) => app.look({ focus: key }),
    });
    this.caption = add(panel, "p", "rp-caption");
    this.facts = add(panel, "p", "rp-caption");
    this.lines = new LinesView(panel);
  }

  draw() {
    const { app } = this;
    const { state, reading } = app;
    const focus = focusOf(state, reading, app.modelHeads);
    this.headsView.draw(app.modelHeads, { ...state, focus, pressed: state.off }, reading.losses);
    const { rows, sides } = this.linesOf(focus);
    if (!rows) return;
    const nats = reading.losses.get(focus);
    this.caption.textContent = captionOf(
      focus,
      nats,
      state.off.includes(focus),
      !reading.isChanged,
    );
    this.facts.textContent = factsOf(focus, app.model, rows);
    if (this.drawn === rows) return;
    this.drawn = rows;
    this.lines.draw(rows, sides);
  }

  linesOf(key) {
    const { reading } = this.app;
    const rows = key && reading.weightsOf(key);
    if (!rows) return { rows: null, sides: { above: [], below: [] } };
    const sides = sidesOf(headOf(key).site, reading.found.attention);
    return { sides, rows: rows.slice(0, sides.below.length) };
  }

  /** Copy the view as a picture, or save it; return in words what was done. */
  copyPicture() {
    const { app } = this;
    const { state, reading } = app;
    return copyPicture(app.status, {
      ...this.linesOf(focusOf(state, reading, app.modelHeads)),
      caption: this.caption.textContent,
      sentence: state.sentence,
      words: reading.found.words ?? [],
      whole: reading.other,
      heads: app.modelHeads,
      off: state.off,
      losses: reading.losses,
    });
  }
}
