// A forest plot as rows of a page: a name, a line with marks, and the number. It fits any width.

import { add, svg } from "./dom.js";

const SHAPES = {
  holds: "circle",
  fails: "cross",
  undecided: "ring",
  printed: "diamond",
  likelihood: "triangle",
  guess: "square",
  found: "circle",
};
const KEY = {
  holds: "holds",
  fails: "fails",
  undecided: "undecided",
  printed: "printed in the paper",
  likelihood: "by likelihood",
  guess: "your guess",
  found: "found here, with its 95 % interval",
};
const OF_CLAIMS = ["holds", "fails", "undecided", "printed", "likelihood"];
const HEIGHT = 18; // pixels of a row

/** Draw what the marks mean. */
export function drawKey(root, kinds = OF_CLAIMS) {
  const list = add(root, "p", "rp-marks");
  for (const name of kinds) {
    const item = add(list, "span", "rp-marked");
    const picture = svg("svg", { width: 16, height: HEIGHT, "aria-hidden": "true" });
    picture.append(mark(name, "50%"));
    item.append(picture, ` ${KEY[name]}`);
  }
}

/** Draw the effects of one axis below each other; see `claims_drawn` in repro/page/stored.py. */
export function drawGroup(root, { axis, effects, ownScales }) {
  const scale = ownScales ? null : commonScale(effects);
  add(root, "h2", "rp-axisname", ownScales ? "Other numbers, each on a scale of its own" : axis);
  for (const effect of effects) drawEffect(root, effect, scale ?? commonScale([effect]));
}

function numbersOf({ atLeast, atMost, printed, rows }) {
  const readings = rows.flatMap(({ score, likelihood }) => [score, likelihood].filter(Boolean));
  const ends = readings.flatMap(({ low, value, high }) => [low, value, high]);
  return [atLeast, atMost, ...printed, ...ends].filter((number) => number !== null);
}

/** Return a function from numbers to places in percent of the width. */
function commonScale(effects) {
  const numbers = [0, ...effects.flatMap(numbersOf)];
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  const room = most - least || 1;
  return (number) => 4 + (92 * (number - least)) / room;
}

function drawEffect(root, effect, place) {
  if (effect.heading) add(root, "h3", "rp-claim", effect.heading);
  if (effect.number) add(root, "p", "rp-condition", effect.number);
  const list = add(root, "ul", "rp-effect");
  if (effect.printed.length) {
    const row = addRow(list, "printed", rangeOf(effect.printed), effect, place);
    for (const value of effect.printed) row.append(mark("printed", at(place(value))));
  }
  for (const { label, score, likelihood, text } of effect.rows) {
    const outcome = score ? `, ${score.outcome}` : "";
    const row = addRow(list, label, text, effect, place, outcome);
    if (likelihood) addReading(row, likelihood, place, "likelihood");
    if (score) addReading(row, score, place, score.outcome);
  }
}

const FEW = 3; // numbers that are listed

const rangeOf = (numbers) =>
  numbers.length > FEW
    ? `${Math.min(...numbers)} to ${Math.max(...numbers)}`
    : numbers.join(", ");

const at = (percent) => `${percent.toFixed(2)}%`;

/** Add a row, and return its picture, which has the bounds in it. */
function addRow(list, label, text, { atLeast, atMost }, place, outcome = "") {
  const row = add(list, "li", "rp-result-row");
  add(row, "span", "rp-label-of", label);
  const picture = row.appendChild(
    svg("svg", { class: "rp-track", height: HEIGHT, "aria-hidden": "true" }),
  );
  picture.append(vertical(place(0), "rp-zero"));
  for (const [bound, inwards] of [
    [atLeast, 1.2],
    [atMost, -1.2],
  ]) {
    if (bound === null) continue;
    const [x1, x2] = [place(bound), place(bound) + inwards].map(at);
    picture.append(vertical(place(bound), "rp-bound"));
    for (const y of [0.5, HEIGHT - 0.5]) {
      picture.append(svg("line", { x1, x2, y1: y, y2: y, class: "rp-bound" }));
    }
  }
  const said = add(row, "span", "rp-found", text);
  if (outcome) add(said, "span", "rp-hidden", outcome);
  return picture;
}

const vertical = (x, name) => svg("line", { x1: at(x), x2: at(x), y1: 0, y2: HEIGHT, class: name });

function addReading(picture, { low, value, high }, place, kind) {
  const middle = HEIGHT / 2;
  const ends = { x1: at(place(low)), x2: at(place(high)), y1: middle, y2: middle };
  picture.append(svg("line", { ...ends, class: `rp-interval rp-is-${kindOf(kind)}` }));
  picture.append(mark(kind, at(place(value))));
}

const kindOf = (kind) => (kind in SHAPES ? kind : "undecided");

/** Return a mark in the middle of a row; nested, so that it sits at a place in percent. */
function mark(kind, x) {
  const known = kindOf(kind);
  const place = svg("svg", { x, y: HEIGHT / 2, overflow: "visible", class: `rp-is-${known}` });
  const shapes = {
    circle: () => svg("circle", { r: 5 }),
    ring: () => svg("circle", { r: 4.5, class: "rp-hollow" }),
    cross: () => svg("path", { d: "M-4 -4L4 4M-4 4L4 -4", class: "rp-stroke" }),
    diamond: () => svg("path", { d: "M0 -6L5 0L0 6L-5 0Z" }),
    square: () => svg("rect", { x: -5, y: -5, width: 10, height: 10 }),
    triangle: () => svg("path", { d: "M0 -4L4 3H-4Z" }),
  };
  place.append(shapes[SHAPES[known]]());
  return place;
}
