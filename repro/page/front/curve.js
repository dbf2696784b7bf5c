// A small line chart with a heading that says what it tells.

import { make, svg } from "./dom.js";

const [WIDTH, HEIGHT] = [420, 190];
const [LEFT, BOTTOM, TOP] = [44, 34, 12];

/**
 * Return a heading and a picture.
 *
 * `lines`: [{ points, mark, label, isDotted }], points of [x, y] with x from 0 to `most`, and the
 * one that is marked; `across`, `up`: the names of the axes.
 */
export function curve(title, lines, most, across, up) {
  const values = lines.flatMap(({ points }) => points.map(([, y]) => y));
  const top = Math.max(1, ...values) * 1.05;
  const x = (value) => LEFT + (value / most) * (WIDTH - LEFT - 12);
  const y = (value) => HEIGHT - BOTTOM - (Math.max(0, value) / top) * (HEIGHT - BOTTOM - TOP);
  const about = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", class: "rp-plot" };
  const picture = svg("svg", { ...about, "aria-label": `${title}. ${inWords(lines, across, up)}` });
  const frame = `M${x(0)} ${y(top)}V${y(0)}H${x(most)}`;
  picture.append(svg("path", { d: frame, class: "rp-axis", fill: "none" }));
  for (const value of [0, most / 2, most]) {
    const place = { x: x(value), y: HEIGHT - BOTTOM + 14, class: "rp-tick" };
    picture.append(svg("text", place, Number(value.toFixed(1))));
  }
  for (const value of [0, top / 1.05]) {
    const place = { x: LEFT - 4, y: y(value) + 4, class: "rp-tick rp-end" };
    picture.append(svg("text", place, value.toFixed(value < 10 ? 1 : 0)));
  }
  picture.append(svg("text", { x: (LEFT + WIDTH) / 2, y: HEIGHT - 4, class: "rp-tick" }, across));
  picture.append(svg("text", { x: LEFT + 6, y: TOP + 4, class: "rp-tick rp-start" }, up));
  for (const { points, mark, isDotted } of lines) {
    const path = points.map(([a, b]) => `${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("L");
    if (points.length && !isDotted)
      picture.append(svg("path", { d: `M${path}`, class: "rp-curve" }));
    const dots = isDotted ? points : [];
    for (const [a, b] of dots)
      picture.append(svg("circle", { cx: x(a), cy: y(b), r: 4, class: "rp-dot" }));
    if (mark) {
      const place = { cx: x(mark[0]), cy: y(mark[1]), r: 6 };
      picture.append(svg("circle", { ...place, class: "rp-dot rp-chosen" }));
    }
  }
  return [make("h2", "rp-title", title), picture];
}

function inWords(lines, across, up) {
  const ends = lines
    .filter(({ points }) => points.length)
    .map(({ points, label = "" }) => {
      const [[a, b], [c, d]] = [points[0], points.at(-1)];
      const first = `${b.toFixed(1)} ${up} at ${a.toFixed(0)} ${across}`;
      return `${label} ${first}, ${d.toFixed(1)} at ${c.toFixed(0)}.`;
    });
  return ends.join(" ");
}
