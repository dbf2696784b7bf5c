// Where a head looks: a line from each word below to the words above, as thick as its weight.

import { add, svg } from "./dom.js";

const FAINTEST = 0.03; // weights below are not drawn
const HEIGHT = 120;

/** Return the words above and below the lines of a head's site. */
export function sidesOf(site, { source, target, written }) {
  if (site === "encoder_self") return { above: source, below: source };
  if (site === "decoder_self") return { above: target, below: written };
  return { above: source, below: written };
}

export class LinesView {
  constructor(root) {
    this.chosen = null; // a word below whose lines alone are drawn
    this.scroll = add(root, "div", "rp-lines", "", {
      tabindex: "0",
      role: "group",
      "aria-label": "where the head looks",
    });
    this.above = add(this.scroll, "div", "rp-tokens");
    this.picture = this.scroll.appendChild(svg("svg", { height: HEIGHT, "aria-hidden": "true" }));
    this.below = add(this.scroll, "div", "rp-tokens");
    new ResizeObserver(() => this.drawLines()).observe(root);
  }

  /** `rows`: weights[query], each over the keys; `sides`: see `sidesOf`. */
  draw(rows, sides) {
    Object.assign(this, { rows, chosen: null });
    this.above.replaceChildren(...sides.above.map((text) => this.token("span", text)));
    this.below.replaceChildren(...sides.below.map((text, i) => this.query(text, i)));
    this.drawLines();
  }

  token(tag, text) {
    const node = document.createElement(tag);
    node.className = "rp-token";
    node.textContent = text;
    return node;
  }

  query(text, i) {
    const node = this.token("button", text);
    node.type = "button";
    const choose = (place) => () => {
      this.chosen = place;
      this.drawLines();
    };
    node.addEventListener("pointerenter", choose(i));
    node.addEventListener("focus", choose(i));
    node.addEventListener("pointerleave", choose(null));
    node.addEventListener("blur", choose(null));
    return node;
  }

  drawLines() {
    if (!this.rows) return;
    const left = this.scroll.getBoundingClientRect().left - this.scroll.scrollLeft;
    const middle = (node) => {
      const box = node.getBoundingClientRect();
      return box.left + box.width / 2 - left;
    };
    const [above, below] = [this.above, this.below].map((row) => [...row.children].map(middle));
    this.picture.setAttribute(
      "width",
      Math.max(this.above.scrollWidth, this.below.scrollWidth, 10),
    );
    this.picture.replaceChildren(...linesOf(this.rows, above, below, HEIGHT, this.chosen));
  }
}

/** Return the lines of a head between two rows of places, for the page and for the picture. */
export function linesOf(rows, above, below, height, chosen = null) {
  const lines = [];
  rows.forEach((row, query) => {
    if (chosen !== null && chosen !== query) return;
    row.forEach((weight, key) => {
      if (weight < FAINTEST) return;
      const place = { x1: below[query], y1: height, x2: above[key], y2: 0 };
      lines.push(
        svg("line", {
          ...place,
          "stroke-opacity": Math.min(1, 0.15 + weight).toFixed(2),
          "stroke-width": (1 + 5 * weight).toFixed(1),
        }),
      );
    });
  });
  return lines;
}
