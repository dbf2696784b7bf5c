// One head's weights as a matrix: a row for each word it reads or writes. Pairs can be painted
// shut.

import { add, svg } from "./dom.js";

const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
const LABELS = { left: 92, top: 74, right: 36 }; // pixels
const [LARGEST, SMALLEST] = [26, 9]; // pixels of a cell
const [CHOOSE, SHUT] = ["arrow keys choose a pair", "space shuts or opens it"];

const clamp = (number, most) => Math.min(most, Math.max(0, number));
const percent = (weight) => `${(100 * weight).toFixed(weight < 0.1 ? 1 : 0)} %`;

export class Matrix {
  /**
   * `painted(pairs)` is called with all shut pairs, `settled()` at the end of a stroke; without
   * them, no pair can be shut.
   */
  constructor(root, painted = null, settled = null) {
    Object.assign(this, { painted, settled, paints: false, cursor: [0, 0], stroke: null });
    this.scroll = add(root, "div", "rp-scroll");
    const keys = painted ? `${CHOOSE}, ${SHUT}` : CHOOSE;
    const about = { tabindex: 0, role: "group", "aria-label": `weights of the head; ${keys}` };
    this.frame = add(this.scroll, "div", "rp-matrix", "", about);
    this.picture = this.frame.appendChild(svg("svg", { "aria-hidden": "true" }));
    this.said = add(root, "p", "rp-caption", "", { "aria-live": "polite" });
    this.frame.addEventListener("keydown", (event) => this.press(event));
    this.picture.addEventListener("pointerdown", (event) => this.begin(event));
    this.picture.addEventListener("pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel"]) {
      this.picture.addEventListener(end, () => this.end());
    }
  }

  /** `rows`: weights[query][key]; `below` and `above`: words of queries and of keys. */
  draw(rows, { above, below }, blocked, paints) {
    Object.assign(this, { rows, above, below, paints, blocked });
    this.shut = new Set(blocked.map(String));
    const room = Math.min(this.scroll.clientWidth || 480, 520) - LABELS.left;
    this.size = Math.max(SMALLEST, Math.min(LARGEST, room / Math.max(1, above.length)));
    this.picture.setAttribute("width", LABELS.left + above.length * this.size + LABELS.right);
    this.picture.setAttribute("height", LABELS.top + below.length * this.size + 2);
    this.picture.classList.toggle("rp-paints", paints);
    this.cursor = [
      clamp(this.cursor[0], below.length - 1),
      clamp(this.cursor[1], above.length - 1),
    ];
    this.picture.replaceChildren(...this.words(), ...this.cells());
    this.tell(this.cursor);
  }

  words() {
    const { size } = this;
    const font = Math.min(13, size - 1);
    const short = (text) => (text.length > 11 ? `${text.slice(0, 10)}…` : text);
    const rows = this.below.map((text, q) => {
      const place = { x: LABELS.left - 5, y: LABELS.top + (q + 0.5) * size, "text-anchor": "end" };
      return svg(
        "text",
        { ...place, "dominant-baseline": "middle", "font-size": font },
        short(text),
      );
    });
    const columns = this.above.map((text, k) => {
      const [x, y] = [LABELS.left + (k + 0.6) * size, LABELS.top - 6];
      const place = { x, y, transform: `rotate(-55 ${x} ${y})`, "font-size": font };
      return svg("text", place, short(text));
    });
    return [...rows, ...columns];
  }

  cells() {
    const { size } = this;
    return this.rows.flatMap((row, q) =>
      Array.from(row, (weight, k) => {
        const isShut = this.shut.has(`${q},${k}`);
        const place = { x: LABELS.left + k * size, y: LABELS.top + q * size };
        const shape = { width: size - 1, height: size - 1, class: isShut ? "rp-shut" : "rp-cell" };
        const strength = { "fill-opacity": isShut ? 1 : Math.min(1, weight).toFixed(3) };
        const isHere = q === this.cursor[0] && k === this.cursor[1];
        const edge = isHere ? { "stroke-width": 2 } : {};
        return svg("rect", { ...place, ...shape, ...strength, ...edge });
      }),
    );
  }

  /** Say what a pair is, in words and numbers. */
  tell([q, k]) {
    const weight = this.rows[q]?.[k];
    if (weight === undefined) {
      this.said.textContent = " "; // a word that is written later
      return;
    }
    const found = `${percent(weight)}${this.shut.has(`${q},${k}`) ? ", shut" : ""}`;
    this.said.textContent = `“${this.below[q]}” looks at “${this.above[k]}”: ${found}`;
  }

  cellAt({ clientX, clientY }) {
    const box = this.picture.getBoundingClientRect();
    const k = Math.floor((clientX - box.left - LABELS.left) / this.size);
    const q = Math.floor((clientY - box.top - LABELS.top) / this.size);
    return this.rows?.[q]?.[k] === undefined ? null : [q, k];
  }

  begin(event) {
    const cell = this.cellAt(event);
    if (!cell) return;
    this.cursor = cell;
    if (this.paints) {
      this.picture.setPointerCapture(event.pointerId);
      this.stroke = !this.shut.has(String(cell)); // whether this stroke shuts or opens
      this.paint(cell);
    } else this.tell(cell);
  }

  move(event) {
    const cell = this.cellAt(event);
    if (!cell) return;
    if (this.stroke !== null) this.paint(cell);
    else this.tell(cell);
  }

  end() {
    if (this.stroke !== null) this.settled();
    this.stroke = null;
  }

  paint(cell) {
    this.cursor = cell;
    if (this.shut.has(String(cell)) === this.stroke) return;
    const others = this.blocked.filter((pair) => String(pair) !== String(cell));
    this.blocked = this.stroke ? [...others, cell] : others;
    this.shut = new Set(this.blocked.map(String));
    this.painted(this.blocked);
  }

  press(event) {
    const [q, k] = this.cursor;
    if (event.key === " " && this.painted) {
      this.stroke = !this.shut.has(String(this.cursor));
      this.paint(this.cursor);
      this.end();
    } else if (event.key in MOVES) {
      const [down, right] = MOVES[event.key];
      this.cursor = [
        clamp(q + down, this.below.length - 1),
        clamp(k + right, this.above.length - 1),
      ];
      this.draw(this.rows, this, this.blocked, this.paints);
    } else return;
    event.preventDefault();
  }
}
