// All heads as squares, one grid a site: a row a layer. The warmer a square, the more the sentence
// needs it.

import { SITES, TITLES, headName, headOf, keyOf, layerName } from "../engine/heads.js";
import { add } from "./dom.js";

const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

export class HeadsView {
  /** `actions`: press(key), look(key). `looksByHover`: whether the mouse need not press. */
  constructor(root, actions, looksByHover = true) {
    this.root = add(root, "div", "rp-sites");
    Object.assign(this, { actions, looksByHover });
    this.squares = new Map();
  }

  /** Lay out the heads of a model: [{ site, layer, head, factor }]. */
  layOut(heads) {
    this.root.replaceChildren();
    this.squares.clear();
    for (const site of SITES) {
      const grid = add(this.root, "div", "rp-site", "", {
        role: "group",
        "aria-label": TITLES[site],
      });
      add(grid, "h2", "rp-title", TITLES[site]);
      const here = heads.filter((head) => head.site === site);
      for (const layer of new Set(here.map((head) => head.layer))) {
        const row = add(grid, "div", "rp-row");
        add(row, "span", "rp-side", layerName(layer));
        for (const head of here.filter((each) => each.layer === layer)) this.addSquare(row, head);
      }
      if (!here.length) add(grid, "p", "rp-hint", "none in this model");
    }
  }

  addSquare(row, head) {
    const key = keyOf(head);
    const node = add(row, "button", "rp-head", "", { type: "button" });
    node.disabled = !head.factor; // a gate that training has shut
    this.squares.set(key, { node, head });
    node.addEventListener("click", () => this.actions.press(key));
    node.addEventListener("pointerenter", ({ pointerType }) => {
      if (pointerType === "mouse" && this.looksByHover) this.actions.look(key);
    });
    node.addEventListener("focus", () => this.actions.look(key));
    node.addEventListener("keydown", (event) => this.move(event, key));
  }

  /**
   * Go to the neighbour in the direction of an arrow key; past the last head comes the next site.
   */
  move(event, key) {
    if (!(event.key in MOVES)) return;
    event.preventDefault();
    const [down, right] = MOVES[event.key];
    const { site, layer, head } = headOf(key);
    const beside = this.squares.get(keyOf({ site, layer: layer + down, head: head + right }));
    const open = [...this.squares.values()].filter(({ node }) => !node.disabled);
    const place = open.findIndex((square) => square.node === this.squares.get(key).node);
    const next = beside && !beside.node.disabled ? beside : open[place + down + right];
    next?.node.focus();
  }

  /**
   * `off`, `pressed`: keys; `patterns`: by the key of a head that has one; `losses`: key -> nats,
   * of those that are measured already. Tab comes to the head in `focus`, so that it stays chosen.
   */
  draw(heads, { off, pressed, patterns, focus }, losses) {
    if (this.heads !== heads) this.layOut(heads);
    this.heads = heads;
    const most = Math.max(0.1, ...losses.values());
    const open = [...this.squares.keys()].filter((key) => !this.squares.get(key).node.disabled);
    const stop = open.includes(focus) ? focus : open[0];
    for (const [key, { node, head }] of this.squares) {
      const nats = losses.get(key);
      const isOff = off.includes(key);
      const [shown, said] = this.stateOf(head, isOff, key in patterns, nats);
      node.style.setProperty("--share", Math.max(0, nats ?? 0) / most);
      node.textContent = shown;
      node.tabIndex = key === stop ? 0 : -1;
      node.classList.toggle("rp-off", isOff);
      node.classList.toggle("rp-replaced", key in patterns);
      node.classList.toggle("rp-focus", key === focus);
      node.setAttribute("aria-pressed", pressed.includes(key));
      const needed = nats === undefined ? "" : `, needed ${nats.toFixed(1)} nats`;
      node.setAttribute("aria-label", `${headName(head)}${said}${needed}`);
    }
  }

  /** Return what a square shows, and what is said of it. */
  stateOf(head, isOff, isReplaced, nats) {
    if (!head.factor) return ["–", ", shut by training"];
    if (isOff) return ["off", ", off"];
    const number = nats === undefined ? "" : nats.toFixed(1).replace("-0.0", "0.0");
    return isReplaced ? [`${number}*`, ", replaced"] : [number, ""];
  }
}
