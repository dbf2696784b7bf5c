// Where all heads look, as pictures; one of them large, to read its numbers.

import { headName, headOf } from "../engine/heads.js";
import { add } from "./dom.js";
import { factsOf } from "./facts.js";
import { HeadsView } from "./heads_view.js";
import { sidesOf } from "./lines_view.js";
import { Matrix } from "./matrix.js";
import { focusOf } from "./reading.js";
import { saidOf, statisticsOf } from "./statistics.js";

const FADED = 0.2; // of what is not in the row or column of the word that is followed

export class AttentionTab {
  static title = "Where they look";
  static hint =
    "Each picture is a head: a row for each word that looks, a column for each that is looked " +
    "at, the darkest where the head looks most. Choose a head to read its weights, or a word to " +
    "follow it through all heads.";
  static reads = true;
  static asks = true;
  static fits = () => true;

  constructor(panel, app) {
    this.app = app;
    this.word = null; // { side, place }, the one that is followed
    panel.classList.add("rp-maps");
    this.strips = Object.fromEntries(
      Object.entries({ source: "source", written: "translation" }).map(([side, name]) => [
        side,
        add(panel, "div", "rp-strip", "", { role: "group", "aria-label": `follow: ${name}` }),
      ]),
    );
    const choose = (key) => app.look({ focus: key });
    this.headsView = new HeadsView(panel, { press: choose, look: choose }, false);
    this.name = add(panel, "h2", "rp-title");
    this.matrix = new Matrix(panel);
    this.statistics = add(panel, "p", "rp-caption");
    this.facts = add(panel, "p", "rp-caption");
  }

  draw() {
    const { app } = this;
    const { state, reading } = app;
    const focus = focusOf(state, reading, app.modelHeads);
    const { attention } = reading.found;
    if (!focus) return;
    this.headsView.draw(app.modelHeads, { ...state, focus, pressed: [focus] }, new Map());
    if (!attention || !reading.weightsOf(focus)) return;
    if (this.attention !== attention) this.read(attention);
    if (this.isNew("pictures", [attention, this.word, app.modelHeads, app.host.dataset.theme]))
      this.drawPictures();
    if (this.isNew("detail", [attention, this.word, focus])) this.drawDetail(focus);
  }

  /** Whether something is to be drawn of other parts than before. */
  isNew(name, parts) {
    const before = this[name];
    this[name] = parts;
    return !before?.every((part, i) => part === parts[i]);
  }

  /** Show the words of another sentence. */
  read(attention) {
    this.attention = attention;
    this.word = null;
    for (const [side, strip] of Object.entries(this.strips)) {
      strip.replaceChildren();
      attention[side].forEach((text, place) => {
        const about = { type: "button", "aria-pressed": false };
        const node = add(strip, "button", "rp-token", text, about);
        node.addEventListener("click", () => this.follow(side, place));
      });
    }
  }

  /** Follow a word through all heads, or no longer. */
  follow(side, place) {
    const isOver = this.word?.side === side && this.word.place === place;
    this.word = isOver ? null : { side, place };
    for (const [name, strip] of Object.entries(this.strips)) {
      [...strip.children].forEach((node, i) =>
        node.setAttribute("aria-pressed", !isOver && name === side && i === place),
      );
    }
    this.app.draw();
  }

  weightsOf(key) {
    const sides = sidesOf(headOf(key).site, this.attention);
    return { sides, rows: this.app.reading.weightsOf(key)?.slice(0, sides.below.length) };
  }

  drawPictures() {
    const color = getComputedStyle(this.name).getPropertyValue("--line").trim();
    for (const [key, { node }] of this.headsView.squares) {
      const { rows, sides } = this.weightsOf(key);
      const place = placeOf(this.word, headOf(key).site);
      const picture = rows ? pictureOf(rows, sides.above.length, color, place) : null;
      node.style.backgroundImage = picture ? `url(${picture})` : "";
    }
  }

  drawDetail(focus) {
    const { site } = headOf(focus);
    const { rows, sides } = this.weightsOf(focus);
    const { row, column } = placeOf(this.word, site);
    this.name.textContent = headName(headOf(focus));
    if (row !== undefined) this.matrix.cursor = [row, strongest(rows[row])];
    else if (column !== undefined)
      this.matrix.cursor = [strongest(rows.map((weights) => weights[column])), column];
    this.matrix.draw(rows, sides, [], false);
    this.statistics.textContent = saidOf(statisticsOf(site, rows, this.app.model.endMark));
    this.facts.textContent = factsOf(focus, this.app.model, rows);
  }
}

const strongest = (weights) => weights.indexOf(Math.max(...weights.map((weight) => weight ?? 0)));

/** Return the row and the column of a word at a site, as far as it has them. */
function placeOf(word, site) {
  if (!word) return {};
  const { side, place } = word;
  if (side === "source") {
    if (site === "encoder_self") return { row: place, column: place };
    return site === "cross" ? { column: place } : {};
  }
  // A word of the translation is written in one row, and looked at one column later.
  if (site === "decoder_self") return { row: place, column: place + 1 };
  return site === "cross" ? { row: place } : {};
}

/** Return the address of a picture: a pixel a weight, the largest one in full colour. */
function pictureOf(rows, width, color, { row, column }) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, rows.length];
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, rows.length);
  const rgb = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  const most = Math.max(...rows.map((weights) => Math.max(...weights))) || 1;
  rows.forEach((weights, q) =>
    weights.forEach((weight, k) => {
      const isSeen = (row === undefined && column === undefined) || q === row || k === column;
      const share = Math.max(0, weight) / most;
      image.data.set([...rgb, 255 * share * (isSeen ? 1 : FADED)], 4 * (q * width + k));
    }),
  );
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}
