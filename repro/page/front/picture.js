// The view as a picture: drawn as one SVG, turned into PNG, and copied; or saved where copying is
// not allowed.

import { SITES, TITLES, keyOf, layerName } from "../engine/heads.js";
import { svg } from "./dom.js";
import { linesOf } from "./lines_view.js";

const WIDTH = 1000;
const SQUARE = 30;

/** Return an SVG of a state: `view` holds what is on the page. */
function pictureOf({ sentence, words, whole, heads, off, losses, caption, rows, sides, colors }) {
  const nodes = [];
  const text = (x, y, content, size = 16, fill = colors.ink, anchor = "start") =>
    nodes.push(svg("text", { x, y, fill, "font-size": size, "text-anchor": anchor }, content));
  text(24, 40, sentence, 18);
  text(24, 76, words.map((word) => word.text).join(" "), 24);
  if (whole)
    text(24, 102, `with all heads: ${whole.map((word) => word.text).join(" ")}`, 14, colors.soft);
  const bottom = drawSites(nodes, text, heads, off, losses, colors);
  if (rows) {
    text(24, bottom + 30, caption, 14, colors.soft);
    const places = (tokens) =>
      tokens.map((_, i) => 40 + (i * (WIDTH - 80)) / Math.max(1, tokens.length - 1));
    const [above, below] = [places(sides.above), places(sides.below)];
    sides.above.forEach((token, i) => text(above[i], bottom + 60, token, 14, colors.ink, "middle"));
    sides.below.forEach((token, i) =>
      text(below[i], bottom + 210, token, 14, colors.ink, "middle"),
    );
    const lines = svg("g", { transform: `translate(0 ${bottom + 70})`, stroke: colors.line });
    lines.append(...linesOf(rows, above, below, 120));
    nodes.push(lines);
  }
  const height = bottom + (rows ? 235 : 20);
  const font = "ui-sans-serif, system-ui, sans-serif";
  const picture = svg("svg", {
    xmlns: "http://www.w3.org/2000/svg",
    width: WIDTH,
    height,
    "font-family": font,
  });
  picture.append(svg("rect", { width: WIDTH, height, fill: colors.paper }), ...nodes);
  return picture;
}

/** Draw the squares of all sites; return where they end. */
function drawSites(nodes, text, heads, off, losses, colors) {
  const most = Math.max(0.1, ...losses.values());
  let bottom = 150;
  SITES.forEach((site, number) => {
    const left = 24 + number * 320;
    text(left, 138, TITLES[site], 14);
    const here = heads.filter((head) => head.site === site);
    const layers = [...new Set(here.map((head) => head.layer))];
    for (const { layer, head, factor } of here) {
      const key = keyOf({ site, layer, head });
      const x = left + 60 + head * (SQUARE + 4);
      const y = 150 + layers.indexOf(layer) * (SQUARE + 4);
      const isOff = off.includes(key) || !factor;
      const need = Math.max(0, losses.get(key) ?? 0) / most;
      nodes.push(
        svg("rect", {
          x,
          y,
          width: SQUARE,
          height: SQUARE,
          rx: 4,
          fill: colors.square,
          stroke: colors.soft,
        }),
      );
      if (!isOff)
        nodes.push(
          svg("rect", {
            x,
            y,
            width: SQUARE,
            height: SQUARE,
            rx: 4,
            fill: colors.need,
            "fill-opacity": need,
          }),
        );
      else text(x + SQUARE / 2, y + 19, factor ? "off" : "–", 11, colors.ink, "middle");
    }
    layers.forEach((layer, i) =>
      text(left, 170 + i * (SQUARE + 4), layerName(layer), 12, colors.soft),
    );
    bottom = Math.max(bottom, 150 + layers.length * (SQUARE + 4));
  });
  return bottom;
}

/** Return an SVG as PNG, with two pixels for one of its own. */
async function toPng(picture) {
  const image = new Image();
  const text = new XMLSerializer().serializeToString(picture);
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = 2 * Number(picture.getAttribute("width"));
  canvas.height = 2 * Number(picture.getAttribute("height"));
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

const COLORS = ["ink", "soft", "paper", "square", "need", "line"]; // those of page.css

/**
 * Copy a view as a picture, or save it; return in words what was done.
 *
 * `node`: a part of the page, whose theme the picture has; `view`: see `pictureOf`.
 */
export async function copyPicture(node, view) {
  const style = getComputedStyle(node);
  const colors = Object.fromEntries(
    COLORS.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]),
  );
  const png = toPng(pictureOf({ ...view, colors }));
  try {
    await navigator.clipboard.write([new ClipboardItem({ "image/png": png })]);
    return "The picture is copied.";
  } catch {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await png);
    link.download = "heads.png";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    return "The picture is saved as heads.png.";
  }
}
