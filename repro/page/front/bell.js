// A bell to drag: its upper handle moves the centre, the other one the width. Arrow keys do, too.

import { svg } from "./dom.js";
import { LIMITS, limited } from "./patterns.js";

const [WIDTH, HEIGHT, REACH] = [340, 170, 7]; // reach: words to each side that are drawn
const FLOOR = HEIGHT - 38;
const LABELS = {
  center: "middle of the bell, in words from the word itself",
  std: "width of the bell, in words",
};
const STEPS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 };

const toX = (offset) => WIDTH / 2 + (offset * WIDTH) / (2 * REACH + 1);

export class Bell {
  /** `moved({ center } or { std })` is called while a handle is dragged, `settled()` at the end. */
  constructor(root, moved, settled) {
    Object.assign(this, { moved, settled, bell: { center: -1, std: 1 } });
    const about = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": "the bell" };
    this.picture = root.appendChild(svg("svg", { class: "rp-bell", ...about }));
    this.drawAxis();
    this.line = this.picture.appendChild(svg("path", { class: "rp-curve" }));
    this.handles = { center: this.addHandle("center"), std: this.addHandle("std") };
  }

  drawAxis() {
    const ends = { x1: 0, x2: WIDTH, y1: FLOOR, y2: FLOOR, class: "rp-axis" };
    this.picture.append(svg("line", ends));
    for (let offset = -REACH + 1; offset < REACH; offset += 2) {
      const place = { x: toX(offset), y: FLOOR + 15, class: "rp-tick" };
      this.picture.append(svg("text", place, offset > 0 ? `+${offset}` : String(offset)));
    }
    const place = { x: WIDTH / 2, y: HEIGHT - 5, class: "rp-tick" };
    this.picture.append(svg("text", place, "← words before · the word itself · words after →"));
  }

  addHandle(name) {
    const { least, most } = LIMITS[name];
    const range = { "aria-valuemin": least, "aria-valuemax": most, "aria-label": LABELS[name] };
    const about = { r: 13, class: `rp-handle rp-${name}`, tabindex: 0, role: "slider", ...range };
    const node = this.picture.appendChild(svg("circle", about));
    node.addEventListener("pointerdown", (event) => node.setPointerCapture(event.pointerId));
    node.addEventListener("pointermove", (event) => {
      if (node.hasPointerCapture(event.pointerId)) this.put(name, this.valueAt(name, event));
    });
    node.addEventListener("pointerup", () => this.settled());
    node.addEventListener("keydown", (event) => this.step(event, name));
    return node;
  }

  /** Return what a handle means at the place of a pointer. */
  valueAt(name, { clientX }) {
    const box = this.picture.getBoundingClientRect();
    const x = ((clientX - box.left) / box.width) * WIDTH;
    const offset = ((x - WIDTH / 2) / WIDTH) * (2 * REACH + 1);
    return name === "center" ? offset : Math.abs(offset - this.bell.center);
  }

  step(event, name) {
    const { least, most, step } = LIMITS[name];
    const ends = { Home: least, End: most };
    if (!(event.key in STEPS) && !(event.key in ends)) return;
    event.preventDefault();
    this.put(name, ends[event.key] ?? this.bell[name] + step * STEPS[event.key]);
    this.settled();
  }

  put(name, value) {
    const rounded = limited(name, value);
    if (rounded !== this.bell[name]) this.moved({ [name]: rounded });
  }

  draw({ center, std }) {
    this.bell = { center, std };
    const height = (offset) => Math.exp(-((offset - center) ** 2) / (2 * std ** 2));
    const toY = (offset) => FLOOR - height(offset) * (FLOOR - 16);
    const offsets = Array.from({ length: 141 }, (_, i) => -REACH + (i * REACH) / 70);
    const points = offsets.map((offset) => `${toX(offset).toFixed(1)} ${toY(offset).toFixed(1)}`);
    this.line.setAttribute("d", `M${points.join("L")}`);
    const edge = Math.min(REACH, center + std);
    const places = { center: [center, toY(center)], std: [edge, toY(edge)] };
    for (const [name, node] of Object.entries(this.handles)) {
      const [offset, y] = places[name];
      node.setAttribute("cx", toX(offset));
      node.setAttribute("cy", y);
      node.setAttribute("aria-valuenow", this.bell[name]);
    }
  }
}
